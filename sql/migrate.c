#include "sql/migrate.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sql/store_connection.h"

/* The advisory lock keeps a second runner out until the session ends; the lock time-out bounds its wait. */
static enum store_error lock_migrations(struct store *store)
{
    char sql[128];
    snprintf(sql, sizeof sql, "set lock_timeout = '60s'; select pg_advisory_lock(%d, %d)", STORE_ADVISORY,
             STORE_ADVISORY_MIGRATE);
    return store_exec(store, sql, NULL);
}

static enum store_error has_migrations(struct store *store, bool *has)
{
    PGresult *result;
    enum store_error error = store_run(store,
                                       "select from pg_class c join pg_namespace n on n.oid = c.relnamespace "
                                       "where n.nspname = 'kroo' and c.relname = 'migration'",
                                       NULL, false, &result);
    if (error != STORE_OK)
        return error;
    *has = PQntuples(result) > 0;
    PQclear(result);
    return STORE_OK;
}

/* How many of ours are applied. What is recorded must be the beginning of what is compiled in. */
static enum store_error count_applied(struct store *store, int *applied)
{
    bool has = false;
    *applied = 0;
    enum store_error error = has_migrations(store, &has);
    if (error != STORE_OK || !has)
        return error;
    PGresult *result;
    error = store_run(store, "select number, name, sha256 from kroo.migration order by number", NULL, false,
                      &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    for (int row = 0; row < PQntuples(result) && error == STORE_OK; row++) {
        const struct migration *known = &migrations[row];
        int64_t number = store_cell_i64(result, row, 0, &bad);
        const char *name = PQgetvalue(result, row, 1);
        if (known->number == 0)
            error = store_fail(
                store, STORE_ERROR_VERSION,
                "the database is newer than this program: it has migration %s; update the program", name);
        else if (bad || number != known->number)
            error = store_fail(store, STORE_ERROR_VERSION,
                               "the database has migration %s where this program has %s", name, known->name);
        else if (strcmp(PQgetvalue(result, row, 2), known->sha256) != 0)
            error = store_fail(store, STORE_ERROR_VERSION,
                               "migration %s was changed after it was applied: restore the file it was",
                               known->name);
        else
            (*applied)++;
    }
    PQclear(result);
    return error;
}

static enum store_error record(struct store *store, const struct migration *migration)
{
    struct store_parameters parameters = {0};
    store_add_i64(&parameters, migration->number);
    store_add_text(&parameters, migration->name);
    store_add_text(&parameters, migration->sha256);
    return store_run(store, "insert into kroo.migration (number, name, sha256) values ($1, $2, $3)",
                     &parameters, false, NULL);
}

static enum store_error apply(struct store *store, const struct migration *migration)
{
    enum store_error error = store_begin(store);
    if (error == STORE_OK)
        error = store_exec(store, migration->text, NULL);
    if (error == STORE_OK && PQtransactionStatus(store->connection) != PQTRANS_INTRANS)
        error = store_fail(store, STORE_ERROR_REFUSED, "the migration ended its own transaction");
    if (error == STORE_OK)
        error = record(store, migration);
    if (error == STORE_OK)
        return store_commit(store);
    char reason[STORE_TEXT];
    memcpy(reason, store->reason, sizeof reason);
    (void)store_rollback(store);
    return store_fail(store, error, "migration %s: %s", migration->name, reason);
}

static enum store_error run(struct store *store, void (*report)(const char *name), int *done)
{
    int applied;
    enum store_error error = store_set_limit(store, STORE_STREAM_MS);
    if (error == STORE_OK)
        error = lock_migrations(store);
    if (error == STORE_OK)
        error = count_applied(store, &applied);
    if (error != STORE_OK)
        return error;
    for (const struct migration *next = &migrations[applied]; next->number != 0; next++) {
        error = apply(store, next);
        if (error != STORE_OK)
            return error;
        (*done)++;
        if (report != NULL)
            report(next->name);
    }
    return STORE_OK;
}

int migrate_run(const char *conninfo, void (*report)(const char *name), char *reason, size_t reason_size)
{
    struct store *store = store_open(conninfo, NULL, "kroo migrate", reason, reason_size);
    if (store == NULL)
        return -1;
    int done = 0;
    enum store_error error = run(store, report, &done);
    if (error != STORE_OK)
        snprintf(reason, reason_size, "%s", store_reason(store));
    store_close(store);
    return error == STORE_OK ? done : -1;
}

/* --- the server extension --- */

static enum store_error offer_extension(struct store *store, bool *there)
{
    PGresult *result;
    enum store_error error =
        store_run(store,
                  "select installed_version is null, installed_version is distinct from "
                  "default_version from pg_available_extensions where name = 'kroo_oware'",
                  NULL, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    *there = PQntuples(result) > 0;
    bool missing = *there && store_cell_bool(result, 0, 0, &bad);
    bool other = *there && store_cell_bool(result, 0, 1, &bad);
    PQclear(result);
    if (bad)
        return store_fail(store, STORE_ERROR_DATA, "the server's extensions cannot be read");
    if (missing)
        return store_exec(store, "create extension if not exists kroo_oware schema kroo", NULL);
    return other ? store_exec(store, "alter extension kroo_oware update", NULL) : STORE_OK;
}

int migrate_extension(const char *conninfo, char *reason, size_t reason_size)
{
    struct store *store = store_open(conninfo, NULL, "kroo migrate", reason, reason_size);
    if (store == NULL)
        return -1;
    bool there = false;
    enum store_error error = lock_migrations(store);
    if (error == STORE_OK)
        error = offer_extension(store, &there);
    if (error != STORE_OK)
        snprintf(reason, reason_size, "%s", store_reason(store));
    store_close(store);
    return error != STORE_OK ? -1 : there;
}
