/* Plain queries for people. */
#include "sql/store_copy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Type numbers of pg_type, fixed for ever: int8, int2, int4, oid, float4, float8, numeric. */
static bool is_numeric(Oid type)
{
    static const Oid numbers[] = {20, 21, 23, 26, 700, 701, 1700};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (type == numbers[i])
            return true;
    return false;
}

static enum store_error fill_parameters(struct store *store, struct store_parameters *out,
                                        const char *const *parameters, size_t count)
{
    if (count > STORE_PARAMETERS)
        return store_fail(store, STORE_ERROR_REFUSED, "at most %d parameters", STORE_PARAMETERS);
    for (size_t i = 0; i < count; i++)
        store_add_text(out, parameters[i]);
    return STORE_OK;
}

/* Names and types of the columns, and room for the cells. */
static bool table_init(struct store_table *table, const PGresult *result, size_t rows)
{
    size_t columns = (size_t)PQnfields(result);
    *table = (struct store_table){.rows = rows, .columns = columns};
    table->names = calloc(columns + 1, sizeof *table->names);
    table->numeric = calloc(columns + 1, sizeof *table->numeric);
    table->cells = calloc(rows * columns + 1, sizeof *table->cells);
    if (table->names == NULL || table->numeric == NULL || table->cells == NULL)
        return false;
    for (size_t column = 0; column < columns; column++) {
        table->names[column] = strdup(PQfname(result, (int)column));
        table->numeric[column] = is_numeric(PQftype(result, (int)column));
        if (table->names[column] == NULL)
            return false;
    }
    return true;
}

static bool copy_cells(struct store_table *table, const PGresult *result)
{
    for (size_t row = 0; row < table->rows; row++)
        for (size_t column = 0; column < table->columns; column++) {
            if (PQgetisnull(result, (int)row, (int)column))
                continue;
            char *copy = strdup(PQgetvalue(result, (int)row, (int)column));
            if (copy == NULL)
                return false;
            table->cells[row * table->columns + column] = copy;
        }
    return true;
}

enum store_error store_query(struct store *store, const char *sql, const char *const *parameters,
                             size_t count, struct store_table *out)
{
    memset(out, 0, sizeof *out);
    struct store_parameters values = {0};
    enum store_error error = fill_parameters(store, &values, parameters, count);
    if (error != STORE_OK)
        return error;
    PGresult *result;
    error = store_run(store, sql, &values, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQresultStatus(result) == PGRES_COPY_IN || PQresultStatus(result) == PGRES_COPY_OUT) {
        PQclear(result);
        return store_fail(store, STORE_ERROR_CONNECTION, "COPY is no query");
    }
    if (!table_init(out, result, (size_t)PQntuples(result)) || !copy_cells(out, result)) {
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory for %d rows", PQntuples(result));
        store_table_done(out);
    }
    PQclear(result);
    return error;
}

void store_table_done(struct store_table *table)
{
    for (size_t i = 0; table->cells != NULL && i < table->rows * table->columns; i++)
        free(table->cells[i]);
    for (size_t i = 0; table->names != NULL && i < table->columns; i++)
        free(table->names[i]);
    free(table->cells);
    free(table->names);
    free(table->numeric);
    memset(table, 0, sizeof *table);
}

const char *store_cell(const struct store_table *table, size_t row, size_t column)
{
    assert(row < table->rows && column < table->columns);
    const char *cell = table->cells[row * table->columns + column];
    return cell != NULL ? cell : "";
}

/* --- row by row --- */

/* Lends the row's texts to the callback; they belong to the result. */
static int lend_row(struct store_table *table, const PGresult *result, store_row *row, void *context)
{
    for (size_t column = 0; column < table->columns; column++)
        table->cells[column] =
            PQgetisnull(result, 0, (int)column) ? NULL : PQgetvalue(result, 0, (int)column);
    int answer = row(context, table);
    for (size_t column = 0; column < table->columns; column++)
        table->cells[column] = NULL;
    return answer;
}

static int stream_rows(struct store *store, store_row *row, void *context)
{
    struct store_table table = {0};
    int answer = STORE_OK;
    while (answer == STORE_OK) {
        PGresult *result;
        answer = store_next(store, &result);
        if (answer != STORE_OK || result == NULL)
            break;
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_SINGLE_TUPLE) {
            if (table.names == NULL && !table_init(&table, result, 1))
                answer = store_fail(store, STORE_ERROR_MEMORY, "no memory for a row");
            else
                answer = lend_row(&table, result, row, context);
        } else if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT) {
            answer = store_fail(store, STORE_ERROR_CONNECTION, "COPY is no query");
        } else {
            answer = store_judge(store, result);
        }
        PQclear(result);
    }
    store_table_done(&table);
    if (answer != STORE_OK && !store->dead && store_cancel(store) != STORE_OK)
        answer = STORE_ERROR_CONNECTION;
    return answer;
}

int store_stream(struct store *store, const char *sql, const char *const *parameters, size_t count,
                 store_row *row, void *context)
{
    struct store_parameters values = {0};
    int answer = fill_parameters(store, &values, parameters, count);
    if (answer == STORE_OK)
        answer = store_set_limit(store, STORE_STREAM_MS);
    if (answer == STORE_OK)
        answer = store_send(store, sql, &values, false);
    if (answer != STORE_OK)
        return answer;
    if (PQsetSingleRowMode(store->connection) == 0)
        return store_fail(store, STORE_ERROR_CONNECTION, "rows cannot be read one by one");
    answer = stream_rows(store, row, context);
    /* In a failed transaction the limit goes back with the rollback. */
    if (!store->dead && PQtransactionStatus(store->connection) != PQTRANS_INERROR) {
        enum store_error reset = store_set_limit(store, STORE_STATEMENT_MS);
        answer = answer == STORE_OK ? (int)reset : answer;
    }
    return answer;
}
