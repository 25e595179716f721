/* What endgame tables prove of each move of a board. It holds where the board begins a game: no position has
 * occurred before, and more quiet plies are left than the tables ask for. Pure; any thread. */
#ifndef KROO_ENGINE_TRUTH_H
#define KROO_ENGINE_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/board.h"
#include "engine/tables.h"

/* Net seeds still to come to the mover: of the board and after each legal move, its captures included. */
struct truth {
    unsigned legal; /* bit h: house h of the mover */
    int lo, up;
    int8_t move_lo[BOARD_HOUSES], move_up[BOARD_HOUSES];
};

/* The stores of `board` are empty. False when the tables do not reach so far, or need more quiet plies than
 * their own rules leave. */
bool truth_find(const struct tables *tables, struct board board, struct truth *out);

/* The board (stores empty), South to move, with the other seeds in the stores so that South has `difference`
 * more than North. False when that cannot be, or the game would be over. */
bool truth_position(const struct rules *rules, struct board board, int difference, struct position *out);

/* The difference of stores that makes the outcome hang on the last seed: with `value` still to come the game
 * is drawn, or where `win` (or where no draw is possible, stores and `value` being of unlike parity) won by
 * the least. */
int truth_difference(struct board board, int value, bool win);

#endif
