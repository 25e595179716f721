/* Reads a weights file of Kroo and evaluates oware positions with it: the same integers as kroo-engine. One
 * header, C99 or C++11, libc only; weights/FORMAT.md describes the format. Include it where it is used:
 * everything is static, there are no globals that change, nothing is allocated, and weights that have been
 * read may be shared by threads.
 *
 *     struct kroo_reader_weights weights;
 *     const char *wrong = kroo_reader_read(&weights, bytes, size);      NULL, or what is wrong with the file
 *     struct kroo_reader_position position;
 *     if (!wrong && kroo_reader_parse("4-4-4-4-4-4-4-4-4-4-4-4-0-0-S", &position))
 *         score = kroo_reader_evaluate(&weights, &position);            hundredths of a seed, the mover's
 * view
 */
#ifndef KROO_WEIGHTS_READER_H
#define KROO_WEIGHTS_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    KROO_READER_TABLE = 1,
    KROO_READER_NET = 2,
    KROO_READER_FEATURES = 3,
    KROO_READER_NUMBERS = 7840, /* int16 of the largest kind, a net */
    KROO_READER_RULES = 160,
    KROO_READER_HEADER = 40,
    KROO_READER_VECTORS = 64,
    KROO_READER_VECTOR = 19,
    KROO_READER_HIDDEN = 32,
    KROO_READER_SEEDS = 48,
    KROO_READER_PROVENANCE = 65536
};

/* A position as people see it: houses A..F a..f, the stores of South and North, 0 when South is to move,
 * else 1. */
struct kroo_reader_position {
    uint8_t houses[12], stores[2], side;
};

/* 16 KiB, no pointers: copy it as you like. */
struct kroo_reader_weights {
    int kind, shift, hidden_shift;
    int32_t per_logit;   /* hundredths of a seed in one unit of log odds; 0: not calibrated */
    int32_t output_bias; /* of a net */
    int16_t numbers[KROO_READER_NUMBERS]; /* in the order of the file */
    char rules[KROO_READER_RULES];
    size_t provenance_at, provenance_size; /* where the file holds it: a JSON object */
};

/* --- little-endian integers, an arithmetic shift that C promises everywhere, the checksum --- */

