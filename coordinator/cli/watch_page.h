/* What `kroo watch` shows: the whole page, or a line of it. One thread. */
#ifndef KROO_COORDINATOR_CLI_WATCH_PAGE_H
#define KROO_COORDINATOR_CLI_WATCH_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "coordinator/cli/glance.h"

enum { WATCH_PACES = 60 };

/* Games a second over the last minutes, out of how the number of stored games grew. */
struct watch_pace {
    double games[WATCH_PACES], games_before;
    size_t count;
    int64_t since_ms; /* 0: nothing was seen yet */
};

void watch_pace_add(struct watch_pace *pace, const struct glance *glance);
/* `experiment` 0: the cluster. */
void watch_page_print(FILE *out, const struct glance *glance, const struct watch_pace *pace,
                      uint64_t experiment);
void watch_page_line(FILE *out, const struct glance *glance);

#endif
