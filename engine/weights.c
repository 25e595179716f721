#include "engine/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bytes.h"
#include "engine/crc32c.h"
#include "engine/evaluate.h"
#include "engine/game.h"
#include "engine/mix.h"

/* --- the model --- */

enum { STARTING_STORE = 100, SHIFT_MAX = 14 };

static const char starting_provenance[] = "{\"source\":\"built-in\"}";

int weights_phase(int seeds_on_board)
{
    return evaluate_phase(seeds_on_board);
}

int32_t weights_evaluate(const struct weights *weights, const struct position *position)
{
    return evaluate_board(weights, board_from_position(position));
}

/* The largest sum a phase can make, before the shift. */
static int32_t phase_bound(const struct weights_phase *phase)
{
    int32_t bound = abs(phase->bias) + POSITION_SEEDS * abs(phase->store);
    for (int house = 0; house < WEIGHTS_HOUSES; house++) {
        int32_t largest = 0;
        for (int count = 0; count < WEIGHTS_COUNTS; count++) {
            int32_t size = abs(phase->house[house][count]);
            largest = size > largest ? size : largest;
        }
        bound += largest;
    }
    return bound;
}

static enum weights_error check_range(uint8_t shift, int32_t per_logit,
                                      const struct weights_phase phases[WEIGHTS_PHASES])
{
    if (shift > SHIFT_MAX || per_logit < 0)
        return WEIGHTS_ERROR_RANGE;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        if (phase_bound(&phases[phase]) > INT16_MAX)
            return WEIGHTS_ERROR_RANGE;
    return WEIGHTS_OK;
}

/* A JSON object as far as the engine can tell without a parser: braces around text without control
 * characters. */
static bool provenance_plausible(const char *text, size_t length)
{
    if (length < 2 || length > WEIGHTS_PROVENANCE_MAX || text[0] != '{' || text[length - 1] != '}')
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

static enum weights_error create(const struct rules *rules, uint8_t shift, int32_t per_logit,
                                 const struct weights_phase phases[WEIGHTS_PHASES], const char *provenance,
                                 size_t provenance_length, struct weights **out)
{
    enum weights_error error = check_range(shift, per_logit, phases);
    if (error != WEIGHTS_OK)
        return error;
    if (!provenance_plausible(provenance, provenance_length))
        return WEIGHTS_ERROR_PROVENANCE;
    struct weights *weights = calloc(1, sizeof *weights);
    char *copy = malloc(provenance_length + 1);
    if (!weights || !copy) {
        free(copy);
        free(weights);
        return WEIGHTS_ERROR_MEMORY;
    }
    memcpy(copy, provenance, provenance_length);
    copy[provenance_length] = '\0';
    weights->kind = WEIGHTS_TABLE;
    memcpy(weights->rules, rules->name, sizeof weights->rules);
    weights->shift = shift;
    weights->per_logit = per_logit;
    memcpy(weights->phases, phases, sizeof weights->phases);
    weights->provenance = copy;
    *out = weights;
    return WEIGHTS_OK;
}

static bool parse_rules(const char *name, struct rules *out)
{
    char reason[512];
    return rules_parse(name, out, reason, sizeof reason) == 0;
}

struct weights *weights_create_starting(const char *rules_name)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    memset(phases, 0, sizeof phases);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        phases[phase].store = STARTING_STORE;
    struct weights *weights = NULL;
    if (weights_create_table(rules_name, 0, 0, phases, starting_provenance, &weights) != WEIGHTS_OK)
        return NULL;
    return weights;
}

enum weights_error weights_create_table(const char *rules_name, uint8_t shift, int32_t per_logit,
                                        const struct weights_phase phases[WEIGHTS_PHASES],
                                        const char *provenance, struct weights **out)
{
    struct rules rules;
    if (!parse_rules(rules_name, &rules))
        return WEIGHTS_ERROR_RULES;
    return create(&rules, shift, per_logit, phases, provenance, strlen(provenance), out);
}

void weights_destroy(struct weights *weights)
{
    if (!weights)
        return;
    free(weights->provenance);
    free(weights);
}

/* --- test vectors --- */

enum { VECTOR_PLIES = 400, VECTOR_ATTEMPTS = 1000 };

/* "vectors" in ASCII. */
static const uint64_t vector_seed = UINT64_C(0x766563746f7273);

/* Plays one random game and keeps, each with equal chance, one unfinished position of `phase`. */
static bool draw_vector(struct game *game, uint64_t seed, int phase, struct position *out)
{
    uint32_t seen = 0;
    game_reset(game, NULL);
    for (uint64_t ply = 0; ply < VECTOR_PLIES && !game_over(game); ply++) {
        struct position position = game_position(game);
        int seeds = POSITION_SEEDS - position.stores[0] - position.stores[1];
        if (weights_phase(seeds) == phase && mix_below(mix(seed, 2 * ply + 1), ++seen) == 0)
            *out = position;
        unsigned legal = game_legal(game);
        uint32_t skip = mix_below(mix(seed, 2 * ply), (uint32_t)__builtin_popcount(legal));
        for (; skip > 0; skip--)
            legal &= legal - 1;
        int house = __builtin_ctz(legal) + 6 * position.side;
        if (game_play(game, house) != GAME_OK)
            break;
    }
    return seen > 0;
}

