#include "tests/unit/engine/vectors.h"

#include "engine/mix.h"
#include "engine/replay.h"

/* The same game by engine/game.h, a move at a time: every board, the refusal and the end. */
static void compare(const struct rules *rules, const struct replay_game *replayed,
                    const struct replay_outcome *outcome)
{
    struct game *game = game_create(rules, replayed->start);
    assert_non_null(game);
    enum game_error error = GAME_OK;
    size_t ply = 0;
    for (;; ply++) {
        struct game_history history = game_history(game);
        if (replayed->boards != NULL &&
            !board_equal(replayed->boards[ply], history.boards[history.count - 1]))
            fail_msg("%s: another board after ply %zu of %s", rules->name, ply, game_moves(game));
        if (ply == replayed->length)
            break;
        error = game_play_letter(game, replayed->moves[ply]);
        if (error != GAME_OK)
            break;
    }
    if (outcome->plies != ply || outcome->error != error)
        fail_msg("%s: ply %zu and error %d, not %zu and %d: %.*s", rules->name, outcome->plies,
                 outcome->error, ply, error, (int)replayed->length, replayed->moves);
    if (outcome->ending.result != game_result(game) || outcome->ending.reason != game_reason(game))
        fail_msg("%s: ended %s by '%s', not %s by '%s': %.*s", rules->name,
                 game_result_text(outcome->ending.result), game_reason_text(outcome->ending.reason),
                 game_result_text(game_result(game)), game_reason_text(game_reason(game)),
                 (int)replayed->length, replayed->moves);
    struct position position = game_position(game);
    assert_memory_equal(&outcome->ending.position, &position, sizeof position);
    game_destroy(game);
}

static struct replayer *create(const struct rules *rules)
{
    struct replayer *replayer = replayer_create(rules);
    assert_non_null(replayer);
    return replayer;
}

static struct replay_outcome replay_one(const char *rules_text, const char *start_text, const char *moves,
                                        size_t length)
{
    struct rules rules = vectors_rules(rules_text);
    struct position start = position_start();
    char error[256];
    if (start_text != NULL && position_parse(start_text, &start, error, sizeof error) != 0)
        fail_msg("%s: %s", start_text, error);
    struct replay_game game = {.moves = moves, .length = length, .start = start_text ? &start : NULL};
    struct replay_outcome outcome;
    struct replayer *replayer = create(&rules);
    replay_games(replayer, &game, 1, &outcome);
    compare(&rules, &game, &outcome);
    replayer_destroy(replayer);
    return outcome;
}

/* --- reference games --- */

static void check_reference(json_t *row, void *context)
{
    (void)context;
    const char *moves = vectors_text(row, "moves");
    struct replay_outcome outcome = replay_one(vectors_text(row, "rules"), NULL, moves, strlen(moves));
    assert_int_equal(outcome.error, GAME_OK);
    assert_int_equal(outcome.plies, vectors_number(row, "plies"));
    assert_string_equal(game_result_text(outcome.ending.result), vectors_text(row, "result"));
    assert_string_equal(game_reason_text(outcome.ending.reason), vectors_text(row, "reason"));
    for (size_t side = 0; side < 2; side++)
        assert_int_equal(outcome.ending.position.stores[side],
                         vectors_item(json_object_get(row, "stores"), side));
    for (size_t house = 0; house < 12; house++)
        assert_int_equal(outcome.ending.position.houses[house],
                         vectors_item(json_object_get(row, "houses"), house));
}

static void every_reference_game(void **state)
{
    (void)state;
    assert_int_equal(vectors_each_line(VECTORS_RULES "games-all-rule-sets.jsonl", check_reference, NULL),
                     660);
}

/* --- random games, whole, cut, spoilt and continued --- */

enum { GAMES = 400, PLIES_MAX = 700, WHOLE = 0, CUT, SPOILT, CONTINUED, FATES };

