#include "coordinator/calc.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/calc_rating.h"
#include "coordinator/calc_spsa.h"
#include "coordinator/estimate.h"
#include "coordinator/fleet.h"
#include "coordinator/simulate.h"
#include "coordinator/sprt.h"
#include "coordinator/statistics.h"

enum { ERROR_MAX = 200 };

struct request {
    const json_t *root;
    char error[ERROR_MAX]; /* the first complaint; empty while all is well */
};

__attribute__((format(printf, 2, 3))) static void complain(struct request *request, const char *format, ...)
{
    va_list arguments;
    if (request->error[0])
        return;
    va_start(arguments, format);
    vsnprintf(request->error, sizeof request->error, format, arguments);
    va_end(arguments);
}

/* --- reading --- */

static double read_number(struct request *request, const char *key, const double *fallback)
{
    const json_t *value = json_object_get(request->root, key);
    if (!value && fallback)
        return *fallback;
    if (!value)
        complain(request, "\"%s\" is missing", key);
    else if (!json_is_number(value) || !isfinite(json_number_value(value)))
        complain(request, "\"%s\" must be a finite number", key);
    else
        return json_number_value(value);
    return 0;
}

/* A whole number, also when written as 10.0 or 1e3. */
static bool whole(const json_t *value, int64_t *number)
{
    double real = json_number_value(value);
    if (json_is_integer(value))
        *number = (int64_t)json_integer_value(value);
    else if (json_is_real(value) && real == floor(real) && fabs(real) <= 9e15)
        *number = (int64_t)real;
    else
        return false;
    return true;
}

static int64_t read_integer(struct request *request, const char *key, int64_t low, int64_t high,
                            int64_t fallback)
{
    const json_t *value = json_object_get(request->root, key);
    int64_t number = fallback;
    if (value && (!whole(value, &number) || number < low || number > high))
        complain(request, "\"%s\" must be a whole number from %lld to %lld", key, (long long)low,
                 (long long)high);
    return number;
}

static size_t read_counts(struct request *request, int64_t counts[STATISTICS_PAIR_COUNTS])
{
    const json_t *array = json_object_get(request->root, "counts");
    size_t length = json_array_size(array);
    if (!json_is_array(array)) {
        complain(request, "\"counts\" must be a list of 3, 5 or 6 numbers");
        return 0;
    }
    for (size_t i = 0; i < length && i < STATISTICS_PAIR_COUNTS; i++) {
        if (!whole(json_array_get(array, i), &counts[i]))
            complain(request, "\"counts\" must be whole numbers");
    }
    return length;
}

static bool read_sample(struct request *request, struct statistics_sample *sample, size_t *length)
{
    int64_t counts[STATISTICS_PAIR_COUNTS] = {0};
    *length = read_counts(request, counts);
    if (request->error[0])
        return false;
    int error = statistics_sample_set(sample, counts, *length);
    if (error)
        complain(request, "%s", statistics_error_text(error));
    return error == 0;
}

static bool read_test(struct request *request, struct sprt_test *test)
{
    static const double alpha = SPRT_DEFAULT_ALPHA, beta = SPRT_DEFAULT_BETA;
    const json_t *model = json_object_get(request->root, "model");
    char reason[SPRT_REASON_MAX];
    *test = (struct sprt_test){.model = STATISTICS_NORMALIZED};
    if (model &&
        (!json_is_string(model) || statistics_model_parse(json_string_value(model), &test->model) != 0))
        complain(request, "\"model\" must be \"normalized\" or \"logistic\"");
    test->elo0 = read_number(request, "elo0", NULL);
    test->elo1 = read_number(request, "elo1", NULL);
    test->alpha = read_number(request, "alpha", &alpha);
    test->beta = read_number(request, "beta", &beta);
    test->batch = (uint32_t)read_integer(request, "batch", 1, SPRT_BATCH_MAX, 1);
    if (!request->error[0] && !sprt_validate(test, false, reason))
        complain(request, "%s", reason);
    return !request->error[0];
}

