#include "eval/fit.h"

#include <string.h>

#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

enum { N = FEATURES_COLUMNS, ROWS = 120000 };

struct data {
    struct synthetic truth;
    struct rows rows;
    struct rows merging; /* behind `merged` */
    struct merged *merged;
    size_t count;
};

static const struct fit_options plain = {
    .model = WEIGHTS_TABLE, .kernel = FIT_SPARSE, .threads = 1, .iterations = FIT_ITERATIONS, .ridge = 1e-6};

static const struct fit_options dense_plain = {
    .model = WEIGHTS_TABLE, .kernel = FIT_DENSE, .threads = 2, .iterations = FIT_ITERATIONS, .ridge = 1e-6};

static struct fit_sums *new_sums(void)
{
    struct fit_sums *sums = malloc(sizeof *sums);
    assert_non_null(sums);
    return sums;
}

static int set_up(void **state)
{
    struct data *data = calloc(1, sizeof *data);
    synthetic_truth(&data->truth);
    synthetic_rows(&data->truth, 3, ROWS, &data->rows);
    *state = data;
    struct rows copy;
    rows_init(&copy, ROWS);
    for (size_t i = 0; i < data->rows.count; i++)
        if (rows_add(&copy, &data->rows.items[i]) != ROWS_OK)
            return -1;
    data->merging = copy;
    data->merged = rows_merge(&data->merging, 1.0, 1.0, 0.0, &data->count);
    return 0;
}

static int tear_down(void **state)
{
    struct data *data = *state;
    rows_done(&data->rows);
    rows_done(&data->merging);
    free(data);
    return 0;
}

static void phase_rows(const struct data *data, int phase, const struct merged **rows, size_t *count)
{
    size_t first = fit_phase_first(data->merged, data->count, phase);
    *rows = data->merged + first;
    *count = fit_phase_first(data->merged, data->count, phase + 1) - first;
}

/* (found - truth)' H (found - truth) is chi-squared with as many degrees of freedom as the block has
 * independent columns; directions without data do not count in it. */
static void known_weights_are_recovered(void **state)
{
    const struct data *data = *state;
    struct fit *fit = calloc(1, sizeof *fit);
    struct fit_sums *sums = new_sums();
    char reason[256] = "";
    struct fit_options options = plain;
    options.ridge = 1e-9;
    assert_int_equal(fit_run(data->merged, data->count, &options, NULL, NULL, fit, reason, sizeof reason),
                     FIT_OK);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        const double *truth = data->truth.weights[phase], *found = fit->phases[phase].weights;
        const struct merged *rows;
        size_t count;
        phase_rows(data, phase, &rows, &count);
        assert_true(count > 5000);
        assert_int_equal(fit_pass(rows, count, truth, &plain, sums), FIT_OK);
        double chi2 = 0.0;
        for (int i = 0; i < N; i++)
            for (int j = i; j < N; j++)
                chi2 += (i == j ? 1.0 : 2.0) * sums->hessian[i * N + j] * (found[i] - truth[i]) *
                        (found[j] - truth[j]);
        double freedom = fit->phases[phase].columns - 12.0; /* a house's counts sum to the bias's column */
        assert_true(chi2 < freedom + 5.0 * sqrt(2.0 * freedom));
        assert_true(chi2 > freedom - 6.0 * sqrt(2.0 * freedom));
    }
    free(sums);
    free(fit);
}

