/* The weights file: engine/README.md lists the fields. */
#include "engine/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bytes.h"
#include "engine/crc32c.h"
#include "engine/weights_parts.h"

enum {
    FIELD_MAGIC = 0,
    FIELD_VERSION = 8,
    FIELD_KIND = 10,
    FIELD_SIZE = 12,
    FIELD_DIMENSIONS = 16, /* three */
    FIELD_SHIFT = 22,
    FIELD_HIDDEN_SHIFT = 23,
    FIELD_PER_LOGIT = 24,
    FIELD_RULES_LENGTH = 28,
    FIELD_VECTORS = 30,
    FIELD_PAYLOAD_LENGTH = 32,
    FIELD_PROVENANCE_LENGTH = 36,
    HEADER_SIZE = 40,
    PAYLOAD_TABLE = 2 * WEIGHTS_TABLE_PARAMETERS,
    PAYLOAD_NET = 2 * (WEIGHTS_NET_PARAMETERS - 1) + 4, /* the output's bias is an int32 */
    PAYLOAD_FEATURES = 2 * WEIGHTS_PHASES * TRAITS,
    VECTOR_SIZE = 19,
    CHECKSUM_SIZE = 4,
};

/* The line end and the byte above 127 show a file that was sent as text. */
static const uint8_t magic[8] = {'K', 'R', 'O', 'O', 'W', 0xe2, '\r', '\n'};

/* What the header says of each kind. */
struct shape {
    uint16_t dimensions[3];
    uint32_t payload; /* bytes */
};

static const struct shape shapes[] = {
    [WEIGHTS_TABLE] = {{WEIGHTS_PHASES, WEIGHTS_HOUSES, WEIGHTS_COUNTS}, PAYLOAD_TABLE},
    [WEIGHTS_NET] = {{WEIGHTS_NET_INPUTS, WEIGHTS_NET_HIDDEN, 1}, PAYLOAD_NET},
    [WEIGHTS_FEATURES] = {{WEIGHTS_PHASES, TRAITS, 1}, PAYLOAD_FEATURES},
};

/* --- payloads --- */

static uint8_t *put_integers(uint8_t *at, const int16_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++, at += 2)
        bytes_put_u16(at, (uint16_t)values[i]);
    return at;
}

static const uint8_t *get_integers(const uint8_t *at, int16_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++, at += 2)
        values[i] = bytes_get_i16(at);
    return at;
}

static uint8_t *put_phase(uint8_t *at, const struct weights_phase *phase)
{
    at = put_integers(at, &phase->bias, 1);
    at = put_integers(at, &phase->store, 1);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        at = put_integers(at, phase->house[house], WEIGHTS_COUNTS);
    return at;
}

static const uint8_t *get_phase(const uint8_t *at, struct weights_phase *phase)
{
    at = get_integers(at, &phase->bias, 1);
    at = get_integers(at, &phase->store, 1);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        at = get_integers(at, phase->house[house], WEIGHTS_COUNTS);
    return at;
}

static uint8_t *put_net(uint8_t *at, const struct weights_net *net)
{
    at = put_integers(at, net->bias, WEIGHTS_NET_HIDDEN);
    for (int input = 0; input < WEIGHTS_NET_INPUTS; input++)
        at = put_integers(at, net->input[input], WEIGHTS_NET_HIDDEN);
    at = put_integers(at, net->output, WEIGHTS_NET_HIDDEN);
    bytes_put_u32(at, (uint32_t)net->output_bias);
    return at + 4;
}

static void get_net(const uint8_t *at, struct weights_net *net)
{
    at = get_integers(at, net->bias, WEIGHTS_NET_HIDDEN);
    for (int input = 0; input < WEIGHTS_NET_INPUTS; input++)
        at = get_integers(at, net->input[input], WEIGHTS_NET_HIDDEN);
    at = get_integers(at, net->output, WEIGHTS_NET_HIDDEN);
    net->output_bias = bytes_get_i32(at);
}

static uint8_t *put_payload(uint8_t *at, const struct weights *weights)
{
    if (weights->kind == WEIGHTS_NET)
        return put_net(at, &weights->net);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        at = weights->kind == WEIGHTS_TABLE ? put_phase(at, &weights->phases[phase])
                                            : put_integers(at, weights->features.phases[phase], TRAITS);
    return at;
}

static enum weights_error read_table(const uint8_t *at, const struct weights_frame *frame,
                                     struct weights **out)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        at = get_phase(at, &phases[phase]);
    return weights_make_table(frame, phases, out);
}

static enum weights_error read_net(const uint8_t *at, uint8_t hidden_shift, const struct weights_frame *frame,
                                   struct weights **out)
{
    struct weights_net net = {.hidden_shift = hidden_shift};
    get_net(at, &net);
    return weights_make_net(frame, &net, out);
}

