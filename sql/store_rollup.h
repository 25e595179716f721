/* Inside of sql/: what is counted with each batch of games rather than from them later (the other roll-ups
 * are kept by the database itself: migrations/009_statistics.sql). Same thread as the store. */
#ifndef KROO_SQL_STORE_ROLLUP_H
#define KROO_SQL_STORE_ROLLUP_H

#include "sql/store_capture.h"
#include "sql/store_connection.h"

/* Adds the games whose outcome is INSERTED to `session_rollup`, within the caller's transaction. */
enum store_error store_sessions_count(struct store *store, const struct store_game *games, size_t count,
                                      const enum store_outcome *outcome);

#endif
