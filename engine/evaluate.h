/* The evaluation of the `table` kind for the search's own boards; gives what weights_evaluate gives. Internal
 * to engine/. Pure; any thread. */
#ifndef KROO_ENGINE_EVALUATE_H
#define KROO_ENGINE_EVALUATE_H

#include "engine/weights.h"

static inline int evaluate_phase(int seeds_on_board)
{
    return 3 - (seeds_on_board >= 12) - (seeds_on_board >= 24) - (seeds_on_board >= 36);
}

#endif
