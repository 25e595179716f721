#include "eval/archive.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eval/blas.h"
#include "eval/build.h"
#include "eval/provenance.h"
#include "proto/artifact.h"

enum { RECONNECT_TRIES = 30, RECONNECT_WAIT_S = 2, REAL = 32 };

__attribute__((format(printf, 3, 4))) static enum archive_status
end(struct archive *archive, enum archive_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(archive->reason, sizeof archive->reason, format, arguments);
    va_end(arguments);
    return status;
}

/* The store's last error as ours. */
static enum archive_status store_end(struct archive *archive, int error)
{
    enum archive_status status = error == STORE_ERROR_CONNECTION ? ARCHIVE_CONNECTION
                                 : error == STORE_ERROR_REFUSED  ? ARCHIVE_REFUSED
                                                                 : ARCHIVE_FAILED;
    return end(archive, status, "%s", store_reason(archive->store));
}

static enum archive_status connect_store(struct archive *archive)
{
    char reason[STORE_TEXT];
    archive->store = store_open(archive->conninfo, "kroo_trainer", "kroo-train", reason, sizeof reason);
    if (!archive->store)
        return end(archive, ARCHIVE_CONNECTION, "%s", reason);
    int error = store_check_schema(archive->store);
    return error == STORE_OK ? ARCHIVE_OK : store_end(archive, error);
}

enum archive_status archive_open(struct archive *archive, const char *conninfo)
{
    struct store_table table;
    if (strlen(conninfo) >= sizeof archive->conninfo)
        return end(archive, ARCHIVE_REFUSED, "the connection string is longer than %zu bytes",
                   sizeof archive->conninfo - 1);
    memcpy(archive->conninfo, conninfo, strlen(conninfo) + 1);
    enum archive_status status = connect_store(archive);
    if (status != ARCHIVE_OK)
        return status;
    int error = store_query(archive->store, "select now()::text", NULL, 0, &table);
    if (error != STORE_OK)
        return store_end(archive, error);
    snprintf(archive->started_at, sizeof archive->started_at, "%s", store_cell(&table, 0, 0));
    store_table_done(&table);
    return ARCHIVE_OK;
}

void archive_close(struct archive *archive)
{
    if (archive->store)
        store_close(archive->store);
    archive->store = NULL;
}

/* --- the manifest --- */

static enum archive_status counted_pairs(struct archive *archive, uint64_t experiment, uint64_t *pairs)
{
    char id[24];
    const char *parameters[] = {id};
    struct store_table table;
    snprintf(id, sizeof id, "%" PRIu64, experiment);
    int error = store_query(
        archive->store, "select counted_pairs from kroo.experiment_counted where experiment_id = $1::bigint",
        parameters, 1, &table);
    if (error != STORE_OK)
        return store_end(archive, error);
    *pairs = table.rows == 1 ? strtoull(store_cell(&table, 0, 0), NULL, 10) : 0;
    store_table_done(&table);
    return ARCHIVE_OK;
}

static enum archive_status close_one_range(struct archive *archive, const struct fit_range *range,
                                           struct store_range *closed)
{
    uint64_t counted = 0;
    enum archive_status status = counted_pairs(archive, range->experiment, &counted);
    if (status != ARCHIVE_OK)
        return status;
    if (counted == 0)
        return end(archive, ARCHIVE_REFUSED, "no games: experiment %" PRIu64 " has no pair that counts yet",
                   range->experiment);
    uint64_t last = range->all ? counted - 1 : range->last;
    if (last >= counted)
        return end(archive, ARCHIVE_REFUSED,
                   "experiment %" PRIu64 " has %" PRIu64 " pairs that count (0-%" PRIu64
                   "), not up to %" PRIu64,
                   range->experiment, counted, counted - 1, range->last);
    *closed = (struct store_range){
        .experiment = range->experiment, .first_pair = range->first, .pair_count = last - range->first + 1};
    return ARCHIVE_OK;
}

static enum archive_status load_book(struct archive *archive, const struct store_experiment *experiment,
                                     const struct rules *rules, struct book **out)
{
    static const uint8_t none[STORE_HASH];
    void *content = NULL;
    size_t size = 0;
    if (memcmp(experiment->book, none, sizeof none) == 0)
        return ARCHIVE_OK;
    int error = store_artifact_get(archive->store, experiment->book, &content, &size);
    if (error != STORE_OK)
        return store_end(archive, error);
    enum book_error bad = book_parse(content, size, rules, out, NULL);
    free(content);
    return bad == BOOK_OK ? ARCHIVE_OK
                          : end(archive, ARCHIVE_REFUSED, "experiment %" PRIu64 ": %s", experiment->id,
                                book_error_text(bad));
}

