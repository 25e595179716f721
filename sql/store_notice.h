/* A connection that waits for changes of the allow-list (channel `kroo_peer`). Same rules as sql/store.h. */
#ifndef KROO_SQL_STORE_NOTICE_H
#define KROO_SQL_STORE_NOTICE_H

#include "sql/store.h"

/* From now on this connection hears of changes. Its own commits do not wait for a standby: what it writes is
 * worth nothing after a fail-over. */
enum store_error store_notice_listen(struct store *store);
/* Waits until a change is heard, `wake_fd` can be read, or `timeout_ms` are over; for the connection's loss,
 * too, which is the error. */
enum store_error store_notice_wait(struct store *store, int wake_fd, int timeout_ms, bool *heard);

/* The allow-list, and a version that it is not older than. */
enum store_error store_peers_versioned(struct store *store, struct store_peer **list, size_t *count,
                                       uint64_t *version);
/* The leading coordinator goes by this version. */
enum store_error store_peers_in_force(struct store *store, uint64_t version);
/* Whether the coordinator goes by the allow-list as it is now: `*lag` says by how many changes it does not. 0
 * where none leads. */
enum store_error store_peers_lag(struct store *store, uint64_t *lag);

#endif
