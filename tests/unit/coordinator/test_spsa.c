#include "coordinator/spsa.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/coordinator/vectors.h"

enum { MANY = 8, TASKS = 8 };

/* --- the vectors --- */

/* `name,start,min,max,c_end,r_end`; false when there are not six fields. */
static bool parse_line(const char *line, struct spsa_parameter *out)
{
    char name[32];
    double start, min, max, c_end, r_end;
    if (sscanf(line, "%31[^,],%lf,%lf,%lf,%lf,%lf", name, &start, &min, &max, &c_end, &r_end) != 6)
        return false;
    *out = (struct spsa_parameter){start, min, max, c_end, r_end, false};
    return true;
}

static size_t parse_lines(const char *text, struct spsa_parameter *out)
{
    size_t count = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        count += parse_line(line, &out[count]);
    return count;
}

static void check_array(const json_t *row, const char *name, const double *values, size_t count)
{
    const json_t *array = json_object_get(row, name);
    assert_int_equal(json_array_size(array), count);
    for (size_t i = 0; i < count; i++)
        assert_close(values[i], json_number_value(json_array_get(array, i)), 1e-9);
}

/* A request that was made and not reported yet. */
struct task {
    const char *name;
    double flips[MANY];
    struct spsa_gains gains[MANY];
};

struct trace {
    struct spsa_plan plan;
    struct spsa_parameter parameters[MANY];
    size_t count, tasks;
    double theta[MANY];
    struct task task[TASKS];
    uint64_t applied;
};

static struct task *task_of(struct trace *trace, const char *name)
{
    for (size_t i = 0; i < trace->tasks; i++)
        if (strcmp(trace->task[i].name, name) == 0)
            return &trace->task[i];
    assert_true(trace->tasks < TASKS || trace->task[0].name);
    size_t at = trace->tasks < TASKS ? trace->tasks++ : 0;
    trace->task[at].name = name;
    return &trace->task[at];
}

static void replay_request(struct trace *trace, const json_t *event)
{
    struct task *task = task_of(trace, json_string_value(json_object_get(event, "task")));
    const json_t *flips = json_object_get(event, "flips");
    double c[MANY], r[MANY], plus[MANY], minus[MANY];
    for (size_t i = 0; i < trace->count; i++) {
        double sides[2];
        task->flips[i] = json_number_value(json_array_get(flips, i));
        task->gains[i] = spsa_gains(&trace->plan, &trace->parameters[i], trace->applied);
        spsa_sides(&trace->parameters[i], trace->theta[i], task->gains[i].c, (int)task->flips[i], sides);
        c[i] = task->gains[i].c;
        r[i] = task->gains[i].r;
        plus[i] = sides[0];
        minus[i] = sides[1];
    }
    assert_int_equal(json_integer_value(json_object_get(event, "iter")), trace->applied);
    check_array(event, "c", c, trace->count);
    check_array(event, "R", r, trace->count);
    check_array(event, "plus", plus, trace->count);
    check_array(event, "minus", minus, trace->count);
}

static void replay_report(struct trace *trace, const json_t *event)
{
    struct task *task = task_of(trace, json_string_value(json_object_get(event, "task")));
    int64_t wins = json_integer_value(json_object_get(event, "wins"));
    int64_t losses = json_integer_value(json_object_get(event, "losses"));
    int64_t draws = json_integer_value(json_object_get(event, "draws"));
    check_array(event, "theta_before", trace->theta, trace->count);
    for (size_t i = 0; i < trace->count; i++)
        trace->theta[i] = spsa_step(&trace->parameters[i], trace->theta[i], task->gains[i],
                                    (int)task->flips[i], wins - losses);
    trace->applied += (uint64_t)(wins + losses + draws) / 2;
    check_array(event, "theta_after", trace->theta, trace->count);
    assert_int_equal(json_integer_value(json_object_get(event, "iter_after")), trace->applied);
}

static void check_gains(const struct trace *trace, const json_t *rows)
{
    for (size_t at = 0; at < json_array_size(rows); at++) {
        const json_t *row = json_array_get(rows, at);
        const json_t *expected = json_object_get(row, "params");
        uint64_t applied = (uint64_t)json_integer_value(json_object_get(row, "iter"));
        for (size_t i = 0; i < trace->count; i++) {
            const json_t *one = json_array_get(expected, i);
            struct spsa_gains gains = spsa_gains(&trace->plan, &trace->parameters[i], applied);
            assert_close(gains.c, vectors_number(one, "c_k"), 1e-9);
            assert_close(gains.r, vectors_number(one, "R_k"), 1e-9);
        }
    }
}

