/* The part of a round that concerns pairs played again (DESIGN sections 5 and 7): which new pairs are
 * audited, what a second worker's games say, disputes of pairs that have counted, and whether a verdict still
 * has to wait. Within the round's transaction unless a function says otherwise; the writer's thread alone. */
#ifndef KROO_COORDINATOR_ROUND_AUDIT_H
#define KROO_COORDINATOR_ROUND_AUDIT_H

#include "coordinator/round.h"

/* After the games were stored and counted: begins audits of pairs that are complete now, and takes what
 * agrees with a stored game as a word for its audit. */
enum store_error round_audit_games(struct round *round, const struct store_game *games,
                                   const enum store_outcome *outcome, size_t count);
/* After the last game of a pair that the prefix waits for, in dispute. */
enum store_error round_audit_held(struct round *round, struct ledger *ledger, uint64_t pair);
/* After the last game of a pair that met a stored one and does not hold the prefix up. `conflict`: another
 * content came. */
enum store_error round_audit_settle(struct round *round, struct ledger *ledger, const struct store_game *game,
                                    bool conflict);
/* Nobody is there for an experiment's open audits: gives them up. */
enum store_error round_audit_waive(struct round *round, uint64_t experiment);
/* Begins the audits that are due of the pairs that are complete in the draft; those that were given up too.
 */
enum store_error round_audit_begin_stored(struct round *round, struct ledger *ledger);
/* A user ended the experiment, with the verdict over [0, counted): what is open stays unplayed. */
enum store_error round_audit_abort(struct round *round, struct ledger *ledger, uint64_t counted);
/* A decided draft: *waits while audits of counted pairs are open; otherwise they are closed for good, and
 * `remark` says what was not audited. */
enum store_error round_audit_verdict(struct round *round, struct ledger *ledger, bool *waits,
                                     char remark[STORE_TEXT]);
/* Puts into each report who may not play what has to be played again. */
enum store_error round_audit_report(struct round *round);

/* Outside of a round: the pairs that wait to be played again; of a fresh ledger, or for the event loop. */
enum store_error round_audit_load(struct round *round, struct ledger *ledger);
enum store_error round_replays(struct round *round, uint64_t experiment, const struct pairlist *pairs,
                               struct job_replays *out);
/* Looks for requests to play pairs of finished experiments again; each in a transaction of its own becomes a
 * JOB_RECHECK of the list. `first`: also those that an earlier coordinator has begun. */
enum store_error round_rechecks(struct round *round, bool first, struct job **jobs);

#endif
