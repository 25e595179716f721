#include "coordinator/statistics.h"

#include <float.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/coordinator/vectors.h"

static struct statistics_sample sample_of(const int64_t *counts, size_t length)
{
    struct statistics_sample sample;
    assert_int_equal(statistics_sample_set(&sample, counts, length), 0);
    return sample;
}

#define SAMPLE(...)                                                                                          \
    sample_of((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static double llr_of(const struct statistics_sample *sample, enum statistics_model model, double elo0,
                     double elo1)
{
    double llr;
    assert_int_equal(statistics_llr(sample, model, elo0, elo1, &llr), 0);
    return llr;
}

static void check_llr_rows(const json_t *rows, const struct statistics_sample *sample,
                           enum statistics_model model)
{
    const json_t *row;
    size_t i;
    assert_true(json_array_size(rows) > 0);
    json_array_foreach(rows, i, row) assert_close(
        llr_of(sample, model, vectors_item(row, 0), vectors_item(row, 1)), vectors_item(row, 2), 1e-6);
}

static void all_elo_llr_vectors(void **state)
{
    (void)state;
    json_t *root = vectors_load("elo-llr");
    const json_t *row;
    size_t i;
    assert_int_equal(json_array_size(json_object_get(root, "cases")), 207);
    json_array_foreach(json_object_get(root, "cases"), i, row)
    {
        int64_t counts[6];
        struct statistics_sample sample =
            sample_of(counts, vectors_counts(json_object_get(row, "counts"), counts, 6));
        struct statistics_estimate estimate;
        statistics_estimate(&sample, &estimate);
        assert_close(estimate.score, vectors_number(row, "score"), 1e-9);
        assert_close(estimate.elo, vectors_number(row, "elo"), 1e-9);
        assert_close(estimate.los, vectors_number(row, "los"), 1e-9);
        assert_close(estimate.nelo, vectors_number(row, "nelo"), 1e-9);
        if (fabs(estimate.elo_lo - vectors_number(row, "elo_lo")) > 1e-4 ||
            fabs(estimate.elo_hi - vectors_number(row, "elo_hi")) > 1e-4)
            fail_msg("%s: interval %.9g %.9g, expected %.9g %.9g",
                     json_string_value(json_object_get(row, "id")), estimate.elo_lo, estimate.elo_hi,
                     vectors_number(row, "elo_lo"), vectors_number(row, "elo_hi"));
        check_llr_rows(json_object_get(row, "llr_logistic"), &sample, STATISTICS_LOGISTIC);
        check_llr_rows(json_object_get(row, "llr_normalized"), &sample, STATISTICS_NORMALIZED);
    }
    json_decref(root);
}

/* Row 12, [0,0,5,0,0] under 0..600, is the one vector that is not the highest likelihood: its source stopped
 * on the peak at mean 0.7141, and there is a higher one at 0.9282. The test below proves that with a
 * distribution. */
enum { LOCAL_PEAK_ROW = 12 };

static void all_wide_bound_vectors(void **state)
{
    (void)state;
    json_t *root = vectors_load("normalized-llr-wide-bounds");
    const json_t *row;
    size_t i;
    assert_int_equal(json_array_size(json_object_get(root, "cases")), 34);
    json_array_foreach(json_object_get(root, "cases"), i, row)
    {
        int64_t counts[6];
        struct statistics_sample sample =
            sample_of(counts, vectors_counts(json_object_get(row, "counts"), counts, 6));
        double nelo0 = vectors_number(row, "nelo0"), nelo1 = vectors_number(row, "nelo1");
        double expected = vectors_number(row, "llr_global");
        if (i == LOCAL_PEAK_ROW) {
            assert_true(nelo0 == 0 && nelo1 == 600 && counts[2] == 5 && sample.p[0] == sample.p[4]);
            assert_close(expected, -9.70426904169, 1e-11);
            assert_true(llr_of(&sample, STATISTICS_NORMALIZED, nelo0, nelo1) > expected);
            continue;
        }
        assert_close(llr_of(&sample, STATISTICS_NORMALIZED, nelo0, nelo1), expected, 1e-6);
        assert_close(statistics_llr_global(&sample, nelo0, nelo1), expected, 1e-6);
    }
    json_decref(root);
}

/* A distribution that meets (mean - 1/2) / sigma = t exactly and is likelier than the vector's peak: chosen
 * p0, p1 and mean, the other three from the sum, the mean and the second moment. */
static void a_witness_beats_the_local_peak_of_row_12(void **state)
{
    (void)state;
    const double t = 600 / (800 / log(10)) * sqrt(2), mean = 0.928206343, p0 = 7.17494e-06, p1 = 1.27554e-05;
    double second = mean * mean + (mean - 0.5) / t * ((mean - 0.5) / t);
    double rest = 1 - p0 - p1, one = 2 * (mean - p1 / 4) - rest, two = 4 * (second - p1 / 16) - rest;
    double p4 = 2 * two - 5 * one, p3 = 2 * (one - p4), p[5] = {p0, p1, rest - p3 - p4, p3, p4};
    double sum = 0, m = 0, v = 0, llr = 0;
    struct statistics_sample sample = SAMPLE(0, 0, 5, 0, 0);
    for (int k = 0; k < 5; k++) {
        assert_true(p[k] > 0);
        sum += p[k];
        m += p[k] * k / 4;
        /* Under elo0 = 0 the sample is its own most likely distribution, so this is the whole ratio. */
        llr += sample.total * sample.p[k] * log(p[k] / sample.p[k]);
    }
    for (int k = 0; k < 5; k++)
        v += p[k] * (k / 4.0 - m) * (k / 4.0 - m);
    assert_close(sum, 1, 1e-12);
    assert_close((m - 0.5) / sqrt(v), t, 1e-9);
    assert_true(llr > -9.70426904169 + 0.0027);
    assert_close(llr_of(&sample, STATISTICS_NORMALIZED, 0, 600), llr, 1e-6);
}

/* Random counts, from empty bins to millions. */
static struct statistics_sample random_sample(uint64_t seed, uint64_t n)
{
    int64_t counts[5];
    size_t length = mix(seed, n) % 3 == 0 ? 3 : 5;
    for (unsigned k = 0; k < length; k++) {
        uint64_t bits = mix(mix(seed, n), k);
        counts[k] = (int64_t)((bits >> 8) % (UINT64_C(1) << (bits % 22)));
    }
    return sample_of(counts, length);
}

static void the_fixed_point_and_the_global_search_agree_where_both_work(void **state)
{
    (void)state;
    static const double bounds[][2] = {{0, 5}, {-5, 0}, {0, 10}, {10, 30}, {-60, 60}, {-100, -90}};
    unsigned compared = 0;
    for (uint64_t n = 0; n < 60; n++) {
        struct statistics_sample sample = random_sample(77, n);
        const double *b = bounds[n % 6];
        double llr;
        assert_true(statistics_llr_fixed_point(&sample, b[0], b[1], &llr));
        assert_close(statistics_llr_global(&sample, b[0], b[1]), llr, 1e-6);
        compared++;
    }
    assert_int_equal(compared, 60);
}

/* fastchess 879: NaN, and the match never ends. */
static void no_bounds_give_nan(void **state)
{
    (void)state;
    static const double ends[] = {0,    1e-12, 1,   100, 119, 120,  200,   399,   600,  1000,
                                  5000, 1e5,   2e6, 3e6, 1e7, 1e12, 1e100, 1e250, 1e280};
    enum { ENDS = sizeof ends / sizeof *ends };
    for (uint64_t n = 0; n < 20; n++) {
        struct statistics_sample sample = n == 0   ? SAMPLE(0, 0, 5, 0, 0)
                                          : n == 1 ? SAMPLE(0, 0, 0)
                                                   : random_sample(5, n);
        for (int i = (int)(n % 3); i < ENDS; i += 3) {
            double other = -ends[(i * 7 + (int)n) % ENDS] - 0.5;
            assert_true(isfinite(llr_of(&sample, STATISTICS_LOGISTIC, other, ends[i])));
            assert_true(isfinite(llr_of(&sample, STATISTICS_NORMALIZED, other, ends[i])));
        }
    }
}

/* Where one way of reckoning gives way to the next there must be no step. */
static void the_normalized_ratio_has_no_step(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 12; n++) {
        struct statistics_sample sample = random_sample(9, n);
        double to_t = (sample.bins == 3 ? 1 : sqrt(2)) / 347.4355855;
        static const double borders[] = {0.5, 1e4};
        for (int i = 0; i < 2; i++) {
            double nelo = borders[i] / to_t;
            double below = llr_of(&sample, STATISTICS_NORMALIZED, 0, nelo * (1 - 1e-9));
            double above = llr_of(&sample, STATISTICS_NORMALIZED, 0, nelo * (1 + 1e-9));
            assert_close(above, below, 1e-6);
        }
    }
}

static void the_ratio_changes_sign_with_the_players(void **state)
{
    (void)state;
    struct statistics_sample one = SAMPLE(3, 10, 40, 25, 9), other = SAMPLE(9, 25, 40, 10, 3);
    static const double bounds[][2] = {{0, 5}, {-3, 7}, {100, 900}, {-700, 300}, {-2e6, 4e7}};
    for (int i = 0; i < 5; i++)
        for (int m = STATISTICS_NORMALIZED; m <= STATISTICS_LOGISTIC; m++)
            assert_close(llr_of(&one, (enum statistics_model)m, bounds[i][0], bounds[i][1]),
                         -llr_of(&other, (enum statistics_model)m, -bounds[i][1], -bounds[i][0]), 1e-6);
}

static void bounds_outside_a_double_are_refused(void **state)
{
    (void)state;
    struct statistics_sample sample = SAMPLE(1, 2, 3);
    double llr = 7;
    assert_int_equal(statistics_llr(&sample, STATISTICS_LOGISTIC, 0, NAN, &llr), -1);
    assert_true(llr == 0);
    assert_int_equal(statistics_llr(&sample, STATISTICS_NORMALIZED, -INFINITY, 0, &llr), -1);
    sample = SAMPLE(STATISTICS_COUNT_MAX, 0, 0);
    assert_int_equal(statistics_llr(&sample, STATISTICS_LOGISTIC, 0, DBL_MAX, &llr), -1);
}

/* fastchess prints "nan" for a match of draws. */
static void all_draws_are_zero_with_an_interval(void **state)
{
    (void)state;
    struct statistics_sample samples[] = {SAMPLE(0, 0, 50, 0, 0), SAMPLE(0, 50, 0), SAMPLE(0, 0, 0)};
    for (int i = 0; i < 3; i++) {
        struct statistics_estimate estimate;
        statistics_estimate(&samples[i], &estimate);
        assert_close(estimate.elo, 0, 1e-9);
        assert_close(estimate.nelo, 0, 1e-9);
        assert_close(estimate.los, 0.5, 1e-12);
        assert_true(estimate.elo_lo < 0 && estimate.elo_hi > 0 && isfinite(estimate.elo_lo));
        assert_close(estimate.elo_lo, -estimate.elo_hi, 1e-6);
    }
}

static void six_counts_are_five_with_the_centre_joined(void **state)
{
    (void)state;
    struct statistics_sample six = SAMPLE(3, 10, 30, 10, 25, 9), five = SAMPLE(3, 10, 40, 25, 9);
    assert_memory_equal(&six, &five, sizeof six);
    assert_string_equal(statistics_order_name(6), "LL, LD, DD, WL, DW, WW");
    assert_null(statistics_order_name(4));
}

static void pairs_are_classed_from_both_legs(void **state)
{
    (void)state;
    static const enum statistics_pair classes[3][3] = {
        {PAIR_LL, PAIR_LD, PAIR_WL}, {PAIR_LD, PAIR_DD, PAIR_DW}, {PAIR_WL, PAIR_DW, PAIR_WW}};
    for (unsigned one = 0; one < 3; one++)
        for (unsigned two = 0; two < 3; two++) {
            enum statistics_pair pair = statistics_pair_class(one, two);
            assert_int_equal(pair, classes[one][two]);
            assert_int_equal(statistics_pair_bin(pair), one + two);
        }
}

static void bad_counts_are_refused(void **state)
{
    (void)state;
    struct statistics_sample sample = {.bins = 77};
    assert_int_equal(statistics_sample_set(&sample, (int64_t[]){1, 2, 3, 4}, 4), STATISTICS_LENGTH);
    assert_int_equal(statistics_sample_set(&sample, (int64_t[]){1, -2, 3}, 3), STATISTICS_NEGATIVE);
    assert_int_equal(statistics_sample_set(&sample, (int64_t[]){1, STATISTICS_COUNT_MAX, 3}, 3),
                     STATISTICS_HUGE);
    assert_int_equal(statistics_sample_set(&sample, (int64_t[]){INT64_MAX, INT64_MAX, 3}, 3),
                     STATISTICS_HUGE);
    assert_int_equal(sample.bins, 77);
    for (int error = STATISTICS_HUGE; error <= STATISTICS_LENGTH; error++)
        assert_true(strlen(statistics_error_text(error)) > 10);
}

static void the_largest_counts_stay_finite(void **state)
{
    (void)state;
    struct statistics_sample samples[] = {SAMPLE(STATISTICS_COUNT_MAX, 0, 0),
                                          SAMPLE(0, 0, 0, 0, STATISTICS_COUNT_MAX),
                                          SAMPLE(0, 0, STATISTICS_COUNT_MAX, 0, 0)};
    for (int i = 0; i < 3; i++) {
        struct statistics_estimate e;
        statistics_estimate(&samples[i], &e);
        assert_true(isfinite(e.elo) && isfinite(e.elo_lo) && isfinite(e.elo_hi) && isfinite(e.los) &&
                    isfinite(e.nelo));
        assert_true(e.elo_lo <= e.elo_hi);
        assert_true(isfinite(llr_of(&samples[i], STATISTICS_LOGISTIC, -1000, 1000)));
        assert_true(isfinite(llr_of(&samples[i], STATISTICS_NORMALIZED, -1000, 1000)));
    }
}

/* Wilson's interval of 0, 8 and 10 hits in 10, and of 500 in 10,000. */
static void shares_have_intervals(void **state)
{
    (void)state;
    static const double rows[][4] = {{0, 10, 0, 0.277533},
                                     {8, 10, 0.490162, 0.943318},
                                     {10, 10, 0.722467, 1},
                                     {500, 10000, 0.045897, 0.054448},
                                     {0, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double low, high;
        statistics_share_interval((uint64_t)rows[i][0], (uint64_t)rows[i][1], &low, &high);
        assert_true(fabs(low - rows[i][2]) < 2e-6 && fabs(high - rows[i][3]) < 2e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_elo_llr_vectors),
        cmocka_unit_test(all_wide_bound_vectors),
        cmocka_unit_test(a_witness_beats_the_local_peak_of_row_12),
        cmocka_unit_test(the_fixed_point_and_the_global_search_agree_where_both_work),
        cmocka_unit_test(no_bounds_give_nan),
        cmocka_unit_test(the_normalized_ratio_has_no_step),
        cmocka_unit_test(the_ratio_changes_sign_with_the_players),
        cmocka_unit_test(bounds_outside_a_double_are_refused),
        cmocka_unit_test(all_draws_are_zero_with_an_interval),
        cmocka_unit_test(six_counts_are_five_with_the_centre_joined),
        cmocka_unit_test(pairs_are_classed_from_both_legs),
        cmocka_unit_test(bad_counts_are_refused),
        cmocka_unit_test(shares_have_intervals),
        cmocka_unit_test(the_largest_counts_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
