#include "eval/judge.h"

#include <string.h>

#include "eval/features.h"
#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

enum { GAMES = 60, POSITIONS = 50 };

static struct weights *stores_worth(int16_t hundredths)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    struct weights *weights = NULL;
    memset(phases, 0, sizeof phases);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        phases[phase].store = hundredths;
    assert_int_equal(weights_create_table("site", 0, 300, phases, "{}", &weights), WEIGHTS_OK);
    return weights;
}

/* GAMES games of POSITIONS positions, results drawn for a store worth a third of a log odd; all positions of
 * one game share its result when `shared`. */
static void make_rows(struct rows *rows, bool shared)
{
    uint64_t *keys = malloc(GAMES * POSITIONS * sizeof *keys);
    synthetic_keys(21, keys, GAMES * POSITIONS);
    rows_init(rows, GAMES * POSITIONS);
    for (uint32_t i = 0; i < GAMES * POSITIONS; i++) {
        uint32_t game = i / POSITIONS;
        uint64_t key = keys[shared ? game * POSITIONS : i];
        double p = 1.0 / (1.0 + exp(-features_difference(key) / 3.0));
        bool won = synthetic_uniform(mix(5, shared ? game : i)) < p;
        struct row row = {.key = key, .game = game, .score = PLAY_NO_SCORE, .half_points = won ? 2 : 0};
        assert_int_equal(rows_add(rows, &row), ROWS_OK);
    }
    free(keys);
}

static void losses_are_cross_entropies(void **state)
{
    (void)state;
    assert_close(judge_loss(0.0, 0.3), log(2.0), 1e-15);
    assert_close(judge_loss(2.0, 1.0), log1p(exp(-2.0)), 1e-15);
    assert_close(judge_loss(-1.0, 0.25),
                 -0.25 * log(1.0 / (1.0 + exp(1.0))) - 0.75 * log(1.0 / (1.0 + exp(-1.0))), 1e-14);
    assert_close(judge_loss(1e6, 0.0), 1e6, 1e-15);
    assert_close(judge_loss(-1e6, 0.0), 0.0, 1e-15);
}

/* Against the sums written out again, with the games' deviations taken one by one. */
static void paired_difference_and_its_error(void **state)
{
    (void)state;
    struct rows rows;
    make_rows(&rows, false);
    struct weights *small = stores_worth(50), *right = stores_worth(100);
    struct judge judge;
    judge_run(&rows, (struct row_targets){1.0, 0.0}, (struct judged){small, 300.0},
              (struct judged){right, 300.0}, &judge);
    double before = 0.0, after = 0.0, games[GAMES] = {0.0};
    for (size_t i = 0; i < rows.count; i++) {
        double difference = features_difference(rows.items[i].key), y = rows.items[i].half_points / 2.0;
        double a = judge_loss(difference * 50.0 / 300.0, y), b = judge_loss(difference * 100.0 / 300.0, y);
        before += a / (GAMES * POSITIONS);
        after += b / (GAMES * POSITIONS);
        games[rows.items[i].game] += b - a;
    }
    double variance = 0.0;
    for (int i = 0; i < GAMES; i++)
        variance += pow(games[i] - POSITIONS * (after - before), 2.0);
    double error = sqrt(variance * GAMES / (GAMES - 1.0)) / (GAMES * POSITIONS);
    assert_int_equal(judge.positions, GAMES * POSITIONS);
    assert_int_equal(judge.games, GAMES);
    assert_close(judge.before, before, 1e-12);
    assert_close(judge.after, after, 1e-12);
    assert_close(judge.difference, after - before, 1e-12);
    assert_close(judge.error, error, 1e-9);
    assert_true(judge.difference < 0.0);
    weights_destroy(small);
    weights_destroy(right);
    rows_done(&rows);
}

/* Fifty copies of one position a game: the error by game is the square root of fifty times the naive one. */
static void games_are_what_varies(void **state)
{
    (void)state;
    struct rows rows;
    make_rows(&rows, true);
    struct weights *small = stores_worth(50), *right = stores_worth(100);
    struct judge judge;
    judge_run(&rows, (struct row_targets){1.0, 0.0}, (struct judged){small, 300.0},
              (struct judged){right, 300.0}, &judge);
    assert_close(judge.error / judge.naive_error, sqrt(POSITIONS), 0.02);
    weights_destroy(small);
    weights_destroy(right);
    rows_done(&rows);
}

static void calibration_counts_every_position(void **state)
{
    (void)state;
    struct rows rows;
    make_rows(&rows, false);
    struct weights *right = stores_worth(100);
    struct judge judge;
    judge_run(&rows, (struct row_targets){1.0, 0.0}, (struct judged){right, 300.0},
              (struct judged){right, 300.0}, &judge);
    uint64_t positions = 0;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int i = 0; i < JUDGE_BINS; i++) {
            const struct judge_bin *bin = &judge.bins[phase][i];
            positions += bin->positions;
            if (bin->positions == 0)
                continue;
            assert_true(bin->predicted >= i / 20.0 - 1e-12 && bin->predicted <= (i + 1) / 20.0 + 1e-12);
            double error = sqrt(bin->predicted * (1.0 - bin->predicted) / (double)bin->positions);
            assert_true(fabs(bin->predicted - bin->target) < 4.5 * error + 0.02);
        }
    assert_int_equal(positions, rows.count);
    assert_close(judge.difference, 0.0, 0.0);
    assert_close(judge.error, 0.0, 0.0);
    weights_destroy(right);
    rows_done(&rows);
}

static void no_positions_give_zeros(void **state)
{
    (void)state;
    struct rows rows;
    rows_init(&rows, 1);
    struct weights *right = stores_worth(100);
    struct judge judge;
    judge_run(&rows, (struct row_targets){1.0, 0.0}, (struct judged){right, 300.0},
              (struct judged){right, 300.0}, &judge);
    assert_int_equal(judge.positions, 0);
    assert_close(judge.after, 0.0, 0.0);
    assert_close(judge.error, 0.0, 0.0);
    weights_destroy(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_cross_entropies), cmocka_unit_test(paired_difference_and_its_error),
        cmocka_unit_test(games_are_what_varies),      cmocka_unit_test(calibration_counts_every_position),
        cmocka_unit_test(no_positions_give_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
