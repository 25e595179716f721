/* Builds a file of endgame tables: solver.h for the values, tables.h for the file. */
#ifndef KROO_ENGINE_TABLES_BUILD_H
#define KROO_ENGINE_TABLES_BUILD_H

#include <stdint.h>

#include "engine/tables.h"

struct tables_progress {
    int seeds;            /* of the layer being solved */
    double share;         /* of the layer, 0 to 1; 1 once it is written */
    double boards, total; /* boards done so far, the layer's share included, and in all */
};

typedef void tables_progress_told(void *context, const struct tables_progress *progress);

/* Writes tables for boards of up to `seeds` seeds (0 to TABLES_SEEDS_MAX) to `path`, under a temporary name
 * beside it that is synced and renamed, so `path` is whole or untouched. The bytes depend on the family of
 * the rules and on seeds alone. `told` (may be NULL) is called on this thread. With T = C(seeds + 12, 12)
 * boards in all and L = C(seeds + 11, 11) in the largest layer, memory is T + 4 L bytes where a board has one
 * value and 4 T + 16 L for brackets; besides, 8 bytes for each state of the largest class of equal value and
 * rank. */
enum tables_error tables_build(const struct rules *rules, int seeds, int threads, const char *path,
                               tables_progress_told *told, void *context);

#endif