static void gradient_is_that_of_the_loss(void **state)
{
    const struct data *data = *state;
    const struct merged *rows;
    size_t count;
    phase_rows(data, 1, &rows, &count);
    double weights[N];
    for (int i = 0; i < N; i++)
        weights[i] = 0.4 * (synthetic_uniform(mix(5, (uint64_t)i)) - 0.5);
    struct fit_sums *here = new_sums(), *up = new_sums(), *down = new_sums();
    assert_int_equal(fit_pass(rows, count, weights, &plain, here), FIT_OK);
    for (int i = 0; i < N; i += i < 20 ? 1 : 7) {
        const double step = 1e-4;
        double moved[N];
        memcpy(moved, weights, sizeof moved);
        moved[i] = weights[i] + step;
        assert_int_equal(fit_pass(rows, count, moved, &plain, up), FIT_OK);
        moved[i] = weights[i] - step;
        assert_int_equal(fit_pass(rows, count, moved, &plain, down), FIT_OK);
        assert_close(here->gradient[i], (up->loss - down->loss) / (2.0 * step), 1e-4);
        for (int j = i; j < N; j += 13)
            assert_close(here->hessian[i * N + j], (up->gradient[j] - down->gradient[j]) / (2.0 * step),
                         1e-4);
    }
    free(here);
    free(up);
    free(down);
}

static void dense_and_sparse_agree(void **state)
{
    const struct data *data = *state;
    struct fit_sums *sparse = new_sums(), *dense = new_sums();
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        const struct merged *rows;
        size_t count;
        phase_rows(data, phase, &rows, &count);
        const double *weights = data->truth.weights[phase];
        assert_int_equal(fit_pass(rows, count, weights, &plain, sparse), FIT_OK);
        assert_int_equal(fit_pass(rows, count, weights, &dense_plain, dense), FIT_OK);
        assert_close(dense->loss, sparse->loss, 1e-9);
        for (int i = 0; i < N; i++) {
            assert_close(dense->gradient[i], sparse->gradient[i], 1e-9);
            for (int j = i; j < N; j++)
                assert_close(dense->hessian[i * N + j], sparse->hessian[i * N + j], 1e-9);
        }
    }
    free(sparse);
    free(dense);
}

static void dense_and_sparse_fits_agree(void **state)
{
    const struct data *data = *state;
    struct fit *sparse = calloc(1, sizeof *sparse), *dense = calloc(1, sizeof *dense);
    struct fit_options options = plain;
    char reason[256];
    assert_int_equal(fit_run(data->merged, data->count, &options, NULL, NULL, sparse, reason, sizeof reason),
                     FIT_OK);
    options.kernel = FIT_DENSE;
    assert_int_equal(fit_run(data->merged, data->count, &options, NULL, NULL, dense, reason, sizeof reason),
                     FIT_OK);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int i = 0; i < N; i++)
            assert_close(dense->phases[phase].weights[i], sparse->phases[phase].weights[i], 1e-9);
    free(sparse);
    free(dense);
}

static void threads_do_not_change_a_bit(void **state)
{
    const struct data *data = *state;
    struct fit *one = calloc(1, sizeof *one), *many = calloc(1, sizeof *many);
    char reason[256];
    for (int kernel = FIT_SPARSE; kernel <= FIT_DENSE; kernel++) {
        struct fit_options options = plain;
        options.kernel = (enum fit_kernel)kernel;
        options.iterations = 3;
        assert_int_equal(fit_run(data->merged, data->count, &options, NULL, NULL, one, reason, sizeof reason),
                         FIT_OK);
        for (options.threads = 2; options.threads <= 4; options.threads += 2) {
            assert_int_equal(
                fit_run(data->merged, data->count, &options, NULL, NULL, many, reason, sizeof reason),
                FIT_OK);
            assert_memory_equal(many, one, sizeof *one);
        }
    }
    free(one);
    free(many);
}

