#include "eval/perfect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

enum { KEYS = 60000 };

static void fill_rows(struct rows *rows)
{
    uint64_t *keys = malloc(KEYS * sizeof *keys);
    assert_non_null(keys);
    synthetic_keys(12, keys, KEYS);
    rows_init(rows, KEYS);
    for (int i = 0; i < KEYS; i++) {
        struct row row = {.key = keys[i]};
        assert_int_equal(rows_add(rows, &row), ROWS_OK);
    }
    free(keys);
}

static struct rules rules_of(const char *text)
{
    struct rules rules;
    char reason[256];
    assert_int_equal(rules_parse(text, &rules, reason, sizeof reason), 0);
    return rules;
}

/* Weights that like the other side's store. */
static struct weights *wrong_weights(void)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    struct weights *weights = NULL;
    memset(phases, 0, sizeof phases);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        phases[phase].store = -100;
    assert_int_equal(weights_create_table("site", 0, 0, phases, "{}", &weights), WEIGHTS_OK);
    return weights;
}

static void without_tables_small_ones_are_built(void **state)
{
    (void)state;
    struct rows rows;
    struct rules rules = rules_of("site");
    struct weights *right = weights_create_starting("site"), *wrong = wrong_weights();
    struct perfect perfect;
    fill_rows(&rows);
    perfect_judge(&rules, NULL, right, wrong, &rows, &perfect);
    assert_int_equal(perfect.seeds, PERFECT_SEEDS);
    assert_true(perfect.own.positions > 200);
    assert_int_equal(perfect.own.positions, perfect.parent.positions);
    assert_true(perfect.own.best > perfect.parent.best);
    assert_true(perfect.own.given_away < perfect.parent.given_away);
    json_t *object = perfect_json(&perfect);
    assert_int_equal(json_integer_value(json_object_get(object, "seeds")), PERFECT_SEEDS);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(object, "own"), "best")),
                     perfect.own.best);
    json_decref(object);
    weights_destroy(right);
    weights_destroy(wrong);
    rows_done(&rows);
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    char folder[] = "/tmp/kroo-test-perfect-XXXXXX";
    struct rows rows;
    struct rules rules = rules_of("site");
    struct weights *weights = weights_create_starting("site");
    struct perfect perfect;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    rows_init(&rows, 1);
    perfect_judge(&rules, NULL, weights, weights, &rows, &perfect);
    assert_int_equal(perfect.seeds, PERFECT_SEEDS);
    assert_int_equal(perfect.own.positions, 0);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
    /* And where there is no place, nothing is measured. */
    perfect_judge(&rules, NULL, weights, weights, &rows, &perfect);
    assert_int_equal(perfect.seeds, 0);
    assert_null(perfect_json(&perfect));
    unsetenv("TMPDIR");
    weights_destroy(weights);
    rows_done(&rows);
}

/* Their results are no sums of seeds. */
static void rules_without_tables_are_not_measured(void **state)
{
    (void)state;
    struct rows rows;
    struct rules rules = rules_of("togo");
    struct weights *weights = weights_create_starting("togo");
    struct perfect perfect;
    rows_init(&rows, 1);
    perfect_judge(&rules, NULL, weights, weights, &rows, &perfect);
    assert_int_equal(perfect.seeds, 0);
    weights_destroy(weights);
    rows_done(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_tables_small_ones_are_built),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(rules_without_tables_are_not_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
