/* How long to wait before trying again: exponential, jittered, one per process (DESIGN section 6), so that a
 * thousand workers that lost the same coordinator do not come back in step. The jitter is drawn by mix.h from
 * a seed, so tests see the same waits. Plain data; one thread. */
#ifndef KROO_WORKER_BACKOFF_H
#define KROO_WORKER_BACKOFF_H

#include <stdint.h>

enum { BACKOFF_LOW_MS = 200, BACKOFF_HIGH_MS = 10000 };

struct backoff {
    uint64_t seed;
    uint64_t draws;
    uint32_t low_ms, high_ms;
    unsigned failures; /* in a row, since the last success */
};

void backoff_init(struct backoff *backoff, uint64_t seed, uint32_t low_ms, uint32_t high_ms);
/* The next wait after a failure: uniform in the upper half of [0, min(high, low * 2^failures)]. */
uint32_t backoff_next(struct backoff *backoff);
void backoff_reset(struct backoff *backoff);
/* `wait_ms` as told by the peer, and up to a quarter more; never less. */
/* A wait of 0 to `width_ms`, any of them as likely: so that many do not do the same at once. */
uint32_t backoff_spread(struct backoff *backoff, uint32_t width_ms);
uint32_t backoff_jitter(struct backoff *backoff, uint32_t wait_ms);

#endif