static void replay_trace(const json_t *row)
{
    struct trace trace = {
        .plan = {.pairs = (uint64_t)json_integer_value(json_object_get(row, "num_games")) / 2,
                 .a_ratio = vectors_number(row, "A_ratio"),
                 .alpha = vectors_number(row, "alpha"),
                 .gamma = vectors_number(row, "gamma"),
                 .batch = 1,
                 .lag = 1}};
    char reason[SPSA_REASON_MAX];
    size_t which;
    trace.count = parse_lines(json_string_value(json_object_get(row, "raw_params")), trace.parameters);
    assert_true(spsa_check(&trace.plan, trace.parameters, trace.count, &which, reason));
    for (size_t i = 0; i < trace.count; i++)
        trace.theta[i] = trace.parameters[i].start;
    check_gains(&trace, json_object_get(row, "gains"));
    const json_t *events = json_object_get(row, "events");
    for (size_t at = 0; at < json_array_size(events); at++) {
        const json_t *event = json_array_get(events, at);
        if (strcmp(json_string_value(json_object_get(event, "type")), "request") == 0)
            replay_request(&trace, event);
        else
            replay_report(&trace, event);
    }
    check_array(row, "final_theta", trace.theta, trace.count);
}

static void test_traces(void **state)
{
    (void)state;
    json_t *root = vectors_load("spsa");
    const json_t *traces = json_object_get(root, "traces");
    assert_int_equal(json_array_size(traces), 5);
    for (size_t i = 0; i < json_array_size(traces); i++)
        replay_trace(json_array_get(traces, i));
    json_decref(root);
}

/* STATISTICS refuses more than the source of the vectors did: fishtest#751, OpenBench#304 and #320. */
static bool is_refused_here_alone(const char *name)
{
    return strcmp(name, "max<min accepted silently") == 0 ||
           strcmp(name, "start outside range accepted silently") == 0;
}

static void check_line(const json_t *row)
{
    const json_t *arguments = json_object_get(row, "args");
    struct spsa_plan plan = spsa_plan_default();
    struct spsa_parameter parameter[MANY];
    char reason[SPSA_REASON_MAX] = "";
    size_t which;
    plan.pairs = 500;
    plan.batch = 1;
    if (json_object_get(arguments, "gamma"))
        plan.gamma = vectors_number(arguments, "gamma");
    if (json_object_get(arguments, "A"))
        plan.a_ratio = vectors_number(arguments, "A");
    const char *name = json_string_value(json_object_get(row, "name"));
    size_t count = parse_lines(json_string_value(json_object_get(row, "raw")), parameter);
    bool fine = spsa_check(&plan, parameter, count, &which, reason);
    assert_int_equal(fine, json_is_true(json_object_get(row, "ok")) && !is_refused_here_alone(name));
    assert_true(fine || reason[0] != '\0');
    if (!fine)
        return;
    const json_t *expected = json_array_get(json_object_get(row, "params"), 0);
    struct spsa_gains first = spsa_gains(&plan, parameter, 0);
    assert_close(first.c, vectors_number(expected, "c"), 1e-9);
    assert_close(first.r * first.c * first.c * pow(plan.a_ratio * 500 + 1, plan.alpha),
                 vectors_number(expected, "a"), 1e-9);
}

static void test_parameter_lines(void **state)
{
    (void)state;
    json_t *root = vectors_load("spsa");
    const json_t *rows = json_object_get(root, "validation");
    assert_int_equal(json_array_size(rows), 11);
    for (size_t i = 0; i < json_array_size(rows); i++)
        check_line(json_array_get(rows, i));
    json_decref(root);
}

/* --- refusals --- */

static const struct spsa_parameter fine = {.start = 5, .max = 10, .c_end = 2, .r_end = 0.002, .whole = true};

