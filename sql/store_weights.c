/* Artifacts, weights and champions. */
#include "sql/store_connection.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARTIFACT_MAX = 1 << 29, HASH_PREFIX_MIN = 8, NUMBER_DIGITS_MAX = 18 };

static void hash_text(const uint8_t sha256[STORE_HASH], char out[2 * STORE_HASH + 1])
{
    for (size_t i = 0; i < STORE_HASH; i++)
        snprintf(out + 2 * i, 3, "%02x", sha256[i]);
}

enum store_error store_weights_put(struct store *store, const struct store_weights *weights,
                                   const void *content, size_t size)
{
    if (size == 0 || size > ARTIFACT_MAX)
        return store_fail(store, STORE_ERROR_REFUSED, "weights of %zu bytes: 1 to %d are stored", size,
                          ARTIFACT_MAX);
    struct store_parameters parameters = {0};
    store_add_bytes(&parameters, weights->sha256, STORE_HASH);
    store_add_u64(&parameters, size);
    store_add_bytes(&parameters, content, size);
    store_add_name(&parameters, weights->kind);
    store_add_name(&parameters, weights->rules);
    store_add_text(&parameters, weights->name);
    store_add_bytes(&parameters, weights->has_parent ? weights->parent : NULL,
                    weights->has_parent ? STORE_HASH : 0);
    store_add_id(&parameters, weights->training_run);
    return store_run(store,
                     "with artifact_row as (insert into artifact (sha256, kind, size, content) "
                     "values ($1, 'weights', $2, $3) on conflict do nothing) "
                     "insert into weights (sha256, kind, rules, name, parent_sha256, training_run_id) "
                     "values ($1, $4, $5, $6, $7, $8) on conflict (sha256) do nothing",
                     &parameters, false, NULL);
}

enum store_error store_artifact_get(struct store *store, const uint8_t sha256[STORE_HASH], void **content,
                                    size_t *size)
{
    *content = NULL;
    *size = 0;
    struct store_parameters parameters = {0};
    store_add_bytes(&parameters, sha256, STORE_HASH);
    PGresult *result;
    enum store_error error =
        store_run(store, "select content from artifact where sha256 = $1", &parameters, true, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) == 0) {
        char hex[2 * STORE_HASH + 1];
        hash_text(sha256, hex);
        PQclear(result);
        return store_fail(store, STORE_ERROR_REFUSED, "there is no artifact %s", hex);
    }
    *size = (size_t)PQgetlength(result, 0, 0);
    *content = malloc(*size + 1);
    if (*content != NULL)
        memcpy(*content, PQgetvalue(result, 0, 0), *size);
    else
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory for an artifact of %zu bytes", *size);
    PQclear(result);
    return error;
}

/* --- finding --- */

#define WEIGHTS_SELECT                                                                                       \
    "select w.number, w.sha256, coalesce(w.rules, ''), coalesce(w.kind, ''), w.name, "                       \
    "w.parent_sha256 is not null, coalesce(w.parent_sha256, w.sha256), coalesce(w.training_run_id, 0) "

static enum store_error read_weights(struct store *store, const PGresult *result, struct store_weights *out,
                                     uint64_t *number)
{
    bool bad = false;
    memset(out, 0, sizeof *out);
    *number = store_cell_u64(result, 0, 0, &bad);
    store_cell_hash(result, 0, 1, out->sha256, &bad);
    store_cell_text(result, 0, 2, out->rules, sizeof out->rules, &bad);
    store_cell_text(result, 0, 3, out->kind, sizeof out->kind, &bad);
    store_cell_text(result, 0, 4, out->name, sizeof out->name, &bad);
    out->has_parent = store_cell_bool(result, 0, 5, &bad);
    if (out->has_parent)
        store_cell_hash(result, 0, 6, out->parent, &bad);
    out->training_run = store_cell_u64(result, 0, 7, &bad);
    return bad ? store_fail(store, STORE_ERROR_DATA, "weights %" PRIu64 " cannot be read", *number)
               : STORE_OK;
}

static const char *champion_line(const char *text)
{
    if (strcmp(text, "champion") == 0)
        return STORE_LINE;
    return strncmp(text, "champion:", 9) == 0 ? text + 9 : NULL;
}

