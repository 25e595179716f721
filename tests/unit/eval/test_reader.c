#include "eval/reader.h"

#include "eval/features.h"
#include "tests/unit/check.h"
#include "tests/unit/eval/selfplay.h"

enum { PAIRS = 40, SEED = 4711, NOISE_PPM = 10000 };

static const struct reader_filters everything = {.with_captures = true,
                                                 .with_opening = true,
                                                 .with_decided = true,
                                                 .with_repeats = true,
                                                 .sample_ppm = READER_UNIT};

static int set_up(void **state)
{
    struct selfplay *played = calloc(1, sizeof *played);
    *state = played;
    return selfplay_play(played, 1, SEED, PAIRS, 100, NOISE_PPM);
}

static int tear_down(void **state)
{
    selfplay_done(*state);
    free(*state);
    return 0;
}

static void open_reader(struct reader *reader, const struct selfplay *played,
                        const struct reader_filters *filters, size_t limit)
{
    assert_int_equal(reader_init(reader, &played->rules, filters, limit), READER_OK);
    reader->sources[reader->source_count++] =
        (struct reader_source){.experiment = 1, .seed = SEED, .opening_plies = 8, .noise_ppm = NOISE_PPM};
}

static void take_all(struct reader *reader, const struct selfplay *played)
{
    for (size_t i = 0; i < played->count; i++)
        if (reader_take(reader, &played->games[i]) != READER_OK)
            fail_msg("%s", reader->reason);
}

static void every_position_is_kept_without_filters(void **state)
{
    const struct selfplay *played = *state;
    struct reader reader;
    struct reader_filters filters = everything;
    filters.validation_ppm = 0;
    open_reader(&reader, played, &filters, 1 << 20);
    reader.sources[0].noise_ppm = 0;
    take_all(&reader, played);
    size_t plies = 0;
    for (size_t i = 0; i < played->count; i++)
        plies += played->games[i].plies;
    assert_int_equal(reader.training.count, plies);
    assert_int_equal(reader.counts.positions, plies);
    assert_int_equal(reader.counts.games, 2 * PAIRS);
    /* Row by row: the key of the position before the ply, the stored score, the mover's points. */
    const struct row *row = reader.training.items;
    for (size_t i = 0; i < 5; i++) {
        struct game *game = game_create(&played->rules, NULL);
        const struct store_training_game *stored = &played->games[i];
        for (size_t ply = 0; ply < stored->plies; ply++, row++) {
            struct position position = game_position(game);
            assert_int_equal(row->key, features_key(board_from_position(&position)));
            assert_int_equal(row->score, bytes_get_i16(stored->scores + 2 * ply));
            assert_int_equal(row->game, i);
            int points = strcmp(stored->result, "draw") == 0                        ? 1
                         : (strcmp(stored->result, "south") == 0) == (ply % 2 == 0) ? 2
                                                                                    : 0;
            assert_int_equal(row->half_points, points);
            assert_int_equal(game_play_letter(game, stored->moves[ply]), GAME_OK);
        }
        game_destroy(game);
    }
    reader_done(&reader);
}

static void filters_account_for_every_position(void **state)
{
    const struct selfplay *played = *state;
    struct reader reader;
    struct reader_filters filters = {
        .validation_ppm = 200000, .sample_ppm = READER_UNIT, .with_repeats = true};
    open_reader(&reader, played, &filters, 1 << 20);
    take_all(&reader, played);
    const struct reader_counts *counts = &reader.counts;
    assert_int_equal(counts->opening, 8 * 2 * PAIRS);
    assert_true(counts->noise > 0 && counts->decided > 0 && counts->captures > 0);
    assert_int_equal(counts->positions, counts->opening + counts->noise + counts->decided + counts->captures +
                                            counts->training + counts->validation);
    assert_int_equal(counts->games, counts->training_games + counts->validation_games);
    assert_int_equal(counts->training_games, counts->south + counts->north + counts->draws);
    for (size_t i = 0; i < reader.training.count; i++) {
        assert_true(reader.training.items[i].score != PLAY_NO_SCORE);
        assert_true(abs(reader.training.items[i].score) < SEARCH_WIN_BOUND);
    }
    reader_done(&reader);
}

