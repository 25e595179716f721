#include "coordinator/fleet.h"

#include <math.h>

enum { EXPECTED_MIN = 5, NEWTON_STEPS = 60 };

/* The logarithm of a standard normal's upper tail at z >= 0. Beyond 25 erfc comes near the smallest number
 * there is: the asymptotic series is exact there. */
static double log_tail(double z)
{
    if (z < 25)
        return log(0.5 * erfc(z / sqrt(2)));
    double s = 1 / (z * z);
    double series = 1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s)));
    return -0.5 * z * z - log(z * sqrt(2 * M_PI)) + log(series);
}

/* The z whose upper tail has this logarithm; 0 when that is more than one half. The logarithm is concave, so
 * Newton's steps from the right side end at the root. */
static double tail_inverse(double log_p)
{
    if (!(log_p < log(0.5)))
        return 0;
    double z = sqrt(-2 * log_p);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double value = log_tail(z);
        double slope = -exp(-0.5 * z * z - 0.5 * log(2 * M_PI) - value);
        double step = (value - log_p) / slope;
        z -= step;
        if (fabs(step) <= 1e-14 * z)
            break;
    }
    return z > 0 ? z : 0;
}

double fleet_quantile(double p)
{
    return tail_inverse(log(p));
}

/* With 2 degrees of freedom the upper tail is exp(-x / 2). */
double fleet_z(double chi2)
{
    return tail_inverse(-0.5 * chi2);
}

/* The upper tail of chi-square for an even number of degrees of freedom, which a table of three columns
 * always has: a Poisson sum. */
static double upper_tail(double chi2, unsigned freedom)
{
    double half = 0.5 * chi2, sum = 0;
    for (unsigned i = 0; i < freedom / 2; i++)
        sum += exp(i * log(half) - half - lgamma(i + 1.0));
    return half == 0 || sum > 1 ? 1 : sum;
}

struct sums {
    double column[FLEET_CLASSES], all;
};

static double row_sum(const struct fleet_worker *worker)
{
    double sum = 0;
    for (int c = 0; c < FLEET_CLASSES; c++)
        sum += (double)worker->pairs[c];
    return sum;
}

static struct sums sum_up(const struct fleet_worker *workers, size_t count)
{
    struct sums sums = {0};
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < FLEET_CLASSES && workers[i].tested; c++) {
            sums.column[c] += (double)workers[i].pairs[c];
            sums.all += (double)workers[i].pairs[c];
        }
    return sums;
}

/* Leaves out workers with an expected cell of 5 or less, for whom the distribution is another; without them
 * the others expect less, so again until all that are left can be tested. */
static struct sums choose_tested(struct fleet_worker *workers, size_t count, size_t *tested)
{
    struct sums sums;
    bool dropped;
    *tested = 0;
    for (size_t i = 0; i < count; i++) {
        workers[i].tested = !workers[i].set_aside;
        workers[i].chi2 = workers[i].z = 0;
    }
    do {
        sums = sum_up(workers, count);
        dropped = false;
        *tested = 0;
        for (size_t i = 0; i < count; i++) {
            double row = row_sum(&workers[i]);
            for (int c = 0; c < FLEET_CLASSES && workers[i].tested; c++)
                workers[i].tested = sums.all > 0 && row * sums.column[c] / sums.all > EXPECTED_MIN;
            dropped = dropped || (row > 0 && !workers[i].tested && !workers[i].set_aside);
            *tested += workers[i].tested;
        }
        struct sums left = sum_up(workers, count);
        dropped = dropped && left.all != sums.all;
    } while (dropped && *tested > 0);
    return sums;
}

struct fleet_figures fleet_test(struct fleet_worker *workers, size_t count)
{
    struct fleet_figures figures = {.chi2 = NAN, .p = NAN, .z_95 = NAN, .z_99 = NAN};
    struct sums sums = choose_tested(workers, count, &figures.tested);
    if (figures.tested < 2) {
        for (size_t i = 0; i < count; i++)
            workers[i].tested = false;
        figures.tested = 0;
        return figures;
    }
    figures.chi2 = 0;
    for (size_t i = 0; i < count; i++) {
        struct fleet_worker *worker = &workers[i];
        double row = row_sum(worker), chi2 = 0;
        if (!worker->tested)
            continue;
        for (int c = 0; c < FLEET_CLASSES; c++) {
            double expected = row * sums.column[c] / sums.all;
            chi2 += ((double)worker->pairs[c] - expected) * ((double)worker->pairs[c] - expected) / expected;
        }
        figures.chi2 += chi2;
        /* Against all others together instead of against the whole. */
        worker->chi2 = chi2 / (1 - row / sums.all);
        worker->z = fleet_z(worker->chi2);
    }
    figures.freedom = (unsigned)(figures.tested - 1) * (FLEET_CLASSES - 1);
    figures.p = upper_tail(figures.chi2, figures.freedom);
    figures.z_95 = fleet_quantile(0.05 / (double)figures.tested);
    figures.z_99 = fleet_quantile(0.01 / (double)figures.tested);
    return figures;
}

size_t fleet_blame(struct fleet_worker *workers, size_t count)
{
    size_t blamed = 0;
    for (;;) {
        struct fleet_figures figures = fleet_test(workers, count);
        struct fleet_worker *worst = NULL;
        for (size_t i = 0; i < count; i++)
            if (workers[i].tested && (!worst || workers[i].chi2 > worst->chi2))
                worst = &workers[i];
        if (figures.tested < FLEET_WORKERS_MIN ||
            !(exp(-0.5 * worst->chi2) * (double)figures.tested < FLEET_P))
            return blamed;
        worst->blamed = worst->set_aside = true;
        blamed++;
    }
}

uint64_t fleet_next_look(uint64_t pairs)
{
    uint64_t next = FLEET_PAIRS_FIRST;
    while (next <= pairs && next <= UINT64_MAX / 4)
        next *= 4;
    return next;
}
