/* `bench --positions FILE`: how soon the player finds best moves that are known. One thread. */
#ifndef KROO_ENGINE_CLI_BENCH_POSITIONS_H
#define KROO_ENGINE_CLI_BENCH_POSITIONS_H

#include <stdbool.h>

#include "engine/weights.h"

struct bench_positions {
    const char *path;   /* JSON lines with "position" and "best", as `tables positions` prints them */
    const char *tables; /* the player's; NULL for none */
    const struct rules *rules;
    const struct weights *weights;
    int nodes; /* the largest limit; the others are powers of ten from 1,000 on below it */
    bool json;
};

/* The tool's exit status; what is wrong is said on standard error. */
int bench_positions_run(const struct bench_positions *request, const char *tool);

#endif
