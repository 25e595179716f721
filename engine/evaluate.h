/* The evaluation on the search's own boards: the same integers as weights_evaluate, which reads struct
 * position. A `table` is added up inline; a `net` or `features` by the kernel the weights were made with.
 * Internal to engine/. Pure; any thread. */
#ifndef KROO_ENGINE_EVALUATE_H
#define KROO_ENGINE_EVALUATE_H

#include <stddef.h>

#include "engine/board.h"
#include "engine/weights.h"

enum { EVALUATE_SCORE_MAX = 32000 };

/* A way to evaluate a net. All give the same integers; they differ in the registers they want. */
struct evaluate_net {
    const char *name;
    weights_kernel *kernel;
};

/* The ways this machine can go, the slowest and plainest first, and how many. */
const struct evaluate_net *evaluate_nets(size_t *count);
int32_t evaluate_features(const struct weights *weights, struct board board);

/* 3 - (seeds >= 12) - (seeds >= 24) - (seeds >= 36), in one product: 1024 / 84 lies between 12 and 37 / 3. */
static inline int evaluate_phase(int seeds_on_board)
{
    return (POSITION_SEEDS - seeds_on_board) * 84 >> 10;
}

static inline int evaluate_board_phase(struct board board)
{
    return evaluate_phase(POSITION_SEEDS - (int)board_store(board.own) - (int)board_store(board.other));
}

/* The houses of a row, each count above `most` as `most`. */
static inline uint64_t evaluate_clamped(uint64_t row, unsigned most)
{
    const uint64_t largest = most * (BOARD_ONES & BOARD_ROW);
    row &= BOARD_ROW;
    uint64_t above = (row + (BOARD_ONES & BOARD_ROW) * (0x7f - most)) & BOARD_TOPS;
    uint64_t bytes = board_flags_bytes(above);
    return (row & ~bytes) | (largest & bytes);
}

static inline int32_t evaluate_row(const int16_t (*counts)[POSITION_SEEDS + 1], uint64_t row)
{
    int32_t sum = 0;
    for (int house = 0; house < BOARD_HOUSES; house++)
        sum += counts[house][board_house(row, house)];
    return sum;
}

/* Of a sum, hundredths of a seed within +-EVALUATE_SCORE_MAX. */
static inline int32_t evaluate_score(const struct weights *weights, int32_t sum)
{
    int32_t score = sum >> weights->shift;
    if (score > EVALUATE_SCORE_MAX)
        return EVALUATE_SCORE_MAX;
    return score < -EVALUATE_SCORE_MAX ? -EVALUATE_SCORE_MAX : score;
}

static inline int32_t evaluate_table(const struct weights *weights, struct board board)
{
    int own = (int)board_store(board.own), other = (int)board_store(board.other);
    int number = evaluate_phase(POSITION_SEEDS - own - other);
    const struct weights_phase *phase = &weights->phases[number];
    int32_t sum = phase->bias + phase->store * (own - other);
    sum += evaluate_row(weights->counts[number], board.own);
    sum += evaluate_row(weights->counts[number] + BOARD_HOUSES, board.other);
    return evaluate_score(weights, sum);
}

/* Hundredths of a seed, the mover's view, within +-EVALUATE_SCORE_MAX. */
static inline int32_t evaluate_board(const struct weights *weights, struct board board)
{
    if (weights->kernel)
        return weights->kernel(weights, board);
    return evaluate_table(weights, board);
}

#endif
