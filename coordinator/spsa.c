#include "coordinator/spsa.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "coordinator/power.h"
#include "engine/mix.h"

/* Streams of their own beside enum mix_stream: ASCII "spsa", and what is drawn. */
enum { STREAM_SPSA = 0x73707361, DRAW_FLIP = 0, DRAW_ROUND = 1 };

static bool refuse(char reason[SPSA_REASON_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(char reason[SPSA_REASON_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, SPSA_REASON_MAX, format, arguments);
    va_end(arguments);
    return false;
}

struct spsa_plan spsa_plan_default(void)
{
    return (struct spsa_plan){.a_ratio = 0.1, .alpha = 0.602, .gamma = 0.101, .lag = 1};
}

/* --- refusing --- */

static bool check_plan(const struct spsa_plan *plan, char *reason)
{
    if (plan->pairs == 0)
        return refuse(reason, "zero pairs tune nothing: give at least one batch");
    if (plan->batch == 0)
        return refuse(reason, "a batch of zero pairs is none: give at least one");
    if (plan->lag < 1 || plan->lag > SPSA_LAG_MAX)
        return refuse(reason, "a lag of %u batches is outside 1 to %d", plan->lag, SPSA_LAG_MAX);
    if (plan->pairs % plan->batch != 0)
        return refuse(reason, "%llu pairs are no whole number of batches of %u: give %llu or %llu",
                      (unsigned long long)plan->pairs, plan->batch,
                      (unsigned long long)(plan->pairs / plan->batch * plan->batch),
                      (unsigned long long)((plan->pairs / plan->batch + 1) * plan->batch));
    if (!isfinite(plan->a_ratio) || plan->a_ratio < 0)
        return refuse(reason, "the A ratio is a finite number from 0 on");
    if (!isfinite(plan->alpha) || plan->alpha < 0 || plan->alpha > 2)
        return refuse(reason, "alpha lies within 0 and 2");
    if (!isfinite(plan->gamma) || plan->gamma < 0 || plan->gamma > 2)
        return refuse(reason, "gamma lies within 0 and 2");
    return true;
}

static bool check_parameter(const struct spsa_parameter *p, char *reason)
{
    if (!isfinite(p->start) || !isfinite(p->min) || !isfinite(p->max))
        return refuse(reason, "start, min and max are finite numbers");
    if (p->min >= p->max)
        return refuse(reason, "min %.12g is not below max %.12g: there is nothing to tune between them",
                      p->min, p->max);
    if (p->start < p->min || p->start > p->max)
        return refuse(reason, "the start %.12g lies outside %.12g to %.12g", p->start, p->min, p->max);
    if (!isfinite(p->c_end) || p->c_end <= 0)
        return refuse(reason, "c_end is a finite number above 0: it is the step to either side");
    if (!isfinite(p->r_end) || p->r_end <= 0)
        return refuse(reason, "r_end is a finite number above 0: with 0 nothing would ever move");
    if (p->whole && (p->min != floor(p->min) || p->max != floor(p->max)))
        return refuse(reason, "min and max of a whole-numbered parameter are whole numbers");
    return true;
}

bool spsa_check(const struct spsa_plan *plan, const struct spsa_parameter *parameters, size_t count,
                size_t *which, char reason[SPSA_REASON_MAX])
{
    *which = count;
    if (!check_plan(plan, reason))
        return false;
    if (count == 0)
        return refuse(reason, "there is no parameter to tune: name at least one");
    if (count > SPSA_PARAMETERS_MAX)
        return refuse(reason, "%zu parameters are more than %d", count, SPSA_PARAMETERS_MAX);
    for (size_t i = 0; i < count; i++) {
        *which = i;
        if (!check_parameter(&parameters[i], reason))
            return false;
        struct spsa_gains first = spsa_gains(plan, &parameters[i], 0);
        if (!isfinite(first.c) || !isfinite(first.r) || !(first.c > 0) || !(first.r > 0))
            return refuse(reason, "its steps overflow: choose c_end and r_end nearer to 1");
    }
    *which = count;
    return true;
}

/* --- gains --- */

/* What the gains of all parameters have in common, for it is dear. */
struct powers {
    double pairs_gamma, k_gamma, end_alpha, k_alpha;
};

static struct powers powers_of(const struct spsa_plan *plan, uint64_t applied)
{
    double pairs = (double)plan->pairs, offset = plan->a_ratio * pairs, k = (double)applied + 1;
    double end = offset + pairs, now = offset + k;
    return (struct powers){power(pairs, plan->gamma), power(k, plan->gamma), power(end, plan->alpha),
                           power(now, plan->alpha)};
}

static struct spsa_gains gains_of(const struct powers *powers, const struct spsa_parameter *parameter)
{
    double c = parameter->c_end * powers->pairs_gamma;
    double a = parameter->r_end * parameter->c_end * parameter->c_end * powers->end_alpha;
    double c_k = c / powers->k_gamma;
    return (struct spsa_gains){c_k, a / powers->k_alpha / (c_k * c_k)};
}

struct spsa_gains spsa_gains(const struct spsa_plan *plan, const struct spsa_parameter *parameter,
                             uint64_t applied)
{
    struct powers powers = powers_of(plan, applied);
    return gains_of(&powers, parameter);
}

uint64_t spsa_applied(const struct spsa_plan *plan, uint64_t batch)
{
    return batch < plan->lag ? 0 : (batch - plan->lag + 1) * plan->batch;
}

uint64_t spsa_batches(const struct spsa_plan *plan)
{
    return plan->pairs / plan->batch;
}

/* --- draws --- */

static uint64_t draw(const struct spsa_plan *plan, uint64_t batch, size_t parameter, uint64_t what)
{
    return mix(mix(mix(mix(plan->seed, STREAM_SPSA), batch), parameter), what);
}

int spsa_flip(const struct spsa_plan *plan, uint64_t batch, size_t parameter)
{
    return draw(plan, batch, parameter, DRAW_FLIP) >> 63 ? 1 : -1;
}

double spsa_round(const struct spsa_plan *plan, uint64_t batch, size_t parameter, double value)
{
    return floor(value + (double)(draw(plan, batch, parameter, DRAW_ROUND) >> 11) * 0x1p-53);
}

/* --- steps --- */

static double clip(const struct spsa_parameter *parameter, double value)
{
    return value < parameter->min ? parameter->min : value > parameter->max ? parameter->max : value;
}

void spsa_sides(const struct spsa_parameter *parameter, double theta, double c, int flip, double sides[2])
{
    sides[0] = clip(parameter, theta + c * flip);
    sides[1] = clip(parameter, theta - c * flip);
}

double spsa_step(const struct spsa_parameter *parameter, double theta, struct spsa_gains gains, int flip,
                 int64_t result)
{
    /* Two statements: contracted into one rounding, the same step would have other bits elsewhere. */
    double step = gains.r * gains.c * flip * (double)result;
    return clip(parameter, theta + step);
}

void spsa_players(const struct spsa_plan *plan, const struct spsa_parameter *parameters, size_t count,
                  uint64_t batch, const double *theta, double *sides[2])
{
    struct powers powers = powers_of(plan, spsa_applied(plan, batch));
    for (size_t i = 0; i < count; i++) {
        double both[2], c = gains_of(&powers, &parameters[i]).c;
        spsa_sides(&parameters[i], theta[i], c, spsa_flip(plan, batch, i), both);
        for (int side = 0; side < 2; side++)
            sides[side][i] = parameters[i].whole
                                 ? clip(&parameters[i], spsa_round(plan, batch, i, both[side]))
                                 : both[side];
    }
}

void spsa_apply(const struct spsa_plan *plan, const struct spsa_parameter *parameters, size_t count,
                uint64_t batch, int64_t result, double *theta)
{
    struct powers powers = powers_of(plan, spsa_applied(plan, batch));
    for (size_t i = 0; i < count; i++)
        theta[i] = spsa_step(&parameters[i], theta[i], gains_of(&powers, &parameters[i]),
                             spsa_flip(plan, batch, i), result);
}

/* --- thinning --- */

uint64_t spsa_keep_step(uint64_t applied)
{
    uint64_t step = 1;
    while (applied > SPSA_KEEP && (applied - SPSA_KEEP) / step > SPSA_KEEP)
        step *= 2;
    return step;
}

bool spsa_is_kept(uint64_t batch, uint64_t applied)
{
    return batch + SPSA_KEEP >= applied || batch % spsa_keep_step(applied) == 0;
}
