#include "eval/reproduce_command.h"

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/build.h"
#include "eval/blas.h"
#include "eval/build.h"
#include "eval/command.h"
#include "proto/artifact.h"
#include "proto/progress.h"

enum { KEY_JSON = 256, KEY_DATABASE, KEY_CONFIG, KEY_THREADS, KEY_SCRATCH, KEY_MEMORY, KEY_TABLES };

struct reproduction {
    struct fit_request request; /* as the run was asked for */
    const char *weights;        /* as given */
    struct archive archive;
    struct train train;
    struct train_parent stored;
    struct progress progress;
    uint64_t run;
    char parent[ARTIFACT_HEX], core[64], trainer[64], data[ARTIFACT_HEX];
    json_t *manifest, *options;
};

/* --- the stored run --- */

static enum archive_status end(struct reproduction *again, enum archive_status status, const char *reason)
{
    snprintf(again->archive.reason, sizeof again->archive.reason, "%s", reason);
    return status;
}

static bool flag(const json_t *options, const char *key)
{
    return json_is_true(json_object_get(options, key));
}

static uint64_t whole(const json_t *options, const char *key, uint64_t otherwise)
{
    const json_t *value = json_object_get(options, key);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? (uint64_t)json_integer_value(value)
                                                                    : otherwise;
}