static enum weights_error read_features(const uint8_t *at, const struct weights_frame *frame,
                                        struct weights **out)
{
    struct weights_features features;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        at = get_integers(at, features.phases[phase], TRAITS);
    return weights_make_features(frame, &features, out);
}

/* --- test vectors --- */

static uint8_t *put_vector(uint8_t *at, const struct weights_vector *vector)
{
    memcpy(at, vector->position.houses, 12);
    memcpy(at + 12, vector->position.stores, 2);
    at[14] = vector->position.side;
    bytes_put_u32(at + 15, (uint32_t)vector->score);
    return at + VECTOR_SIZE;
}

/* False when the bytes are no position. */
static bool get_vector(const uint8_t *at, struct weights_vector *vector)
{
    int seeds = 0;
    for (int i = 0; i < 14; i++)
        seeds += at[i];
    if (seeds != POSITION_SEEDS || at[14] > SIDE_NORTH)
        return false;
    memcpy(vector->position.houses, at, 12);
    memcpy(vector->position.stores, at + 12, 2);
    vector->position.side = at[14];
    vector->score = bytes_get_i32(at + 15);
    return true;
}

/* --- the whole --- */

static void put_header(uint8_t *at, const struct weights *weights, size_t size)
{
    memcpy(at + FIELD_MAGIC, magic, sizeof magic);
    bytes_put_u16(at + FIELD_VERSION, WEIGHTS_VERSION);
    bytes_put_u16(at + FIELD_KIND, (uint16_t)weights->kind);
    bytes_put_u32(at + FIELD_SIZE, (uint32_t)size);
    for (int i = 0; i < 3; i++)
        bytes_put_u16(at + FIELD_DIMENSIONS + 2 * i, shapes[weights->kind].dimensions[i]);
    at[FIELD_SHIFT] = weights->shift;
    at[FIELD_HIDDEN_SHIFT] = weights->kind == WEIGHTS_NET ? weights->net.hidden_shift : 0;
    bytes_put_u32(at + FIELD_PER_LOGIT, (uint32_t)weights->per_logit);
    bytes_put_u16(at + FIELD_RULES_LENGTH, (uint16_t)strlen(weights->rules));
    bytes_put_u16(at + FIELD_VECTORS, WEIGHTS_VECTORS);
    bytes_put_u32(at + FIELD_PAYLOAD_LENGTH, shapes[weights->kind].payload);
    bytes_put_u32(at + FIELD_PROVENANCE_LENGTH, (uint32_t)strlen(weights->provenance));
}

enum weights_error weights_serialize(const struct weights *weights, void **bytes, size_t *size)
{
    struct weights_vector vectors[WEIGHTS_VECTORS];
    enum weights_error error = weights_vectors(weights, vectors);
    if (error != WEIGHTS_OK)
        return error;
    size_t rules_length = strlen(weights->rules), provenance_length = strlen(weights->provenance);
    size_t total = HEADER_SIZE + rules_length + shapes[weights->kind].payload +
                   WEIGHTS_VECTORS * VECTOR_SIZE + provenance_length + CHECKSUM_SIZE;
    uint8_t *file = malloc(total);
    if (!file)
        return WEIGHTS_ERROR_MEMORY;
    put_header(file, weights, total);
    uint8_t *at = file + HEADER_SIZE;
    memcpy(at, weights->rules, rules_length);
    at += rules_length;
    at = put_payload(at, weights);
    for (int i = 0; i < WEIGHTS_VECTORS; i++)
        at = put_vector(at, &vectors[i]);
    memcpy(at, weights->provenance, provenance_length);
    at += provenance_length;
    bytes_put_u32(at, crc32c(0, file, (size_t)(at - file)));
    *bytes = file;
    *size = total;
    return WEIGHTS_OK;
}

static enum weights_error check_shape(const uint8_t *file, size_t size, enum weights_kind kind)
{
    const struct shape *shape = &shapes[kind];
    uint32_t rules_length = bytes_get_u16(file + FIELD_RULES_LENGTH);
    uint32_t provenance_length = bytes_get_u32(file + FIELD_PROVENANCE_LENGTH);
    for (int i = 0; i < 3; i++)
        if (bytes_get_u16(file + FIELD_DIMENSIONS + 2 * i) != shape->dimensions[i])
            return WEIGHTS_ERROR_SIZE;
    if (bytes_get_u16(file + FIELD_VECTORS) != WEIGHTS_VECTORS ||
        (kind != WEIGHTS_NET && file[FIELD_HIDDEN_SHIFT] != 0) ||
        bytes_get_u32(file + FIELD_PAYLOAD_LENGTH) != shape->payload || rules_length >= RULES_NAME_MAX ||
        provenance_length > WEIGHTS_PROVENANCE_MAX ||
        size != HEADER_SIZE + rules_length + shape->payload + WEIGHTS_VECTORS * VECTOR_SIZE +
                    provenance_length + CHECKSUM_SIZE)
        return WEIGHTS_ERROR_SIZE;
    return WEIGHTS_OK;
}

