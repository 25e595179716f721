/* What the `table` kind sees of a position, packed into one 64-bit key: phase, store difference and twelve
 * house counts, the mover's view (TRAINER "Two kinds in one weights format"). Two positions with equal keys
 * are the same to the model; key order is the trainer's fixed order of sums. Pure; any thread. */
#ifndef KROO_EVAL_FEATURES_H
#define KROO_EVAL_FEATURES_H

#include <stdint.h>

#include "engine/board.h"
#include "engine/weights.h"

/* Columns of a phase's block: bias, store difference, then house * WEIGHTS_COUNTS + count. */
enum {
    FEATURES_BIAS = 0,
    FEATURES_STORE = 1,
    FEATURES_HOUSE = 2,
    FEATURES_COLUMNS = WEIGHTS_PHASE_PARAMETERS,
    FEATURES_DIFFERENCE_OFFSET = POSITION_SEEDS,
};

/* Bits 0..47: a nibble a house, own A first; 48..54: difference + 48; 55..56: phase. */
uint64_t features_key(struct board board);

static inline int features_phase(uint64_t key)
{
    return (int)(key >> 55) & 3;
}

static inline int features_difference(uint64_t key)
{
    return (int)((key >> 48) & 127) - FEATURES_DIFFERENCE_OFFSET;
}

static inline int features_count(uint64_t key, int house)
{
    return (int)(key >> (4 * house)) & 15;
}

/* Column that holds a one for `house`. */
static inline int features_column(uint64_t key, int house)
{
    return FEATURES_HOUSE + WEIGHTS_COUNTS * house + features_count(key, house);
}

/* Log odds under one phase's real-valued weights (FEATURES_COLUMNS of them). */
static inline double features_logit(uint64_t key, const double *weights)
{
    double sum = weights[FEATURES_BIAS] + weights[FEATURES_STORE] * features_difference(key);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        sum += weights[features_column(key, house)];
    return sum;
}

/* Hundredths of a seed: what weights_evaluate says of every position with this key. */
int32_t features_score(uint64_t key, const struct weights *weights);

#endif