/* Few seeds on the board, most of the others in the stores: games of long quiet paths and strange ends. */
static struct position sparse_position(uint64_t seed)
{
    struct position position = {.side = (uint8_t)mix_below(mix(seed, 0), 2)};
    unsigned seeds = 1 + mix_below(mix(seed, 1), 12);
    for (unsigned i = 0; i < seeds; i++)
        position.houses[mix_below(mix(seed, 2 + i), 12)]++;
    unsigned left = POSITION_SEEDS - seeds;
    position.stores[SIDE_SOUTH] = (uint8_t)(left / 2);
    position.stores[SIDE_NORTH] = (uint8_t)(left - left / 2);
    return position;
}

/* Random legal moves, and the `last` house where it can be played in a third of the games: it makes cycles.
 */
static size_t random_moves(struct game *game, uint64_t seed, char *moves)
{
    bool calm = mix_below(mix(seed, 99), 3) == 0;
    while (!game_over(game) && game_plies(game) < PLIES_MAX) {
        unsigned legal = game_legal(game);
        uint64_t bits = mix(seed, 100 + game_plies(game));
        uint32_t skip = calm ? 0 : mix_below(bits, (uint32_t)__builtin_popcount(legal));
        for (; skip > 0; skip--)
            legal &= legal - 1;
        int house = calm ? 31 - __builtin_clz(legal) : __builtin_ctz(legal);
        assert_int_equal(game_play(game, house + 6 * game_position(game).side), GAME_OK);
    }
    memcpy(moves, game_moves(game), game_plies(game) + 1);
    return game_plies(game);
}

static size_t change_fate(uint64_t seed, char *moves, size_t length)
{
    uint32_t at = mix_below(mix(seed, 1), (uint32_t)length + 1);
    switch (mix_below(mix(seed, 0), FATES)) {
    case CUT:
        return at;
    case SPOILT:
        moves[at] = (char)mix_below(mix(seed, 2), 256);
        return at == length ? length + 1 : length;
    case CONTINUED:
        for (size_t i = 0; i < 3; i++)
            moves[length + i] = "ABCDEFabcdef"[mix_below(mix(seed, 3 + i), 12)];
        return length + 3;
    default:
        return length;
    }
}

struct totals {
    size_t plies, errors[5], reasons[GAME_REASON_UNFED + 1];
};

static void check_rules(const struct rules *rules, struct totals *totals)
{
    static struct replay_game games[GAMES];
    static struct replay_outcome outcomes[GAMES];
    static struct position starts[GAMES];
    char *moves = malloc(GAMES * (PLIES_MAX + 8));
    struct board *boards = malloc(GAMES * (PLIES_MAX + 8) * sizeof *boards);
    struct game *game = game_create(rules, NULL);
    struct replayer *replayer = create(rules);
    assert_true(moves != NULL && boards != NULL && game != NULL);
    for (size_t i = 0; i < GAMES; i++) {
        char *text = moves + i * (PLIES_MAX + 8);
        starts[i] = sparse_position(mix(17, i));
        games[i] = (struct replay_game){.moves = text, .boards = boards + i * (PLIES_MAX + 8)};
        games[i].start = i % 2 == 0 ? NULL : &starts[i];
        game_reset(game, games[i].start);
        games[i].length = change_fate(mix(i, 5), text, random_moves(game, i, text));
    }
    replay_games(replayer, games, GAMES, outcomes);
    for (size_t i = 0; i < GAMES; i++) {
        compare(rules, &games[i], &outcomes[i]);
        totals->plies += outcomes[i].plies;
        totals->errors[-outcomes[i].error]++;
        totals->reasons[outcomes[i].ending.reason]++;
        games[i].boards = NULL;
    }
    replay_games(replayer, games, GAMES, outcomes);
    for (size_t i = 0; i < GAMES; i++)
        compare(rules, &games[i], &outcomes[i]);
    replayer_destroy(replayer);
    game_destroy(game);
    free(boards);
    free(moves);
}

