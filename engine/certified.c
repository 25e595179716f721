#include "engine/certified.h"

#include <assert.h>

#include "engine/mix.h"

enum { ATTEMPTS = 100000, DECIDED = 1000, WORST = 2 * DECIDED };

bool certified_find(const struct tables *tables, struct board board, struct certified *out)
{
    struct truth truth;
    if (!truth_find(tables, board, &truth) || __builtin_popcount(truth.legal) < 2)
        return false;
    out->house = __builtin_ctz(truth.legal);
    for (unsigned mask = truth.legal; mask != 0; mask &= mask - 1)
        if (truth.move_lo[__builtin_ctz(mask)] > truth.move_lo[out->house])
            out->house = __builtin_ctz(mask);
    out->lo = truth.move_lo[out->house];
    out->others_up = -TABLES_BIAS;
    for (unsigned mask = truth.legal & ~(1u << out->house); mask != 0; mask &= mask - 1) {
        int up = truth.move_up[__builtin_ctz(mask)];
        out->others_up = up > out->others_up ? up : out->others_up;
    }
    return out->lo > out->others_up;
}

/* The outcome of an ended game counts, and after it the margin. */
static int ended(int margin)
{
    return margin + (margin > 0 ? DECIDED : margin < 0 ? -DECIDED : 0);
}

/* Alpha-beta of at most CERTIFIED_DEPTH_MAX levels; bounds outside the window are as good as values. */
static int minimax(const struct rules *rules, struct board board, int depth, int alpha, int beta)
{
    unsigned legal = board_legal(rules, board);
    enum board_ending ending = board_end(board, legal);
    if (ending != BOARD_GOES_ON)
        return ended(board_margin(board, ending == BOARD_NO_MOVE ? rules->leftovers : RULES_LEFTOVERS_STAY));
    if (depth == 0)
        return board_margin(board, RULES_LEFTOVERS_STAY);
    int best = -WORST;
    for (; legal != 0 && best < beta; legal &= legal - 1) {
        int floor = best > alpha ? best : alpha;
        struct board next = board_make(rules, board, __builtin_ctz(legal));
        int value = -minimax(rules, next, depth - 1, -beta, -floor);
        best = value > best ? value : best;
    }
    return best;
}

bool certified_misses(const struct rules *rules, const struct position *position, int house, int depth)
{
    assert(depth >= 1 && depth <= CERTIFIED_DEPTH_MAX);
    struct board board = board_from_position(position);
    int own = -minimax(rules, board_make(rules, board, house), depth - 1, -WORST, WORST);
    for (unsigned mask = board_legal(rules, board) & ~(1u << house); mask != 0; mask &= mask - 1) {
        struct board next = board_make(rules, board, __builtin_ctz(mask));
        if (-minimax(rules, next, depth - 1, -own - 1, -own) > own)
            return true;
    }
    return false;
}

bool certified_draw(const struct tables *tables, uint64_t seed, int seeds, uint64_t index, int depth,
                    struct certified *out)
{
    const struct rules *rules = &tables->rules;
    uint64_t stream = mix(mix(seed, (uint64_t)seeds), index);
    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint32_t size = (uint32_t)index_layer_size(seeds);
        struct board board = index_unrank(seeds, mix_below(mix(stream, attempt), size));
        if (certified_find(tables, board, out) &&
            truth_position(rules, board, truth_difference(board, out->lo, index % 2 != 0), &out->position) &&
            certified_misses(rules, &out->position, out->house, depth) &&
            certified_misses(rules, &out->position, out->house, depth - 1))
            return true;
    }
    return false;
}
