#include "worker/backoff.h"

#include "engine/mix.h"

void backoff_init(struct backoff *backoff, uint64_t seed, uint32_t low_ms, uint32_t high_ms)
{
    *backoff = (struct backoff){.seed = seed, .low_ms = low_ms, .high_ms = high_ms};
}

static uint32_t draw(struct backoff *backoff, uint32_t bound)
{
    return mix_below(mix(backoff->seed, backoff->draws++), bound + 1);
}

uint32_t backoff_next(struct backoff *backoff)
{
    uint64_t bound = backoff->low_ms;
    for (unsigned failure = 0; failure < backoff->failures && bound < backoff->high_ms; failure++)
        bound *= 2;
    if (bound > backoff->high_ms)
        bound = backoff->high_ms;
    backoff->failures++;
    uint32_t half = (uint32_t)(bound / 2);
    return (uint32_t)bound - half + draw(backoff, half);
}

void backoff_reset(struct backoff *backoff)
{
    backoff->failures = 0;
}

uint32_t backoff_jitter(struct backoff *backoff, uint32_t wait_ms)
{
    return wait_ms + draw(backoff, wait_ms / 4);
}

uint32_t backoff_spread(struct backoff *backoff, uint32_t width_ms)
{
    return draw(backoff, width_ms);
}
