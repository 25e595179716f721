#include "proto/message_take.h"

#include <math.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/text.h"

/* In front of every block that protobuf-c asks for. The size gives the budget back on free, and shows
 * strings that hold a NUL: protobuf-c asks for their length and one, however short they then read. */
struct block {
    alignas(max_align_t) size_t size;
};

static void *block_allocate(void *data, size_t size)
{
    struct take *take = data;
    if (size > take->left || sizeof(struct block) > take->left - size)
        return NULL;
    /* Zeroed, since 1.4.1 frees pointers that it never set (protobuf-c#690). */
    struct block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        return NULL;
    take->left -= sizeof *block + size;
    block->size = size;
    return block + 1;
}

static void block_free(void *data, void *pointer)
{
    struct take *take = data;
    if (pointer == NULL)
        return;
    struct block *block = (struct block *)pointer - 1;
    take->left += sizeof *block + block->size;
    free(block);
}

void take_init(struct take *take, size_t memory, char *reason, size_t reason_size)
{
    take->allocator =
        (ProtobufCAllocator){.alloc = block_allocate, .free = block_free, .allocator_data = take};
    take->left = memory;
    take->reason = reason;
    take->reason_size = reason_size;
}

bool take_refuse(struct take *take, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (take->reason_size > 0)
        (void)vsnprintf(take->reason, take->reason_size, format, arguments);
    va_end(arguments);
    return false;
}

void *take_memory(struct take *take, size_t count, size_t size)
{
    size_t bytes = 0;
    bool fits = !__builtin_mul_overflow(count, size, &bytes) && bytes < take->left;
    void *memory = fits ? calloc(1, bytes == 0 ? 1 : bytes) : NULL;
    if (memory == NULL) {
        take_refuse(take, "the message takes more memory than one message may");
        return NULL;
    }
    take->left -= bytes;
    return memory;
}

bool take_known(struct take *take, const char *what, const ProtobufCMessage *message)
{
    if (message->n_unknown_fields > TAKE_UNKNOWN_MAX)
        return take_refuse(take, "%s has %u unknown fields, at most %d are overlooked", what,
                           message->n_unknown_fields, TAKE_UNKNOWN_MAX);
    return true;
}

bool take_need(struct take *take, const char *what, int has, uint64_t value, uint64_t low, uint64_t high,
               uint64_t *out)
{
    if (!has)
        return take_refuse(take, "%s is missing", what);
    if (value < low || value > high)
        return take_refuse(take, "%s is %llu, not in %llu..%llu", what, (unsigned long long)value,
                           (unsigned long long)low, (unsigned long long)high);
    *out = value;
    return true;
}

bool take_need32(struct take *take, const char *what, int has, uint32_t value, uint32_t low, uint32_t high,
                 uint32_t *out)
{
    uint64_t wide = 0;
    if (!take_need(take, what, has, value, low, high, &wide))
        return false;
    *out = (uint32_t)wide;
    return true;
}

bool take_may(struct take *take, const char *what, int has, uint64_t value, uint64_t high, uint64_t *out)
{
    return take_need(take, what, 1, has ? value : 0, 0, high, out);
}

bool take_may32(struct take *take, const char *what, int has, uint32_t value, uint32_t high, uint32_t *out)
{
    return take_need32(take, what, 1, has ? value : 0, 0, high, out);
}

bool take_finite(struct take *take, const char *what, int has, double value, double low, double high,
                 double *out)
{
    if (!has)
        return take_refuse(take, "%s is missing", what);
    if (!isfinite(value) || value < low || value > high)
        return take_refuse(take, "%s is %g, not in %g..%g", what, value, low, high);
    *out = value;
    return true;
}

bool take_count(struct take *take, const char *what, size_t count, size_t low, size_t high)
{
    if (count < low || count > high)
        return take_refuse(take, "%zu %s, not %zu..%zu", count, what, low, high);
    return true;
}

