/* Inside of sql/: one connection, statements with parameters, results and their errors. Every wait on the
 * server is bounded by the store's patience. Same thread as the store. */
#ifndef KROO_SQL_STORE_CONNECTION_H
#define KROO_SQL_STORE_CONNECTION_H

#include <libpq-fe.h>

#include "sql/store.h"

struct store {
    PGconn *connection;
    int patience_ms; /* longest silence of the server that is waited for */
    bool dead;       /* a CONNECTION error was reported: nothing works any more */
    char reason[STORE_TEXT];
};

enum {
    STORE_CONNECT_S = 10,
    STORE_STATEMENT_MS = 30000,
    STORE_LOCK_MS = 10000,
    STORE_IDLE_MS = 120000,
    STORE_STREAM_MS = 3600000, /* statements that stream a whole experiment, and migrations */
    STORE_SLACK_MS = 15000,    /* patience beyond the server's own time-outs */
    STORE_PARAMETERS = 48,
    STORE_ADVISORY = 0x6b726f6f, /* first key of the advisory locks */
    STORE_ADVISORY_LEADER = 1,
    STORE_ADVISORY_MIGRATE = 2,
};

/* Statement parameters; the numbers are kept here, texts and bytes must outlive the call. */
struct store_parameters {
    int count;
    const char *values[STORE_PARAMETERS];
    int lengths[STORE_PARAMETERS];
    int formats[STORE_PARAMETERS];
    char numbers[STORE_PARAMETERS][32];
};
void store_add_text(struct store_parameters *parameters, const char *text); /* NULL: SQL null */
/* NULL when empty. */
void store_add_name(struct store_parameters *parameters, const char *text);
void store_add_bytes(struct store_parameters *parameters, const void *bytes,
                     size_t size); /* NULL: SQL null */
void store_add_u64(struct store_parameters *parameters, uint64_t number);
/* SQL null when 0. */
void store_add_id(struct store_parameters *parameters, uint64_t number);
void store_add_i64(struct store_parameters *parameters, int64_t number);
/* SQL null when not finite. */
void store_add_double(struct store_parameters *parameters, double number);
void store_add_bool(struct store_parameters *parameters, bool value);

/* Runs statements without parameters; the last result may be wanted. */
enum store_error store_exec(struct store *store, const char *sql, PGresult **out);
/* Runs one statement. `parameters` may be NULL. On STORE_OK `*out` (when out is not NULL) is the caller's to
 * clear. */
enum store_error store_run(struct store *store, const char *sql, const struct store_parameters *parameters,
                           bool binary, PGresult **out);
/* Sends one statement and returns; results are then read by store_next. */
enum store_error store_send(struct store *store, const char *sql, const struct store_parameters *parameters,
                            bool binary);
/* Waits for the next result; `*out` is NULL after the last. The result's own error is judged by the caller.
 */
enum store_error store_next(struct store *store, PGresult **out);
/* Waits until the socket can be read (or, with `writing`, written too). */
enum store_error store_wait(struct store *store, bool writing);
/* Reads results to the end and keeps the first error. */
enum store_error store_finish(struct store *store);

/* STORE_OK, or what a failed result means; keeps the reason. Does not clear the result. */
enum store_error store_judge(struct store *store, const PGresult *result);
enum store_error store_fail(struct store *store, enum store_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Rows a command touched. */
uint64_t store_affected(const PGresult *result);
/* Sets the server's time limit of statements, and the patience with it. */
enum store_error store_set_limit(struct store *store, int statement_ms);

/* Cells of a text result. A cell that is not what it should be makes `*bad` true. */
uint64_t store_cell_u64(const PGresult *result, int row, int column, bool *bad);
int64_t store_cell_i64(const PGresult *result, int row, int column, bool *bad);
double store_cell_double(const PGresult *result, int row, int column, bool *bad);
bool store_cell_bool(const PGresult *result, int row, int column, bool *bad);
void store_cell_text(const PGresult *result, int row, int column, char *out, size_t size, bool *bad);
void store_cell_hash(const PGresult *result, int row, int column, uint8_t out[STORE_HASH], bool *bad);

/* Copies text for people: bytes that are not printable ASCII become '?', so that no stranger's name can make
 * a transaction fail. */
void store_clean_text(char *out, size_t size, const char *text);

/* The text of a bigint array of `count` numbers that lie `stride` bytes apart, the caller's to free. NULL
 * without memory. */
char *store_array_text(const uint64_t *first, size_t stride, size_t count);
/* The numbers in the first column of a result; *list is malloc'ed. */
enum store_error store_read_numbers(struct store *store, PGresult *result, uint64_t **list, size_t *count);

#endif
