#include "coordinator/fitness.h"

#include <string.h>

#include "tests/unit/check.h"

static const struct fitness_policy policy = {
    .reference = 3000000, .slow = 25, .spread = 40, .load = 150, .age_s = 600};

static void limits_follow_the_speed_within_bounds(void **state)
{
    (void)state;
    assert_int_equal(fitness_scale(&policy, 3000000), 1000000);
    assert_int_equal(fitness_scale(&policy, 1500000), 2000000);
    assert_int_equal(fitness_scale(&policy, 6000000), 500000);
    assert_int_equal(fitness_scale(&policy, 1), FITNESS_SCALE_MAX);
    assert_int_equal(fitness_scale(&policy, UINT32_MAX), FITNESS_SCALE_MIN);
    assert_int_equal(fitness_scale(&policy, 0), 1000000);
    struct fitness_policy none = {0};
    assert_int_equal(fitness_scale(&none, 12345), 1000000);
}

static void check(uint32_t speed, uint32_t spread_ppm, uint32_t load_ppm, int64_t age_ms, const char *says)
{
    char text[FITNESS_TEXT] = "";
    struct fitness_bench bench = {speed, spread_ppm, load_ppm, age_ms};
    const char *unfit = fitness_unfit(&policy, &bench, text);
    if (!says)
        assert_null(unfit);
    else
        assert_true(unfit == text && strstr(text, says));
}

static void slow_and_noisy_machines_are_told_so(void **state)
{
    (void)state;
    check(3000000, 20000, 500000, 0, NULL);
    check(750000, 409999, 1509999, 0, NULL);
    check(749999, 0, 0, 0, "too slow: 749999 nodes a second, less than 25 % of the reference 3000000");
    check(3000000, 410000, 0, 0, "varied by 41 %");
    check(3000000, 0, 1510000, 0, "a load of 151 % a core");
    check(0, 0, 0, 0, "not measured");
}

/* One bench says nothing for ever: neither a good one nor a bad one. */
static void an_old_bench_is_made_again(void **state)
{
    (void)state;
    check(3000000, 20000, 500000, 600000, NULL);
    check(3000000, 20000, 500000, 601000, "its bench is 601 s old, at most 600 s will do: it measures again");
    check(3000000, 990000, 500000, 601000, "its bench is 601 s old");
    check(0, 0, 0, 601000, "not measured");
    struct fitness_bench bench = {.speed = 1, .age_ms = INT64_MAX};
    struct fitness_policy lasting = {.age_s = 0};
    assert_false(fitness_is_old(&lasting, &bench));
    assert_true(fitness_is_old(&policy, &bench));
}

/* A machine that was busy when it was measured, and is measured again when it is quiet. */
static void a_noisy_machine_becomes_fit_again(void **state)
{
    (void)state;
    check(2900000, 700000, 3000000, 1000, "too noisy");
    check(2900000, 20000, 3000000, 1000, "others made a load of 300 % a core");
    check(2900000, 20000, 10000, 1000, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_follow_the_speed_within_bounds),
        cmocka_unit_test(slow_and_noisy_machines_are_told_so),
        cmocka_unit_test(an_old_bench_is_made_again),
        cmocka_unit_test(a_noisy_machine_becomes_fit_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
