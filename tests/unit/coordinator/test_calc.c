#include "coordinator/calc.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/coordinator/vectors.h"

static json_t *ask_text(const char *line)
{
    char *text = calc_answer(line, strlen(line));
    assert_non_null(text);
    assert_null(strchr(text, '\n'));
    json_t *answer = json_loads(text, 0, NULL);
    assert_non_null(answer);
    free(text);
    return answer;
}

/* Takes the request. */
static json_t *ask(json_t *request)
{
    assert_non_null(request);
    char *line = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_t *answer = ask_text(line);
    free(line);
    json_decref(request);
    return answer;
}

static void refused(const char *line, const char *word)
{
    json_t *answer = ask_text(line);
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (!error || !strstr(error, word))
        fail_msg("%s: answered %s, expected an error with \"%s\"", line, error ? error : "without error",
                 word);
    assert_int_equal(json_object_size(answer), 1);
    json_decref(answer);
}

static const char *text(const json_t *answer, const char *key)
{
    const char *value = json_string_value(json_object_get(answer, key));
    if (!value)
        fail_msg("no text %s in the answer", key);
    return value;
}

static void check_llrs(const json_t *counts, const char *model, const json_t *rows)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_t *answer = ask(json_pack("{s:s,s:O,s:s,s:O,s:O}", "op", "llr", "counts", counts, "model", model,
                                       "elo0", json_array_get(row, 0), "elo1", json_array_get(row, 1)));
        assert_close(vectors_number(answer, "llr"), vectors_item(row, 2), 1e-6);
        assert_string_equal(text(answer, "model"), model);
        assert_true(vectors_number(answer, "formula") >= 1);
        json_decref(answer);
    }
}

static void all_elo_llr_vectors(void **state)
{
    (void)state;
    static const char *const keys[] = {"elo", "score", "los", "nelo"};
    json_t *root = vectors_load("elo-llr");
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(root, "cases"), i, row)
    {
        json_t *counts = json_object_get(row, "counts");
        json_t *answer = ask(json_pack("{s:s,s:O}", "op", "elo", "counts", counts));
        for (int k = 0; k < 4; k++)
            assert_close(vectors_number(answer, keys[k]), vectors_number(row, keys[k]), 1e-9);
        assert_true(fabs(vectors_number(answer, "elo_lo") - vectors_number(row, "elo_lo")) <= 1e-4);
        assert_true(fabs(vectors_number(answer, "elo_hi") - vectors_number(row, "elo_hi")) <= 1e-4);
        json_decref(answer);
        check_llrs(counts, "logistic", json_object_get(row, "llr_logistic"));
        check_llrs(counts, "normalized", json_object_get(row, "llr_normalized"));
    }
    json_decref(root);
}

static void all_sequences(void **state)
{
    (void)state;
    json_t *root = vectors_load("sprt-sequences");
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(root, "cases"), i, row)
    {
        const json_t *last = json_array_get(json_object_get(row, "checkpoints"),
                                            json_array_size(json_object_get(row, "checkpoints")) - 1);
        json_t *request = json_pack("{s:s,s:O}", "op", "sprt", "batch", json_object_get(row, "batch_size"));
        static const char *const keys[] = {"bins", "model", "elo0", "elo1", "alpha", "beta", "sequence"};
        for (int k = 0; k < 7; k++)
            json_object_set(request, keys[k], json_object_get(row, keys[k]));
        json_t *answer = ask(request);
        assert_string_equal(text(answer, "state"), json_string_value(json_object_get(row, "final_state")));
        assert_close(vectors_number(answer, "stopped_at"), vectors_number(row, "stopped_at"), 0);
        assert_close(vectors_number(answer, "llr"), vectors_number(last, "llr"), 1e-6);
        assert_close(vectors_number(answer, "lower"), vectors_number(row, "lower"), 1e-9);
        assert_close(vectors_number(answer, "upper"), vectors_number(row, "upper"), 1e-9);
        json_decref(answer);
    }
    json_decref(root);
}

static void an_incomplete_batch_is_not_evaluated(void **state)
{
    (void)state;
    json_t *whole = ask_text("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"batch\":4,\"sequence\":\"01234321\"}");
    json_t *more =
        ask_text("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"batch\":4,\"sequence\":\"01234321444\"}");
    assert_true(json_equal(whole, more));
    assert_true(json_is_null(json_object_get(whole, "stopped_at")));
    assert_string_equal(text(whole, "state"), "");
    json_decref(whole);
    json_decref(more);
}

