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

bool fitness_is_old(const struct fitness_policy *policy, const struct fitness_bench *bench)
{
    return bench->speed > 0 && policy->age_s > 0 && bench->age_ms > 1000 * (int64_t)policy->age_s;
}

const char *fitness_unfit(const struct fitness_policy *policy, const struct fitness_bench *bench,
                          char text[FITNESS_TEXT])
{
    if (bench->speed == 0)
        snprintf(text, FITNESS_TEXT, "its speed was not measured");
    else if (fitness_is_old(policy, bench))
        snprintf(text, FITNESS_TEXT,
                 "its bench is %lld s old, at most %u s will do: it measures again before timed play",
                 (long long)(bench->age_ms / 1000), policy->age_s);
    else if ((uint64_t)bench->speed * 100 < (uint64_t)policy->reference * policy->slow)
        snprintf(text, FITNESS_TEXT, "it is too slow: %u nodes a second, less than %u %% of the reference %u",
                 bench->speed, policy->slow, policy->reference);
    else if (bench->spread_ppm / PERCENT > policy->spread)
        snprintf(text, FITNESS_TEXT,
                 "it is too noisy: its bench varied by %u %%, at most %u %% will do (it measures again while "
                 "it is idle)",
                 bench->spread_ppm / PERCENT, policy->spread);
    else if (bench->load_ppm / PERCENT > policy->load)
        snprintf(
            text, FITNESS_TEXT,
            "its machine is busy: others made a load of %u %% a core, at most %u %% will do (it measures "
            "again while it is idle)",
            bench->load_ppm / PERCENT, policy->load);
    else
        return NULL;
    return text;
}