static double real(const json_t *options, const char *key, double otherwise)
{
    const json_t *value = json_object_get(options, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* What provenance_options wrote; a run from before the kinds has no `kind` in it and was a table. */
static bool take_options(struct reproduction *again, const char *kind)
{
    const json_t *options = again->options;
    struct train_options *chosen = &again->request.options;
    struct reader_filters *filters = &again->request.filters;
    const char *kernel = json_string_value(json_object_get(options, "kernel"));
    chosen->kind = weights_kind_parse(kind);
    chosen->kernel = kernel && strcmp(kernel, "dense") == 0 ? FIT_DENSE : FIT_SPARSE;
    chosen->iterations = (unsigned)whole(options, "iterations", FIT_ITERATIONS);
    chosen->epochs = (unsigned)whole(options, "epochs", NET_EPOCHS);
    chosen->batch = (unsigned)whole(options, "batch", NET_BATCH_HIGH);
    chosen->rate = real(options, "rate", NET_RATE);
    chosen->count_cap = real(options, "count_cap", 0.0);
    chosen->min_positions = whole(options, "min_positions", 1);
    chosen->force = flag(options, "force");
    chosen->tables_seeds = (int)whole(options, "tables_seeds", 0);
    filters->with_captures = flag(options, "with_captures");
    filters->with_opening = flag(options, "with_opening");
    filters->with_decided = flag(options, "with_decided");
    filters->with_repeats = flag(options, "with_repeats");
    filters->validation_ppm = (uint32_t)whole(options, "validation_ppm", READER_UNIT / 10);
    filters->sample_ppm = (uint32_t)whole(options, "sample_ppm", READER_UNIT);
    filters->seed = whole(options, "seed", 1);
    return chosen->kind != 0 && chosen->iterations >= 1 && chosen->iterations <= FIT_ITERATIONS_MAX &&
           chosen->epochs >= 1 && chosen->epochs <= NET_EPOCHS_MAX && chosen->batch >= NET_PARTS &&
           chosen->batch <= NET_BATCH_MAX && chosen->batch % NET_PARTS == 0 &&
           filters->validation_ppm <= READER_UNIT && filters->sample_ppm <= READER_UNIT;
}

static bool take_manifest(struct reproduction *again)
{
    struct fit_request *request = &again->request;
    size_t count = json_array_size(again->manifest);
    for (size_t i = 0; i < count && i < READER_SOURCES_MAX; i++) {
        const json_t *entry = json_array_get(again->manifest, i);
        uint64_t pairs = whole(entry, "pair_count", 0), first = whole(entry, "first_pair", 0);
        if (pairs == 0)
            return false;
        request->ranges[request->range_count++] = (struct fit_range){
            .experiment = whole(entry, "experiment", 0), .first = first, .last = first + pairs - 1};
    }
    return count > 0 && count <= READER_SOURCES_MAX;
}

static void copy_cell(const struct store_table *table, size_t column, char *out, size_t size)
{
    const char *text = store_cell(table, 0, column);
    snprintf(out, size, "%s", text ? text : "");
}

static enum archive_status take_run(struct reproduction *again, const struct store_table *table)
{
    char text[64];
    again->run = strtoull(store_cell(table, 0, 0), NULL, 10);
    copy_cell(table, 1, again->parent, sizeof again->parent);
    copy_cell(table, 2, again->core, sizeof again->core);
    copy_cell(table, 3, again->trainer, sizeof again->trainer);
    copy_cell(table, 4, again->data, sizeof again->data);
    again->request.options.lambda = strtod(store_cell(table, 0, 5), NULL);
    again->request.options.ridge = strtod(store_cell(table, 0, 6), NULL);
    again->options = json_loads(store_cell(table, 0, 7), 0, NULL);
    again->manifest = json_loads(store_cell(table, 0, 8), 0, NULL);
    copy_cell(table, 9, text, sizeof text);
    again->request.parent = again->parent[0] ? again->parent : "starting";
    if (!again->options || !again->manifest || !take_options(again, text) || !take_manifest(again))
        return end(again, ARCHIVE_REFUSED,
                   "its training run does not say all that is needed; was it made by a newer trainer?");
    return ARCHIVE_OK;
}

static enum archive_status find_run(struct reproduction *again)
{
    struct archive *archive = &again->archive;
    char hash[ARTIFACT_HEX];
    const char *parameters[] = {hash};
    struct store_table table;
    enum archive_status status = archive_find_weights(archive, again->weights, NULL, &again->stored);
    if (status != ARCHIVE_OK)
        return status;
    artifact_hex(again->stored.sha256, hash);
    int error = store_query(archive->store,
                            "select t.id, encode(t.parent_sha256, 'hex'), t.core_type, t.trainer_build, "
                            "encode(t.data_sha256, 'hex'), t.lambda, t.ridge, t.options, t.manifest, t.kind "
                            "from kroo.weights w join kroo.training_run t on t.id = w.training_run_id "
                            "where w.sha256 = decode($1, 'hex')",
                            parameters, 1, &table);
    if (error != STORE_OK)
        return end(again, ARCHIVE_FAILED, store_reason(archive->store));
    status = table.rows == 1 ? take_run(again, &table)
                             : end(again, ARCHIVE_REFUSED,
                                   "no training run made these weights: they are built in or were imported");
    store_table_done(&table);
    return status;
}

/* --- again --- */

static int show_fitting(void *context, uint64_t done, uint64_t total, const char *note)
{
    struct reproduction *again = context;
    again->progress.total = total;
    progress_show(&again->progress, done, note);
    return command_stop;
}

static int show_reading(void *context, const struct reader_counts *counts)
{
    struct reproduction *again = context;
    progress_show(&again->progress, counts->games + counts->repeats + counts->unsampled, NULL);
    return command_stop;
}

static enum archive_status open_tables(struct reproduction *again)
{
    char reason[128];
    int seeds = again->request.options.tables_seeds;
    if (seeds == 0)
        return ARCHIVE_OK;
    enum archive_status status = command_open_tables(&again->archive, &again->train, again->request.tables);
    if (status != ARCHIVE_OK || (again->train.tables && again->train.tables->seeds >= seeds))
        return status;
    snprintf(reason, sizeof reason,
             "the fit was corrected by endgame tables of %d seeds; give a file of as many with --tables",
             seeds);
    return end(again, ARCHIVE_REFUSED, reason);
}

static enum archive_status read_games(struct reproduction *again)
{
    enum archive_status status = archive_prepare(&again->archive, &again->request, &again->train);
    if (status != ARCHIVE_OK)
        return status;
    status = open_tables(again);
    if (status != ARCHIVE_OK)
        return status;
    progress_init(&again->progress, "Reading", "games", 2 * again->archive.pairs, again->request.quiet);
    again->train.reader.report = show_reading;
    again->train.reader.report_context = again;
    status = archive_read(&again->archive, &again->train);
    progress_end(&again->progress, again->train.reader.counts.games, NULL);
    return status;
}

/* The parameters without the provenance: what a build of other sources can still give alike. */
static bool same_parameters(const struct weights *a, const struct weights *b)
{
    if (a->kind != b->kind || a->shift != b->shift || a->per_logit != b->per_logit)
        return false;
    switch (a->kind) {
    case WEIGHTS_NET:
        return memcmp(a->net.input, b->net.input, sizeof a->net.input) == 0 &&
               memcmp(a->net.bias, b->net.bias, sizeof a->net.bias) == 0 &&
               memcmp(a->net.output, b->net.output, sizeof a->net.output) == 0 &&
               a->net.output_bias == b->net.output_bias && a->net.hidden_shift == b->net.hidden_shift;
    case WEIGHTS_FEATURES:
        return memcmp(&a->features, &b->features, sizeof a->features) == 0;
    case WEIGHTS_TABLE:
        break;
    }
    return memcmp(a->phases, b->phases, sizeof a->phases) == 0;
}

static int tell(struct reproduction *again)
{
    const struct train *train = &again->train;
    char wanted[ARTIFACT_HEX], made[ARTIFACT_HEX], data[ARTIFACT_HEX];
    artifact_hex(again->stored.sha256, wanted);
    artifact_hex(train->sha256, made);
    artifact_hex(train->data_sha256, data);
    bool same = strcmp(wanted, made) == 0, same_data = strcmp(data, again->data) == 0;
    bool parameters = same_parameters(again->stored.weights, train->weights);
    bool same_build = strcmp(again->trainer, train_build()) == 0,
         same_core = strcmp(again->core, blas_core()) == 0;
    const char *why = same ? ""
                      : !same_data
                          ? "the games are not those of the fit: pairs were excluded or settled since"
                      : !same_build ? "another build of the trainer writes its own name into the file"
                      : !same_core  ? "the linear algebra was for another type of processor"
                                    : "the same games, options and builds made another file: report this";
    if (again->request.json)
        command_print_json(json_pack("{s:s, s:b, s:b, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "state",
                                     same ? "reproduced" : "different", "same", same, "same_parameters",
                                     parameters, "same_data", same_data, "sha256", wanted, "made", made,
                                     "trainer_build", again->trainer, "core", again->core, "own_core",
                                     blas_core(), "reason", why, "training_run", (json_int_t)again->run));
    else {
        printf("wanted       %s\nmade         %s\n", wanted, made);
        if (same)
            printf("the same file, byte for byte\n");
        else
            printf("different: %s; the parameters are %s\n", why, parameters ? "the same" : "different too");
    }
    int code = command_end("");
    return code == COMMAND_DONE && !same ? COMMAND_REFUSED : code;
}

static int run(struct reproduction *again)
{
    struct archive *archive = &again->archive;
    enum archive_status status = command_connect(archive, again->request.config, again->request.database);
    if (status == ARCHIVE_OK)
        status = find_run(again);
    if (status == ARCHIVE_OK)
        status = read_games(again);
    if (status != ARCHIVE_OK)
        return command_refuse(status, again->request.json, archive->reason);
    progress_init(&again->progress, "Fitting",
                  again->request.options.kind == WEIGHTS_NET ? "positions" : "steps", 0,
                  again->request.quiet);
    again->train.report = show_fitting;
    again->train.report_context = again;
    if (train_run(&again->train) != TRAIN_DONE)
        return command_refuse(ARCHIVE_REFUSED, again->request.json, again->train.reason);
    progress_end(&again->progress, again->progress.total, NULL);
    return tell(again);
}

/* --- options --- */

static error_t take_option(int key, char *text, struct argp_state *state)
{
    struct reproduction *again = state->input;
    char *end_of = NULL;
    unsigned long number = 0;
    switch (key) {
    case KEY_THREADS:
    case KEY_MEMORY:
        number = strtoul(text, &end_of, 10);
        if (end_of == text || *end_of != '\0' || number < 1 || number > (key == KEY_THREADS ? 64 : 1 << 20))
            argp_error(state, "`%s` is no whole number that fits", text);
        *(key == KEY_THREADS ? &again->request.options.threads : &again->request.memory_mib) =
            (unsigned)number;
        return 0;
    case KEY_TABLES:
        again->request.tables = text;
        return 0;
    case KEY_SCRATCH:
        again->request.scratch = text;
        return 0;
    case KEY_JSON:
        again->request.json = true;
        return 0;
    case 'q':
        again->request.quiet = true;
        return 0;
    case KEY_DATABASE:
        again->request.database = text;
        return 0;
    case KEY_CONFIG:
        again->request.config = text;
        return 0;
    case ARGP_KEY_ARG:
        if (again->weights)
            argp_error(state, "one WEIGHTS at a time");
        again->weights = text;
        return 0;
    case ARGP_KEY_END:
        if (!again->weights || strchr(again->weights, '/') || strcmp(again->weights, "starting") == 0)
            argp_error(state, "which stored weights? a number, hash, name, or `champion`");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int reproduce_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"threads", KEY_THREADS, "T", 0, "Threads; any number gives the same file (1)", 0},
        {"memory-mib", KEY_MEMORY, "N", 0, "Memory for positions, 16 bytes each (4096)", 0},
        {"tables", KEY_TABLES, "FILE", 0, "Endgame tables, where the fit had some: as many seeds or more", 0},
        {"scratch", KEY_SCRATCH, "FOLDER", 0, "Keep the positions in a file there", 0},
        {"json", KEY_JSON, NULL, 0, "One JSON object", 0},
        {"quiet", 'q', NULL, 0, "No progress", 0},
        {"database", KEY_DATABASE, "CONNINFO", 0, "Database, as libpq takes it", 0},
        {"config", KEY_CONFIG, "FILE", 0, "Settings file (KROO_CONFIG, else var/kroo.conf)", 0},
        {0}};
    static const struct argp argp = {options,
                                     take_option,
                                     "WEIGHTS",
                                     "Makes stored weights again from the manifest and the options of their "
                                     "training run, and compares the "
                                     "hash. Stores nothing.\vExit status: 0 the same file, 1 another one or "
                                     "refused (the reason is told), 2 "
                                     "wrong usage, 3 no connection.\n",
                                     NULL,
                                     NULL,
                                     NULL};
    struct reproduction *again = calloc(1, sizeof *again);
    if (!again) {
        fprintf(stderr, "kroo-train: memory is short\n");
        return COMMAND_REFUSED;
    }
    again->request.options.threads = 1;
    again->request.memory_mib = 4096;
    again->request.name = "";
    argp_err_exit_status = COMMAND_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, again);
    command_catch_signals();
    int status = run(again);
    archive_close(&again->archive);
    weights_destroy(again->stored.weights);
    train_done(&again->train);
    json_decref(again->manifest);
    json_decref(again->options);
    free(again);
    return status;
}
