#include "eval/train.h"

#include "eval/provenance.h"
#include "tests/unit/check.h"
#include "tests/unit/eval/selfplay.h"

enum { PAIRS = 160, SEED = 77 };

static const struct reader_filters filters = {.validation_ppm = 150000, .sample_ppm = READER_UNIT};

static int set_up(void **state)
{
    struct selfplay *played = calloc(1, sizeof *played);
    *state = played;
    return selfplay_play(played, 1, SEED, PAIRS, 200, 0);
}

static int tear_down(void **state)
{
    selfplay_done(*state);
    free(*state);
    return 0;
}

/* How a test changes a game before it is read; NULL leaves it. */
typedef void change_game(struct store_training_game *game);

static struct train *read_games(const struct selfplay *played, size_t count, change_game *change)
{
    struct train *train = calloc(1, sizeof *train);
    assert_int_equal(reader_init(&train->reader, &played->rules, &filters, 1 << 22), READER_OK);
    train->reader.sources[train->reader.source_count++] =
        (struct reader_source){.experiment = 1, .seed = SEED, .opening_plies = 8};
    train->ranges[train->range_count++] = (struct store_range){.experiment = 1, .pair_count = count / 2};
    for (size_t i = 0; i < count; i++) {
        struct store_training_game game = played->games[i];
        if (change)
            change(&game);
        if (reader_take(&train->reader, &game) != READER_OK)
            fail_msg("%s", train->reader.reason);
    }
    train->options = (struct train_options){.kind = WEIGHTS_TABLE,
                                            .lambda = 0.4,
                                            .ridge = 1e-3,
                                            .iterations = FIT_ITERATIONS,
                                            .threads = 1,
                                            .min_positions = TRAIN_MIN_POSITIONS};
    train->parent.weights = weights_create_starting("site");
    return train;
}

static void end_train(struct train *train)
{
    train_done(train);
    free(train);
}

static void expect_refusal(struct train *train, const char *text)
{
    assert_int_equal(train_run(train), TRAIN_REFUSED);
    if (!strstr(train->reason, text))
        fail_msg("`%s` does not say `%s`", train->reason, text);
    assert_null(train->bytes);
    end_train(train);
}

static void a_fit_beats_the_starting_weights(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    enum train_status status = train_run(train);
    if (status != TRAIN_DONE)
        fail_msg("%s", train->reason);
    assert_true(train->judge.after < train->judge.before);
    assert_true(train->train_after < train->train_before);
    assert_true(train->k > 50.0 && train->k < 2000.0);
    assert_true(train->quantisation_error < 10.0);
    struct weights *weights = NULL;
    assert_int_equal(weights_parse(train->bytes, train->size, "site", &weights), WEIGHTS_OK);
    assert_int_equal(weights->per_logit, train->quantized.per_logit);
    assert_non_null(strstr(weights->provenance, "\"data_sha256\""));
    assert_non_null(strstr(weights->provenance, "\"parents\":[\"starting\"]"));
    weights_destroy(weights);
    end_train(train);
}

/* The same data and seed give the same file, by any number of threads. */
static void the_file_is_the_same_again(void **state)
{
    struct train *first = read_games(*state, 2 * PAIRS, NULL);
    assert_int_equal(train_run(first), TRAIN_DONE);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct train *again = read_games(*state, 2 * PAIRS, NULL);
        again->options.threads = threads;
        assert_int_equal(train_run(again), TRAIN_DONE);
        assert_int_equal(again->size, first->size);
        assert_memory_equal(again->bytes, first->bytes, first->size);
        assert_memory_equal(again->sha256, first->sha256, STORE_HASH);
        end_train(again);
    }
    struct train *other = read_games(*state, 2 * PAIRS - 20, NULL);
    assert_int_equal(train_run(other), TRAIN_DONE);
    assert_memory_not_equal(other->data_sha256, first->data_sha256, STORE_HASH);
    assert_memory_not_equal(other->sha256, first->sha256, STORE_HASH);
    end_train(other);
    end_train(first);
}

/* Two runs in one process share nothing (chess-tuning-tools 157). */
static void two_runs_do_not_mix(void **state)
{
    struct train *alone = read_games(*state, PAIRS, NULL);
    alone->options.force = true;
    assert_int_equal(train_run(alone), TRAIN_DONE);
    struct train *one = read_games(*state, PAIRS, NULL), *other = read_games(*state, 2 * PAIRS, NULL);
    one->options.force = true;
    assert_int_equal(train_run(other), TRAIN_DONE);
    assert_int_equal(train_run(one), TRAIN_DONE);
    assert_memory_equal(one->sha256, alone->sha256, STORE_HASH);
    end_train(alone);
    end_train(one);
    end_train(other);
}

static void drop_scores(struct store_training_game *game)
{
    game->scores = NULL;
}

