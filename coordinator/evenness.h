/* Is a farm fair? A player against itself must come out even, in all and on each worker (`kroo aa`). Pure;
 * any thread. */
#ifndef KROO_COORDINATOR_EVENNESS_H
#define KROO_COORDINATOR_EVENNESS_H

#include "coordinator/statistics.h"

/* Fewer pairs than this are not tested: the normal approximation would be a guess. */
enum { EVENNESS_PAIRS_MIN = 20 };
/* Below this a difference counts as one. */
#define EVENNESS_P 0.01

struct evenness {
    double pairs, score; /* mean score of side a */
    double elo, elo_lo, elo_hi;
    double z; /* (score - 1/2) / its standard error */
    double p; /* two-sided: chance of a z so far from 0 on a fair farm; 1 when not tested */
    bool is_tested;
};
/* From LL, LD, DD, WL, DW, WW. 0, or a statistics_error. */
int evenness_of(struct evenness *evenness, const int64_t counts[STATISTICS_PAIR_COUNTS]);

/* Holm's step-down over `count` p-values of those that are tested, in place: what is then below EVENNESS_P is
 * a finding although many were looked at. */
void evenness_correct(struct evenness *workers, size_t count);

#endif
