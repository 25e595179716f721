#include "eval/scale.h"

#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

static void known_scale_is_found(void **state)
{
    (void)state;
    struct scale *scale = scale_create();
    for (int score = -3000; score <= 3000; score++)
        scale_add(scale, score, 1.0 / (1.0 + exp(-score / 370.0)), 2.0);
    double k = 0.0;
    assert_int_equal(scale_fit(scale, &k), SCALE_OK);
    assert_close(k, 370.0, 1e-6);
    free(scale);
}

/* Drawn results instead of probabilities: within four standard errors. */
static void drawn_results_give_the_scale_back(void **state)
{
    (void)state;
    struct scale *scale = scale_create();
    double information = 0.0;
    for (uint64_t i = 0; i < 200000; i++) {
        double score = floor(4000.0 * synthetic_uniform(mix(1, i)) - 2000.0);
        double p = 1.0 / (1.0 + exp(-score / 400.0));
        information += score * score * p * (1.0 - p);
        scale_add(scale, (int32_t)score, synthetic_uniform(mix(2, i)) < p ? 1.0 : 0.0, 1.0);
    }
    double k = 0.0;
    assert_int_equal(scale_fit(scale, &k), SCALE_OK);
    assert_true(fabs(1.0 / k - 1.0 / 400.0) < 4.0 / sqrt(information));
    free(scale);
}

static void scores_that_say_nothing_are_refused(void **state)
{
    (void)state;
    double k = -1.0;
    struct scale *scale = scale_create();
    assert_int_equal(scale_fit(scale, &k), SCALE_ERROR_EMPTY);
    scale_add(scale, 0, 1.0, 5.0);
    assert_int_equal(scale_fit(scale, &k), SCALE_ERROR_EMPTY);
    scale_add(scale, 100, 0.0, 1.0);
    scale_add(scale, -100, 1.0, 1.0);
    assert_int_equal(scale_fit(scale, &k), SCALE_ERROR_UNRELATED);
    scale_add(scale, 7, NAN, 1.0);
    assert_int_equal(scale_fit(scale, &k), SCALE_ERROR_RANGE);
    assert_close(k, -1.0, 0.0);
    free(scale);
}

static void extreme_scores_stay_in_range(void **state)
{
    (void)state;
    double k = 0.0;
    struct scale *scale = scale_create();
    scale_add(scale, INT32_MAX, 1.0, 1.0);
    scale_add(scale, INT32_MIN, 0.0, 1.0);
    scale_add(scale, 31000, 1.0, 1.0);
    assert_int_equal(scale_fit(scale, &k), SCALE_OK);
    assert_true(k >= SCALE_K_MIN * 0.999 && k <= SCALE_K_MAX);
    free(scale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_scale_is_found),
        cmocka_unit_test(drawn_results_give_the_scale_back),
        cmocka_unit_test(scores_that_say_nothing_are_refused),
        cmocka_unit_test(extreme_scores_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
