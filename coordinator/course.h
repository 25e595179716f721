/* A tune under way, as the writer keeps it beside its ledger: where the parameters stand. Batches are applied
 * in their order, in the transaction in which the counted prefix covers them, and the players of the batch
 * that this decides are stored in that same transaction. So the trajectory is a function of the specification
 * and of the games, whatever is killed in between. The writer's thread. */
#ifndef KROO_COORDINATOR_COURSE_H
#define KROO_COORDINATOR_COURSE_H

#include "coordinator/tune_history.h"

struct course {
    struct tuning *tuning;
    double *theta, *draft; /* after the applied batches; of the transaction under way */
    uint64_t applied, draft_applied;
};

/* The rows of a new tune: its parameters, and the players of the batches that rest on the start alone. Within
 * the transaction of `store` that makes the experiment. Errors have a sentence in `reason`. */
enum store_error course_begin(struct store *store, const struct store_experiment *experiment,
                              char reason[TUNING_REASON]);

/* A course as its rows have it. NULL with *error and the reason. */
struct course *course_load(struct store *store, const struct store_experiment *experiment,
                           enum store_error *error, char reason[TUNING_REASON]);
void course_destroy(struct course *course);

/* Applies the batches that [0, prefix) completes, into the draft; `news` gets the batches that have players
 * now. DATA with a reason, and nothing half done that a rollback would not undo, when no player can be made.
 */
enum store_error course_advance(struct course *course, struct store *store, uint64_t experiment,
                                uint64_t prefix, struct tune_book *news, char reason[TUNING_REASON]);
void course_keep(struct course *course);
void course_discard(struct course *course);
/* Every batch is applied, the draft's included. */
bool course_is_over(const struct course *course);

/* What came of it: stores the tuned weights and makes the match of tuned against start, once, in the same
 * transaction; its number in *match, 0 when there is none (*why says so). */
enum store_error course_finish(const struct course *course, struct store *store,
                               const struct store_experiment *experiment, uint64_t *match,
                               char why[TUNING_REASON]);

#endif
