/* Weights: the model, its file, and every way a file can be wrong. */
#include "engine/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/bytes.h"
#include "engine/crc32c.h"
#include "engine/evaluate.h"
#include "engine/game.h"
#include "engine/mix.h"
#include "tests/unit/engine/kinds.h"

/* Offsets of engine/README.md, written down again on purpose. */
enum {
    AT_VERSION = 8,
    AT_KIND = 10,
    AT_SIZE = 12,
    AT_PHASES = 16,
    AT_SHIFT = 22,
    AT_PER_LOGIT = 24,
    AT_RULES = 40
};

/* Weights with every parameter in use and sums well inside int16. */
static struct weights *varied_weights(const char *rules, uint8_t shift)
{
    return kinds_table(rules, 5, shift);
}

static struct weights *weights_of_kind(enum weights_kind kind, const char *rules)
{
    return kind == WEIGHTS_TABLE ? kinds_table(rules, 5, 1)
           : kind == WEIGHTS_NET ? kinds_net(rules, 5, 900, 4)
                                 : kinds_features(rules, 5, 500, 3);
}

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file file_of_kind(enum weights_kind kind)
{
    struct weights *weights = weights_of_kind(kind, "site");
    struct file file;
    void *bytes;
    assert_int_equal(weights_serialize(weights, &bytes, &file.size), WEIGHTS_OK);
    file.bytes = bytes;
    weights_destroy(weights);
    return file;
}

static struct file varied_file(void)
{
    return file_of_kind(WEIGHTS_TABLE);
}

static void sign(struct file *file)
{
    bytes_put_u32(file->bytes + file->size - 4, crc32c(0, file->bytes, file->size - 4));
}

static enum weights_error parse(const struct file *file, const char *rules)
{
    struct weights *weights = NULL;
    enum weights_error error = weights_parse(file->bytes, file->size, rules, &weights);
    assert_true((error == WEIGHTS_OK) == (weights != NULL));
    weights_destroy(weights);
    return error;
}

static void phases_are_by_seeds_on_the_board(void **state)
{
    (void)state;
    for (int seeds = 0; seeds <= 48; seeds++)
        assert_int_equal(weights_phase(seeds), seeds >= 36 ? 0 : seeds >= 24 ? 1 : seeds >= 12 ? 2 : 3);
}

static void starting_weights_count_the_stores(void **state)
{
    (void)state;
    struct weights *weights = weights_create_starting("site");
    assert_non_null(weights);
    assert_string_equal(weights->provenance, "{\"source\":\"built-in\"}");
    assert_string_equal(weights->rules, "site");
    struct position position = position_start();
    assert_int_equal(weights_evaluate(weights, &position), 0);
    memset(position.houses, 0, sizeof position.houses);
    position.houses[3] = 40;
    position.stores[0] = 2;
    position.stores[1] = 6;
    assert_int_equal(weights_evaluate(weights, &position), -400);
    position.side = SIDE_NORTH;
    assert_int_equal(weights_evaluate(weights, &position), 400);
    weights_destroy(weights);
    assert_null(weights_create_starting("no-such-rules"));
}

/* By the formula of the documentation, one term after the other. */
static void evaluation_is_the_documented_sum(void **state)
{
    (void)state;
    struct weights *weights = varied_weights("site", 2);
    struct weights_vector vectors[WEIGHTS_VECTORS];
    assert_int_equal(weights_vectors(weights, vectors), WEIGHTS_OK);
    for (int i = 0; i < WEIGHTS_VECTORS; i++) {
        const struct position *p = &vectors[i].position;
        int seeds = 0, own = p->side == SIDE_SOUTH ? 0 : 6;
        for (int h = 0; h < 12; h++)
            seeds += p->houses[h];
        const struct weights_phase *phase = &weights->phases[seeds >= 36   ? 0
                                                             : seeds >= 24 ? 1
                                                             : seeds >= 12 ? 2
                                                                           : 3];
        int sum = phase->bias + phase->store * (p->stores[p->side] - p->stores[1 - p->side]);
        for (int h = 0; h < 12; h++) {
            int count = p->houses[(own + h) % 12];
            sum += phase->house[h][count > 12 ? 12 : count];
        }
        /* floor(sum / 4): the arithmetic shift */
        int expected = sum >= 0 ? sum / 4 : -((-sum + 3) / 4);
        assert_int_equal(vectors[i].score, expected);
        assert_int_equal(weights_evaluate(weights, p), expected);
        assert_int_equal(evaluate_board(weights, board_from_position(p)), expected);
    }
    weights_destroy(weights);
}

