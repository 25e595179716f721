#include "coordinator/statistics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "coordinator/profile.h"

#define LN10 2.302585092994045684

/* Normalized Elo per unit of (mean - 1/2) / standard deviation of a game. */
#define C_ELO (800 / LN10)

/* The 95 % point of chi-square with one degree of freedom. */
#define CHI2_95 3.841458820694124

#define SCORE_END 1e-6

/* Up to this |t| the fixed point is tried; beyond, it may settle on a peak that is not the highest. */
#define FIXED_POINT_T_MAX 0.5

const char *statistics_model_name(enum statistics_model model)
{
    return model == STATISTICS_LOGISTIC ? "logistic" : "normalized";
}

int statistics_model_parse(const char *name, enum statistics_model *model)
{
    if (strcmp(name, "normalized") == 0)
        *model = STATISTICS_NORMALIZED;
    else if (strcmp(name, "logistic") == 0)
        *model = STATISTICS_LOGISTIC;
    else
        return -1;
    return 0;
}

const char *statistics_order_name(size_t count_length)
{
    switch (count_length) {
    case STATISTICS_GAME_BINS:
        return "L, D, W";
    case STATISTICS_PAIR_BINS:
        return "LL, LD, DD+WL, WD, WW";
    case STATISTICS_PAIR_COUNTS:
        return "LL, LD, DD, WL, DW, WW";
    default:
        return NULL;
    }
}

enum statistics_pair statistics_pair_class(unsigned score_leg0, unsigned score_leg1)
{
    static const enum statistics_pair by_sum[] = {PAIR_LL, PAIR_LD, PAIR_WL, PAIR_DW, PAIR_WW};
    assert(score_leg0 <= 2 && score_leg1 <= 2);
    return score_leg0 == 1 && score_leg1 == 1 ? PAIR_DD : by_sum[score_leg0 + score_leg1];
}

unsigned statistics_pair_bin(enum statistics_pair pair)
{
    return (unsigned)pair - (pair >= PAIR_WL ? 1 : 0);
}

const char *statistics_error_text(int error)
{
    switch (error) {
    case STATISTICS_LENGTH:
        return "counts must be 3 (L, D, W), 5 (LL, LD, DD+WL, WD, WW) or 6 (LL, LD, DD, WL, DW, WW) numbers";
    case STATISTICS_NEGATIVE:
        return "a count is negative";
    case STATISTICS_HUGE:
        return "the counts add up to more than 10^15";
    default:
        return "";
    }
}

int statistics_sample_set(struct statistics_sample *sample, const int64_t *counts, size_t count_length)
{
    int64_t bins[STATISTICS_PAIR_BINS] = {0}, sum = 0;
    if (!statistics_order_name(count_length))
        return STATISTICS_LENGTH;
    for (size_t i = 0; i < count_length; i++) {
        if (counts[i] < 0)
            return STATISTICS_NEGATIVE;
        if (counts[i] > STATISTICS_COUNT_MAX - sum)
            return STATISTICS_HUGE;
        sum += counts[i];
        bins[count_length == STATISTICS_PAIR_COUNTS ? statistics_pair_bin((enum statistics_pair)i) : i] +=
            counts[i];
    }
    *sample = (struct statistics_sample){.bins = count_length == STATISTICS_GAME_BINS ? 3 : 5};
    for (unsigned k = 0; k < sample->bins; k++) {
        sample->p[k] = bins[k] ? (double)bins[k] : STATISTICS_EMPTY_BIN;
        sample->total += sample->p[k];
    }
    double centred = 0;
    for (unsigned k = 0; k < sample->bins; k++) {
        sample->p[k] /= sample->total;
        centred += sample->p[k] * ((double)k / (sample->bins - 1) - 0.5);
    }
    sample->mean = 0.5 + centred;
    for (unsigned k = 0; k < sample->bins; k++) {
        double d = (double)k / (sample->bins - 1) - 0.5 - centred;
        sample->variance += sample->p[k] * d * d;
    }
    return 0;
}

double statistics_game_variance(const struct statistics_sample *sample)
{
    return sample->bins == STATISTICS_GAME_BINS ? sample->variance : 2 * sample->variance;
}

