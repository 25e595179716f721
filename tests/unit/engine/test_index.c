#include "tests/unit/engine/vectors.h"

#include "engine/index.h"

static void test_layer_sizes(void **state)
{
    (void)state;
    json_t *root = vectors_load("tests/vectors/tables/position_counts.json");
    const json_t *counts = json_object_get(root, "position_counts");
    assert_int_equal(json_array_size(counts), POSITION_SEEDS + 1);
    uint64_t before = 0;
    for (int seeds = 0; seeds <= POSITION_SEEDS; seeds++) {
        const json_t *row = json_array_get(counts, (size_t)seeds);
        assert_int_equal(vectors_number(row, "n"), seeds);
        assert_int_equal(index_layer_size(seeds), vectors_number(row, "all"));
        assert_int_equal(index_layer_start(seeds), before);
        before += index_layer_size(seeds);
    }
    json_decref(root);
}

/* Every board of a few seeds: numbers in, the same numbers out, each board of the right seeds. Since both
 * sets have the same size, the index is minimal and perfect. */
static void test_every_small_board(void **state)
{
    (void)state;
    uint64_t number = 0;
    for (int seeds = 0; seeds <= 9; seeds++) {
        for (uint64_t i = 0; i < index_layer_size(seeds); i++, number++) {
            struct board board = index_unrank(seeds, i);
            if (board_seeds(board) != (unsigned)seeds ||
                board_store(board.own) + board_store(board.other) != 0 || index_in_layer(board) != i ||
                index_board(board) != number)
                fail_msg("board %llu of %d seeds does not come back", (unsigned long long)i, seeds);
        }
    }
    assert_int_equal(number, 293930); /* C(21, 12) */
}

static void test_large_boards(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        int seeds = (int)mix_below(mix(1, i), POSITION_SEEDS + 1);
        uint64_t number = mix(2, i) % index_layer_size(seeds);
        struct board board = index_unrank(seeds, number);
        assert_int_equal(board_seeds(board), seeds);
        assert_int_equal(index_in_layer(board), number);
        board.own |= UINT64_C(17) << 48; /* stores play no part */
        board.other |= UINT64_C(5) << 48;
        assert_int_equal(index_board(board), index_layer_start(seeds) + number);
    }
    struct position start = position_start();
    uint64_t number = index_in_layer(board_from_position(&start));
    assert_true(board_equal(index_unrank(POSITION_SEEDS, number), board_from_position(&start)));
    uint64_t last = index_layer_size(POSITION_SEEDS) - 1;
    assert_int_equal(index_unrank(POSITION_SEEDS, last).own, 48);
    assert_int_equal(index_unrank(POSITION_SEEDS, 0).other, UINT64_C(48) << 40);
}

/* The numbers of the reference sample were counted by another program. */
static void check_reference(const json_t *row)
{
    struct board board = {0, 0};
    const json_t *houses = json_object_get(row, "board");
    for (int house = 0; house < INDEX_HOUSES; house++) {
        uint64_t seeds = (uint64_t)vectors_item(houses, (size_t)house);
        *(house < BOARD_HOUSES ? &board.own : &board.other) |= seeds << (8 * (house % BOARD_HOUSES));
    }
    assert_int_equal(index_in_layer(board), vectors_number(row, "index"));
}

static void test_reference_numbers(void **state)
{
    (void)state;
    json_t *root = vectors_load("tests/vectors/tables/sample_1000.json");
    assert_int_equal(json_array_size(root), 1000);
    for (size_t i = 0; i < json_array_size(root); i++)
        check_reference(json_array_get(root, i));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_sizes),
        cmocka_unit_test(test_every_small_board),
        cmocka_unit_test(test_large_boards),
        cmocka_unit_test(test_reference_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
