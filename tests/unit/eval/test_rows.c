#include "eval/rows.h"

#include <string.h>

#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

static void fill(struct rows *rows, const struct row *items, size_t count)
{
    rows_init(rows, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows_add(rows, &items[i]), ROWS_OK);
}

static void limit_is_refused_without_effect(void **state)
{
    (void)state;
    struct rows rows;
    struct row row = {.key = 1};
    rows_init(&rows, 20000);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(rows_add(&rows, &row), ROWS_OK);
    assert_int_equal(rows_add(&rows, &row), ROWS_ERROR_LIMIT);
    assert_int_equal(rows.count, 20000);
    rows_done(&rows);
}

static void target_blends_result_and_score(void **state)
{
    (void)state;
    struct row row = {.score = 300, .half_points = 2};
    assert_close(row_target(&row, 0.4, 300.0), 0.4 + 0.6 / (1.0 + exp(-1.0)), 1e-15);
    assert_close(row_target(&row, 1.0, 300.0), 1.0, 1e-15);
    row.score = PLAY_NO_SCORE;
    assert_close(row_target(&row, 0.4, 300.0), 1.0, 1e-15);
    row = (struct row){.score = 31000, .half_points = 1};
    assert_close(row_target(&row, 0.0, 1.0), 1.0, 1e-15);
    row.score = -31000;
    assert_close(row_target(&row, 0.0, 1.0), 0.0, 1e-15);
}

/* Seven wins and three losses of one position are one entry of ten with target 0.7 (leela-zero 416: dropping
 * repeats kept one noisy outcome in place of the mean). */
static void equal_positions_merge_to_their_mean(void **state)
{
    (void)state;
    struct rows rows;
    struct row items[12];
    for (int i = 0; i < 10; i++)
        items[i] = (struct row){
            .key = 5, .game = (uint32_t)i, .score = PLAY_NO_SCORE, .half_points = i % 10 < 7 ? 2 : 0};
    items[10] = (struct row){.key = 9, .score = PLAY_NO_SCORE, .half_points = 1};
    items[11] = (struct row){.key = 2, .score = PLAY_NO_SCORE, .half_points = 2};
    fill(&rows, items, 12);
    rows_sort(&rows);
    struct merged *merged;
    size_t count;
    assert_int_equal(rows_merge(&rows, 0.4, 100.0, 0.0, &merged, &count), ROWS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(merged[1].key, 5);
    assert_close(merged[1].target, 0.7, 1e-15);
    assert_close(merged[1].weight, 10.0, 0.0);
    free(merged);
    assert_int_equal(rows_merge(&rows, 0.4, 100.0, 4.0, &merged, &count), ROWS_OK);
    assert_close(merged[1].target, 0.7, 1e-15);
    assert_close(merged[1].weight, 4.0, 0.0);
    free(merged);
    rows_done(&rows);
}

static void digest_does_not_see_the_order_of_arrival(void **state)
{
    (void)state;
    struct row items[4] = {{.key = 3, .game = 0, .score = 5, .half_points = 2},
                           {.key = 3, .game = 1, .score = -5, .half_points = 0},
                           {.key = 1, .game = 2, .score = 5, .half_points = 1},
                           {.key = UINT64_C(1) << 40, .game = 3, .score = 0, .half_points = 1}};
    struct rows rows, none;
    uint8_t first[32], second[32], moved[32], changed[32];
    rows_init(&none, 1);
    fill(&rows, items, 4);
    rows_sort(&rows);
    rows_digest(&rows, &none, first);
    rows_digest(&none, &rows, moved);
    rows_done(&rows);
    struct row swapped[4] = {items[2], items[3], items[1], items[0]};
    swapped[0].game = 77;
    fill(&rows, swapped, 4);
    rows_sort(&rows);
    rows_digest(&rows, &none, second);
    rows.items[1].score++;
    rows_digest(&rows, &none, changed);
    assert_memory_equal(first, second, 32);
    assert_memory_not_equal(first, moved, 32);
    assert_memory_not_equal(first, changed, 32);
    rows_done(&rows);
}

static void shared_positions_are_counted(void **state)
{
    (void)state;
    struct row items[3] = {{.key = 10}, {.key = 20}, {.key = 20}};
    struct row sample[5] = {{.key = 20}, {.key = 5}, {.key = 30}, {.key = 10}, {.key = 20}};
    struct rows rows, other, none;
    rows_init(&none, 1);
    fill(&rows, items, 3);
    fill(&other, sample, 5);
    assert_int_equal(rows_shared(&rows, &other), 3);
    assert_int_equal(rows_shared(&none, &other), 0);
    assert_int_equal(rows_shared(&rows, &none), 0);
    rows_done(&rows);
    rows_done(&other);
}

/* A bug once: with all scores 0 no scale can be fitted, K is 0, and 0 / 0 came into targets that do not look
 * at scores. */
static void without_a_scale_the_result_alone_is_the_target(void **state)
{
    (void)state;
    struct row row = {.score = 0, .half_points = 2};
    assert_close(row_target(&row, 1.0, 0.0), 1.0, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_scale_the_result_alone_is_the_target),
        cmocka_unit_test(limit_is_refused_without_effect),
        cmocka_unit_test(target_blends_result_and_score),
        cmocka_unit_test(equal_positions_merge_to_their_mean),
        cmocka_unit_test(digest_does_not_see_the_order_of_arrival),
        cmocka_unit_test(shared_positions_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
