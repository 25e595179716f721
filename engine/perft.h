/* Counting the tree of a rule set: how many move sequences of a length there are. The check of every rule and
 * the measure of the board's speed. Pure functions without allocation; any thread. */
#ifndef KROO_ENGINE_PERFT_H
#define KROO_ENGINE_PERFT_H

#include "engine/position.h"
#include "engine/rules.h"

/* PERFT_DEPTH_MAX bounds the path kept for repetitions. */
enum { PERFT_DEPTH_MAX = 64 };

/* Sequences of `depth` >= 1 moves from a position. A finished game counts at its own depth and has no
 * children; repetition and the quiet limit are left out. The last ply is counted without being played. */
uint64_t perft_nodes(const struct rules *rules, const struct position *position, int depth);

/* Which endings cut a line off. */
enum perft_mode {
    PERFT_FULL,          /* all: repetition and quiet limit counted from the root on */
    PERFT_NO_REPETITION, /* those of perft_nodes */
    PERFT_NO_ENDINGS,    /* none: only the legality of moves limits them */
};

struct perft_leaves {
    uint64_t leaves; /* sequences of the full depth */
    uint64_t ended;  /* those at whose last position the game is over; 0 under PERFT_NO_ENDINGS */
};

/* The plain walk, a move at a time: slower, and independent of perft_nodes. `depth` <= PERFT_DEPTH_MAX. */
struct perft_leaves perft_count_leaves(const struct rules *rules, const struct position *position, int depth,
                                       enum perft_mode mode);

#endif
