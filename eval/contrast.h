/* How two weights of any kinds differ in what they say of positions of random games: the same positions for
 * everybody. Pure; any thread. */
#ifndef KROO_EVAL_CONTRAST_H
#define KROO_EVAL_CONTRAST_H

#include <stdbool.h>

#include "engine/weights.h"

struct contrast_phase {
    unsigned positions;
    double mean, largest; /* absolute difference of the log odds; scores where a scale is missing */
    double correlation;   /* of the scores; 1 where one of them says nothing */
    double signs;         /* share of positions where both call the same side ahead */
};

struct contrast {
    bool log_odds; /* both weights have a scale */
    struct contrast_phase phases[WEIGHTS_PHASES];
};

/* Both made for the same rules. False when memory is short. */
bool contrast_run(const struct weights *a, const struct weights *b, struct contrast *out);

#endif
