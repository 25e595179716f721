/* Whether a worker is fit for timed play, and by how much its limits of time are stretched or cut, from the
 * bench that it tells of (HELLO, LEASE_REQUEST). Pure. */
#ifndef KROO_COORDINATOR_FITNESS_H
#define KROO_COORDINATOR_FITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FITNESS_TEXT = 200,
    FITNESS_REFERENCE = 3000000, /* nodes a second: a core of a server of 2023 */
    FITNESS_SLOW = 25,           /* percent */
    FITNESS_SPREAD = 40,
    FITNESS_LOAD = 150,
    FITNESS_AGE_S = 600,
    FITNESS_SCALE_MIN = 100000,   /* limits are cut to a tenth at most, */
    FITNESS_SCALE_MAX = 10000000, /* and stretched to ten times */
};

/* Percent, where nothing else is said. */
struct fitness_policy {
    uint32_t
        reference; /* nodes a second of the machine that limits of time are meant for; 0: nothing is scaled */
    uint32_t slow; /* below so much of the reference no timed play */
    uint32_t spread; /* nor with runs further apart than this */
    uint32_t load;   /* nor with more load a core */
    uint32_t age_s;  /* a bench older than this says nothing of now; 0: it does */
};

/* Millionths: reference by speed, within the two bounds; one where either is not known. */
uint32_t fitness_scale(const struct fitness_policy *policy, uint32_t speed);
/* A worker's machine, as it was measured. */
struct fitness_bench {
    uint32_t speed, spread_ppm, load_ppm;
    int64_t age_ms;
};
bool fitness_is_old(const struct fitness_policy *policy, const struct fitness_bench *bench);
/* NULL when it is fit, else `text`, a sentence that says why not. */
const char *fitness_unfit(const struct fitness_policy *policy, const struct fitness_bench *bench,
                          char text[FITNESS_TEXT]);

#endif
