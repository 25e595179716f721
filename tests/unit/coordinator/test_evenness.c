#include "coordinator/evenness.h"

#include "tests/unit/check.h"

static struct evenness of(int64_t ll, int64_t ld, int64_t dd, int64_t wl, int64_t dw, int64_t ww)
{
    struct evenness evenness;
    const int64_t counts[STATISTICS_PAIR_COUNTS] = {ll, ld, dd, wl, dw, ww};
    assert_int_equal(evenness_of(&evenness, counts), 0);
    assert_true(isfinite(evenness.z) && evenness.p >= 0 && evenness.p <= 1);
    return evenness;
}

static void a_fair_farm_is_left_alone(void **state)
{
    (void)state;
    struct evenness even = of(100, 20, 5, 200, 20, 100);
    assert_close(even.score, 0.5, 1e-6);
    assert_true(even.is_tested && even.p > 0.99 && even.elo_lo < 0 && even.elo_hi > 0);
}

static void a_lean_is_found(void **state)
{
    (void)state;
    struct evenness lean = of(70, 20, 5, 200, 20, 130);
    assert_true(lean.p < EVENNESS_P && lean.z > 0 && lean.elo_lo > 0);
    /* The same the other way round. */
    struct evenness back = of(130, 20, 5, 200, 20, 70);
    assert_close(back.z, -lean.z, 1e-12);
    assert_close(back.p, lean.p, 1e-12);
}

static void few_pairs_say_nothing(void **state)
{
    (void)state;
    assert_false(of(0, 0, 0, 0, 0, EVENNESS_PAIRS_MIN - 1).is_tested);
    assert_true(of(0, 0, 0, 0, 0, EVENNESS_PAIRS_MIN - 1).p == 1);
    assert_false(of(0, 0, 0, 0, 0, 0).is_tested);
    assert_true(of(0, 0, 30, 0, 0, 0).p > 0.99); /* all drawn: no NaN */
}

static void looking_at_many_costs(void **state)
{
    (void)state;
    struct evenness workers[] = {
        {.is_tested = true, .p = 0.03}, {.is_tested = true, .p = 0.001}, {.p = 1},
        {.is_tested = true, .p = 0.5},  {.is_tested = true, .p = 0.04},  {.is_tested = true, .p = 0},
    };
    evenness_correct(workers, 6);
    assert_close(workers[5].p, 0, 1e-15);
    assert_close(workers[1].p, 0.004, 1e-12); /* four were left */
    assert_close(workers[0].p, 0.09, 1e-12);
    assert_close(workers[4].p, 0.09, 1e-12); /* 0.08 by itself, and never below the one before */
    assert_close(workers[3].p, 0.5, 1e-12);
    assert_true(workers[2].p == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fair_farm_is_left_alone),
        cmocka_unit_test(a_lean_is_found),
        cmocka_unit_test(few_pairs_say_nothing),
        cmocka_unit_test(looking_at_many_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