/* What comes after the verdict changes nothing. */
static void a_sequence_stops_at_its_verdict(void **state)
{
    (void)state;
    char line[4096], wins[1001];
    memset(wins, '4', 1000);
    wins[1000] = '\0';
    snprintf(line, sizeof line, "{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"sequence\":\"%s\"}", wins);
    json_t *answer = ask_text(line);
    double stopped_at = vectors_number(answer, "stopped_at");
    assert_true(stopped_at > 100 && stopped_at < 200);
    assert_string_equal(text(answer, "state"), "accepted");
    assert_close(vectors_number(answer, "samples"), stopped_at, 0);
    memset(wins + 500, '0', 500);
    snprintf(line, sizeof line, "{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"sequence\":\"%s\"}", wins);
    json_t *other = ask_text(line);
    assert_true(json_equal(answer, other));
    json_decref(answer);
    json_decref(other);
}

/* cutechess 881: left out, alpha and beta were infinite bounds. Here they are defaults, and stated. */
static void what_is_left_out_is_stated(void **state)
{
    (void)state;
    json_t *answer = ask_text("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"sequence\":\"\"}");
    assert_close(vectors_number(answer, "alpha"), 0.05, 1e-15);
    assert_close(vectors_number(answer, "beta"), 0.05, 1e-15);
    assert_close(vectors_number(answer, "bins"), 5, 0);
    assert_close(vectors_number(answer, "batch"), 1, 0);
    assert_close(vectors_number(answer, "lower"), log(0.05 / 0.95), 1e-12);
    assert_string_equal(text(answer, "model"), "normalized");
    json_decref(answer);
    answer = ask_text("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":0,\"elo1\":5}");
    assert_close(vectors_number(answer, "upper"), log(0.95 / 0.05), 1e-12);
    assert_string_equal(text(answer, "order"), "L, D, W");
    json_decref(answer);
    refused("{\"op\":\"sprt\",\"elo1\":5,\"sequence\":\"\"}", "elo0");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":5}", "elo1");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5}", "sequence");
    refused("{\"op\":\"elo\"}", "counts");
}

static void an_sprt_estimate_is_that_of_its_vector(void **state)
{
    (void)state;
    json_t *answer = ask_text("{\"op\":\"sprt-estimate\",\"counts\":[591,2163,716],\"model\":\"normalized\","
                              "\"elo0\":-5,\"elo1\":0,\"alpha\":0.01,\"beta\":0.1}");
    assert_close(vectors_number(answer, "elo"), 12.5211089508, 1e-8);
    assert_close(vectors_number(answer, "elo_lo"), 5.43372013737, 1e-8);
    assert_close(vectors_number(answer, "elo_hi"), 19.6189307266, 1e-8);
    assert_close(vectors_number(answer, "los"), 0.999733452489, 1e-9);
    assert_close(vectors_number(answer, "llr_clamped"), 3.29550376858, 1e-9);
    assert_close(vectors_number(answer, "samples_clamped"), 3470, 1e-12);
    assert_close(vectors_number(answer, "upper"), 4.49980967033, 1e-9);
    assert_string_equal(text(answer, "model"), "normalized");
    assert_string_equal(text(answer, "order"), "L, D, W");
    json_decref(answer);
    refused("{\"op\":\"sprt-estimate\",\"elo0\":0,\"elo1\":5}", "counts");
    refused("{\"op\":\"sprt-estimate\",\"counts\":[1,2,3],\"elo0\":0}", "elo1");
    refused("{\"op\":\"sprt-estimate\",\"counts\":[1,2,3],\"elo0\":0,\"elo1\":1e-300}", "range");
    refused("{\"op\":\"sprt-estimate\",\"counts\":[1,2,3],\"elo0\":0,\"elo1\":1e300}", "range");
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    refused("", "JSON");
    refused("{", "JSON");
    refused("[]", "object");
    refused("null", "object");
    refused("{}", "op");
    refused("{\"op\":7}", "op");
    refused("{\"op\":\"tea\"}", "tea");
    refused("{\"op\":\"elo\",\"op\":\"elo\",\"counts\":[1,2,3]}", "JSON");
    refused("{\"op\":\"elo\",\"counts\":[1,2]}", "counts");
    refused("{\"op\":\"elo\",\"counts\":[1,2,3,4]}", "counts");
    refused("{\"op\":\"elo\",\"counts\":[1,2,3,4,5,6,7]}", "counts");
    refused("{\"op\":\"elo\",\"counts\":7}", "counts");
    refused("{\"op\":\"elo\",\"counts\":[1,-2,3]}", "negative");
    refused("{\"op\":\"elo\",\"counts\":[1,2.5,3]}", "whole");
    refused("{\"op\":\"elo\",\"counts\":[1,\"2\",3]}", "whole");
    refused("{\"op\":\"elo\",\"counts\":[1,null,3]}", "whole");
    refused("{\"op\":\"elo\",\"counts\":[9000000000000000000,9000000000000000000,1]}", "10^15");
    refused("{\"op\":\"elo\",\"counts\":[1e300,2,3]}", "whole");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":5,\"elo1\":5}", "below");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":6,\"elo1\":5}", "below");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":\"a\",\"elo1\":5}", "elo0");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":0,\"elo1\":1e999}", "JSON");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":0,\"elo1\":NaN}", "JSON");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":0,\"elo1\":5,\"model\":\"bayes\"}", "model");
    refused("{\"op\":\"llr\",\"counts\":[1,2,3],\"elo0\":0,\"elo1\":5,\"model\":1}", "model");
    refused(
        "{\"op\":\"llr\",\"counts\":[1000000000000,2,3],\"model\":\"logistic\",\"elo0\":0,\"elo1\":1e308}",
        "range");
}

