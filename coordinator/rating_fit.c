#include "coordinator/rating_fit.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 200, HALVINGS_MAX = 60 };

/* Steps below this change no digit that is ever shown. */
#define STEP_DONE 1e-11
/* A first move worth this much (natural units; 5,200 Elo) is on its way to infinity. */
#define FIRST_MOVE_MAX 30.0
/* Of the first move's information, what the strengths do not explain away must be more than this share. */
#define SHARE_MIN 1e-9
/* Residuals this small are equal results, whose spread says nothing. */
#define RESIDUAL_MIN 1e-9

/* OpenBLAS would share out even the smallest product; two threads would only wait for each other. */
extern void openblas_set_num_threads(int count);

double rating_expected(double difference)
{
    return difference >= 0 ? 1 / (1 + exp(-difference)) : exp(difference) / (1 + exp(difference));
}

/* ln(1 + e^-d), for any d. */
static double surprise(double difference)
{
    return difference >= 0 ? log1p(exp(-difference)) : log1p(exp(difference)) - difference;
}

/* All games of a meeting by who moved first, the pairs taken apart: points and number, the prior included. */
struct tally {
    double points[2], games[2]; /* of a; 0 where a moved first */
};

static struct tally tally_meeting(const struct rating_meeting *meeting, double prior)
{
    struct tally tally = {.points = {prior / 4, prior / 4}, .games = {prior / 2, prior / 2}};
    for (int first = 0; first < 3; first++) {
        for (int leg = 0; leg < 2; leg++) {
            tally.games[leg] += meeting->games[leg][first];
            tally.points[leg] += meeting->games[leg][first] * first / 2;
        }
        for (int second = 0; second < 3; second++) {
            double pairs = meeting->pairs[first][second];
            tally.games[0] += pairs;
            tally.games[1] += pairs;
            tally.points[0] += pairs * first / 2;
            tally.points[1] += pairs * second / 2;
        }
    }
    return tally;
}

static double first_move(const struct rating_fit *fit, const double *x)
{
    return fit->fit_first_move ? x[fit->players] : 0;
}

/* a's lead over b where a moves first (leg 0) and where b does. */
static double lead(const struct rating_fit *fit, const double *x, const struct rating_meeting *meeting,
                   int leg)
{
    double h = first_move(fit, x);
    return x[meeting->a] - x[meeting->b] + (leg == 0 ? h : -h);
}

/* Minus the penalised log-likelihood. */
static double loss(const struct rating_fit *fit, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < fit->players; i++)
        sum += fit->ridge * x[i] * x[i] / 2;
    for (size_t i = 0; i < fit->count; i++) {
        struct tally tally = tally_meeting(&fit->meetings[i], fit->prior);
        for (int leg = 0; leg < 2; leg++) {
            double d = lead(fit, x, &fit->meetings[i], leg);
            sum += tally.points[leg] * surprise(d) + (tally.games[leg] - tally.points[leg]) * surprise(-d);
        }
    }
    return sum;
}

/* Adds `weight` times the outer product of (1 at a, -1 at b, `h` at the first move). */
static void add_outer(const struct rating_fit *fit, double *matrix, const struct rating_meeting *meeting,
                      double weight, double strength, double h)
{
    size_t n = fit->size, a = meeting->a, b = meeting->b, f = fit->players;
    matrix[a * n + a] += weight * strength * strength;
    matrix[b * n + b] += weight * strength * strength;
    matrix[a * n + b] -= weight * strength * strength;
    matrix[b * n + a] -= weight * strength * strength;
    if (!fit->fit_first_move)
        return;
    matrix[f * n + f] += weight * h * h;
    matrix[f * n + a] += weight * h * strength;
    matrix[a * n + f] += weight * h * strength;
    matrix[f * n + b] -= weight * h * strength;
    matrix[b * n + f] -= weight * h * strength;
}

/* A strength common to a whole group changes nothing: its square is added so that the matrix is regular, of
 * the size of the rest so that it stays well conditioned. */
static void add_sums(const struct rating_fit *fit, double *matrix)
{
    size_t n = fit->size;
    double trace = 0;
    for (size_t i = 0; i < fit->players; i++)
        trace += matrix[i * n + i];
    double weight = trace > 0 ? trace / (double)(fit->players * fit->players) : 1;
    for (size_t i = 0; i < fit->players; i++)
        for (size_t j = 0; j < fit->players; j++)
            if (fit->group[i] == fit->group[j])
                matrix[i * n + j] += weight;
}

