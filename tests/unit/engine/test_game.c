#include "tests/unit/engine/vectors.h"

#include "engine/game.h"
#include "engine/mix.h"

static struct game *create(const char *rules_text, const struct position *start)
{
    struct rules rules = vectors_rules(rules_text);
    struct game *game = game_create(&rules, start);
    assert_non_null(game);
    return game;
}

static struct position parse(const char *text)
{
    struct position position;
    char error[256];
    if (position_parse(text, &position, error, sizeof error) != 0)
        fail_msg("%s: %s", text, error);
    return position;
}

static void play(struct game *game, const char *moves)
{
    size_t played;
    enum game_error error = game_play_text(game, moves, strlen(moves), &played);
    if (error != GAME_OK)
        fail_msg("ply %zu of %s is refused: %d", played + 1, moves, error);
    assert_int_equal(played, strlen(moves));
}

static void assert_stores(const struct game *game, int south, int north)
{
    struct position position = game_position(game);
    assert_int_equal(position.stores[SIDE_SOUTH], south);
    assert_int_equal(position.stores[SIDE_NORTH], north);
}

/* --- reference games --- */

/* Boards of the reference: twelve houses and, where there are fourteen numbers, the stores. */
static void assert_board(const struct game *game, const json_t *board)
{
    struct position position = game_position(game);
    for (size_t i = 0; i < json_array_size(board); i++) {
        int seeds = i < 12 ? position.houses[i] : position.stores[i - 12];
        if (seeds != vectors_item(board, i))
            fail_msg("after %s: field %zu is %d, not %d", game_moves(game), i, seeds, vectors_item(board, i));
    }
}

struct totals {
    size_t plies, longest, unfed, repetitions, quiet;
};

static void count_game(const struct game *game, struct totals *totals)
{
    totals->plies += game_plies(game);
    totals->longest = game_plies(game) > totals->longest ? game_plies(game) : totals->longest;
    totals->unfed += game_reason(game) == GAME_REASON_UNFED;
    totals->repetitions += game_reason(game) == GAME_REASON_REPETITION;
    totals->quiet += game_reason(game) == GAME_REASON_QUIET_LIMIT;
}

static void check_any_rules(json_t *row, void *context)
{
    struct game *game = create(vectors_text(row, "rules"), NULL);
    const char *moves = vectors_text(row, "moves");
    play(game, moves);
    assert_true(game_over(game));
    assert_int_equal(game_legal(game), 0);
    assert_int_equal(game_plies(game), vectors_number(row, "plies"));
    assert_string_equal(game_result_text(game_result(game)), vectors_text(row, "result"));
    assert_string_equal(game_reason_text(game_reason(game)), vectors_text(row, "reason"));
    const json_t *stores = json_object_get(row, "stores");
    assert_stores(game, vectors_item(stores, 0), vectors_item(stores, 1));
    assert_int_equal(json_array_size(json_object_get(row, "houses")), 12);
    assert_board(game, json_object_get(row, "houses"));
    assert_string_equal(game_moves(game), moves);
    assert_int_equal(game_play_letter(game, 'A'), GAME_ERROR_OVER);
    count_game(game, context);
    game_destroy(game);
}

static void every_game_under_every_preset(void **state)
{
    (void)state;
    struct totals totals = {0};
    size_t rows = vectors_each_line(VECTORS_RULES "games-all-rule-sets.jsonl", check_any_rules, &totals);
    print_message("# %zu games, %zu plies, longest %zu, %zu unfed, %zu repetitions, %zu quiet limits\n", rows,
                  totals.plies, totals.longest, totals.unfed, totals.repetitions, totals.quiet);
    assert_int_equal(rows, 660);
    assert_int_equal(totals.unfed, 19);
    assert_int_equal(totals.longest, 3372);
}

/* Plays `row` ply by ply against the list of states; the last state is the board before leftovers are taken.
 */
static void follow_states(struct game *game, const json_t *row)
{
    const char *moves = vectors_text(row, "moves");
    const json_t *states = json_object_get(row, "states");
    assert_int_equal(strlen(moves), json_array_size(states));
    for (size_t ply = 0; moves[ply] != '\0'; ply++) {
        assert_false(game_over(game));
        assert_int_equal(game_play_letter(game, moves[ply]), GAME_OK);
        const json_t *board = json_array_get(states, ply);
        assert_int_equal(json_array_size(board), 14);
        if (!game_over(game))
            assert_board(game, board);
        struct game_history history = game_history(game);
        enum side mover = (enum side)game_position(game).side;
        struct position standing = board_to_position(history.boards[history.count - 1], mover);
        for (size_t i = 0; i < 14; i++)
            assert_int_equal(i < 12 ? standing.houses[i] : standing.stores[i - 12], vectors_item(board, i));
    }
}

