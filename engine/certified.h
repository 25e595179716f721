/* Positions whose best move endgame tables certify and a shallow search does not find: what
 * tests/vectors/certified-best-moves.jsonl is made of.
 *
 * Certified: the LO of the best move exceeds the UP of every other one, and the stores are such that it alone
 * keeps a draw, or the win, in turn. Hard: plain minimax of `depth` and of depth - 1 plies, stores compared
 * at the leaves, prefers another move. Pure; any thread. */
#ifndef KROO_ENGINE_CERTIFIED_H
#define KROO_ENGINE_CERTIFIED_H

#include "engine/truth.h"

/* No board comes again within so few plies. */
enum { CERTIFIED_DEPTH_MAX = 11 };

struct certified {
    struct position position; /* South to move */
    int house;                /* the best move, 0 to 5 */
    int lo;                   /* of it */
    int others_up;            /* the highest of the others */
};

/* The one move of this board, stores empty, that is better than all others; false if there is none, or there
 * are no others. Writes all but `position`. */
bool certified_find(const struct tables *tables, struct board board, struct certified *out);

/* True when minimax of so many plies (1 to CERTIFIED_DEPTH_MAX) values some move above this one. */
bool certified_misses(const struct rules *rules, const struct position *position, int house, int depth);

/* Position `index` of those with so many seeds: the same for the same tables, seed and depth (from 2). False
 * when too few boards qualify. */
bool certified_draw(const struct tables *tables, uint64_t seed, int seeds, uint64_t index, int depth,
                    struct certified *out);

#endif
