/* The values against published and independent figures, and the file. Reference data are described in
 * tests/vectors/README or their own first lines: awari histograms of T. R. Lincke (2002), figures of another
 * builder for the rest. */
#include "tests/unit/engine/vectors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crc32c.h"
#include "engine/game.h"
#include "engine/mix.h"
#include "engine/solver.h"
#include "engine/tables.h"
#include "engine/tables_build.h"
#include "engine/tables_check.h"

#define VECTORS "tests/vectors/tables/"

/* How far tables are built here: a sanitizer makes each board cost twenty times as much. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||     \
    __has_feature(thread_sanitizer)
enum { AWARI_SEEDS = 10, SCHOOL_SEEDS = 9, SITE_SEEDS = 8, ZERO_SEEDS = 9 };
#else
enum { AWARI_SEEDS = 16, SCHOOL_SEEDS = 14, SITE_SEEDS = 12, ZERO_SEEDS = 13 };
#endif

static struct solver *solve(const char *text, int seeds)
{
    struct rules rules = vectors_rules(text);
    struct solver *solver;
    assert_int_equal(solver_create(&rules, seeds, 2, NULL, NULL, &solver), SOLVER_OK);
    for (int n = 0; n <= seeds; n++)
        assert_int_equal(solver_next(solver), SOLVER_OK);
    return solver;
}

/* --- one value a board --- */

static void check_histogram(const json_t *row, const int8_t *values, int seeds)
{
    long long counts[256] = {0};
    for (uint64_t i = 0; i < index_layer_size(seeds); i++)
        counts[values[index_layer_start(seeds) + i] + 128]++;
    const json_t *expected = json_object_get(row, "value_counts");
    assert_true(json_object_size(expected) > 0);
    for (int value = -128; value < 128; value++) {
        char key[8];
        snprintf(key, sizeof key, "%d", value);
        long long count = json_integer_value(json_object_get(expected, key));
        if (counts[value + 128] != count)
            fail_msg("%d seeds, value %d: %lld boards, expected %lld", seeds, value, counts[value + 128],
                     count);
    }
}

/* Returns the layers compared. */
static int check_exact(const char *path, const char *list, const char *rules, int seeds)
{
    struct solver *solver = solve(rules, seeds);
    json_t *root = vectors_load(path);
    const json_t *rows = json_object_get(root, list);
    int checked = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        int n = (int)vectors_number(row, "n");
        if (n <= seeds) {
            check_histogram(row, solver_values(solver).lo, n);
            checked++;
        }
    }
    json_decref(root);
    assert_ptr_equal(solver_values(solver).lo, solver_values(solver).up);
    solver_destroy(solver);
    return checked;
}

static void test_awari_as_published(void **state)
{
    (void)state;
    assert_int_equal(check_exact(VECTORS "awari-published-2002.json", "tables", "awari", AWARI_SEEDS),
                     AWARI_SEEDS + 1);
}

static void test_school(void **state)
{
    (void)state;
    assert_int_equal(check_exact(VECTORS "school.json", "by_seeds", "school", SCHOOL_SEEDS),
                     SCHOOL_SEEDS + 1);
}

/* Moves of `site`, stops that pay nothing. */
static void test_site_zero_cycle(void **state)
{
    (void)state;
    assert_int_equal(
        check_exact(VECTORS "site-zero-cycle.json", "by_seeds", "site,stop_leftovers=stay", ZERO_SEEDS),
        ZERO_SEEDS + 1);
}

/* --- brackets --- */

