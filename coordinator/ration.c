#include "coordinator/ration.h"

#include <stdlib.h>

#include "engine/mix.h"

enum { BURST_S = 2, REFUSED_S = 1 };

struct ration_table *ration_create(uint32_t rate)
{
    struct ration_table *table = calloc(1, sizeof *table);
    if (table)
        table->rate = rate;
    return table;
}

void ration_destroy(struct ration_table *table)
{
    free(table);
}

uint64_t ration_peer(const uint8_t *id, size_t size)
{
    uint64_t hash = size + 1;
    for (size_t i = 0; i < size; i++)
        hash = mix_finish(hash ^ id[i]);
    return hash ? hash : 1;
}

/* What its bucket holds now. */
static double left_now(const struct ration_table *table, const struct ration *place, uint64_t peer,
                       int64_t now_ms)
{
    double most = (double)BURST_S * table->rate;
    if (place->peer != peer)
        return most;
    double left = place->left + (double)(now_ms - place->at_ms) * table->rate / 1000.0;
    return left < most ? left : most;
}

bool ration_is_spent(const struct ration_table *table, uint64_t peer, int64_t now_ms)
{
    const struct ration *place = &table->places[peer % RATION_PLACES];
    return table->rate > 0 && left_now(table, place, peer, now_ms) < 1 - (double)REFUSED_S * table->rate;
}

enum ration_verdict ration_take(struct ration_table *table, uint64_t peer, int64_t now_ms, uint32_t *retry_ms)
{
    struct ration *place = &table->places[peer % RATION_PLACES];
    *retry_ms = 0;
    if (table->rate == 0)
        return RATION_SERVE;
    double left = left_now(table, place, peer, now_ms);
    if (left < 1 - (double)REFUSED_S * table->rate)
        return RATION_DROP;
    *place = (struct ration){.peer = peer, .at_ms = now_ms, .left = left - 1};
    if (left >= 1)
        return RATION_SERVE;
    *retry_ms = 1 + (uint32_t)((2 - left) * 1000.0 / table->rate);
    return RATION_REFUSE;
}

bool allowance_take(struct allowance *allowance, unsigned burst, unsigned a_minute, int64_t now_ms)
{
    double spent = allowance->spent - (double)(now_ms - allowance->at_ms) * a_minute / 60000.0;
    spent = spent > 0 ? spent : 0;
    bool taken = spent + 1 <= burst;
    *allowance = (struct allowance){.spent = taken ? spent + 1 : spent, .at_ms = now_ms};
    return taken;
}
