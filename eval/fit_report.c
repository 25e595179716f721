#include "eval/fit_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "eval/blas.h"
#include "eval/command.h"
#include "proto/artifact.h"

static const char *const phase_names[WEIGHTS_PHASES] = {"36 and more", "24 to 35", "12 to 23", "under 12"};

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/* --- text --- */

static void print_manifest(const struct train *train)
{
    for (size_t i = 0; i < train->range_count; i++)
        printf("%s%" PRIu64 ":%" PRIu64 "-%" PRIu64, i > 0 ? ", " : "", train->ranges[i].experiment,
               train->ranges[i].first_pair, train->ranges[i].first_pair + train->ranges[i].pair_count - 1);
}

static void print_data(const struct train *train)
{
    const struct reader_counts *read = &train->reader.counts;
    printf("games        %" PRIu64 " of pairs ", read->games);
    print_manifest(train);
    printf(" under `%s`", train->reader.rules.name);
    if (read->repeats > 0)
        printf("; %" PRIu64 " repeated games %s", read->repeats,
               train->reader.filters.with_repeats ? "kept" : "left out");
    printf("\npositions    %" PRIu64 " read; left out: %" PRIu64 " opening, %" PRIu64
           " before noise, %" PRIu64 " decided, %" PRIu64 " with captures\n",
           read->positions, read->opening, read->noise, read->decided, read->captures);
    printf("training     %" PRIu64 " positions of %" PRIu64 " games", train->positions, read->training_games);
    if (train->merged_count > 0)
        printf(", %zu distinct", train->merged_count);
    printf("; won by South %" PRIu64 ", North %" PRIu64 ", drawn %" PRIu64 "\n", read->south, read->north,
           read->draws);
    printf("validation   %" PRIu64 " positions of %" PRIu64 " games; %.1f %% of them occur in training too\n",
           train->validation_positions, read->validation_games,
           share(train->shared, train->validation_positions));
    if (train->exact.positions > 0)
        printf("tables       decide %" PRIu64 " of them, %.1f %% of the weight%s\n", train->exact.positions,
               100.0 * train->exact.share, train->exact.share > ENDGAME_SHARE ? " cut to 10 %" : "");
    if (train->k > 0.0)
        printf("target       %.2f result + %.2f score, K = %.1f hundredths of a seed\n", train->lambda,
               1.0 - train->lambda, train->k);
    else
        printf("target       the result alone\n");
}

static void print_losses(const struct train *train)
{
    const struct judge *judge = &train->judge;
    printf("loss         %-12s%-12s\n", "before", "after");
    if (train->train_after > 0.0)
        printf("  training   %-12.5f%-12.5f\n", train->train_before, train->train_after);
    if (!train->judged)
        return;
    printf("  validation %-12.5f%-12.5f%+.5f +- %.5f by game\n", judge->before, judge->after,
           judge->difference, judge->error);
    printf("  result     %-12.5f%-12.5f\n", judge->result_before, judge->result_after);
}

/* Mean distance of predicted from observed, weighted by positions. */
static double miscalibration(const struct judge_bin bins[JUDGE_BINS], uint64_t *positions)
{
    double sum = 0.0;
    *positions = 0;
    for (int i = 0; i < JUDGE_BINS; i++) {
        sum += (double)bins[i].positions * fabs(bins[i].predicted - bins[i].target);
        *positions += bins[i].positions;
    }
    return *positions > 0 ? sum / (double)*positions : 0.0;
}

static void print_calibration(const struct train *train, bool bins)
{
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        uint64_t positions;
        double error = miscalibration(train->judge.bins[phase], &positions);
        printf("calibration  %-12s seeds: %8" PRIu64 " positions, off by %.3f\n", phase_names[phase],
               positions, error);
        for (int i = 0; i < JUDGE_BINS && bins; i++)
            if (train->judge.bins[phase][i].positions > 0)
                printf("  %.2f-%.2f  %8" PRIu64 "  predicted %.3f  target %.3f\n", (double)i / JUDGE_BINS,
                       (double)(i + 1) / JUDGE_BINS, train->judge.bins[phase][i].positions,
                       train->judge.bins[phase][i].predicted, train->judge.bins[phase][i].target);
    }
}

static void print_perfect(const struct perfect *perfect)
{
    if (perfect->own.positions == 0)
        return;
    double positions = (double)perfect->own.positions;
    printf("endgame      best move in %.1f %% of %" PRIu64
           " positions of up to %d seeds, %.3f seeds given away (before: %.1f %%, %.3f)\n",
           100.0 * (double)perfect->own.best / positions, perfect->own.positions, perfect->seeds,
           perfect->own.given_away, 100.0 * (double)perfect->parent.best / positions,
           perfect->parent.given_away);
}

