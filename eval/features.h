/* A position as the trainer keeps it: an exact 64-bit key, the mover's view, from which the board comes back.
 * The models read their inputs straight from it (TRAINER "Two kinds in one weights format"). Rows are kept in
 * the order of (phase, mixed key): the phases of a `table` are runs, and sums have one order. Pure; any
 * thread. */
#ifndef KROO_EVAL_FEATURES_H
#define KROO_EVAL_FEATURES_H

#include <stdint.h>

#include "engine/board.h"
#include "engine/weights.h"

/* Columns of a `table` phase's block: bias, store difference, then house * WEIGHTS_COUNTS + count. */
enum {
    FEATURES_BIAS = 0,
    FEATURES_STORE = 1,
    FEATURES_HOUSE = 2,
    FEATURES_COLUMNS = WEIGHTS_PHASE_PARAMETERS,
    FEATURES_DIFFERENCE_OFFSET = POSITION_SEEDS,
    FEATURES_COUNT_MAX = 15, /* of a nibble; what lies above is in the excess */
    FEATURES_EXCESSES = 190, /* codes of the excess, below 256 */
};

/* Bits 0..47: a nibble a house, own A first, more than 15 seeds as 15; 48..54: difference + 48; 55..62: what
 * the houses of 15 hold beyond it, 0 in nearly every position. */
uint64_t features_key(struct board board);
/* The board behind a key; exact. */
struct board features_board(uint64_t key);
/* Seeds in houses beyond 15, for a key whose excess is not 0. */
int features_excess_seeds(uint64_t key);

static inline int features_seeds(uint64_t key)
{
    uint64_t pairs = (key & UINT64_C(0x0f0f0f0f0f0f)) + (key >> 4 & UINT64_C(0x0f0f0f0f0f0f));
    int seeds = (int)((pairs & UINT64_C(0x00ff00ff00ff)) * UINT64_C(0x000100010001) >> 32 & 0xff) +
                (int)((pairs >> 8 & UINT64_C(0x00ff00ff00ff)) * UINT64_C(0x000100010001) >> 32 & 0xff);
    return key >> 55 ? seeds + features_excess_seeds(key) : seeds;
}

/* Phase 0..3 of weights_phase. */
static inline int features_phase(uint64_t key)
{
    int seeds = features_seeds(key);
    return 3 - (seeds >= 12) - (seeds >= 24) - (seeds >= 36);
}

static inline int features_difference(uint64_t key)
{
    return (int)(key >> 48 & 127) - FEATURES_DIFFERENCE_OFFSET;
}

/* Seeds of a house, more than 15 as 15. */
static inline int features_count(uint64_t key, int house)
{
    return (int)(key >> (4 * house)) & 15;
}

/* Column of a `table` that holds a one for `house`. */
static inline int features_column(uint64_t key, int house)
{
    int count = features_count(key, house);
    return FEATURES_HOUSE + WEIGHTS_COUNTS * house + (count < WEIGHTS_COUNTS ? count : WEIGHTS_COUNTS - 1);
}

/* Log odds under one phase's real-valued weights (FEATURES_COLUMNS of them). */
static inline double features_logit(uint64_t key, const double *weights)
{
    double sum = weights[FEATURES_BIAS] + weights[FEATURES_STORE] * features_difference(key);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        sum += weights[features_column(key, house)];
    return sum;
}

/* Hundredths of a seed: what weights_evaluate says of the position, whatever the kind of the weights. */
int32_t features_score(uint64_t key, const struct weights *weights);

#endif
