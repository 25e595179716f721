#include "eval/endgame.h"

#include <string.h>
#include <unistd.h>

#include "engine/tables_build.h"
#include "eval/features.h"
#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

enum { SEEDS = 7 };

static int set_up(void **state)
{
    char path[] = "/tmp/kroo-endgame-XXXXXX", reason[256];
    struct rules rules;
    struct tables *tables = NULL;
    int file = mkstemp(path);
    if (file < 0 || rules_parse("site", &rules, reason, sizeof reason) != 0)
        return -1;
    close(file);
    int status = tables_build(&rules, SEEDS, 2, path, NULL, NULL) == TABLES_OK &&
                         tables_open(path, &rules, &tables) == TABLES_OK
                     ? 0
                     : -1;
    unlink(path);
    *state = tables;
    return status;
}

static int tear_down(void **state)
{
    tables_close(*state);
    return 0;
}

static uint64_t key_of(const char *text)
{
    struct position position;
    char error[128];
    assert_int_equal(position_parse(text, &position, error, sizeof error), 0);
    return features_key(board_from_position(&position));
}

/* Won, lost, and left alone: too many seeds. The capture of two decides the fourth. */
static void outcomes_take_the_place_of_targets(void **state)
{
    struct merged merged[] = {
        {.key = key_of("0-0-0-0-0-1-0-0-0-0-0-1-40-6-S"), .target = 0.3F, .weight = 1},
        {.key = key_of("0-0-0-0-0-1-0-0-0-0-0-1-6-40-S"), .target = 0.3F, .weight = 1},
        {.key = key_of("4-4-0-0-0-0-4-4-0-0-0-0-16-16-S"), .target = 0.3F, .weight = 90},
    };
    struct endgame_targets exact;
    endgame_correct(*state, SEEDS, merged, 3, &exact);
    assert_int_equal(exact.positions, 2);
    assert_close(merged[0].target, 1.0, 0.0);
    assert_close(merged[1].target, 0.0, 0.0);
    assert_close(merged[2].target, 0.3F, 0.0);
    assert_close(merged[0].weight, 1.0, 0.0); /* under a tenth: left as it is */
    /* With tables that go less far nothing is decided. */
    merged[0].target = 0.3F;
    endgame_correct(*state, 1, merged, 3, &exact);
    assert_int_equal(exact.positions, 0);
    assert_close(merged[0].target, 0.3F, 0.0);
}

static void they_get_a_tenth_of_the_weight(void **state)
{
    struct merged merged[] = {
        {.key = key_of("0-0-0-0-0-1-0-0-0-0-0-1-40-6-S"), .target = 0.3F, .weight = 60},
        {.key = key_of("0-0-0-0-0-1-0-0-0-0-0-1-6-40-S"), .target = 0.3F, .weight = 30},
        {.key = key_of("4-4-0-0-0-0-4-4-0-0-0-0-16-16-S"), .target = 0.3F, .weight = 90},
    };
    struct endgame_targets exact;
    endgame_correct(*state, SEEDS, merged, 3, &exact);
    assert_close(exact.share, 0.5, 1e-12);
    double exact_weight = (double)merged[0].weight + (double)merged[1].weight;
    assert_close(exact_weight / (exact_weight + 90.0), 0.1, 1e-6);
    assert_close((double)merged[0].weight / (double)merged[1].weight, 2.0, 1e-6);
}

/* Positions of random games with few seeds left. */
static void few_seeds(struct rows *rows)
{
    enum { KEYS = 60000 };
    uint64_t *keys = malloc(KEYS * sizeof *keys);
    synthetic_keys(12, keys, KEYS);
    rows_init(rows, KEYS);
    for (int i = 0; i < KEYS; i++)
        if (features_seeds(keys[i]) <= SEEDS + 1) {
            struct row row = {.key = keys[i]};
            assert_int_equal(rows_add(rows, &row), ROWS_OK);
        }
    free(keys);
}

/* The tables' own move gives nothing away; who prefers the empty store gives away more than who counts seeds.
 */
static void better_weights_give_away_less(void **state)
{
    struct rows rows;
    few_seeds(&rows);
    struct weights_phase phases[WEIGHTS_PHASES];
    memset(phases, 0, sizeof phases);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        phases[phase].store = -100;
    struct weights *wrong = NULL, *right = weights_create_starting("site");
    assert_int_equal(weights_create_table("site", 0, 0, phases, "{}", &wrong), WEIGHTS_OK);
    struct endgame good, bad;
    endgame_judge(*state, right, &rows, &good);
    endgame_judge(*state, wrong, &rows, &bad);
    assert_true(good.positions > 200);
    assert_true(good.positions < rows.count); /* eight seeds are too many, one move is no choice */
    assert_int_equal(good.positions, bad.positions);
    assert_true(good.best > bad.best);
    assert_true(good.given_away < bad.given_away);
    assert_true(good.agreed > good.outcomes / 2);
    assert_true(bad.agreed < bad.outcomes / 2);
    weights_destroy(right);
    weights_destroy(wrong);
    rows.count = 0;
    struct weights *start = weights_create_starting("site");
    endgame_judge(*state, start, &rows, &good);
    assert_int_equal(good.positions, 0);
    assert_close(good.given_away, 0.0, 0.0);
    weights_destroy(start);
    rows_done(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_take_the_place_of_targets),
        cmocka_unit_test(they_get_a_tenth_of_the_weight),
        cmocka_unit_test(better_weights_give_away_less),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
