#include "coordinator/calc_spsa.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/spsa.h"

struct asked {
    const json_t *root;
    char *error;
    size_t error_size;
    struct spsa_plan plan;
    struct spsa_parameter *parameters;
    size_t count;
};

__attribute__((format(printf, 2, 3))) static void complain(struct asked *asked, const char *format, ...)
{
    va_list arguments;
    if (asked->error[0])
        return;
    va_start(arguments, format);
    vsnprintf(asked->error, asked->error_size, format, arguments);
    va_end(arguments);
}

static double number(struct asked *asked, const json_t *object, const char *key, const double *fallback)
{
    const json_t *value = json_object_get(object, key);
    if (!value && fallback)
        return *fallback;
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        complain(asked, "\"%s\" must be a finite number", key);
    return json_number_value(value);
}

/* A whole number from `low` on that doubles hold exactly. */
static uint64_t whole(struct asked *asked, const char *key, double low, const double *fallback)
{
    double value = number(asked, asked->root, key, fallback);
    if (value < low || value > 9e15 || value != floor(value)) {
        complain(asked, "\"%s\" must be a whole number from %.0f on", key, low);
        return 0;
    }
    return (uint64_t)value;
}

static void read_plan(struct asked *asked)
{
    asked->plan = spsa_plan_default();
    asked->plan.a_ratio = number(asked, asked->root, "a_ratio", &asked->plan.a_ratio);
    asked->plan.alpha = number(asked, asked->root, "alpha", &asked->plan.alpha);
    asked->plan.gamma = number(asked, asked->root, "gamma", &asked->plan.gamma);
    asked->plan.pairs = whole(asked, "pairs", 1, NULL);
    asked->plan.batch = 1;
}

static void read_parameters(struct asked *asked)
{
    const json_t *array = json_object_get(asked->root, "parameters");
    char reason[SPSA_REASON_MAX];
    size_t which;
    size_t count = json_array_size(array);
    if (!json_is_array(array) || count > SPSA_PARAMETERS_MAX) {
        complain(asked, "\"parameters\" must be a list of at most %d", SPSA_PARAMETERS_MAX);
        return;
    }
    asked->parameters = calloc(count + 1, sizeof *asked->parameters);
    if (!asked->parameters)
        complain(asked, "no memory");
    for (; asked->count < count && !asked->error[0]; asked->count++) {
        const json_t *entry = json_array_get(array, asked->count);
        asked->parameters[asked->count] =
            (struct spsa_parameter){.start = number(asked, entry, "start", NULL),
                                    .min = number(asked, entry, "min", NULL),
                                    .max = number(asked, entry, "max", NULL),
                                    .c_end = number(asked, entry, "c_end", NULL),
                                    .r_end = number(asked, entry, "r_end", NULL)};
    }
    if (!asked->error[0] && !spsa_check(&asked->plan, asked->parameters, asked->count, &which, reason))
        complain(asked, "%s", reason);
}

/* A list of one number for each parameter; NULL when it is absent or wrong. */
static const json_t *list(struct asked *asked, const char *key)
{
    const json_t *array = json_object_get(asked->root, key), *item;
    size_t i;
    if (array && json_array_size(array) != asked->count)
        complain(asked, "\"%s\" must be a list of %zu numbers", key, asked->count);
    json_array_foreach((json_t *)(uintptr_t)array, i, item) if (!json_is_number(item))
        complain(asked, "\"%s\" must be a list of numbers", key);
    return asked->error[0] ? NULL : array;
}

static void append(json_t *answer, const char *key, double value)
{
    json_t *array = json_object_get(answer, key);
    if (!array)
        json_object_set_new(answer, key, array = json_array());
    json_array_append_new(array, json_real(value));
}

static void answer_all(struct asked *asked, json_t *answer)
{
    static const double none = 0;
    uint64_t applied = whole(asked, "applied", 0, &none);
    const json_t *theta = list(asked, "theta"), *flips = list(asked, "flips");
    const json_t *result = json_object_get(asked->root, "result");
    if (result && !json_is_integer(result))
        complain(asked, "\"result\" must be a whole number: games won minus games lost");
    if (result && !flips)
        complain(asked, "a result needs the \"flips\" it was played under");
    for (size_t i = 0; i < asked->count && flips; i++)
        if (fabs(json_number_value(json_array_get(flips, i))) != 1)
            complain(asked, "\"flips\" must be 1 or -1");
    for (size_t i = 0; i < asked->count && !asked->error[0]; i++) {
        const struct spsa_parameter *p = &asked->parameters[i];
        struct spsa_gains gains = spsa_gains(&asked->plan, p, applied);
        double value = theta ? json_number_value(json_array_get(theta, i)) : p->start, sides[2];
        int flip = (int)json_number_value(json_array_get(flips, i));
        append(answer, "c", gains.c);
        append(answer, "r", gains.r);
        if (!flips)
            continue;
        spsa_sides(p, value, gains.c, flip, sides);
        append(answer, "a", sides[0]);
        append(answer, "b", sides[1]);
        if (result)
            append(answer, "theta", spsa_step(p, value, gains, flip, json_integer_value(result)));
    }
    json_object_set_new(answer, "k", json_integer((json_int_t)applied + 1));
}

void calc_spsa(const json_t *request, json_t *answer, char *error, size_t error_size)
{
    struct asked asked = {.root = request, .error = error, .error_size = error_size};
    read_plan(&asked);
    if (!asked.error[0])
        read_parameters(&asked);
    if (!asked.error[0])
        answer_all(&asked, answer);
    free(asked.parameters);
}