static void check_first_repetition(json_t *row, void *context)
{
    struct position start = parse(vectors_text(row, "start"));
    struct game *game = create("auale", &start);
    follow_states(game, row);
    assert_true(game_over(game));
    assert_int_equal(game_plies(game), vectors_number(row, "plies"));
    const json_t *stores = json_object_get(row, "final_stores");
    assert_stores(game, vectors_item(stores, 0), vectors_item(stores, 1));
    static const char *const results[] = {"", "1-0", "0-1", "1/2-1/2"};
    assert_string_equal(results[game_result(game)], vectors_text(row, "result"));
    const char *reason = vectors_text(row, "reason");
    bool stuck = strcmp(reason, "cannot_feed") == 0 || strcmp(reason, "no_seeds") == 0;
    /* Both engines of the reference call an empty board a lack of moves. */
    const char *ours =
        game_reason(game) == GAME_REASON_EVEN ? "no-move" : game_reason_text(game_reason(game));
    assert_string_equal(ours, stuck ? "no-move" : reason);
    count_game(game, context);
    game_destroy(game);
}

static void every_game_to_the_first_repetition(void **state)
{
    (void)state;
    struct totals totals = {0};
    size_t rows =
        vectors_each_line(VECTORS_RULES "games-first-repetition.jsonl", check_first_repetition, &totals);
    print_message("# %zu games, %zu boards, %zu repetitions\n", rows, totals.plies, totals.repetitions);
    assert_int_equal(rows, 300);
    assert_int_equal(totals.repetitions, 64);
}

static enum game_reason site_reason(const char *word)
{
    if (strcmp(word, "captured_25") == 0)
        return GAME_REASON_MAJORITY;
    if (strcmp(word, "no_feed") == 0)
        return GAME_REASON_NO_MOVE;
    assert_string_equal(word, "threefold");
    return GAME_REASON_REPETITION;
}

static void check_site_game(const json_t *row, struct totals *totals)
{
    struct position start = position_start();
    const json_t *board = json_object_get(row, "board"), *score = json_object_get(row, "score");
    for (size_t i = 0; board != NULL && i < 12; i++)
        start.houses[i] = (uint8_t)vectors_item(board, i);
    for (size_t i = 0; score != NULL && i < 2; i++)
        start.stores[i] = (uint8_t)vectors_item(score, i);
    struct game *game = create("site", &start);
    play(game, vectors_text(row, "moves"));
    assert_int_equal(game_reason(game), site_reason(vectors_text(row, "reason")));
    assert_int_equal(game_plies(game), vectors_number(row, "plies"));
    const json_t *stores = json_object_get(row, "final_score");
    assert_stores(game, vectors_item(stores, 0), vectors_item(stores, 1));
    struct game_history history = game_history(game);
    struct position standing =
        board_to_position(history.boards[history.count - 1], (enum side)game_position(game).side);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(standing.houses[i], vectors_item(json_object_get(row, "board_at_end"), i));
    int margin = vectors_item(stores, 0) - vectors_item(stores, 1);
    assert_int_equal(game_result(game), margin == 0  ? GAME_DRAW
                                        : margin > 0 ? GAME_SOUTH_WINS
                                                     : GAME_NORTH_WINS);
    count_game(game, totals);
    game_destroy(game);
}

static void every_game_under_site(void **state)
{
    (void)state;
    json_t *root = vectors_load(VECTORS_RULES "site-vectors.json");
    static const struct {
        const char *key;
        size_t games;
    } lists[] = {{"random_games", 200}, {"policy_games_from_late_positions", 14}};
    struct totals totals = {0};
    for (size_t i = 0; i < 2; i++) {
        const json_t *rows = json_object_get(root, lists[i].key);
        assert_int_equal(json_array_size(rows), lists[i].games);
        for (size_t row = 0; row < json_array_size(rows); row++)
            check_site_game(json_array_get(rows, row), &totals);
    }
    print_message("# 214 games, %zu plies, %zu repetitions\n", totals.plies, totals.repetitions);
    json_decref(root);
}

