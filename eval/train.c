#include "eval/train.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/features.h"
#include "eval/provenance.h"
#include "eval/scale.h"
#include "eval/train_fit.h"
#include "proto/artifact.h"

/* A share of one result from which the class is called lopsided. */
static const double lopsided_share = 0.95;
/* Fewer games than this cannot tell a better fit from a lucky one. */
enum { FEW_VALIDATION_GAMES = 30 };

void train_warn(struct train *train, const char *format, ...)
{
    va_list arguments;
    if (train->warning_count == TRAIN_WARNINGS_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(train->warnings[train->warning_count++], TRAIN_TEXT, format, arguments);
    va_end(arguments);
}

enum train_status train_end(struct train *train, enum train_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(train->reason, sizeof train->reason, format, arguments);
    va_end(arguments);
    return status;
}

/* --- checks before anything is fitted --- */

static enum train_status check_results(struct train *train)
{
    const struct reader_counts *counts = &train->reader.counts;
    uint64_t most = counts->south > counts->north ? counts->south : counts->north;
    most = most > counts->draws ? most : counts->draws;
    if (counts->games == 0)
        return train_end(train, TRAIN_REFUSED, "no games: the ranges hold no counted game; see `kroo ls`");
    if (counts->training_games == 0)
        return train_end(train, TRAIN_REFUSED,
                         "no training games: all %" PRIu64 " games fell to validation; use more games",
                         counts->games);
    if (most == counts->training_games)
        return train_end(train, TRAIN_REFUSED,
                         "one outcome only: all %" PRIu64
                         " training games were %s, so there is nothing to learn from them",
                         most,
                         most == counts->draws   ? "drawn"
                         : most == counts->south ? "won by South"
                                                 : "won by North");
    if ((double)most >= lopsided_share * (double)counts->training_games)
        train_warn(train,
                   "lopsided results: %.1f %% of the training games were %s; the weights will lean that way",
                   100.0 * (double)most / (double)counts->training_games,
                   most == counts->draws   ? "drawn"
                   : most == counts->south ? "won by South"
                                           : "won by North");
    return TRAIN_DONE;
}

static enum train_status check_data(struct train *train)
{
    struct rules parent_rules;
    char why[256];
    enum train_status status = check_results(train);
    if (status != TRAIN_DONE)
        return status;
    train->positions = train->reader.training.count;
    train->validation_positions = train->reader.validation.count;
    if (train->positions < train->options.min_positions)
        return train_end(train, TRAIN_REFUSED,
                         "too few positions: %" PRIu64 " to train on, at least %" PRIu64
                         " are wanted; play more games, or lower --min-positions",
                         train->positions, train->options.min_positions);
    if (rules_parse(train->parent.weights->rules, &parent_rules, why, sizeof why) != 0 ||
        !rules_equal(&parent_rules, &train->reader.rules))
        return train_end(train, TRAIN_REFUSED,
                         "the parent was made for the rules `%s`, the games were played by `%s`",
                         train->parent.weights->rules, train->reader.rules.name);
    if (train->reader.validation.count == 0 && !train->options.force)
        return train_end(
            train, TRAIN_REFUSED,
            "no validation positions, so nothing shows whether the fit is better; use more games or a larger "
            "--validation-share");
    return TRAIN_DONE;
}

/* --- data: digest, scale, merging --- */

/* Validation goes back to its games afterwards: they are the clusters of the standard error. */
static void digest_data(struct train *train)
{
    struct rows *training = &train->reader.training, *validation = &train->reader.validation;
    rows_sort(training);
    rows_sort(validation);
    rows_digest(training, validation, train->data_sha256);
    train->has_data_sha256 = true;
    train->shared = rows_shared(training, validation);
    rows_sort_by_game(validation);
}

/* K from rows whose score is an estimate; proven outcomes say nothing about the scale. */
static enum train_status fit_score_scale(struct train *train, const struct rows *rows)
{
    struct scale *scale = scale_create();
    uint64_t scored = 0;
    if (!scale)
        return train_end(train, TRAIN_FAILED, "memory is short; train on fewer games");
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        bool estimate = row->score != PLAY_NO_SCORE && abs(row->score) < SEARCH_WIN_BOUND;
        scored += row->score != PLAY_NO_SCORE;
        if (estimate)
            scale_add(scale, row->score, row->half_points / 2.0, 1.0);
    }
    enum scale_error error = scale_fit(scale, &train->k);
    free(scale);
    train->lambda = train->options.lambda;
    if (scored == 0 || train->lambda >= 1.0) {
        if (scored == 0 && train->lambda < 1.0)
            train_warn(train, "no position has a search score, so the target is the result alone (lambda 1)");
        train->lambda = 1.0;
        train->k = error == SCALE_OK ? train->k : 0.0;
        return TRAIN_DONE;
    }
    if (error != SCALE_OK)
        return train_end(
            train, TRAIN_REFUSED,
            "the search scores do not go with the results (no positive scale fits them); check the "
            "experiment, "
            "or give --lambda 1 to learn from results alone");
    if (train->k < 2.0 * SCALE_K_MIN)
        train_warn(train, "the scores separate the results perfectly; that is too little data, or a mistake");
    return TRAIN_DONE;
}

