#include "sql/store_tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/store_connection.h"

enum { NUMBER_TEXT = 26, THETA_MAX = 1 << 14 };

/* --- arrays of numbers --- */

/* `{1,2.5}`, exact; malloc'ed. */
static char *array_text(const double *values, size_t count)
{
    char *text = malloc(count * NUMBER_TEXT + 3);
    if (text == NULL)
        return NULL;
    size_t at = 1;
    text[0] = '{';
    for (size_t i = 0; i < count; i++)
        at += (size_t)sprintf(text + at, "%s%.17g", i > 0 ? "," : "", values[i]);
    strcpy(text + at, "}");
    return text;
}

/* Numbers between commas, at most `room`; how many, or -1. */
static int read_array(const char *text, double *values, size_t room)
{
    size_t count = 0;
    while (*text != '\0') {
        char *end;
        if (count == room)
            return -1;
        values[count++] = strtod(text, &end);
        if (end == text || (*end != ',' && *end != '\0'))
            return -1;
        text = *end == ',' ? end + 1 : end;
    }
    return (int)count;
}

/* --- the tune --- */

enum store_error store_tune_create(struct store *store, const struct store_tune *tune,
                                   const char *parameters_json)
{
    struct store_parameters head = {0}, rows = {0};
    store_add_u64(&head, tune->experiment);
    store_add_u64(&head, tune->batch_pairs);
    store_add_u64(&head, tune->lag);
    store_add_u64(&head, tune->batches);
    store_add_u64(&head, tune->parameters);
    enum store_error error =
        store_run(store,
                  "insert into tune (experiment_id, batch_pairs, lag, batches, parameters) "
                  "values ($1, $2, $3, $4, $5)",
                  &head, false, NULL);
    if (error != STORE_OK)
        return error;
    store_add_u64(&rows, tune->experiment);
    store_add_text(&rows, parameters_json);
    return store_run(
        store,
        "insert into tune_parameter (experiment_id, number, name, start, low, high, c_end, r_end) "
        "select $1, number, name, start, low, high, c_end, r_end from jsonb_to_recordset($2::jsonb) "
        "as p (number integer, name text, start double precision, low double precision, "
        "high double precision, c_end double precision, r_end double precision)",
        &rows, false, NULL);
}

enum store_error store_tune_get(struct store *store, uint64_t experiment, struct store_tune *out)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    store_add_u64(&parameters, experiment);
    enum store_error error =
        store_run(store,
                  "select batch_pairs, lag, batches, parameters, tuned_sha256 is not null, "
                  "coalesce(tuned_sha256, decode(repeat('00', 32), 'hex')), coalesce(tuned_options, ''), "
                  "coalesce(match_id, 0) from tune where experiment_id = $1",
                  &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) == 1) {
        *out = (struct store_tune){.experiment = experiment,
                                   .batch_pairs = (uint32_t)store_cell_u64(result, 0, 0, &bad),
                                   .lag = (uint32_t)store_cell_u64(result, 0, 1, &bad),
                                   .batches = store_cell_u64(result, 0, 2, &bad),
                                   .parameters = (uint32_t)store_cell_u64(result, 0, 3, &bad),
                                   .is_tuned = store_cell_bool(result, 0, 4, &bad),
                                   .match = store_cell_u64(result, 0, 7, &bad)};
        store_cell_hash(result, 0, 5, out->tuned, &bad);
        store_cell_text(result, 0, 6, out->tuned_options, sizeof out->tuned_options, &bad);
        error = bad ? store_fail(store, STORE_ERROR_DATA, "row of tune %" PRIu64, experiment) : STORE_OK;
    } else {
        error = store_fail(store, STORE_ERROR_REFUSED, "experiment %" PRIu64 " is no tune", experiment);
    }
    PQclear(result);
    return error;
}

enum store_error store_tune_finish(struct store *store, const struct store_tune *tune)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, tune->experiment);
    store_add_bytes(&parameters, tune->tuned, STORE_HASH);
    store_add_text(&parameters, tune->tuned_options);
    store_add_id(&parameters, tune->match);
    return store_run(store,
                     "update tune set tuned_sha256 = $2, tuned_options = $3, match_id = $4 "
                     "where experiment_id = $1 and tuned_sha256 is null",
                     &parameters, false, NULL);
}

