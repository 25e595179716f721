#include "coordinator/tune_book.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/check.h"

static void add(struct tune_book *book, uint64_t batch)
{
    struct store_tune_batch row = {.batch = batch};
    row.weights[0][0] = (uint8_t)batch;
    snprintf(row.options[1], sizeof row.options[1], "CutMargin=%d", (int)batch);
    assert_int_equal(tune_book_add(book, &row), 0);
}

static void finds_the_players_of_a_pair(void **state)
{
    (void)state;
    struct tune_book *book = tune_book_create(8, 0);
    assert_null(tune_book_find(book, 0));
    assert_int_equal(tune_book_limit(book), 0);
    add(book, 0);
    add(book, 1);
    assert_int_equal(tune_book_limit(book), 16);
    assert_int_equal(tune_book_find(book, 7)->weights[0][0], 0);
    assert_int_equal(tune_book_find(book, 8)->weights[0][0], 1);
    assert_string_equal(tune_book_find(book, 15)->options[1], "CutMargin=1");
    assert_null(tune_book_find(book, 16));
    tune_book_destroy(book);
}

/* News come batch by batch, again after a restart, and empty near the end. */
static void news_are_merged_once(void **state)
{
    (void)state;
    struct tune_book *book = tune_book_create(4, 0), *news = tune_book_create(4, 1),
                     *none = tune_book_create(4, 9);
    add(book, 0);
    add(news, 1);
    add(news, 2);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(tune_book_merge(book, news), 0);
        assert_int_equal(tune_book_limit(book), 12);
    }
    assert_int_equal(tune_book_find(book, 9)->weights[0][0], 2);
    assert_int_equal(tune_book_merge(book, none), 0);
    assert_int_equal(tune_book_limit(book), 12);
    assert_non_null(tune_book_find(book, 0));
    add(none, 9);
    assert_int_equal(tune_book_merge(book, none), 0);
    assert_null(tune_book_find(book, 0));
    assert_int_equal(tune_book_find(book, 36)->weights[0][0], 9);
    assert_int_equal(tune_book_limit(book), 40);
    tune_book_destroy(book);
    tune_book_destroy(news);
    tune_book_destroy(none);
}

/* A million batches take no more than the bound. */
static void old_batches_are_forgotten(void **state)
{
    (void)state;
    struct tune_book *book = tune_book_create(1, 0);
    for (uint64_t batch = 0; batch < 3 * TUNE_BOOK_MAX; batch++) {
        add(book, batch);
        assert_true(book->count <= TUNE_BOOK_MAX);
        assert_non_null(tune_book_find(book, batch));
        assert_non_null(tune_book_find(book, batch > 64 ? batch - 64 : 0));
    }
    assert_null(tune_book_find(book, 0));
    assert_int_equal(tune_book_limit(book), 3 * TUNE_BOOK_MAX);
    tune_book_destroy(book);
}

/* OpenBench#153: what was forgotten is asked for once more, and never more than the bound is remembered. */
static void forgotten_batches_are_recalled(void **state)
{
    (void)state;
    struct tune_book *book = tune_book_create(2, 1000), *ended = tune_book_create(2, TUNE_BOOK_NOTHING);
    struct store_tune_batch row = {0};
    add(book, 1000);
    assert_false(tune_book_is_forgotten(book, 2000));
    assert_false(tune_book_is_forgotten(book, 2002));
    for (uint64_t batch = 0; batch < 3 * TUNE_BOOK_RECALLED; batch++) {
        row.batch = batch;
        row.weights[0][0] = (uint8_t)(batch + 1);
        snprintf(row.options[0], sizeof row.options[0], "CutMargin=%d", (int)batch);
        assert_true(tune_book_is_forgotten(book, 2 * batch + 1));
        assert_int_equal(tune_book_recall(book, &row), 0);
        assert_int_equal(tune_book_recall(book, &row), 0);
        assert_false(tune_book_is_forgotten(book, 2 * batch + 1));
        assert_int_equal(tune_book_find(book, 2 * batch)->weights[0][0], (uint8_t)(batch + 1));
        assert_string_equal(tune_book_find(book, 2 * batch)->options[0], row.options[0]);
    }
    assert_true(tune_book_is_forgotten(book, 0));
    assert_non_null(tune_book_find(book, 2 * (2 * TUNE_BOOK_RECALLED)));
    assert_int_equal(tune_book_limit(book), 2002);
    assert_true(tune_book_is_forgotten(ended, 5));
    assert_int_equal(tune_book_recall(ended, &row), 0);
    assert_non_null(tune_book_find(ended, 2 * row.batch));
    tune_book_destroy(book);
    tune_book_destroy(ended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_players_of_a_pair),
        cmocka_unit_test(news_are_merged_once),
        cmocka_unit_test(old_batches_are_forgotten),
        cmocka_unit_test(forgotten_batches_are_recalled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
