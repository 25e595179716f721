/* An experiment's figures for the web page, by the functions of `kroo show`. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/estimate.h"
#include "coordinator/sprt.h"
#include "coordinator/statistics.h"
#include "coordinator/web_call.h"

web_finish web_finish_experiment, web_finish_curve; /* named in web/api/ */

static const char *cell(const struct store_table *rows, size_t row, const char *name)
{
    const char *text = web_cell(rows, row, name);
    return text ? text : "";
}

static double decimal(const struct store_table *rows, size_t row, const char *name)
{
    return strtod(cell(rows, row, name), NULL);
}

static void read_counts(const struct store_table *rows, size_t row, int64_t counts[STATISTICS_PAIR_COUNTS])
{
    static const char *const names[STATISTICS_PAIR_COUNTS] = {"ll", "ld", "dd", "wl", "dw", "ww"};
    for (size_t i = 0; i < STATISTICS_PAIR_COUNTS; i++)
        counts[i] = strtoll(cell(rows, row, names[i]), NULL, 10);
}

static bool read_test(const struct store_table *rows, size_t row, struct sprt_test *test)
{
    char reason[SPRT_REASON_MAX];
    *test = (struct sprt_test){.elo0 = decimal(rows, row, "elo0"),
                               .elo1 = decimal(rows, row, "elo1"),
                               .alpha = decimal(rows, row, "alpha"),
                               .beta = decimal(rows, row, "beta"),
                               .batch = (uint32_t)strtoul(cell(rows, row, "batch"), NULL, 10)};
    return statistics_model_parse(cell(rows, row, "sprt_model"), &test->model) == 0 &&
           sprt_validate(test, true, reason);
}

/* --- one experiment --- */

static json_t *unbiased_json(const struct statistics_sample *sample, const struct sprt_test *test)
{
    struct estimate_end end;
    struct estimate_unbiased unbiased;
    if (estimate_end_set(&end, sample, test) != 0)
        return json_null();
    estimate_unbiased(&end, &unbiased);
    return json_pack("{s:f, s:f, s:f, s:f}", "elo", unbiased.elo, "elo_lo", unbiased.elo_lo, "elo_hi",
                     unbiased.elo_hi, "los", unbiased.los);
}

static json_t *estimate_json(const struct store_table *rows, const struct sprt_test *test)
{
    int64_t counts[STATISTICS_PAIR_COUNTS];
    struct statistics_sample sample;
    struct statistics_estimate e;
    int64_t pairs = 0;
    read_counts(rows, 0, counts);
    for (size_t i = 0; i < STATISTICS_PAIR_COUNTS; i++)
        pairs += counts[i];
    if (strcmp(cell(rows, 0, "kind"), "match") != 0 || pairs == 0 ||
        statistics_sample_set(&sample, counts, STATISTICS_PAIR_COUNTS) != 0)
        return json_null();
    statistics_estimate(&sample, &e);
    bool has_ended = strcmp(cell(rows, 0, "has_verdict"), "1") == 0;
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:i, s:o}", "score", e.score, "elo", e.elo,
                     "elo_lo", e.elo_lo, "elo_hi", e.elo_hi, "nelo", e.nelo, "los", e.los, "is_biased",
                     test != NULL, "formula_version", STATISTICS_FORMULA_VERSION, "unbiased",
                     test && has_ended ? unbiased_json(&sample, test) : json_null());
}

static json_t *test_json(const struct store_table *rows, const struct sprt_test *test)
{
    struct sprt_state bounds;
    if (!test)
        return json_null();
    sprt_init(&bounds, test, STATISTICS_PAIR_BINS);
    return json_pack("{s:f, s:f, s:f, s:s, s:f, s:f, s:f, s:f, s:I, s:i}", "llr", decimal(rows, 0, "llr"),
                     "lower", bounds.lower, "upper", bounds.upper, "model",
                     statistics_model_name(test->model), "elo0", test->elo0, "elo1", test->elo1, "alpha",
                     test->alpha, "beta", test->beta, "batch", (json_int_t)test->batch, "formula_version",
                     STATISTICS_FORMULA_VERSION);
}

void web_finish_experiment(struct web_answer *answer, const struct store_table *rows)
{
    struct sprt_test test;
    if (rows->rows == 0) {
        web_answer_error(answer, 404, "there is no such experiment");
        return;
    }
    json_t *object = json_loads(cell(rows, 0, "document"), 0, NULL);
    bool has_test = read_test(rows, 0, &test);
    if (object &&
        (json_object_set_new(object, "estimate", estimate_json(rows, has_test ? &test : NULL)) != 0 ||
         json_object_set_new(object, "sprt", test_json(rows, has_test ? &test : NULL)) != 0 ||
         json_object_set_new(object, "order", json_string(statistics_order_name(6))) != 0)) {
        json_decref(object);
        object = NULL;
    }
    web_answer_json(answer, object);
}

/* --- its course --- */

/* [pairs, elo, its interval's ends, LLR or null where the test does not look] */
static json_t *point_json(const struct store_table *rows, size_t row, const struct sprt_test *test)
{
    int64_t counts[STATISTICS_PAIR_COUNTS];
    struct statistics_sample sample;
    struct statistics_estimate e;
    double llr;
    json_int_t pairs = strtoll(cell(rows, row, "pairs"), NULL, 10);
    read_counts(rows, row, counts);
    if (statistics_sample_set(&sample, counts, STATISTICS_PAIR_COUNTS) != 0)
        return NULL;
    statistics_estimate(&sample, &e);
    bool looks = test && pairs % test->batch == 0 &&
                 statistics_llr(&sample, test->model, test->elo0, test->elo1, &llr) == 0;
    return json_pack("[I, f, f, f, o]", pairs, e.elo, e.elo_lo, e.elo_hi,
                     looks ? json_real(llr) : json_null());
}

void web_finish_curve(struct web_answer *answer, const struct store_table *rows)
{
    struct sprt_test test;
    bool has_test = rows->rows > 0 && read_test(rows, 0, &test);
    json_t *points = json_array();
    for (size_t row = 0; points && row < rows->rows; row++)
        if (json_array_append_new(points, point_json(rows, row, has_test ? &test : NULL)) != 0) {
            json_decref(points);
            points = NULL;
        }
    web_answer_json(answer, points ? json_pack("{s:o}", "points", points) : NULL);
}