/* Without the clamp. */
static double elo_of_score(double score)
{
    return 400 / LN10 * (log(score) - log1p(-score));
}

double statistics_elo(double score)
{
    return elo_of_score(fmin(fmax(score, 0.001), 0.999));
}

/* The end of the interval between the mean and `end`: where the profile has fallen by half of CHI2_95. */
static double interval_end(const struct statistics_sample *sample, double end)
{
    double inside = fmin(fmax(sample->mean, SCORE_END), 1 - SCORE_END), outside = end;
    double floor = -CHI2_95 / (2 * sample->total);
    if (profile_score(sample->p, sample->bins, outside) >= floor)
        return outside;
    for (int step = 0; step < 60 && fabs(outside - inside) > 1e-16; step++) {
        double middle = (inside + outside) / 2;
        if (profile_score(sample->p, sample->bins, middle) >= floor)
            inside = middle;
        else
            outside = middle;
    }
    return (inside + outside) / 2;
}

void statistics_estimate(const struct statistics_sample *sample, struct statistics_estimate *estimate)
{
    double above = sample->mean - 0.5;
    estimate->score = sample->mean;
    estimate->elo = statistics_elo(sample->mean);
    estimate->elo_lo = elo_of_score(interval_end(sample, SCORE_END));
    estimate->elo_hi = elo_of_score(interval_end(sample, 1 - SCORE_END));
    estimate->los = 0.5 * erfc(-above / sqrt(2 * sample->variance / sample->total));
    estimate->nelo = C_ELO * above / sqrt(statistics_game_variance(sample));
}

static double bound_t(const struct statistics_sample *sample, double nelo)
{
    return nelo / C_ELO * (sample->bins == STATISTICS_GAME_BINS ? 1 : sqrt(2));
}

static double profile_normalized(const struct statistics_sample *sample, double nelo)
{
    double t = bound_t(sample, nelo), profile;
    if (fabs(t) <= FIXED_POINT_T_MAX && profile_normalized_fixed_point(sample->p, sample->bins, t, &profile))
        return profile;
    return profile_normalized_global(sample->p, sample->bins, t);
}

bool statistics_llr_fixed_point(const struct statistics_sample *sample, double nelo0, double nelo1,
                                double *llr)
{
    double profile0, profile1;
    if (!profile_normalized_fixed_point(sample->p, sample->bins, bound_t(sample, nelo0), &profile0) ||
        !profile_normalized_fixed_point(sample->p, sample->bins, bound_t(sample, nelo1), &profile1))
        return false;
    *llr = sample->total * (profile1 - profile0);
    return true;
}

double statistics_llr_global(const struct statistics_sample *sample, double nelo0, double nelo1)
{
    return sample->total * (profile_normalized_global(sample->p, sample->bins, bound_t(sample, nelo1)) -
                            profile_normalized_global(sample->p, sample->bins, bound_t(sample, nelo0)));
}

int statistics_llr(const struct statistics_sample *sample, enum statistics_model model, double elo0,
                   double elo1, double *llr)
{
    *llr = 0;
    if (!isfinite(elo0) || !isfinite(elo1))
        return -1;
    double profile0, profile1;
    if (model == STATISTICS_LOGISTIC) {
        profile0 = profile_elo(sample->p, sample->bins, elo0);
        profile1 = profile_elo(sample->p, sample->bins, elo1);
    } else {
        profile0 = profile_normalized(sample, elo0);
        profile1 = profile_normalized(sample, elo1);
    }
    double ratio = sample->total * (profile1 - profile0);
    if (!isfinite(ratio))
        return -1;
    *llr = ratio;
    return 0;
}

void statistics_share_interval(uint64_t hits, uint64_t trials, double *low, double *high)
{
    static const double z = 1.959963984540054;
    *low = 0;
    *high = 1;
    if (trials == 0)
        return;
    double n = (double)trials, share = (double)hits / n, spread = z * z / n;
    double middle = share + spread / 2, half = z * sqrt(share * (1 - share) / n + spread / (4 * n));
    if (hits > 0)
        *low = (middle - half) / (1 + spread);
    if (hits < trials)
        *high = (middle + half) / (1 + spread);
}