/* Known weights of the traits are found again, within their standard errors. */
static void known_traits_are_recovered(void **state)
{
    const struct data *data = *state;
    struct fit_options options = {
        .model = WEIGHTS_FEATURES, .threads = 2, .iterations = FIT_ITERATIONS, .ridge = 1e-9};
    struct merged *rows = malloc(data->count * sizeof *rows);
    struct fit *fit = calloc(1, sizeof *fit);
    struct fit_sums *sums = new_sums();
    double truth[TRAITS];
    char reason[256] = "";
    for (int i = 0; i < TRAITS; i++)
        truth[i] = i == TRAIT_STORE_DIFFERENCE ? 0.2 : 0.06 * (synthetic_uniform(mix(31, (uint64_t)i)) - 0.5);
    memcpy(rows, data->merged, data->count * sizeof *rows);
    for (size_t i = 0; i < data->count; i++) {
        double p = 1.0 / (1.0 + exp(-fit_logit(WEIGHTS_FEATURES, rows[i].key, truth)));
        rows[i].target = synthetic_uniform(mix(8, i)) < p ? 1.0F : 0.0F;
        rows[i].weight = 1.0F;
    }
    assert_int_equal(fit_run(rows, data->count, &options, NULL, NULL, fit, reason, sizeof reason), FIT_OK);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        size_t first = fit_phase_first(rows, data->count, phase);
        size_t count = fit_phase_first(rows, data->count, phase + 1) - first;
        const double *found = fit->phases[phase].weights;
        assert_int_equal(fit_pass(rows + first, count, truth, &options, sums), FIT_OK);
        double chi2 = 0.0, freedom = fit->phases[phase].columns;
        for (int i = 0; i < TRAITS; i++)
            for (int j = i; j < TRAITS; j++)
                chi2 += (i == j ? 1.0 : 2.0) * sums->hessian[i * TRAITS + j] * (found[i] - truth[i]) *
                        (found[j] - truth[j]);
        assert_true(freedom > 20.0);
        assert_true(chi2 < freedom + 5.0 * sqrt(2.0 * freedom));
        assert_true(chi2 > freedom - 4.0 * sqrt(2.0 * freedom));
    }
    free(rows);
    free(fit);
    free(sums);
}

/* The merged fit is the fit of the rows one by one. */
static void merging_does_not_change_the_fit(void **state)
{
    const struct data *data = *state;
    struct merged *single = malloc(data->rows.count * sizeof *single);
    for (size_t i = 0; i < data->rows.count; i++)
        single[i] = (struct merged){
            .key = data->rows.items[i].key, .target = data->rows.items[i].half_points / 2.0F, .weight = 1.0F};
    assert_true(data->count < data->rows.count); /* something was merged */
    struct fit *merged = calloc(1, sizeof *merged), *raw = calloc(1, sizeof *raw);
    char reason[256];
    assert_int_equal(fit_run(data->merged, data->count, &plain, NULL, NULL, merged, reason, sizeof reason),
                     FIT_OK);
    assert_int_equal(fit_run(single, data->rows.count, &plain, NULL, NULL, raw, reason, sizeof reason),
                     FIT_OK);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int i = 0; i < N; i++)
            assert_close(merged->phases[phase].weights[i], raw->phases[phase].weights[i], 1e-5);
    free(single);
    free(merged);
    free(raw);
}

static void loss_falls_and_newton_converges(void **state)
{
    const struct data *data = *state;
    struct fit *fit = calloc(1, sizeof *fit);
    char reason[256];
    assert_int_equal(fit_run(data->merged, data->count, &plain, NULL, NULL, fit, reason, sizeof reason),
                     FIT_OK);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        const struct fit_phase *made = &fit->phases[phase];
        assert_close(made->curve[0].loss, log(2.0), 1e-12);
        assert_true(made->steps >= 3 && made->steps <= FIT_ITERATIONS);
        assert_true(made->curve[made->steps].gradient < 1e-6);
        assert_true(made->curve[made->steps].loss < made->curve[0].loss);
    }
    free(fit);
}

static enum fit_error refit(const struct merged *rows, size_t count, double ridge, char *reason, size_t size)
{
    struct fit *fit = calloc(1, sizeof *fit);
    struct fit_options options = plain;
    options.ridge = ridge;
    enum fit_error error = fit_run(rows, count, &options, NULL, NULL, fit, reason, size);
    free(fit);
    return error;
}

