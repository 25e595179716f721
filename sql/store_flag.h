/* Workers that are set aside, what becomes of their games, and verdicts that are withdrawn (migration 012).
 */
#ifndef KROO_SQL_STORE_FLAG_H
#define KROO_SQL_STORE_FLAG_H

#include "sql/store.h"

struct store_flag {
    uint64_t id;
    char peer[STORE_NAME], name[STORE_NAME]; /* "": whatever it is */
    char reason[STORE_TEXT];
    bool games_stand; /* programs fail there: no leases, but what it played is good */
};
/* Those set aside now; *list is malloc'ed. */
enum store_error store_flags(struct store *store, struct store_flag **list, size_t *count);
/* kind: hand, charge, statistics, failures. *new false: it is set aside already. peer or name may be "". */
enum store_error store_worker_put_aside(struct store *store, const char *peer, const char *name,
                                        const char *kind, const char *reason, const char *by, bool *is_new);
/* How many flags that ended. */
enum store_error store_worker_restore(struct store *store, const char *peer, const char *name, const char *by,
                                      uint64_t *restored);
/* Sets aside whoever was charged and not restored since. */
enum store_error store_charged_put_aside(struct store *store);

/* Experiments that go on with games of such workers; *list is malloc'ed. */
enum store_error store_games_to_set_aside(struct store *store, uint64_t **list, size_t *count);
/* Moves those games out of `game`; how many. Within the caller's transaction, who counts anew. */
enum store_error store_games_set_aside(struct store *store, uint64_t experiment, uint64_t *games);

/* Matches whose verdict has to be looked at again; *list is malloc'ed. Then: done. */
enum store_error store_verdicts_to_judge(struct store *store, uint64_t **list, size_t *count);
enum store_error store_flags_judged(struct store *store);
/* *written false: it is withdrawn already. */
enum store_error store_verdict_withdraw(struct store *store, uint64_t experiment, const char *reason,
                                        bool *written);

/* A finished experiment with a withdrawn verdict. */
enum store_error store_verdict_is_withdrawn(struct store *store, uint64_t experiment, bool *withdrawn);
/* It goes on: the verdict is kept among those of the past, games of workers that are set aside leave the
 * count, agreed games take the place of outvoted ones. The counters are the caller's. */
enum store_error store_experiment_reopen(struct store *store, uint64_t experiment, const char *by,
                                         uint64_t *games);

/* What each worker's pairs from `first` up to `end` of an experiment came to, by peer and name; *list is
 * malloc'ed. */
struct store_worker_results {
    char peer[STORE_NAME], name[STORE_NAME];
    uint64_t won, lost, equal;
};
enum store_error store_worker_results(struct store *store, uint64_t experiment, uint64_t first, uint64_t end,
                                      struct store_worker_results **list, size_t *count);

#endif
