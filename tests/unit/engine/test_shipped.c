/* The weights that come with Kroo (weights/): each loads, is of its kind and rules, and judges as it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/rules.h"
#include "engine/weights.h"

static void assert_shipped(const char *path, enum weights_kind kind)
{
    struct weights *weights = NULL;
    /* Loading computes all 64 test positions again. */
    assert_int_equal(weights_load(path, "site", &weights), WEIGHTS_OK);
    assert_int_equal(weights->kind, kind);
    assert_true(weights->per_logit > 0);
    weights_destroy(weights);
}

/* A seed more in the store is better, whatever else: what no trained weights may have wrong at the start. */
static void assert_likes_seeds(const char *path)
{
    struct weights *weights = NULL;
    struct position level, ahead;
    char error[160];
    assert_int_equal(weights_load(path, "site", &weights), WEIGHTS_OK);
    assert_int_equal(position_parse("4-4-4-4-4-4-4-4-4-4-0-0-4-4-S", &level, error, sizeof error), 0);
    assert_int_equal(position_parse("4-4-4-4-4-4-4-4-4-4-0-0-7-1-S", &ahead, error, sizeof error), 0);
    assert_true(weights_evaluate(weights, &ahead) > weights_evaluate(weights, &level) + 100);
    weights_destroy(weights);
}

static void both_kinds_load_and_give_their_test_scores(void **state)
{
    (void)state;
    assert_shipped("weights/site-table.weights", WEIGHTS_TABLE);
    assert_shipped("weights/site-net.weights", WEIGHTS_NET);
}

static void both_kinds_value_seeds_in_the_store(void **state)
{
    (void)state;
    assert_likes_seeds("weights/site-table.weights");
    assert_likes_seeds("weights/site-net.weights");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_kinds_load_and_give_their_test_scores),
        cmocka_unit_test(both_kinds_value_seeds_in_the_store),
    };
    return cmocka_run_group_tests_name("shipped", tests, NULL, NULL);
}
