/* Positions and outcomes of known truth for the trainer's tests: random games, seen by the mover, with
 * results drawn from weights that the test knows. */
#ifndef KROO_TESTS_SYNTHETIC_H
#define KROO_TESTS_SYNTHETIC_H

#include <math.h>
#include <stdlib.h>

#include "engine/game.h"
#include "engine/mix.h"
#include "engine/play.h"
#include "eval/features.h"
#include "eval/rows.h"

struct synthetic {
    double weights[WEIGHTS_PHASES][FEATURES_COLUMNS]; /* log odds */
};

static inline double synthetic_uniform(uint64_t seed)
{
    return (double)(mix_finish(seed) >> 11) * 0x1p-53;
}

/* A seed of difference is worth a quarter of a unit; houses a little, differently by count. */
static inline void synthetic_truth(struct synthetic *truth)
{
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int i = 0; i < FEATURES_COLUMNS; i++)
            truth->weights[phase][i] =
                i == FEATURES_STORE
                    ? 0.25 + 0.05 * phase
                    : 0.6 * (synthetic_uniform(mix(mix(99, (uint64_t)phase), (uint64_t)i)) - 0.5);
}

/* Keys of `count` positions of random games under `site`. */
static inline void synthetic_keys(uint64_t seed, uint64_t *keys, size_t count)
{
    struct rules rules;
    char reason[256];
    rules_parse("site", &rules, reason, sizeof reason);
    struct game *game = game_create(&rules, NULL);
    size_t made = 0;
    for (uint64_t number = 0; made < count; number++) {
        game_reset(game, NULL);
        for (uint64_t ply = 0; ply < 300 && !game_over(game) && made < count; ply++) {
            struct position position = game_position(game);
            keys[made++] = features_key(board_from_position(&position));
            unsigned legal = game_legal(game);
            uint32_t skip = mix_below(mix(mix(seed, number), ply), (uint32_t)__builtin_popcount(legal));
            for (; skip > 0; skip--)
                legal &= legal - 1;
            game_play(game, __builtin_ctz(legal) + 6 * position.side);
        }
    }
    game_destroy(game);
}

/* Rows with results drawn from the truth (no draws, no scores), sorted. */
static inline void synthetic_rows(const struct synthetic *truth, uint64_t seed, size_t count,
                                  struct rows *rows)
{
    uint64_t *keys = malloc(count * sizeof *keys);
    synthetic_keys(seed, keys, count);
    rows_init(rows, count);
    for (size_t i = 0; i < count; i++) {
        double z = features_logit(keys[i], truth->weights[features_phase(keys[i])]);
        bool won = synthetic_uniform(mix(mix(seed, 7), i)) < 1.0 / (1.0 + exp(-z));
        struct row row = {
            .key = keys[i], .game = (uint32_t)(i / 100), .score = PLAY_NO_SCORE, .half_points = won ? 2 : 0};
        rows_add(rows, &row);
    }
    free(keys);
    rows_sort(rows);
}

#endif
