#include "sql/store_connection.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sql/migrate.h"

enum { SERVER_VERSION_MIN = 150000 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- errors --- */

/* Copies a message as one line. */
static void one_line(char *out, size_t size, const char *text)
{
    size_t used = 0;
    for (; *text != '\0' && used + 1 < size; text++)
        out[used++] = *text == '\n' || *text == '\t' ? ' ' : *text;
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

enum store_error store_fail(struct store *store, enum store_error error, const char *format, ...)
{
    char text[2 * STORE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    one_line(store->reason, sizeof store->reason, text);
    if (error == STORE_ERROR_CONNECTION)
        store->dead = true;
    return error;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* PQstatus stays OK after the server died, so only results are believed. An error without SQLSTATE comes from
 * libpq: the line is broken. Deadlocks, lock and statement time-outs pass with another try, as a broken line
 * does; so does a server that takes no writes (25006), which is a replica or about to be one. */
static enum store_error error_of_state(const char *state)
{
    static const char *const again[] = {"08", "57P0", "57014", "40", "55P03", "25P03", "25006", "58030"};
    if (state == NULL)
        return STORE_ERROR_CONNECTION;
    for (size_t i = 0; i < sizeof again / sizeof again[0]; i++)
        if (starts_with(state, again[i]))
            return STORE_ERROR_CONNECTION;
    if (starts_with(state, "53"))
        return STORE_ERROR_SPACE;
    return strcmp(state, "23505") == 0 ? STORE_ERROR_UNIQUE : STORE_ERROR_REFUSED;
}

enum store_error store_judge(struct store *store, const PGresult *result)
{
    switch (PQresultStatus(result)) {
    case PGRES_EMPTY_QUERY:
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
    case PGRES_COPY_IN:
    case PGRES_COPY_OUT:
    case PGRES_NONFATAL_ERROR:
        return STORE_OK;
    default:
        break;
    }
    if (result == NULL)
        return store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    if (state == NULL)
        return store_fail(store, STORE_ERROR_CONNECTION, "%s", PQresultErrorMessage(result));
    return store_fail(store, error_of_state(state), "%s (SQLSTATE %s%s%s)",
                      message != NULL ? message : "refused", state, detail != NULL ? ": " : "",
                      detail != NULL ? detail : "");
}

const char *store_reason(const struct store *store)
{
    return store->reason;
}

uint64_t store_affected(const PGresult *result)
{
    return strtoull(PQcmdTuples((PGresult *)(uintptr_t)result), NULL, 10);
}

/* --- waiting --- */

enum store_error store_wait(struct store *store, bool writing)
{
    int64_t deadline = now_ms() + store->patience_ms;
    for (;;) {
        int64_t left = deadline - now_ms();
        if (left <= 0)
            return store_fail(store, STORE_ERROR_CONNECTION, "the database has not answered for %d ms",
                              store->patience_ms);
        struct pollfd socket = {.fd = PQsocket(store->connection),
                                .events = (short)(POLLIN | (writing ? POLLOUT : 0))};
        if (socket.fd < 0)
            return store_fail(store, STORE_ERROR_CONNECTION, "no connection to the database");
        int ready = poll(&socket, 1, (int)left);
        if (ready > 0)
            return STORE_OK;
        if (ready < 0 && errno != EINTR)
            return store_fail(store, STORE_ERROR_CONNECTION, "poll: %s", strerror(errno));
    }
}

enum store_error store_next(struct store *store, PGresult **out)
{
    *out = NULL;
    int unsent = 1;
    while (PQisBusy(store->connection)) {
        if (unsent > 0)
            unsent = PQflush(store->connection);
        enum store_error error = store_wait(store, unsent > 0);
        if (error != STORE_OK)
            return error;
        /* When this fails the connection is gone, and PQgetResult says so without waiting. */
        if (PQconsumeInput(store->connection) == 0)
            break;
    }
    *out = PQgetResult(store->connection);
    return STORE_OK;
}

/* Keeps the last result that is no error, or the first error. A COPY begins: its result is the last for now.
 */
static enum store_error collect(struct store *store, PGresult **out)
{
    PGresult *kept = NULL;
    enum store_error error = STORE_OK;
    for (;;) {
        PGresult *result;
        enum store_error waited = store_next(store, &result);
        if (waited != STORE_OK)
            error = waited;
        if (result == NULL)
            break;
        if (error == STORE_OK) {
            PQclear(kept);
            kept = result;
            error = store_judge(store, result);
        } else {
            PQclear(result);
        }
        ExecStatusType status = error == STORE_OK ? PQresultStatus(kept) : PGRES_FATAL_ERROR;
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT)
            break;
    }
    if (error == STORE_OK && kept == NULL)
        error = store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
    if (error != STORE_OK || out == NULL)
        PQclear(kept);
    if (out != NULL)
        *out = error == STORE_OK ? kept : NULL;
    return error;
}

enum store_error store_finish(struct store *store)
{
    enum store_error error = STORE_OK;
    for (;;) {
        PGresult *result;
        enum store_error waited = store_next(store, &result);
        if (waited != STORE_OK)
            return waited;
        if (result == NULL)
            return error;
        if (error == STORE_OK)
            error = store_judge(store, result);
        PQclear(result);
    }
}

static enum store_error refuse_dead(struct store *store)
{
    if (!store->dead)
        return STORE_OK;
    return STORE_ERROR_CONNECTION;
}

enum store_error store_exec(struct store *store, const char *sql, PGresult **out)
{
    if (out != NULL)
        *out = NULL;
    if (refuse_dead(store) != STORE_OK)
        return STORE_ERROR_CONNECTION;
    if (PQsendQuery(store->connection, sql) == 0)
        return store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
    return collect(store, out);
}

enum store_error store_send(struct store *store, const char *sql, const struct store_parameters *parameters,
                            bool binary)
{
    static const struct store_parameters none;
    if (parameters == NULL)
        parameters = &none;
    if (refuse_dead(store) != STORE_OK)
        return STORE_ERROR_CONNECTION;
    if (PQsendQueryParams(store->connection, sql, parameters->count, NULL, parameters->values,
                          parameters->lengths, parameters->formats, binary ? 1 : 0) == 0)
        return store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
    return STORE_OK;
}

enum store_error store_run(struct store *store, const char *sql, const struct store_parameters *parameters,
                           bool binary, PGresult **out)
{
    if (out != NULL)
        *out = NULL;
    enum store_error error = store_send(store, sql, parameters, binary);
    return error == STORE_OK ? collect(store, out) : error;
}

/* --- opening and closing --- */

/* Of several hosts, writers want the one that takes writes. */
static PGconn *connect_to(const char *conninfo, const char *role, const char *application)
{
    bool reader = role != NULL && strcmp(role, "kroo_reader") == 0;
    /* These come first: what stands in conninfo overrides them. */
    const char *const keywords[] = {"connect_timeout",
                                    "keepalives",
                                    "keepalives_idle",
                                    "keepalives_interval",
                                    "keepalives_count",
                                    "tcp_user_timeout",
                                    "target_session_attrs",
                                    "dbname",
                                    "application_name",
                                    "client_encoding",
                                    NULL};
    char connect_s[16];
    snprintf(connect_s, sizeof connect_s, "%d", STORE_CONNECT_S);
    const char *const values[] = {
        connect_s, "1",         "20",   "5", "4", "40000", reader ? "any" : "read-write",
        conninfo,  application, "UTF8", NULL};
    return PQconnectdbParams(keywords, values, 1);
}

static void drop_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result; /* a library does not write to the terminal */
}

static enum store_error set_session(struct store *store, const char *role)
{
    char sql[512];
    char *quoted = NULL;
    if (role != NULL && (quoted = PQescapeIdentifier(store->connection, role, strlen(role))) == NULL)
        return store_fail(store, STORE_ERROR_REFUSED, "%s", PQerrorMessage(store->connection));
    snprintf(sql, sizeof sql,
             "set statement_timeout = %d; set lock_timeout = %d; "
             "set idle_in_transaction_session_timeout = %d; set search_path = kroo, pg_temp; "
             "set client_min_messages = warning; set bytea_output = hex; set intervalstyle = postgres; set "
             "jit = off;",
             STORE_STATEMENT_MS, STORE_LOCK_MS, STORE_IDLE_MS);
    enum store_error error = store_exec(store, sql, NULL);
    if (error == STORE_OK && quoted != NULL) {
        snprintf(sql, sizeof sql, "set role %s", quoted);
        error = store_exec(store, sql, NULL);
    }
    PQfreemem(quoted);
    return error;
}

struct store *store_open(const char *conninfo, const char *role, const char *application, char *reason,
                         size_t reason_size)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        snprintf(reason, reason_size, "out of memory");
        return NULL;
    }
    store->patience_ms = STORE_STATEMENT_MS + STORE_SLACK_MS;
    store->connection = connect_to(conninfo, role, application);
    enum store_error error = STORE_OK;
    if (PQstatus(store->connection) != CONNECTION_OK)
        error = store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
    else if (PQserverVersion(store->connection) < SERVER_VERSION_MIN)
        error = store_fail(store, STORE_ERROR_VERSION, "PostgreSQL 15 or newer is needed, this server is %d",
                           PQserverVersion(store->connection) / 10000);
    if (error == STORE_OK) {
        PQsetNoticeReceiver(store->connection, drop_notice, NULL);
        if (PQsetnonblocking(store->connection, 1) != 0)
            error = store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
        else
            error = set_session(store, role);
    }
    if (error == STORE_OK)
        return store;
    snprintf(reason, reason_size, "%s", store->reason);
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    PQfinish(store->connection);
    free(store);
}

