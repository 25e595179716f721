#include "engine/path.h"

#include <string.h>

/* The fewest plies to play all twelve houses but those in `played`, `side` to move first; at least one. */
static int plies_to_play(unsigned played, unsigned side)
{
    int own = 6 - __builtin_popcount(played >> (6 * side) & 0x3f);
    int other = 6 - __builtin_popcount(played >> (6 * (1 - side)) & 0x3f);
    int plies = 2 * own - 1 > 2 * other ? 2 * own - 1 : 2 * other;
    return plies > 1 ? plies : 1;
}

/* The sum over the boards that can come again within `reach` plies; 0 when none can. */
static uint64_t reachable_sum(const struct path *path, int reach)
{
    unsigned played = 0;
    const struct path_frame *top = &path->frames[path->top];
    for (uint32_t i = path->top; i > top->since; i--) {
        played |= path->frames[i].played;
        if (plies_to_play(played, path->side) <= reach)
            return path->frames[i - 1].all;
    }
    return 0;
}

uint64_t path_context_full(const struct path *path, int reach)
{
    const struct path_frame *top = &path->frames[path->top];
    const struct rules *rules = path->rules;
    uint64_t context = 0;
    if (rules->repetitions >= 3)
        context += mix(top->doubled, 1) * (top->doubled != 0);
    /* Where a board must come twice more, the second time is a whole cycle later. */
    bool tables = path_meets_tables(path);
    int spare = rules->repetitions >= 3 && !tables ? PATH_CYCLE : 0;
    if (rules->repetitions >= 2 && reach > spare) {
        uint64_t sum = reachable_sum(path, reach - spare);
        context += mix(sum, 2) * (sum != 0);
    }
    uint32_t quiet = path_quiet(path);
    if (rules->quiet_limit != 0 &&
        (int)quiet + reach + (tables ? path->table_plies : 0) >= rules->quiet_limit)
        context += mix(quiet, 3);
    return context != 0 ? mix(context, 4 + path->side) : 0;
}

static unsigned move_bit(char letter)
{
    int house = position_letter_house(letter);
    return house < 0 ? 0 : 1u << house;
}

void path_start(struct path *path, const struct game *game, const struct tables *tables)
{
    struct game_history history = game_history(game);
    const char *moves = game_moves(game) + game_plies(game) - (history.count - 1);
    unsigned side = game_position(game).side;
    path->rules = game_rules(game);
    path->table_seeds = tables ? tables->seeds : -1;
    path->table_plies = tables ? tables->plies : 0;
    memset(path->filter, 0, sizeof path->filter);
    for (size_t i = 0; i < history.count; i++) {
        struct path_frame *frame = &path->frames[i];
        frame->board = history.boards[i];
        frame->since = 0;
        frame->played = (uint16_t)(i == 0 ? 0 : move_bit(moves[i - 1]));
        frame->moved = i == 0 ? 0 : frame[-1].moved | frame->played;
        frame->occurrences = history.occurrences[i];
        path_set_hash(frame);
        path->top = (uint32_t)i;
        path->side = (side + (unsigned)(history.count - 1 - i)) & 1;
        path_sum(path);
        path_enter(path);
    }
}