/* What can be told from the header alone, in the order a person would want to hear it. */
static enum weights_error check_header(const uint8_t *file, size_t size)
{
    if (size < sizeof magic || memcmp(file, magic, sizeof magic) != 0)
        return WEIGHTS_ERROR_MAGIC;
    if (size < FIELD_KIND)
        return WEIGHTS_ERROR_SIZE;
    if (bytes_get_u16(file + FIELD_VERSION) != WEIGHTS_VERSION)
        return WEIGHTS_ERROR_VERSION;
    if (size < HEADER_SIZE + CHECKSUM_SIZE || size > WEIGHTS_FILE_MAX ||
        bytes_get_u32(file + FIELD_SIZE) != size)
        return WEIGHTS_ERROR_SIZE;
    if (crc32c(0, file, size - CHECKSUM_SIZE) != bytes_get_u32(file + size - CHECKSUM_SIZE))
        return WEIGHTS_ERROR_CHECKSUM;
    enum weights_kind kind = bytes_get_u16(file + FIELD_KIND);
    if (!weights_kind_name(kind))
        return WEIGHTS_ERROR_KIND;
    return check_shape(file, size, kind);
}

/* The rule set named in the file, which must be written canonically and play like `rules_name` if given. */
static enum weights_error read_rules(const uint8_t *text, size_t length, const char *rules_name,
                                     struct rules *out)
{
    char name[RULES_NAME_MAX];
    memcpy(name, text, length);
    name[length] = '\0';
    if (strlen(name) != length || !weights_parse_rules(name, out) || strcmp(name, out->name) != 0)
        return WEIGHTS_ERROR_RULES;
    struct rules wanted;
    if (rules_name && (!weights_parse_rules(rules_name, &wanted) || !rules_equal(&wanted, out)))
        return WEIGHTS_ERROR_RULES;
    return WEIGHTS_OK;
}

static enum weights_error check_vectors(const struct weights *weights, const uint8_t *at)
{
    for (int i = 0; i < WEIGHTS_VECTORS; i++, at += VECTOR_SIZE) {
        struct weights_vector vector;
        if (!get_vector(at, &vector) || weights_evaluate(weights, &vector.position) != vector.score)
            return WEIGHTS_ERROR_VECTORS;
    }
    return WEIGHTS_OK;
}

enum weights_error weights_parse(const void *bytes, size_t size, const char *rules_name, struct weights **out)
{
    const uint8_t *file = bytes;
    enum weights_error error = check_header(file, size);
    if (error != WEIGHTS_OK)
        return error;
    size_t rules_length = bytes_get_u16(file + FIELD_RULES_LENGTH);
    struct rules rules;
    error = read_rules(file + HEADER_SIZE, rules_length, rules_name, &rules);
    if (error != WEIGHTS_OK)
        return error;
    enum weights_kind kind = bytes_get_u16(file + FIELD_KIND);
    const uint8_t *payload = file + HEADER_SIZE + rules_length, *vectors = payload + shapes[kind].payload;
    const struct weights_frame frame = {&rules, file[FIELD_SHIFT], bytes_get_i32(file + FIELD_PER_LOGIT),
                                        (const char *)vectors + WEIGHTS_VECTORS * VECTOR_SIZE,
                                        bytes_get_u32(file + FIELD_PROVENANCE_LENGTH)};
    struct weights *weights = NULL;
    error = kind == WEIGHTS_TABLE ? read_table(payload, &frame, &weights)
            : kind == WEIGHTS_NET ? read_net(payload, file[FIELD_HIDDEN_SHIFT], &frame, &weights)
                                  : read_features(payload, &frame, &weights);
    if (error == WEIGHTS_OK)
        error = check_vectors(weights, vectors);
    if (error != WEIGHTS_OK) {
        weights_destroy(weights);
        return error;
    }
    *out = weights;
    return WEIGHTS_OK;
}

enum weights_error weights_load(const char *path, const char *rules_name, struct weights **out)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return WEIGHTS_ERROR_READ;
    enum weights_error error = WEIGHTS_ERROR_MEMORY;
    uint8_t *bytes = malloc(WEIGHTS_FILE_MAX + 1);
    if (bytes) {
        size_t size = fread(bytes, 1, WEIGHTS_FILE_MAX + 1, stream);
        error = ferror(stream) ? WEIGHTS_ERROR_READ : weights_parse(bytes, size, rules_name, out);
    }
    free(bytes);
    fclose(stream);
    return error;
}
