#include "sql/store_copy.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

/* Signature, flags, length of the header extension. */
static const char header[19] = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', '\377', '\r', '\n', '\0'};

/* --- to the server --- */

static void flush(struct store_copy *copy)
{
    while (copy->error == STORE_OK && copy->used > 0) {
        int put = PQputCopyData(copy->store->connection, copy->buffer, (int)copy->used);
        if (put == 1) {
            copy->used = 0;
            return;
        }
        if (put < 0)
            copy->error = store_fail(copy->store, STORE_ERROR_CONNECTION, "%s",
                                     PQerrorMessage(copy->store->connection));
        else
            copy->error = store_wait(copy->store, true);
    }
    copy->used = 0;
}

static void put(struct store_copy *copy, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0 && copy->error == STORE_OK) {
        size_t room = sizeof copy->buffer - copy->used;
        size_t part = size < room ? size : room;
        memcpy(copy->buffer + copy->used, from, part);
        copy->used += part;
        from += part;
        size -= part;
        if (copy->used == sizeof copy->buffer)
            flush(copy);
    }
}

static void put_i16(struct store_copy *copy, int16_t value)
{
    uint16_t big = htons((uint16_t)value);
    put(copy, &big, sizeof big);
}

static void put_i32(struct store_copy *copy, int32_t value)
{
    uint32_t big = htonl((uint32_t)value);
    put(copy, &big, sizeof big);
}

void store_copy_begin(struct store_copy *copy, struct store *store, const char *sql)
{
    copy->store = store;
    copy->used = 0;
    PGresult *result;
    copy->error = store_exec(store, sql, &result);
    if (copy->error != STORE_OK)
        return;
    assert(PQresultStatus(result) == PGRES_COPY_IN);
    PQclear(result);
    put(copy, header, sizeof header);
}

void store_copy_row(struct store_copy *copy, int fields)
{
    put_i16(copy, (int16_t)fields);
}

void store_copy_i16(struct store_copy *copy, int16_t value)
{
    put_i32(copy, 2);
    put_i16(copy, value);
}

void store_copy_i32(struct store_copy *copy, int32_t value)
{
    put_i32(copy, 4);
    put_i32(copy, value);
}

void store_copy_i64(struct store_copy *copy, int64_t value)
{
    put_i32(copy, 8);
    put_i32(copy, (int32_t)((uint64_t)value >> 32));
    put_i32(copy, (int32_t)((uint64_t)value & UINT32_MAX));
}

void store_copy_bool(struct store_copy *copy, bool value)
{
    char byte = value ? 1 : 0;
    put_i32(copy, 1);
    put(copy, &byte, 1);
}

void store_copy_bytes(struct store_copy *copy, const void *bytes, size_t size)
{
    if (bytes == NULL) {
        put_i32(copy, -1);
        return;
    }
    assert(size <= INT32_MAX);
    put_i32(copy, (int32_t)size);
    put(copy, bytes, size);
}

void store_copy_send(struct store_copy *copy)
{
    struct store *store = copy->store;
    if (copy->error == STORE_OK) {
        put_i16(copy, -1);
        flush(copy);
    }
    while (copy->error == STORE_OK) {
        int ended = PQputCopyEnd(store->connection, NULL);
        if (ended == 1)
            break;
        copy->error = ended < 0
                          ? store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection))
                          : store_wait(store, true);
    }
}

enum store_error store_copy_end(struct store_copy *copy)
{
    store_copy_send(copy);
    return copy->error == STORE_OK ? store_finish(copy->store) : copy->error;
}

/* --- from the server --- */

static uint32_t read_u32(const char *bytes)
{
    uint32_t big;
    memcpy(&big, bytes, sizeof big);
    return ntohl(big);
}

static int16_t read_i16(const char *bytes)
{
    uint16_t big;
    memcpy(&big, bytes, sizeof big);
    return (int16_t)ntohs(big);
}

