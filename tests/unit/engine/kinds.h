/* Weights of each kind with every parameter in use, for the tests: functions of a seed alone. */
#ifndef KROO_TESTS_UNIT_ENGINE_KINDS_H
#define KROO_TESTS_UNIT_ENGINE_KINDS_H

#include "engine/mix.h"
#include "engine/weights.h"
#include "tests/unit/check.h"

#define KINDS_PROVENANCE "{\"parents\":[],\"note\":\"\xc3\xa9\"}"

static inline int16_t kinds_random(uint64_t seed, int bound)
{
    return (int16_t)((int)mix_below(seed, (uint32_t)(2 * bound + 1)) - bound);
}

/* At the edge of the range when `bound` is 2340: 14 * 2340 < 32767. */
static inline void kinds_fill_net(struct weights_net *net, uint64_t seed, int bound, uint8_t hidden_shift)
{
    uint64_t at = 0;
    for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++) {
        net->bias[unit] = kinds_random(mix(seed, at++), bound);
        net->output[unit] = kinds_random(mix(seed, at++), INT16_MAX);
        for (int input = 0; input < WEIGHTS_NET_INPUTS; input++)
            net->input[input][unit] = kinds_random(mix(seed, at++), bound);
    }
    net->output_bias = kinds_random(mix(seed, at), INT16_MAX) * 1000;
    net->hidden_shift = hidden_shift;
}

static inline struct weights *kinds_net(const char *rules, uint64_t seed, int bound, uint8_t hidden_shift)
{
    static struct weights_net net;
    struct weights *weights = NULL;
    kinds_fill_net(&net, seed, bound, hidden_shift);
    assert_int_equal(weights_create_net(rules, 13, 150, &net, KINDS_PROVENANCE, &weights), WEIGHTS_OK);
    return weights;
}

static inline struct weights *kinds_table(const char *rules, uint64_t seed, uint8_t shift)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    uint64_t at = 0;
    for (int p = 0; p < WEIGHTS_PHASES; p++) {
        phases[p].bias = kinds_random(mix(seed, at++), 900);
        phases[p].store = kinds_random(mix(seed, at++), 400);
        for (int h = 0; h < WEIGHTS_HOUSES; h++)
            for (int c = 0; c < WEIGHTS_COUNTS; c++)
                phases[p].house[h][c] = kinds_random(mix(seed, at++), 900);
    }
    struct weights *weights = NULL;
    assert_int_equal(weights_create_table(rules, shift, 150, phases, KINDS_PROVENANCE, &weights), WEIGHTS_OK);
    return weights;
}

static inline struct weights *kinds_features(const char *rules, uint64_t seed, int bound, uint8_t shift)
{
    struct weights_features features;
    uint64_t at = 0;
    for (int p = 0; p < WEIGHTS_PHASES; p++)
        for (int t = 0; t < TRAITS; t++)
            features.phases[p][t] = kinds_random(mix(seed, at++), bound);
    struct weights *weights = NULL;
    assert_int_equal(weights_create_features(rules, shift, 150, &features, KINDS_PROVENANCE, &weights),
                     WEIGHTS_OK);
    return weights;
}

/* A board of 48 seeds: full houses and large store differences among them. */
static inline struct position kinds_position(uint64_t seed)
{
    struct position position = {.side = (uint8_t)(mix(seed, 1) & 1)};
    uint32_t places = 1 + mix_below(mix(seed, 2), 14);
    for (uint64_t i = 0; i < POSITION_SEEDS; i++) {
        uint32_t place = mix_below(mix(seed, 100 + mix_below(mix(seed, 3 + i), places)), 14);
        if (place < 12)
            position.houses[place]++;
        else
            position.stores[place - 12]++;
    }
    return position;
}

#endif
