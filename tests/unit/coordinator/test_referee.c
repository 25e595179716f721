/* Promise 1: what a referee lets through and what it refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/referee.h"
#include "engine/mix.h"
#include "proto/artifact.h"
#include "proto/artifact.h"
#include "tests/unit/check.h"

struct desk {
    struct store_experiment experiment;
    struct referee referee;
    char moves[GAME_PLIES_MAX + 1];
    uint8_t scores[2 * GAME_PLIES_MAX];
    struct message_game game;
    struct store_game row;
    char reason[256];
};

/* A whole random game from the opening of `pair`. */
static void play_random(struct desk *desk, uint64_t pair, unsigned leg)
{
    struct rules rules;
    char opening[PLAY_OPENING_MAX + 1];
    size_t played;
    assert_int_equal(rules_parse("site", &rules, desk->reason, sizeof desk->reason), 0);
    int length = play_opening(&desk->referee.setup, pair, opening);
    assert_true(length > 0);
    if (desk->experiment.opening_plies > 0)
        assert_int_equal(length, desk->experiment.opening_plies);
    struct game *game = game_create(&rules, NULL);
    assert_int_equal(game_play_text(game, opening, (size_t)length, &played), GAME_OK);
    for (uint64_t bits = pair + leg; !game_over(game);) {
        unsigned legal = game_legal(game);
        bits = mix(bits, legal);
        for (uint32_t skip = mix_below(bits, (uint32_t)__builtin_popcount(legal)); skip; skip--)
            legal &= legal - 1;
        assert_int_equal(game_play(game, __builtin_ctz(legal) + 6 * game_position(game).side), GAME_OK);
    }
    snprintf(desk->moves, sizeof desk->moves, "%s", game_moves(game));
    desk->game = (struct message_game){
        .experiment = desk->experiment.id,
        .pair = pair,
        .leg = leg,
        .lease = 5,
        .attempt = 1,
        .moves = desk->moves,
        .plies = strlen(desk->moves),
        .scores = desk->scores,
        .scores_size = 2 * strlen(desk->moves),
    };
    snprintf(desk->game.result, sizeof desk->game.result, "%s", game_result_text(game_result(game)));
    snprintf(desk->game.reason, sizeof desk->game.reason, "%s", game_reason_text(game_reason(game)));
    snprintf(desk->game.engine_build, sizeof desk->game.engine_build, "build");
    memset(desk->game.weights_a, 1, MESSAGE_HASH);
    memset(desk->game.weights_b, 2, MESSAGE_HASH);
    game_destroy(game);
}

static int set_up(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    desk->experiment = (struct store_experiment){
        .id = 7, .seed = 99, .opening_plies = 6, .planned_pairs = 100, .with_scores = true};
    snprintf(desk->experiment.rules, sizeof desk->experiment.rules, "site");
    snprintf(desk->experiment.a.engine_build, sizeof desk->experiment.a.engine_build, "build");
    memset(desk->experiment.a.weights, 1, STORE_HASH);
    memset(desk->experiment.b.weights, 2, STORE_HASH);
    *state = desk;
    return referee_init(&desk->referee, &desk->experiment, desk->reason, sizeof desk->reason);
}

static int tear_down(void **state)
{
    struct desk *desk = *state;
    referee_done(&desk->referee);
    free(desk);
    return 0;
}

static int judge(struct desk *desk)
{
    desk->reason[0] = '\0';
    return referee_judge(&desk->referee, &desk->game, &desk->row, desk->reason, sizeof desk->reason);
}

static void stores_what_the_replay_gives(void **state)
{
    struct desk *desk = *state;
    unsigned wins = 0;
    for (uint64_t pair = 0; pair < 40; pair++)
        for (unsigned leg = 0; leg < 2; leg++) {
            play_random(desk, pair, leg);
            assert_int_equal(judge(desk), 0);
            assert_int_equal(desk->row.plies, strlen(desk->moves));
            assert_true(desk->row.south + desk->row.north <= 48);
            bool south = strcmp(desk->row.result, "south") == 0;
            bool draw = strcmp(desk->row.result, "draw") == 0;
            assert_int_equal(desk->row.a_half_points, draw ? 1 : south == (leg == 0) ? 2 : 0);
            wins += desk->row.a_half_points == 2;
        }
    assert_true(wins > 10 && wins < 70);
}

static void refuses(struct desk *desk, const char *because)
{
    assert_int_equal(judge(desk), -1);
    if (!strstr(desk->reason, because))
        fail_msg("said \"%s\", expected \"%s\"", desk->reason, because);
}

