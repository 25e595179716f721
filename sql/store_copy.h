/* Inside of sql/: COPY in binary form, both ways. Memory is one buffer in, one row out. */
#ifndef KROO_SQL_STORE_COPY_H
#define KROO_SQL_STORE_COPY_H

#include "sql/store_connection.h"

enum { STORE_COPY_BUFFER = 1 << 16 };

/* Rows to the server. After the first failure the rest is dropped; store_copy_end tells. */
struct store_copy {
    struct store *store;
    enum store_error error;
    size_t used;
    char buffer[STORE_COPY_BUFFER];
};
/* `sql` is COPY ... FROM STDIN (FORMAT binary). Always followed by store_copy_end. */
void store_copy_begin(struct store_copy *copy, struct store *store, const char *sql);
void store_copy_row(struct store_copy *copy, int fields);
void store_copy_i16(struct store_copy *copy, int16_t value);
void store_copy_i32(struct store_copy *copy, int32_t value);
void store_copy_i64(struct store_copy *copy, int64_t value);
void store_copy_bool(struct store_copy *copy, bool value);
void store_copy_bytes(struct store_copy *copy, const void *bytes, size_t size); /* NULL: SQL null */
enum store_error store_copy_end(struct store_copy *copy);
/* Its first half, after which the server works: store_finish is the other where copy->error is STORE_OK. */
void store_copy_send(struct store_copy *copy);

/* One field of a row from the server: size -1 is SQL null. The last field of a row is followed by a NUL. */
struct store_field {
    const char *bytes;
    int32_t size;
};
int64_t store_field_integer(const struct store_field *field, bool *bad); /* 2, 4 or 8 bytes */
/* Copies into a NUL-terminated text. */
void store_field_text(const struct store_field *field, char *out, size_t size, bool *bad);

enum { STORE_COPY_FIELDS = 16 };
typedef int store_copy_receive(void *context, const struct store_field *fields);
/* Runs COPY ... TO STDOUT (FORMAT binary) whose rows have `fields` fields, and hands over each row. A
 * callback's non-zero return stops the server and is returned through *stopped. */
enum store_error store_copy_out(struct store *store, const char *sql, int fields, store_copy_receive *receive,
                                void *context, int *stopped);
/* Stops the statement that runs and reads what is still on its way. */
enum store_error store_cancel(struct store *store);

#endif