static void without_scores_results_are_the_target(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, drop_scores);
    train->options.force = true;
    assert_int_equal(train_run(train), TRAIN_DONE);
    assert_close(train->lambda, 1.0, 0.0);
    assert_close(train->k, 0.0, 0.0);
    assert_true(train->warning_count > 0);
    assert_non_null(strstr(train->warnings[0], "lambda 1"));
    end_train(train);
}

static void huge_scores_stay_finite(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    struct rows *rows = &train->reader.training;
    for (size_t i = 0; i < rows->count; i++)
        rows->items[i].score = (int16_t)(rows->items[i].half_points == 2   ? 29999
                                         : rows->items[i].half_points == 0 ? -29999
                                                                           : 0);
    train->options.force = true;
    assert_int_equal(train_run(train), TRAIN_DONE);
    assert_true(isfinite(train->k) && train->k > 0.0);
    assert_true(isfinite(train->fit.loss) && isfinite(train->judge.after));
    end_train(train);
}

static void scores_against_the_results_are_refused(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    struct rows *rows = &train->reader.training;
    for (size_t i = 0; i < rows->count; i++)
        rows->items[i].score = rows->items[i].half_points == 2 ? -200 : 200;
    expect_refusal(train, "--lambda 1");
}

static void one_outcome_is_refused(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    struct reader_counts *counts = &train->reader.counts;
    counts->draws = counts->training_games;
    counts->south = counts->north = 0;
    expect_refusal(train, "drawn");
    train = read_games(*state, 2 * PAIRS, NULL);
    counts = &train->reader.counts;
    counts->south = counts->training_games;
    counts->north = counts->draws = 0;
    expect_refusal(train, "one outcome only");
    train = read_games(*state, 1, NULL);
    expect_refusal(train,
                   train->reader.counts.training_games == 1 ? "one outcome only" : "no training games");
    train = read_games(*state, 0, NULL);
    expect_refusal(train, "no games");
}

static void lopsided_results_are_told(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    struct reader_counts *counts = &train->reader.counts;
    counts->north = counts->training_games / 50;
    counts->draws = 0;
    counts->south = counts->training_games - counts->north;
    train->options.force = true;
    assert_int_equal(train_run(train), TRAIN_DONE);
    assert_non_null(strstr(train->warnings[0], "lopsided"));
    end_train(train);
}

static void too_little_data_is_refused(void **state)
{
    struct train *train = read_games(*state, 20, NULL);
    expect_refusal(train, "too few positions");
    train = read_games(*state, 20, NULL);
    train->options.min_positions = 1;
    train->options.force = true;
    expect_refusal(train, "distinct positions");
}

static void no_ridge_is_refused(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    train->options.ridge = 0.0;
    expect_refusal(train, "--ridge");
}

static void parents_of_other_rules_are_refused(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    weights_destroy(train->parent.weights);
    train->parent.weights = weights_create_starting("school");
    expect_refusal(train, "school");
}

/* Against a parent fitted on the same games, a fit that hardly learned is worse: refused, or kept when
 * forced. */
static void a_worse_fit_is_refused_unless_forced(void **state)
{
    const struct selfplay *played = *state;
    struct train *good = read_games(played, 2 * PAIRS, NULL);
    assert_int_equal(train_run(good), TRAIN_DONE);
    for (int force = 0; force <= 1; force++) {
        struct train *train = read_games(played, 2 * PAIRS, NULL);
        weights_destroy(train->parent.weights);
        assert_int_equal(weights_parse(good->bytes, good->size, "site", &train->parent.weights), WEIGHTS_OK);
        train->options.ridge = 3.0;
        train->options.force = force == 1;
        assert_int_equal(train_run(train), force ? TRAIN_DONE : TRAIN_REFUSED);
        assert_true(train->judge.after > train->judge.before);
        const char *told = force ? train->warnings[train->warning_count - 1] : train->reason;
        assert_non_null(strstr(told, "worse than the parent"));
        assert_true(force == (train->bytes != NULL));
        end_train(train);
    }
    end_train(good);
}

static bool warned(const struct train *train, const char *text)
{
    for (size_t i = 0; i < train->warning_count; i++)
        if (strstr(train->warnings[i], text))
            return true;
    return false;
}

/* A leak: the validation games are games that were trained on. It is told, and the count is right. */
static void shared_positions_are_told(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    struct rows *training = &train->reader.training, *validation = &train->reader.validation;
    validation->count = 0;
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(rows_add(validation, &training->items[i]), ROWS_OK);
    train->options.force = true;
    assert_int_equal(train_run(train), TRAIN_DONE);
    assert_int_equal(train->shared, 3000);
    assert_true(warned(train, "occur in training too"));
    end_train(train);
}

