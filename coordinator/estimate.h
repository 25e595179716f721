/* What a sequential test says about the strength once it has ended: the median-unbiased Elo with its 95 %
 * interval and LOS (STATISTICS.md, "SPRT", last point). The plain estimate is biased there: a test stops when
 * chance has carried it far. Pure and without state; any thread.
 *
 * The LLR is taken as a Brownian motion from 0 between the bounds A and B. Of two ends the worse is the one
 * further to the losing side: faster at A, slower at B, lower when still between them. P(worse) falls as the
 * true Elo rises; the estimate is where it is 1/2, the ends of the interval where it is 0.975 and 0.025
 * (Siegmund, "Estimation following sequential tests", Biometrika 65, 1978). Ends may differ from those of
 * programs that leave out the walls' second reflection: by up to 0.0025 Elo in the vectors. */
#ifndef KROO_COORDINATOR_ESTIMATE_H
#define KROO_COORDINATOR_ESTIMATE_H

#include "coordinator/sprt.h"

/* Estimate and ends are sought within +-this; one that lies beyond is given as this. */
#define ESTIMATE_ELO_MAX 1000.0

/* A motion between two walls. */
struct estimate_motion {
    double lower, upper;     /* below and above 0, where it starts */
    double drift, deviation; /* a sample; deviation above 0 */
};

/* The probability of an end worse than being at `llr` (lower <= llr <= upper; on a wall: having just reached
 * it) after `samples` > 0. Always within 0..1, by whichever of the two forms below converges at once. */
double estimate_worse(const struct estimate_motion *motion, double samples, double llr);
/* The same by reflections at the walls (exact to 1e-12 up to deviation^2 samples = (upper - lower)^2) and by
 * eigenfunctions (from a 25th of that on). For the tests that hold one against the other. */
double estimate_worse_reflections(const struct estimate_motion *motion, double samples, double llr);
double estimate_worse_eigenfunctions(const struct estimate_motion *motion, double samples, double llr);

/* Where a test stands, as such a motion. The LLR here is the normal approximation
 * N (s1 - s0)(2m - s0 - s1) / (2v), clamped to the bounds: what lies beyond is overshoot, and the samples are
 * then those at which its straight path crossed the bound. */
struct estimate_end {
    double lower, upper;
    double score0, score1; /* of the bounds; under normalized bounds by the sample's variance */
    double variance;       /* of a sample's score */
    double llr, samples;   /* clamped */
};

/* `test` has passed sprt_validate. 0, or -1 when the bounds are too close or too far apart for numbers. */
int estimate_end_set(struct estimate_end *end, const struct statistics_sample *sample,
                     const struct sprt_test *test);
/* The motion if a (logistic) lead of `elo` were the truth. */
void estimate_motion_at(const struct estimate_end *end, double elo, struct estimate_motion *motion);

struct estimate_unbiased {
    double elo, elo_lo, elo_hi; /* logistic, under either model */
    double los;                 /* P(worse) at equality */
};
/* Finite for every `end` that was set. */
void estimate_unbiased(const struct estimate_end *end, struct estimate_unbiased *estimate);

#endif