static enum archive_status add_source(struct archive *archive, struct reader *reader,
                                      const struct store_experiment *experiment)
{
    for (size_t i = 0; i < reader->source_count; i++)
        if (reader->sources[i].experiment == experiment->id)
            return ARCHIVE_OK;
    struct reader_source source = {.experiment = experiment->id,
                                   .seed = experiment->seed,
                                   .opening_plies = experiment->opening_plies,
                                   .noise_ppm = experiment->noise_ppm};
    enum archive_status status = load_book(archive, experiment, &reader->rules, &source.book);
    if (status == ARCHIVE_OK)
        reader->sources[reader->source_count++] = source;
    return status;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct store_range *a = left, *b = right;
    if (a->experiment != b->experiment)
        return a->experiment < b->experiment ? -1 : 1;
    return (a->first_pair > b->first_pair) - (a->first_pair < b->first_pair);
}

/* Rules of an experiment, which must play like those of the ones before it. */
static enum archive_status same_rules(struct archive *archive, const struct store_experiment *experiment,
                                      const struct rules *known, struct rules *out)
{
    char why[256];
    if (rules_parse(experiment->rules, out, why, sizeof why) != 0)
        return end(archive, ARCHIVE_REFUSED, "experiment %" PRIu64 ": %s", experiment->id, why);
    if (known && !rules_equal(known, out))
        return end(archive, ARCHIVE_REFUSED,
                   "experiments of different rules: %" PRIu64
                   " was played by `%s`, the ones before it by `%s`",
                   experiment->id, out->name, known->name);
    return ARCHIVE_OK;
}

static enum archive_status start_reader(struct archive *archive, const struct fit_request *request,
                                        const struct rules *rules, struct reader *reader)
{
    size_t limit = (size_t)request->memory_mib * 1024 * 1024 / ROWS_BYTES;
    if (request->scratch)
        limit = SIZE_MAX / ROWS_BYTES / 2; /* the disk is the limit */
    enum reader_error error = reader_init(reader, rules, &request->filters, limit);
    if (error == READER_OK && request->scratch)
        error = reader_on_disk(reader, request->scratch);
    return error == READER_OK ? ARCHIVE_OK : end(archive, ARCHIVE_REFUSED, "%s", reader->reason);
}

/* Looks up one experiment and takes it into the reader, which the first one starts. */
static enum archive_status prepare_source(struct archive *archive, const struct fit_request *request,
                                          uint64_t id, struct reader *reader,
                                          struct store_experiment *experiment)
{
    struct rules rules;
    int error = store_experiment_get(archive->store, id, experiment);
    if (error == STORE_ERROR_REFUSED)
        return end(archive, ARCHIVE_REFUSED, "experiment %" PRIu64 " is unknown; `kroo ls` lists them", id);
    if (error != STORE_OK)
        return store_end(archive, error);
    enum archive_status status =
        same_rules(archive, experiment, reader->source_count > 0 ? &reader->rules : NULL, &rules);
    if (status != ARCHIVE_OK)
        return status;
    if (reader->source_count == 0)
        status = start_reader(archive, request, &rules, reader);
    if (status != ARCHIVE_OK)
        return status;
    return add_source(archive, reader, experiment);
}

static enum archive_status prepare_ranges(struct archive *archive, const struct fit_request *request,
                                          struct train *train, struct store_experiment *first)
{
    for (size_t i = 0; i < request->range_count; i++) {
        const struct fit_range *range = &request->ranges[i];
        struct store_experiment experiment;
        enum archive_status status =
            prepare_source(archive, request, range->experiment, &train->reader, &experiment);
        if (status == ARCHIVE_OK)
            status = close_one_range(archive, range, &train->ranges[i]);
        if (status != ARCHIVE_OK)
            return status;
        if (i == 0)
            *first = experiment;
        archive->pairs += train->ranges[i].pair_count;
        train->range_count++;
    }
    qsort(train->ranges, train->range_count, sizeof *train->ranges, compare_ranges);
    return ARCHIVE_OK;
}

/* --- the parent --- */

