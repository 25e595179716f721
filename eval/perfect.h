/* How near to perfect play fitted weights are, on the positions set aside to judge them: by the tables that
 * were given, else by small ones that are built here in a fraction of a second. The figures are kept with the
 * training run; they say nothing about the fit and change nothing in it. */
#ifndef KROO_EVAL_PERFECT_H
#define KROO_EVAL_PERFECT_H

#include <jansson.h>

#include "eval/endgame.h"

enum { PERFECT_SEEDS = 8 }; /* of the tables built here */

struct perfect {
    int seeds; /* of the tables; 0: there are none for these rules, or no place to build them */
    struct endgame own, parent;
};

/* `given` may be NULL; rows are as for endgame_judge. */
void perfect_judge(const struct rules *rules, const struct tables *given, const struct weights *own,
                   const struct weights *parent, const struct rows *rows, struct perfect *out);
/* One side's figures; the caller's. */
json_t *perfect_figures(const struct endgame *endgame);
/* {"seeds": ..., "own": {...}, "parent": {...}}, NULL without tables or memory; the caller's. */
json_t *perfect_json(const struct perfect *perfect);

#endif
