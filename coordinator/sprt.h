/* The sequential test as a state machine over fixed batches, with dynamic overshoot correction
 * (STATISTICS.md, "SPRT"). Plain data, no pointers: copy with `=`. Pure; any thread. */
#ifndef KROO_COORDINATOR_SPRT_H
#define KROO_COORDINATOR_SPRT_H

#include <stddef.h>

#include "coordinator/statistics.h"

/* An experiment with a bound beyond this is refused; the calculator answers it. */
enum { SPRT_BOUND_MAX = 1000, SPRT_BATCH_MAX = 1000000 };
#define SPRT_DEFAULT_ALPHA 0.05
#define SPRT_DEFAULT_BETA  0.05

struct sprt_test {
    enum statistics_model model;
    double elo0, elo1; /* in the model's Elo */
    double alpha, beta;
    uint32_t batch; /* samples (pairs, or games with 3 bins) an evaluation */
};

enum sprt_status {
    SPRT_OPEN = 0,     /* goes on */
    SPRT_ACCEPTED = 1, /* elo1 it is; final */
    SPRT_REJECTED = 2, /* elo0 it is; final */
};
/* "", "accepted", "rejected". */
const char *sprt_status_name(enum sprt_status status);

/* One side's record of overshoot: how the LLR reached its extreme, step by step. */
struct sprt_overshoot {
    double reference; /* the extreme so far: minimum of the LLR below, maximum above */
    double sum;       /* of the steps that set a new extreme */
    double squares;   /* of the same steps, squared */
};

struct sprt_state {
    enum sprt_status status;
    unsigned bins; /* 3 or 5 */
    int64_t counts[STATISTICS_PAIR_BINS];
    uint64_t samples;    /* evaluated so far, a multiple of the batch; where it stopped once final */
    double lower, upper; /* A and B */
    double llr;          /* at the last evaluation */
    struct sprt_overshoot below, above;
};

enum { SPRT_REASON_MAX = 160 };

/* What can be said against a test: true when it is sound, else false with one sentence in `reason` (always
 * terminated, at most SPRT_REASON_MAX bytes). `for_experiment` adds the limit on the bounds. */
bool sprt_validate(const struct sprt_test *test, bool for_experiment, char reason[SPRT_REASON_MAX]);

/* `test` has passed sprt_validate; bins is 3 or 5. */
void sprt_init(struct sprt_state *state, const struct sprt_test *test, unsigned bins);

/* Adds the counts (state->bins of them, adding up to test->batch) of the next batch and evaluates once.
 * A final status is sticky: the call then changes nothing. Returns the status. */
enum sprt_status sprt_feed(struct sprt_state *state, const struct sprt_test *test,
                           const int64_t *batch_counts);

/* The corrections in force: reject at llr <= lower + low, accept at llr >= upper - high. */
double sprt_correction_low(const struct sprt_state *state);
double sprt_correction_high(const struct sprt_state *state);

/* Before launch: what to expect at a true score (of player a, per game) when one game's score has variance
 * game_variance, by the Brownian approximation without overshoot. */
struct sprt_forecast {
    double acceptance; /* probability of SPRT_ACCEPTED */
    double games;      /* expected number; a pair is two */
};
/* The scores of the bounds; under normalized bounds they depend on the variance. */
void sprt_bound_scores(const struct sprt_test *test, double game_variance, double *score0, double *score1);
void sprt_forecast(const struct sprt_test *test, double score, double game_variance,
                   struct sprt_forecast *forecast);

#endif
