/* Engines and endgame tables that players can use. */
#include "sql/store_connection.h"

#include <stdio.h>
#include <string.h>

enum { TRAVELS_MAX = 64 * 1024 * 1024 };

static void hex_of(const uint8_t sha256[STORE_HASH], char out[2 * STORE_HASH + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < STORE_HASH; i++) {
        out[2 * i] = digits[sha256[i] >> 4];
        out[2 * i + 1] = digits[sha256[i] & 15];
    }
    out[2 * STORE_HASH] = '\0';
}

/* What stands under this name, or with this content under another. */
static enum store_error find_row(struct store *store, const char *table, const char *name,
                                 const uint8_t sha256[STORE_HASH], bool *is_there)
{
    char sql[160], hex[2 * STORE_HASH + 1];
    struct store_parameters parameters = {0};
    PGresult *result;
    hex_of(sha256, hex);
    *is_there = false;
    store_add_text(&parameters, name);
    store_add_text(&parameters, hex);
    snprintf(sql, sizeof sql,
             "select name, encode(sha256, 'hex') from %s where name = $1 or sha256 = decode($2, 'hex') "
             "order by name = $1 desc",
             table);
    enum store_error error = store_run(store, sql, &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) > 0) {
        const char *found = PQgetvalue(result, 0, 0);
        bool same_name = strcmp(found, name) == 0, same_file = strcmp(PQgetvalue(result, 0, 1), hex) == 0;
        *is_there = same_name && same_file;
        if (same_name && !same_file)
            error = store_fail(store, STORE_ERROR_REFUSED,
                               "the name %s is taken by another file, %.12s: give another name", name,
                               PQgetvalue(result, 0, 1));
        else if (!same_name)
            error = store_fail(store, STORE_ERROR_REFUSED, "this file is there already, under the name %s",
                               found);
    }
    PQclear(result);
    return error;
}

enum store_error store_artifact_put(struct store *store, const char *kind, const uint8_t sha256[STORE_HASH],
                                    const void *content, size_t size)
{
    if (size == 0 || size > TRAVELS_MAX)
        return store_fail(store, STORE_ERROR_REFUSED, "a file of %zu bytes: 1 to %d are stored", size,
                          TRAVELS_MAX);
    struct store_parameters parameters = {0};
    store_add_bytes(&parameters, sha256, STORE_HASH);
    store_add_text(&parameters, kind);
    store_add_u64(&parameters, size);
    store_add_bytes(&parameters, content, size);
    return store_run(store,
                     "insert into artifact (sha256, kind, size, content) values ($1, $2, $3, $4) "
                     "on conflict do nothing",
                     &parameters, false, NULL);
}

enum store_error store_engine_put(struct store *store, const struct store_engine *engine, const void *content,
                                  size_t size, const char *by, bool *existed)
{
    /* One at a time: of two uploads under one name the second finds the first, whatever their order. */
    enum store_error error =
        store_run(store, "select pg_advisory_xact_lock(hashtext('kroo.engine'))", NULL, false, NULL);
    if (error == STORE_OK)
        error = find_row(store, "engine", engine->name, engine->sha256, existed);
    if (error != STORE_OK || *existed)
        return error;
    error = store_artifact_put(store, "engine", engine->sha256, content, size);
    if (error != STORE_OK)
        return error;
    struct store_parameters parameters = {0};
    store_add_text(&parameters, engine->name);
    store_add_bytes(&parameters, engine->sha256, STORE_HASH);
    store_add_text(&parameters, engine->program);
    store_add_text(&parameters, engine->options);
    store_add_text(&parameters, engine->note);
    store_add_text(&parameters, by);
    store_add_text(&parameters, engine->signature);
    store_add_text(&parameters, engine->architectures);
    return store_run(
        store,
        "insert into engine (name, sha256, program, options, note, added_by, signature, architectures) "
        "values ($1, $2, $3, $4, $5, $6, $7, $8)",
        &parameters, false, NULL);
}

