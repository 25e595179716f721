#include "worker/measure.h"

#include <math.h>

enum { LOAD_MEMORY_MS = 60000, PPM = 1000000, PPM_MOST = 4000 };

bool measure_is_due(const struct measure *measure, bool playing, int64_t now_ms)
{
    if (!measure->enabled || playing)
        return false;
    return measure->asked || now_ms - measure->measured_ms >= (int64_t)measure->every_ms;
}

bool measure_holds_work(const struct measure *measure)
{
    return measure->enabled && measure->asked;
}

void measure_done(struct measure *measure, int64_t now_ms)
{
    measure->asked = false;
    measure->measured_ms = now_ms;
}

void measure_own_note(struct measure_own *own, int64_t now_ms, int64_t cpu_us)
{
    int64_t passed_ms = now_ms - own->at_ms, used_us = cpu_us - own->cpu_us;
    if (own->known && passed_ms <= 0)
        return;
    if (own->known) {
        double latest = (double)(used_us > 0 ? used_us : 0) / (1000.0 * (double)passed_ms);
        own->cores += (1 - exp(-(double)passed_ms / LOAD_MEMORY_MS)) * (latest - own->cores);
    }
    own->known = true;
    own->at_ms = now_ms;
    own->cpu_us = cpu_us;
}

uint32_t measure_others_ppm(double load_average, double own_cores, int cores)
{
    double share = (load_average - own_cores) / (cores > 0 ? cores : 1);
    return share > 0 ? (uint32_t)(share < PPM_MOST ? share * PPM : (double)PPM_MOST * PPM) : 0;
}