enum store_error store_set_limit(struct store *store, int statement_ms)
{
    char sql[64];
    snprintf(sql, sizeof sql, "set statement_timeout = %d", statement_ms);
    enum store_error error = store_exec(store, sql, NULL);
    if (error == STORE_OK)
        store->patience_ms = statement_ms + STORE_SLACK_MS;
    return error;
}

/* --- transactions, schema, leader --- */

enum store_error store_begin(struct store *store)
{
    if (refuse_dead(store) != STORE_OK)
        return STORE_ERROR_CONNECTION;
    PGTransactionStatusType status = PQtransactionStatus(store->connection);
    if (status == PQTRANS_INTRANS || status == PQTRANS_INERROR)
        return store_fail(store, STORE_ERROR_REFUSED, "a transaction is open already");
    return store_exec(store, "begin", NULL);
}

enum store_error store_commit(struct store *store)
{
    PGresult *result;
    enum store_error error = store_exec(store, "commit", &result);
    if (error != STORE_OK)
        return error;
    /* COMMIT of a failed transaction is answered with success and the word ROLLBACK. */
    if (strcmp(PQcmdStatus(result), "COMMIT") != 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "the transaction had failed and was rolled back");
    PQclear(result);
    return error;
}

enum store_error store_rollback(struct store *store)
{
    return store_exec(store, "rollback", NULL);
}

