#include "coordinator/meter.h"

#include <math.h>

static double kept(const struct meter *meter, int64_t now_ms)
{
    int64_t passed = now_ms > meter->at_ms ? now_ms - meter->at_ms : 0;
    return exp(-(double)passed / METER_MS);
}

void meter_add(struct meter *meter, uint64_t games, uint64_t nodes, int64_t now_ms)
{
    if (!meter->runs) {
        *meter = (struct meter){.at_ms = now_ms, .runs = games > 0};
        return;
    }
    double keep = kept(meter, now_ms);
    meter->games = meter->games * keep + (double)games;
    meter->nodes = meter->nodes * keep + (double)nodes;
    meter->ms = meter->ms * keep + METER_MS * (1 - keep);
    meter->at_ms = now_ms;
}

/* A figure by the time behind it, both as they are now. */
static double per_ms(const struct meter *meter, double figure, int64_t now_ms)
{
    double keep = kept(meter, now_ms), ms = meter->ms * keep + METER_MS * (1 - keep);
    return meter->runs && ms >= 1 ? figure * keep / ms : 0;
}

double meter_games_per_minute(const struct meter *meter, int64_t now_ms)
{
    return 60000 * per_ms(meter, meter->games, now_ms);
}

double meter_nodes_per_second(const struct meter *meter, int64_t now_ms)
{
    return 1000 * per_ms(meter, meter->nodes, now_ms);
}
