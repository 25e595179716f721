/* The one documented mixing function behind every opening, seed and noise decision (DESIGN section 5):
 * SplitMix64's finalizer over a chain of words,
 *     mix(a, b) = f(f(a) + 0x9e3779b97f4a7c15 * (b + 1)),
 *     f(x): x ^= x >> 30; x *= 0xbf58476d1ce4e5b9; x ^= x >> 27; x *= 0x94d049bb133111eb; x ^= x >> 31.
 * Vigna, http://prng.di.unimi.it/splitmix64.c, describes f. Pure; any thread. */
#ifndef KROO_ENGINE_MIX_H
#define KROO_ENGINE_MIX_H

#include <stdint.h>

static inline uint64_t mix_finish(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    return mix_finish(mix_finish(a) + UINT64_C(0x9e3779b97f4a7c15) * (b + 1));
}

/* A number in [0, bound), bound > 0, from 64 mixed bits (high multiply; bias below 2^-32 for bound < 2^32).
 */
static inline uint32_t mix_below(uint64_t bits, uint32_t bound)
{
    return (uint32_t)(((bits >> 32) * bound) >> 32);
}

/* What a derived seed is for: the second word of the chain experiment seed -> stream -> pair -> leg. */
enum mix_stream {
    MIX_STREAM_OPENING = 1,
    MIX_STREAM_GAME = 2,
    MIX_STREAM_NOISE = 3,
    MIX_STREAM_SPLIT = 4,
    MIX_STREAM_BOOK = 5,    /* which opening of a book a pair takes */
    MIX_STREAM_PLAYOUT = 6, /* which games are played on past a resignation */
};

/* Seed of game `leg` (0, 1) of pair `pair`; both legs share the opening. */
static inline uint64_t mix_game_seed(uint64_t experiment_seed, uint64_t pair, unsigned leg)
{
    return mix(mix(mix(experiment_seed, MIX_STREAM_GAME), pair), leg);
}

static inline uint64_t mix_opening_seed(uint64_t experiment_seed, uint64_t pair)
{
    return mix(mix(experiment_seed, MIX_STREAM_OPENING), pair);
}

#endif
