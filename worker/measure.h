/* When a worker measures its machine again (yardstick.h), so that timed play rests on what is true now: once
 * a minute while it is idle, and when the coordinator says that timed play waits for it; never while its
 * games, or the builds and tests of their engines, run on the same cores. And what of the machine's load is
 * its own. Pure. */
#ifndef KROO_WORKER_MEASURE_H
#define KROO_WORKER_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

enum { MEASURE_EVERY_MS = 60000 };

struct measure {
    bool enabled;
    uint32_t every_ms;   /* while idle */
    int64_t measured_ms; /* when it was done last */
    bool asked;          /* timed play waits for it */
};

/* Whether to measure now. `playing`: something of this worker runs on its cores. */
bool measure_is_due(const struct measure *measure, bool playing, int64_t now_ms);
/* Whether no more work is to be asked for, so that it can be done soon. */
bool measure_holds_work(const struct measure *measure);
void measure_done(struct measure *measure, int64_t now_ms);

/* How many cores this process and its programs kept busy lately: forgets as the machine's load average of a
 * minute does, so that the one can be taken off the other. */
struct measure_own {
    bool known;
    int64_t at_ms, cpu_us; /* of the last look */
    double cores;
};
/* `cpu_us`: processor time used so far. */
void measure_own_note(struct measure_own *own, int64_t now_ms, int64_t cpu_us);
/* What else ran: millionths of a load of one, a core. */
uint32_t measure_others_ppm(double load_average, double own_cores, int cores);

#endif
