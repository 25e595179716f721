/* A standing pool: its rounds, chosen where they tell most, and the driver that plays them (`kroo pool`). One
 * thread. */
#ifndef KROO_COORDINATOR_CLI_POOL_H
#define KROO_COORDINATOR_CLI_POOL_H

#include "coordinator/cli/tournament.h"

enum { POOL_BATCH_MAX = 1000, POOL_LAG_MAX = 100, POOL_ROUNDS_MAX = 100000 };

/* A number of the pool's specification: pairs, batch, lag, seed. */
uint64_t pool_number(const struct tournament *pool, const char *key);
/* Number of its last round, 0 before the first. */
int pool_last_round(struct tournament *pool, unsigned *round);
/* All weights promoted on any line under the pool's rules that are no players yet, from `round` on. */
int pool_join_promoted(struct tournament *pool, unsigned round);
/* The pairings of a round, from what counts for it; at most `batch`. *count is 0 when nobody can be paired.
 */
int pool_decide(struct tournament *pool, unsigned round, struct tournament_pairing *pairings, size_t *count);
/* Round after round up to the planned number: COMMAND_DONE, DRIVER_PAUSED or refused. */
int pool_drive(struct tournament *pool);
/* Decides every round again and compares with what is stored. */
int pool_check(struct tournament *pool);

#endif
