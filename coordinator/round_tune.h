/* The writer's transactions where they touch a tune: its rows when it is made, its batches as they are
 * counted, its end, and files that are made again. Used by round.c alone, in its thread and transaction. */
#ifndef KROO_COORDINATOR_ROUND_TUNE_H
#define KROO_COORDINATOR_ROUND_TUNE_H

#include "coordinator/round.h"

/* A tune that was just inserted. */
enum store_error round_tune_begin(struct round *round, struct job *job);
/* The course of a ledger that is read from the database, and a report of who plays its batches. */
enum store_error round_tune_load(struct round *round, struct ledger *ledger, char text[STORE_TEXT]);
/* After its counters: the batches that the draft completes, and the end after the last. A tune that cannot go
 * on is blocked, with its reason. */
enum store_error round_tune_advance(struct round *round, struct ledger *ledger);
/* An artifact of the database, or a weights file that a batch plays with. */
enum store_error round_tune_artifact(struct round *round, struct job *job);

/* Who plays the batch of a pair, as the database has it. */
enum store_error round_tune_players(struct round *round, struct job_players *players);
/* The same for a lease of a pair that is played again, where it is a tune's. */
enum store_error round_tune_seat(struct round *round, const struct ledger *ledger, struct job_grant *grant);

#endif