static void positions_before_noise_are_left_out(void **state)
{
    const struct selfplay *played = *state;
    struct play_setup setup = played->setup;
    for (size_t i = 0; i < played->count; i++) {
        const struct store_training_game *game = &played->games[i];
        size_t expected = 0;
        for (size_t ply = 0; ply < game->plies; ply++)
            expected = play_is_noise(&setup, game->pair, game->leg, ply) ? 0 : expected + 1;
        struct reader reader;
        open_reader(&reader, played, &everything, 1 << 20);
        reader.sources[0].opening_plies = 8;
        assert_int_equal(reader_take(&reader, game), READER_OK);
        bool noisy = reader.counts.noise > 0;
        assert_int_equal(reader.training.count, noisy ? expected : game->plies);
        reader_done(&reader);
    }
}

static void pairs_are_split_never_positions(void **state)
{
    const struct selfplay *played = *state;
    struct reader reader;
    struct reader_filters filters = everything;
    filters.validation_ppm = 300000;
    open_reader(&reader, played, &filters, 1 << 20);
    size_t validation = 0;
    for (size_t i = 0; i < played->count; i++) {
        size_t before = reader.validation.count, training = reader.training.count;
        bool aside = reader_validates(SEED, played->games[i].pair, filters.validation_ppm);
        assert_int_equal(reader_take(&reader, &played->games[i]), READER_OK);
        assert_true(aside ? reader.training.count == training : reader.validation.count == before);
        validation += aside;
    }
    assert_int_equal(reader.counts.validation_games, validation);
    assert_int_equal(validation % 2, 0);
    assert_true(validation > 4 && validation < PAIRS);
    reader_done(&reader);
}

/* The split never changes: the same pairs for ever, more of them for a larger share. These are stored
 * answers. */
static void split_is_never_drawn_again(void **state)
{
    (void)state;
    unsigned count = 0;
    for (uint64_t pair = 0; pair < 100000; pair++) {
        bool tenth = reader_validates(1, pair, 100000);
        count += tenth;
        assert_true(!tenth || reader_validates(1, pair, 200000));
    }
    assert_true(count > 9600 && count < 10400);
    uint64_t bits = 0;
    for (uint64_t pair = 0; pair < 64; pair++)
        bits |= (uint64_t)reader_validates(UINT64_C(12345), pair, 100000) << pair;
    assert_true(bits == UINT64_C(0x4110820200220048));
}

static void expect_refusal(const struct selfplay *played, const struct store_training_game *game,
                           const char *text)
{
    struct reader reader;
    open_reader(&reader, played, &everything, 1 << 20);
    assert_int_equal(reader_take(&reader, game), READER_ERROR_GAME);
    assert_non_null(strstr(reader.reason, text));
    assert_non_null(strstr(reader.reason, "pair 3, leg 1"));
    reader_done(&reader);
}

static void games_that_do_not_replay_are_named(void **state)
{
    const struct selfplay *played = *state;
    struct store_training_game game = played->games[7];
    strcpy(game.result, strcmp(game.result, "south") == 0 ? "north" : "south");
    expect_refusal(played, &game, "does not replay");
    game = played->games[7];
    game.south = (uint8_t)(game.south - 1);
    expect_refusal(played, &game, "does not replay");
    game = played->games[7];
    strcpy(game.reason, strcmp(game.reason, "no-move") == 0 ? "majority" : "no-move");
    expect_refusal(played, &game, "does not replay");
    game = played->games[7];
    game.plies--;
    expect_refusal(played, &game, "does not replay");
    game = played->games[7];
    char *moves = strdup(game.moves);
    moves[10] = 'z';
    game.moves = moves;
    expect_refusal(played, &game, "illegal move");
    game.plies = 0; /* a game without moves */
    expect_refusal(played, &game, "does not replay");
    free(moves);
    game = played->games[7];
    strcpy(game.result, "?");
    expect_refusal(played, &game, "no result");
    game = played->games[7];
    game.experiment = 2;
    struct reader reader;
    open_reader(&reader, played, &everything, 1 << 20);
    assert_int_equal(reader_take(&reader, &game), READER_ERROR_GAME);
    reader_done(&reader);
}

static void surplus_moves_are_refused(void **state)
{
    const struct selfplay *played = *state;
    struct store_training_game game = played->games[7];
    char *moves = calloc(game.plies + 2, 1);
    uint8_t *scores = calloc(game.plies + 1, 2);
    memcpy(moves, game.moves, game.plies);
    moves[game.plies] = 'A';
    game.moves = moves;
    game.scores = scores;
    game.plies++;
    expect_refusal(played, &game, "moves after its end");
    free(moves);
    free(scores);
}