enum store_error store_tables_put(struct store *store, const struct store_tables *tables, const void *content,
                                  const char *by, bool *existed)
{
    enum store_error error = find_row(store, "endgame_table", tables->name, tables->sha256, existed);
    if (error == STORE_OK && !*existed && content != NULL)
        error = store_artifact_put(store, "table", tables->sha256, content, (size_t)tables->size);
    if (error != STORE_OK || *existed)
        return error;
    struct store_parameters parameters = {0};
    store_add_text(&parameters, tables->name);
    store_add_bytes(&parameters, tables->sha256, STORE_HASH);
    store_add_bytes(&parameters, content != NULL ? tables->sha256 : NULL, content != NULL ? STORE_HASH : 0);
    store_add_text(&parameters, tables->rules);
    store_add_text(&parameters, tables->convention);
    store_add_u64(&parameters, tables->seeds);
    store_add_u64(&parameters, tables->size);
    store_add_text(&parameters, tables->note);
    store_add_text(&parameters, by);
    return store_run(
        store,
        "insert into endgame_table (name, sha256, artifact_sha256, rules, convention, seeds, size, "
        "note, added_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        &parameters, false, NULL);
}

/* The row of a name or a hash; columns are name, sha256 and those of `more`. */
static enum store_error select_row(struct store *store, const char *table, const char *more, const char *name,
                                   const uint8_t *sha256, PGresult **out)
{
    char sql[256];
    struct store_parameters parameters = {0};
    store_add_text(&parameters, name);
    store_add_bytes(&parameters, sha256, sha256 != NULL ? STORE_HASH : 0);
    snprintf(sql, sizeof sql, "select name, sha256%s from %s where name = $1 or sha256 = $2", more, table);
    enum store_error error = store_run(store, sql, &parameters, false, out);
    if (error != STORE_OK)
        return error;
    if (PQntuples(*out) == 1)
        return STORE_OK;
    PQclear(*out);
    char hex[2 * STORE_HASH + 1] = "";
    if (sha256 != NULL)
        hex_of(sha256, hex);
    return store_fail(store, STORE_ERROR_REFUSED, "there is none called %.80s", name != NULL ? name : hex);
}

enum store_error store_engine_find(struct store *store, const char *name, const uint8_t *sha256,
                                   struct store_engine *out)
{
    PGresult *result;
    bool bad = false;
    memset(out, 0, sizeof *out);
    enum store_error error =
        select_row(store, "engine", ", program, options, note, signature", name, sha256, &result);
    if (error != STORE_OK)
        return error;
    store_cell_text(result, 0, 0, out->name, sizeof out->name, &bad);
    store_cell_hash(result, 0, 1, out->sha256, &bad);
    store_cell_text(result, 0, 2, out->program, sizeof out->program, &bad);
    store_cell_text(result, 0, 3, out->options, sizeof out->options, &bad);
    store_cell_text(result, 0, 4, out->note, sizeof out->note, &bad);
    store_cell_text(result, 0, 5, out->signature, sizeof out->signature, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "an engine cannot be read") : STORE_OK;
}

enum store_error store_tables_find(struct store *store, const char *name, const uint8_t *sha256,
                                   struct store_tables *out)
{
    PGresult *result;
    bool bad = false;
    memset(out, 0, sizeof *out);
    enum store_error error =
        select_row(store, "endgame_table", ", rules, convention, seeds, size, artifact_sha256 is not null",
                   name, sha256, &result);
    if (error != STORE_OK)
        return error;
    store_cell_text(result, 0, 0, out->name, sizeof out->name, &bad);
    store_cell_hash(result, 0, 1, out->sha256, &bad);
    store_cell_text(result, 0, 2, out->rules, sizeof out->rules, &bad);
    store_cell_text(result, 0, 3, out->convention, sizeof out->convention, &bad);
    out->seeds = (unsigned)store_cell_u64(result, 0, 4, &bad);
    out->size = store_cell_u64(result, 0, 5, &bad);
    out->travels = store_cell_bool(result, 0, 6, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "endgame tables cannot be read") : STORE_OK;
}