/* --- answering --- */

static void put(json_t *answer, const char *key, double value)
{
    json_object_set_new(answer, key, json_real(value == 0 ? 0 : value)); /* no -0 */
}

static void put_estimate(json_t *answer, const struct statistics_sample *sample)
{
    struct statistics_estimate estimate;
    statistics_estimate(sample, &estimate);
    put(answer, "score", estimate.score);
    put(answer, "elo", estimate.elo);
    put(answer, "elo_lo", estimate.elo_lo);
    put(answer, "elo_hi", estimate.elo_hi);
    put(answer, "los", estimate.los);
    put(answer, "nelo", estimate.nelo);
}

/* What stands beside every LLR. */
static void put_test(json_t *answer, const struct sprt_test *test, size_t count_length)
{
    struct sprt_state state;
    sprt_init(&state, test, STATISTICS_PAIR_BINS);
    put(answer, "lower", state.lower);
    put(answer, "upper", state.upper);
    json_object_set_new(answer, "model", json_string(statistics_model_name(test->model)));
    put(answer, "elo0", test->elo0);
    put(answer, "elo1", test->elo1);
    put(answer, "alpha", test->alpha);
    put(answer, "beta", test->beta);
    json_object_set_new(answer, "order", json_string(statistics_order_name(count_length)));
    json_object_set_new(answer, "formula", json_integer(STATISTICS_FORMULA_VERSION));
}

static void answer_elo(struct request *request, json_t *answer)
{
    struct statistics_sample sample;
    size_t length;
    if (!read_sample(request, &sample, &length))
        return;
    put_estimate(answer, &sample);
    json_object_set_new(answer, "order", json_string(statistics_order_name(length)));
}

static void answer_llr(struct request *request, json_t *answer)
{
    struct statistics_sample sample;
    struct sprt_test test;
    size_t length;
    double llr;
    if (!read_sample(request, &sample, &length) || !read_test(request, &test))
        return;
    if (statistics_llr(&sample, test.model, test.elo0, test.elo1, &llr) != 0) {
        complain(request, "with bounds this far apart the ratio is beyond the range of numbers");
        return;
    }
    put(answer, "llr", llr);
    put_estimate(answer, &sample);
    put_test(answer, &test, length);
}

static void answer_sprt_estimate(struct request *request, json_t *answer)
{
    struct statistics_sample sample;
    struct sprt_test test;
    struct estimate_end end;
    struct estimate_unbiased estimate;
    size_t length;
    if (!read_sample(request, &sample, &length) || !read_test(request, &test))
        return;
    if (estimate_end_set(&end, &sample, &test) != 0) {
        complain(request,
                 "with bounds this close or this far apart the estimate is beyond the range of numbers");
        return;
    }
    estimate_unbiased(&end, &estimate);
    put(answer, "elo", estimate.elo);
    put(answer, "elo_lo", estimate.elo_lo);
    put(answer, "elo_hi", estimate.elo_hi);
    put(answer, "los", estimate.los);
    put(answer, "llr_clamped", end.llr);
    put(answer, "samples_clamped", end.samples);
    put_test(answer, &test, length);
}

/* Feeds whole batches until the verdict; the digits have been checked. */
static void feed_sequence(struct sprt_state *state, const struct sprt_test *test, const char *sequence,
                          size_t length)
{
    for (size_t n = 0; length - n >= test->batch && state->status == SPRT_OPEN; n += test->batch) {
        int64_t batch[STATISTICS_PAIR_BINS] = {0};
        for (size_t i = 0; i < test->batch; i++)
            batch[sequence[n + i] - '0']++;
        sprt_feed(state, test, batch);
    }
}

static const char *read_sequence(struct request *request, unsigned bins, size_t *length)
{
    const json_t *value = json_object_get(request->root, "sequence");
    if (!json_is_string(value)) {
        complain(request, "\"sequence\" must be a string of digits, one a sample");
        return NULL;
    }
    const char *sequence = json_string_value(value);
    *length = json_string_length(value);
    for (size_t i = 0; i < *length; i++)
        if (sequence[i] < '0' || sequence[i] >= (char)('0' + (int)bins)) {
            complain(request, "sample %zu of \"sequence\" is not a digit from 0 to %u", i + 1, bins - 1);
            return NULL;
        }
    return sequence;
}