static void print_warnings(const struct train *train)
{
    char remark[TRAIN_TEXT];
    for (size_t i = 0; i < train->warning_count; i++)
        printf("note         %s\n", train->warnings[i]);
    blas_remark(remark, sizeof remark);
    if (remark[0] != '\0')
        printf("note         %s\n", remark);
}

static void print_fit(const struct train *train)
{
    const struct net_fit *net = train->net;
    if (!net)
        return;
    const struct net_epoch *best = &net->curve[net->best - 1];
    printf("net          %u epochs, the best one %u: loss %.5f, validation %.5f before rounding", net->epochs,
           net->best, best->training, best->validation);
    if (net->resumed > 0)
        printf("; %u came from the checkpoint", net->resumed);
    printf("\n");
}

void fit_report_text(const struct fit_request *request, const struct train *train,
                     const struct archive *archive, struct fit_times times)
{
    char hash[ARTIFACT_HEX];
    artifact_hex(train->sha256, hash);
    print_data(train);
    print_losses(train);
    if (train->judged)
        print_calibration(train, request->calibration);
    print_perfect(&train->perfect);
    print_fit(train);
    printf("rounding     %d hundredths a log odd, shift %d, largest error %.2f hundredths\n",
           train->quantized.per_logit, train->quantized.shift, train->quantisation_error);
    printf("time         reading %.2f s (%.0f positions/s), fitting %.2f s on %u threads, %s\n",
           times.reading_s,
           times.reading_s > 0.0 ? (double)train->reader.counts.positions / times.reading_s : 0.0,
           times.fitting_s, train->options.threads, blas_core());
    print_warnings(train);
    if (archive->number == 0) {
        printf("not stored   sha256 %s\n", hash);
        return;
    }
    printf("weights      %" PRIu64 "%s%s  sha256 %s  (training run %" PRIu64 ")\n", archive->number,
           *request->name ? "  " : "", request->name, hash, archive->training_run);
    if (train->parent.stored)
        printf("next         kroo match %" PRIu64 " %" PRIu64 "\n", archive->number, train->parent.number);
}

/* --- JSON --- */

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static void set_count(json_t *object, const char *key, uint64_t value)
{
    set(object, key, json_integer((json_int_t)value));
}

static void set_number_or_null(json_t *object, const char *key, double value, bool known)
{
    set(object, key, known ? json_real(value) : json_null());
}

static void set_hash(json_t *object, const char *key, const uint8_t sha256[STORE_HASH], bool known)
{
    char hash[ARTIFACT_HEX];
    artifact_hex(sha256, hash);
    set(object, key, known ? json_string(hash) : json_null());
}

static json_t *warnings(const struct train *train)
{
    json_t *list = json_array();
    for (size_t i = 0; i < train->warning_count; i++)
        json_array_append_new(list, json_string(train->warnings[i]));
    return list;
}

static json_t *calibration(const struct train *train)
{
    json_t *phases = json_array();
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        json_t *bins = json_array();
        for (int i = 0; i < JUDGE_BINS; i++) {
            const struct judge_bin *bin = &train->judge.bins[phase][i];
            json_array_append_new(
                bins, json_pack("[I, f, f]", (json_int_t)bin->positions, bin->predicted, bin->target));
        }
        json_array_append_new(phases, bins);
    }
    return phases;
}

static void set_data(json_t *object, const struct train *train)
{
    const struct reader_counts *read = &train->reader.counts;
    set_count(object, "games", read->games);
    set_count(object, "training_games", read->training_games);
    set_count(object, "validation_games", read->validation_games);
    set_count(object, "repeated_games", read->repeats);
    set_count(object, "positions_read", read->positions);
    set_count(object, "positions", train->positions);
    set_count(object, "distinct_positions", train->merged_count);
    set_count(object, "exact_positions", train->exact.positions);
    set_count(object, "validation_positions", train->validation_positions);
    set_count(object, "shared_positions", train->shared);
    set_hash(object, "data_sha256", train->data_sha256, train->has_data_sha256);
}

static void set_losses(json_t *object, const struct train *train)
{
    const struct judge *judge = &train->judge;
    set_number_or_null(object, "loss_before", judge->before, train->judged);
    set_number_or_null(object, "loss_after", judge->after, train->judged);
    set_number_or_null(object, "loss_difference", judge->difference, train->judged);
    set_number_or_null(object, "loss_se", judge->error, train->judged);
    set_number_or_null(object, "result_loss_before", judge->result_before, train->judged);
    set_number_or_null(object, "result_loss_after", judge->result_after, train->judged);
    set_number_or_null(object, "train_loss_before", train->train_before, train->train_after > 0.0);
    set_number_or_null(object, "train_loss_after", train->train_after, train->train_after > 0.0);
}