/* Another leak: scores that know the result. The scale runs into its least value, and it is told. */
static void scores_that_know_the_result_are_told(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    struct rows *rows = &train->reader.training;
    for (size_t i = 0; i < rows->count; i++)
        rows->items[i].score = (int16_t)(100 * (rows->items[i].half_points - 1));
    train->options.force = true;
    assert_int_equal(train_run(train), TRAIN_DONE);
    assert_true(warned(train, "separate the results perfectly"));
    assert_true(isfinite(train->judge.after));
    end_train(train);
}

/* One position, again and again: nothing varies, so there is nothing to fit. */
static void constants_are_refused(void **state)
{
    static const enum weights_kind kinds[] = {WEIGHTS_TABLE, WEIGHTS_NET, WEIGHTS_FEATURES};
    for (int i = 0; i < 3; i++) {
        struct train *train = read_games(*state, 2 * PAIRS, NULL);
        struct rows *rows = &train->reader.training;
        for (size_t k = 0; k < rows->count; k++)
            rows->items[k].key = rows->items[0].key;
        train->options.kind = kinds[i];
        train->options.epochs = 1;
        train->options.batch = 256;
        train->options.rate = 1e-3;
        expect_refusal(train, "distinct positions");
    }
}

static void short_of_games_a_net_is_refused(void **state)
{
    struct train *train = read_games(*state, PAIRS / 4, NULL);
    train->options.kind = WEIGHTS_NET;
    train->options.epochs = 1;
    train->options.batch = 256;
    train->options.rate = 1e-3;
    train->options.min_positions = 1;
    train->options.force = true;
    expect_refusal(train, "7841 parameters");
}

/* A rate that blows the net up leaves no weights behind. */
static void a_net_that_blows_up_is_refused(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    train->options.kind = WEIGHTS_NET;
    train->options.epochs = 2;
    train->options.batch = 64;
    train->options.rate = 1e38;
    train->options.force = true;
    enum train_status status = train_run(train);
    assert_true(status == TRAIN_FAILED || status == TRAIN_REFUSED);
    assert_true(train->reason[0] != '\0');
    assert_null(train->bytes);
    end_train(train);
}

static void every_kind_gives_the_same_file_again(void **state)
{
    static const enum weights_kind kinds[] = {WEIGHTS_NET, WEIGHTS_FEATURES};
    for (int i = 0; i < 2; i++) {
        uint8_t first[STORE_HASH];
        for (unsigned threads = 1; threads <= 8; threads *= 2) {
            struct train *train = read_games(*state, 2 * PAIRS, NULL);
            train->options.kind = kinds[i];
            train->options.threads = threads;
            train->options.epochs = 3;
            train->options.batch = 512;
            train->options.rate = 2e-3;
            train->options.force = true;
            if (train_run(train) != TRAIN_DONE)
                fail_msg("%s", train->reason);
            if (threads == 1)
                memcpy(first, train->sha256, sizeof first);
            assert_memory_equal(train->sha256, first, sizeof first);
            assert_non_null(strstr(train->weights->provenance, weights_kind_name(kinds[i])));
            end_train(train);
        }
    }
}

static void records_are_json(void **state)
{
    struct train *train = read_games(*state, 2 * PAIRS, NULL);
    assert_int_equal(train_run(train), TRAIN_DONE);
    char *manifest = provenance_manifest(train), *options = provenance_options(train),
         *curve = provenance_curve(train);
    assert_string_equal(manifest, "[{\"experiment\":1,\"first_pair\":0,\"pair_count\":160}]");
    assert_non_null(strstr(options, "\"left_out_captures\""));
    assert_non_null(strstr(curve, "\"calibration\""));
    free(manifest);
    free(options);
    free(curve);
    end_train(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_beats_the_starting_weights),
        cmocka_unit_test(the_file_is_the_same_again),
        cmocka_unit_test(two_runs_do_not_mix),
        cmocka_unit_test(without_scores_results_are_the_target),
        cmocka_unit_test(huge_scores_stay_finite),
        cmocka_unit_test(scores_against_the_results_are_refused),
        cmocka_unit_test(one_outcome_is_refused),
        cmocka_unit_test(lopsided_results_are_told),
        cmocka_unit_test(too_little_data_is_refused),
        cmocka_unit_test(no_ridge_is_refused),
        cmocka_unit_test(parents_of_other_rules_are_refused),
        cmocka_unit_test(a_worse_fit_is_refused_unless_forced),
        cmocka_unit_test(shared_positions_are_told),
        cmocka_unit_test(scores_that_know_the_result_are_told),
        cmocka_unit_test(constants_are_refused),
        cmocka_unit_test(short_of_games_a_net_is_refused),
        cmocka_unit_test(a_net_that_blows_up_is_refused),
        cmocka_unit_test(every_kind_gives_the_same_file_again),
        cmocka_unit_test(records_are_json),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