/* --- single behaviours --- */

static void a_new_game_is_at_the_start(void **state)
{
    (void)state;
    struct game *game = create("site", NULL);
    struct position start = position_start(), position = game_position(game);
    assert_memory_equal(&position, &start, sizeof start);
    assert_int_equal(game_legal(game), 63);
    assert_int_equal(game_result(game), GAME_UNFINISHED);
    assert_int_equal(game_reason(game), GAME_REASON_NONE);
    assert_string_equal(game_moves(game), "");
    assert_int_equal(game_quiet_plies(game), 0);
    assert_int_equal(game_history(game).count, 1);
    game_destroy(game);
    game_destroy(NULL);
}

static void a_refused_move_changes_nothing(void **state)
{
    (void)state;
    struct game *game = create("site", NULL);
    play(game, "Fa");
    struct position before = game_position(game);
    static const char refused[] = {'F', 'a', 'b', 'G', 'g', '\0', ' ', '\n', '1', '\xff', '@', 'Z'};
    for (size_t i = 0; i < sizeof refused; i++)
        assert_int_equal(game_play_letter(game, refused[i]), GAME_ERROR_ILLEGAL);
    assert_int_equal(game_play(game, -1), GAME_ERROR_ILLEGAL);
    assert_int_equal(game_play(game, 12), GAME_ERROR_ILLEGAL);
    struct position after = game_position(game);
    assert_memory_equal(&before, &after, sizeof before);
    assert_string_equal(game_moves(game), "Fa");
    size_t played;
    assert_int_equal(game_play_text(game, "AbF", 3, &played), GAME_ERROR_ILLEGAL);
    assert_int_equal(played, 2);
    assert_string_equal(game_moves(game), "FaAb");
    game_destroy(game);
}

static void an_end_at_the_start_is_seen(void **state)
{
    (void)state;
    static const struct {
        const char *rules, *start;
        enum game_reason reason;
        enum game_result result;
        int south, north;
    } cases[] = {
        {"site", "1-0-0-0-4-0-1-2-4-0-1-1-7-27-S", GAME_REASON_MAJORITY, GAME_NORTH_WINS, 7, 27},
        {"site", "0-0-0-0-0-0-0-0-0-0-0-0-24-24-N", GAME_REASON_EVEN, GAME_DRAW, 24, 24},
        {"site", "0-0-0-0-1-0-0-0-0-0-0-0-24-23-S", GAME_REASON_NO_MOVE, GAME_SOUTH_WINS, 25, 23},
        {"site", "0-0-0-0-0-0-0-0-5-23-0-0-2-18-S", GAME_REASON_NO_MOVE, GAME_NORTH_WINS, 2, 46},
        {"site,leftovers=stay", "0-0-0-0-0-0-0-0-5-23-0-0-2-18-S", GAME_REASON_NO_MOVE, GAME_NORTH_WINS, 2,
         18},
        {"togo", "0-0-0-0-0-0-0-0-5-23-0-0-2-18-S", GAME_REASON_UNFED, GAME_SOUTH_WINS, 2, 46},
        {"togo", "0-0-0-0-0-0-0-0-1-0-0-0-23-24-S", GAME_REASON_NO_MOVE, GAME_NORTH_WINS, 23, 25},
        {"togo", "1-1-0-0-0-0-0-0-0-0-0-0-26-20-S", GAME_REASON_UNFED, GAME_NORTH_WINS, 26, 20},
        {"school", "0-0-0-0-0-0-0-0-5-23-0-0-2-18-S", GAME_REASON_NO_MOVE, GAME_NORTH_WINS, 2, 46},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct position start = parse(cases[i].start);
        struct game *game = create(cases[i].rules, &start);
        assert_int_equal(game_reason(game), cases[i].reason);
        assert_int_equal(game_result(game), cases[i].result);
        assert_stores(game, cases[i].south, cases[i].north);
        assert_int_equal(game_play_letter(game, 'A'), GAME_ERROR_OVER);
        game_destroy(game);
    }
}

/* Under `school` an empty opponent need not be fed: the game goes on, and ends when he cannot move. */
static void school_has_no_duty_to_feed(void **state)
{
    (void)state;
    struct position start = parse("1-0-0-0-0-1-0-0-0-0-0-0-23-23-S");
    struct game *game = create("school", &start);
    assert_int_equal(game_legal(game), 33);
    play(game, "A");
    assert_int_equal(game_reason(game), GAME_REASON_NO_MOVE);
    assert_stores(game, 25, 23);
    game_reset(game, &start);
    play(game, "F");
    assert_false(game_over(game));
    game_destroy(game);
    game = create("site", &start);
    assert_int_equal(game_legal(game), 32);
    game_destroy(game);
}