static void set_net(json_t *object, const struct train *train)
{
    const struct net_fit *net = train->net;
    if (!net)
        return;
    set_count(object, "epochs", net->epochs);
    set_count(object, "best_epoch", net->best);
    set_count(object, "resumed_epochs", net->resumed);
    set(object, "real_loss", json_real(net->curve[net->best - 1].validation));
}

json_t *fit_report_figures(const struct fit_request *request, const struct train *train,
                           const struct archive *archive, struct fit_times times)
{
    json_t *object = json_object();
    set(object, "state", json_string("finished"));
    set(object, "kind", json_string(weights_kind_name(train->options.kind)));
    set(object, "weights", archive->number ? json_integer((json_int_t)archive->number) : json_null());
    set_hash(object, "sha256", train->sha256, true);
    set(object, "number", archive->number ? json_integer((json_int_t)archive->number) : json_null());
    set(object, "name", json_string(request->name));
    set_count(object, "training_run", archive->training_run);
    set_hash(object, "parent", train->parent.sha256, train->parent.stored);
    set_data(object, train);
    set_losses(object, train);
    set(object, "lambda", json_real(train->lambda));
    set_number_or_null(object, "k", train->k, train->k > 0.0);
    set(object, "per_logit", json_integer(train->quantized.per_logit));
    set(object, "shift", json_integer(train->quantized.shift));
    set(object, "quantisation_error", json_real(train->quantisation_error));
    set_net(object, train);
    set(object, "seconds_reading", json_real(times.reading_s));
    set(object, "seconds_fitting", json_real(times.fitting_s));
    set(object, "threads", json_integer(train->options.threads));
    set(object, "core", json_string(blas_core()));
    set(object, "core_is_older", json_boolean(blas_core_is_older()));
    set(object, "warnings", warnings(train));
    if (train->perfect.seeds > 0)
        set(object, "perfect", perfect_json(&train->perfect));
    if (request->calibration)
        set(object, "calibration", calibration(train));
    return object;
}

void fit_report_json(const struct fit_request *request, const struct train *train,
                     const struct archive *archive, struct fit_times times)
{
    command_print_json(fit_report_figures(request, train, archive, times));
}

void fit_report_print_judgement(const struct fit_request *request, const struct train *train)
{
    print_data(train);
    print_losses(train);
    print_calibration(train, request->calibration);
    print_warnings(train);
}

void fit_report_set_judgement(json_t *object, const struct fit_request *request, const struct train *train)
{
    set_data(object, train);
    set_losses(object, train);
    set(object, "lambda", json_real(train->lambda));
    set_number_or_null(object, "k", train->k, train->k > 0.0);
    set(object, "start_score", json_real(train->start_score));
    set(object, "warnings", warnings(train));
    if (request->calibration)
        set(object, "calibration", calibration(train));
}

void fit_report_data(const struct fit_request *request, const struct train *train,
                     const struct archive *archive, struct fit_times times)
{
    uint64_t rows = train->positions + train->validation_positions;
    if (request->json) {
        json_t *object = json_object();
        set(object, "state", json_string("dry-run"));
        set(object, "kind", json_string(weights_kind_name(train->options.kind)));
        set_count(object, "pairs", archive->pairs);
        set_data(object, train);
        set_number_or_null(object, "k", train->k, train->k > 0.0);
        set_count(object, "bytes", rows * ROWS_BYTES);
        set(object, "seconds_reading", json_real(times.reading_s));
        set(object, "warnings", warnings(train));
        command_print_json(object);
        return;
    }
    print_data(train);
    printf("memory       %.1f MiB of positions%s; %.2f s to read them\n",
           (double)(rows * ROWS_BYTES) / 1048576.0, request->scratch ? " on disk" : "", times.reading_s);
    print_warnings(train);
    printf("dry run      nothing was fitted or stored\n");
}

void fit_report_refusal(const struct fit_request *request, const struct train *train,
                        const struct archive *archive, const char *state, const char *reason)
{
    if (!request->json) {
        fprintf(stderr, "kroo-train: %s: %s\n", state, reason);
        return;
    }
    json_t *object = json_object();
    set(object, "state", json_string(state));
    set(object, "reason", json_string(reason));
    set(object, "error", json_string(reason));
    set_count(object, "training_run", archive->training_run);
    set_data(object, train);
    set_losses(object, train);
    set(object, "warnings", warnings(train));
    command_print_json(object);
}