/* --- batches --- */

enum store_error store_tune_batch_put(struct store *store, uint64_t experiment,
                                      const struct store_tune_batch *batch)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, batch->batch);
    store_add_bytes(&parameters, batch->weights[0], STORE_HASH);
    store_add_bytes(&parameters, batch->weights[1], STORE_HASH);
    store_add_text(&parameters, batch->options[0]);
    store_add_text(&parameters, batch->options[1]);
    return store_run(store,
                     "insert into tune_batch (experiment_id, batch_no, weights_a, weights_b, options_a, "
                     "options_b) values ($1, $2, $3, $4, $5, $6)",
                     &parameters, false, NULL);
}

enum store_error store_tune_batch_apply(struct store *store, uint64_t experiment,
                                        const struct store_tune_batch *batch)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    char *theta = array_text(batch->theta, batch->theta_count);
    if (theta == NULL)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu parameters", batch->theta_count);
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, batch->batch);
    store_add_u64(&parameters, batch->won);
    store_add_u64(&parameters, batch->lost);
    store_add_text(&parameters, theta);
    enum store_error error =
        store_run(store,
                  "update tune_batch set won = $3, lost = $4, theta = $5, applied_at = now() "
                  "where experiment_id = $1 and batch_no = $2 and won is null",
                  &parameters, false, &result);
    free(theta);
    if (error != STORE_OK)
        return error;
    if (store_affected(result) != 1)
        error = store_fail(store, STORE_ERROR_REFUSED,
                           "batch %" PRIu64 " of tune %" PRIu64 " is not there or is applied", batch->batch,
                           experiment);
    PQclear(result);
    return error;
}

enum store_error store_tune_thin(struct store *store, uint64_t experiment, uint64_t below, uint64_t step)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, below);
    store_add_u64(&parameters, step);
    return store_run(store,
                     "update tune_batch set theta = null where experiment_id = $1 and batch_no < $2 and "
                     "batch_no % $3 <> 0 and theta is not null",
                     &parameters, false, NULL);
}

