/* Simultaneous perturbation stochastic approximation (Spall 1992) by the batch and lag rule of STATISTICS,
 * section SPSA. A run plays batches of pairs, theta + c f against theta - c f; where theta goes is a function
 * of the seed and of the results of the batches in their order, never of who played them or when:
 *
 *     batch b      the pairs [b B, (b + 1) B), all under one pair of players
 *     its players  made of theta as it stands once the batches 0 .. b - lag are applied (the start for b <
 * lag) k            of its gains: 1 + the pairs applied by then, so a function of b its flips    and the
 * rounding of whole-numbered parameters: keyed by (seed, b, parameter) applied      when it is complete and
 * all before it are
 *
 * Pure; any thread. */
#ifndef KROO_COORDINATOR_SPSA_H
#define KROO_COORDINATOR_SPSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SPSA_PARAMETERS_MAX = 8192,
    SPSA_LAG_MAX = 64,
    SPSA_REASON_MAX = 240,
};

struct spsa_parameter {
    double start, min, max;
    double c_end; /* step of the players to either side at the end of the plan */
    double r_end; /* learning rate at the end of the plan, as a share of c^2 for each game of difference */
    bool whole;   /* the players know whole numbers only */
};

struct spsa_plan {
    uint64_t pairs; /* planned */
    double a_ratio; /* A as a share of the pairs; 0.1 is usual */
    double alpha, gamma;
    uint64_t seed;
    uint32_t batch, lag; /* pairs; batches, at least 1 */
};
/* No pairs, seed or batch; A ratio 0.1, alpha 0.602, gamma 0.101, lag 1. */
struct spsa_plan spsa_plan_default(void);

/* False with a sentence in `reason` and, where one parameter is to blame, its index in *which (else `count`):
 * nothing to tune, a bound that is not finite, min >= max, a start outside, c or r not above zero, a batch
 * that does not divide the pairs. */
bool spsa_check(const struct spsa_plan *plan, const struct spsa_parameter *parameters, size_t count,
                size_t *which, char reason[SPSA_REASON_MAX]);

/* c_k and R_k at k = applied + 1. */
struct spsa_gains {
    double c, r;
};
struct spsa_gains spsa_gains(const struct spsa_plan *plan, const struct spsa_parameter *parameter,
                             uint64_t applied);
/* Pairs that are applied when the players of `batch` are made. */
uint64_t spsa_applied(const struct spsa_plan *plan, uint64_t batch);
uint64_t spsa_batches(const struct spsa_plan *plan);

/* +1 or -1. */
int spsa_flip(const struct spsa_plan *plan, uint64_t batch, size_t parameter);
/* The two sides as they play: [0] theta + c f, [1] theta - c f, each clipped on its own. */
void spsa_sides(const struct spsa_parameter *parameter, double theta, double c, int flip, double sides[2]);
/* A whole-numbered parameter as a player gets it: down or up so that the mean is `value`; both sides of a
 * batch by the same draw. */
double spsa_round(const struct spsa_plan *plan, uint64_t batch, size_t parameter, double value);
/* theta once `result` = games won by the first side minus games lost is applied, under the gains and the flip
 * of the batch's players. */
double spsa_step(const struct spsa_parameter *parameter, double theta, struct spsa_gains gains, int flip,
                 int64_t result);

/* All parameters at once. `sides[0]` and `sides[1]` have `count` places and come rounded. */
void spsa_players(const struct spsa_plan *plan, const struct spsa_parameter *parameters, size_t count,
                  uint64_t batch, const double *theta, double *sides[2]);
/* Applies the result of `batch` to theta. */
void spsa_apply(const struct spsa_plan *plan, const struct spsa_parameter *parameters, size_t count,
                uint64_t batch, int64_t result, double *theta);

/* What is kept of the history: of n applied batches the thetas after the latest SPSA_KEEP, and of those
 * before every step-th, step the least power of two that leaves at most SPSA_KEEP. All others are computed
 * again from the one kept before them and the results, which stay. */
enum { SPSA_KEEP = 256 };
/* Is theta after `batch` kept when `applied` batches are? */
bool spsa_is_kept(uint64_t batch, uint64_t applied);
/* The step of the thinned part. */
uint64_t spsa_keep_step(uint64_t applied);

#endif
