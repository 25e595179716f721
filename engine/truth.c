#include "engine/truth.h"

#include "engine/layer.h"

bool truth_find(const struct tables *tables, struct board board, struct truth *out)
{
    struct tables_value value;
    const struct rules *rules = &tables->rules;
    if (!tables_probe(tables, &board, &value) ||
        (rules->quiet_limit != 0 && value.plies > rules->quiet_limit))
        return false;
    *out = (struct truth){.legal = board_legal(rules, board), .lo = value.lo, .up = value.up};
    for (unsigned mask = out->legal; mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        struct board next = board_make(rules, board, house);
        if (!tables_probe(tables, &next, &value))
            return false;
        out->move_lo[house] = (int8_t)(layer_gain(next) - value.up);
        out->move_up[house] = (int8_t)(layer_gain(next) - value.lo);
    }
    return true;
}

bool truth_position(const struct rules *rules, struct board board, int difference, struct position *out)
{
    int rest = POSITION_SEEDS - (int)board_seeds(board);
    if (difference > rest || difference < -rest || (rest + difference) % 2 != 0)
        return false;
    board.own |= (uint64_t)((rest + difference) / 2) << 48;
    board.other |= (uint64_t)((rest - difference) / 2) << 48;
    if (board_end(board, board_legal(rules, board)) != BOARD_GOES_ON)
        return false;
    *out = board_to_position(board, SIDE_SOUTH);
    return true;
}

int truth_difference(struct board board, int value, bool win)
{
    bool odd = ((unsigned)value + board_seeds(board)) % 2 != 0;
    return (odd ? 1 : win ? 2 : 0) - value;
}
