/* Promise 2's proof: recomputes everything that is said about an experiment from its stored games, each
 * replayed through the rules, and names every difference. Reads one snapshot, a game at a time: memory does
 * not grow with the experiment. It shares no counting with the coordinator (no tally), so that one checks the
 * other. The store's thread. */
#ifndef KROO_COORDINATOR_VERIFY_H
#define KROO_COORDINATOR_VERIFY_H

#include "coordinator/record.h"

enum { VERIFY_TEXT_MAX = 320 };

struct verify_watch {
    void (*difference)(void *context, const char *text); /* one sentence */
    void (*progress)(void *context, uint64_t games);     /* now and then */
    void *context;
};

struct verify_totals {
    uint64_t games, pairs_counted, differences;
};

/* Verifies one experiment. STORE_OK also with differences. */
enum store_error verify_experiment(struct store *store, uint64_t experiment, const struct verify_watch *watch,
                                   struct verify_totals *totals);

/* What verify_experiment does with each game and at the end, for tests and other sources of games: games come
 * in key order. */
struct verify;
/* `disputed`: ascending pairs whose prefix waits; borrowed, as `record` and `watch` are. NULL when memory is
 * short or the rules are unknown (then a difference was told). */
struct verify *verify_create(const struct record *record, const uint64_t *disputed, size_t disputed_count,
                             const struct verify_watch *watch);
void verify_game(struct verify *verify, const struct store_game *game);
/* Compares with the record's counters and verdict. */
void verify_finish(struct verify *verify, struct verify_totals *totals);
void verify_destroy(struct verify *verify);

#endif
