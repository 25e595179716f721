/* How fast and how steady this machine is for timed play: a fixed bench, and cores of one's own for the play
 * threads. Main thread, while no play thread plays. */
#ifndef KROO_WORKER_YARDSTICK_H
#define KROO_WORKER_YARDSTICK_H

#include <stdint.h>

enum { YARDSTICK_RUNS = 7, YARDSTICK_NODES = 40000, YARDSTICK_CORES_MAX = 1024 };

struct yardstick {
    uint32_t speed;      /* nodes a second: the median of the runs; 0 = not measured */
    uint32_t spread_ppm; /* the fourth fifth of the runs' times less the second, by the median */
    uint32_t load_ppm;   /* load average of the last minute without our own, a core this process may use */
};

/* Takes about a tenth of a second. `own_cores`: how many of them this process kept busy lately. */
struct yardstick yardstick_measure(double own_cores);
/* Processor time of this process and of its programs that have ended, in microseconds. */
int64_t yardstick_cpu_us(void);

/* Claims a core for each of `slots` threads, of those that this process may use and no other worker of this
 * host has claimed, for the life of the process. `cores` gets their numbers; 0 when there are not enough
 * (then none is claimed), else `slots`. */
unsigned yardstick_claim_cores(unsigned slots, int cores[YARDSTICK_CORES_MAX]);

#endif