static void full_houses_count_as_twelve(void **state)
{
    (void)state;
    struct weights_phase phases[WEIGHTS_PHASES];
    memset(phases, 0, sizeof phases);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        for (int count = 0; count < WEIGHTS_COUNTS; count++)
            phases[0].house[house][count] = (int16_t)(100 * house + count);
    struct weights *weights = NULL;
    assert_int_equal(weights_create_table("site", 0, 0, phases, "{}", &weights), WEIGHTS_OK);
    for (int house = 0; house < 12; house++)
        for (int count = 0; count <= 48; count++) {
            struct position position = {.side = SIDE_SOUTH};
            position.houses[house] = (uint8_t)count;
            position.houses[(house + 1) % 12] = (uint8_t)(48 - count);
            int other = 48 - count;
            int expected = 6600 + (count < 12 ? count : 12) + (other < 12 ? other : 12);
            assert_int_equal(weights_evaluate(weights, &position), expected);
        }
    weights_destroy(weights);
}

static void vectors_show_every_phase_and_both_sides(void **state)
{
    (void)state;
    const char *rules[] = {"site", "school", "ghana", "togo", "slam-allowed", "slam-illegal", "awari"};
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        struct weights *weights = weights_create_starting(rules[r]);
        struct weights_vector vectors[WEIGHTS_VECTORS];
        assert_int_equal(weights_vectors(weights, vectors), WEIGHTS_OK);
        int phases[WEIGHTS_PHASES] = {0}, sides[2] = {0};
        for (int i = 0; i < WEIGHTS_VECTORS; i++) {
            const struct position *p = &vectors[i].position;
            int seeds = 48 - p->stores[0] - p->stores[1];
            phases[weights_phase(seeds)]++;
            sides[p->side]++;
            for (int j = 0; j < i; j++)
                assert_true(weights_phase(seeds) == 0 || memcmp(p, &vectors[j].position, sizeof *p) != 0);
        }
        for (int p = 0; p < WEIGHTS_PHASES; p++)
            assert_int_equal(phases[p], WEIGHTS_VECTORS / WEIGHTS_PHASES);
        assert_true(sides[0] >= 16 && sides[1] >= 16);
        weights_destroy(weights);
    }
}

static void a_file_gives_its_weights_back(void **state)
{
    (void)state;
    const char *rules[] = {"site", "awari", "site,repetitions=2", "slam-keep-first"};
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        struct weights *weights = varied_weights(rules[r], 1), *again = NULL;
        void *bytes, *bytes_again;
        size_t size, size_again;
        assert_int_equal(weights_serialize(weights, &bytes, &size), WEIGHTS_OK);
        assert_int_equal(weights_parse(bytes, size, rules[r], &again), WEIGHTS_OK);
        assert_int_equal(again->kind, WEIGHTS_TABLE);
        assert_string_equal(again->rules, weights->rules);
        assert_int_equal(again->shift, 1);
        assert_int_equal(again->per_logit, 150);
        assert_memory_equal(again->phases, weights->phases, sizeof weights->phases);
        assert_string_equal(again->provenance, weights->provenance);
        assert_int_equal(weights_serialize(again, &bytes_again, &size_again), WEIGHTS_OK);
        assert_int_equal(size_again, size);
        assert_memory_equal(bytes_again, bytes, size);
        free(bytes);
        free(bytes_again);
        weights_destroy(weights);
        weights_destroy(again);
    }
}

/* The payload of each kind at its documented size, and the whole back again with the same scores. */
static void files_of_every_kind_come_back(void **state)
{
    (void)state;
    const size_t payload[] = {[WEIGHTS_TABLE] = 1264, [WEIGHTS_NET] = 15684, [WEIGHTS_FEATURES] = 192};
    for (int kind = WEIGHTS_TABLE; kind <= WEIGHTS_FEATURES; kind++) {
        struct weights *weights = weights_of_kind((enum weights_kind)kind, "site"), *again = NULL;
        void *bytes, *bytes_again;
        size_t size, size_again;
        assert_int_equal(weights_serialize(weights, &bytes, &size), WEIGHTS_OK);
        assert_int_equal(size, 40 + 4 + payload[kind] + 64 * 19 + strlen(KINDS_PROVENANCE) + 4);
        assert_int_equal(weights_parse(bytes, size, "site", &again), WEIGHTS_OK);
        assert_int_equal(again->kind, kind);
        assert_int_equal(again->shift, weights->shift);
        assert_true(again->kernel == weights->kernel);
        assert_int_equal(weights_serialize(again, &bytes_again, &size_again), WEIGHTS_OK);
        assert_int_equal(size_again, size);
        assert_memory_equal(bytes_again, bytes, size);
        int different = 0;
        for (uint64_t i = 0; i < 200; i++) {
            struct position position = kinds_position(mix(31, i));
            int32_t score = weights_evaluate(weights, &position);
            assert_int_equal(weights_evaluate(again, &position), score);
            different += abs(score) < 32000;
        }
        assert_true(different > 20);
        free(bytes);
        free(bytes_again);
        weights_destroy(weights);
        weights_destroy(again);
    }
}

