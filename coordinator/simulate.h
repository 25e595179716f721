/* What a sequential test really does: many experiments of invented pairs through the same sprt_feed that
 * decides real ones, beside what the Brownian approximation promises (STATISTICS.md, "SPRT"). Pure; any
 * thread. */
#ifndef KROO_COORDINATOR_SIMULATE_H
#define KROO_COORDINATOR_SIMULATE_H

#include "coordinator/sprt.h"

enum { SIMULATE_RUNS_MAX = 100000, SIMULATE_PAIRS_MAX = 1000000 };

struct simulate_plan {
    struct sprt_test test;                      /* sound */
    double probabilities[STATISTICS_PAIR_BINS]; /* of LL, LD, DD+WL, WD, WW; they add up to 1 */
    uint32_t runs;
    uint64_t pairs_max; /* a run that comes so far ends undecided */
    uint64_t seed;
};

struct simulate_outcome {
    uint32_t runs, accepted, rejected, undecided;
    double pairs_mean, pairs_sd; /* of all runs */
    uint64_t pairs_median, pairs_p95;
};

/* Results of pairs of two players `elo` apart (in the model's Elo), as near to `base` as a factor exp(x *
 * pair score) makes them. 0; -1 when no such results exist (a base without wins or losses, an Elo out of
 * reach). */
int simulate_probabilities(enum statistics_model model, double elo, const double base[STATISTICS_PAIR_BINS],
                           double probabilities[STATISTICS_PAIR_BINS]);

/* 0; -1 without memory. Run r is a function of (seed, r). */
int simulate_run(const struct simulate_plan *plan, struct simulate_outcome *outcome);

#endif