static enum archive_status load_parent(struct archive *archive, const char *text, struct train_parent *parent)
{
    struct store_weights found;
    void *content = NULL;
    size_t size = 0;
    int error = store_weights_find(archive->store, text, &found, &parent->number);
    if (error == STORE_OK)
        error = store_artifact_get(archive->store, found.sha256, &content, &size);
    if (error != STORE_OK)
        return store_end(archive, error);
    enum weights_error bad = weights_parse(content, size, NULL, &parent->weights);
    free(content);
    if (bad != WEIGHTS_OK)
        return end(archive, ARCHIVE_REFUSED, "parent `%s`: %s", text, weights_error_text(bad));
    memcpy(parent->sha256, found.sha256, sizeof parent->sha256);
    parent->stored = true;
    return ARCHIVE_OK;
}

static enum archive_status load_file(struct archive *archive, const char *path, struct train_parent *out)
{
    enum weights_error bad = weights_load(path, NULL, &out->weights);
    if (bad != WEIGHTS_OK)
        return end(archive, ARCHIVE_REFUSED, "%s: %s", path, weights_error_text(bad));
    void *bytes = NULL;
    size_t size = 0;
    if (weights_serialize(out->weights, &bytes, &size) != WEIGHTS_OK)
        return end(archive, ARCHIVE_FAILED, "memory is short");
    artifact_hash(bytes, size, out->sha256);
    free(bytes);
    return ARCHIVE_OK;
}

enum archive_status archive_find_weights(struct archive *archive, const char *text, const char *rules,
                                         struct train_parent *out)
{
    *out = (struct train_parent){0};
    if (strchr(text, '/'))
        return load_file(archive, text, out);
    if (strcmp(text, "starting") != 0)
        return load_parent(archive, text, out);
    out->weights = weights_create_starting(rules ? rules : "site");
    return out->weights ? ARCHIVE_OK : end(archive, ARCHIVE_FAILED, "memory is short");
}

static bool plays_by(const struct weights *weights, const struct rules *rules)
{
    struct rules own;
    char why[256];
    return rules_parse(weights->rules, &own, why, sizeof why) == 0 && rules_equal(&own, rules);
}

/* The champion if there is one for these rules, else what the games were played with. */
static enum archive_status default_parent(struct archive *archive, const struct store_experiment *first,
                                          struct train *train)
{
    char hash[ARTIFACT_HEX];
    enum archive_status status = load_parent(archive, "champion", &train->parent);
    if (status == ARCHIVE_CONNECTION || status == ARCHIVE_FAILED)
        return status;
    if (status == ARCHIVE_OK && plays_by(train->parent.weights, &train->reader.rules))
        return ARCHIVE_OK;
    weights_destroy(train->parent.weights);
    train->parent = (struct train_parent){0};
    artifact_hex(first->a.weights, hash);
    return load_parent(archive, hash, &train->parent);
}

enum archive_status archive_prepare(struct archive *archive, const struct fit_request *request,
                                    struct train *train)
{
    struct store_experiment first;
    train->options = request->options;
    enum archive_status status = prepare_ranges(archive, request, train, &first);
    if (status != ARCHIVE_OK)
        return status;
    if (!request->parent)
        return default_parent(archive, &first, train);
    return archive_find_weights(archive, request->parent, train->reader.rules.name, &train->parent);
}

enum archive_status archive_read(struct archive *archive, struct train *train)
{
    int status =
        store_training_games(archive->store, train->ranges, train->range_count, reader_take, &train->reader);
    if (status == READER_OK)
        return ARCHIVE_OK;
    if (status < 0)
        return store_end(archive, status);
    return end(archive,
               status == READER_ERROR_STOPPED  ? ARCHIVE_STOPPED
               : status == READER_ERROR_MEMORY ? ARCHIVE_FAILED
                                               : ARCHIVE_REFUSED,
               "%s", train->reader.reason);
}

/* --- the record --- */

/* Parameters of the row, in the order of the statement. */
enum column {
    COLUMN_STATE,
    COLUMN_STARTED,
    COLUMN_RULES,
    COLUMN_SEED,
    COLUMN_THREADS,
    COLUMN_CORE,
    COLUMN_BLAS,
    COLUMN_BUILD,
    COLUMN_PARENT,
    COLUMN_WEIGHTS,
    COLUMN_DATA,
    COLUMN_LAMBDA,
    COLUMN_RIDGE,
    COLUMN_SCALE,
    COLUMN_OPTIONS,
    COLUMN_MANIFEST,
    COLUMN_GAMES,
    COLUMN_POSITIONS,
    COLUMN_MERGED,
    COLUMN_TRAIN_BEFORE,
    COLUMN_TRAIN_AFTER,
    COLUMN_BEFORE,
    COLUMN_AFTER,
    COLUMN_ERROR,
    COLUMN_CURVE,
    COLUMN_REASON,
    COLUMN_KIND,
    COLUMN_PERFECT,
    COLUMNS,
};

