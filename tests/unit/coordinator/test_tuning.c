#include "coordinator/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/weights_parameters.h"
#include "tests/unit/check.h"

struct ground {
    struct store_player player;
    struct tuning_ground ground;
    void *weights;
};

static int set_up(void **state)
{
    struct ground *ground = calloc(1, sizeof *ground);
    struct weights *weights = weights_create_starting("site");
    size_t size;
    assert_int_equal(weights_serialize(weights, &ground->weights, &size), WEIGHTS_OK);
    weights_destroy(weights);
    ground->ground = (struct tuning_ground){.player = &ground->player,
                                            .weights = ground->weights,
                                            .weights_size = size,
                                            .rules = "site",
                                            .pairs = 64,
                                            .seed = 3};
    *state = ground;
    return 0;
}

static int tear_down(void **state)
{
    struct ground *ground = *state;
    free(ground->weights);
    free(ground);
    return 0;
}

static struct tuning *read_tuning(const struct ground *ground, const char *json)
{
    char reason[TUNING_REASON] = "";
    struct tuning *tuning = tuning_create(json, strlen(json), &ground->ground, reason);
    if (!tuning)
        fail_msg("refused: %s", reason);
    return tuning;
}

#define STEPS "\"c_end\": 4, \"r_end\": 0.002"

static void refused(const struct ground *ground, const char *parameters, const char *words)
{
    char json[2048], reason[TUNING_REASON] = "";
    snprintf(json, sizeof json, "{\"batch\": 8, \"parameters\": [%s]}", parameters);
    struct tuning *tuning = tuning_create(json, strlen(json), &ground->ground, reason);
    if (tuning)
        fail_msg("taken: %s", parameters);
    if (!strstr(reason, words))
        fail_msg("\"%s\" lacks \"%s\"", reason, words);
}

static void patterns_become_parameters(void **state)
{
    const struct ground *ground = *state;
    struct tuning *tuning = read_tuning(
        ground, "{\"batch\": 8, \"lag\": 2, \"match_pairs\": 5, \"parameters\": ["
                "{\"weights\": \"store.*\", \"span\": 50, " STEPS "},"
                "{\"weights\": \"house.*.1.*\", \"together\": true, \"min\": -9, \"max\": 9, " STEPS "},"
                "{\"option\": \"cutmargin\", \"min\": 20, \"max\": 99, " STEPS "}]}");
    assert_int_equal(tuning->count, 6);
    assert_string_equal(tuning->names[1], "store.1");
    assert_close(tuning->parameters[1].start, 100, 0);
    assert_close(tuning->parameters[1].min, 50, 0);
    assert_close(tuning->parameters[1].max, 150, 0);
    assert_string_equal(tuning->names[4], "house.*.1.*");
    assert_close(tuning->parameters[4].start, 0, 0);
    assert_string_equal(tuning->names[5], "CutMargin");
    assert_close(tuning->parameters[5].start, 60, 0);
    assert_int_equal(tuning->plan.lag, 2);
    assert_int_equal(tuning->match_pairs, 5);
    tuning_destroy(tuning);
    tuning = read_tuning(ground,
                         "{\"batch\": 64, \"parameters\": [{\"weights\": \"*\", \"span\": 5, " STEPS "}]}");
    assert_int_equal(tuning->count, WEIGHTS_TABLE_PARAMETERS);
    assert_int_equal(tuning->match_pairs, 64);
    tuning_destroy(tuning);
}

static void wrong_files_are_refused_with_their_entry(void **state)
{
    const struct ground *ground = *state;
    const char *good = "{\"weights\": \"store.0\", \"span\": 5, " STEPS "}";
    char two[512];
    refused(ground, "", "no parameter");
    refused(ground, "{\"weights\": \"shop.*\", \"span\": 5, " STEPS "}",
            "entry 1: these weights (kind table)");
    snprintf(two, sizeof two, "%s, {\"weights\": \"store.*\", \"span\": 5, " STEPS "}", good);
    refused(ground, two, "entry 2: store.0 is named by two");
    refused(ground, "{\"weights\": \"store.0\", \"span\": 5, \"c_end\": 0, \"r_end\": 1}", "store.0: c_end");
    refused(ground, "{\"weights\": \"store.0\", \"min\": 120, \"max\": 130, " STEPS "}", "lies outside");
    refused(ground, "{\"weights\": \"store.0\", \"min\": 100, \"max\": 100, " STEPS "}", "not below max");
    refused(ground, "{\"weights\": \"store.0\", \"min\": 1, " STEPS "}", "\"min\" and \"max\"");
    refused(ground, "{\"weights\": \"store.0\", \"span\": 5, \"c_end\": 4}", "r_end");
    refused(ground, "{\"weights\": \"store.0\", \"span\": 5, \"speed\": 4, " STEPS "}", "no field \"speed\"");
    refused(ground, "{\"weights\": \"store.0\", \"span\": 32000, " STEPS "}", "narrower bounds");
    refused(ground, "{\"option\": \"Contempt\", \"min\": 1, \"max\": 9, " STEPS "}",
            "no option \"Contempt\"");
    refused(ground, "{\"option\": \"CutMargin\", \"min\": 1, \"max\": 9999, " STEPS "}", "0 and 1000");
    refused(ground, "{\"option\": \"CutMargin\", \"weights\": \"*\"}", "names \"weights\" or an \"option\"");
    refused(ground, "{\"weights\": \"store.0\", \"span\": 1e999, " STEPS "}", "line");
    char reason[TUNING_REASON];
    assert_null(tuning_create("{\"batch\": 7, \"parameters\": []}", 30, &ground->ground, reason));
    assert_non_null(strstr(reason, "63 or 70"));
    assert_null(tuning_create("[]", 2, &ground->ground, reason));
    assert_null(tuning_create("{\"parameters\": []}", 18, &ground->ground, reason));
    assert_non_null(strstr(reason, "\"batch\" is missing"));
}

