#include "engine/level.h"

#include <stdlib.h>
#include <strings.h>

#include "engine/mix.h"

static const struct level levels[] = {
    {1, NULL, 8, 500000},   {2, "Apprentice", 16, 300000}, {3, NULL, 40, 180000},
    {4, NULL, 120, 100000}, {5, "Journeyman", 400, 50000}, {6, NULL, 1500, 20000},
    {7, NULL, 6000, 0},     {8, "Master", 30000, 0},       {9, NULL, 150000, 0},
};
enum { LEVELS = sizeof levels / sizeof levels[0], UNIT = 1000000 };

const struct level *level_at(size_t index)
{
    return index < LEVELS ? &levels[index] : NULL;
}

int level_count(void)
{
    return LEVELS;
}

const struct level *level_find(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    for (size_t i = 0; i < LEVELS; i++) {
        bool numbered = end != text && *end == '\0' && number == levels[i].number;
        if (numbered || (levels[i].name && strcasecmp(levels[i].name, text) == 0))
            return &levels[i];
    }
    return NULL;
}

int level_noise(const struct level *level, const struct game *game, uint64_t seed)
{
    unsigned legal = game_legal(game), side = game_position(game).side;
    uint64_t bits = mix(mix(seed, MIX_STREAM_NOISE), game_plies(game));
    if (legal == 0 || mix_below(bits, UNIT) >= level->noise_ppm)
        return -1;
    uint32_t skip = mix_below(mix_finish(bits), (uint32_t)__builtin_popcount(legal));
    for (; skip > 0; skip--)
        legal &= legal - 1;
    return __builtin_ctz(legal) + 6 * (int)side;
}
