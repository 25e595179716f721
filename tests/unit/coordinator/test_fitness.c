#include "coordinator/fitness.h"

#include <string.h>

#include "tests/unit/check.h"

static const struct fitness_policy policy = {.reference = 3000000, .slow = 25, .spread = 40, .load = 150};

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

static void check(uint32_t speed, uint32_t spread_ppm, uint32_t load_ppm, const char *says)
{
    char text[FITNESS_TEXT] = "";
    const char *unfit = fitness_unfit(&policy, speed, spread_ppm, load_ppm, text);
    if (!says)
        assert_null(unfit);
    else
        assert_true(unfit == text && strstr(text, says));
}

static void slow_and_noisy_machines_are_told_so(void **state)
{
    (void)state;
    check(3000000, 20000, 500000, NULL);
    check(750000, 409999, 1509999, NULL);
    check(749999, 0, 0, "too slow: 749999 nodes a second, less than 25 % of the reference 3000000");
    check(3000000, 410000, 0, "varied by 41 %");
    check(3000000, 0, 1510000, "a load of 151 % a core");
    check(0, 0, 0, "not measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_follow_the_speed_within_bounds),
        cmocka_unit_test(slow_and_noisy_machines_are_told_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
