#include "coordinator/fitness.h"

#include <stdio.h>

enum { UNIT = 1000000, PERCENT = UNIT / 100 };

uint32_t fitness_scale(const struct fitness_policy *policy, uint32_t speed)
{
    if (policy->reference == 0 || speed == 0)
        return UNIT;
    uint64_t scale = ((uint64_t)policy->reference * UNIT + speed / 2) / speed;
    return scale < FITNESS_SCALE_MIN   ? FITNESS_SCALE_MIN
           : scale > FITNESS_SCALE_MAX ? FITNESS_SCALE_MAX
                                       : (uint32_t)scale;
}

const char *fitness_unfit(const struct fitness_policy *policy, uint32_t speed, uint32_t spread_ppm,
                          uint32_t load_ppm, char text[FITNESS_TEXT])
{
    if (speed == 0)
        snprintf(text, FITNESS_TEXT, "its speed was not measured");
    else if ((uint64_t)speed * 100 < (uint64_t)policy->reference * policy->slow)
        snprintf(text, FITNESS_TEXT, "it is too slow: %u nodes a second, less than %u %% of the reference %u",
                 speed, policy->slow, policy->reference);
    else if (spread_ppm / PERCENT > policy->spread)
        snprintf(text, FITNESS_TEXT,
                 "it is too noisy: its bench varied by %u %%, at most %u %% will do (start it again "
                 "on a quiet machine)",
                 spread_ppm / PERCENT, policy->spread);
    else if (load_ppm / PERCENT > policy->load)
        snprintf(text, FITNESS_TEXT,
                 "its machine is busy: a load of %u %% a core when it started, at most %u %% will do "
                 "(start it again when it is quiet)",
                 load_ppm / PERCENT, policy->load);
    else
        return NULL;
    return text;
}
