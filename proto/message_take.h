/* Inside message decoding: the memory one decode may use, and one checked step from a protobuf field to a
 * plain one. Each step returns false after writing why it refuses. Not for use outside proto/. */
#ifndef KROO_PROTO_MESSAGE_TAKE_H
#define KROO_PROTO_MESSAGE_TAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <protobuf-c/protobuf-c.h>

#include "proto/message.h"

enum {
    TAKE_UNKNOWN_MAX = 8, /* fields of a later version that a message may carry */
    TAKE_MILLISECONDS_MAX = 24 * 3600 * 1000,
};

/* One decode. Both the unpacked protobuf tree and the plain copy count against `left`. */
struct take {
    ProtobufCAllocator allocator;
    size_t left;
    char *reason;
    size_t reason_size;
};

void take_init(struct take *take, size_t memory, char *reason, size_t reason_size);
/* Writes the reason; always false. */
bool take_refuse(struct take *take, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Zeroed memory that ends with free(); NULL (and the reason) beyond the budget. At least one byte. */
void *take_memory(struct take *take, size_t count, size_t size);

/* Refuses a message with more than TAKE_UNKNOWN_MAX fields that we do not know. */
bool take_known(struct take *take, const char *what, const ProtobufCMessage *message);
/* A number that must be there, and one that is 0 when absent; both within [low, high]. */
bool take_need(struct take *take, const char *what, int has, uint64_t value, uint64_t low, uint64_t high,
               uint64_t *out);
bool take_need32(struct take *take, const char *what, int has, uint32_t value, uint32_t low, uint32_t high,
                 uint32_t *out);
bool take_may(struct take *take, const char *what, int has, uint64_t value, uint64_t high, uint64_t *out);
bool take_may32(struct take *take, const char *what, int has, uint32_t value, uint32_t high, uint32_t *out);
bool take_finite(struct take *take, const char *what, int has, double value, double low, double high,
                 double *out);
bool take_count(struct take *take, const char *what, size_t count, size_t low, size_t high);
/* An enum whose values run from 1 to `high`. */
bool take_enum(struct take *take, const char *what, int has, int value, int high);

/* Text of unpacked strings. An absent one is refused when `low` > 0, else it is empty. */
bool take_name(struct take *take, const char *what, const char *text, char out[MESSAGE_NAME_MAX]);
bool take_ascii(struct take *take, const char *what, const char *text, size_t low, char *out,
                size_t out_size);
bool take_utf8(struct take *take, const char *what, const char *text, char *out, size_t out_size);
/* A long text into memory of its own; lines allowed. */
bool take_document(struct take *take, const char *what, const char *text, char **out);
bool take_hash(struct take *take, const char *what, int has, ProtobufCBinaryData data,
               uint8_t out[MESSAGE_HASH]);
/* Bytes into memory of their own, with a NUL behind them. */
bool take_bytes(struct take *take, ProtobufCBinaryData data, uint8_t **out, size_t *size);
/* A list of numbers >= 1, at most `high` of them. */
bool take_list(struct take *take, const char *what, const uint64_t *values, size_t count, size_t high,
               uint64_t **out, size_t *out_count);

#endif