static void answer_sprt(struct request *request, json_t *answer)
{
    struct sprt_test test;
    struct sprt_state state;
    struct statistics_sample sample;
    size_t length = 0;
    unsigned bins = (unsigned)read_integer(request, "bins", 3, 5, STATISTICS_PAIR_BINS);
    if (!request->error[0] && bins != STATISTICS_GAME_BINS && bins != STATISTICS_PAIR_BINS)
        complain(request, "\"bins\" must be 3 (games) or 5 (pairs)");
    if (request->error[0] || !read_test(request, &test))
        return;
    const char *sequence = read_sequence(request, bins, &length);
    if (!sequence)
        return;
    sprt_init(&state, &test, bins);
    feed_sequence(&state, &test, sequence, length);
    /* Bounds so wide that an evaluation has no value stop the feeding: better said than shown as an open
     * test. */
    if (state.status == SPRT_OPEN && state.samples != length - length % test.batch) {
        complain(request, "with bounds this far apart the ratio is beyond the range of numbers");
        return;
    }
    json_t *counts = json_array();
    for (unsigned k = 0; k < bins; k++)
        json_array_append_new(counts, json_integer(state.counts[k]));
    json_object_set_new(answer, "state", json_string(sprt_status_name(state.status)));
    json_object_set_new(answer, "stopped_at",
                        state.status == SPRT_OPEN ? json_null() : json_integer((json_int_t)state.samples));
    put(answer, "llr", state.llr);
    json_object_set_new(answer, "samples", json_integer((json_int_t)state.samples));
    json_object_set_new(answer, "counts", counts);
    statistics_sample_set(&sample, state.counts, bins);
    put_estimate(answer, &sample);
    put_test(answer, &test, bins);
    json_object_set_new(answer, "bins", json_integer(bins));
    json_object_set_new(answer, "batch", json_integer(test.batch));
}

/* "workers": one row a worker, [won, lost, equal] pairs or the five or six counts. */
static bool read_worker(struct request *request, const json_t *row, size_t place, struct fleet_worker *worker)
{
    int64_t counts[STATISTICS_PAIR_COUNTS] = {0};
    size_t length = json_array_size(row);
    bool good = length == 3 || length == STATISTICS_PAIR_BINS || length == STATISTICS_PAIR_COUNTS;
    for (size_t i = 0; i < length && good; i++)
        good = whole(json_array_get(row, i), &counts[i]) && counts[i] >= 0;
    if (!good) {
        complain(request, "worker %zu: [won, lost, equal] pairs, or five or six counts, from 0 on",
                 place + 1);
        return false;
    }
    *worker = (struct fleet_worker){.pairs = {(uint64_t)counts[0], (uint64_t)counts[1], (uint64_t)counts[2]}};
    if (length > 3) {
        worker->pairs[0] = (uint64_t)(counts[length - 1] + counts[length - 2]);
        worker->pairs[1] = (uint64_t)(counts[0] + counts[1]);
        worker->pairs[2] = (uint64_t)(counts[2] + (length == STATISTICS_PAIR_COUNTS ? counts[3] : 0));
    }
    return true;
}

static void put_or_null(json_t *answer, const char *key, double value)
{
    json_object_set_new(answer, key, isfinite(value) ? json_real(value) : json_null());
}

