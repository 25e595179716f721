/* How near a player is to perfect play: positions whose value endgame tables know exactly, and what its moves
 * there keep of it. The yardstick behind `kroo-engine perfect`.
 *
 * A position counts only if the tables leave nothing open: LO = UP for the board and after each of its moves,
 * and two moves at least differ. Its stores are such that the outcome hangs on the last seed: perfect play
 * draws, or wins by the least, in turn; so who gives away seeds gives away the game. Pure; any thread. */
#ifndef KROO_ENGINE_PERFECT_H
#define KROO_ENGINE_PERFECT_H

#include "engine/truth.h"

struct perfect_position {
    struct position position; /* South to move */
    int difference;           /* South's store less North's */
    struct truth truth;
};

/* Position `index` of the sample of boards with so many seeds: the same for the same tables and seed, drawn
 * with replacement. False when too few boards qualify. */
bool perfect_draw(const struct tables *tables, uint64_t seed, int seeds, uint64_t index,
                  struct perfect_position *out);

struct perfect_tally {
    uint64_t positions;
    uint64_t kept;                 /* moves that keep the value */
    uint64_t outcome;              /* moves that keep win or draw */
    uint64_t given, given_squares; /* value lost, seeds: sums */
};

/* Counts the move of a player, house 0 to 5 of South, a legal one. */
void perfect_count(struct perfect_tally *tally, const struct perfect_position *position, int house);
void perfect_add(struct perfect_tally *to, const struct perfect_tally *tally);

/* A mean and its standard error, 0 for no positions. */
struct perfect_mean {
    double mean, error;
};
struct perfect_mean perfect_share(uint64_t count, uint64_t positions);
struct perfect_mean perfect_given(const struct perfect_tally *tally);

#endif
