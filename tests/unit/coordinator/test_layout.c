#include "coordinator/cli/layout.h"

#include "tests/unit/check.h"

static size_t total(const struct layout_column *columns, size_t count)
{
    size_t sum = 0, shown = 0;
    for (size_t c = 0; c < count; c++) {
        sum += columns[c].width;
        shown += columns[c].width > 0;
    }
    return sum + (shown > 0 ? (shown - 1) * LAYOUT_GAP : 0);
}

static void fits(void **state)
{
    (void)state;
    struct layout_column wide[] = {{.natural = 3}, {.natural = 30, .may_be_cut = true}, {.natural = 8}};
    assert_int_equal(layout_fit(wide, 3, 0), 0);
    assert_int_equal(wide[1].width, 30);
    assert_int_equal(layout_fit(wide, 3, 45), 0);
    assert_int_equal(wide[1].width, 30);
    assert_int_equal(layout_fit(wide, 3, 35), 0); /* the text alone gives way */
    assert_int_equal(wide[1].width, 20);
    assert_int_equal(wide[0].width + wide[2].width, 11);
}

static void leaves_out(void **state)
{
    (void)state;
    struct layout_column columns[] = {{.natural = 4},
                                      {.natural = 40, .may_be_cut = true},
                                      {.natural = 16, .gives_up = 2},
                                      {.natural = 10, .gives_up = LAYOUT_EMPTY},
                                      {.natural = 16, .gives_up = 1}};
    /* The empty one goes before a letter is cut, */
    assert_int_equal(layout_fit(columns, 5, 82), 1);
    assert_int_equal(columns[3].width, 0);
    assert_int_equal(columns[1].width, 40);
    /* then texts are cut to what still tells something, then the less wanted of the others goes. */
    assert_int_equal(layout_fit(columns, 5, 56), 2);
    assert_int_equal(columns[2].width, 0);
    assert_int_equal(columns[4].width, 16);
    assert_int_equal(columns[1].width, 32);
    assert_int_equal(layout_fit(columns, 5, 15), 3);
    assert_int_equal(columns[1].width, 9);
    /* Something always stays, however narrow it is. */
    assert_int_equal(layout_fit(columns, 5, 1), 4);
    assert_int_equal(columns[0].width, 4);
}

/* Whatever the columns, what is shown fits or is one column. */
static void any_width(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 2000; round++) {
        struct layout_column columns[12];
        size_t count = 1 + (random >> 8) % 12, hidden, shown = 0;
        for (size_t c = 0; c < count; c++) {
            random = random * 1664525u + 1013904223u;
            columns[c] = (struct layout_column){.natural = (random >> 10) % 50,
                                                .may_be_cut = (random >> 20) & 1,
                                                .gives_up = (random >> 21) % 3 == 0 ? (random >> 24) % 9 : 0};
        }
        size_t room = 1 + (random >> 4) % 200;
        hidden = layout_fit(columns, count, room);
        for (size_t c = 0; c < count; c++)
            shown += columns[c].width > 0;
        assert_int_equal(hidden + shown, count);
        assert_true(shown >= 1);
        assert_true(total(columns, count) <= room || shown == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits), cmocka_unit_test(leaves_out),
                                       cmocka_unit_test(any_width)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