static void merge_data(struct train *train)
{
    train->merged = rows_merge(&train->reader.training, train->lambda, train->k, train->options.count_cap,
                               &train->merged_count);
}

/* --- weights, judging --- */

static enum train_status make_weights(struct train *train, const char *provenance)
{
    weights_destroy(train->weights);
    train->weights = NULL;
    enum weights_error error =
        quantize_weights(&train->quantized, train->reader.rules.name, provenance, &train->weights);
    if (error != WEIGHTS_OK)
        return train_end(train, TRAIN_FAILED, "%s", weights_error_text(error));
    return TRAIN_DONE;
}

/* The parent competes at its best: its scores get the scale that suits the training targets best, whatever
 * scale its own data had. */
static enum train_status fit_parent_scale(struct train *train)
{
    struct scale *scale = scale_create();
    if (!scale)
        return train_end(train, TRAIN_FAILED, "memory is short; train on fewer games");
    for (size_t i = 0; i < train->merged_count; i++)
        scale_add(scale, features_score(train->merged[i].key, train->parent.weights), train->merged[i].target,
                  train->merged[i].weight);
    if (scale_fit(scale, &train->parent_k) != SCALE_OK) {
        train->parent_k = SCALE_K_MAX;
        train_warn(train, "the parent's scores say nothing about these games");
    }
    free(scale);
    return TRAIN_DONE;
}

static void judge_validation(struct train *train)
{
    struct judged before = {train->parent.weights, train->parent_k};
    struct judged after = {train->weights, train->own_k};
    struct row_targets targets = {train->lambda, train->k};
    struct position start = position_start();
    judge_run(&train->reader.validation, targets, before, after, &train->judge);
    train->judged = train->judge.positions > 0;
    train->start_score = weights_evaluate(train->weights, &start);
    if (train->judge.games < FEW_VALIDATION_GAMES)
        train_warn(train, "only %" PRIu64 " validation games: the losses say little", train->judge.games);
}

static void judge_weights(struct train *train)
{
    struct judged before = {train->parent.weights, train->parent_k};
    struct judged after = {train->weights, train->weights->per_logit};
    train->own_k = after.k;
    train->train_before = judge_merged(train->merged, train->merged_count, before);
    train->train_after = judge_merged(train->merged, train->merged_count, after);
    judge_validation(train);
    train->quantisation_error = train_rounding(train);
    double p = 1.0 / (1.0 + exp(-train->start_score / train->weights->per_logit));
    if (fabs(p - 0.5) > 0.1)
        train_warn(
            train,
            "the new weights call the start position %.0f %% for the side to move; is the data one-sided?",
            100.0 * p);
    if (train->judged && 2 * train->shared > train->validation_positions)
        train_warn(train, "%.0f %% of the validation positions occur in training too: play more varied games",
                   100.0 * (double)train->shared / (double)train->validation_positions);
}

/* The gate that needs no match: worse than the parent on games neither was fitted on. */
static enum train_status check_gain(struct train *train)
{
    const struct judge *judge = &train->judge;
    if (!train->judged || judge->after <= judge->before)
        return TRAIN_DONE;
    if (!isfinite(judge->after))
        return train_end(train, TRAIN_FAILED, "the validation loss is no number; nothing was kept");
    if (train->options.force) {
        train_warn(train,
                   "worse than the parent by %.5f +- %.5f on the validation games; kept because of --force",
                   judge->difference, judge->error);
        return TRAIN_DONE;
    }
    return train_end(
        train, TRAIN_REFUSED,
        "worse than the parent: validation loss %.5f before, %.5f after (by %.5f +- %.5f); play more games, "
        "raise --ridge, or keep it with --force",
        judge->before, judge->after, judge->difference, judge->error);
}

