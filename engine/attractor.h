/* Retrograde analysis of one layer, all thresholds in one sweep: what one side, the forcing one, can force.
 *
 * A state is a board and which side is to move; all values are those of the forcing side. An `any` state has
 * the forcing side to move and is won for threshold t as soon as one move leads to a state won for t; an
 * `all` state has the other side to move and is won when every move does. Thresholds descend, so each state
 * is won once, at its value, and each move is looked at once, by un-sowing from the state it leads to.
 *
 * A state has a rank: 0 when it is won by itself (a seed), else the plies within which the forcing side can
 * have a seed or a move out of the layer that is worth the state's value; ranks of the states passed on the
 * way count as they are, so that a strategy of falling ranks keeps the bound. The result does not depend on
 * the number of threads: within a threshold, states are won rank by rank. */
#ifndef KROO_ENGINE_ATTRACTOR_H
#define KROO_ENGINE_ATTRACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/layer.h"

enum {
    ATTRACTOR_NONE = -128,     /* no such value */
    ATTRACTOR_RANK_MAX = 4095, /* a longer line ends the build with an error */
    ATTRACTOR_VALUE_MAX = LAYER_SEEDS_MAX,
};

enum attractor_error { ATTRACTOR_OK = 0, ATTRACTOR_ERROR_MEMORY = -1, ATTRACTOR_ERROR_RANK = -2 };

/* The states of a layer, each array with an entry for each board. `any` and `all` may be the same array where
 * no board is won both ways: then a board's one word serves both kinds. */
struct attractor_states {
    uint32_t *any, *all; /* words, see below */
    int8_t *any_seed;    /* the threshold at which the state is won by itself, or NONE; NULL for all NONE.
                                  Lowered to its cap where that holds a state back */
    int8_t *all_seed;
    const int8_t *any_cap; /* no higher value is given to the state; NULL for no caps */
    const int8_t *all_cap;
    bool ranks;   /* ranks wanted */
    int rank_max; /* out: the highest rank given */
};

/* A word, from bit 0: moves within the layer that are not won yet (`all`), won as `all`, the best move out of
 * the layer in the view of the side to move (biased, 0 for none), once won value (biased) and rank, before it
 * the highest rank that a closed move leads to; won as `any`; a move: before, the first of the best out of
 * the layer, and once won as `any` that of the win, the first of those to the lowest rank. */
enum {
    ATTRACTOR_BIAS = 32,
    ATTRACTOR_COUNT = 7,
    ATTRACTOR_ALL_WON = 1 << 3,
    ATTRACTOR_EXIT = 4,
    ATTRACTOR_VALUE = 10,
    ATTRACTOR_RANK = 16,
    ATTRACTOR_ANY_WON = 1 << 28,
    ATTRACTOR_MOVE = 29,
    ATTRACTOR_SIX = 63,
};

/* A state before the analysis; `exit` in the view of the side to move, or NONE; `move` the house that does
 * it, 0 to 7. */
BOARD_INLINE uint32_t attractor_word(unsigned moves_within, int exit, unsigned move)
{
    unsigned biased = exit == ATTRACTOR_NONE ? 0 : (unsigned)(exit + ATTRACTOR_BIAS);
    return moves_within | biased << ATTRACTOR_EXIT | (uint32_t)move << ATTRACTOR_MOVE;
}

/* The best move out of the layer, or NONE. */
BOARD_INLINE int attractor_exit(uint32_t word)
{
    int biased = (int)(word >> ATTRACTOR_EXIT & ATTRACTOR_SIX);
    return biased == 0 ? ATTRACTOR_NONE : biased - ATTRACTOR_BIAS;
}

/* The value won as `won` (ATTRACTOR_ANY_WON or ATTRACTOR_ALL_WON), or `otherwise`. */
BOARD_INLINE int attractor_value(uint32_t word, uint32_t won, int otherwise)
{
    if ((word & won) == 0)
        return otherwise;
    return (int)(word >> ATTRACTOR_VALUE & ATTRACTOR_SIX) - ATTRACTOR_BIAS;
}

/* The rank of a state that is won, else 0. */
BOARD_INLINE uint16_t attractor_rank(uint32_t word)
{
    bool won = (word & (ATTRACTOR_ANY_WON | ATTRACTOR_ALL_WON)) != 0;
    return won ? (uint16_t)(word >> ATTRACTOR_RANK & ATTRACTOR_RANK_MAX) : 0;
}

/* Told after each threshold how many states have been won. */
typedef void attractor_progress(void *context, uint64_t won);

struct attractor;

/* The team outlives it. NULL when memory is short. */
struct attractor *attractor_create(const struct rules *rules, struct team *team);
void attractor_destroy(struct attractor *attractor);

/* Wins what can be won at the thresholds highest, highest - step, ... down to `lowest`. Memory beside the
 * states: 8 bytes for each state of the largest class of equal value and rank. */
enum attractor_error attractor_run(struct attractor *attractor, const struct layer *layer,
                                   struct attractor_states *states, int highest, int lowest, int step,
                                   attractor_progress *progress, void *context);

#endif