static void refused(const struct spsa_plan *plan, const struct spsa_parameter *parameters, size_t count,
                    size_t blamed, const char *words)
{
    char reason[SPSA_REASON_MAX] = "";
    size_t which;
    assert_false(spsa_check(plan, parameters, count, &which, reason));
    assert_int_equal(which, blamed);
    assert_non_null(strstr(reason, words));
}

/* CASES: fishtest#751 divided by zero without parameters; OpenBench#304, #320. */
static void test_refusals(void **state)
{
    (void)state;
    struct spsa_plan plan = spsa_plan_default();
    plan.pairs = 100;
    plan.batch = 10;
    refused(&plan, NULL, 0, 0, "no parameter");
    struct spsa_parameter two[2] = {fine, fine};
    two[1].c_end = 0;
    refused(&plan, two, 2, 1, "c_end");
    two[1].c_end = NAN;
    refused(&plan, two, 2, 1, "c_end");
    two[1] = fine;
    two[1].min = two[1].max;
    refused(&plan, two, 2, 1, "below max");
    two[1] = fine;
    two[1].start = 11;
    refused(&plan, two, 2, 1, "outside");
    two[1].start = NAN;
    refused(&plan, two, 2, 1, "finite");
    two[1] = fine;
    two[1].r_end = 0;
    refused(&plan, two, 2, 1, "r_end");
    two[1] = fine;
    two[1].min = 0.5;
    refused(&plan, two, 2, 1, "whole");
    two[1] = fine;
    two[1].c_end = 1e300;
    refused(&plan, two, 2, 1, "overflow");
    plan.pairs = 105;
    refused(&plan, two, 1, 1, "100 or 110");
    plan.pairs = 0;
    refused(&plan, two, 1, 1, "zero pairs");
    plan.pairs = 100;
    plan.lag = 0;
    refused(&plan, two, 1, 1, "lag");
}

/* --- the batch and lag rule --- */

/* Draws depend on seed, batch and parameter, and are fair. */
static void test_draws_are_keyed_and_fair(void **state)
{
    (void)state;
    struct spsa_plan plan = {.seed = 7}, other = {.seed = 8};
    int sum = 0, differ = 0;
    double rounded = 0;
    for (uint64_t batch = 0; batch < 100; batch++)
        for (size_t i = 0; i < 100; i++) {
            int flip = spsa_flip(&plan, batch, i);
            assert_true(flip == 1 || flip == -1);
            sum += flip;
            differ += flip != spsa_flip(&other, batch, i);
            rounded += spsa_round(&plan, batch, i, 3.25);
            assert_true(spsa_round(&plan, batch, i, -4) == -4);
        }
    assert_in_range(sum + 400, 0, 800); /* four standard errors */
    assert_in_range(differ, 4800, 5200);
    assert_close(rounded / 10000, 3.25, 0.006);
}

/* lag 3 over batches of 4: players of b rest on the batches up to b - 3, gains on the pairs applied by then.
 */
static void test_applied_pairs_by_batch(void **state)
{
    (void)state;
    struct spsa_plan plan = {.pairs = 40, .batch = 4, .lag = 3};
    static const uint64_t expected[] = {0, 0, 0, 4, 8, 12};
    for (uint64_t batch = 0; batch < 6; batch++)
        assert_int_equal(spsa_applied(&plan, batch), expected[batch]);
    assert_int_equal(spsa_batches(&plan), 10);
}

/* fishtest 84, PR 1307, issue 535: at a border each side is clipped on its own, theta moves by the unclipped
 * step, in games, and mirrored runs mirror each other. */
static void test_borders_are_symmetric(void **state)
{
    (void)state;
    struct spsa_parameter low = {.start = 1, .max = 100, .c_end = 8, .r_end = 0.002};
    struct spsa_parameter high = {.start = 99, .max = 100, .c_end = 8, .r_end = 0.002};
    struct spsa_plan plan = spsa_plan_default();
    plan.pairs = 1000;
    plan.batch = 8;
    struct spsa_gains gains = spsa_gains(&plan, &low, 0);
    double below[2], above[2];
    for (int flip = -1; flip <= 1; flip += 2) {
        spsa_sides(&low, 1, gains.c, flip, below);
        spsa_sides(&high, 99, gains.c, -flip, above);
        for (int side = 0; side < 2; side++)
            assert_close(below[side], 100 - above[side], 1e-12);
        assert_close(below[flip > 0 ? 0 : 1], 1 + gains.c, 1e-12);
        assert_close(below[flip > 0 ? 1 : 0], 0, 1e-12);
        for (int64_t result = -16; result <= 16; result += 4)
            assert_close(spsa_step(&low, 1, gains, flip, result),
                         100 - spsa_step(&high, 99, gains, -flip, result), 1e-12);
    }
    assert_close(spsa_step(&low, 50, gains, 1, 16) - 50, 16 * gains.r * gains.c, 1e-12);
}