static void random_games_under_every_rule_set(void **state)
{
    (void)state;
    static const char *const more[] = {"site,repetitions=2",
                                       "site,repetitions=5,quiet_limit=0",
                                       "site,quiet_limit=7",
                                       "site,repetitions=0,quiet_limit=1",
                                       "school,repetitions=2,stop_leftovers=stay",
                                       "togo,repetitions=4,quiet_limit=40",
                                       "awari,repetitions=3",
                                       "slam-illegal,feeding=none,repetitions=2",
                                       "slam-allowed,feeding=if-any,leftovers=stay,quiet_limit=30"};
    struct totals totals = {0};
    for (size_t i = 0; rules_preset(i) != NULL; i++)
        check_rules(rules_preset(i), &totals);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        struct rules rules = vectors_rules(more[i]);
        check_rules(&rules, &totals);
    }
    print_message("# %zu plies; illegal %zu, surplus %zu\n", totals.plies, totals.errors[1],
                  totals.errors[2]);
    for (enum game_reason reason = GAME_REASON_NONE; reason <= GAME_REASON_UNFED; reason++) {
        print_message("# %s: %zu\n", game_reason_text(reason), totals.reasons[reason]);
        assert_true(totals.reasons[reason] >= (reason == GAME_REASON_EVEN ? 1 : 20));
    }
    assert_true(totals.errors[0] > 1000 && totals.errors[1] > 300 && totals.errors[2] > 300);
}

/* --- single behaviours --- */

static void a_refusal_tells_the_ply_and_what_stood(void **state)
{
    (void)state;
    struct replay_outcome outcome = replay_one("site", NULL, "FaAb", 4);
    assert_int_equal(outcome.error, GAME_OK);
    assert_int_equal(outcome.ending.result, GAME_UNFINISHED);
    outcome = replay_one("site", NULL, "FaAbbA", 6);
    assert_int_equal(outcome.error, GAME_ERROR_ILLEGAL);
    assert_int_equal(outcome.plies, 4);
    assert_int_equal(outcome.ending.reason, GAME_REASON_NONE);
    assert_int_equal(replay_one("site", NULL, "Fa\0b", 4).plies, 2);
    assert_int_equal(replay_one("site", NULL, "Faa", 3).error, GAME_ERROR_ILLEGAL);
    assert_int_equal(replay_one("site", NULL, "F\xc1", 2).plies, 1);
    assert_int_equal(replay_one("site", NULL, "", 0).plies, 0);
    outcome = replay_one("site", "0-0-0-0-0-1-0-0-0-0-0-1-24-22-S", "FfB", 3);
    assert_int_equal(outcome.error, GAME_ERROR_ILLEGAL);
    assert_int_equal(outcome.plies, 2);
}

static void a_game_over_at_its_start_takes_no_move(void **state)
{
    (void)state;
    static const char over[] = "1-0-0-0-4-0-1-2-4-0-1-1-7-27-S";
    assert_int_equal(replay_one("site", over, "", 0).error, GAME_OK);
    struct replay_outcome outcome = replay_one("site", over, "A", 1);
    assert_int_equal(outcome.error, GAME_ERROR_OVER);
    assert_int_equal(outcome.plies, 0);
    assert_int_equal(outcome.ending.reason, GAME_REASON_MAJORITY);
    outcome = replay_one("togo", "0-0-0-0-0-0-0-0-5-23-0-0-2-18-S", "", 0);
    assert_int_equal(outcome.ending.reason, GAME_REASON_UNFED);
    assert_int_equal(outcome.ending.position.stores[SIDE_NORTH], 46);
}

