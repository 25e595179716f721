/* Each of the stored positions has the one best move that it says, by tables built here; and it is hard. */
#include "tests/unit/engine/built.h"

#include "engine/certified.h"
#include "engine/game.h"

#define POSITIONS "tests/vectors/certified-best-moves.jsonl"
enum { COUNT = 200, DEPTH = 5, SEEDS = BUILT_SANITIZED ? 9 : 12 };

struct seen {
    const struct tables *tables;
    int proved, draws, wins;
    char texts[COUNT][POSITION_TEXT_MAX];
    int count;
};

/* The move keeps the draw or the win, by its lower bound; every other one loses or does not win, by its upper
 * bound. */
static void check_outcome(const struct position *position, int lo, int others_up, struct seen *seen)
{
    int difference = position->stores[SIDE_SOUTH] - position->stores[SIDE_NORTH];
    assert_true(lo > others_up);
    assert_true(difference + lo == 0 || difference + lo == 2);
    assert_true(difference + others_up < (difference + lo == 0 ? 0 : 1));
    *(difference + lo == 0 ? &seen->draws : &seen->wins) += 1;
}

static void check_position(json_t *row, void *context)
{
    struct seen *seen = context;
    struct position position;
    char reason[256];
    const char *text = vectors_text(row, "position");
    assert_int_equal(position_parse(text, &position, reason, sizeof reason), 0);
    int lo = (int)vectors_number(row, "lo"), others_up = (int)vectors_number(row, "others_up");
    int house = position_letter_house(vectors_text(row, "best")[0]);
    check_outcome(&position, lo, others_up, seen);
    assert_true(seen->count < COUNT);
    for (int i = 0; i < seen->count; i++)
        assert_string_not_equal(seen->texts[i], text);
    snprintf(seen->texts[seen->count++], POSITION_TEXT_MAX, "%s", text);
    struct board board = board_from_position(&position);
    int seeds = (int)board_seeds(board);
    assert_int_equal(seeds, vectors_number(row, "seeds"));
    if (seeds > SEEDS)
        return;
    board.own &= BOARD_ROW;
    board.other &= BOARD_ROW;
    struct certified found;
    assert_true(certified_find(seen->tables, board, &found));
    assert_int_equal(found.house, house);
    assert_int_equal(found.lo, lo);
    assert_int_equal(found.others_up, others_up);
    for (int depth = DEPTH - 1; depth <= DEPTH; depth++)
        assert_true(certified_misses(&seen->tables->rules, &position, house, depth));
    seen->proved++;
}

static void test_stored_positions(void **state)
{
    (void)state;
    static struct seen seen;
    struct tables *tables = built_tables("site", SEEDS);
    seen.tables = tables;
    assert_int_equal(vectors_each_line(POSITIONS, check_position, &seen), COUNT);
    assert_int_equal(seen.draws, COUNT / 2);
    assert_int_equal(seen.wins, COUNT / 2);
    assert_int_equal(seen.proved, BUILT_SANITIZED ? COUNT / 4 : COUNT);
    tables_close(tables);
}

/* Minimax against one without windows. */
static int plain(const struct rules *rules, struct board board, int depth)
{
    unsigned legal = board_legal(rules, board);
    enum board_ending ending = board_end(board, legal);
    if (ending != BOARD_GOES_ON) {
        int margin = board_margin(board, ending == BOARD_NO_MOVE ? rules->leftovers : RULES_LEFTOVERS_STAY);
        return margin + 1000 * ((margin > 0) - (margin < 0));
    }
    if (depth == 0)
        return board_margin(board, RULES_LEFTOVERS_STAY);
    int best = -10000;
    for (; legal != 0; legal &= legal - 1) {
        int value = -plain(rules, board_make(rules, board, __builtin_ctz(legal)), depth - 1);
        best = value > best ? value : best;
    }
    return best;
}

static void test_misses(void **state)
{
    (void)state;
    struct tables *tables = built_tables("site", 9);
    const struct rules *rules = &tables->rules;
    int missed = 0, found = 0;
    for (uint64_t i = 0; i < 40; i++) {
        struct certified certified;
        assert_true(certified_draw(tables, 3, 7 + (int)(i % 3), i, 2, &certified));
        struct board board = board_from_position(&certified.position);
        for (int depth = 1; depth <= 7; depth++) {
            int best = plain(rules, board, depth);
            int own = -plain(rules, board_make(rules, board, certified.house), depth - 1);
            bool misses = certified_misses(rules, &certified.position, certified.house, depth);
            assert_int_equal(misses, best > own);
            *(misses ? &missed : &found) += 1;
            assert_true(misses || depth > 2);
        }
    }
    assert_true(missed >= 80 && found > 5);
    tables_close(tables);
}

/* Boards without a choice, or with two moves as good, certify nothing. */
static void test_find_refuses(void **state)
{
    (void)state;
    struct tables *tables = built_tables("site", 6);
    struct certified found;
    struct board forced = {.own = UINT64_C(1) << 40, .other = UINT64_C(1) << 40};
    assert_false(certified_find(tables, forced, &found));
    struct board larger = {.own = 4, .other = 6};
    assert_false(certified_find(tables, larger, &found));
    int certified = 0, open = 0;
    for (uint64_t i = 0; i < index_layer_size(6); i++) {
        struct board board = index_unrank(6, i);
        struct truth truth;
        assert_true(truth_find(tables, board, &truth));
        int better = 0;
        for (unsigned mask = truth.legal; mask != 0; mask &= mask - 1) {
            int house = __builtin_ctz(mask), beaten = 0;
            for (unsigned others = truth.legal & ~(1u << house); others != 0; others &= others - 1)
                beaten += truth.move_lo[house] > truth.move_up[__builtin_ctz(others)];
            better += beaten > 0 && beaten == __builtin_popcount(truth.legal) - 1;
        }
        assert_int_equal(certified_find(tables, board, &found), better == 1);
        *(better == 1 ? &certified : &open) += 1;
    }
    assert_true(certified > 1000 && open > 1000);
    tables_close(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_positions),
        cmocka_unit_test(test_misses),
        cmocka_unit_test(test_find_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