/* The weights a side plays with, read back from its file. */
static struct weights *weights_of(const struct tuning_side *side)
{
    struct weights *weights;
    assert_non_null(side->file);
    assert_int_equal(weights_parse(side->file, side->file_size, "site", &weights), WEIGHTS_OK);
    return weights;
}

static void values_become_players(void **state)
{
    struct ground *ground = *state;
    strcpy(ground->player.options, "ReduceFrom=3\nCutMargin=70\nCutDepth=8");
    struct tuning *tuning =
        read_tuning(ground, "{\"batch\": 8, \"parameters\": ["
                            "{\"weights\": \"house.A.*.0\", \"together\": true, \"span\": 9, " STEPS "},"
                            "{\"option\": \"CutMargin\", \"min\": 20, \"max\": 99, " STEPS "},"
                            "{\"weights\": \"store.3\", \"span\": 50, " STEPS "}]}");
    const double values[] = {4, 33, 120};
    struct tuning_side side, again;
    char reason[TUNING_REASON], name[WEIGHTS_PARAMETER_NAME];
    assert_close(tuning->parameters[1].start, 70, 0);
    assert_int_equal(tuning_make(tuning, values, &side, reason), 0);
    assert_string_equal(side.options, "ReduceFrom=3\nCutDepth=8\nCutMargin=33");
    struct weights *weights = weights_of(&side);
    for (size_t i = 0; i < weights_parameter_count(weights); i++) {
        weights_parameter_name(weights, i, name);
        int32_t expected = weights_parameter_get(tuning->base, i);
        expected = weights_parameter_matches("house.A.*.0", name) ? 4 : expected;
        expected = strcmp(name, "store.3") == 0 ? 120 : expected;
        assert_int_equal(weights_parameter_get(weights, i), expected);
    }
    weights_destroy(weights);
    assert_int_equal(tuning_make(tuning, values, &again, reason), 0);
    assert_memory_equal(side.weights, again.weights, STORE_HASH);
    tuning_side_done(&side);
    tuning_side_done(&again);
    /* What is tuned stands where it started: the very same weights. */
    double start[3];
    tuning_start(tuning, start);
    assert_int_equal(tuning_settle(tuning, start, &side, reason), 0);
    assert_null(side.file);
    assert_memory_equal(side.weights, tuning->base_sha256, STORE_HASH);
    tuning_destroy(tuning);
}

/* fishtest 84: both sides are clipped on their own, and what is played is what the step assumes. */
static void players_of_a_batch_are_apart_by_their_step(void **state)
{
    const struct ground *ground = *state;
    struct tuning *tuning = read_tuning(
        ground,
        "{\"batch\": 8, \"parameters\": [{\"weights\": \"store.0\", \"min\": 97, \"max\": 160, " STEPS "}]}");
    double theta = 100;
    size_t clipped = 0;
    for (uint64_t batch = 0; batch < 8; batch++) {
        struct tuning_side sides[2];
        char reason[TUNING_REASON];
        double c = spsa_gains(&tuning->plan, &tuning->parameters[0], spsa_applied(&tuning->plan, batch)).c;
        assert_int_equal(tuning_players(tuning, batch, &theta, sides, reason), 0);
        struct weights *a = weights_of(&sides[0]), *b = weights_of(&sides[1]);
        int high = a->phases[0].store, low = b->phases[0].store;
        if (spsa_flip(&tuning->plan, batch, 0) < 0) {
            high = b->phases[0].store;
            low = a->phases[0].store;
        }
        assert_in_range(high, (int)floor(theta + c), (int)ceil(theta + c));
        clipped += low == 97;
        weights_destroy(a);
        weights_destroy(b);
        tuning_side_done(&sides[0]);
        tuning_side_done(&sides[1]);
    }
    assert_int_equal(clipped, 8);
    tuning_destroy(tuning);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(patterns_become_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_files_are_refused_with_their_entry, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_become_players, set_up, tear_down),
        cmocka_unit_test_setup_teardown(players_of_a_batch_are_apart_by_their_step, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