enum store_error store_tune_result(struct store *store, uint64_t experiment, uint64_t first, uint64_t end,
                                   uint64_t *won, uint64_t *lost, uint64_t *games)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, first);
    store_add_u64(&parameters, end);
    enum store_error error = store_run(
        store,
        "select count(*) filter (where a_half_points = 2), count(*) filter (where a_half_points = 0), "
        "count(*) from game where experiment_id = $1 and pair_no >= $2 and pair_no < $3",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *won = store_cell_u64(result, 0, 0, &bad);
    *lost = store_cell_u64(result, 0, 1, &bad);
    *games = store_cell_u64(result, 0, 2, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the result of a batch") : STORE_OK;
}

static bool read_batch(const PGresult *result, int row, double *theta, struct store_tune_batch *out)
{
    bool bad = false;
    *out = (struct store_tune_batch){.batch = store_cell_u64(result, row, 0, &bad),
                                     .is_applied = !PQgetisnull(result, row, 5)};
    for (int side = 0; side < 2; side++) {
        store_cell_hash(result, row, 1 + side, out->weights[side], &bad);
        store_cell_text(result, row, 3 + side, out->options[side], sizeof out->options[side], &bad);
    }
    if (out->is_applied) {
        out->won = store_cell_u64(result, row, 5, &bad);
        out->lost = store_cell_u64(result, row, 6, &bad);
    }
    if (PQgetisnull(result, row, 7))
        return !bad;
    int count = read_array(PQgetvalue(result, row, 7), theta, THETA_MAX);
    out->theta = theta;
    out->theta_count = count > 0 ? (size_t)count : 0;
    return !bad && count > 0;
}

/* Some rows at a time: thousands of parameters make a row large. */
enum { BATCHES_A_TURN = 256 };

int store_tune_batches(struct store *store, uint64_t experiment, uint64_t first, uint64_t end,
                       store_tune_row *row, void *context)
{
    double *theta = malloc(THETA_MAX * sizeof *theta);
    int outcome = theta != NULL ? STORE_OK : store_fail(store, STORE_ERROR_MEMORY, "no memory for a batch");
    int rows = BATCHES_A_TURN;
    while (outcome == STORE_OK && rows == BATCHES_A_TURN && first < end) {
        struct store_parameters parameters = {0};
        PGresult *result;
        store_add_u64(&parameters, experiment);
        store_add_u64(&parameters, first);
        store_add_u64(&parameters, end > INT64_MAX ? INT64_MAX : end);
        store_add_u64(&parameters, BATCHES_A_TURN);
        outcome =
            store_run(store,
                      "select batch_no, weights_a, weights_b, options_a, options_b, won, lost, "
                      "array_to_string(theta, ',') from kroo.tune_batch where experiment_id = $1::bigint and "
                      "batch_no >= $2::bigint and batch_no < $3::bigint order by batch_no limit $4::bigint",
                      &parameters, false, &result);
        if (outcome != STORE_OK)
            break;
        rows = PQntuples(result);
        for (int i = 0; i < rows && outcome == STORE_OK; i++) {
            struct store_tune_batch batch;
            outcome = read_batch(result, i, theta, &batch)
                          ? row(context, &batch)
                          : (int)store_fail(store, STORE_ERROR_DATA, "a batch of tune %" PRIu64, experiment);
            first = batch.batch + 1;
        }
        PQclear(result);
    }
    free(theta);
    return outcome;
}

enum store_error store_tune_kept(struct store *store, uint64_t experiment, uint64_t end, double *theta,
                                 size_t count, uint64_t *batch, uint64_t *applied, bool *found)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, end > INT64_MAX ? INT64_MAX : end);
    enum store_error error = store_run(
        store,
        "select (select coalesce(max(batch_no) + 1, 0) from kroo.tune_batch where experiment_id = "
        "$1::bigint and won is not null), b.batch_no, array_to_string(b.theta, ',') from (values (1)) one "
        "left join lateral (select batch_no, theta from kroo.tune_batch where experiment_id = $1::bigint "
        "and batch_no < $2::bigint and theta is not null order by batch_no desc limit 1) b on true",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *applied = store_cell_u64(result, 0, 0, &bad);
    *found = !PQgetisnull(result, 0, 1);
    if (*found) {
        *batch = store_cell_u64(result, 0, 1, &bad);
        bad = bad || read_array(PQgetvalue(result, 0, 2), theta, count) != (int)count;
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the parameters of tune %" PRIu64, experiment)
               : STORE_OK;
}

enum store_error store_tune_find_weights(struct store *store, const uint8_t sha256[STORE_HASH],
                                         uint64_t *experiment, uint64_t *batch, bool *found)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    store_add_bytes(&parameters, sha256, STORE_HASH);
    enum store_error error =
        store_run(store,
                  "select experiment_id, batch_no from kroo.tune_batch where weights_a = "
                  "$1::bytea or weights_b = $1::bytea order by experiment_id desc limit 1",
                  &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *found = PQntuples(result) == 1;
    if (*found) {
        *experiment = store_cell_u64(result, 0, 0, &bad);
        *batch = store_cell_u64(result, 0, 1, &bad);
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a batch of a tune") : STORE_OK;
}

enum store_error store_tune_file_put(struct store *store, const uint8_t sha256[STORE_HASH],
                                     const void *content, size_t size)
{
    struct store_parameters parameters = {0};
    store_add_bytes(&parameters, sha256, STORE_HASH);
    store_add_u64(&parameters, size);
    store_add_bytes(&parameters, content, size);
    return store_run(store,
                     "insert into artifact (sha256, kind, size, content) values ($1, 'tune', $2, $3) "
                     "on conflict do nothing",
                     &parameters, false, NULL);
}

enum store_error store_tune_outvoted(struct store *store, uint64_t experiment, uint64_t *pairs)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    store_add_u64(&parameters, experiment);
    enum store_error error = store_run(store, "select tune_outvoted($1)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *pairs = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a number was expected") : STORE_OK;
}