enum weights_error weights_vectors(const struct weights *weights, struct weights_vector out[WEIGHTS_VECTORS])
{
    struct rules rules;
    if (!parse_rules(weights->rules, &rules))
        return WEIGHTS_ERROR_RULES;
    struct game *game = game_create(&rules, NULL);
    if (!game)
        return WEIGHTS_ERROR_MEMORY;
    for (uint64_t i = 0; i < WEIGHTS_VECTORS; i++) {
        bool found = false;
        memset(&out[i], 0, sizeof out[i]);
        for (uint64_t attempt = 0; attempt < VECTOR_ATTEMPTS && !found; attempt++)
            found = draw_vector(game, mix(mix(vector_seed, i), attempt), (int)(i % WEIGHTS_PHASES),
                                &out[i].position);
        if (!found)
            out[i].position = position_start();
        out[i].score = weights_evaluate(weights, &out[i].position);
    }
    game_destroy(game);
    return WEIGHTS_OK;
}

/* --- the file: engine/README.md lists the fields --- */

enum {
    FIELD_MAGIC = 0,
    FIELD_VERSION = 8,
    FIELD_KIND = 10,
    FIELD_SIZE = 12,
    FIELD_PHASES = 16,
    FIELD_HOUSES = 18,
    FIELD_COUNTS = 20,
    FIELD_SHIFT = 22,
    FIELD_ZERO = 23,
    FIELD_PER_LOGIT = 24,
    FIELD_RULES_LENGTH = 28,
    FIELD_VECTORS = 30,
    FIELD_PAYLOAD_LENGTH = 32,
    FIELD_PROVENANCE_LENGTH = 36,
    HEADER_SIZE = 40,
    PAYLOAD_SIZE = 2 * WEIGHTS_TABLE_PARAMETERS,
    VECTOR_SIZE = 19,
    CHECKSUM_SIZE = 4,
};

/* The line end and the byte above 127 show a file that was sent as text. */
static const uint8_t magic[8] = {'K', 'R', 'O', 'O', 'W', 0xe2, '\r', '\n'};

static uint8_t *put_phase(uint8_t *at, const struct weights_phase *phase)
{
    bytes_put_u16(at, (uint16_t)phase->bias);
    bytes_put_u16(at + 2, (uint16_t)phase->store);
    at += 4;
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        for (int count = 0; count < WEIGHTS_COUNTS; count++, at += 2)
            bytes_put_u16(at, (uint16_t)phase->house[house][count]);
    return at;
}

static const uint8_t *get_phase(const uint8_t *at, struct weights_phase *phase)
{
    phase->bias = bytes_get_i16(at);
    phase->store = bytes_get_i16(at + 2);
    at += 4;
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        for (int count = 0; count < WEIGHTS_COUNTS; count++, at += 2)
            phase->house[house][count] = bytes_get_i16(at);
    return at;
}

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

static void put_header(uint8_t *at, const struct weights *weights, size_t size)
{
    memcpy(at + FIELD_MAGIC, magic, sizeof magic);
    bytes_put_u16(at + FIELD_VERSION, WEIGHTS_VERSION);
    bytes_put_u16(at + FIELD_KIND, (uint16_t)weights->kind);
    bytes_put_u32(at + FIELD_SIZE, (uint32_t)size);
    bytes_put_u16(at + FIELD_PHASES, WEIGHTS_PHASES);
    bytes_put_u16(at + FIELD_HOUSES, WEIGHTS_HOUSES);
    bytes_put_u16(at + FIELD_COUNTS, WEIGHTS_COUNTS);
    at[FIELD_SHIFT] = weights->shift;
    at[FIELD_ZERO] = 0;
    bytes_put_u32(at + FIELD_PER_LOGIT, (uint32_t)weights->per_logit);
    bytes_put_u16(at + FIELD_RULES_LENGTH, (uint16_t)strlen(weights->rules));
    bytes_put_u16(at + FIELD_VECTORS, WEIGHTS_VECTORS);
    bytes_put_u32(at + FIELD_PAYLOAD_LENGTH, PAYLOAD_SIZE);
    bytes_put_u32(at + FIELD_PROVENANCE_LENGTH, (uint32_t)strlen(weights->provenance));
}