static void bad_sequences_are_refused(void **state)
{
    (void)state;
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"sequence\":\"0125\"}", "sample 4");
    refused("{\"op\":\"sprt\",\"bins\":3,\"elo0\":0,\"elo1\":5,\"sequence\":\"0123\"}", "sample 4");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"sequence\":\"01 2\"}", "sample 3");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"sequence\":[0,1]}", "string");
    refused("{\"op\":\"sprt\",\"bins\":4,\"elo0\":0,\"elo1\":5,\"sequence\":\"\"}", "bins");
    refused("{\"op\":\"sprt\",\"bins\":6,\"elo0\":0,\"elo1\":5,\"sequence\":\"\"}", "bins");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"batch\":0,\"sequence\":\"\"}", "batch");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"batch\":-1,\"sequence\":\"\"}", "batch");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"batch\":1.5,\"sequence\":\"\"}", "batch");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"alpha\":0,\"sequence\":\"\"}", "alpha");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"alpha\":0.5,\"beta\":0.5,\"sequence\":\"\"}", "alpha");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"beta\":-0.1,\"sequence\":\"\"}", "beta");
    refused("{\"op\":\"sprt\",\"elo0\":0,\"elo1\":5,\"alpha\":null,\"sequence\":\"\"}", "alpha");
}

static void a_line_too_long_is_refused(void **state)
{
    (void)state;
    size_t length = CALC_LINE_MAX + 1;
    char *line = malloc(length);
    assert_non_null(line);
    memset(line, ' ', length);
    char *answer = calc_answer(line, length);
    assert_non_null(strstr(answer, "longer"));
    free(answer);
    free(line);
}

static void whole_numbers_may_be_written_as_reals(void **state)
{
    (void)state;
    json_t *one = ask_text("{\"op\":\"elo\",\"counts\":[1,20,3]}");
    json_t *two = ask_text("{\"op\":\"elo\",\"counts\":[1.0,2e1,3],\"id\":\"mine\"}");
    assert_true(json_equal(one, two));
    json_decref(one);
    json_decref(two);
}

static void workers_are_compared(void **state)
{
    (void)state;
    json_t *answer = ask_text("{\"op\":\"workers\",\"workers\":[[2700,2700,4600],[2690,2710,4600],"
                              "[2720,2680,4600],[600,400,2500,500,3000,3000]]}");
    assert_int_equal(json_array_size(json_object_get(answer, "z")), 4);
    assert_int_equal(json_array_size(json_object_get(answer, "blamed")), 1);
    assert_int_equal((int)vectors_item(json_object_get(answer, "blamed"), 0), 3);
    assert_int_equal((int)vectors_number(answer, "freedom"), 6);
    json_decref(answer);
    answer = ask_text("{\"op\":\"workers\",\"workers\":[]}");
    assert_true(json_is_null(json_object_get(answer, "chi2")));
    json_decref(answer);
    refused("{\"op\":\"workers\"}", "workers");
    refused("{\"op\":\"workers\",\"workers\":[[1,2]]}", "worker 1");
    refused("{\"op\":\"workers\",\"workers\":[[1,2,3],[1,2,-3]]}", "worker 2");
}

