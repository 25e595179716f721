#include "coordinator/power.h"

#include <math.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/check.h"

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Nearest doubles of the exact values, by arithmetic of 400 bits (mpmath). These bits are what tunes rest on,
 * so they hold on every machine. */
static void bits_are_the_same_everywhere(void **state)
{
    (void)state;
    static const struct {
        double x, y, expected;
    } rows[] = {
#include "tests/vectors/power.inc"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bits_of(power(rows[i].x, rows[i].y)) != bits_of(rows[i].expected))
            fail_msg("power(%a, %a) is %a, not %a", rows[i].x, rows[i].y, power(rows[i].x, rows[i].y),
                     rows[i].expected);
}

static void what_is_exact_is_exact(void **state)
{
    (void)state;
    assert_true(power(1, 0.602) == 1 && power(7.25, 0) == 1 && power(7.25, 1) == 7.25);
    assert_true(power(1024, 0.5) == 32 && power(3, 4) == 81 && power(2, -3) == 0.125);
    assert_true(power(1e9, 2) == 1e18 && power(0.25, 0.5) == 0.5);
}

/* libm is right to within a last place: no argument of a tune is far off. */
static void it_is_what_libm_says(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        double x = 1 + (double)(mix(i, 1) >> 20), y = (double)(mix(i, 2) >> 11) * 0x1p-52;
        double expected = pow(x, y);
        assert_true(fabs(power(x, y) - expected) <= 2 * (nextafter(expected, INFINITY) - expected));
    }
}

static void the_ends_are_told(void **state)
{
    (void)state;
    assert_true(isnan(power(0, 1)) && isnan(power(-2, 2)) && isnan(power(NAN, 1)) &&
                isnan(power(2, INFINITY)));
    assert_true(isinf(power(1e300, 2)) && power(1e300, -2) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_the_same_everywhere),
        cmocka_unit_test(what_is_exact_is_exact),
        cmocka_unit_test(it_is_what_libm_says),
        cmocka_unit_test(the_ends_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