static enum store_error compare_migrations(struct store *store, const PGresult *result)
{
    bool bad = false;
    int rows = PQntuples(result), row = 0;
    for (; row < rows && migrations[row].number != 0; row++) {
        if (store_cell_i64(result, row, 0, &bad) != migrations[row].number ||
            strcmp(PQgetvalue(result, row, 1), migrations[row].sha256) != 0)
            return store_fail(store, STORE_ERROR_VERSION,
                              "migration %s of this database is not the one of this program",
                              PQgetvalue(result, row, 0));
    }
    if (row < rows)
        return store_fail(store, STORE_ERROR_VERSION,
                          "the schema is newer than this program: it has migration %s; update the program",
                          PQgetvalue(result, rows - 1, 0));
    if (migrations[row].number != 0)
        return store_fail(store, STORE_ERROR_VERSION, "the schema lacks migration %s: migrate it first",
                          migrations[row].name);
    return bad ? store_fail(store, STORE_ERROR_DATA, "table migration is damaged") : STORE_OK;
}

enum store_error store_check_schema(struct store *store)
{
    PGresult *result;
    enum store_error error = store_run(store,
                                       "select from pg_class c join pg_namespace n on n.oid = c.relnamespace "
                                       "where nspname = 'kroo' and relname = 'migration'",
                                       NULL, false, &result);
    if (error != STORE_OK)
        return error;
    int found = PQntuples(result);
    PQclear(result);
    if (found == 0)
        return store_fail(store, STORE_ERROR_VERSION, "this database has no schema kroo: migrate it first");
    error =
        store_run(store, "select number, sha256 from kroo.migration order by number", NULL, false, &result);
    if (error != STORE_OK)
        return error;
    error = compare_migrations(store, result);
    PQclear(result);
    return error;
}