static void numbers_that_are_none_are_refused(void **state)
{
    const struct data *data = *state;
    struct merged *rows = malloc(data->count * sizeof *rows);
    char reason[256];
    const struct merged bad[] = {{.target = NAN, .weight = 1},         {.target = 0.5F, .weight = NAN},
                                 {.target = 0.5F, .weight = INFINITY}, {.target = INFINITY, .weight = 1},
                                 {.target = 1.5F, .weight = 1},        {.target = 0.5F, .weight = -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(rows, data->merged, data->count * sizeof *rows);
        rows[data->count / 2].target = bad[i].target;
        rows[data->count / 2].weight = bad[i].weight;
        assert_int_equal(refit(rows, data->count, 1e-6, reason, sizeof reason), FIT_ERROR_NUMBER);
        assert_non_null(strstr(reason, "NaN"));
    }
    free(rows);
}

static void too_few_rows_are_refused(void **state)
{
    const struct data *data = *state;
    char reason[256];
    assert_int_equal(refit(data->merged, 0, 1e-6, reason, sizeof reason), FIT_ERROR_ROWS);
    assert_int_equal(refit(data->merged, 60, 1e-6, reason, sizeof reason), FIT_ERROR_ROWS);
    assert_non_null(strstr(reason, "60 distinct positions"));
    /* Three phases full, the last one empty. */
    size_t last = fit_phase_first(data->merged, data->count, 3);
    assert_int_equal(refit(data->merged, last, 1e-6, reason, sizeof reason), FIT_ERROR_ROWS);
    assert_non_null(strstr(reason, "under 12 seeds"));
}

static void collinear_columns_need_a_ridge(void **state)
{
    const struct data *data = *state;
    char reason[256];
    assert_int_equal(refit(data->merged, data->count, 0.0, reason, sizeof reason), FIT_ERROR_DEGENERATE);
    assert_non_null(strstr(reason, "--ridge"));
}

/* Perfectly separable results have no finite optimum without the ridge; with it the weights stay finite. */
static void separable_results_stay_finite(void **state)
{
    const struct data *data = *state;
    struct merged *rows = malloc(data->count * sizeof *rows);
    struct fit *fit = calloc(1, sizeof *fit);
    char reason[256];
    memcpy(rows, data->merged, data->count * sizeof *rows);
    for (size_t i = 0; i < data->count; i++)
        rows[i].target = features_difference(rows[i].key) > 0 ? 1.0F : 0.0F;
    struct fit_options options = plain;
    options.iterations = FIT_ITERATIONS_MAX;
    enum fit_error error = fit_run(rows, data->count, &options, NULL, NULL, fit, reason, sizeof reason);
    assert_int_equal(error, FIT_OK);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int i = 0; i < N; i++)
            assert_true(isfinite(fit->phases[phase].weights[i]));
    free(rows);
    free(fit);
}

static int stop_at_once(void *context, int phase, unsigned step, double loss)
{
    (void)phase;
    (void)step;
    (void)loss;
    ++*(int *)context;
    return 1;
}

static void report_can_stop_the_fit(void **state)
{
    const struct data *data = *state;
    struct fit *fit = calloc(1, sizeof *fit);
    char reason[256];
    int calls = 0;
    assert_int_equal(
        fit_run(data->merged, data->count, &plain, stop_at_once, &calls, fit, reason, sizeof reason),
        FIT_ERROR_STOPPED);
    assert_int_equal(calls, 1);
    free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_weights_are_recovered),
        cmocka_unit_test(known_traits_are_recovered),
        cmocka_unit_test(gradient_is_that_of_the_loss),
        cmocka_unit_test(dense_and_sparse_agree),
        cmocka_unit_test(dense_and_sparse_fits_agree),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(merging_does_not_change_the_fit),
        cmocka_unit_test(loss_falls_and_newton_converges),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(too_few_rows_are_refused),
        cmocka_unit_test(collinear_columns_need_a_ridge),
        cmocka_unit_test(separable_results_stay_finite),
        cmocka_unit_test(report_can_stop_the_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
