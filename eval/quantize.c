#include "eval/quantize.h"

#include <math.h>
#include <stdbool.h>

/* Rounds to nearest; false when it does not fit. */
static bool round_weight(double value, int16_t *out)
{
    double rounded = nearbyint(value);
    if (!(fabs(rounded) <= INT16_MAX))
        return false;
    *out = (int16_t)rounded;
    return true;
}

static bool round_phase(const double *weights, double unit, uint8_t shift, struct weights_phase *phase)
{
    /* Half a unit in the bias makes the arithmetic shift, which rounds down, round to nearest. */
    double half = shift > 0 ? ldexp(1.0, shift - 1) : 0.0;
    bool fits = round_weight(weights[FEATURES_BIAS] * unit + half, &phase->bias) &&
                round_weight(weights[FEATURES_STORE] * unit, &phase->store);
    for (int house = 0; house < WEIGHTS_HOUSES && fits; house++)
        for (int count = 0; count < WEIGHTS_COUNTS && fits; count++)
            fits = round_weight(weights[FEATURES_HOUSE + house * WEIGHTS_COUNTS + count] * unit,
                                &phase->house[house][count]);
    return fits;
}

/* Whether the engine would take these: its own range check, on throwaway weights. */
static bool engine_takes(const struct quantized *quantized)
{
    struct weights *weights = NULL;
    if (weights_create_table("site", quantized->shift, quantized->per_logit, quantized->phases, "{}",
                             &weights) != WEIGHTS_OK)
        return false;
    weights_destroy(weights);
    return true;
}

enum quantize_error quantize_fit(const struct fit *fit, struct quantized *out)
{
    double sum = 0.0, weight = 0.0;
    for (int number = 0; number < WEIGHTS_PHASES; number++) {
        const struct fit_phase *phase = &fit->phases[number];
        for (int i = 0; i < FEATURES_COLUMNS; i++)
            if (!isfinite(phase->weights[i]))
                return QUANTIZE_ERROR_NUMBER;
        sum += phase->weight * phase->weights[FEATURES_STORE];
        weight += phase->weight;
    }
    double seed = sum / weight; /* log odds of a seed in the store */
    if (!isfinite(seed) ||
        !(100.0 / seed >= QUANTIZE_PER_LOGIT_MIN && 100.0 / seed <= QUANTIZE_PER_LOGIT_MAX))
        return QUANTIZE_ERROR_STORE;
    struct quantized made = {.per_logit = (int32_t)nearbyint(100.0 / seed)};
    for (int shift = QUANTIZE_SHIFT_MAX; shift >= 0; shift--) {
        bool fits = true;
        made.shift = (uint8_t)shift;
        for (int number = 0; number < WEIGHTS_PHASES && fits; number++)
            fits = round_phase(fit->phases[number].weights, ldexp(made.per_logit, shift), made.shift,
                               &made.phases[number]);
        if (fits && engine_takes(&made)) {
            *out = made;
            return QUANTIZE_OK;
        }
    }
    return QUANTIZE_ERROR_RANGE;
}

const char *quantize_error_text(enum quantize_error error)
{
    switch (error) {
    case QUANTIZE_OK:
        return "no error";
    case QUANTIZE_ERROR_NUMBER:
        return "a fitted weight is NaN or infinite; nothing was kept";
    case QUANTIZE_ERROR_RANGE:
        return "the fitted weights are too large for 16 bits; give a larger --ridge or more games";
    case QUANTIZE_ERROR_STORE:
        return "the fit values a seed in the store at nothing, or at far too much, so its scores would mean "
               "nothing; "
               "train on more games";
    }
    return "unknown error";
}

double quantize_largest_error(const struct fit *fit, const struct weights *weights, const struct merged *rows,
                              size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double *real = fit->phases[features_phase(rows[i].key)].weights;
        double exact = features_logit(rows[i].key, real) * weights->per_logit;
        largest = fmax(largest, fabs(features_score(rows[i].key, weights) - exact));
    }
    return largest;
}