/* The fields of a net stand where engine/README.md puts them. */
static void a_net_file_is_as_documented(void **state)
{
    (void)state;
    struct file file = file_of_kind(WEIGHTS_NET);
    struct weights *weights = weights_of_kind(WEIGHTS_NET, "site");
    const struct weights_net *net = &weights->net;
    const uint8_t *payload = file.bytes + 44;
    assert_memory_equal(file.bytes + AT_PHASES, "\xf3\x00\x20\x00\x01\x00\x0d\x04", 8);
    assert_int_equal(bytes_get_i16(payload + 2 * 31), net->bias[31]);
    assert_int_equal(bytes_get_i16(payload + 64 * (1 + 16 * 11 + 15) + 2 * 7), net->input[191][7]);
    assert_int_equal(bytes_get_i16(payload + 64 * (1 + 192 + 50) + 2), net->input[242][1]);
    assert_int_equal(bytes_get_i16(payload + 64 * 244 + 2 * 30), net->output[30]);
    assert_int_equal(bytes_get_i32(payload + 64 * 245), net->output_bias);
    weights_destroy(weights);
    free(file.bytes);
}

/* The starting weights of `site` are the same file on every machine and for ever. */
static void the_starting_file_is_fixed(void **state)
{
    (void)state;
    struct weights *weights = weights_create_starting("site");
    void *bytes;
    size_t size;
    assert_int_equal(weights_serialize(weights, &bytes, &size), WEIGHTS_OK);
    assert_int_equal(size, 40 + 4 + 1264 + 64 * 19 + 21 + 4);
    const uint8_t *file = bytes;
    assert_memory_equal(file, "KROOW\xe2\r\n\x01\x00\x01\x00", 12);
    assert_memory_equal(file + AT_RULES, "site", 4);
    assert_memory_equal(file + 44, "\x00\x00\x64\x00\x00\x00", 6);
    assert_int_equal(bytes_get_u32(file + size - 4), 0x75b7afb8u);
    free(bytes);
    weights_destroy(weights);
}