enum weights_error weights_serialize(const struct weights *weights, void **bytes, size_t *size)
{
    struct weights_vector vectors[WEIGHTS_VECTORS];
    enum weights_error error = weights_vectors(weights, vectors);
    if (error != WEIGHTS_OK)
        return error;
    size_t rules_length = strlen(weights->rules), provenance_length = strlen(weights->provenance);
    size_t total = HEADER_SIZE + rules_length + PAYLOAD_SIZE + WEIGHTS_VECTORS * VECTOR_SIZE +
                   provenance_length + CHECKSUM_SIZE;
    uint8_t *file = malloc(total);
    if (!file)
        return WEIGHTS_ERROR_MEMORY;
    put_header(file, weights, total);
    uint8_t *at = file + HEADER_SIZE;
    memcpy(at, weights->rules, rules_length);
    at += rules_length;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        at = put_phase(at, &weights->phases[phase]);
    for (int i = 0; i < WEIGHTS_VECTORS; i++)
        at = put_vector(at, &vectors[i]);
    memcpy(at, weights->provenance, provenance_length);
    at += provenance_length;
    bytes_put_u32(at, crc32c(0, file, (size_t)(at - file)));
    *bytes = file;
    *size = total;
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
    if (bytes_get_u16(file + FIELD_KIND) != WEIGHTS_TABLE)
        return WEIGHTS_ERROR_KIND;
    uint32_t rules_length = bytes_get_u16(file + FIELD_RULES_LENGTH);
    uint32_t provenance_length = bytes_get_u32(file + FIELD_PROVENANCE_LENGTH);
    if (bytes_get_u16(file + FIELD_PHASES) != WEIGHTS_PHASES ||
        bytes_get_u16(file + FIELD_HOUSES) != WEIGHTS_HOUSES ||
        bytes_get_u16(file + FIELD_COUNTS) != WEIGHTS_COUNTS ||
        bytes_get_u16(file + FIELD_VECTORS) != WEIGHTS_VECTORS || file[FIELD_ZERO] != 0 ||
        bytes_get_u32(file + FIELD_PAYLOAD_LENGTH) != PAYLOAD_SIZE || rules_length >= RULES_NAME_MAX ||
        provenance_length > WEIGHTS_PROVENANCE_MAX ||
        size != HEADER_SIZE + rules_length + PAYLOAD_SIZE + WEIGHTS_VECTORS * VECTOR_SIZE +
                    provenance_length + CHECKSUM_SIZE)
        return WEIGHTS_ERROR_SIZE;
    return WEIGHTS_OK;
}

/* The rule set named in the file, which must be written canonically and play like `rules_name` if given. */
static enum weights_error read_rules(const uint8_t *text, size_t length, const char *rules_name,
                                     struct rules *out)
{
    char name[RULES_NAME_MAX];
    memcpy(name, text, length);
    name[length] = '\0';
    if (strlen(name) != length || !parse_rules(name, out) || strcmp(name, out->name) != 0)
        return WEIGHTS_ERROR_RULES;
    struct rules wanted;
    if (rules_name && (!parse_rules(rules_name, &wanted) || !rules_equal(&wanted, out)))
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
    struct weights_phase phases[WEIGHTS_PHASES];
    const uint8_t *at = file + HEADER_SIZE + rules_length;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        at = get_phase(at, &phases[phase]);
    struct weights *weights = NULL;
    error = create(&rules, file[FIELD_SHIFT], bytes_get_i32(file + FIELD_PER_LOGIT), phases,
                   (const char *)at + WEIGHTS_VECTORS * VECTOR_SIZE,
                   bytes_get_u32(file + FIELD_PROVENANCE_LENGTH), &weights);
    if (error == WEIGHTS_OK)
        error = check_vectors(weights, at);
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

const char *weights_error_text(enum weights_error error)
{
    switch (error) {
    case WEIGHTS_OK:
        return "no error";
    case WEIGHTS_ERROR_READ:
        return "the weights file cannot be read; check its path and permissions";
    case WEIGHTS_ERROR_MAGIC:
        return "this is no weights file of Kroo; export one with `kroo weights export`";
    case WEIGHTS_ERROR_VERSION:
        return "the weights file has another format version than this engine reads; export it again with a "
               "Kroo of this engine's version";
    case WEIGHTS_ERROR_SIZE:
        return "the weights file is cut short, too long, or of other dimensions; fetch it again";
    case WEIGHTS_ERROR_CHECKSUM:
        return "the weights file is damaged, its checksum does not match; fetch it again";
    case WEIGHTS_ERROR_RULES:
        return "the weights were made for other rules; choose weights of this rule set, or these rules";
    case WEIGHTS_ERROR_KIND:
        return "the weights are of a kind this engine cannot evaluate; it reads the kind `table`";
    case WEIGHTS_ERROR_RANGE:
        return "the weights are too large, a sum could leave 16 bits; export them with a smaller shift";
    case WEIGHTS_ERROR_VECTORS:
        return "the weights do not give the scores their file promises; do not play with them, export them "
               "again";
    case WEIGHTS_ERROR_MEMORY:
        return "memory is short; free some and try again";
    case WEIGHTS_ERROR_PROVENANCE:
        return "the provenance of the weights is no JSON object; export them again";
    }
    return "unknown error of a weights file";
}
