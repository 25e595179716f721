#include "coordinator/sprt.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#define LN10  2.302585092994045684
#define C_ELO (800 / LN10)

const char *sprt_status_name(enum sprt_status status)
{
    static const char *const names[] = {"", "accepted", "rejected"};
    return names[status];
}

bool sprt_validate(const struct sprt_test *test, bool for_experiment, char reason[SPRT_REASON_MAX])
{
    reason[0] = '\0';
    if (test->model != STATISTICS_NORMALIZED && test->model != STATISTICS_LOGISTIC)
        snprintf(reason, SPRT_REASON_MAX, "the model must be normalized or logistic");
    else if (!isfinite(test->elo0) || !isfinite(test->elo1))
        snprintf(reason, SPRT_REASON_MAX, "elo0 and elo1 must be finite numbers");
    else if (!(test->elo0 < test->elo1))
        snprintf(reason, SPRT_REASON_MAX, "elo0 must be below elo1, not %g and %g", test->elo0, test->elo1);
    else if (for_experiment && (fabs(test->elo0) > SPRT_BOUND_MAX || fabs(test->elo1) > SPRT_BOUND_MAX))
        snprintf(reason, SPRT_REASON_MAX, "the bounds of an experiment lie within +-%d, not at %g and %g",
                 SPRT_BOUND_MAX, test->elo0, test->elo1);
    else if (!(test->alpha > 0 && test->beta > 0 && test->alpha + test->beta < 1))
        snprintf(reason, SPRT_REASON_MAX,
                 "alpha and beta must be above 0 and add up to less than 1, not %g and %g", test->alpha,
                 test->beta);
    else if (test->batch < 1 || test->batch > SPRT_BATCH_MAX)
        snprintf(reason, SPRT_REASON_MAX, "the batch must be 1 to %d samples, not %u", SPRT_BATCH_MAX,
                 test->batch);
    return reason[0] == '\0';
}

static double bound_lower(const struct sprt_test *test)
{
    return log(test->beta) - log1p(-test->alpha);
}

static double bound_upper(const struct sprt_test *test)
{
    return log1p(-test->beta) - log(test->alpha);
}

void sprt_init(struct sprt_state *state, const struct sprt_test *test, unsigned bins)
{
    assert(bins == STATISTICS_GAME_BINS || bins == STATISTICS_PAIR_BINS);
    *state = (struct sprt_state){.bins = bins, .lower = bound_lower(test), .upper = bound_upper(test)};
}

/* `step` is positive when the LLR goes beyond its extreme in the direction of `sign`. */
static void overshoot_note(struct sprt_overshoot *side, double llr, double sign)
{
    double step = llr - side->reference;
    if (step * sign <= 0)
        return;
    side->reference = llr;
    side->sum += step;
    side->squares += step * step;
}

static double overshoot_correction(const struct sprt_overshoot *side)
{
    return side->sum != 0 ? side->squares / (2 * fabs(side->sum)) : 0;
}

double sprt_correction_low(const struct sprt_state *state)
{
    return overshoot_correction(&state->below);
}

double sprt_correction_high(const struct sprt_state *state)
{
    return overshoot_correction(&state->above);
}

enum sprt_status sprt_feed(struct sprt_state *state, const struct sprt_test *test,
                           const int64_t *batch_counts)
{
    struct statistics_sample sample;
    int64_t counts[STATISTICS_PAIR_BINS];
    if (state->status != SPRT_OPEN)
        return state->status;
    for (unsigned k = 0; k < state->bins; k++)
        counts[k] = state->counts[k] + batch_counts[k];
    /* Counts at the limit of the formulas, or a ratio beyond a double: neither can be reached by an
     * experiment within its own limits, and without an evaluation there is no verdict. */
    double llr;
    if (statistics_sample_set(&sample, counts, state->bins) != 0 ||
        statistics_llr(&sample, test->model, test->elo0, test->elo1, &llr) != 0)
        return state->status;
    for (unsigned k = 0; k < state->bins; k++)
        state->counts[k] = counts[k];
    state->samples += test->batch;
    state->llr = llr;
    overshoot_note(&state->below, llr, -1);
    overshoot_note(&state->above, llr, 1);
    if (llr >= state->upper - sprt_correction_high(state))
        state->status = SPRT_ACCEPTED;
    else if (llr <= state->lower + sprt_correction_low(state))
        state->status = SPRT_REJECTED;
    return state->status;
}

void sprt_bound_scores(const struct sprt_test *test, double game_variance, double *score0, double *score1)
{
    if (test->model == STATISTICS_LOGISTIC) {
        *score0 = 1 / (1 + pow(10, -test->elo0 / 400));
        *score1 = 1 / (1 + pow(10, -test->elo1 / 400));
    } else {
        *score0 = 0.5 + test->elo0 * sqrt(game_variance) / C_ELO;
        *score1 = 0.5 + test->elo1 * sqrt(game_variance) / C_ELO;
    }
}

void sprt_forecast(const struct sprt_test *test, double score, double game_variance,
                   struct sprt_forecast *forecast)
{
    double s0, s1, a = bound_lower(test), b = bound_upper(test);
    sprt_bound_scores(test, game_variance, &s0, &s1);
    double h = (2 * score - s0 - s1) / (s1 - s0), scale = game_variance / ((s1 - s0) * (s1 - s0));
    if (fabs(h) < 1e-7) {
        /* The limits; the next terms are of order h. */
        forecast->acceptance = -a / (b - a);
        forecast->games = -a * b * scale;
        return;
    }
    /* Numerator and denominator scaled so that no exponent is positive: nothing overflows far from the
     * bounds. */
    if (h > 0)
        forecast->acceptance = expm1(h * a) / expm1(h * (a - b));
    else
        forecast->acceptance = exp(h * b) * expm1(-h * a) / expm1(h * (b - a));
    forecast->games = 2 / h * (b * forecast->acceptance + a * (1 - forecast->acceptance)) * scale;
}