static inline uint32_t kroo_reader_u16(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static inline uint32_t kroo_reader_u32(const uint8_t *at)
{
    return kroo_reader_u16(at) | kroo_reader_u16(at + 2) << 16;
}

static inline int32_t kroo_reader_i32(const uint8_t *at)
{
    uint32_t value = kroo_reader_u32(at);
    return value <= INT32_MAX ? (int32_t)value : -(int32_t)(UINT32_MAX - value) - 1;
}

static inline int16_t kroo_reader_i16(const uint8_t *at)
{
    int32_t value = (int32_t)kroo_reader_u16(at);
    return (int16_t)(value <= INT16_MAX ? value : value - 65536);
}

/* Rounds down, also below zero. */
static inline int32_t kroo_reader_shifted(int32_t sum, int shift)
{
    int32_t unit = INT32_C(1) << shift, part = sum / unit;
    return part - (sum % unit < 0);
}

static inline int kroo_reader_cut(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static inline uint32_t kroo_reader_crc32c(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return crc ^ 0xffffffff;
}

/* --- positions --- */

static inline int kroo_reader_is_position(const struct kroo_reader_position *position)
{
    int seeds = position->stores[0] + position->stores[1];
    for (int house = 0; house < 12; house++)
        seeds += position->houses[house];
    return seeds == KROO_READER_SEEDS && position->side <= 1;
}

/* `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`; 0 when the text is no position. */
static inline int kroo_reader_parse(const char *text, struct kroo_reader_position *out)
{
    for (int field = 0; field < 14; field++) {
        int value = 0, digits = 0;
        for (; digits < 2 && *text >= '0' && *text <= '9'; digits++)
            value = 10 * value + (*text++ - '0');
        if (digits == 0 || *text++ != '-')
            return 0;
        if (field < 12)
            out->houses[field] = (uint8_t)value;
        else
            out->stores[field - 12] = (uint8_t)value;
    }
    if ((*text != 'S' && *text != 'N') || text[1] != '\0')
        return 0;
    out->side = *text == 'N';
    return kroo_reader_is_position(out);
}

/* --- evaluation: a row is six houses and the store, the mover's own and the other's --- */

static inline int kroo_reader_phase(const int own[7], const int other[7])
{
    int seeds = KROO_READER_SEEDS - own[6] - other[6];
    return seeds >= 36 ? 0 : seeds >= 24 ? 1 : seeds >= 12 ? 2 : 3;
}

static inline int32_t kroo_reader_sum_table(const struct kroo_reader_weights *weights, const int own[7],
                                            const int other[7])
{
    const int16_t *phase = weights->numbers + 158 * kroo_reader_phase(own, other);
    int32_t sum = phase[0] + phase[1] * (own[6] - other[6]);
    for (int house = 0; house < 6; house++) {
        sum += phase[2 + 13 * house + kroo_reader_cut(own[house], 0, 12)];
        sum += phase[2 + 13 * (6 + house) + kroo_reader_cut(other[house], 0, 12)];
    }
    return sum;
}

static inline int32_t kroo_reader_sum_net(const struct kroo_reader_weights *weights, const int own[7],
                                          const int other[7])
{
    const int16_t *bias = weights->numbers, *input = bias + KROO_READER_HIDDEN, *output = input + 243 * 32;
    int32_t sum = weights->output_bias;
    int rows[13];
    for (int house = 0; house < 6; house++) {
        rows[house] = 16 * house + kroo_reader_cut(own[house], 0, 15);
        rows[6 + house] = 16 * (6 + house) + kroo_reader_cut(other[house], 0, 15);
    }
    rows[12] = 192 + 25 + kroo_reader_cut(own[6] - other[6], -25, 25);
    for (int unit = 0; unit < KROO_READER_HIDDEN; unit++) {
        int32_t value = bias[unit];
        for (int i = 0; i < 13; i++)
            value += input[32 * rows[i] + unit];
        sum += output[unit] * kroo_reader_cut(kroo_reader_shifted(value, weights->hidden_shift), 0, 127);
    }
    return sum;
}

/* The twelve houses after sowing one, the sower's first; where the last seed fell. */
static inline int kroo_reader_sow(const int own[7], const int other[7], int from, int board[12])
{
    int at = from;
    for (int house = 0; house < 6; house++) {
        board[house] = own[house];
        board[6 + house] = other[house];
    }
    board[from] = 0;
    for (int seeds = own[from]; seeds > 0; seeds--) {
        at = (at + 1) % 12;
        at = at == from ? (at + 1) % 12 : at;
        board[at]++;
    }
    return at;
}

/* What the move of a house captures, as a count of seeds and one bit a house; a grand slam captures nothing.
 */
static inline int kroo_reader_capture(const int own[7], const int other[7], int from, unsigned *houses)
{
    int board[12], left = 0, gain = 0;
    int at = kroo_reader_sow(own, other, from, board);
    for (int house = 6; house < 12; house++)
        left += board[house];
    for (*houses = 0; at >= 6 && (board[at] == 2 || board[at] == 3); at--) {
        gain += board[at];
        *houses |= 1u << (at - 6);
    }
    if (gain == left)
        *houses = 0, gain = 0;
    return gain;
}

/* What one side sees; indices 2, 4, 6, ... for the mover (0), one more for its opponent (1). */
static inline void kroo_reader_look(const int own[7], const int other[7], int side, int out[24])
{
    unsigned vulnerable = 0;
    for (int house = 0; house < 6; house++) {
        int seeds = own[house];
        unsigned houses = 0;
        int gain = seeds > 0 ? kroo_reader_capture(own, other, house, &houses) : 0;
        out[2 + side] += seeds;
        out[4 + side] += seeds > 0;
        out[6 + side] += seeds + house >= 6;
        out[8 + side] += seeds == 1;
        out[10 + side] += seeds == 2;
        out[12 + side] += seeds >= 12;
        out[14 + side] += gain > 0;
        out[16 + side] = gain > out[16 + side] ? gain : out[16 + side];
        out[20 + side] = seeds > out[20 + side] ? seeds : out[20 + side];
        out[22 + side] += house < 3 ? seeds : 0;
        vulnerable |= houses;
    }
    for (; vulnerable != 0; vulnerable &= vulnerable - 1)
        out[19 - side]++;
}

static inline int32_t kroo_reader_sum_features(const struct kroo_reader_weights *weights, const int own[7],
                                               const int other[7])
{
    const int16_t *phase = weights->numbers + 24 * kroo_reader_phase(own, other);
    int seen[24] = {0};
    int32_t sum = 0;
    seen[0] = 1;
    seen[1] = own[6] - other[6];
    kroo_reader_look(own, other, 0, seen);
    kroo_reader_look(other, own, 1, seen);
    for (int i = 0; i < 24; i++)
        sum += phase[i] * seen[i];
    return sum;
}

/* Hundredths of a seed in the view of the side to move, -32000 to 32000. */
static inline int kroo_reader_evaluate(const struct kroo_reader_weights *weights,
                                       const struct kroo_reader_position *position)
{
    int row[2][7]; /* the mover's, the other's */
    for (int side = 0; side < 2; side++) {
        int owner = side ^ position->side;
        for (int house = 0; house < 6; house++)
            row[side][house] = position->houses[6 * owner + house];
        row[side][6] = position->stores[owner];
    }
    int32_t sum = weights->kind == KROO_READER_TABLE ? kroo_reader_sum_table(weights, row[0], row[1])
                  : weights->kind == KROO_READER_NET ? kroo_reader_sum_net(weights, row[0], row[1])
                                                     : kroo_reader_sum_features(weights, row[0], row[1]);
    return kroo_reader_cut(kroo_reader_shifted(sum, weights->shift), -32000, 32000);
}

/* --- ranges: no sum may leave its type, in whatever order it is added --- */

static inline int64_t kroo_reader_largest(const int16_t *numbers, int count, int step)
{
    int64_t most = 0;
    for (int i = 0; i < count; i++) {
        int64_t size = numbers[step * i] < 0 ? -(int64_t)numbers[step * i] : numbers[step * i];
        most = size > most ? size : most;
    }
    return most;
}

static inline int kroo_reader_table_fits(const int16_t *numbers)
{
    for (int phase = 0; phase < 4; phase++, numbers += 158) {
        int64_t bound = kroo_reader_largest(numbers, 1, 1) + 48 * kroo_reader_largest(numbers + 1, 1, 1);
        for (int house = 0; house < 12; house++)
            bound += kroo_reader_largest(numbers + 2 + 13 * house, 13, 1);
        if (bound > 32767)
            return 0;
    }
    return 1;
}

static inline int kroo_reader_net_fits(const int16_t *numbers, int32_t output_bias)
{
    const int16_t *input = numbers + 32, *output = input + 243 * 32;
    int64_t total = output_bias < 0 ? -(int64_t)output_bias : output_bias;
    for (int unit = 0; unit < 32; unit++) {
        int64_t bound = kroo_reader_largest(numbers + unit, 1, 1);
        for (int house = 0; house < 12; house++)
            bound += kroo_reader_largest(input + 32 * 16 * house + unit, 16, 32);
        bound += kroo_reader_largest(input + 32 * 192 + unit, 51, 32);
        if (bound > 32767)
            return 0;
        total += 127 * kroo_reader_largest(output + unit, 1, 1);
    }
    return total <= INT32_MAX;
}

/* --- the file --- */

static inline const char *kroo_reader_check_header(const uint8_t *file, size_t size)
{
    static const uint8_t magic[8] = {0x4b, 0x52, 0x4f, 0x4f, 0x57, 0xe2, 0x0d, 0x0a};
    static const uint16_t dimensions[4][3] = {{0, 0, 0}, {4, 12, 13}, {243, 32, 1}, {4, 24, 1}};
    static const uint32_t payload[4] = {0, 1264, 15684, 192};
    if (size < sizeof magic || memcmp(file, magic, sizeof magic) != 0)
        return "this is no weights file of Kroo";
    if (size >= 10 && kroo_reader_u16(file + 8) != 1)
        return "the file has another format version than 1";
    if (size < KROO_READER_HEADER + 4 || kroo_reader_u32(file + 12) != size)
        return "the file is cut short or too long";
    if (kroo_reader_crc32c(file, size - 4) != kroo_reader_u32(file + size - 4))
        return "the file is damaged, its checksum does not match";
    uint32_t kind = kroo_reader_u16(file + 10), rules = kroo_reader_u16(file + 28);
    uint32_t provenance = kroo_reader_u32(file + 36);
    if (kind < 1 || kind > 3)
        return "the kind of the weights is unknown";
    for (int i = 0; i < 3; i++)
        if (kroo_reader_u16(file + 16 + 2 * i) != dimensions[kind][i])
            return "the dimensions are not those of its kind";
    if (kroo_reader_u16(file + 30) != KROO_READER_VECTORS || kroo_reader_u32(file + 32) != payload[kind] ||
        rules >= KROO_READER_RULES || provenance > KROO_READER_PROVENANCE ||
        (kind != KROO_READER_NET && file[23] != 0) ||
        size != KROO_READER_HEADER + rules + payload[kind] + KROO_READER_VECTORS * KROO_READER_VECTOR +
                    provenance + 4)
        return "the dimensions are not those of its kind";
    if (file[22] > 14 || file[23] > 14 || kroo_reader_i32(file + 24) < 0)
        return "a shift or the scale is out of range";
    return NULL;
}

/* Every test position must give the score that the file promises. */
static inline const char *kroo_reader_check_vectors(const struct kroo_reader_weights *weights,
                                                    const uint8_t *at)
{
    for (int i = 0; i < KROO_READER_VECTORS; i++, at += KROO_READER_VECTOR) {
        struct kroo_reader_position position;
        memcpy(position.houses, at, 12);
        memcpy(position.stores, at + 12, 2);
        position.side = at[14];
        if (!kroo_reader_is_position(&position))
            return "a test position is no position";
        if (kroo_reader_evaluate(weights, &position) != kroo_reader_i32(at + 15))
            return "the test positions do not come out";
    }
    return NULL;
}

/* NULL, or what is wrong with the file; then `out` is not to be used. */
static inline const char *kroo_reader_read(struct kroo_reader_weights *out, const void *bytes, size_t size)
{
    const uint8_t *file = (const uint8_t *)bytes;
    const char *wrong = kroo_reader_check_header(file, size);
    if (wrong)
        return wrong;
    memset(out, 0, sizeof *out);
    size_t rules = kroo_reader_u16(file + 28), length = kroo_reader_u32(file + 32);
    const uint8_t *payload = file + KROO_READER_HEADER + rules, *vectors = payload + length;
    out->kind = (int)kroo_reader_u16(file + 10);
    out->shift = file[22];
    out->hidden_shift = file[23];
    out->per_logit = kroo_reader_i32(file + 24);
    memcpy(out->rules, file + KROO_READER_HEADER, rules);
    if (out->kind == KROO_READER_NET)
        out->output_bias = kroo_reader_i32(vectors - 4), length -= 4;
    for (size_t i = 0; i < length / 2; i++)
        out->numbers[i] = kroo_reader_i16(payload + 2 * i);
    out->provenance_at = (size_t)(vectors - file) + KROO_READER_VECTORS * KROO_READER_VECTOR;
    out->provenance_size = kroo_reader_u32(file + 36);
    if ((out->kind == KROO_READER_TABLE && !kroo_reader_table_fits(out->numbers)) ||
        (out->kind == KROO_READER_NET && !kroo_reader_net_fits(out->numbers, out->output_bias)))
        return "the weights are too large, a sum could leave its type";
    return kroo_reader_check_vectors(out, vectors);
}

#endif