static void put_fleet(json_t *answer, struct fleet_worker *workers, size_t count)
{
    struct fleet_figures figures = fleet_test(workers, count);
    json_t *tested = json_array(), *z = json_array(), *blamed = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(tested, json_boolean(workers[i].tested));
        json_array_append_new(z, workers[i].tested ? json_real(workers[i].z) : json_null());
    }
    fleet_blame(workers, count);
    for (size_t i = 0; i < count; i++)
        if (workers[i].blamed)
            json_array_append_new(blamed, json_integer((json_int_t)i));
    put_or_null(answer, "chi2", figures.chi2);
    json_object_set_new(answer, "freedom", json_integer(figures.freedom));
    put_or_null(answer, "p", figures.p);
    put_or_null(answer, "z_95", figures.z_95);
    put_or_null(answer, "z_99", figures.z_99);
    json_object_set_new(answer, "tested", tested);
    json_object_set_new(answer, "z", z);
    json_object_set_new(answer, "blamed", blamed);
}

static void answer_workers(struct request *request, json_t *answer)
{
    const json_t *rows = json_object_get(request->root, "workers");
    size_t count = json_array_size(rows);
    struct fleet_worker *workers = json_is_array(rows) ? calloc(count + 1, sizeof *workers) : NULL;
    if (!workers)
        complain(request, "\"workers\" must be a list of lists of counts");
    for (size_t i = 0; i < count && workers && !request->error[0]; i++)
        read_worker(request, json_array_get(rows, i), i, &workers[i]);
    if (!request->error[0])
        put_fleet(answer, workers, count);
    free(workers);
}

/* Shares of the five results of a pair; near equality where none are given. */
static void read_shares(struct request *request, const char *key, double shares[STATISTICS_PAIR_BINS])
{
    static const double usual[STATISTICS_PAIR_BINS] = {0.2025, 0.09, 0.415, 0.09, 0.2025};
    const json_t *array = json_object_get(request->root, key);
    double sum = 0;
    memcpy(shares, usual, sizeof usual);
    if (!array)
        return;
    for (size_t k = 0; k < STATISTICS_PAIR_BINS; k++) {
        const json_t *share = json_array_get(array, k);
        shares[k] = json_is_number(share) ? json_number_value(share) : -1;
        sum += shares[k];
        if (!(shares[k] >= 0 && shares[k] <= 1e12) || json_array_size(array) != STATISTICS_PAIR_BINS)
            complain(request, "\"%s\" must be five shares, of LL, LD, DD+WL, WD, WW", key);
    }
    if (!(sum > 0))
        complain(request, "\"%s\" must not all be 0", key);
    for (size_t k = 0; k < STATISTICS_PAIR_BINS; k++)
        shares[k] /= sum;
}

static bool read_plan(struct request *request, struct simulate_plan *plan)
{
    double base[STATISTICS_PAIR_BINS];
    if (!read_test(request, &plan->test))
        return false;
    double elo = read_number(request, "elo", NULL);
    plan->runs = (uint32_t)read_integer(request, "runs", 1, SIMULATE_RUNS_MAX, 1000);
    plan->pairs_max = (uint64_t)read_integer(request, "pairs", 1, SIMULATE_PAIRS_MAX, 100000);
    plan->seed = (uint64_t)read_integer(request, "seed", 0, INT64_MAX, 1);
    read_shares(request, "shares", base);
    if (!request->error[0] && simulate_probabilities(plan->test.model, elo, base, plan->probabilities) != 0)
        complain(request, "no results of pairs like these have an elo of %g: give other \"shares\"", elo);
    return !request->error[0];
}

