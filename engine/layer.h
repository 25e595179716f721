/* All boards of so many seeds, in the order of index.h, and the moves among them backwards: what the builder
 * and the checker of endgame tables walk over. */
#ifndef KROO_ENGINE_LAYER_H
#define KROO_ENGINE_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index.h"
#include "engine/rules.h"
#include "engine/team.h"

enum { LAYER_SEEDS_MAX = 24 }; /* numbers within a layer, and of all layers up to it, fit 32 bits */

/* A run of boards whose opponents' rows differ in the first house alone: board i of it has own row rows[i]
 * and the opponent's row `other`, less the seeds of the own row in its first house. */
struct layer_segment {
    uint64_t other;
    uint32_t start; /* number of its first board in the layer */
    uint32_t length;
};

struct layer {
    int seeds;
    uint32_t size;
    const uint64_t *rows; /* borrowed */
    struct layer_segment *segments;
    size_t segment_count;
};

/* Own rows of up to `seeds` seeds in the order of segments; malloc'ed, NULL when memory is short. The rows
 * for fewer seeds are its beginning. */
uint64_t *layer_rows_create(int seeds);

/* `rows` made for as many seeds or more must outlive the layer. 0, or -1 when memory is short. */
int layer_init(struct layer *layer, int seeds, const uint64_t *rows);
void layer_done(struct layer *layer);

BOARD_INLINE struct board layer_board(const struct layer *layer, const struct layer_segment *segment,
                                      uint32_t i)
{
    uint64_t own = layer->rows[i];
    return (struct board){.own = own, .other = segment->other - board_row_seeds(own)};
}

typedef void layer_job(void *context, int member, const struct layer_segment *segment);

/* Hands the segments from `first` to before `end` to the members of the team, in no particular order. */
void layer_walk_some(const struct layer *layer, struct team *team, size_t first, size_t end, layer_job *job,
                     void *context);
void layer_walk(const struct layer *layer, struct team *team, layer_job *job, void *context);

/* --- moves, forwards and backwards --- */

/* Seeds the mover gains less those the move gives the opponent; boards of the builder have empty stores. */
BOARD_INLINE int layer_gain(struct board after)
{
    return (int)board_store(after.other) - (int)board_store(after.own);
}

enum { LAYER_BEFORE_MAX = BOARD_HOUSES * LAYER_SEEDS_MAX };

/* True when a sowing that reached `houses` of the opponent's row can have captured from it. */
BOARD_INLINE bool layer_may_capture(uint64_t row, uint64_t houses)
{
    if (houses == 0)
        return false;
    int last = (63 - __builtin_clzll(houses)) & ~7;
    return (row >> last & 0xfe) == 2;
}

/* The boards from which a legal move without captures leads to `board` (stores empty), written to `before`,
 * and its house to `houses` (NULL: not wanted); returns their number. The move empties `house`, so a house
 * that is empty now is where it began, and the seeds are taken up again one after the other. */
BOARD_INLINE int layer_before(struct board board, enum rules_slam slam, enum rules_feeding feeding,
                              struct board before[LAYER_BEFORE_MAX], uint8_t *houses)
{
    uint64_t mover = board.other, opponent = board.own;
    /* Where feeding is a must, no legal move leaves the opponent's row empty. */
    bool starved = opponent == 0;
    if (starved && feeding == RULES_FEEDING_MUST)
        return 0;
    bool ask_rules = starved && (feeding == RULES_FEEDING_IF_ANY || slam == RULES_SLAM_LAST_RESORT);
    unsigned seeded = board_flags_mask(board_seeded_flags(mover)) |
                      board_flags_mask(board_seeded_flags(opponent)) << BOARD_HOUSES;
    int count = 0;
    for (unsigned empty = ~seeded & 0x3f; empty != 0; empty &= empty - 1) {
        int house = __builtin_ctz(empty);
        /* Bit j: the house j + 1 after it holds a seed. */
        unsigned after = seeded >> (house + 1) | seeded << (11 - house);
        int seeds_max = __builtin_ctz(~after | 0x800);
        for (int seeds = 1; seeds <= seeds_max; seeds++) {
            const struct board_sowing *sowing = &board_sowings[house][seeds];
            struct board from = {.own = mover - sowing->own, .other = opponent - sowing->other};
            bool doubtful = layer_may_capture(opponent, sowing->houses);
            if ((!doubtful || board_equal(board_make_as(from, house, slam), board)) &&
                (!ask_rules || (board_legal_as(from, slam, feeding) >> house & 1) != 0)) {
                if (houses != NULL)
                    houses[count] = (uint8_t)house;
                before[count++] = from;
            }
            /* A further lap takes a second seed from each house, then a third. */
            if (seeds == seeds_max && seeds >= 11) {
                int next = (house + seeds % 11 + 1) % 12;
                unsigned there = board_house(next < BOARD_HOUSES ? mover : opponent, next % BOARD_HOUSES);
                seeds_max += there > (unsigned)(seeds / 11);
            }
        }
    }
    return count;
}

#endif
