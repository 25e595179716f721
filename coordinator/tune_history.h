/* A tune read back from the database: what it tunes, where its parameters stood at any batch, who played it.
 * Whatever was thinned is computed again from what was kept before it and the results. The store's thread. */
#ifndef KROO_COORDINATOR_TUNE_HISTORY_H
#define KROO_COORDINATOR_TUNE_HISTORY_H

#include "coordinator/tune_book.h"
#include "coordinator/tuning.h"

/* The experiment's file and weights. Errors are those of the store, with a reason in `reason` always. */
enum store_error tune_history_load(struct store *store, const struct store_experiment *experiment,
                                   struct tuning **out, char reason[TUNING_REASON]);
/* Theta once the batches [0, applied) are applied; `theta` has tuning->count places. */
enum store_error tune_history_theta(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                    uint64_t applied, double *theta, char reason[TUNING_REASON]);
/* The players of a batch, made again; they are what was stored, or it is an error. The caller ends both. */
enum store_error tune_history_players(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                      uint64_t batch, struct tuning_side sides[2],
                                      char reason[TUNING_REASON]);
/* Who played a pair: weights and options of the two players, the rest of them as the experiment has it. */
enum store_error tune_history_seat(struct store *store, const struct store_experiment *experiment,
                                   uint64_t pair, struct store_player *a, struct store_player *b,
                                   char reason[TUNING_REASON]);
/* The book of the batches that have players, at most TUNE_BOOK_MAX: the caller owns it. */
enum store_error tune_history_book(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                   struct tune_book **out, char reason[TUNING_REASON]);
/* A weights file that is no artifact, because a batch of a tune plays with it: made again. REFUSED when no
 * batch does. `*content` is malloc'ed. */
enum store_error tune_history_artifact(struct store *store, const uint8_t sha256[STORE_HASH], void **content,
                                       size_t *size, char reason[TUNING_REASON]);

#endif
