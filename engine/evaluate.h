/* The evaluation of the `table` kind on the search's own boards: the same integers as weights_evaluate, which
 * reads struct position. Internal to engine/. Pure; any thread. */
#ifndef KROO_ENGINE_EVALUATE_H
#define KROO_ENGINE_EVALUATE_H

#include "engine/board.h"
#include "engine/weights.h"

enum { EVALUATE_SCORE_MAX = 32000 };

static inline int evaluate_phase(int seeds_on_board)
{
    return 3 - (seeds_on_board >= 12) - (seeds_on_board >= 24) - (seeds_on_board >= 36);
}

/* The houses of a row, each count above 12 as 12. */
static inline uint64_t evaluate_clamped(uint64_t row)
{
    const uint64_t largest = (WEIGHTS_COUNTS - 1) * (BOARD_ONES & BOARD_ROW);
    row &= BOARD_ROW;
    uint64_t above = (row + (BOARD_ONES & BOARD_ROW) * (0x7f - (WEIGHTS_COUNTS - 1))) & BOARD_TOPS;
    uint64_t bytes = board_flags_bytes(above);
    return (row & ~bytes) | (largest & bytes);
}

static inline int32_t evaluate_row(const int16_t (*table)[WEIGHTS_COUNTS], uint64_t row)
{
    int32_t sum = 0;
    row = evaluate_clamped(row);
    for (int house = 0; house < BOARD_HOUSES; house++, row >>= 8)
        sum += table[house][row & 0xff];
    return sum;
}

/* Hundredths of a seed, the mover's view, within +-EVALUATE_SCORE_MAX. */
static inline int32_t evaluate_board(const struct weights *weights, struct board board)
{
    int own = (int)board_store(board.own), other = (int)board_store(board.other);
    const struct weights_phase *phase = &weights->phases[evaluate_phase(POSITION_SEEDS - own - other)];
    int32_t sum = phase->bias + phase->store * (own - other);
    sum += evaluate_row(phase->house, board.own);
    sum += evaluate_row(phase->house + BOARD_HOUSES, board.other);
    int32_t score = sum >> weights->shift;
    if (score > EVALUATE_SCORE_MAX)
        return EVALUATE_SCORE_MAX;
    return score < -EVALUATE_SCORE_MAX ? -EVALUATE_SCORE_MAX : score;
}

#endif
