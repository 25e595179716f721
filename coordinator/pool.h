/* Which pairings of a pool tell most: the next round, as a pure function of (seed, round, players, results).
 * Pure; any thread.
 *
 * The errors are those of a Bradley-Terry model with a normal prior on every strength, so that a player
 * without games, or with nothing but wins, has a finite and large one. Pairings are taken one by one, each
 * the one that lowers the sum of all players' variances most when so many pairs are added at their expected
 * information. */
#ifndef KROO_COORDINATOR_POOL_H
#define KROO_COORDINATOR_POOL_H

#include <stdint.h>

#include "coordinator/rating.h"

/* Standard deviation of a strength nothing is known of, in Elo. */
#define POOL_SPREAD 500.0

struct pool_round {
    uint64_t seed;
    unsigned round;
    size_t players;
    const bool *takes_part; /* of each player: may it be paired in this round? */
    /* What counts: complete results of the rounds up to round - lag. */
    const struct rating_meeting *meetings;
    size_t count;
    /* Pairings of the rounds since, whose results must not be looked at: pairs[0][0] is how many pairs each
     * has. */
    const struct rating_meeting *pending;
    size_t pending_count;
    double pairs;    /* pairs of each new pairing */
    size_t pairings; /* how many are wanted */
};

struct pool_pairing {
    size_t a, b; /* a < b */
    double gain; /* by how much it lowers the sum of the variances, Elo squared */
};

/* Fills `out` (room for round->pairings); returns how many there are, at most one of each two players, or a
 * negative rating_error. */
long pool_choose(const struct pool_round *round, struct pool_pairing *out);

#endif