static void ratings_have_lists_gaps_and_an_anchor(void **state)
{
    (void)state;
    json_t *answer = ask_text("{\"op\":\"rating\",\"players\":[\"A\",\"B\",\"P\",\"Q\"],\"games\":[{"
                              "\"first\":\"A\",\"second\":\"B\","
                              "\"first_wins\":30,\"draws\":10,\"second_wins\":20},{\"first\":\"P\","
                              "\"second\":\"A\",\"first_wins\":9,"
                              "\"draws\":0,\"second_wins\":0}],\"pairs\":[{\"a\":\"B\",\"b\":\"A\","
                              "\"counts\":[5,1,2,0,3,0,4,0,6]}],"
                              "\"anchor\":\"B\",\"anchor_elo\":1000}");
    const json_t *ratings = json_object_get(answer, "ratings");
    assert_int_equal(json_array_size(ratings), 4);
    assert_true(json_number_value(json_object_get(json_array_get(ratings, 0), "rating")) > 1000);
    assert_close(json_number_value(json_object_get(json_array_get(ratings, 1), "rating")), 1000, 1e-12);
    assert_true(json_is_null(json_object_get(json_array_get(ratings, 2), "rating")));
    assert_true(json_is_true(json_object_get(json_array_get(ratings, 2), "is_unbeaten")));
    assert_true(json_is_null(json_object_get(json_array_get(ratings, 3), "score")));
    assert_int_equal(json_array_size(json_object_get(answer, "lists")), 3);
    const json_t *gap = json_array_get(json_object_get(answer, "gaps"), 0);
    assert_int_equal(json_integer_value(json_object_get(gap, "above")), 2);
    assert_true(json_number_value(json_object_get(gap, "at_least")) > 1000);
    const json_t *los = json_array_get(json_object_get(answer, "los"), 0);
    assert_true(json_is_null(json_array_get(los, 0)) && json_is_null(json_array_get(los, 2)));
    assert_true(json_number_value(json_array_get(los, 1)) > 0.5);
    assert_string_equal(text(answer, "anchor"), "B");
    json_decref(answer);
#define GAMES "\"games\":[{\"first\":\"A\",\"second\":\"B\",\"first_wins\":1,\"draws\":0,\"second_wins\":1}]"
    refused("{\"op\":\"rating\",\"players\":[\"A\",\"B\"]," GAMES ",\"anchor\":\"C\"}", "anchor");
    refused("{\"op\":\"rating\",\"players\":[\"A\",\"B\",\"C\"]," GAMES ",\"anchor\":\"C\"}", "no games");
    refused("{\"op\":\"rating\",\"players\":[\"A\",\"B\"]," GAMES ",\"anchor_elo\":3}", "needs an");
    refused("{\"op\":\"rating\",\"players\":[\"A\",\"C\"]," GAMES "}", "none of the players");
    refused("{\"op\":\"rating\",\"players\":[\"A\",\"A\"]," GAMES "}", "twice");
    refused("{\"op\":\"rating\",\"players\":[\"A\",\"B\"]," GAMES ",\"prior\":-1}", "prior");
    refused("{\"op\":\"rating\",\"players\":[\"A\",\"B\"]}", "games");
    refused("{\"op\":\"rating\"}", "players");
#undef GAMES
}

/* The real decision module at elo0, midpoint and elo1: error rates within four standard errors of what is
 * promised, lengths within a tenth. */
