/* A tournament as far as it is handled as a whole; its players and pairings are written by `kroo` itself.
 * Within the caller's transaction; whoever holds the store. */
#ifndef KROO_SQL_STORE_TOURNAMENT_H
#define KROO_SQL_STORE_TOURNAMENT_H

#include <stdbool.h>

#include "sql/store.h"

struct store_tournament {
    uint64_t id;
    char name[STORE_NAME], kind[16], state[16];
    uint64_t lacking; /* pairings without a match */
    uint64_t *open;   /* matches that have not ended, in their order; malloc'ed */
    size_t open_count;
};

/* Finds it by its name, else by its number, and locks its row until the transaction ends. REFUSED when there
 * is none. out->open is the caller's. */
enum store_error store_tournament_lock(struct store *store, const char *name_or_id,
                                       struct store_tournament *out);
/* `state` is running, paused or stopped. */
enum store_error store_tournament_set_state(struct store *store, uint64_t tournament, const char *state,
                                            const char *reason);
enum store_error store_tournament_prioritize(struct store *store, uint64_t tournament, int32_t priority);
enum store_error store_tournament_annotate(struct store *store, uint64_t tournament, const char *note);

#endif