static void information_at(const struct rating_fit *fit, const double *x, double prior, double *matrix)
{
    memset(matrix, 0, fit->size * fit->size * sizeof *matrix);
    for (size_t i = 0; i < fit->count; i++) {
        struct tally tally = tally_meeting(&fit->meetings[i], prior);
        for (int leg = 0; leg < 2; leg++) {
            double p = rating_expected(lead(fit, x, &fit->meetings[i], leg));
            add_outer(fit, matrix, &fit->meetings[i], tally.games[leg] * p * (1 - p), 1, leg == 0 ? 1 : -1);
        }
    }
    for (size_t i = 0; i < fit->players; i++)
        matrix[i * fit->size + i] += fit->ridge;
    add_sums(fit, matrix);
}

/* Of the log-likelihood: uphill. */
static void gradient_at(const struct rating_fit *fit, const double *x, double *gradient)
{
    memset(gradient, 0, fit->size * sizeof *gradient);
    for (size_t i = 0; i < fit->players; i++)
        gradient[i] = -fit->ridge * x[i];
    for (size_t i = 0; i < fit->count; i++) {
        const struct rating_meeting *meeting = &fit->meetings[i];
        struct tally tally = tally_meeting(meeting, fit->prior);
        for (int leg = 0; leg < 2; leg++) {
            double residual =
                tally.points[leg] - tally.games[leg] * rating_expected(lead(fit, x, meeting, leg));
            gradient[meeting->a] += residual;
            gradient[meeting->b] -= residual;
            if (fit->fit_first_move)
                gradient[fit->players] += leg == 0 ? residual : -residual;
        }
    }
}

/* The factor in the lower triangle; false when the matrix is not positive definite. */
static bool factorize(double *matrix, size_t size)
{
    return LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (lapack_int)size, matrix, (lapack_int)size) == 0;
}

static bool solve(const double *factor, size_t size, double *right, size_t columns)
{
    return LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', (lapack_int)size, (lapack_int)columns, factor,
                          (lapack_int)size, right, (lapack_int)columns) == 0;
}

/* Can the games tell the first move from the strengths? The last pivot is what they do not explain. */
static bool first_move_shows(const struct rating_fit *fit, double *matrix)
{
    size_t last = fit->players * fit->size + fit->players;
    information_at(fit, fit->x, 0, matrix);
    double whole = matrix[last];
    return whole > 0 && factorize(matrix, fit->size) && matrix[last] * matrix[last] > SHARE_MIN * whole;
}

/* The part of `step` that lowers the loss; false when none does, at the maximum as far as doubles tell. */
static bool advance(struct rating_fit *fit, const double *step, double *trial, double *best)
{
    double share = 1;
    for (int halving = 0; halving < HALVINGS_MAX; halving++, share /= 2) {
        for (size_t i = 0; i < fit->size; i++)
            trial[i] = fit->x[i] + share * step[i];
        double value = loss(fit, trial);
        if (value < *best) {
            *best = value;
            memcpy(fit->x, trial, fit->size * sizeof *trial);
            return true;
        }
    }
    return false;
}

static double largest(const double *vector, size_t size)
{
    double most = 0;
    for (size_t i = 0; i < size; i++)
        most = fmax(most, fabs(vector[i]));
    return most;
}

/* True at the maximum; false when there is none at a finite place. `work` has room for two vectors. */
static bool climb(struct rating_fit *fit, double *work)
{
    double *step = work, *trial = work + fit->size;
    memset(fit->x, 0, fit->size * sizeof *fit->x);
    double best = loss(fit, fit->x);
    for (int i = 0; i < STEPS_MAX; i++) {
        information_at(fit, fit->x, fit->prior, fit->information);
        gradient_at(fit, fit->x, step);
        if (!factorize(fit->information, fit->size) || !solve(fit->information, fit->size, step, 1))
            return false;
        double length = largest(step, fit->size);
        if (!isfinite(length) || fabs(first_move(fit, fit->x)) > FIRST_MOVE_MAX)
            return false;
        if (length < STEP_DONE || !advance(fit, step, trial, &best))
            return true;
    }
    return false;
}

/* The squares of one meeting's samples, summed up. Results that are all alike show no spread of their own:
 * the model's stands in for it. */
