/* How much a worker delivers: games and nodes by the time in which they came, older ones counting less (by e
 * in METER_MS). Pure; time comes in as now_ms. */
#ifndef KROO_COORDINATOR_METER_H
#define KROO_COORDINATOR_METER_H

#include <stdbool.h>
#include <stdint.h>

enum { METER_MS = 60000 };

struct meter {
    double games, nodes, ms;
    int64_t at_ms;
    bool runs; /* from the first games on: nobody knows in what time those came, so they do not count */
};

void meter_add(struct meter *meter, uint64_t games, uint64_t nodes, int64_t now_ms);
/* 0 when nothing is known. */
double meter_games_per_minute(const struct meter *meter, int64_t now_ms);
double meter_nodes_per_second(const struct meter *meter, int64_t now_ms);

#endif