bool take_enum(struct take *take, const char *what, int has, int value, int high)
{
    if (!has)
        return take_refuse(take, "%s is missing", what);
    if (value < 1 || value > high)
        return take_refuse(take, "%s is %d, not in 1..%d", what, value, high);
    return true;
}

/* The length of an unpacked string; false when a NUL lies inside it. */
static bool text_length(struct take *take, const char *what, const char *text, size_t *size)
{
    *size = text == NULL ? 0 : strlen(text);
    if (text == NULL)
        return true;
    const void *start = text;
    if (((const struct block *)start - 1)->size != *size + 1)
        return take_refuse(take, "%s has a NUL inside", what);
    return true;
}

bool take_name(struct take *take, const char *what, const char *text, char out[MESSAGE_NAME_MAX])
{
    size_t size = 0;
    if (!text_length(take, what, text, &size))
        return false;
    if (text == NULL || !text_is_name(text))
        return take_refuse(take, "%s is not 1 to %d of the letters A-Z a-z 0-9 . _ -", what, TEXT_NAME_MAX);
    memcpy(out, text, size + 1);
    return true;
}

bool take_ascii(struct take *take, const char *what, const char *text, size_t low, char *out, size_t out_size)
{
    size_t size = 0;
    if (!text_length(take, what, text, &size))
        return false;
    if (size < low || size >= out_size)
        return take_refuse(take, "%s has %zu bytes, not %zu..%zu", what, size, low, out_size - 1);
    if (!text_is_printable(text, size))
        return take_refuse(take, "%s is not printable ASCII", what);
    memcpy(out, text == NULL ? "" : text, size + 1);
    return true;
}

bool take_utf8(struct take *take, const char *what, const char *text, char *out, size_t out_size)
{
    size_t size = 0;
    if (!text_length(take, what, text, &size))
        return false;
    if (size >= out_size)
        return take_refuse(take, "%s has %zu bytes, at most %zu", what, size, out_size - 1);
    if (!text_is_utf8(text, size, false))
        return take_refuse(take, "%s is not UTF-8 text of one line", what);
    memcpy(out, text == NULL ? "" : text, size + 1);
    return true;
}

bool take_document(struct take *take, const char *what, const char *text, char **out)
{
    size_t size = 0;
    if (!text_length(take, what, text, &size))
        return false;
    if (text == NULL)
        return take_refuse(take, "%s is missing", what);
    if (!text_is_utf8(text, size, true))
        return take_refuse(take, "%s is not UTF-8 text", what);
    *out = take_memory(take, size + 1, 1);
    if (*out == NULL)
        return false;
    memcpy(*out, text, size + 1);
    return true;
}

bool take_hash(struct take *take, const char *what, int has, ProtobufCBinaryData data,
               uint8_t out[MESSAGE_HASH])
{
    if (!has)
        return take_refuse(take, "%s is missing", what);
    if (data.len != MESSAGE_HASH)
        return take_refuse(take, "%s has %zu bytes, not %d", what, data.len, MESSAGE_HASH);
    memcpy(out, data.data, MESSAGE_HASH);
    return true;
}

bool take_bytes(struct take *take, ProtobufCBinaryData data, uint8_t **out, size_t *size)
{
    *out = take_memory(take, data.len + 1, 1);
    if (*out == NULL)
        return false;
    if (data.len > 0)
        memcpy(*out, data.data, data.len);
    *size = data.len;
    return true;
}

bool take_list(struct take *take, const char *what, const uint64_t *values, size_t count, size_t high,
               uint64_t **out, size_t *out_count)
{
    if (!take_count(take, what, count, 0, high))
        return false;
    for (size_t i = 0; i < count; i++)
        if (values[i] < 1 || values[i] > INT64_MAX)
            return take_refuse(take, "a number among %s is out of range", what);
    if (count == 0)
        return true;
    *out = take_memory(take, count, sizeof **out);
    if (*out == NULL)
        return false;
    memcpy(*out, values, count * sizeof **out);
    *out_count = count;
    return true;
}
