/* Strengths for people: fixed recipes of a node limit and a share of moves played at random. engine/README.md
 * says how far neighbours are apart. Pure; any thread. */
#ifndef KROO_ENGINE_LEVEL_H
#define KROO_ENGINE_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/game.h"

struct level {
    int number;       /* from 1, stronger upwards */
    const char *name; /* NULL for the levels between the named ones */
    uint64_t nodes;   /* a move */
    uint32_t noise_ppm;
};

/* NULL beyond the last; index 0 is level 1. */
const struct level *level_at(size_t index);
int level_count(void);
/* By number or name, in any case; NULL when there is none. */
const struct level *level_find(const char *text);

/* The random move this level plays here, house 0..11 absolute, or -1 when it thinks. The same game and seed
 * give the same answer. */
int level_noise(const struct level *level, const struct game *game, uint64_t seed);

#endif