static enum store_error find_champion(struct store *store, const char *line, PGresult **result)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, line);
    enum store_error error = store_run(
        store,
        WEIGHTS_SELECT "from weights w join champion c on c.weights_sha256 = w.sha256 where c.line = $1",
        &parameters, false, result);
    if (error == STORE_OK && PQntuples(*result) == 0) {
        PQclear(*result);
        error = store_fail(store, STORE_ERROR_REFUSED, "line %s has no champion yet", line);
    }
    return error;
}

static size_t count_letters(const char *text, int (*is)(int))
{
    size_t count = 0;
    while (text[count] != '\0' && is((unsigned char)text[count]) != 0)
        count++;
    return count == strlen(text) ? count : 0;
}

/* A number goes before a hash, a hash before a name; two of the best kind are ambiguous. */
static enum store_error find_text(struct store *store, const char *text, PGresult **result)
{
    size_t digits = count_letters(text, isdigit), hex = count_letters(text, isxdigit);
    struct store_parameters parameters = {0};
    store_add_text(&parameters, text);
    store_add_text(&parameters, digits > 0 && digits <= NUMBER_DIGITS_MAX ? text : NULL);
    store_add_text(&parameters, hex >= HASH_PREFIX_MIN && hex <= 2 * STORE_HASH ? text : NULL);
    enum store_error error = store_run(
        store,
        WEIGHTS_SELECT
        ", count(*) over () from (select *, rank() over (order by how) as place from "
        "(select *, case when number = $2::bigint then 1 when starts_with(encode(sha256, 'hex'), "
        "lower($3)) then 2 when name = $1 then 3 end as how from weights) x where how is not null) w "
        "where w.place = 1 order by w.number",
        &parameters, false, result);
    if (error != STORE_OK)
        return error;
    int rows = PQntuples(*result);
    if (rows == 1)
        return STORE_OK;
    if (rows == 0)
        error = store_fail(
            store, STORE_ERROR_REFUSED,
            "no weights `%.64s`: give a number, a name, 8 or more letters of the hash, or champion", text);
    else
        error = store_fail(store, STORE_ERROR_REFUSED,
                           "`%.64s` names %d weights, numbers %s and %s among them: give a number", text,
                           rows, PQgetvalue(*result, 0, 0), PQgetvalue(*result, 1, 0));
    PQclear(*result);
    return error;
}

enum store_error store_weights_find(struct store *store, const char *text, struct store_weights *out,
                                    uint64_t *number)
{
    const char *line = champion_line(text);
    PGresult *result;
    enum store_error error =
        line != NULL ? find_champion(store, line, &result) : find_text(store, text, &result);
    if (error != STORE_OK)
        return error;
    error = read_weights(store, result, out, number);
    PQclear(result);
    return error;
}

/* --- champions --- */

/* The same promotion, asked for again: by its experiment, or, by hand, as the line's last one. */
static const char known_promotion_sql[] =
    "select id from promotion p where line = $1 and weights_sha256 = $2 and case when $3::bigint is null "
    "then experiment_id is null and id = (select max(id) from promotion where line = $1) "
    "else experiment_id = $3::bigint end";

enum store_error store_promote(struct store *store, const char *line, const uint8_t sha256[STORE_HASH],
                               uint64_t experiment, const char *by, const char *reason, uint64_t *epoch)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, line);
    store_add_bytes(&parameters, sha256, STORE_HASH);
    store_add_id(&parameters, experiment);
    PGresult *result;
    enum store_error error = store_run(store, known_promotion_sql, &parameters, false, &result);
    if (error == STORE_OK && PQntuples(result) == 0) {
        PQclear(result);
        store_add_text(&parameters, by);
        store_add_text(&parameters, reason != NULL ? reason : "");
        error = store_run(store,
                          "insert into promotion (line, weights_sha256, experiment_id, by, reason) "
                          "values ($1, $2, $3, $4, $5) returning id",
                          &parameters, false, &result);
    }
    if (error != STORE_OK)
        return error;
    bool bad = false;
    *epoch = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the promotion has no number") : STORE_OK;
}

enum store_error store_champion(struct store *store, const char *line, uint8_t sha256[STORE_HASH],
                                uint64_t *epoch)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, line);
    PGresult *result;
    enum store_error error = store_run(store, "select weights_sha256, epoch from champion where line = $1",
                                       &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    if (PQntuples(result) == 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "line %s has no champion yet", line);
    else {
        store_cell_hash(result, 0, 0, sha256, &bad);
        *epoch = store_cell_u64(result, 0, 1, &bad);
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the champion cannot be read") : error;
}
