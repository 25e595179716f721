/* COPY in binary form: whatever is put into a row comes out of it again, and no bytes that a server might
 * send are read beyond their end. */
#include "tests/fuzz/fuzz.h"

#include "sql/store_copy.c"

#include <stdlib.h>

enum { ROW_BYTES = 60000 }; /* below the buffer, which is never flushed here: there is no server */

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The fields of any bytes, if they are a row. */
static void take_apart(const char *bytes, size_t size, int fields)
{
    struct store_field row[STORE_COPY_FIELDS];
    char text[64];
    if (!parse_row(bytes, size, fields, row))
        return;
    for (int i = 0; i < fields; i++) {
        bool bad = false;
        must(row[i].size <= 0 || row[i].bytes + row[i].size <= bytes + size);
        (void)store_field_integer(&row[i], &bad);
        store_field_text(&row[i], text, sizeof text, &bad);
    }
}

/* A field of its kind, from the input. */
static void put_field(struct store_copy *copy, uint8_t kind, const uint8_t *bytes, size_t size)
{
    int64_t number = 0;
    memcpy(&number, bytes, size < sizeof number ? size : sizeof number);
    if (kind == 0)
        store_copy_i16(copy, (int16_t)number);
    else if (kind == 1)
        store_copy_i32(copy, (int32_t)number);
    else if (kind == 2)
        store_copy_i64(copy, number);
    else if (kind == 3)
        store_copy_bool(copy, number & 1);
    else
        store_copy_bytes(copy, kind == 4 ? NULL : bytes, size);
}

static void check_field(const struct store_field *field, uint8_t kind, const uint8_t *bytes, size_t size)
{
    int64_t number = 0;
    bool bad = false;
    memcpy(&number, bytes, size < sizeof number ? size : sizeof number);
    if (kind < 3) {
        must(store_field_integer(field, &bad) == (kind == 0   ? (int16_t)number
                                                  : kind == 1 ? (int32_t)number
                                                              : number));
        must(!bad);
    } else if (kind == 3) {
        must(field->size == 1 && field->bytes[0] == (number & 1));
    } else {
        must(field->size == (kind == 4 ? -1 : (int32_t)size));
        must(kind == 4 || memcmp(field->bytes, bytes, size) == 0);
    }
}

/* Input: the number of fields, then of each its kind, its length, its bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct store_copy copy;
    struct {
        uint8_t kind;
        const uint8_t *bytes;
        size_t size;
    } put_in[STORE_COPY_FIELDS];
    struct store_field row[STORE_COPY_FIELDS];
    if (size < 1 || size > ROW_BYTES / 2)
        return 0;
    int fields = data[0] % STORE_COPY_FIELDS + 1;
    take_apart((const char *)data + 1, size - 1, fields);
    size_t at = 1;
    copy = (struct store_copy){.error = STORE_OK};
    store_copy_row(&copy, fields);
    for (int i = 0; i < fields; i++) {
        uint8_t kind = at < size ? data[at++] % 6 : 4;
        size_t length = at < size ? data[at++] : 0;
        length = length < size - at ? length : size - at;
        put_in[i].kind = kind, put_in[i].bytes = data + at, put_in[i].size = length;
        put_field(&copy, kind, data + at, length);
        at += length;
    }
    must(parse_row(copy.buffer, copy.used, fields, row));
    for (int i = 0; i < fields; i++)
        check_field(&row[i], put_in[i].kind, put_in[i].bytes, put_in[i].size);
    must(!parse_row(copy.buffer, copy.used - 1, fields, row));
    return 0;
}
