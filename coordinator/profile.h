/* Profile likelihoods of a multinomial sample: how much less likely the counts become when the distribution
 * is forced to have a given mean, or a given normalized mean (STATISTICS.md, "SPRT"; Owen, Empirical
 * Likelihood). Each returns L = sum p^_k ln(p_k / p^_k) <= 0 at the most likely distribution p under the
 * constraint; a likelihood ratio of two hypotheses is N (L1 - L0). Pure; any thread. */
#ifndef KROO_COORDINATOR_PROFILE_H
#define KROO_COORDINATOR_PROFILE_H

#include <stdbool.h>

enum { PROFILE_BINS_MAX = 5 };

/* Bin k of `bins` scores k / (bins - 1); p holds positive shares that add up to 1. */

/* Mean score 1 / (1 + 10^(-elo / 400)). Any finite elo: the far ends are reckoned in logarithms. */
double profile_elo(const double *p, unsigned bins, double elo);

/* Mean score s, 0 < s < 1. */
double profile_score(const double *p, unsigned bins, double score);

/* (mean - 1/2) / standard deviation = t, by the fixed point of STATISTICS.md; false when it breaks or does
 * not settle, which is when |t| is large. */
bool profile_normalized_fixed_point(const double *p, unsigned bins, double t, double *profile);

/* The same by a global search, for any finite t. */
double profile_normalized_global(const double *p, unsigned bins, double t);

#endif