static const char insert_run[] =
    "insert into kroo.training_run (state, started_at, rules, kind, seed, threads, core_type, blas, "
    "trainer_build, "
    "parent_sha256, weights_sha256, data_sha256, lambda, ridge, scale, options, manifest, games, positions, "
    "rows_merged, train_loss_before, train_loss_after, validation_loss_before, validation_loss_after, "
    "validation_gain_se, curve, reason, perfect) values ($1, $2::timestamptz, $3, $27, $4::numeric, "
    "$5::integer, "
    "$6, $7, "
    "$8, decode($9, 'hex'), decode($10, 'hex'), decode($11, 'hex'), $12::float8, $13::float8, $14::float8, "
    "$15::jsonb, $16::jsonb, $17::bigint, $18::bigint, $19::bigint, $20::float8, $21::float8, $22::float8, "
    "$23::float8, $24::float8, $25::jsonb, $26, $28::jsonb) returning id";

static const char find_run[] = "select id from kroo.training_run where started_at = $1::timestamptz and "
                               "manifest = $2::jsonb and trainer_build = $3";

struct run_row {
    char texts[COLUMNS][REAL > 72 ? REAL : 72];
    const char *values[COLUMNS];
    char *options, *manifest, *curve, *perfect; /* owned; `perfect` may be NULL */
};

static void set_whole(struct run_row *row, enum column column, uint64_t value)
{
    snprintf(row->texts[column], sizeof row->texts[column], "%" PRIu64, value);
    row->values[column] = row->texts[column];
}

static void set_real(struct run_row *row, enum column column, double value)
{
    snprintf(row->texts[column], sizeof row->texts[column], "%.17g", value);
    row->values[column] = row->texts[column];
}

static void set_hash(struct run_row *row, enum column column, const uint8_t sha256[STORE_HASH])
{
    artifact_hex(sha256, row->texts[column]);
    row->values[column] = row->texts[column];
}

static void set_results(struct run_row *row, const struct train *train)
{
    if (train->parent.stored)
        set_hash(row, COLUMN_PARENT, train->parent.sha256);
    if (train->has_data_sha256)
        set_hash(row, COLUMN_DATA, train->data_sha256);
    if (train->k > 0.0)
        set_real(row, COLUMN_SCALE, train->k);
    set_whole(row, COLUMN_GAMES, train->reader.counts.games);
    set_whole(row, COLUMN_POSITIONS, train->positions);
    set_whole(row, COLUMN_MERGED, train->merged_count);
    if (train->train_after > 0.0) {
        set_real(row, COLUMN_TRAIN_BEFORE, train->train_before);
        set_real(row, COLUMN_TRAIN_AFTER, train->train_after);
    }
    if (train->judged) {
        set_real(row, COLUMN_BEFORE, train->judge.before);
        set_real(row, COLUMN_AFTER, train->judge.after);
        set_real(row, COLUMN_ERROR, train->judge.error);
    }
}

/* False when memory is short. */
static bool row_init(struct run_row *row, const struct archive *archive, const struct train *train,
                     enum train_status status)
{
    memset(row, 0, sizeof *row);
    row->options = provenance_options(train);
    row->manifest = provenance_manifest(train);
    row->curve = provenance_curve(train);
    row->perfect = provenance_perfect(train);
    if (!row->options || !row->manifest || !row->curve)
        return false;
    row->values[COLUMN_STATE] = status == TRAIN_DONE      ? "finished"
                                : status == TRAIN_REFUSED ? "refused"
                                                          : "failed";
    row->values[COLUMN_STARTED] = archive->started_at;
    row->values[COLUMN_RULES] = train->reader.rules.name;
    row->values[COLUMN_KIND] = weights_kind_name(train->options.kind);
    set_whole(row, COLUMN_SEED, train->reader.filters.seed);
    set_whole(row, COLUMN_THREADS, train->options.threads);
    row->values[COLUMN_CORE] = blas_core();
    row->values[COLUMN_BLAS] = blas_config();
    row->values[COLUMN_BUILD] = train_build();
    if (status == TRAIN_DONE)
        set_hash(row, COLUMN_WEIGHTS, train->sha256);
    set_real(row, COLUMN_LAMBDA, train->options.lambda);
    set_real(row, COLUMN_RIDGE, train->options.ridge);
    row->values[COLUMN_OPTIONS] = row->options;
    row->values[COLUMN_MANIFEST] = row->manifest;
    row->values[COLUMN_CURVE] = row->curve;
    row->values[COLUMN_PERFECT] = row->perfect;
    row->values[COLUMN_REASON] = status == TRAIN_DONE ? "" : train->reason;
    set_results(row, train);
    return true;
}