static void add_meeting_squares(const struct rating_fit *fit, const struct rating_meeting *meeting,
                                double *matrix)
{
    double p[2] = {rating_expected(lead(fit, fit->x, meeting, 0)),
                   rating_expected(lead(fit, fit->x, meeting, 1))};
    double most = 0;
    for (int i = 0; i < 3; i++) {
        for (int leg = 0; leg < 2; leg++) {
            double residual = i / 2.0 - p[leg], games = meeting->games[leg][i];
            most = games > 0 ? fmax(most, fabs(residual)) : most;
            add_outer(fit, matrix, meeting, games, residual, leg == 0 ? residual : -residual);
        }
        for (int j = 0; j < 3; j++) {
            double first = i / 2.0 - p[0], second = j / 2.0 - p[1], pairs = meeting->pairs[i][j];
            most = pairs > 0 ? fmax(most, fabs(first + second)) : most;
            add_outer(fit, matrix, meeting, pairs, first + second, first - second);
        }
    }
    struct tally tally = tally_meeting(meeting, 0);
    for (int leg = 0; leg < 2 && most <= RESIDUAL_MIN; leg++)
        add_outer(fit, matrix, meeting, tally.games[leg] * p[leg] * (1 - p[leg]), 1, leg == 0 ? 1 : -1);
}

/* add_outer takes (strength, -strength, h): the transposed product of a symmetric solve is the sandwich. */
static bool fill_sandwich(struct rating_fit *fit, const double *factor, double *work)
{
    size_t n = fit->size;
    memset(work, 0, n * n * sizeof *work);
    for (size_t i = 0; i < fit->count; i++)
        add_meeting_squares(fit, &fit->meetings[i], work);
    if (!solve(factor, n, work, n))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            fit->covariance[j * n + i] = work[i * n + j];
    return solve(factor, n, fit->covariance, n);
}

/* The inverse information, without what add_sums put in: each group's own sum has no variance. */
static bool fill_inverse(struct rating_fit *fit, const double *factor, double *sums)
{
    size_t n = fit->size;
    for (size_t i = 0; i < n * n; i++)
        fit->covariance[i] = i % (n + 1) == 0;
    if (!solve(factor, n, fit->covariance, n))
        return false;
    for (size_t j = 0; j < n; j++) {
        memset(sums, 0, 2 * fit->groups * sizeof *sums);
        for (size_t i = 0; i < fit->players; i++) {
            sums[fit->group[i]] += fit->covariance[i * n + j];
            sums[fit->groups + fit->group[i]]++;
        }
        for (size_t i = 0; i < fit->players; i++)
            fit->covariance[i * n + j] -= sums[fit->group[i]] / sums[fit->groups + fit->group[i]];
    }
    return true;
}

static int fill_covariance(struct rating_fit *fit, bool sandwich)
{
    size_t squared = fit->size * fit->size;
    double *factor = malloc(squared * sizeof *factor),
           *work = malloc((squared + 2 * fit->groups) * sizeof *work);
    bool good = factor && work;
    int error = good ? 0 : RATING_MEMORY;
    if (good) {
        information_at(fit, fit->x, fit->prior, fit->information);
        memcpy(factor, fit->information, squared * sizeof *factor);
        good = factorize(factor, fit->size) &&
               (sandwich ? fill_sandwich(fit, factor, work) : fill_inverse(fit, factor, work));
        for (size_t i = 0; i < squared && good; i++)
            good = isfinite(fit->covariance[i]);
        error = good ? 0 : RATING_NUMERIC;
    }
    free(factor);
    free(work);
    return error;
}

int rating_fit_run(struct rating_fit *fit, bool sandwich)
{
    size_t n = fit->players + 1;
    openblas_set_num_threads(1);
    fit->x = calloc(n, sizeof *fit->x);
    fit->information = calloc(n * n, sizeof *fit->information);
    fit->covariance = calloc(n * n, sizeof *fit->covariance);
    double *work = malloc(2 * n * sizeof *work);
    int error = fit->x && fit->information && fit->covariance && work ? 0 : RATING_MEMORY;
    fit->size = n;
    if (error == 0 && fit->fit_first_move)
        fit->fit_first_move = first_move_shows(fit, fit->information) && climb(fit, work);
    if (error == 0 && !fit->fit_first_move) {
        fit->size = fit->players;
        if (!climb(fit, work))
            error = RATING_NUMERIC;
    }
    free(work);
    return error ? error : fill_covariance(fit, sandwich);
}

void rating_fit_done(struct rating_fit *fit)
{
    free(fit->x);
    free(fit->information);
    free(fit->covariance);
    fit->x = fit->information = fit->covariance = NULL;
}
