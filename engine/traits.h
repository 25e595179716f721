/* What a person would look at on a board, as small integers: the inputs of the `features` kind of weights.
 * All from the twelve counts and the stores, in the mover's view; captures as under `site`, whatever the
 * rules: a grand slam captures nothing. The indices are part of the weights file and never change their
 * meaning; engine/README.md defines each. Pure; any thread. */
#ifndef KROO_ENGINE_TRAITS_H
#define KROO_ENGINE_TRAITS_H

#include <stdint.h>

/* In pairs, the mover's and the opponent's, but for the first two. */
enum trait {
    TRAIT_BIAS,             /* always 1 */
    TRAIT_STORE_DIFFERENCE, /* the mover's store minus the opponent's */
    TRAIT_OWN_SEEDS,        /* seeds in the six houses */
    TRAIT_OTHER_SEEDS,
    TRAIT_OWN_MOBILITY, /* houses with a seed */
    TRAIT_OTHER_MOBILITY,
    TRAIT_OWN_REACHING, /* houses whose last seed would leave the row, or that would lap */
    TRAIT_OTHER_REACHING,
    TRAIT_OWN_ONES, /* houses with one seed */
    TRAIT_OTHER_ONES,
    TRAIT_OWN_TWOS, /* houses with two seeds */
    TRAIT_OTHER_TWOS,
    TRAIT_OWN_KROOS, /* houses with twelve seeds or more */
    TRAIT_OTHER_KROOS,
    TRAIT_OWN_CAPTURES, /* houses whose move captures, were it that side's turn */
    TRAIT_OTHER_CAPTURES,
    TRAIT_OWN_BEST_CAPTURE, /* the most seeds that one of these moves takes */
    TRAIT_OTHER_BEST_CAPTURE,
    TRAIT_OWN_VULNERABLE, /* houses that some move of the other side captures */
    TRAIT_OTHER_VULNERABLE,
    TRAIT_OWN_LARGEST, /* seeds in the fullest house */
    TRAIT_OTHER_LARGEST,
    TRAIT_OWN_REAR, /* seeds in the first three houses (A to C, a to c) */
    TRAIT_OTHER_REAR,
    TRAITS,
};

struct board;

void traits_of(struct board board, int16_t out[TRAITS]);
/* As in JSON and tables: `own_best_capture`. */
const char *traits_name(enum trait trait);
/* The largest absolute value. */
int traits_largest(enum trait trait);

#endif