static void put_simulation(json_t *answer, const struct simulate_plan *plan,
                           const struct simulate_outcome *outcome)
{
    json_t *shares = json_array();
    double mean = 0, variance = 0, low, high;
    struct sprt_forecast expected;
    for (int k = 0; k < STATISTICS_PAIR_BINS; k++) {
        json_array_append_new(shares, json_real(plan->probabilities[k]));
        mean += plan->probabilities[k] * k / 4;
    }
    for (int k = 0; k < STATISTICS_PAIR_BINS; k++)
        variance += plan->probabilities[k] * (k / 4.0 - mean) * (k / 4.0 - mean);
    sprt_forecast(&plan->test, mean, 2 * variance, &expected);
    statistics_share_interval(outcome->accepted, outcome->runs, &low, &high);
    json_object_set_new(answer, "runs", json_integer(outcome->runs));
    json_object_set_new(answer, "accepted", json_integer(outcome->accepted));
    json_object_set_new(answer, "rejected", json_integer(outcome->rejected));
    json_object_set_new(answer, "undecided", json_integer(outcome->undecided));
    put(answer, "acceptance", outcome->accepted / (double)outcome->runs);
    put(answer, "acceptance_lo", low);
    put(answer, "acceptance_hi", high);
    put(answer, "acceptance_expected", expected.acceptance);
    put(answer, "pairs_mean", outcome->pairs_mean);
    put(answer, "pairs_expected", expected.games / 2);
    put(answer, "pairs_sd", outcome->pairs_sd);
    json_object_set_new(answer, "pairs_median", json_integer((json_int_t)outcome->pairs_median));
    json_object_set_new(answer, "pairs_p95", json_integer((json_int_t)outcome->pairs_p95));
    json_object_set_new(answer, "shares", shares);
}

static void answer_sprt_simulate(struct request *request, json_t *answer)
{
    struct simulate_plan plan;
    struct simulate_outcome outcome;
    if (!read_plan(request, &plan))
        return;
    if (simulate_run(&plan, &outcome) != 0) {
        complain(request, "no memory for %u runs", plan.runs);
        return;
    }
    put_simulation(answer, &plan, &outcome);
    put(answer, "elo", json_number_value(json_object_get(request->root, "elo")));
    put_test(answer, &plan.test, STATISTICS_PAIR_BINS);
    json_object_set_new(answer, "batch", json_integer(plan.test.batch));
    json_object_set_new(answer, "pairs", json_integer((json_int_t)plan.pairs_max));
    json_object_set_new(answer, "seed", json_integer((json_int_t)plan.seed));
}

static void answer_rating(struct request *request, json_t *answer)
{
    calc_rating(request->root, answer, request->error, sizeof request->error);
}

static void answer_spsa(struct request *request, json_t *answer)
{
    calc_spsa(request->root, answer, request->error, sizeof request->error);
}

static const struct {
    const char *name;
    void (*answer)(struct request *request, json_t *answer);
} ops[] = {
    {"elo", answer_elo},
    {"llr", answer_llr},
    {"sprt", answer_sprt},
    {"sprt-estimate", answer_sprt_estimate},
    {"sprt-simulate", answer_sprt_simulate},
    {"rating", answer_rating},
    {"spsa", answer_spsa},
    {"workers", answer_workers},
};

static void complain_of_op(struct request *request, const char *op)
{
    char known[ERROR_MAX] = "";
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", ops[i].name);
    if (op)
        complain(request, "unknown op \"%.40s\": %s", op, known);
    else
        complain(request, "\"op\" is missing: %s", known);
}

/* Fields that an op does not know are left alone, so that a caller can carry its own; every default is stated
 * in the answer. */
static void answer_request(struct request *request, json_t *answer)
{
    if (!json_is_object(request->root)) {
        complain(request, "a request is a JSON object such as {\"op\":\"elo\",\"counts\":[1,2,3]}");
        return;
    }
    const char *op = json_string_value(json_object_get(request->root, "op"));
    for (size_t i = 0; op && i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i].name) == 0) {
            ops[i].answer(request, answer);
            return;
        }
    complain_of_op(request, op);
}

char *calc_answer(const char *line, size_t length)
{
    json_error_t error;
    json_t *root = NULL, *answer = json_object();
    struct request request = {0};
    if (length > CALC_LINE_MAX)
        complain(&request, "the request is longer than %d bytes", CALC_LINE_MAX);
    else if (!(root = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error)))
        complain(&request, "not a JSON request: %.120s", error.text);
    request.root = root;
    if (root)
        answer_request(&request, answer);
    if (request.error[0]) {
        json_object_clear(answer);
        json_object_set_new(answer, "error", json_string(request.error));
    }
    char *text = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(root);
    json_decref(answer);
    return text;
}
