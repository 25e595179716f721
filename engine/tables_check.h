/* What endgame tables say, counted, and whether every entry agrees with those its moves lead to. */
#ifndef KROO_ENGINE_TABLES_CHECK_H
#define KROO_ENGINE_TABLES_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/tables.h"

enum { TABLES_VALUES = 2 * TABLES_BIAS };

/* One layer. Histograms are indexed by value + TABLES_BIAS. */
struct tables_counts {
    uint64_t win, draw, loss; /* LO > 0; LO = UP = 0; UP < 0 */
    uint64_t exact;           /* LO = UP */
    uint64_t lo[TABLES_VALUES], up[TABLES_VALUES];
    uint64_t values[TABLES_VALUES];     /* of exact boards */
    uint64_t widths[2 * TABLES_VALUES]; /* UP - LO, 0 to 127 */
    double lo_sum, up_sum;
};

void tables_count(const struct tables *tables, int seeds, struct tables_counts *out);

struct tables_fault {
    int seeds;
    uint64_t number; /* in its layer */
    const char *what;
};

/* Compares every entry with its successors: LO and UP are the best that the moves offer, the move is legal
 * and keeps LO, a board without moves is settled as the rules say. True when all agree; otherwise the fault
 * of the lowest seeds and number. Every solution of these equations passes, wrong ones included: that the
 * builder chose the right one is shown by its tests. `threads` from 1; false with `what` NULL when memory is
 * short. */
bool tables_check(const struct tables *tables, int threads, struct tables_fault *fault);

#endif
