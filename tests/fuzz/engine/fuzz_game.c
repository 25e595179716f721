/* A whole game of any letters from any start under any rules: engine/replay.h and engine/game.h must agree on
 * every board, on what is refused and on the end.
 *
 * Byte 0 chooses the preset, 1 the repetitions, 2 the quiet limit, 3 how moves are read: even, the rest are
 * letters as they come; odd, each byte chooses among the legal moves, so that games get far. With bit 1 of
 * byte 3 the next twelve bytes are the houses of the start, the other seeds in the stores. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/replay.h"

enum { CHOICES = 4, PLIES_MAX = 20000 };

static struct rules choose_rules(const uint8_t *data)
{
    static const int repetitions[] = {0, 2, 3, 4, 7}, quiet_limits[] = {0, 1, 12, 13, 40, 300};
    size_t presets = 0;
    while (rules_preset(presets) != NULL)
        presets++;
    struct rules rules = *rules_preset(data[0] % presets);
    if (data[1] % 6 != 5)
        rules.repetitions = repetitions[data[1] % 6];
    if (data[2] % 7 != 6)
        rules.quiet_limit = quiet_limits[data[2] % 7];
    return rules;
}

static struct position choose_start(const uint8_t *bytes, unsigned choice)
{
    struct position start = {.side = choice >> 2 & 1};
    int left = POSITION_SEEDS;
    for (int house = 0; house < 12; house++) {
        int seeds = bytes[house] < left ? bytes[house] : left;
        start.houses[house] = (uint8_t)seeds;
        left -= seeds;
    }
    int south = left / 2 + (int)(choice >> 3 & 3);
    start.stores[SIDE_SOUTH] = (uint8_t)(south < left ? south : left);
    start.stores[SIDE_NORTH] = (uint8_t)(left - start.stores[SIDE_SOUTH]);
    return start;
}

static char choose_move(const struct game *game, uint8_t byte)
{
    unsigned legal = game_legal(game);
    if (legal == 0 || byte >= 250) /* a surplus or an arbitrary one */
        return (char)byte;
    for (int skip = byte % __builtin_popcount(legal); skip > 0; skip--)
        legal &= legal - 1;
    return position_house_letter(__builtin_ctz(legal) + 6 * game_position(game).side);
}

static void check(int holds)
{
    if (!holds)
        abort();
}

/* Plays into `moves`; the outcome as game.h tells it. */
static struct replay_outcome play(struct game *game, const uint8_t *bytes, size_t length, int choose,
                                  char *moves, struct board *boards)
{
    struct replay_outcome outcome = {0};
    for (size_t ply = 0; ply < length; ply++) {
        struct game_history history = game_history(game);
        moves[ply] = choose ? choose_move(game, bytes[ply]) : (char)bytes[ply];
        if (outcome.error != GAME_OK)
            continue;
        boards[ply] = history.boards[history.count - 1];
        outcome.error = game_play_letter(game, moves[ply]);
    }
    struct game_history history = game_history(game);
    outcome.plies = game_plies(game);
    boards[outcome.plies] = history.boards[history.count - 1];
    outcome.ending.position = game_position(game);
    outcome.ending.result = game_result(game);
    outcome.ending.reason = game_reason(game);
    return outcome;
}

static void compare(const struct rules *rules, const struct position *start, const uint8_t *bytes,
                    size_t length, int choose)
{
    static struct board boards[PLIES_MAX + 1], replayed[PLIES_MAX + 1];
    static char moves[PLIES_MAX];
    struct game *game = game_create(rules, start);
    struct replayer *replayer = replayer_create(rules);
    check(game != NULL && replayer != NULL);
    struct replay_outcome expected = play(game, bytes, length, choose, moves, boards), got[2];
    struct replay_game twice[2] = {{.moves = moves, .length = length, .start = start, .boards = replayed},
                                   {.moves = moves, .length = length, .start = start}};
    replay_games(replayer, twice, 2, got);
    for (int i = 0; i < 2; i++) {
        check(got[i].plies == expected.plies && got[i].error == expected.error);
        check(got[i].ending.result == expected.ending.result);
        check(got[i].ending.reason == expected.ending.reason);
        check(memcmp(&got[i].ending.position, &expected.ending.position, sizeof expected.ending.position) ==
              0);
    }
    for (size_t ply = 0; ply <= expected.plies; ply++)
        check(board_equal(boards[ply], replayed[ply]));
    replayer_destroy(replayer);
    game_destroy(game);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CHOICES || size > PLIES_MAX)
        return 0;
    struct rules rules = choose_rules(data);
    struct position start = position_start();
    unsigned choice = data[3];
    size_t used = CHOICES;
    if ((choice & 2) != 0 && size >= CHOICES + 12) {
        start = choose_start(data + CHOICES, choice);
        used += 12;
    }
    compare(&rules, &start, data + used, size - used, choice & 1);
    return 0;
}
