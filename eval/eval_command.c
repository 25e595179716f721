#include "eval/eval_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "eval/command.h"
#include "eval/endgame.h"
#include "eval/fit_report.h"
#include "eval/report.h"
#include "proto/artifact.h"
#include "proto/progress.h"

struct evaluation {
    struct fit_request request;
    struct archive archive;
    struct train train;
    struct progress progress;
    struct train_parent given; /* its weights belong to `train` once judged */
    struct endgame own, other;
};

static int show_reading(void *context, const struct reader_counts *counts)
{
    struct evaluation *evaluation = context;
    progress_show(&evaluation->progress, counts->games + counts->repeats + counts->unsampled, NULL);
    return command_stop;
}

static int refuse(const struct evaluation *evaluation, enum archive_status status, const char *reason)
{
    return command_refuse(status, evaluation->request.json, reason);
}

static enum archive_status read_games(struct evaluation *evaluation)
{
    struct reader *reader = &evaluation->train.reader;
    progress_init(&evaluation->progress, "Reading", "games", 2 * evaluation->archive.pairs,
                  evaluation->request.quiet);
    reader->report = show_reading;
    reader->report_context = evaluation;
    enum archive_status status = archive_read(&evaluation->archive, &evaluation->train);
    progress_end(&evaluation->progress,
                 reader->counts.games + reader->counts.repeats + reader->counts.unsampled, NULL);
    return status;
}

static enum archive_status prepare(struct evaluation *evaluation)
{
    struct archive *archive = &evaluation->archive;
    struct fit_request *request = &evaluation->request;
    enum archive_status status = command_connect(archive, request->config, request->database);
    if (status == ARCHIVE_OK)
        status = archive_prepare(archive, request, &evaluation->train);
    if (status == ARCHIVE_OK)
        status = archive_find_weights(archive, request->weights, evaluation->train.reader.rules.name,
                                      &evaluation->given);
    if (status == ARCHIVE_OK)
        status = command_open_tables(archive, &evaluation->train, request->tables);
    return status == ARCHIVE_OK ? read_games(evaluation) : status;
}

static void judge_endgames(struct evaluation *evaluation)
{
    const struct rows *rows = &evaluation->train.reader.validation;
    if (!evaluation->train.tables)
        return;
    endgame_judge(evaluation->train.tables, evaluation->train.weights, rows, &evaluation->own);
    endgame_judge(evaluation->train.tables, evaluation->train.parent.weights, rows, &evaluation->other);
}

/* --- report --- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static json_t *figures(const struct evaluation *evaluation)
{
    const struct train *train = &evaluation->train;
    char hash[ARTIFACT_HEX];
    artifact_hex(evaluation->given.sha256, hash);
    json_t *object = json_pack("{s:s, s:s, s:s, s:f, s:f}", "state", "finished", "kind",
                               weights_kind_name(train->weights->kind), "sha256", hash, "scale", train->own_k,
                               "scale_against", train->parent_k);
    artifact_hex(train->parent.sha256, hash);
    json_object_set_new(object, "against", json_string(train->parent.stored ? hash : "not stored"));
    fit_report_set_judgement(object, &evaluation->request, train);
    if (evaluation->train.tables) {
        json_object_set_new(object, "tables_seeds", json_integer(evaluation->train.tables->seeds));
        json_object_set_new(object, "endgame", perfect_figures(&evaluation->own));
        json_object_set_new(object, "endgame_against", perfect_figures(&evaluation->other));
    }
    return object;
}

static void print_endgame(const char *whose, const struct endgame *endgame)
{
    printf("%s best move in %.1f %% of %" PRIu64
           " positions, %.3f seeds given away; winner named in %.1f %% of %" PRIu64 "\n",
           whose, percent(endgame->best, endgame->positions), endgame->positions, endgame->given_away,
           percent(endgame->agreed, endgame->outcomes), endgame->outcomes);
}

static void print_text(const struct evaluation *evaluation)
{
    const struct train *train = &evaluation->train;
    printf("weights      %s, scale %.1f hundredths a log odd; against a %s, scale %.1f\n",
           weights_kind_name(train->weights->kind), train->own_k,
           weights_kind_name(train->parent.weights->kind), train->parent_k);
    fit_report_print_judgement(&evaluation->request, train);
    if (!evaluation->train.tables)
        return;
    printf("tables       of up to %d seeds, one ply of search\n", evaluation->train.tables->seeds);
    print_endgame("  weights   ", &evaluation->own);
    print_endgame("  against   ", &evaluation->other);
}

static int tell(struct evaluation *evaluation)
{
    const struct fit_request *request = &evaluation->request;
    char reason[TRAIN_TEXT];
    json_t *object = figures(evaluation);
    int written = request->report
                      ? report_write(request->report, &evaluation->train, object, reason, sizeof reason)
                      : 0;
    if (request->json)
        command_print_json(object);
    else {
        json_decref(object);
        print_text(evaluation);
    }
    if (written != 0) {
        fprintf(stderr, "kroo-train: %s\n", reason);
        return COMMAND_REFUSED;
    }
    return command_end("");
}

static int run(struct evaluation *evaluation)
{
    enum archive_status status = prepare(evaluation);
    if (status != ARCHIVE_OK) {
        weights_destroy(evaluation->given.weights);
        return refuse(evaluation, status, evaluation->archive.reason);
    }
    enum train_status judged = train_compare(&evaluation->train, evaluation->given.weights);
    if (judged != TRAIN_DONE)
        return refuse(evaluation, judged == TRAIN_REFUSED ? ARCHIVE_REFUSED : ARCHIVE_FAILED,
                      evaluation->train.reason);
    judge_endgames(evaluation);
    return tell(evaluation);
}

int eval_command(int argc, char **argv)
{
    struct evaluation *evaluation = calloc(1, sizeof *evaluation);
    if (!evaluation) {
        fprintf(stderr, "kroo-train: memory is short\n");
        return COMMAND_REFUSED;
    }
    fit_request_parse_eval(argc, argv, &evaluation->request);
    command_catch_signals();
    int status = run(evaluation);
    archive_close(&evaluation->archive);
    train_done(&evaluation->train);
    free(evaluation);
    return status;
}