static enum train_status write_file(struct train *train)
{
    char *provenance = provenance_text(train);
    enum train_status status =
        provenance ? make_weights(train, provenance) : train_end(train, TRAIN_FAILED, "memory is short");
    free(provenance);
    if (status != TRAIN_DONE)
        return status;
    enum weights_error error = weights_serialize(train->weights, &train->bytes, &train->size);
    if (error != WEIGHTS_OK)
        return train_end(train, TRAIN_FAILED, "%s", weights_error_text(error));
    artifact_hash(train->bytes, train->size, train->sha256);
    return TRAIN_DONE;
}

enum train_status train_look(struct train *train)
{
    enum train_status status = check_data(train);
    if (status != TRAIN_DONE)
        return status;
    digest_data(train);
    status = fit_score_scale(train, &train->reader.training);
    if (status == TRAIN_DONE)
        merge_data(train);
    return status;
}

enum train_status train_run(struct train *train)
{
    enum train_status status = train_look(train);
    if (status == TRAIN_DONE)
        status = train_fit(train);
    if (status == TRAIN_DONE)
        status = make_weights(train, "{}");
    if (status == TRAIN_DONE)
        status = fit_parent_scale(train);
    if (status != TRAIN_DONE)
        return status;
    judge_weights(train);
    status = check_gain(train);
    return status == TRAIN_DONE ? write_file(train) : status;
}

/* --- comparing weights that are there --- */

/* The scale of some weights' scores that suits the rows best. */
static double best_scale(struct train *train, const struct rows *rows, const struct weights *weights,
                         const char *whose)
{
    double k = SCALE_K_MAX;
    struct scale *scale = scale_create();
    if (!scale)
        return k;
    for (size_t i = 0; i < rows->count; i++)
        scale_add(scale, features_score(rows->items[i].key, weights),
                  row_target(&rows->items[i], train->lambda, train->k), 1.0);
    if (scale_fit(scale, &k) != SCALE_OK) {
        k = SCALE_K_MAX;
        train_warn(train, "the scores of %s say nothing about these games", whose);
    }
    free(scale);
    return k;
}

static enum train_status check_comparison(const struct train *train, const struct weights *weights, char *why,
                                          size_t size)
{
    const struct weights *both[] = {weights, train->parent.weights};
    for (int i = 0; i < 2; i++) {
        struct rules rules;
        if (rules_parse(both[i]->rules, &rules, why, size) != 0 ||
            !rules_equal(&rules, &train->reader.rules)) {
            snprintf(why, size, "weights made for the rules `%.80s`, games played by `%.80s`", both[i]->rules,
                     train->reader.rules.name);
            return TRAIN_REFUSED;
        }
    }
    return TRAIN_DONE;
}

enum train_status train_compare(struct train *train, struct weights *weights)
{
    char why[256];
    struct rows *validation = &train->reader.validation, *training = &train->reader.training;
    weights_destroy(train->weights);
    train->weights = weights;
    train->positions = training->count;
    train->validation_positions = validation->count;
    if (validation->count == 0)
        return train_end(train, TRAIN_REFUSED,
                         "no positions to judge by; use more games, a larger --validation-share, or --all");
    if (check_comparison(train, weights, why, sizeof why) != TRAIN_DONE)
        return train_end(train, TRAIN_REFUSED, "%s", why);
    const struct rows *scaling = training->count > 0 ? training : validation;
    enum train_status status = fit_score_scale(train, scaling);
    if (status != TRAIN_DONE)
        return status;
    train->parent_k = best_scale(train, scaling, train->parent.weights, "the other weights");
    train->own_k = best_scale(train, scaling, weights, "the weights");
    rows_sort_by_game(validation);
    judge_validation(train);
    return TRAIN_DONE;
}

void train_done(struct train *train)
{
    reader_done(&train->reader);
    weights_destroy(train->parent.weights);
    weights_destroy(train->weights);
    free(train->net);
    free(train->bytes);
    train->net = NULL;
    train->parent.weights = train->weights = NULL;
    train->merged = NULL;
    train->bytes = NULL;
}