static void check_brackets(const json_t *row, struct solver_values values, int seeds)
{
    long long win = 0, draw = 0, loss = 0, exact = 0, widths[64] = {0};
    double lo_sum = 0, up_sum = 0;
    uint64_t size = index_layer_size(seeds), start = index_layer_start(seeds);
    for (uint64_t i = start; i < start + size; i++) {
        int lo = values.lo[i], up = values.up[i];
        assert_true(lo <= up && lo >= -seeds && up <= seeds);
        win += lo > 0;
        draw += lo == 0 && up == 0;
        loss += up < 0;
        exact += lo == up;
        widths[up - lo]++;
        lo_sum += lo;
        up_sum += up;
    }
    assert_int_equal(win, vectors_number(row, "own_half_proved_win"));
    assert_int_equal(draw, vectors_number(row, "own_half_proved_draw"));
    assert_int_equal(loss, vectors_number(row, "own_half_proved_loss"));
    assert_int_equal(exact, vectors_number(row, "exact_own_half_split"));
    assert_close(lo_sum / (double)size, json_number_value(json_object_get(row, "average_lo")), 1e-6);
    assert_close(up_sum / (double)size, json_number_value(json_object_get(row, "average_up")), 1e-6);
    for (int width = 0; width < 64; width++) {
        char key[8];
        snprintf(key, sizeof key, "%d", width);
        const json_t *histogram = json_object_get(row, "width_histogram");
        assert_int_equal(widths[width], json_integer_value(json_object_get(histogram, key)));
    }
}

static struct board mover_board(const json_t *row)
{
    struct board board = {0, 0};
    const json_t *houses = json_object_get(row, "board");
    for (int house = 0; house < INDEX_HOUSES; house++) {
        uint64_t seeds = (uint64_t)vectors_item(houses, (size_t)house);
        *(house < BOARD_HOUSES ? &board.own : &board.other) |= seeds << (8 * (house % BOARD_HOUSES));
    }
    return board;
}

/* A position of the reference: its bracket and that of each move, in the view of the side that moves there.
 */
static void check_sample(const json_t *row, struct solver_values raw)
{
    struct board board = mover_board(row);
    const json_t *expected = json_object_get(row, "s0");
    uint64_t number = index_board(board);
    assert_int_equal(raw.lo[number], vectors_number(expected, "lo"));
    assert_int_equal(raw.up[number], vectors_number(expected, "up"));
    const char *house;
    json_t *move;
    unsigned seen = 0;
    json_object_foreach(json_object_get(expected, "moves"), house, move)
    {
        struct board next = board_make_site(board, house[0] - 'A');
        number = index_board(next);
        assert_int_equal(layer_gain(next) - raw.up[number], vectors_number(move, "lo"));
        assert_int_equal(layer_gain(next) - raw.lo[number], vectors_number(move, "up"));
        seen |= 1u << (house[0] - 'A');
    }
    assert_int_equal(seen, board_legal_site(board));
}

/* Before certification: statistics and single boards. Certification: the figures of DESIGN section 10. */
static void test_site_brackets(void **state)
{
    (void)state;
    struct solver *solver = solve("site", SITE_SEEDS);
    json_t *root = vectors_load(VECTORS "site-brackets.json");
    for (int seeds = 0; seeds <= SITE_SEEDS; seeds++) {
        const json_t *row = json_array_get(json_object_get(root, "by_seeds"), (size_t)seeds);
        check_brackets(row, solver_raw(solver), seeds);
        const struct solver_layer *facts = solver_layer(solver, seeds);
        assert_int_equal(facts->exact, vectors_number(row, "exact_own_half_split"));
        assert_int_equal(facts->failed, seeds == 10 ? 7288 : seeds == 12 ? 22789 : 0);
        assert_true(facts->plies <= facts->line);
        if (seeds == 11)
            assert_int_equal(facts->plies, 131);
    }
    json_decref(root);
    json_t *sample = vectors_load(VECTORS "sample_1000.json");
    size_t checked = 0;
    for (size_t i = 0; i < json_array_size(sample); i++) {
        const json_t *row = json_array_get(sample, i);
        if (vectors_number(row, "n") <= SITE_SEEDS) {
            check_sample(row, solver_raw(solver));
            checked++;
        }
    }
    assert_true(checked == 1000 || SITE_SEEDS < 12);
    json_decref(sample);
    struct solver_values raw = solver_raw(solver), values = solver_values(solver);
    for (uint64_t i = 0; i < index_layer_start(SITE_SEEDS + 1); i++)
        assert_true(values.lo[i] <= raw.lo[i] && values.up[i] >= raw.up[i]);
    solver_destroy(solver);
}

/* --- un-sowing --- */

struct moves_seen {
    long long forward, backward;
};