/* One file of games imported twice under two experiments counts once (othello_world 8). */
static void repeated_games_count_once(void **state)
{
    const struct selfplay *played = *state;
    struct reader reader;
    struct reader_filters filters = everything;
    filters.with_repeats = false;
    open_reader(&reader, played, &filters, 1 << 20);
    reader.sources[reader.source_count++] =
        (struct reader_source){.experiment = 2, .seed = SEED, .opening_plies = 8, .noise_ppm = NOISE_PPM};
    take_all(&reader, played);
    uint64_t games = reader.counts.games;
    size_t rows = reader.training.count;
    for (size_t i = 0; i < played->count; i++) {
        struct store_training_game again = played->games[i];
        again.experiment = 2;
        assert_int_equal(reader_take(&reader, &again), READER_OK);
    }
    assert_int_equal(reader.counts.games, games);
    assert_int_equal(reader.training.count, rows);
    assert_int_equal(reader.counts.repeats, 2 * played->count - games);
    reader_done(&reader);
}

static void memory_has_a_bound(void **state)
{
    const struct selfplay *played = *state;
    struct reader reader;
    open_reader(&reader, played, &everything, 50);
    int error = READER_OK;
    for (size_t i = 0; i < played->count && error == READER_OK; i++)
        error = reader_take(&reader, &played->games[i]);
    assert_int_equal(error, READER_ERROR_LIMIT);
    assert_non_null(strstr(reader.reason, "--memory-mib"));
    assert_true(reader.training.count + reader.validation.count <= 50);
    reader_done(&reader);
}

static void samples_are_shares_of_pairs(void **state)
{
    const struct selfplay *played = *state;
    struct reader one, other;
    struct reader_filters filters = everything;
    filters.sample_ppm = READER_UNIT / 2;
    filters.seed = 1;
    open_reader(&one, played, &filters, 1 << 20);
    filters.seed = 2;
    open_reader(&other, played, &filters, 1 << 20);
    take_all(&one, played);
    take_all(&other, played);
    assert_int_equal(one.counts.games + one.counts.unsampled, 2 * PAIRS);
    assert_int_equal(one.counts.games % 2, 0);
    assert_true(one.counts.games > PAIRS / 2 && one.counts.games < 3 * PAIRS / 2);
    assert_true(one.training.count != other.training.count);
    reader_done(&one);
    reader_done(&other);
}

static int stop_after_three(void *context, const struct reader_counts *counts)
{
    (void)context;
    return counts->games == 3;
}

static void report_can_stop_the_reading(void **state)
{
    const struct selfplay *played = *state;
    struct reader reader;
    open_reader(&reader, played, &everything, 1 << 20);
    reader.report = stop_after_three;
    int error = READER_OK;
    for (size_t i = 0; i < played->count && error == READER_OK; i++)
        error = reader_take(&reader, &played->games[i]);
    assert_int_equal(error, READER_ERROR_STOPPED);
    assert_int_equal(reader.counts.games, 3);
    reader_done(&reader);
}

static void games_without_scores_are_read(void **state)
{
    const struct selfplay *played = *state;
    struct reader reader;
    open_reader(&reader, played, &everything, 1 << 20);
    struct store_training_game game = played->games[0];
    game.scores = NULL;
    assert_int_equal(reader_take(&reader, &game), READER_OK);
    assert_int_equal(reader.counts.unscored, reader.training.count);
    assert_true(reader.training.count > 0);
    reader_done(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_position_is_kept_without_filters),
        cmocka_unit_test(filters_account_for_every_position),
        cmocka_unit_test(positions_before_noise_are_left_out),
        cmocka_unit_test(pairs_are_split_never_positions),
        cmocka_unit_test(split_is_never_drawn_again),
        cmocka_unit_test(games_that_do_not_replay_are_named),
        cmocka_unit_test(surplus_moves_are_refused),
        cmocka_unit_test(repeated_games_count_once),
        cmocka_unit_test(memory_has_a_bound),
        cmocka_unit_test(samples_are_shares_of_pairs),
        cmocka_unit_test(report_can_stop_the_reading),
        cmocka_unit_test(games_without_scores_are_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