static void each_wrong_file_has_its_own_error(void **state)
{
    (void)state;
    struct file file = varied_file();
    assert_int_equal(parse(&file, NULL), WEIGHTS_OK);
    assert_int_equal(parse(&file, "site"), WEIGHTS_OK);
    assert_int_equal(parse(&file, "site,repetitions=2"), WEIGHTS_ERROR_RULES);
    assert_int_equal(parse(&file, "nonsense"), WEIGHTS_ERROR_RULES);

    const struct {
        size_t at;
        uint8_t value;
        bool signs;
        enum weights_error error;
    } cases[] = {
        {0, 'X', true, WEIGHTS_ERROR_MAGIC},
        {6, '\n', true, WEIGHTS_ERROR_MAGIC},
        {AT_VERSION, 2, true, WEIGHTS_ERROR_VERSION},
        {AT_SIZE, 0, true, WEIGHTS_ERROR_SIZE},
        {100, 0x55, false, WEIGHTS_ERROR_CHECKSUM},
        {file.size - 1, 0, false, WEIGHTS_ERROR_CHECKSUM},
        {AT_KIND, WEIGHTS_FEATURES + 1, true, WEIGHTS_ERROR_KIND},
        {AT_KIND, 0, true, WEIGHTS_ERROR_KIND},
        {AT_KIND, WEIGHTS_NET, true, WEIGHTS_ERROR_SIZE},
        {AT_PHASES, 5, true, WEIGHTS_ERROR_SIZE},
        {23, 1, true, WEIGHTS_ERROR_SIZE},
        {AT_SHIFT, 15, true, WEIGHTS_ERROR_RANGE},
        {AT_PER_LOGIT + 3, 0x80, true, WEIGHTS_ERROR_RANGE},
        {AT_SHIFT, 3, true, WEIGHTS_ERROR_VECTORS},
        {AT_RULES, 'S', true, WEIGHTS_ERROR_RULES},
        {AT_RULES, 0, true, WEIGHTS_ERROR_RULES},
        {AT_RULES + 4 + 3, 0x7f, true, WEIGHTS_ERROR_RANGE}, /* a store weight above 32,512 */
        {AT_RULES + 4 + 1264, 200, true, WEIGHTS_ERROR_VECTORS},
        {AT_RULES + 4 + 1264 + 14, 2, true, WEIGHTS_ERROR_VECTORS},
        {AT_RULES + 4 + 1264 + 17, 0x77, true, WEIGHTS_ERROR_VECTORS},
        {AT_RULES + 4 + 1264 + 64 * 19, '[', true, WEIGHTS_ERROR_PROVENANCE},
        {AT_RULES + 4 + 1264 + 64 * 19 + 3, 0, true, WEIGHTS_ERROR_PROVENANCE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct file wrong = varied_file();
        wrong.bytes[cases[i].at] = cases[i].value;
        if (cases[i].signs)
            sign(&wrong);
        if (parse(&wrong, NULL) != cases[i].error)
            fail_msg("case %zu: error %d, expected %d", i, parse(&wrong, NULL), cases[i].error);
        free(wrong.bytes);
    }
    free(file.bytes);
}

/* What is particular to the other kinds. */
static void wrong_nets_and_features_are_refused(void **state)
{
    (void)state;
    const struct {
        enum weights_kind kind;
        size_t at;
        uint8_t value;
        enum weights_error error;
    } cases[] = {
        {WEIGHTS_NET, AT_KIND, WEIGHTS_TABLE, WEIGHTS_ERROR_SIZE},
        {WEIGHTS_NET, AT_PHASES + 2, 64, WEIGHTS_ERROR_SIZE},
        {WEIGHTS_NET, AT_PHASES + 4, 2, WEIGHTS_ERROR_SIZE},
        {WEIGHTS_NET, AT_SHIFT, 15, WEIGHTS_ERROR_RANGE},
        {WEIGHTS_NET, AT_SHIFT + 1, 15, WEIGHTS_ERROR_RANGE},
        {WEIGHTS_NET, AT_SHIFT + 1, 7, WEIGHTS_ERROR_VECTORS},
        {WEIGHTS_NET, 44 + 1, 0x7f, WEIGHTS_ERROR_RANGE},            /* a unit's bias */
        {WEIGHTS_NET, 44 + 64 * 243 + 1, 0x7f, WEIGHTS_ERROR_RANGE}, /* its store difference of 25 */
        {WEIGHTS_NET, 44 + 64 * 245 + 3, 0x7f, WEIGHTS_ERROR_RANGE}, /* the output's bias */
        {WEIGHTS_NET, 44 + 64 * 245 + 3, 0x10, WEIGHTS_ERROR_VECTORS},
        {WEIGHTS_FEATURES, AT_KIND, WEIGHTS_NET, WEIGHTS_ERROR_SIZE},
        {WEIGHTS_FEATURES, AT_PHASES, 5, WEIGHTS_ERROR_SIZE},
        {WEIGHTS_FEATURES, AT_PHASES + 2, TRAITS - 1, WEIGHTS_ERROR_SIZE},
        {WEIGHTS_FEATURES, AT_SHIFT + 1, 1, WEIGHTS_ERROR_SIZE},
        {WEIGHTS_FEATURES, AT_SHIFT, 15, WEIGHTS_ERROR_RANGE},
        {WEIGHTS_FEATURES, 44 + 1, 0x70, WEIGHTS_ERROR_VECTORS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct file wrong = file_of_kind(cases[i].kind);
        wrong.bytes[cases[i].at] = cases[i].value;
        sign(&wrong);
        if (parse(&wrong, NULL) != cases[i].error)
            fail_msg("case %zu: error %d, expected %d", i, parse(&wrong, NULL), cases[i].error);
        free(wrong.bytes);
    }
}

static void nets_that_could_overflow_are_refused(void **state)
{
    (void)state;
    static struct weights_net net;
    struct weights *weights = NULL;
    memset(&net, 0, sizeof net);
    /* unit 5: 767 + 12 * 2000 + 8000 = 32,767, with unlike signs */
    net.bias[5] = -767;
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        net.input[16 * house + house][5] = (int16_t)(house % 2 ? 2000 : -2000);
    net.input[242][5] = -8000;
    assert_int_equal(weights_create_net("site", 0, 0, &net, "{}", &weights), WEIGHTS_OK);
    weights_destroy(weights);
    weights = NULL;
    net.input[192][5] = 8001;
    assert_int_equal(weights_create_net("site", 0, 0, &net, "{}", &weights), WEIGHTS_ERROR_RANGE);
    net.input[192][5] = INT16_MIN;
    assert_int_equal(weights_create_net("site", 0, 0, &net, "{}", &weights), WEIGHTS_ERROR_RANGE);
    net.input[192][5] = 0;
    net.output_bias = INT32_MIN;
    assert_int_equal(weights_create_net("site", 0, 0, &net, "{}", &weights), WEIGHTS_ERROR_RANGE);
    net.output_bias = INT32_MAX - 127 * 32768;
    net.output[31] = INT16_MIN;
    assert_int_equal(weights_create_net("site", 0, 0, &net, "{}", &weights), WEIGHTS_OK);
    weights_destroy(weights);
    weights = NULL;
    net.output[30] = 1;
    assert_int_equal(weights_create_net("site", 0, 0, &net, "{}", &weights), WEIGHTS_ERROR_RANGE);
    net.output[30] = 0;
    assert_int_equal(weights_create_net("site", 0, -1, &net, "{}", &weights), WEIGHTS_ERROR_RANGE);
    assert_int_equal(weights_create_net("checkers", 0, 0, &net, "{}", &weights), WEIGHTS_ERROR_RULES);
    assert_int_equal(weights_create_net("site", 0, 0, &net, "[]", &weights), WEIGHTS_ERROR_PROVENANCE);
    net.hidden_shift = 15;
    assert_int_equal(weights_create_net("site", 0, 0, &net, "{}", &weights), WEIGHTS_ERROR_RANGE);
    assert_null(weights);
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(weights_kind_name(WEIGHTS_TABLE), "table");
    for (int kind = WEIGHTS_TABLE; kind <= WEIGHTS_FEATURES; kind++)
        assert_int_equal(weights_kind_parse(weights_kind_name((enum weights_kind)kind)), kind);
    assert_null(weights_kind_name((enum weights_kind)0));
    assert_null(weights_kind_name((enum weights_kind)4));
    assert_int_equal(weights_kind_parse("Net"), 0);
}

static void a_cut_or_lengthened_file_is_refused(void **state)
{
    (void)state;
    struct file file = varied_file();
    for (size_t size = 0; size < file.size; size++) {
        struct file cut = {malloc(size + 1), size};
        memcpy(cut.bytes, file.bytes, size);
        assert_int_equal(parse(&cut, NULL), size < 8 ? WEIGHTS_ERROR_MAGIC : WEIGHTS_ERROR_SIZE);
        free(cut.bytes);
    }
    struct file longer = {calloc(1, file.size + 1), file.size + 1};
    memcpy(longer.bytes, file.bytes, file.size);
    assert_int_equal(parse(&longer, NULL), WEIGHTS_ERROR_SIZE);
    free(longer.bytes);
    free(file.bytes);
}

/* Takes `file`. */
static void survive_variants(struct file file, uint64_t rounds)
{
    uint8_t *copy = malloc(file.size);
    for (uint64_t round = 0; round < rounds; round++) {
        struct file broken = {copy, file.size};
        memcpy(copy, file.bytes, file.size);
        uint32_t flips = 1 + mix_below(mix(round, 0), 8);
        uint32_t span = round % 2 ? 48 : (uint32_t)file.size;
        for (uint32_t i = 1; i <= flips; i++)
            copy[mix_below(mix(round, i), span)] ^= (uint8_t)(1u << mix_below(mix(round, 100 + i), 8));
        if (round % 4 == 2)
            broken.size = mix_below(mix(round, 200), (uint32_t)file.size + 1);
        if (broken.size > 16)
            bytes_put_u32(copy + AT_SIZE, (uint32_t)broken.size);
        if (broken.size >= 4)
            sign(&broken);
        parse(&broken, NULL);
    }
    free(copy);
    free(file.bytes);
}

/* Flipped bits and noise, signed so that every check is reached; nothing but an error or sound weights. */
static void arbitrary_bytes_are_survived(void **state)
{
    (void)state;
    for (int kind = WEIGHTS_TABLE; kind <= WEIGHTS_FEATURES; kind++)
        survive_variants(file_of_kind((enum weights_kind)kind), kind == WEIGHTS_NET ? 4000 : 10000);
}

static void sums_that_could_overflow_are_refused(void **state)
{
    (void)state;
    struct weights_phase phases[WEIGHTS_PHASES];
    struct weights *weights = NULL;
    memset(phases, 0, sizeof phases);
    phases[2].store = 600;
    phases[2].bias = -(32767 - 48 * 600 - 12 * 10);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        phases[2].house[house][house] = -10;
    assert_int_equal(weights_create_table("site", 0, 0, phases, "{}", &weights), WEIGHTS_OK);
    weights_destroy(weights);
    weights = NULL;
    phases[2].house[4][12] = 11;
    assert_int_equal(weights_create_table("site", 0, 0, phases, "{}", &weights), WEIGHTS_ERROR_RANGE);
    phases[2].house[4][12] = INT16_MIN;
    assert_int_equal(weights_create_table("site", 0, 0, phases, "{}", &weights), WEIGHTS_ERROR_RANGE);
    assert_null(weights);
    assert_int_equal(weights_create_table("site", 0, -1, phases, "{}", &weights), WEIGHTS_ERROR_RANGE);
    memset(phases, 0, sizeof phases);
    assert_int_equal(weights_create_table("checkers", 0, 0, phases, "{}", &weights), WEIGHTS_ERROR_RULES);
    assert_int_equal(weights_create_table("site", 0, 0, phases, "text", &weights), WEIGHTS_ERROR_PROVENANCE);
}

static void files_are_loaded_from_disk(void **state)
{
    (void)state;
    struct file file = varied_file();
    char path[] = "/tmp/kroo-weights-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, file.bytes, file.size), (ssize_t)file.size);
    struct weights *weights = NULL;
    assert_int_equal(weights_load(path, "site", &weights), WEIGHTS_OK);
    assert_int_equal(weights->shift, 1);
    weights_destroy(weights);
    weights = NULL;
    assert_int_equal(weights_load(path, "ghana", &weights), WEIGHTS_ERROR_RULES);
    assert_int_equal(ftruncate(descriptor, 0), 0);
    assert_int_equal(weights_load(path, "site", &weights), WEIGHTS_ERROR_MAGIC);
    assert_int_equal(ftruncate(descriptor, WEIGHTS_FILE_MAX + 10), 0);
    assert_int_equal(pwrite(descriptor, file.bytes, file.size, 0), (ssize_t)file.size);
    assert_int_equal(weights_load(path, "site", &weights), WEIGHTS_ERROR_SIZE);
    close(descriptor);
    unlink(path);
    assert_int_equal(weights_load(path, "site", &weights), WEIGHTS_ERROR_READ);
    assert_int_equal(weights_load("/tmp", "site", &weights), WEIGHTS_ERROR_READ);
    assert_null(weights);
    free(file.bytes);
}

static void every_error_has_a_sentence(void **state)
{
    (void)state;
    for (int error = WEIGHTS_ERROR_PROVENANCE; error < WEIGHTS_OK; error++)
        for (int other = WEIGHTS_ERROR_PROVENANCE; other < error; other++)
            assert_string_not_equal(weights_error_text((enum weights_error)error),
                                    weights_error_text((enum weights_error)other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_by_seeds_on_the_board),
        cmocka_unit_test(starting_weights_count_the_stores),
        cmocka_unit_test(evaluation_is_the_documented_sum),
        cmocka_unit_test(full_houses_count_as_twelve),
        cmocka_unit_test(vectors_show_every_phase_and_both_sides),
        cmocka_unit_test(a_file_gives_its_weights_back),
        cmocka_unit_test(the_starting_file_is_fixed),
        cmocka_unit_test(each_wrong_file_has_its_own_error),
        cmocka_unit_test(a_cut_or_lengthened_file_is_refused),
        cmocka_unit_test(arbitrary_bytes_are_survived),
        cmocka_unit_test(sums_that_could_overflow_are_refused),
        cmocka_unit_test(files_are_loaded_from_disk),
        cmocka_unit_test(every_error_has_a_sentence),
        cmocka_unit_test(files_of_every_kind_come_back),
        cmocka_unit_test(a_net_file_is_as_documented),
        cmocka_unit_test(wrong_nets_and_features_are_refused),
        cmocka_unit_test(nets_that_could_overflow_are_refused),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