/* What is found from behind leads here, and is found once. */
static void check_before(const struct rules *rules, struct board board, struct moves_seen *seen)
{
    struct board before[LAYER_BEFORE_MAX];
    uint8_t houses[LAYER_BEFORE_MAX];
    int count = layer_before(board, rules->slam, rules->feeding, before, houses);
    for (int j = 0; j < count; j++) {
        bool found = false;
        for (unsigned mask = board_legal(rules, before[j]); mask != 0; mask &= mask - 1)
            found |= board_equal(board_make(rules, before[j], __builtin_ctz(mask)), board);
        assert_true(found);
        assert_true(board_equal(board_make(rules, before[j], houses[j]), board));
        for (int k = 0; k < j; k++)
            assert_false(board_equal(before[k], before[j]));
    }
    seen->backward += count;
    for (unsigned mask = board_legal(rules, board); mask != 0; mask &= mask - 1) {
        struct board next = board_make(rules, board, __builtin_ctz(mask));
        seen->forward += ((next.own | next.other) >> 48) == 0;
    }
}

static void check_layer(const struct rules *rules, int seeds, const uint64_t *rows, uint64_t step,
                        struct moves_seen *seen)
{
    struct layer layer;
    assert_int_equal(layer_init(&layer, seeds, rows), 0);
    assert_int_equal(layer.size, index_layer_size(seeds));
    uint64_t number = 0;
    for (size_t s = 0; s < layer.segment_count; s++)
        for (uint32_t i = 0; i < layer.segments[s].length; i++, number++) {
            struct board board = layer_board(&layer, &layer.segments[s], i);
            assert_int_equal(index_in_layer(board), number);
            assert_int_equal(layer.segments[s].start + i, number);
            if (number % step == 0)
                check_before(rules, board, seen);
        }
    assert_int_equal(number, layer.size);
    layer_done(&layer);
}

/* Every legal move without captures is found from behind exactly once, under every rule set: each that is
 * found is one, and there are as many. */
static void test_before(void **state)
{
    (void)state;
    uint64_t *rows = layer_rows_create(13);
    for (size_t preset = 0; rules_preset(preset) != NULL; preset++) {
        struct moves_seen seen = {0, 0}, sampled = {0, 0};
        for (int seeds = 0; seeds <= 7; seeds++)
            check_layer(rules_preset(preset), seeds, rows, 1, &seen);
        assert_true(seen.forward > 90000);
        assert_int_equal(seen.forward, seen.backward);
        check_layer(rules_preset(preset), 13, rows, 997, &sampled);
        assert_true(sampled.backward > 1000);
    }
    free(rows);
}

/* A sowing of more than a lap, taken back: 23 seeds, and each house after the origin holds its share. */
static void test_before_laps(void **state)
{
    (void)state;
    struct board from = {.own = 23, .other = 0};
    struct board after = board_make_site(from, 0);
    struct board before[LAYER_BEFORE_MAX];
    int count = layer_before(after, RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_MUST, before, NULL), found = 0;
    for (int i = 0; i < count; i++)
        found += board_equal(before[i], from);
    assert_int_equal(board_store(after.other), 0);
    assert_int_equal(found, 1);
}

/* --- the file --- */

struct file {
    char path[64];
    uint8_t *bytes;
    size_t size;
};

