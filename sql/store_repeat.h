/* Pairs that repeat an earlier one (017_repeats.sql): part of the C layer that store.h opens. */
#ifndef KROO_SQL_STORE_REPEAT_H
#define KROO_SQL_STORE_REPEAT_H

#include "sql/store.h"

/* Games in key order, with pair, leg, half points, result, reason and moves alone; valid during the call. */
typedef void store_played(void *context, const struct store_game *game);
/* Every stored game. */
enum store_error store_played_all(struct store *store, uint64_t experiment, store_played *row, void *context);
/* The games of one pair. */
enum store_error store_played_pair(struct store *store, uint64_t experiment, uint64_t pair, store_played *row,
                                   void *context);
/* The games that a verdict rests on, as they would count now. */
enum store_error store_played_verdict(struct store *store, uint64_t experiment, store_played *row,
                                      void *context);

/* `pair` repeats `first`. */
struct store_repeat {
    uint64_t pair, first;
};
/* From `from_pair` on these pairs repeat and no others do; within the caller's transaction, before its
 * counters. */
enum store_error store_repeats_put(struct store *store, uint64_t experiment, uint64_t from_pair,
                                   const struct store_repeat *repeats, size_t count);
/* All of an experiment in pair order; *list is malloc'ed. */
enum store_error store_repeats(struct store *store, uint64_t experiment, struct store_repeat **list,
                               size_t *count);

#endif
