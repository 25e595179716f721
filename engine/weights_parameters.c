#include "engine/weights_parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOUSE_ROWS = WEIGHTS_HOUSES * WEIGHTS_NET_COUNTS };

_Static_assert(sizeof(struct weights_phase) == WEIGHTS_PHASE_PARAMETERS * sizeof(int16_t),
               "the parameters of a phase lie side by side");

static char house_letter(size_t house)
{
    return (char)(house < 6 ? 'A' + house : 'a' + house - 6);
}

size_t weights_parameter_count(const struct weights *weights)
{
    switch (weights->kind) {
    case WEIGHTS_TABLE:
        return WEIGHTS_TABLE_PARAMETERS;
    case WEIGHTS_NET:
        return WEIGHTS_NET_PARAMETERS;
    case WEIGHTS_FEATURES:
        return (size_t)WEIGHTS_PHASES * TRAITS;
    }
    return 0;
}

/* --- names --- */

static void name_table(size_t number, char *name)
{
    size_t phase = number / WEIGHTS_PHASE_PARAMETERS, at = number % WEIGHTS_PHASE_PARAMETERS;
    if (at < 2)
        snprintf(name, WEIGHTS_PARAMETER_NAME, "%s.%zu", at == 0 ? "bias" : "store", phase);
    else
        snprintf(name, WEIGHTS_PARAMETER_NAME, "house.%c.%zu.%zu", house_letter((at - 2) / WEIGHTS_COUNTS),
                 (at - 2) % WEIGHTS_COUNTS, phase);
}

static void name_net(size_t number, char *name)
{
    size_t row = number / WEIGHTS_NET_HIDDEN, unit = number % WEIGHTS_NET_HIDDEN;
    if (row < HOUSE_ROWS)
        snprintf(name, WEIGHTS_PARAMETER_NAME, "house.%c.%zu.%zu", house_letter(row / WEIGHTS_NET_COUNTS),
                 row % WEIGHTS_NET_COUNTS, unit);
    else if (row < WEIGHTS_NET_INPUTS)
        snprintf(name, WEIGHTS_PARAMETER_NAME, "store.%d.%zu", (int)row - HOUSE_ROWS - WEIGHTS_NET_DIFFERENCE,
                 unit);
    else if (row < WEIGHTS_NET_INPUTS + 2)
        snprintf(name, WEIGHTS_PARAMETER_NAME, "%s.%zu", row == WEIGHTS_NET_INPUTS ? "bias" : "output", unit);
    else
        snprintf(name, WEIGHTS_PARAMETER_NAME, "output_bias");
}

void weights_parameter_name(const struct weights *weights, size_t number, char name[WEIGHTS_PARAMETER_NAME])
{
    if (weights->kind == WEIGHTS_TABLE)
        name_table(number, name);
    else if (weights->kind == WEIGHTS_NET)
        name_net(number, name);
    else
        snprintf(name, WEIGHTS_PARAMETER_NAME, "%s.%zu", traits_name((enum trait)(number % TRAITS)),
                 number / TRAITS);
}

bool weights_parameter_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* --- values --- */

/* NULL for the one parameter that is no int16. */
static const int16_t *place(const struct weights *weights, size_t number)
{
    const struct weights_net *net = &weights->net;
    if (weights->kind == WEIGHTS_TABLE)
        return (const int16_t *)(const void *)weights->phases + number;
    if (weights->kind == WEIGHTS_FEATURES)
        return &weights->features.phases[number / TRAITS][number % TRAITS];
    size_t row = number / WEIGHTS_NET_HIDDEN, unit = number % WEIGHTS_NET_HIDDEN;
    if (row < WEIGHTS_NET_INPUTS)
        return &net->input[row][unit];
    if (row < WEIGHTS_NET_INPUTS + 2)
        return row == WEIGHTS_NET_INPUTS ? &net->bias[unit] : &net->output[unit];
    return NULL;
}

int32_t weights_parameter_get(const struct weights *weights, size_t number)
{
    const int16_t *value = place(weights, number);
    return value != NULL ? *value : weights->net.output_bias;
}

static bool change(struct weights *weights, const int32_t *values)
{
    size_t count = weights_parameter_count(weights);
    for (size_t i = 0; i < count; i++) {
        int16_t *value = (int16_t *)(uintptr_t)place(weights, i);
        if (value != NULL && (values[i] < -INT16_MAX || values[i] > INT16_MAX))
            return false;
        if (value != NULL)
            *value = (int16_t)values[i];
        else
            weights->net.output_bias = values[i];
    }
    return true;
}

enum weights_error weights_create_changed(const struct weights *weights, const int32_t *values,
                                          const char *provenance, struct weights **out)
{
    struct weights *copy = aligned_alloc(_Alignof(struct weights), sizeof *copy);
    if (copy == NULL)
        return WEIGHTS_ERROR_MEMORY;
    memcpy(copy, weights, sizeof *copy);
    enum weights_error error = WEIGHTS_ERROR_RANGE;
    if (change(copy, values)) {
        if (copy->kind == WEIGHTS_TABLE)
            error = weights_create_table(copy->rules, copy->shift, copy->per_logit, copy->phases, provenance,
                                         out);
        else if (copy->kind == WEIGHTS_NET)
            error =
                weights_create_net(copy->rules, copy->shift, copy->per_logit, &copy->net, provenance, out);
        else
            error = weights_create_features(copy->rules, copy->shift, copy->per_logit, &copy->features,
                                            provenance, out);
    }
    free(copy);
    return error;
}
