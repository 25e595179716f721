/* Weights against the truth of endgame tables, on positions of real games: does a look one ply deep with
 * these weights choose a move that keeps the value, and how many seeds does it give away (TRAINER "Judging a
 * fit"). Pure; any thread. */
#ifndef KROO_EVAL_ENDGAME_H
#define KROO_EVAL_ENDGAME_H

#include "engine/tables.h"
#include "engine/weights.h"
#include "eval/rows.h"

struct endgame {
    uint64_t positions; /* in the tables, of exact value, with a choice of moves */
    uint64_t best;      /* where the chosen move keeps the value */
    double given_away;  /* seeds a position, mean */
    uint64_t outcomes;  /* of these the ones with a winner */
    uint64_t agreed;    /* where the score has the winner's sign */
};

/* Every row counts as often as it occurs. */
void endgame_judge(const struct tables *tables, const struct weights *weights, const struct rows *rows,
                   struct endgame *out);

#endif