static void refuses_what_is_not_the_pairs_game(void **state)
{
    struct desk *desk = *state;
    play_random(desk, 3, 0);
    desk->game.pair = 4;
    refuses(desk, "opening");
    desk->game.pair = 100;
    refuses(desk, "no such pair");
    desk->game.pair = 3;
    desk->game.leg = 2;
    refuses(desk, "no such pair or leg");
    desk->game.leg = 0;
    desk->game.weights_b[31] = 9;
    refuses(desk, "other weights");
    desk->game.weights_b[31] = 2;
    snprintf(desk->game.engine_build, sizeof desk->game.engine_build, "other");
    refuses(desk, "needs build");
    snprintf(desk->game.engine_build, sizeof desk->game.engine_build, "build");
    desk->game.scores_size -= 2;
    refuses(desk, "scores");
    desk->game.scores_size += 2;
    assert_int_equal(judge(desk), 0);
}

static void refuses_illegal_surplus_and_unfinished_games(void **state)
{
    struct desk *desk = *state;
    play_random(desk, 8, 1);
    size_t plies = desk->game.plies;
    char kept = desk->moves[20];
    desk->moves[20] = kept == 'A' ? 'a' : 'A'; /* the wrong side's house at this ply, or an empty one */
    if (kept >= 'A' && kept <= 'F')
        desk->moves[20] = 'a';
    refuses(desk, "ply 21");
    desk->moves[20] = kept;
    desk->game.plies = plies - 1;
    desk->game.scores_size = 2 * (plies - 1);
    refuses(desk, "not over");
    desk->game.plies = plies + 1;
    desk->game.scores_size = 2 * (plies + 1);
    desk->moves[plies] = 'A';
    desk->moves[plies + 1] = '\0';
    refuses(desk, "the game was over");
}

static void refuses_a_false_claim(void **state)
{
    struct desk *desk = *state;
    play_random(desk, 9, 0);
    const char *truth = desk->game.result;
    snprintf(desk->game.result, sizeof desk->game.result, "%s",
             strcmp(truth, "south") == 0 ? "north" : "south");
    refuses(desk, "the replay gives");
}

/* Cut short at a ply of South, where player a sits in leg 0: a claim that a's program failed there. */
static void claim(struct desk *desk, const char *result, const char *reason)
{
    size_t plies = desk->experiment.opening_plies + 4;
    play_random(desk, 9, 0);
    desk->moves[plies] = '\0';
    desk->game.plies = plies;
    desk->game.scores_size = 2 * plies;
    memcpy(desk->game.engine_a, desk->experiment.a.engine, MESSAGE_HASH);
    snprintf(desk->game.result, sizeof desk->game.result, "%s", result);
    snprintf(desk->game.reason, sizeof desk->game.reason, "%s", reason);
}

static void takes_a_programs_fault_as_claimed(void **state)
{
    struct desk *desk = *state;
    claim(desk, "north", "crash");
    refuses(desk, "not over"); /* the built-in engine does not crash */
    memset(desk->experiment.a.engine, 3, STORE_HASH);
    const char *const faults[] = {"crash", "illegal-move"};
    for (size_t i = 0; i < 2; i++) {
        claim(desk, "north", faults[i]);
        assert_int_equal(judge(desk), 0);
        assert_true(desk->row.claimed);
        assert_string_equal(desk->row.reason, faults[i]);
        assert_int_equal(desk->row.a_half_points, 0);
    }
    claim(desk, "south", "crash");
    refuses(desk, "the replay gives north by crash"); /* who does not move does not fail */
    claim(desk, "north", "resign");
    refuses(desk, "not over");
    claim(desk, "north", "deadline");
    refuses(desk, "not over"); /* it has no limit of time */
    desk->experiment.a.limits.time_ms = 100;
    claim(desk, "north", "deadline");
    assert_int_equal(judge(desk), 0);
    /* The built-in engine loses by its clock, and by nothing else; a limit of each move it keeps. */
    memset(desk->experiment.a.engine, 0, STORE_HASH);
    claim(desk, "north", "deadline");
    refuses(desk, "not over");
    desk->experiment.a.limits.clock_ms = 1000;
    claim(desk, "north", "deadline");
    assert_int_equal(judge(desk), 0);
    assert_true(desk->row.claimed && desk->row.a_half_points == 0);
    claim(desk, "north", "crash");
    refuses(desk, "not over");
}

static void refuses_other_engines_and_tables(void **state)
{
    struct desk *desk = *state;
    play_random(desk, 3, 0);
    desk->game.engine_b[0] = 1;
    refuses(desk, "other engines");
    desk->game.engine_b[0] = 0;
    desk->game.tables_a[0] = 1;
    refuses(desk, "other endgame tables");
    memcpy(desk->experiment.a.tables, desk->game.tables_a, STORE_HASH);
    assert_int_equal(judge(desk), 0);
    assert_false(desk->row.claimed);
}

static void knows_the_rules_or_says_so(void **state)
{
    struct desk *desk = *state;
    struct referee other;
    struct store_experiment experiment = desk->experiment;
    snprintf(experiment.rules, sizeof experiment.rules, "mancala");
    assert_int_equal(referee_init(&other, &experiment, desk->reason, sizeof desk->reason), -1);
    assert_non_null(strstr(desk->reason, "site"));
}