/* Expected games won minus lost of a batch, a parabola's slope with its top at `best`. */
static int64_t noisy_result(const double *sides[2], size_t count, double best, uint32_t pairs, uint64_t *rng)
{
    double lead = 0;
    for (size_t i = 0; i < count; i++)
        lead += ((sides[1][i] - best) * (sides[1][i] - best) - (sides[0][i] - best) * (sides[0][i] - best)) /
                2000;
    int64_t result = 0;
    for (uint32_t game = 0; game < 2 * pairs; game++) {
        *rng = *rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        result += (double)(*rng >> 11) * 0x1p-53 < 1 / (1 + exp(-lead)) ? 1 : -1;
    }
    return result;
}

/* Batch by batch with a lag, as the coordinator does it: it finds the top from far away, and an interrupted
 * run that goes on from what it kept ends bit for bit where the uninterrupted one does
 * (chess-tuning-tools#111). */
static void test_climbs_and_resumes(void **state)
{
    (void)state;
    enum { COUNT = 3, BATCHES = 400 };
    static double thetas[BATCHES + 1][COUNT], again[COUNT];
    static int64_t results[BATCHES];
    struct spsa_plan plan = spsa_plan_default();
    struct spsa_parameter parameters[COUNT];
    uint64_t rng = 1;
    plan.pairs = 16 * BATCHES;
    plan.batch = 16;
    plan.lag = 2;
    plan.seed = 11;
    for (size_t i = 0; i < COUNT; i++) {
        parameters[i] = (struct spsa_parameter){20, -100, 200, 6, 0.02, true};
        thetas[0][i] = 20;
    }
    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        double a[COUNT], b[COUNT], *sides[2] = {a, b};
        uint64_t rests_on = batch < plan.lag ? 0 : batch - plan.lag + 1;
        spsa_players(&plan, parameters, COUNT, batch, thetas[rests_on], sides);
        results[batch] = noisy_result((const double *[2]){a, b}, COUNT, 90, plan.batch, &rng);
        memcpy(thetas[batch + 1], thetas[batch], sizeof thetas[0]);
        spsa_apply(&plan, parameters, COUNT, batch, results[batch], thetas[batch + 1]);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_in_range((int)thetas[BATCHES][i], 75, 105);
    memcpy(again, thetas[137], sizeof again);
    for (uint64_t batch = 137; batch < BATCHES; batch++)
        spsa_apply(&plan, parameters, COUNT, batch, results[batch], again);
    assert_memory_equal(again, thetas[BATCHES], sizeof again);
}

/* fishtest#823, #1304: a million batches keep a few hundred, what is kept once thinned was kept before, and
 * the latest are all there. */
static void test_history_is_bounded(void **state)
{
    (void)state;
    static const uint64_t applied[] = {1, 200, 256, 512, 513, 5000, 100000, 1000000};
    for (size_t at = 0; at < sizeof applied / sizeof *applied; at++) {
        uint64_t kept = 0;
        for (uint64_t batch = 0; batch < applied[at]; batch++) {
            bool keep = spsa_is_kept(batch, applied[at]);
            kept += keep;
            if (batch + SPSA_KEEP >= applied[at])
                assert_true(keep);
            if (at > 0 && keep && batch < applied[at - 1])
                assert_true(spsa_is_kept(batch, applied[at - 1]));
        }
        assert_true(kept <= 2 * SPSA_KEEP + 1);
        assert_true(kept >= (applied[at] < SPSA_KEEP ? applied[at] : SPSA_KEEP));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_parameter_lines),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_draws_are_keyed_and_fair),
        cmocka_unit_test(test_applied_pairs_by_batch),
        cmocka_unit_test(test_borders_are_symmetric),
        cmocka_unit_test(test_climbs_and_resumes),
        cmocka_unit_test(test_history_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