static void make_path(char path[64])
{
    snprintf(path, 64, "/tmp/kroo-test-tables-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static struct file build(const char *text, int seeds, int threads)
{
    struct file file = {.size = (size_t)tables_file_size(seeds)};
    make_path(file.path);
    struct rules rules = vectors_rules(text);
    assert_int_equal(tables_build(&rules, seeds, threads, file.path, NULL, NULL), TABLES_OK);
    file.bytes = malloc(file.size + 1);
    FILE *stream = fopen(file.path, "rb");
    assert_true(stream != NULL && file.bytes != NULL);
    assert_int_equal(fread(file.bytes, 1, file.size + 1, stream), file.size);
    fclose(stream);
    return file;
}

static void discard(struct file *file)
{
    unlink(file->path);
    free(file->bytes);
}

static void test_threads_give_the_same_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *one, *two; /* rules of one family */
        int seeds;
    } cases[] = {
        {"site", "international", 10},
        {"site", "auale", 8},
        {"awari", "awari", 11},
        {"school", "school", 10},
        {"slam-illegal", "slam-illegal", 8},
        {"slam-rest-to-opponent", "slam-rest-to-opponent,repetitions=2", 8},
        {"ghana", "ghana", 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int seeds = cases[i].seeds <= SITE_SEEDS ? cases[i].seeds : SITE_SEEDS;
        struct file one = build(cases[i].one, seeds, 1), two = build(cases[i].two, seeds, 3);
        assert_int_equal(one.size, two.size);
        assert_memory_equal(one.bytes, two.bytes, one.size);
        struct tables *tables;
        struct tables_fault fault;
        assert_int_equal(tables_parse(one.bytes, one.size, NULL, &tables), TABLES_OK);
        if (!tables_check(tables, 2, &fault))
            fail_msg("%s: board %llu of %d seeds: %s", cases[i].one, (unsigned long long)fault.number,
                     fault.seeds, fault.what);
        tables_close(tables);
        discard(&one);
        discard(&two);
    }
}

static void test_probe(void **state)
{
    (void)state;
    enum { SEEDS = 9 };
    struct file file = build("site", SEEDS, 2);
    struct solver *solver = solve("site", SEEDS);
    struct rules site = vectors_rules("site");
    struct tables *tables;
    assert_int_equal(tables_open(file.path, &site, &tables), TABLES_OK);
    assert_int_equal(tables->seeds, SEEDS);
    assert_int_equal(tables->convention, TABLES_OWN_ROWS);
    assert_string_equal(tables->rules.name, "site");
    for (int seeds = 0; seeds <= SEEDS; seeds++)
        for (uint64_t i = 0; i < index_layer_size(seeds); i++) {
            struct board board = index_unrank(seeds, i);
            struct tables_value value = {0};
            uint64_t number = index_board(board);
            board.own |= UINT64_C(20) << 48;
            assert_true(tables_probe(tables, &board, &value));
            assert_int_equal(value.lo, solver_values(solver).lo[number]);
            assert_int_equal(value.up, solver_values(solver).up[number]);
            assert_int_equal(value.plies, solver_layer(solver, seeds)->plies);
            assert_int_equal(value.move >= 0, board_legal_site(board) != 0);
        }
    struct board larger = {.own = 4, .other = 6};
    struct tables_value untouched = {.lo = 77};
    assert_false(tables_probe(tables, &larger, &untouched));
    assert_int_equal(untouched.lo, 77);
    tables_close(tables);
    solver_destroy(solver);
    discard(&file);
}

/* The forced cycle of DESIGN section 10, where no value is free of history. */
static void test_forced_cycle(void **state)
{
    (void)state;
    struct file file = build("site", 3, 1);
    struct tables *tables;
    assert_int_equal(tables_parse(file.bytes, file.size, NULL, &tables), TABLES_OK);
    struct board cycle = {.own = UINT64_C(1) << 40, .other = UINT64_C(1) << 40};
    struct tables_value value = {0};
    assert_true(tables_probe(tables, &cycle, &value));
    assert_int_equal(value.lo, -2);
    assert_int_equal(value.up, 0);
    assert_int_equal(value.move, 5);
    struct board four = {.own = UINT64_C(2) << 8, .other = UINT64_C(1) << 16 | UINT64_C(1) << 40};
    assert_false(tables_probe(tables, &four, &value));
    tables_close(tables);
    discard(&file);
    file = build("site", 4, 1);
    assert_int_equal(tables_parse(file.bytes, file.size, NULL, &tables), TABLES_OK);
    assert_true(tables_probe(tables, &four, &value));
    assert_int_equal(value.lo, 4);
    assert_int_equal(value.up, 4);
    tables_close(tables);
    discard(&file);
}

static enum tables_error parse(const struct file *file, size_t size, const char *text)
{
    struct rules rules;
    if (text != NULL)
        rules = vectors_rules(text);
    struct tables *tables = NULL;
    enum tables_error error = tables_parse(file->bytes, size, text != NULL ? &rules : NULL, &tables);
    assert_int_equal(tables != NULL, error == TABLES_OK);
    tables_close(tables);
    return error;
}

static void seal_header(struct file *file)
{
    bytes_put_u32(file->bytes + TABLES_HEADER_SIZE - 4, crc32c(0, file->bytes, TABLES_HEADER_SIZE - 4));
}

static void test_refusals(void **state)
{
    (void)state;
    struct file file = build("site", 6, 1);
    assert_int_equal(parse(&file, file.size, "site"), TABLES_OK);
    assert_int_equal(parse(&file, file.size, "auale"), TABLES_OK);
    assert_int_equal(parse(&file, file.size, "international"), TABLES_OK);
    static const char *const others[] = {"school",
                                         "awari",
                                         "ghana",
                                         "togo",
                                         "slam-allowed",
                                         "slam-illegal",
                                         "site,stop_leftovers=stay",
                                         "site,leftovers=stay",
                                         "site,repetitions=0,quiet_limit=0"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(parse(&file, file.size, others[i]), TABLES_ERROR_RULES);
    for (size_t size = 0; size < file.size; size += size < 700 ? 1 : 997)
        assert_int_not_equal(parse(&file, size, NULL), TABLES_OK);
    assert_int_equal(parse(&file, 7, NULL), TABLES_ERROR_MAGIC);
    assert_int_equal(parse(&file, 639, NULL), TABLES_ERROR_SIZE);
    assert_int_equal(parse(&file, file.size - 2, NULL), TABLES_ERROR_SIZE);
    for (size_t at = 0; at < file.size; at += at < 700 ? 1 : 499) { /* one bit anywhere */
        file.bytes[at] ^= 0x10;
        assert_int_not_equal(parse(&file, file.size, NULL), TABLES_OK);
        file.bytes[at] ^= 0x10;
    }
    /* headers that are sound by checksum and wrong by content: convention, seeds, plies, rules, layer size */
    static const struct {
        size_t at;
        uint8_t byte;
        enum tables_error error;
    } lies[] = {
        {8, 2, TABLES_ERROR_VERSION},  {10, 1, TABLES_ERROR_HEADER},   {10, 3, TABLES_ERROR_HEADER},
        {11, 7, TABLES_ERROR_SIZE},    {11, 200, TABLES_ERROR_HEADER}, {12, 1, TABLES_ERROR_HEADER},
        {28, 1, TABLES_ERROR_HEADER},  {31, 255, TABLES_ERROR_HEADER}, {32, 'x', TABLES_ERROR_HEADER},
        {192, 2, TABLES_ERROR_HEADER},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t kept = file.bytes[lies[i].at];
        file.bytes[lies[i].at] = lies[i].byte;
        seal_header(&file);
        assert_int_equal(parse(&file, file.size, NULL), lies[i].error);
        file.bytes[lies[i].at] = kept;
    }
    seal_header(&file);
    assert_int_equal(parse(&file, file.size, NULL), TABLES_OK);
    discard(&file);
    struct tables *tables = NULL;
    assert_int_equal(tables_open("/nonexistent/tables", NULL, &tables), TABLES_ERROR_READ);
    assert_int_equal(tables_open("/tmp", NULL, &tables), TABLES_ERROR_READ);
    assert_int_equal(tables_open("/dev/null", NULL, &tables), TABLES_ERROR_READ);
    struct rules togo = vectors_rules("togo"), site = vectors_rules("site");
    assert_int_equal(tables_build(&togo, 3, 1, "/tmp/kroo-test-togo", NULL, NULL), TABLES_ERROR_UNSUPPORTED);
    assert_int_equal(tables_build(&site, 3, 1, "/nonexistent/tables", NULL, NULL), TABLES_ERROR_WRITE);
}

/* An entry that its checksum covers but its successors contradict. */
static void test_check_finds_a_wrong_entry(void **state)
{
    (void)state;
    struct file file = build("site", 6, 1);
    for (int i = 0; i < 200; i++) {
        uint64_t number = mix(5, (uint64_t)i) % (index_layer_start(6) + index_layer_size(6));
        uint8_t *at = file.bytes + TABLES_HEADER_SIZE + 2 * number;
        uint16_t kept = bytes_get_u16(at);
        struct tables_value value = tables_decode(kept);
        int move = kept >> 12;
        static const int moves[] = {6, 0, 1, 2, 3, 4, 5, 7};
        switch (i % 3) {
        case 0:
            bytes_put_u16(at, tables_entry(value.lo - 2, value.up, move));
            break;
        case 1:
            bytes_put_u16(at, tables_entry(value.lo, value.up + 2, move));
            break;
        default:
            bytes_put_u16(at, (uint16_t)(tables_entry(value.lo, value.up, moves[0])));
        }
        bytes_put_u32(file.bytes + 24,
                      crc32c(0, file.bytes + TABLES_HEADER_SIZE, file.size - TABLES_HEADER_SIZE));
        seal_header(&file);
        struct tables *tables;
        struct tables_fault fault;
        assert_int_equal(tables_parse(file.bytes, file.size, NULL, &tables), TABLES_OK);
        assert_false(tables_check(tables, 2, &fault));
        assert_non_null(fault.what);
        assert_true(index_layer_start(fault.seeds) + fault.number <= number || i % 3 != 2);
        tables_close(tables);
        bytes_put_u16(at, kept);
    }
    discard(&file);
}

/* --- the promise --- */

/* A game under threefold repetition to its end: South by the stored moves, North at random. The stores are
 * such that South's LO at the root makes up for `ahead` seeds less than a draw. */
static enum game_result play_stored(struct game *game, const struct tables *tables, struct board board,
                                    int ahead, uint64_t seed)
{
    struct tables_value value = {0};
    assert_true(tables_probe(tables, &board, &value));
    int rest = POSITION_SEEDS - (int)board_seeds(board), difference = ahead - value.lo;
    struct position position = board_to_position(board, SIDE_SOUTH);
    position.stores[SIDE_SOUTH] = (uint8_t)((rest + difference) / 2);
    position.stores[SIDE_NORTH] = (uint8_t)((rest - difference) / 2);
    game_reset(game, &position);
    for (uint64_t ply = 0; !game_over(game); ply++) {
        struct position now = game_position(game);
        struct board view = board_from_position(&now);
        assert_true(tables_probe(tables, &view, &value));
        int house = value.move;
        if (now.side == SIDE_NORTH) {
            unsigned legal = game_legal(game);
            uint32_t choice = mix_below(mix(seed, ply), (uint32_t)__builtin_popcount(legal));
            for (; choice > 0; choice--)
                legal &= legal - 1;
            house = BOARD_HOUSES + __builtin_ctz(legal);
        }
        assert_int_equal(game_play(game, house), GAME_OK);
    }
    return game_result(game);
}

/* From a fresh layer, the stored moves never give less than LO, whatever the other side does. */
static void test_stored_moves_keep_their_word(void **state)
{
    (void)state;
    enum { SEEDS = SITE_SEEDS < 10 ? SITE_SEEDS : 10, GAMES = 20000 };
    struct file file = build("site", SEEDS, 2);
    struct tables *tables;
    assert_int_equal(tables_parse(file.bytes, file.size, NULL, &tables), TABLES_OK);
    struct rules rules = vectors_rules("international");
    struct game *game = game_create(&rules, NULL);
    int repetitions = 0, others = 0;
    for (uint64_t i = 0; i < GAMES; i++) {
        int seeds = 2 + (int)mix_below(mix(11, i), SEEDS - 1);
        struct board board = index_unrank(seeds, mix(12, i) % index_layer_size(seeds));
        int ahead = i % 2 == 0 ? 0 : 2;
        struct tables_value value = {0};
        assert_true(tables_probe(tables, &board, &value));
        if (board_legal_site(board) == 0 || ahead - value.lo > seeds)
            continue;
        enum game_result result = play_stored(game, tables, board, ahead, mix(13, i));
        bool kept = result == GAME_SOUTH_WINS || (result == GAME_DRAW && ahead == 0);
        if (!kept)
            fail_msg("board %llu of %d seeds: South does not get its LO",
                     (unsigned long long)index_in_layer(board), seeds);
        *(game_reason(game) == GAME_REASON_REPETITION ? &repetitions : &others) += 1;
    }
    assert_true(repetitions > 100 && others > 1000);
    game_destroy(game);
    tables_close(tables);
    discard(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_awari_as_published),
        cmocka_unit_test(test_school),
        cmocka_unit_test(test_site_zero_cycle),
        cmocka_unit_test(test_site_brackets),
        cmocka_unit_test(test_before),
        cmocka_unit_test(test_before_laps),
        cmocka_unit_test(test_threads_give_the_same_bytes),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_forced_cycle),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_check_finds_a_wrong_entry),
        cmocka_unit_test(test_stored_moves_keep_their_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