static void simulated_tests_keep_their_promise(void **state)
{
    (void)state;
    enum { RUNS = 1500 };
    for (int i = 0; i < 3; i++) {
        json_t *answer = ask(json_pack("{s:s,s:f,s:i,s:i,s:i,s:i}", "op", "sprt-simulate", "elo", 30.0 * i,
                                       "elo0", 0, "elo1", 60, "batch", 4, "runs", RUNS));
        double expected = vectors_number(answer, "acceptance_expected");
        double error = sqrt(expected * (1 - expected) / RUNS);
        assert_true(fabs(vectors_number(answer, "acceptance") - expected) < 4 * error);
        assert_true(vectors_number(answer, "acceptance_lo") <= expected + 2 * error &&
                    vectors_number(answer, "acceptance_hi") >= expected - 2 * error);
        assert_close(vectors_number(answer, "pairs_mean") / vectors_number(answer, "pairs_expected"), 1, 0.1);
        assert_int_equal((int)vectors_number(answer, "undecided"), 0);
        json_decref(answer);
    }
}

static void a_simulation_is_a_function_of_its_seed(void **state)
{
    (void)state;
    static const char line[] =
        "{\"op\":\"sprt-simulate\",\"elo\":5,\"elo0\":0,\"elo1\":40,\"runs\":20,\"seed\":7}";
    json_t *one = ask_text(line), *other = ask_text(line);
    assert_true(json_equal(one, other));
    json_decref(one);
    json_decref(other);
    refused("{\"op\":\"sprt-simulate\",\"elo\":5,\"elo0\":0,\"elo1\":40,\"shares\":[1,2]}", "five shares");
    refused("{\"op\":\"sprt-simulate\",\"elo\":5,\"elo0\":0,\"elo1\":40,\"shares\":[0,0,0,0,0]}", "all be 0");
    refused("{\"op\":\"sprt-simulate\",\"elo\":5,\"elo0\":0,\"elo1\":40,\"shares\":[0,0,1,0,0]}",
            "other \"shares\"");
    refused("{\"op\":\"sprt-simulate\",\"elo\":5,\"elo0\":0,\"elo1\":40,\"runs\":0}", "runs");
    refused("{\"op\":\"sprt-simulate\",\"elo0\":0,\"elo1\":40}", "elo");
}

/* The vectors' traces themselves are test_spsa.c's: here one step, and what is refused. */
static void test_spsa(void **state)
{
    (void)state;
    json_t *answer =
        ask_text("{\"op\":\"spsa\",\"pairs\":1000,\"parameters\":[{\"start\":99,\"min\":0,\"max\":100,"
                 "\"c_end\":5,\"r_end\":0.01}],\"flips\":[1],\"result\":16}");
    assert_close(vectors_item(json_object_get(answer, "c"), 0), 10.045464063, 1e-9);
    assert_close(vectors_item(json_object_get(answer, "a"), 0), 100, 0);
    assert_close(vectors_item(json_object_get(answer, "b"), 0), 88.954535937, 1e-9);
    assert_close(vectors_item(json_object_get(answer, "theta"), 0), 100, 0);
    assert_close(vectors_number(answer, "k"), 1, 0);
    json_decref(answer);
    refused("{\"op\":\"spsa\",\"pairs\":10,\"parameters\":[]}", "no parameter");
    refused("{\"op\":\"spsa\",\"parameters\":[]}", "pairs");
    refused("{\"op\":\"spsa\",\"pairs\":10,\"parameters\":[{\"start\":1,\"min\":0,\"max\":2,\"c_end\":0,\"r_"
            "end\":1}]}",
            "c_end");
    refused("{\"op\":\"spsa\",\"pairs\":10,\"parameters\":[{\"start\":1,\"min\":0,\"max\":2,\"c_end\":1,\"r_"
            "end\":1}],"
            "\"flips\":[2]}",
            "1 or -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_elo_llr_vectors),
        cmocka_unit_test(all_sequences),
        cmocka_unit_test(an_incomplete_batch_is_not_evaluated),
        cmocka_unit_test(a_sequence_stops_at_its_verdict),
        cmocka_unit_test(what_is_left_out_is_stated),
        cmocka_unit_test(an_sprt_estimate_is_that_of_its_vector),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(bad_sequences_are_refused),
        cmocka_unit_test(a_line_too_long_is_refused),
        cmocka_unit_test(simulated_tests_keep_their_promise),
        cmocka_unit_test(a_simulation_is_a_function_of_its_seed),
        cmocka_unit_test(whole_numbers_may_be_written_as_reals),
        cmocka_unit_test(workers_are_compared),
        cmocka_unit_test(ratings_have_lists_gaps_and_an_anchor),
        cmocka_unit_test(test_spsa),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
