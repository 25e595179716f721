/* Workers that are set aside, as the writer sees to it: by charge and by statistics, what becomes of their
 * games, and verdicts that are withdrawn. Each step is a transaction of its own, and is done again at the
 * next look as long as there is something to do. The writer's thread alone. */
#ifndef KROO_COORDINATOR_ROUND_FLAG_H
#define KROO_COORDINATOR_ROUND_FLAG_H

#include "coordinator/round.h"

/* Sets aside who was charged, and who stands out in an experiment that has played enough since it was last
 * looked at (fleet.h). */
enum store_error round_flag_workers(struct round *round);
/* Takes games of workers set aside out of what still runs, and judges verdicts that count some. `moved`
 * (malloc'ed): experiments whose prefix and leases are others now. */
enum store_error round_flag_games(struct round *round, uint64_t **moved, size_t *moved_count);
/* Within the caller's transaction, after store_experiment_reopen: counts an experiment as one that runs, and
 * begins the audits that are due of what is stored. *loaded: its ledger is new in the book. */
enum store_error round_flag_reopen(struct round *round, uint64_t experiment, bool *loaded);
/* A verdict over an outvoted game, within the caller's transaction. */
enum store_error round_flag_judge(struct round *round, const struct store_experiment *experiment);

#endif