static void row_done(struct run_row *row)
{
    free(row->options);
    free(row->manifest);
    free(row->curve);
    free(row->perfect);
}

static int query_id(struct archive *archive, const char *sql, const char *const *values, size_t count,
                    uint64_t *id)
{
    struct store_table table;
    int error = store_query(archive->store, sql, values, count, &table);
    if (error != STORE_OK)
        return error;
    *id = table.rows > 0 ? strtoull(store_cell(&table, 0, 0), NULL, 10) : 0;
    store_table_done(&table);
    return STORE_OK;
}

static int put_weights(struct archive *archive, const struct fit_request *request, const struct train *train)
{
    struct store_weights weights = {.training_run = archive->training_run};
    snprintf(weights.kind, sizeof weights.kind, "%s", weights_kind_name(train->options.kind));
    memcpy(weights.sha256, train->sha256, sizeof weights.sha256);
    snprintf(weights.rules, sizeof weights.rules, "%s", train->reader.rules.name);
    snprintf(weights.name, sizeof weights.name, "%s", request->name);
    weights.has_parent = train->parent.stored;
    memcpy(weights.parent, train->parent.sha256, sizeof weights.parent);
    return store_weights_put(archive->store, &weights, train->bytes, train->size);
}

/* One try. A commit whose outcome was lost with the connection is found again by its start and manifest. */
static int record_once(struct archive *archive, const struct fit_request *request, const struct train *train,
                       enum train_status status, const struct run_row *row)
{
    const char *key[] = {archive->started_at, row->manifest, train_build()};
    char hash[ARTIFACT_HEX];
    struct store_weights found;
    archive->training_run = 0;
    int error = query_id(archive, find_run, key, 3, &archive->training_run);
    if (error != STORE_OK)
        return error;
    if (archive->training_run == 0) {
        error = store_begin(archive->store);
        if (error == STORE_OK)
            error = query_id(archive, insert_run, row->values, COLUMNS, &archive->training_run);
        if (error == STORE_OK && status == TRAIN_DONE)
            error = put_weights(archive, request, train);
        if (error == STORE_OK)
            error = store_commit(archive->store);
        if (error != STORE_OK) {
            snprintf(archive->reason, sizeof archive->reason, "%s", store_reason(archive->store));
            if (error != STORE_ERROR_CONNECTION)
                store_rollback(archive->store);
            archive->training_run = 0;
            return error;
        }
    }
    if (status != TRAIN_DONE)
        return STORE_OK;
    artifact_hex(train->sha256, hash);
    return store_weights_find(archive->store, hash, &found, &archive->number);
}

static bool reconnect(struct archive *archive)
{
    for (int try = 0; try < RECONNECT_TRIES && !(archive->stop && *archive->stop); try++) {
        archive_close(archive);
        if (connect_store(archive) == ARCHIVE_OK)
            return true;
        archive_close(archive);
        struct timespec wait = {.tv_sec = RECONNECT_WAIT_S};
        nanosleep(&wait, NULL);
    }
    return false;
}

enum archive_status archive_record(struct archive *archive, const struct fit_request *request,
                                   const struct train *train, enum train_status status)
{
    struct run_row row;
    if (!row_init(&row, archive, train, status)) {
        row_done(&row);
        return end(archive, ARCHIVE_FAILED, "memory is short");
    }
    archive->reason[0] = '\0';
    int error = record_once(archive, request, train, status, &row);
    while (error == STORE_ERROR_CONNECTION && reconnect(archive))
        error = record_once(archive, request, train, status, &row);
    row_done(&row);
    if (error == STORE_OK)
        return ARCHIVE_OK;
    if (!archive->store)
        return ARCHIVE_CONNECTION;
    if (archive->reason[0] == '\0')
        return store_end(archive, error);
    return error == STORE_ERROR_CONNECTION ? ARCHIVE_CONNECTION
           : error == STORE_ERROR_REFUSED  ? ARCHIVE_REFUSED
                                           : ARCHIVE_FAILED;
}