/* DESIGN section 10: the forced cycle of twelve plies, and histories that a capture clears. */
static void occurrences_count_the_first(void **state)
{
    (void)state;
    struct position start = parse("0-0-0-0-0-1-0-0-0-0-0-1-23-23-S");
    struct game *game = create("site", &start);
    play(game, "FfAaBbCcDdEe");
    assert_false(game_over(game));
    struct game_history history = game_history(game);
    assert_int_equal(history.count, 13);
    assert_int_equal(history.occurrences[0], 1);
    assert_int_equal(history.occurrences[12], 2);
    assert_true(board_equal(history.boards[0], history.boards[12]));
    play(game, "FfAaBbCcDdE");
    assert_false(game_over(game));
    play(game, "e");
    assert_int_equal(game_reason(game), GAME_REASON_REPETITION);
    assert_int_equal(game_quiet_plies(game), 24);
    assert_stores(game, 24, 24);
    game_destroy(game);
}

/* Boards equal in their movers' views at an odd distance have different sides to move: no repetition. */
static void mirrored_boards_are_no_repetition(void **state)
{
    (void)state;
    struct position start = parse("0-0-0-0-1-0-0-0-0-0-1-2-22-22-S");
    struct game *game = create("auale", &start);
    play(game, "EeFfAaBbCcEdD");
    struct game_history history = game_history(game);
    assert_int_equal(history.count, 14);
    assert_true(board_equal(history.boards[0], history.boards[13]));
    assert_int_equal(history.occurrences[13], 1);
    assert_false(game_over(game));
    game_destroy(game);
}

/* DESIGN section 10: after this history the only move ends the game in a draw by repetition. */
static void a_history_decides_a_draw(void **state)
{
    (void)state;
    struct position start = parse("0-2-0-0-0-0-0-0-1-0-0-1-22-22-S");
    struct game *game = create("site", &start);
    assert_int_equal(game_legal(game), 2);
    play(game, "B");
    struct position child = game_position(game);
    struct game *after = create("site", &child);
    play(after, "cDdEfFaAbCcDdEeFaAbBcDdEfFaAbCcDdEeFaAb");
    assert_false(game_over(after));
    assert_int_equal(game_legal(after), 2);
    play(after, "B");
    assert_int_equal(game_result(after), GAME_DRAW);
    assert_int_equal(game_reason(after), GAME_REASON_REPETITION);
    game_destroy(game);
    game_destroy(after);
}

static void a_capture_clears_the_history(void **state)
{
    (void)state;
    struct game *game = create("site", NULL);
    play(game, "FeEb");
    size_t quiet = 0, captures = 0;
    for (uint64_t seed = 0; !game_over(game); seed++) {
        struct position before = game_position(game);
        unsigned legal = game_legal(game);
        int house = (int)mix_below(mix(7, seed), 6);
        if ((legal >> house & 1) == 0)
            continue;
        quiet = game_quiet_plies(game);
        assert_int_equal(game_play(game, house + 6 * before.side), GAME_OK);
        if (game_over(game))
            break;
        struct position after = game_position(game);
        bool captured = after.stores[0] + after.stores[1] > before.stores[0] + before.stores[1];
        captures += captured;
        assert_int_equal(game_quiet_plies(game), captured ? 0 : quiet + 1);
        assert_int_equal(game_history(game).count, game_quiet_plies(game) + 1);
    }
    assert_true(captures > 3);
    game_destroy(game);
}

static void the_quiet_limit_is_reached_after_its_last_ply(void **state)
{
    (void)state;
    struct position start = parse("0-0-0-0-0-1-0-0-0-0-0-1-23-23-S");
    struct game *game = create("site,repetitions=0,quiet_limit=7", &start);
    play(game, "FfAaBb");
    assert_false(game_over(game));
    play(game, "C");
    assert_int_equal(game_reason(game), GAME_REASON_QUIET_LIMIT);
    assert_stores(game, 24, 24);
    game_destroy(game);
    game = create("site,repetitions=0,quiet_limit=7,stop_leftovers=stay", &start);
    play(game, "FfAaBbC");
    assert_stores(game, 23, 23);
    assert_int_equal(game_result(game), GAME_DRAW);
    game_destroy(game);
}

