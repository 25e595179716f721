#include "coordinator/estimate.h"

#include <math.h>

#define PI 3.141592653589793238

/* Terms beyond are below 1e-17 where each form is used: reflections at distances above 2 (REFLECTIONS - 1)
 * widths while time < 1/2, eigenfunctions damped by exp(-n^2 pi^2 time / 2). */
enum { REFLECTIONS = 7, EIGENFUNCTIONS = 16 };
#define TIME_OF_REFLECTIONS 0.5

/* Halvings of 2000 Elo to below 1e-12. */
enum { HALVINGS = 52 };

/* The motion in units where the walls are 0 and 1 and the variance a unit of time is 1. */
struct unit_motion {
    double from, to; /* start and end */
    double time;
    double drift;
};

static struct unit_motion unit_motion(const struct estimate_motion *motion, double samples, double llr)
{
    double width = motion->upper - motion->lower, variance = motion->deviation * motion->deviation;
    return (struct unit_motion){.from = -motion->lower / width,
                                .to = (llr - motion->lower) / width,
                                .time = variance * samples / (width * width),
                                .drift = motion->drift * width / variance};
}

/* exp(weight) Phi(z), z = +-(distance - drift time) / sqrt(time), without overflow: weight - z^2/2, the
 * exponent of the normal tail, is always the (never positive) one below, however large both are. */
static double weighted_tail(const struct unit_motion *u, double distance, double sign, double weight)
{
    double z = sign * (distance - u->drift * u->time) / sqrt(u->time);
    if (z > -30)
        return exp(weight) * 0.5 * erfc(-z / sqrt(2));
    double q = 1 / (z * z), series = 1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q))));
    double exponent = u->drift * (u->to - u->from) - u->drift * u->drift * u->time / 2 -
                      distance * distance / (2 * u->time);
    return exp(exponent) / (-z * sqrt(2 * PI)) * series;
}

/* As a function of `from` the probability is 1 at wall 0, 0 at wall 1 and a step at `to` at time 0. Reflected
 * at the walls over and over, the step becomes a staircase; each stair spreads on its own. The first stair
 * and its reflection at either wall are Siegmund's approximation. */
static double worse_reflections(const struct unit_motion *u)
{
    double x = u->from, y = u->to, g = u->drift;
    double sum = weighted_tail(u, y - x, 1, 0) + weighted_tail(u, y + x, -1, -2 * g * x);
    for (int k = 1; k < REFLECTIONS; k++) {
        sum += weighted_tail(u, y - x - 2 * k, 1, 2 * k * g);
        sum -= weighted_tail(u, y - x + 2 * k, -1, -2 * k * g);
        sum -= weighted_tail(u, y + x - 2 * k, 1, g * (2 * k - 2 * x));
        sum += weighted_tail(u, y + x + 2 * k, -1, -g * (2 * k + 2 * x));
    }
    return sum;
}

/* P(wall 0 is the one reached, some time). */
static double lower_first(double from, double drift)
{
    if (fabs(drift) < 1e-16)
        return 1 - from;
    if (drift > 0)
        return exp(-2 * drift * from) * expm1(-2 * drift * (1 - from)) / expm1(-2 * drift);
    return expm1(2 * drift * (1 - from)) / expm1(2 * drift);
}

/* The same from its limit for long times on. */
static double worse_eigenfunctions(const struct unit_motion *u)
{
    double g = u->drift, sum = 0;
    for (int n = 1; n <= EIGENFUNCTIONS; n++) {
        double wave = n * PI;
        double decay = exp(g * (u->to - u->from) - (g * g + wave * wave) * u->time / 2);
        sum += decay * sin(wave * u->from) * 2 * (g * sin(wave * u->to) - wave * cos(wave * u->to)) /
               (g * g + wave * wave);
    }
    return lower_first(u->from, g) + sum;
}

double estimate_worse_reflections(const struct estimate_motion *motion, double samples, double llr)
{
    struct unit_motion u = unit_motion(motion, samples, llr);
    return worse_reflections(&u);
}

double estimate_worse_eigenfunctions(const struct estimate_motion *motion, double samples, double llr)
{
    struct unit_motion u = unit_motion(motion, samples, llr);
    return worse_eigenfunctions(&u);
}

double estimate_worse(const struct estimate_motion *motion, double samples, double llr)
{
    struct unit_motion u = unit_motion(motion, samples, llr);
    double p = u.time < TIME_OF_REFLECTIONS ? worse_reflections(&u) : worse_eigenfunctions(&u);
    return fmin(fmax(p, 0), 1); /* only rounding leaves the range */
}

int estimate_end_set(struct estimate_end *end, const struct statistics_sample *sample,
                     const struct sprt_test *test)
{
    struct sprt_state state;
    sprt_init(&state, test, sample->bins);
    *end = (struct estimate_end){
        .lower = state.lower, .upper = state.upper, .variance = sample->variance, .samples = sample->total};
    sprt_bound_scores(test, statistics_game_variance(sample), &end->score0, &end->score1);
    double step = end->score1 - end->score0;
    double slope = step * ((sample->mean - end->score0) + (sample->mean - end->score1)) / 2 / end->variance;
    double ratio = slope * sample->total;
    end->llr = fmin(fmax(ratio, end->lower), end->upper);
    if (end->llr != ratio)
        end->samples = end->llr / slope;
    /* Equal bounds move nothing; with too distant ones the ratio, or the variance of the motion over these
     * samples, leaves the range of a double on either side. */
    double spread = step * step / end->variance * end->samples;
    bool sound = step > 0 && isfinite(ratio) && isnormal(step * step / end->variance) && isnormal(spread) &&
                 end->lower < 0 && end->upper > 0;
    return sound ? 0 : -1;
}

void estimate_motion_at(const struct estimate_end *end, double elo, struct estimate_motion *motion)
{
    double score = 1 / (1 + pow(10, -elo / 400)), step = end->score1 - end->score0;
    double drift = step * ((score - end->score0) + (score - end->score1)) / 2 / end->variance;
    *motion = (struct estimate_motion){
        .lower = end->lower, .upper = end->upper, .drift = drift, .deviation = step / sqrt(end->variance)};
}

static double worse_at(const struct estimate_end *end, double elo)
{
    struct estimate_motion motion;
    estimate_motion_at(end, elo, &motion);
    return estimate_worse(&motion, end->samples, end->llr);
}

/* The Elo at which P(worse) is p; an end of the range when it lies beyond. */
static double elo_of_worse(const struct estimate_end *end, double p)
{
    double low = -ESTIMATE_ELO_MAX, high = ESTIMATE_ELO_MAX;
    if (worse_at(end, low) <= p)
        return low;
    if (worse_at(end, high) >= p)
        return high;
    for (int step = 0; step < HALVINGS; step++) {
        double middle = (low + high) / 2;
        if (worse_at(end, middle) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

void estimate_unbiased(const struct estimate_end *end, struct estimate_unbiased *estimate)
{
    estimate->elo = elo_of_worse(end, 0.5);
    estimate->elo_lo = elo_of_worse(end, 0.975);
    estimate->elo_hi = elo_of_worse(end, 0.025);
    estimate->los = worse_at(end, 0);
}
