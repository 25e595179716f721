#include "eval/quantize.h"

#include <string.h>

#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

static struct fit *known_fit(void)
{
    struct synthetic truth;
    struct fit *fit = calloc(1, sizeof *fit);
    synthetic_truth(&truth);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        fit->phases[phase].weight = 1000.0;
        memcpy(fit->phases[phase].weights, truth.weights[phase], sizeof truth.weights[phase]);
    }
    return fit;
}

static void a_seed_in_the_store_is_worth_a_hundred(void **state)
{
    (void)state;
    struct fit *fit = known_fit();
    struct quantized made;
    assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_OK);
    double mean = 0.0;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        mean += made.phases[phase].store / ldexp(4.0, made.shift);
    assert_close(mean, 100.0, 0.02);
    assert_int_equal(made.per_logit, 308); /* 100 / (0.25 + 0.05 * 1.5) */
    free(fit);
}

/* Fifteen weights of half a unit each, and the shift's half: no score is off by more than that. */
static void scores_are_off_by_rounding_only(void **state)
{
    (void)state;
    enum { KEYS = 5000 };
    struct fit *fit = known_fit();
    struct quantized made;
    assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_OK);
    struct weights *weights = NULL;
    assert_int_equal(weights_create_table("site", made.shift, made.per_logit, made.phases, "{}", &weights),
                     WEIGHTS_OK);
    uint64_t *keys = malloc(KEYS * sizeof *keys);
    struct merged *rows = calloc(KEYS, sizeof *rows);
    synthetic_keys(11, keys, KEYS);
    double bias = 0.0;
    for (int i = 0; i < KEYS; i++) {
        rows[i].key = keys[i];
        double exact = features_logit(keys[i], fit->phases[features_phase(keys[i])].weights) * made.per_logit;
        bias += (features_score(keys[i], weights) - exact) / KEYS;
    }
    double unit = ldexp(1.0, -made.shift), largest = quantize_largest_error(fit, weights, rows, KEYS);
    assert_true(made.shift >= 1);
    assert_true(largest > 0.0 && largest <= 0.5 + unit * (6.5 + 0.5 * 48.0));
    assert_true(fabs(bias) < 0.5 * unit + 0.5);
    free(rows);
    free(keys);
    weights_destroy(weights);
    free(fit);
}

static void numbers_that_are_none_are_refused(void **state)
{
    (void)state;
    struct fit *fit = known_fit();
    struct quantized made = {.shift = 99};
    fit->phases[2].weights[100] = NAN;
    assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_ERROR_NUMBER);
    fit->phases[2].weights[100] = -INFINITY;
    assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_ERROR_NUMBER);
    assert_int_equal(made.shift, 99);
    free(fit);
}

static void weights_too_large_are_refused(void **state)
{
    (void)state;
    struct fit *fit = known_fit();
    struct quantized made;
    fit->phases[1].weights[50] = 60.0; /* needs a smaller shift */
    assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_OK);
    assert_int_equal(made.shift, 0);
    fit->phases[1].weights[50] = 1e4;
    assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_ERROR_RANGE);
    fit->phases[1].weights[50] = 1e300;
    assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_ERROR_RANGE);
    free(fit);
}

static void worthless_stores_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {0.0, -0.3, 1e-6, 50.0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fit *fit = known_fit();
        struct quantized made;
        for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
            fit->phases[phase].weights[FEATURES_STORE] = bad[i];
        assert_int_equal(quantize_fit(fit, WEIGHTS_TABLE, &made), QUANTIZE_ERROR_STORE);
        free(fit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_in_the_store_is_worth_a_hundred),
        cmocka_unit_test(scores_are_off_by_rounding_only),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(weights_too_large_are_refused),
        cmocka_unit_test(worthless_stores_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
