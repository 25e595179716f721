#include "engine/search_parameters.h"

#include <string.h>

#include "engine/search.h"
#include "tests/unit/check.h"

static void test_defaults_lie_within_their_bounds(void **state)
{
    (void)state;
    struct search_parameters usual = search_parameters_default();
    const struct search_parameter *which;
    size_t count = 0;
    for (; (which = search_parameter_at(count)) != NULL; count++) {
        assert_int_equal(search_parameters_get(&usual, which), which->usual);
        assert_true(which->low <= which->usual && which->usual <= which->high);
        assert_ptr_equal(search_parameter_find(which->name), which);
        assert_false(search_parameters_set(&usual, which, which->high + 1));
        assert_false(search_parameters_set(&usual, which, which->low - 1));
    }
    assert_int_equal(count * sizeof(int32_t), sizeof usual);
}

static void test_options_are_read(void **state)
{
    (void)state;
    struct search_parameters read, usual = search_parameters_default();
    char reason[200] = "";
    assert_true(search_parameters_parse("", &read, reason, sizeof reason));
    assert_memory_equal(&read, &usual, sizeof usual);
    assert_true(search_parameters_parse("CutMargin=70\nreducefrom=3", &read, reason, sizeof reason));
    assert_int_equal(read.cut_margin, 70);
    assert_int_equal(read.reduce_from, 3);
    assert_int_equal(read.cut_depth, usual.cut_depth);
}

static void refused(const char *options, const char *words)
{
    struct search_parameters read;
    char reason[200] = "";
    assert_false(search_parameters_parse(options, &read, reason, sizeof reason));
    if (!strstr(reason, words))
        fail_msg("\"%s\" lacks \"%s\"", reason, words);
}

static void test_wrong_options_are_refused(void **state)
{
    (void)state;
    refused("Contempt=1", "no option \"Contempt\"");
    refused("CutMargin=70\nCutMargin=70", "twice");
    refused("CutMargin=1001", "0 to 1000");
    refused("CutMargin=-1", "0 to 1000");
    refused("CutMargin=", "whole number");
    refused("CutMargin=7.5", "whole number");
    refused("CutMargin", "Name=Value");
    refused("ReduceFrom=99999999999999999999", "1 to 6");
}

static uint64_t nodes_of(struct search *search, const struct weights *weights,
                         const struct search_parameters *parameters)
{
    struct rules rules;
    char reason[200];
    struct search_info info;
    struct search_limits limits = {.depth = 9, .parameters = parameters};
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    struct game *game = game_create(&rules, NULL);
    search_run(search, game, weights, &limits, NULL, NULL, NULL, &info);
    game_destroy(game);
    return info.nodes;
}

/* What the table holds was found under other parameters: a search that changes them starts as if new, so that
 * each parameter shows and none leaks into the next search. */
static void test_parameters_change_the_search_and_do_not_leak(void **state)
{
    (void)state;
    struct search *search = search_create(SEARCH_HASH_KIB);
    struct weights *weights = weights_create_starting("site");
    struct search_parameters other = search_parameters_default();
    uint64_t usual = nodes_of(search, weights, NULL);
    other.cut_depth = 0;
    search_new_game(search);
    uint64_t without_cuts = nodes_of(search, weights, &other);
    assert_true(without_cuts != usual);
    assert_int_equal(nodes_of(search, weights, NULL), usual);
    assert_int_equal(nodes_of(search, weights, &other), without_cuts);
    other = search_parameters_default();
    other.reduce_depth = SEARCH_DEPTH_MAX;
    assert_true(nodes_of(search, weights, &other) != usual);
    weights_destroy(weights);
    search_destroy(search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_lie_within_their_bounds),
        cmocka_unit_test(test_options_are_read),
        cmocka_unit_test(test_wrong_options_are_refused),
        cmocka_unit_test(test_parameters_change_the_search_and_do_not_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
