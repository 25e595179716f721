#include "eval/contrast.h"

#include <math.h>
#include <string.h>

#include "engine/game.h"
#include "engine/mix.h"

enum { GAMES = 200, PLIES = 400 };

static const uint64_t contrast_seed = UINT64_C(0x636f6e7472617374); /* "contrast" in ASCII */

struct sums {
    double a, b, aa, bb, ab;
};

static void add(struct contrast *out, struct sums *sums, const struct weights *a, const struct weights *b,
                const struct position *position)
{
    int number = weights_phase(POSITION_SEEDS - position->stores[0] - position->stores[1]);
    struct contrast_phase *phase = &out->phases[number];
    double x = weights_evaluate(a, position), y = weights_evaluate(b, position);
    double difference = out->log_odds ? fabs(x / a->per_logit - y / b->per_logit) : fabs(x - y);
    phase->positions++;
    phase->mean += difference;
    phase->largest = fmax(phase->largest, difference);
    phase->signs += (x > 0.0) == (y > 0.0) && (x < 0.0) == (y < 0.0);
    sums += number;
    sums->a += x;
    sums->b += y;
    sums->aa += x * x;
    sums->bb += y * y;
    sums->ab += x * y;
}

static void finish(struct contrast_phase *phase, const struct sums *sums)
{
    double n = phase->positions;
    if (phase->positions == 0)
        return;
    double a = n * sums->aa - sums->a * sums->a, b = n * sums->bb - sums->b * sums->b;
    phase->mean /= n;
    phase->signs /= n;
    phase->correlation = a > 0.0 && b > 0.0 ? (n * sums->ab - sums->a * sums->b) / sqrt(a * b) : 1.0;
}

bool contrast_run(const struct weights *a, const struct weights *b, struct contrast *out)
{
    struct rules rules;
    char reason[256];
    struct sums sums[WEIGHTS_PHASES] = {0};
    memset(out, 0, sizeof *out);
    out->log_odds = a->per_logit > 0 && b->per_logit > 0;
    if (rules_parse(a->rules, &rules, reason, sizeof reason) != 0)
        return false;
    struct game *game = game_create(&rules, NULL);
    if (!game)
        return false;
    for (uint64_t number = 0; number < GAMES; number++) {
        game_reset(game, NULL);
        for (uint64_t ply = 0; ply < PLIES && !game_over(game); ply++) {
            struct position position = game_position(game);
            unsigned legal = game_legal(game);
            uint32_t skip =
                mix_below(mix(mix(contrast_seed, number), ply), (uint32_t)__builtin_popcount(legal));
            add(out, sums, a, b, &position);
            for (; skip > 0; skip--)
                legal &= legal - 1;
            game_play(game, __builtin_ctz(legal) + 6 * position.side);
        }
    }
    game_destroy(game);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        finish(&out->phases[phase], &sums[phase]);
    return true;
}