/* The openings come from the book of the experiment's hash, whoever keeps it. */
static void asks_the_book(void **state)
{
    struct desk *desk = *state;
    const char *openings[] = {"AaBbC", "FcEdA", "Ba"};
    char text[STORE_TEXT] = "";
    struct book *book = NULL;
    void *bytes = NULL;
    size_t size;
    assert_int_equal(book_create(rules_preset(0), "by hand", openings, 3, &book, NULL), BOOK_OK);
    assert_int_equal(book_serialize(book, &bytes, &size), BOOK_OK);
    book_destroy(book);
    artifact_hash(bytes, size, desk->experiment.book);
    desk->experiment.opening_plies = 0;
    struct referee other;
    assert_int_equal(referee_init(&other, &desk->experiment, desk->reason, sizeof desk->reason), -1);
    assert_non_null(strstr(desk->reason, "not in the database"));
    struct kept *kept = terms_keep(TERMS_BOOK, bytes, size, text);
    assert_non_null(kept);
    referee_done(&desk->referee);
    assert_int_equal(referee_init(&desk->referee, &desk->experiment, desk->reason, sizeof desk->reason), 0);
    terms_drop(kept); /* the referee keeps it from here on */
    for (uint64_t pair = 0; pair < 3; pair++) {
        play_random(desk, pair, 1);
        assert_int_equal(judge(desk), 0);
        desk->game.pair = (pair + 1) % 3;
        refuses(desk, "does not start with the opening");
    }
    desk->game.pair = 3;
    refuses(desk, "3 openings, none is left");
    snprintf(desk->experiment.rules, sizeof desk->experiment.rules, "school");
    assert_int_equal(referee_init(&other, &desk->experiment, desk->reason, sizeof desk->reason), -1);
    assert_non_null(strstr(desk->reason, "for the rules site"));
    assert_null(terms_keep(TERMS_BOOK, strdup("kroo-book 1"), 11, text));
    assert_non_null(strstr(text, "no opening book"));
}

static void say(struct desk *desk, const char *result, const char *reason)
{
    snprintf(desk->game.result, sizeof desk->game.result, "%s", result);
    snprintf(desk->game.reason, sizeof desk->game.reason, "%s", reason);
}

/* Three own moves in a row at -900 end the game with the third; the scores say so, and nothing else does. */
static void sees_a_resignation_in_the_scores(void **state)
{
    struct desk *desk = *state;
    desk->experiment.resign_score = 900;
    desk->experiment.resign_plies = 3;
    referee_done(&desk->referee);
    assert_int_equal(referee_init(&desk->referee, &desk->experiment, desk->reason, sizeof desk->reason), 0);
    play_random(desk, 4, 0);
    assert_int_equal(judge(desk), 0); /* all scores are 0 */
    assert_int_equal(desk->row.resign_ply, 0);
    for (size_t ply = 11; ply <= 15; ply += 2) { /* North's */
        desk->scores[2 * ply] = 0x7c;            /* -900 */
        desk->scores[2 * ply + 1] = 0xfc;
    }
    refuses(desk, "played on after ply 16, where it ended: south by resign");
    desk->game.plies = 16;
    desk->game.scores_size = 32;
    desk->moves[16] = '\0';
    say(desk, "north", "resign");
    refuses(desk, "the replay gives south by resign");
    say(desk, "south", "resign");
    assert_int_equal(judge(desk), 0);
    assert_true(desk->row.claimed);
    assert_int_equal(desk->row.resign_ply, 16);
    assert_int_equal(desk->row.a_half_points, 2);
    desk->scores[2 * 13] = 0x7d; /* -899 */
    refuses(desk, "not over after 16 plies");
}

/* A tune's batch has weights and options of its own, both sides. */
static void a_tunes_players_are_those_of_the_batch(void **state)
{
    struct desk *desk = *state;
    struct tune_book *book = tune_book_create(10, 0);
    struct store_tune_batch row = {.options = {"CutMargin=61", "CutMargin=59"}};
    memset(row.weights[0], 1, STORE_HASH);
    memset(row.weights[1], 2, STORE_HASH);
    assert_int_equal(tune_book_add(book, &row), 0);
    play_random(desk, 3, 0);
    desk->experiment.kind = STORE_TUNE;
    refuses(desk, "no players of its batch");
    desk->referee.players = book;
    refuses(desk, "other options than its batch");
    artifact_hash("CutMargin=61", 12, desk->game.options_a);
    refuses(desk, "other options than its batch");
    artifact_hash("CutMargin=59", 12, desk->game.options_b);
    assert_int_equal(judge(desk), 0);
    desk->game.weights_b[4] = 7;
    refuses(desk, "other weights than its batch");
    tune_book_destroy(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stores_what_the_replay_gives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_not_the_pairs_game, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_illegal_surplus_and_unfinished_games, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_a_false_claim, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_a_programs_fault_as_claimed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_other_engines_and_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(knows_the_rules_or_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asks_the_book, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tunes_players_are_those_of_the_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sees_a_resignation_in_the_scores, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
