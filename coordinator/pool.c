#include "coordinator/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/rating_fit.h"
#include "engine/mix.h"

/* Gains that differ by less than this share are equal, and the seed decides: rounding must not. */
#define GAIN_SHARE 1e-6

struct chooser {
    const struct pool_round *round;
    const double *x;  /* strengths, natural units */
    double *variance; /* players x players */
    bool *is_taken;   /* players x players: paired in this round already */
    double *column;   /* players: variance times the direction of one pairing */
};

static double covariance(const struct chooser *chooser, size_t i, size_t j)
{
    return chooser->variance[i * chooser->round->players + j];
}

/* Information of `pairs` pairs between the two: two games each, where the first move is worth the same. */
static double information(const struct chooser *chooser, size_t a, size_t b, double pairs)
{
    double p = rating_expected(chooser->x[a] - chooser->x[b]);
    return 2 * pairs * p * (1 - p);
}

/* By how much adding the pairs would lower the trace (the rank-one update of Sherman and Morrison); the
 * direction's variances stay in chooser->column. */
static double gain_of(const struct chooser *chooser, size_t a, size_t b, double weight)
{
    size_t n = chooser->round->players;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        chooser->column[i] = covariance(chooser, i, a) - covariance(chooser, i, b);
        squares += chooser->column[i] * chooser->column[i];
    }
    return weight * squares / (1 + weight * (chooser->column[a] - chooser->column[b]));
}

static void add_pairs(struct chooser *chooser, size_t a, size_t b, double pairs)
{
    size_t n = chooser->round->players;
    double weight = information(chooser, a, b, pairs);
    gain_of(chooser, a, b, weight);
    double scale = weight / (1 + weight * (chooser->column[a] - chooser->column[b]));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            chooser->variance[i * n + j] -= scale * chooser->column[i] * chooser->column[j];
}

static uint64_t lot(const struct pool_round *round, size_t a, size_t b)
{
    return mix(mix(mix(round->seed, round->round), a), b);
}

/* The pairing with the largest gain; false when none is left. */
static bool best(struct chooser *chooser, struct pool_pairing *out)
{
    const struct pool_round *round = chooser->round;
    bool found = false;
    for (size_t a = 0; a < round->players; a++)
        for (size_t b = a + 1; b < round->players; b++) {
            if (!round->takes_part[a] || !round->takes_part[b] || chooser->is_taken[a * round->players + b])
                continue;
            double gain = gain_of(chooser, a, b, information(chooser, a, b, round->pairs));
            double margin = found ? GAIN_SHARE * fabs(out->gain) : 0;
            if (found && (gain < out->gain - margin ||
                          (gain <= out->gain + margin && lot(round, a, b) <= lot(round, out->a, out->b))))
                continue;
            *out = (struct pool_pairing){.a = a, .b = b, .gain = gain};
            found = true;
        }
    return found;
}

static long choose(struct chooser *chooser, struct pool_pairing *out)
{
    const struct pool_round *round = chooser->round;
    size_t count = 0;
    for (size_t i = 0; i < round->pending_count; i++)
        add_pairs(chooser, round->pending[i].a, round->pending[i].b, round->pending[i].pairs[0][0]);
    while (count < round->pairings && best(chooser, &out[count])) {
        struct pool_pairing *taken = &out[count++];
        chooser->is_taken[taken->a * round->players + taken->b] = true;
        add_pairs(chooser, taken->a, taken->b, round->pairs);
        taken->gain /= RATING_ELO * RATING_ELO;
    }
    return (long)count;
}

static bool is_good(const struct pool_round *round)
{
    if (round->players == 0 || round->players > RATING_PLAYERS_MAX || !(round->pairs > 0) ||
        round->pairs > RATING_COUNT_MAX || round->count > RATING_MEETINGS_MAX)
        return false;
    for (size_t i = 0; i < round->count + round->pending_count; i++) {
        const struct rating_meeting *meeting =
            i < round->count ? &round->meetings[i] : &round->pending[i - round->count];
        if (meeting->a >= round->players || meeting->b >= round->players || meeting->a == meeting->b)
            return false;
    }
    return true;
}

/* What was played, and to what it was fitted: no virtual draws, as the normal prior keeps all finite. */
static int fit_round(const struct pool_round *round, const size_t *group, struct rating_fit *fit)
{
    double precision = 1 / (POOL_SPREAD * RATING_ELO);
    *fit = (struct rating_fit){.players = round->players,
                               .groups = 1,
                               .group = group,
                               .meetings = round->meetings,
                               .count = round->count,
                               .ridge = precision * precision};
    return rating_fit_run(fit, false);
}

long pool_choose(const struct pool_round *round, struct pool_pairing *out)
{
    if (!is_good(round))
        return RATING_MEETING;
    size_t n = round->players;
    struct rating_fit fit = {0};
    struct chooser chooser = {.round = round,
                              .is_taken = calloc(n * n, sizeof *chooser.is_taken),
                              .column = calloc(n, sizeof *chooser.column)};
    size_t *group = calloc(n, sizeof *group);
    long count = RATING_MEMORY;
    if (chooser.is_taken && chooser.column && group) {
        count = fit_round(round, group, &fit);
        chooser.x = fit.x;
        chooser.variance = fit.covariance;
        if (count == 0)
            count = choose(&chooser, out);
    }
    rating_fit_done(&fit);
    free(chooser.is_taken);
    free(chooser.column);
    free(group);
    return count;
}