int64_t store_field_integer(const struct store_field *field, bool *bad)
{
    switch (field->size) {
    case 2:
        return read_i16(field->bytes);
    case 4:
        return (int32_t)read_u32(field->bytes);
    case 8:
        return (int64_t)((uint64_t)read_u32(field->bytes) << 32 | read_u32(field->bytes + 4));
    default:
        *bad = true;
        return 0;
    }
}

void store_field_text(const struct store_field *field, char *out, size_t size, bool *bad)
{
    out[0] = '\0';
    if (field->size < 0 || (size_t)field->size >= size) {
        *bad = true;
        return;
    }
    memcpy(out, field->bytes, (size_t)field->size);
    out[field->size] = '\0';
}

/* Takes one tuple apart; false when it is not what it should be. */
static bool parse_row(const char *bytes, size_t size, int fields, struct store_field *out)
{
    if (size < 2 || read_i16(bytes) != fields)
        return false;
    size_t at = 2;
    for (int i = 0; i < fields; i++) {
        if (size - at < 4)
            return false;
        out[i].size = (int32_t)read_u32(bytes + at);
        at += 4;
        out[i].bytes = bytes + at;
        if (out[i].size > 0) {
            if ((size_t)out[i].size > size - at)
                return false;
            at += (size_t)out[i].size;
        }
    }
    return at == size;
}

/* Length of the next message, 0 at the end, -1 with *error set. */
static int next_message(struct store *store, char **message, enum store_error *error)
{
    for (;;) {
        int size = PQgetCopyData(store->connection, message, 1);
        if (size > 0)
            return size;
        if (size == -1)
            return 0;
        if (size == -2) {
            *error = store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
            return -1;
        }
        *error = store_wait(store, false);
        if (*error == STORE_OK && PQconsumeInput(store->connection) == 0)
            *error = store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
        if (*error != STORE_OK)
            return -1;
    }
}

enum store_error store_cancel(struct store *store)
{
    char reason[256];
    PGcancel *cancel = PQgetCancel(store->connection);
    if (cancel != NULL)
        (void)PQcancel(cancel, reason, sizeof reason); /* too late is fine: everything is read anyway */
    PQfreeCancel(cancel);
    for (;;) {
        PGresult *result;
        enum store_error error = store_next(store, &result);
        if (error != STORE_OK || result == NULL)
            return error;
        bool copying = PQresultStatus(result) == PGRES_COPY_OUT;
        PQclear(result);
        while (copying) {
            char *message;
            int size = next_message(store, &message, &error);
            if (size < 0)
                return error;
            if (size > 0)
                PQfreemem(message);
            copying = size > 0;
        }
    }
}

enum store_error store_copy_out(struct store *store, const char *sql, int fields, store_copy_receive *receive,
                                void *context, int *stopped)
{
    struct store_field row[STORE_COPY_FIELDS];
    assert(fields <= STORE_COPY_FIELDS);
    *stopped = 0;
    PGresult *begun;
    enum store_error error = store_exec(store, sql, &begun);
    if (error != STORE_OK)
        return error;
    assert(PQresultStatus(begun) == PGRES_COPY_OUT);
    PQclear(begun);
    /* The server sends a row a message; the header stands before the first row, and the trailer is -1 fields.
     */
    size_t skip = sizeof header;
    bool ended = false;
    for (;;) {
        char *message;
        int size = next_message(store, &message, &error);
        if (size < 0)
            return error;
        if (size == 0)
            break;
        bool good = !ended && (size_t)size >= skip && (skip == 0 || memcmp(message, header, skip) == 0);
        size_t at = skip, length = (size_t)size - (good ? skip : 0);
        skip = 0;
        if (good && length == 2 && read_i16(message + at) == -1)
            ended = true;
        else if (good && length > 0) {
            good = parse_row(message + at, length, fields, row);
            *stopped = good ? receive(context, row) : 0;
        }
        PQfreemem(message);
        if (!good) {
            enum store_error cancelled = store_cancel(store);
            return cancelled == STORE_OK
                       ? store_fail(store, STORE_ERROR_DATA, "COPY sent what is no row of %d fields", fields)
                       : cancelled;
        }
        if (*stopped != 0)
            return store_cancel(store);
    }
    return store_finish(store);
}
