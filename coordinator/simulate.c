#include "coordinator/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"

/* exp(TILT_MAX) is as lopsided as results can be written. */
#define TILT_MAX 60.0

static void tilt(double x, const double base[STATISTICS_PAIR_BINS], double out[STATISTICS_PAIR_BINS])
{
    double sum = 0;
    for (int k = 0; k < STATISTICS_PAIR_BINS; k++)
        sum += out[k] = base[k] * exp(x * (k / 4.0 - 0.5));
    for (int k = 0; k < STATISTICS_PAIR_BINS; k++)
        out[k] /= sum;
}

/* The Elo of exact probabilities; the variance of normalized Elo is a game's, twice a pair's. */
static double elo_of(enum statistics_model model, const double p[STATISTICS_PAIR_BINS])
{
    double mean = 0, variance = 0;
    for (int k = 0; k < STATISTICS_PAIR_BINS; k++)
        mean += p[k] * k / 4.0;
    for (int k = 0; k < STATISTICS_PAIR_BINS; k++)
        variance += p[k] * (k / 4.0 - mean) * (k / 4.0 - mean);
    if (model == STATISTICS_NORMALIZED)
        return 800 / log(10) * (mean - 0.5) / sqrt(2 * variance);
    return 400 * log10(mean / (1 - mean));
}

int simulate_probabilities(enum statistics_model model, double elo, const double base[STATISTICS_PAIR_BINS],
                           double probabilities[STATISTICS_PAIR_BINS])
{
    double low = -TILT_MAX, high = TILT_MAX, at_low[STATISTICS_PAIR_BINS], at_high[STATISTICS_PAIR_BINS];
    tilt(low, base, at_low);
    tilt(high, base, at_high);
    if (!(elo_of(model, at_low) <= elo && elo <= elo_of(model, at_high)))
        return -1;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        tilt(middle, base, probabilities);
        if (elo_of(model, probabilities) < elo)
            low = middle;
        else
            high = middle;
    }
    return 0;
}

static void draw_batch(const struct simulate_plan *plan, uint64_t run, uint64_t first,
                       int64_t counts[STATISTICS_PAIR_BINS])
{
    memset(counts, 0, STATISTICS_PAIR_BINS * sizeof *counts);
    for (uint64_t i = 0; i < plan->test.batch; i++) {
        double u = (double)(mix(run, first + i) >> 11) / 9007199254740992.0;
        int k = 0;
        while (k < STATISTICS_PAIR_BINS - 1 && u >= plan->probabilities[k])
            u -= plan->probabilities[k++];
        counts[k]++;
    }
}

/* Pairs it took. */
static uint64_t simulate_one(const struct simulate_plan *plan, uint32_t number,
                             struct simulate_outcome *outcome)
{
    struct sprt_state state;
    int64_t counts[STATISTICS_PAIR_BINS];
    uint64_t run = mix(plan->seed, number), pairs = 0;
    sprt_init(&state, &plan->test, STATISTICS_PAIR_BINS);
    while (state.status == SPRT_OPEN && pairs + plan->test.batch <= plan->pairs_max) {
        draw_batch(plan, run, pairs, counts);
        sprt_feed(&state, &plan->test, counts);
        pairs += plan->test.batch;
    }
    outcome->accepted += state.status == SPRT_ACCEPTED;
    outcome->rejected += state.status == SPRT_REJECTED;
    outcome->undecided += state.status == SPRT_OPEN;
    return pairs;
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int simulate_run(const struct simulate_plan *plan, struct simulate_outcome *outcome)
{
    uint64_t *pairs = malloc(plan->runs * sizeof *pairs);
    double sum = 0, squares = 0;
    *outcome = (struct simulate_outcome){.runs = plan->runs};
    if (!pairs)
        return -1;
    for (uint32_t run = 0; run < plan->runs; run++) {
        pairs[run] = simulate_one(plan, run, outcome);
        sum += (double)pairs[run];
        squares += (double)pairs[run] * (double)pairs[run];
    }
    qsort(pairs, plan->runs, sizeof *pairs, by_size);
    outcome->pairs_mean = sum / plan->runs;
    outcome->pairs_sd = sqrt(fmax(0, squares / plan->runs - outcome->pairs_mean * outcome->pairs_mean));
    outcome->pairs_median = pairs[plan->runs / 2];
    outcome->pairs_p95 = pairs[(uint64_t)plan->runs * 95 / 100];
    free(pairs);
    return 0;
}