/* Both stops at the same ply: repetition is tested first. */
static void repetition_comes_before_the_quiet_limit(void **state)
{
    (void)state;
    struct position start = parse("0-0-0-0-0-1-0-0-0-0-0-1-23-23-S");
    struct game *game = create("site,quiet_limit=24", &start);
    play(game, "FfAaBbCcDdEeFfAaBbCcDdEe");
    assert_int_equal(game_reason(game), GAME_REASON_REPETITION);
    game_destroy(game);
}

/* Endless play under awari rules: the game refuses only at its bound, and every ply costs the same. */
static void the_longest_game(void **state)
{
    (void)state;
    struct position start = parse("0-0-0-0-0-1-0-0-0-0-0-1-23-23-S");
    struct game *game = create("site,repetitions=0,quiet_limit=0", &start);
    static const char cycle[] = "FfAaBbCcDdEe";
    for (size_t ply = 0; ply < GAME_PLIES_MAX; ply++)
        assert_int_equal(game_play_letter(game, cycle[ply % 12]), GAME_OK);
    assert_int_equal(game_plies(game), GAME_PLIES_MAX);
    struct game_history history = game_history(game);
    assert_int_equal(history.count, GAME_PLIES_MAX + 1);
    for (size_t i = 0; i < history.count; i++)
        assert_int_equal(history.occurrences[i], 1 + i / 12);
    assert_int_equal(game_play_letter(game, cycle[GAME_PLIES_MAX % 12]), GAME_ERROR_LENGTH);
    assert_int_equal(game_plies(game), GAME_PLIES_MAX);
    assert_int_equal(strlen(game_moves(game)), GAME_PLIES_MAX);
    game_reset(game, NULL);
    assert_int_equal(game_plies(game), 0);
    play(game, "FeEb");
    game_destroy(game);
}

static void a_reset_game_plays_like_a_new_one(void **state)
{
    (void)state;
    struct game *kept = create("site", NULL);
    for (uint64_t round = 0; round < 200; round++) {
        struct game *fresh = create("site", NULL);
        game_reset(kept, NULL);
        for (uint64_t draw = 0; !game_over(fresh); draw++) {
            int house = (int)mix_below(mix(round, draw), 12);
            assert_int_equal(game_play(fresh, house), game_play(kept, house));
        }
        assert_string_equal(game_moves(fresh), game_moves(kept));
        assert_int_equal(game_reason(fresh), game_reason(kept));
        game_destroy(fresh);
    }
    game_destroy(kept);
}

static void words_read_back(void **state)
{
    (void)state;
    for (int result = GAME_UNFINISHED; result <= GAME_DRAW; result++)
        assert_int_equal(game_result_parse(game_result_text((enum game_result)result)), result);
    for (int reason = GAME_REASON_NONE; reason <= GAME_REASON_CRASH; reason++)
        assert_int_equal(game_reason_parse(game_reason_text((enum game_reason)reason)), reason);
    assert_int_equal(game_result_parse("South"), -1);
    assert_int_equal(game_reason_parse("no_move"), -1);
    assert_string_equal(game_reason_text(GAME_REASON_NONE), "");
    assert_string_equal(game_reason_text(GAME_REASON_ILLEGAL_MOVE), "illegal-move");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_game_under_every_preset),
        cmocka_unit_test(every_game_to_the_first_repetition),
        cmocka_unit_test(every_game_under_site),
        cmocka_unit_test(a_new_game_is_at_the_start),
        cmocka_unit_test(a_refused_move_changes_nothing),
        cmocka_unit_test(an_end_at_the_start_is_seen),
        cmocka_unit_test(school_has_no_duty_to_feed),
        cmocka_unit_test(occurrences_count_the_first),
        cmocka_unit_test(mirrored_boards_are_no_repetition),
        cmocka_unit_test(a_history_decides_a_draw),
        cmocka_unit_test(a_capture_clears_the_history),
        cmocka_unit_test(the_quiet_limit_is_reached_after_its_last_ply),
        cmocka_unit_test(repetition_comes_before_the_quiet_limit),
        cmocka_unit_test(the_longest_game),
        cmocka_unit_test(a_reset_game_plays_like_a_new_one),
        cmocka_unit_test(words_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