/* A cycle of twelve plies to the most that a game can have: each count is reached where it must be. */
static void occurrences_are_counted_to_the_longest_game(void **state)
{
    (void)state;
    static const char start[] = "0-0-0-0-0-1-0-0-0-0-0-1-23-23-S", cycle[] = "FfAaBbCcDdEe";
    static char moves[GAME_PLIES_MAX + 2];
    for (size_t ply = 0; ply < sizeof moves; ply++)
        moves[ply] = cycle[ply % 12];
    for (unsigned repetitions = 2; repetitions <= 1000; repetitions += repetitions < 5 ? 1 : 199) {
        char text[64];
        snprintf(text, sizeof text, "site,quiet_limit=0,repetitions=%u", repetitions);
        struct replay_outcome outcome = replay_one(text, start, moves, (repetitions - 1) * 12);
        assert_int_equal(outcome.ending.reason, GAME_REASON_REPETITION);
        assert_int_equal(outcome.error, GAME_OK);
        outcome = replay_one(text, start, moves, (repetitions - 1) * 12 - 1);
        assert_int_equal(outcome.ending.reason, GAME_REASON_NONE);
    }
    static const char endless[] = "site,quiet_limit=0,repetitions=0";
    assert_int_equal(replay_one(endless, start, moves, GAME_PLIES_MAX).error, GAME_OK);
    struct replay_outcome outcome = replay_one(endless, start, moves, GAME_PLIES_MAX + 1);
    assert_int_equal(outcome.error, GAME_ERROR_LENGTH);
    assert_int_equal(outcome.plies, GAME_PLIES_MAX);
    moves[GAME_PLIES_MAX] = 'F';
    assert_int_equal(replay_one(endless, start, moves, GAME_PLIES_MAX + 1).error, GAME_ERROR_ILLEGAL);
}

/* Boards equal in their movers' views at an odd distance have different sides to move. */
static void mirrored_boards_are_no_repetition(void **state)
{
    (void)state;
    static const char moves[] = "EeFfAaBbCcEdD";
    struct replay_outcome outcome =
        replay_one("site,repetitions=2", "0-0-0-0-1-0-0-0-0-0-1-2-22-22-S", moves, strlen(moves));
    assert_int_equal(outcome.ending.reason, GAME_REASON_NONE);
}

/* A table of boards is cleared by counting a stamp up; after 65,535 counts it starts again. */
static void repetitions_are_found_after_very_many_games(void **state)
{
    (void)state;
    enum { BATCH = 70000 };
    struct rules rules = vectors_rules("site");
    static const char moves[] = "FfAaBbCcDdEeFfAaBbCcDdEe";
    struct position start = {.houses = {[5] = 1, [11] = 1}, .stores = {23, 23}};
    struct replay_game *games = malloc(BATCH * sizeof *games);
    struct replay_outcome *outcomes = malloc(BATCH * sizeof *outcomes);
    assert_true(games != NULL && outcomes != NULL);
    for (size_t i = 0; i < BATCH; i++)
        games[i] = (struct replay_game){.moves = moves, .length = strlen(moves), .start = &start};
    struct replayer *replayer = create(&rules);
    replay_games(replayer, games, BATCH, outcomes);
    for (size_t i = 0; i < BATCH; i++) {
        if (outcomes[i].ending.reason != GAME_REASON_REPETITION || outcomes[i].plies != 24)
            fail_msg("game %zu: %zu plies, '%s'", i, outcomes[i].plies,
                     game_reason_text(outcomes[i].ending.reason));
    }
    replayer_destroy(replayer);
    replayer_destroy(NULL);
    free(outcomes);
    free(games);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reference_game),
        cmocka_unit_test(random_games_under_every_rule_set),
        cmocka_unit_test(a_refusal_tells_the_ply_and_what_stood),
        cmocka_unit_test(a_game_over_at_its_start_takes_no_move),
        cmocka_unit_test(occurrences_are_counted_to_the_longest_game),
        cmocka_unit_test(mirrored_boards_are_no_repetition),
        cmocka_unit_test(repetitions_are_found_after_very_many_games),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
