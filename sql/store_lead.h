/* Leading: one coordinator at a time writes. The right to is an advisory lock of the database's session, so
 * it goes with the connection; what a coordinator holds in memory is right only while nobody has led in
 * between, on the same line of the database's history. Same thread as the store. */
#ifndef KROO_SQL_STORE_LEAD_H
#define KROO_SQL_STORE_LEAD_H

#include "sql/store.h"

enum { STORE_LEAD_IDLE_MIN_MS = 10000 };

struct store_leadership {
    uint64_t epoch;    /* our row in table leadership */
    uint64_t timeline; /* of the server's history: another after a replica's promotion or a restore */
};

/* Takes the lead, for the first time: STORE_ERROR_LEADER with the reason when another has it or this server
 * is a replica. The session ends by itself when the coordinator says nothing for `idle_ms` (at least
 * STORE_LEAD_IDLE_MIN_MS): one that is frozen, or whose machine is gone, must not keep the lead. */
enum store_error store_lead_begin(struct store *store, const char *build, uint32_t idle_ms,
                                  struct store_leadership *out);
/* Takes it again on a new connection. `*lost` says that what is known may be wrong: another has led since, or
 * the database is not the one it was. */
enum store_error store_lead_again(struct store *store, const struct store_leadership *before,
                                  uint32_t idle_ms, bool *lost);

#endif
