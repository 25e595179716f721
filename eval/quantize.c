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

static bool round_features(const double *weights, double unit, uint8_t shift, int16_t out[TRAITS])
{
    double half = shift > 0 ? ldexp(1.0, shift - 1) : 0.0;
    bool fits = true;
    for (int i = 0; i < TRAITS && fits; i++)
        fits = round_weight(weights[i] * unit + (i == TRAIT_BIAS ? half : 0.0), &out[i]);
    return fits;
}

enum weights_error quantize_weights(const struct quantized *quantized, const char *rules,
                                    const char *provenance, struct weights **out)
{
    switch (quantized->kind) {
    case WEIGHTS_NET:
        return weights_create_net(rules, quantized->shift, quantized->per_logit, &quantized->net, provenance,
                                  out);
    case WEIGHTS_FEATURES:
        return weights_create_features(rules, quantized->shift, quantized->per_logit, &quantized->features,
                                       provenance, out);
    case WEIGHTS_TABLE:
        break;
    }
    return weights_create_table(rules, quantized->shift, quantized->per_logit, quantized->phases, provenance,
                                out);
}

/* Whether the engine would take these: its own range check, on throwaway weights. */
static bool engine_takes(const struct quantized *quantized)
{
    struct weights *weights = NULL;
    if (quantize_weights(quantized, "site", "{}", &weights) != WEIGHTS_OK)
        return false;
    weights_destroy(weights);
    return true;
}

/* From the log odds of a seed in the store. */
static enum quantize_error choose_unit(double seed, int32_t *per_logit)
{
    if (!isfinite(seed) ||
        !(100.0 / seed >= QUANTIZE_PER_LOGIT_MIN && 100.0 / seed <= QUANTIZE_PER_LOGIT_MAX))
        return QUANTIZE_ERROR_STORE;
    *per_logit = (int32_t)nearbyint(100.0 / seed);
    return QUANTIZE_OK;
}

static bool round_fit(const struct fit *fit, struct quantized *made)
{
    double unit = ldexp(made->per_logit, made->shift);
    bool fits = true;
    for (int number = 0; number < WEIGHTS_PHASES && fits; number++) {
        const double *weights = fit->phases[number].weights;
        fits = made->kind == WEIGHTS_FEATURES
                   ? round_features(weights, unit, made->shift, made->features.phases[number])
                   : round_phase(weights, unit, made->shift, &made->phases[number]);
    }
    return fits && engine_takes(made);
}

enum quantize_error quantize_fit(const struct fit *fit, enum weights_kind kind, struct quantized *out)
{
    double sum = 0.0, weight = 0.0;
    int store = kind == WEIGHTS_FEATURES ? (int)TRAIT_STORE_DIFFERENCE : (int)FEATURES_STORE;
    for (int number = 0; number < WEIGHTS_PHASES; number++) {
        const struct fit_phase *phase = &fit->phases[number];
        for (int i = 0; i < fit_columns(kind); i++)
            if (!isfinite(phase->weights[i]))
                return QUANTIZE_ERROR_NUMBER;
        sum += phase->weight * phase->weights[store];
        weight += phase->weight;
    }
    struct quantized made = {.kind = kind};
    enum quantize_error error = choose_unit(sum / weight, &made.per_logit);
    if (error != QUANTIZE_OK)
        return error;
    for (int shift = QUANTIZE_SHIFT_MAX; shift >= 0; shift--) {
        made.shift = (uint8_t)shift;
        if (round_fit(fit, &made)) {
            *out = made;
            return QUANTIZE_OK;
        }
    }
    return QUANTIZE_ERROR_RANGE;
}

/* --- nets --- */

/* A hidden unit of 1 becomes WEIGHTS_NET_ACTIVE; half a unit in its bias makes the shift round to nearest. */
static bool round_hidden(const struct net *net, uint8_t shift, struct weights_net *out)
{
    double unit = ldexp(WEIGHTS_NET_ACTIVE, shift), half = shift > 0 ? ldexp(1.0, shift - 1) : 0.0;
    bool fits = true;
    out->hidden_shift = shift;
    for (int j = 0; j < NET_HIDDEN && fits; j++) {
        fits = round_weight((double)net->bias[j] * unit + half, &out->bias[j]);
        for (int i = 0; i < NET_INPUTS && fits; i++)
            fits = round_weight((double)net->input[i][j] * unit, &out->input[i][j]);
    }
    return fits;
}

static bool round_output(const struct net *net, int32_t per_logit, uint8_t shift, struct weights_net *out)
{
    double unit = ldexp(per_logit, shift), half = shift > 0 ? ldexp(1.0, shift - 1) : 0.0;
    double bias = nearbyint((double)net->output_bias * unit + half);
    bool fits = fabs(bias) <= INT16_MAX * 1024.0;
    out->output_bias = fits ? (int32_t)bias : 0;
    for (int j = 0; j < NET_HIDDEN && fits; j++)
        fits = round_weight((double)net->output[j] * unit / WEIGHTS_NET_ACTIVE, &out->output[j]);
    return fits;
}

static bool net_finite(const struct net *net)
{
    bool finite = isfinite(net->output_bias);
    for (int j = 0; j < NET_HIDDEN; j++) {
        finite = finite && isfinite(net->bias[j]) && isfinite(net->output[j]);
        for (int i = 0; i < NET_INPUTS; i++)
            finite = finite && isfinite(net->input[i][j]);
    }
    return finite;
}

enum quantize_error quantize_net(const struct net *net, double seed, struct quantized *out)
{
    struct quantized made = {.kind = WEIGHTS_NET};
    if (!net_finite(net))
        return QUANTIZE_ERROR_NUMBER;
    enum quantize_error error = choose_unit(seed, &made.per_logit);
    if (error != QUANTIZE_OK)
        return error;
    /* Both layers have their own shift, and their ranges do not depend on each other. */
    for (int hidden = QUANTIZE_SHIFT_MAX; hidden >= 0; hidden--)
        for (int shift = QUANTIZE_NET_SHIFT_MAX; shift >= 0; shift--) {
            made.shift = (uint8_t)shift;
            if (!round_hidden(net, (uint8_t)hidden, &made.net))
                break;
            if (round_output(net, made.per_logit, made.shift, &made.net) && engine_takes(&made)) {
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
        double exact = fit_logit(weights->kind, rows[i].key, real) * weights->per_logit;
        largest = fmax(largest, fabs(features_score(rows[i].key, weights) - exact));
    }
    return largest;
}

double quantize_net_largest_error(const struct net *net, const struct weights *weights,
                                  const struct merged *rows, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        double exact = net_logit(net, rows[i].key) * weights->per_logit;
        largest = fmax(largest, fabs(features_score(rows[i].key, weights) - exact));
    }
    return largest;
}
