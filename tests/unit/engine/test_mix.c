/* The mixing function is a promise: the same experiment seed gives the same games for ever. */
#include "engine/mix.h"

#include "tests/unit/check.h"

/* Values computed apart, from the formula in the header in Python's unbounded integers. */
static void fixed_values(void **state)
{
    (void)state;
    assert_true(mix_finish(0) == 0);
    assert_true(mix_finish(1) == UINT64_C(0x5692161d100b05e5));
    assert_true(mix(0, 0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(mix(1, 2) == UINT64_C(0x70335fc3daf3d8a7));
    assert_true(mix(2, 1) == UINT64_C(0xe50c946b325658b5));
    assert_true(mix(UINT64_MAX, UINT64_MAX) == UINT64_C(0x4bffd802ebfb15e4));
    assert_true(mix_game_seed(42, 7, 1) == UINT64_C(0x51a30227065a3f24));
    assert_true(mix_opening_seed(42, 7) == UINT64_C(0xc4127c0baa5c6b57));
}

/* SplitMix64 seeded with 0 yields f(golden), f(2 golden), ... and f(0) is 0, so mix(0, b) is its stream:
 * the first outputs are published with Vigna's code and in Java's SplittableRandom. */
static void is_splitmix_from_zero(void **state)
{
    (void)state;
    assert_true(mix(0, 0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(mix(0, 1) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(mix(0, 2) == UINT64_C(0x06c45d188009454f));
}

static void numbers_below_a_bound_are_even(void **state)
{
    (void)state;
    unsigned counts[6] = {0};
    for (uint64_t i = 0; i < 60000; i++) {
        uint32_t number = mix_below(mix(9, i), 6);
        assert_true(number < 6);
        counts[number]++;
    }
    double chi2 = 0;
    for (int i = 0; i < 6; i++)
        chi2 += (counts[i] - 10000.0) * (counts[i] - 10000.0) / 10000.0;
    assert_true(chi2 < 20.5); /* 0.1 % point of chi2 with 5 degrees of freedom */
    assert_int_equal(mix_below(UINT64_MAX, 1), 0);
    assert_int_equal(mix_below(UINT64_MAX, 6), 5);
    assert_int_equal(mix_below(0, 6), 0);
}

static void streams_pairs_and_legs_differ(void **state)
{
    (void)state;
    assert_true(mix_game_seed(1, 0, 0) != mix_game_seed(1, 0, 1));
    assert_true(mix_game_seed(1, 0, 0) != mix_game_seed(1, 1, 0));
    assert_true(mix_game_seed(1, 0, 0) != mix_game_seed(2, 0, 0));
    assert_true(mix_game_seed(1, 0, 0) != mix_opening_seed(1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_values),
        cmocka_unit_test(is_splitmix_from_zero),
        cmocka_unit_test(numbers_below_a_bound_are_even),
        cmocka_unit_test(streams_pairs_and_legs_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
