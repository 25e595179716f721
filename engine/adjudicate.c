#include "engine/adjudicate.h"

#include <string.h>

#include "engine/mix.h"

/* The conditions under which a bracket holds, as the search has them (path_bears_tables). */
static bool bracket_holds(const struct game *game, unsigned plies)
{
    const struct rules *rules = game_rules(game);
    struct game_history history = game_history(game);
    size_t quiet = history.count - 1;
    if (rules->quiet_limit != 0 && quiet + plies > (size_t)rules->quiet_limit)
        return false;
    if (rules->repetitions == 0)
        return rules->quiet_limit != 0;
    if (quiet > 0 && rules->repetitions != 3)
        return false;
    for (size_t i = 0; i < history.count; i++)
        if (history.occurrences[i] > 1)
            return false;
    return true;
}

enum game_result adjudicate_by_tables(const struct tables *tables, const struct game *game)
{
    struct position position = game_position(game);
    struct board board = board_from_position(&position);
    struct tables_value value;
    if (!tables_probe(tables, &board, &value) || !bracket_holds(game, value.plies))
        return GAME_UNFINISHED;
    int lead = (int)board_store(board.own) - (int)board_store(board.other);
    bool south = position.side == SIDE_SOUTH;
    if (lead + value.lo > 0)
        return south ? GAME_SOUTH_WINS : GAME_NORTH_WINS;
    if (lead + value.up < 0)
        return south ? GAME_NORTH_WINS : GAME_SOUTH_WINS;
    return value.lo == -lead && value.up == -lead ? GAME_DRAW : GAME_UNFINISHED;
}

bool adjudicate_plays_out(const struct play_setup *setup, uint64_t pair, unsigned leg)
{
    uint64_t bits = mix(mix_game_seed(setup->seed, pair, leg), MIX_STREAM_PLAYOUT);
    return mix_below(bits, PLAY_NOISE_UNIT) < setup->resign_playout_ppm;
}

static struct adjudication look_up(const struct play_setup *setup, const struct game *game)
{
    enum game_result result =
        setup->adjudication != NULL ? adjudicate_by_tables(setup->adjudication, game) : GAME_UNFINISHED;
    return (struct adjudication){result,
                                 result == GAME_UNFINISHED ? GAME_REASON_NONE : GAME_REASON_ADJUDICATED};
}

struct adjudication adjudicator_begin(struct adjudicator *adjudicator, const struct play_setup *setup,
                                      uint64_t pair, unsigned leg, const struct game *game)
{
    *adjudicator = (struct adjudicator){.setup = setup, .plays_out = adjudicate_plays_out(setup, pair, leg)};
    return look_up(setup, game);
}

struct adjudication adjudicator_ply(struct adjudicator *adjudicator, const struct game *game, int16_t score)
{
    const struct play_setup *setup = adjudicator->setup;
    struct adjudication ending = look_up(setup, game);
    if (ending.result != GAME_UNFINISHED || setup->resign_plies == 0)
        return ending;
    unsigned mover = game_position(game).side ^ 1u;
    bool lost = score != PLAY_NO_SCORE && score <= -(int)setup->resign_score;
    adjudicator->behind[mover] = lost ? adjudicator->behind[mover] + 1 : 0;
    if (adjudicator->resign_ply != 0 || adjudicator->behind[mover] < setup->resign_plies)
        return ending;
    adjudicator->resign_ply = game_plies(game);
    if (adjudicator->plays_out)
        return ending;
    return (struct adjudication){mover == SIDE_SOUTH ? GAME_NORTH_WINS : GAME_SOUTH_WINS, GAME_REASON_RESIGN};
}

void adjudicate_replay(const struct play_setup *setup, uint64_t pair, unsigned leg, struct game *game,
                       const char *moves, size_t plies, const uint8_t *scores, struct adjudicate_replay *out)
{
    struct adjudicator adjudicator;
    size_t opening = play_opening_plies(setup, pair), played;
    memset(out, 0, sizeof *out);
    if (setup->adjudication == NULL && setup->resign_plies == 0)
        return;
    game_reset(game, NULL);
    if (opening > plies || game_play_text(game, moves, opening, &played) != GAME_OK || game_over(game))
        return;
    out->ending = adjudicator_begin(&adjudicator, setup, pair, leg, game);
    for (size_t ply = opening; ply < plies && out->ending.result == GAME_UNFINISHED; ply++) {
        if (game_play_letter(game, moves[ply]) != GAME_OK || game_over(game))
            break;
        out->ending = adjudicator_ply(&adjudicator, game,
                                      scores != NULL ? bytes_get_i16(scores + 2 * ply) : PLAY_NO_SCORE);
    }
    struct position position = game_position(game);
    memcpy(out->stores, position.stores, sizeof out->stores);
    out->plies = game_plies(game);
    out->resign_ply = adjudicator.resign_ply;
}
