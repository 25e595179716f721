#include "engine/clock.h"

#include "tests/unit/check.h"

static void a_share_never_breaks_the_clock(void **state)
{
    (void)state;
    static const int64_t lefts[] = {1, 2, 10, 29, 31, 100, 1000, 60000, 86400000},
                         increments[] = {0, 1, 50, 1000, 3600000};
    for (size_t i = 0; i < sizeof lefts / sizeof *lefts; i++)
        for (size_t j = 0; j < sizeof increments / sizeof *increments; j++)
            for (int64_t moves = 0; moves < 60; moves += 3) {
                int64_t soft, hard;
                clock_share(lefts[i], increments[j], moves, &soft, &hard);
                assert_true(soft >= 1 && hard >= soft);
                assert_true(hard == 1 || hard <= lefts[i]);
                assert_true(lefts[i] < 2 * CLOCK_RESERVE_MS || hard <= lefts[i] - CLOCK_RESERVE_MS);
            }
}

static void an_even_share_and_most_of_the_increment(void **state)
{
    (void)state;
    int64_t soft, hard;
    clock_share(25000, 1000, 0, &soft, &hard);
    assert_int_equal(soft, 875);
    assert_int_equal(hard, 5250);
    clock_share(25000, 0, 5, &soft, &hard);
    assert_int_equal(soft, 2500);
    assert_int_equal(hard, 15000);
    int64_t now = clock_now_us();
    assert_true(clock_now_us() >= now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_never_breaks_the_clock),
        cmocka_unit_test(an_even_share_and_most_of_the_increment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
