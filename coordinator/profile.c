#include "coordinator/profile.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define LN10 2.302585092994045684

/* --- one constraint ---------------------------------------------------------------------------------------
 * sum p_k phi_k = 0 gives p_k = p^_k / D_k with D_k = (1 - w) alpha_k + w beta_k, where w runs from one end
 * of the admissible interval of the multiplier to the other. alpha_k and beta_k are not negative, so nothing
 * cancels even when a bin of share 1e-18 has to carry half of the weight. */
struct secular {
    unsigned bins;
    double phi[PROFILE_BINS_MAX]; /* any positive multiple per bin, the same for alpha and beta */
    double alpha[PROFILE_BINS_MAX];
    double beta[PROFILE_BINS_MAX];
};

static double secular_denominator(const struct secular *s, unsigned k, double x)
{
    return s->alpha[k] / (1 + exp(x)) + s->beta[k] / (1 + exp(-x));
}

/* The root of sum p^_k phi_k / D_k, which falls with w = 1 / (1 + e^-x); in x both ends of w are resolved.
 * Newton inside a bracket; bisection where it would leave the bracket or its steps do not shrink by half. */
static double secular_root(const struct secular *s, const double *p)
{
    double low = -100, high = 100, x = 0, last = 100;
    for (int step = 0; step < 200; step++) {
        double one = 1 / (1 + exp(x)), two = 1 / (1 + exp(-x)), sum = 0, slope = 0;
        for (unsigned k = 0; k < s->bins; k++) {
            double inverse = 1 / (s->alpha[k] * one + s->beta[k] * two), term = p[k] * s->phi[k] * inverse;
            sum += term;
            slope -= term * inverse * (s->beta[k] - s->alpha[k]);
        }
        if (sum > 0)
            low = x;
        else
            high = x;
        double next = x - sum / (slope * one * two);
        if (!(next > low && next < high && fabs(next - x) <= last / 2))
            next = (low + high) / 2;
        last = fabs(next - x);
        x = next;
        if (last <= 1e-14 * (1 + fabs(x)))
            break;
    }
    return x;
}

/* The mean lies u from the nearer end (the top when `top`), r = u / (1 - u), ln_u and ln_r their logarithms,
 * which stay finite where u is too small for a double. b is a bin's distance from that end: with everything
 * scaled by u, D_k = (1 - w) (1 - b) r + w b; the bin at the end itself is scaled by u / r instead. */
static double profile_from_end(const double *p, unsigned bins, bool top, double u, double ln_u, double ln_r)
{
    double near_p[PROFILE_BINS_MAX] = {0}, r = u / (1 - u);
    struct secular s = {.bins = bins};
    for (unsigned k = 0; k < bins; k++) {
        double b = (double)k / (bins - 1);
        near_p[k] = p[top ? bins - 1 - k : k];
        s.phi[k] = k == 0 ? -(1 - u) : b - u;
        s.alpha[k] = k == 0 ? 1 : (1 - b) * r;
        s.beta[k] = b;
    }
    double x = secular_root(&s, near_p), profile = 0;
    for (unsigned k = 0; k < bins; k++)
        profile += near_p[k] * (ln_u - (k == 0 ? ln_r : 0) - log(secular_denominator(&s, k, x)));
    return profile;
}

double profile_elo(const double *p, unsigned bins, double elo)
{
    double ln_r = -fabs(elo) / 400 * LN10, r = exp(ln_r);
    return profile_from_end(p, bins, elo > 0, r / (1 + r), ln_r - log1p(r), ln_r);
}

double profile_score(const double *p, unsigned bins, double score)
{
    bool top = score > 0.5;
    double u = top ? 1 - score : score;
    return profile_from_end(p, bins, top, u, log(u), log(u / (1 - u)));
}

/* --- normalized: the fixed point --- */

static void moments(const double *p, unsigned bins, double *mean, double *variance)
{
    double centred = 0, square = 0;
    for (unsigned k = 0; k < bins; k++)
        centred += p[k] * ((double)k / (bins - 1) - 0.5);
    for (unsigned k = 0; k < bins; k++) {
        double d = (double)k / (bins - 1) - 0.5 - centred;
        square += p[k] * d * d;
    }
    *mean = 0.5 + centred;
    *variance = square;
}

/* One step from the distribution q to the next; false when the linearised constraint cannot be met. */
static bool fixed_point_step(const double *p, unsigned bins, double t, double *q, double *profile,
                             double *change)
{
    struct secular s = {.bins = bins};
    double mean, variance, least = 0, most = 0;
    moments(q, bins, &mean, &variance);
    if (!(variance > 0))
        return false;
    double sigma = sqrt(variance);
    for (unsigned k = 0; k < bins; k++) {
        double a = (double)k / (bins - 1), z = (a - mean) / sigma;
        s.phi[k] = a - 0.5 - t * sigma / 2 * (1 + z * z);
        least = fmin(least, s.phi[k]);
        most = fmax(most, s.phi[k]);
    }
    if (!(least < 0 && most > 0))
        return false;
    for (unsigned k = 0; k < bins; k++) {
        s.alpha[k] = 1 - s.phi[k] / most;
        s.beta[k] = 1 - s.phi[k] / least;
    }
    double x = secular_root(&s, p);
    *profile = *change = 0;
    for (unsigned k = 0; k < bins; k++) {
        double d = secular_denominator(&s, k, x), next = p[k] / d;
        *change = fmax(*change, fabs(next - q[k]));
        *profile -= p[k] * log(d);
        q[k] = next;
    }
    return isfinite(*profile) && isfinite(*change);
}

bool profile_normalized_fixed_point(const double *p, unsigned bins, double t, double *profile)
{
    double q[PROFILE_BINS_MAX] = {0}, change = 1;
    for (unsigned k = 0; k < bins; k++)
        q[k] = 1.0 / bins;
    for (int step = 0; step < 100; step++) {
        if (!fixed_point_step(p, bins, t, q, profile, &change))
            return false;
        if (change < 1e-12)
            return true;
    }
    return change < 1e-9;
}

/* --- normalized: the global search
 * ---------------------------------------------------------------------------- With the mean m fixed the
 * variance is ((m - 1/2) / t)^2, two linear constraints, a concave dual in two variables. Over m the profile
 * can have a peak near each bin above 1/2 (t > 0): the admissible means are cut into stretches, each counted
 * from its nearest bin so that peaks of width 1 / t^2 keep their precision. */
struct stretch {
    unsigned bin;
    double low, high; /* offsets of the mean from the bin */
};

enum { STRETCHES_MAX = 4 * PROFILE_BINS_MAX, GRID = 24 };

/* Beyond this t the leading terms in 1 / t^2 are exact to 1e-6 of the profile. */
#define T_ASYMPTOTIC 1e4

/* Largest and smallest root of the bound on the mean inside a segment between two bins, counted as the
 * distance d from the bin at height h (above 1/2) towards its neighbour at distance w in direction `sign`: d
 * (w - d) = (h + sign d)^2 / t^2. False when every d is admissible. */
static bool segment_roots(double h, double w, double sign, double tau, double *small, double *large)
{
    double b = w - 2 * sign * h * tau, disc = b * b - 4 * (1 + tau) * h * h * tau;
    if (!(disc > 0) || b <= 0)
        return false;
    *large = (b + sqrt(disc)) / (2 * (1 + tau));
    *small = 2 * h * h * tau / (b + sqrt(disc));
    return true;
}

static void stretch_add(struct stretch *list, unsigned *count, unsigned bin, double low, double high)
{
    if (high > low)
        list[(*count)++] = (struct stretch){bin, low, high};
}

/* The admissible halves of the segment next to `bin` in direction sign. */
static void half_segment(struct stretch *list, unsigned *count, unsigned bin, double h, double w, double sign,
                         double tau)
{
    double small, large, half = w / 2;
    /* A mean of 1/2 or less has the wrong sign; only the segment below the first bin above 1/2 is concerned.
     */
    double limit = sign < 0 ? fmin(half, h) : half;
    double from[2] = {0, 0}, to[2] = {limit, 0};
    if (segment_roots(h, w, sign, tau, &small, &large)) {
        to[0] = fmin(small, limit);
        from[1] = large;
        to[1] = limit;
    }
    for (int i = 0; i < 2; i++)
        stretch_add(list, count, bin, sign > 0 ? from[i] : -to[i], sign > 0 ? to[i] : -from[i]);
}

static unsigned stretches_find(struct stretch *list, unsigned bins, double t)
{
    double tau = 1 / (t * t), w = 1.0 / (bins - 1);
    /* m (1 - m) bounds the variance from above: 1 - m > end. */
    double root = sqrt(1 + tau), end = tau / (2 * root * (1 + root));
    unsigned count = 0;
    for (unsigned k = bins / 2; k < bins; k++) {
        double h = (double)k * w - 0.5;
        if (k > bins / 2)
            half_segment(list, &count, k, h, w, -1, tau);
        if (k + 1 < bins)
            half_segment(list, &count, k, h, w, 1, tau);
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        double top = (double)(bins - 1 - list[i].bin) * w - end;
        list[i].high = fmin(list[i].high, top);
        if (list[i].high > list[i].low)
            list[kept++] = list[i];
    }
    return kept;
}

/* The dual at fixed mean: maximise sum p^_k ln(1 + x g1_k + y g2_k). */
struct dual {
    const double *p;
    unsigned bins;
    double g[2][PROFILE_BINS_MAX];
};

static double dual_value(const struct dual *dual, const double *at)
{
    double sum = 0;
    for (unsigned k = 0; k < dual->bins; k++) {
        double d = 1 + at[0] * dual->g[0][k] + at[1] * dual->g[1][k];
        if (!(d > 0))
            return -INFINITY;
        sum += dual->p[k] * log(d);
    }
    return sum;
}

/* The Newton step and its decrement (the gain it promises, doubled); false when the curvature is lost. */
static bool dual_newton_step(const struct dual *dual, const double *at, double *step, double *decrement)
{
    double g0 = 0, g1 = 0, h00 = 0, h01 = 0, h11 = 0;
    for (unsigned k = 0; k < dual->bins; k++) {
        double a = dual->g[0][k], b = dual->g[1][k], d = 1 + at[0] * a + at[1] * b;
        double one = dual->p[k] / d, two = one / d;
        g0 += one * a;
        g1 += one * b;
        h00 += two * a * a;
        h01 += two * a * b;
        h11 += two * b * b;
    }
    double det = h00 * h11 - h01 * h01;
    if (!(det > 0) || !isfinite(det))
        return false;
    step[0] = (h11 * g0 - h01 * g1) / det;
    step[1] = (h00 * g1 - h01 * g0) / det;
    *decrement = step[0] * g0 + step[1] * g1;
    return isfinite(step[0]) && isfinite(step[1]) && *decrement >= 0;
}

static double dual_maximum(const struct dual *dual)
{
    double at[2] = {0, 0}, value = 0;
    for (int round = 0; round < 200; round++) {
        double step[2], decrement, scale = 1;
        if (!dual_newton_step(dual, at, step, &decrement) || decrement < 1e-15 * (1 + fabs(value)))
            break;
        /* Nearly to the border of the domain at most; then halve until a fair part of the promise is kept. */
        for (unsigned k = 0; k < dual->bins; k++) {
            double d = 1 + at[0] * dual->g[0][k] + at[1] * dual->g[1][k];
            double fall = -(step[0] * dual->g[0][k] + step[1] * dual->g[1][k]);
            if (fall > 0)
                scale = fmin(scale, 0.99 * d / fall);
        }
        double next[2], next_value = -INFINITY;
        for (int halving = 0; halving < 60; halving++, scale /= 2) {
            next[0] = at[0] + scale * step[0];
            next[1] = at[1] + scale * step[1];
            next_value = dual_value(dual, next);
            if (next_value >= value + 0.1 * scale * decrement)
                break;
        }
        if (!(next_value > value))
            break;
        at[0] = next[0];
        at[1] = next[1];
        value = next_value;
    }
    return value;
}

/* The profile with the mean at `offset` from `bin`. */
static double profile_at_mean(const double *p, unsigned bins, double t, unsigned bin, double offset)
{
    struct dual dual = {.p = p, .bins = bins};
    double sigma = ((double)bin / (bins - 1) - 0.5 + offset) / t;
    double square = offset * offset + sigma * sigma;
    for (unsigned k = 0; k < bins; k++) {
        double b = ((double)k - (double)bin) / (bins - 1);
        dual.g[0][k] = b - offset;
        dual.g[1][k] = b * b - square;
    }
    return -dual_maximum(&dual);
}

static double golden_maximum(const double *p, unsigned bins, double t, unsigned bin, double low, double high)
{
    const double ratio = 0.6180339887498949;
    double one = high - ratio * (high - low), two = low + ratio * (high - low);
    double at_one = profile_at_mean(p, bins, t, bin, one), at_two = profile_at_mean(p, bins, t, bin, two);
    double best = fmax(at_one, at_two);
    for (int step = 0; step < 45; step++) {
        if (at_one > at_two) {
            high = two;
            two = one;
            at_two = at_one;
            one = high - ratio * (high - low);
            best = fmax(best, at_one = profile_at_mean(p, bins, t, bin, one));
        } else {
            low = one;
            one = two;
            at_one = at_two;
            two = low + ratio * (high - low);
            best = fmax(best, at_two = profile_at_mean(p, bins, t, bin, two));
        }
    }
    return best;
}

static double stretch_maximum(const double *p, unsigned bins, double t, const struct stretch *stretch)
{
    double width = stretch->high - stretch->low, best = -INFINITY;
    int peak = 1;
    for (int i = 1; i < GRID; i++) {
        double value = profile_at_mean(p, bins, t, stretch->bin, stretch->low + width * i / GRID);
        if (value > best) {
            best = value;
            peak = i;
        }
    }
    double low = stretch->low + width * (peak - 1) / GRID, high = stretch->low + width * (peak + 1) / GRID;
    return fmax(best, golden_maximum(p, bins, t, stretch->bin, low, high));
}

/* t beyond all bounds: the weight gathers in one bin c above 1/2, each other bin keeps
 * p_k = p^_k h^2 / ((1 - p^_c) b_k^2 t^2), h the height of c and b_k the distance from it. */
static double profile_asymptotic(const double *p, unsigned bins, double t)
{
    double best = -INFINITY;
    for (unsigned c = bins / 2 + 1; c < bins; c++) {
        double h = (double)c / (bins - 1) - 0.5, rest = 0, profile = 0;
        for (unsigned k = 0; k < bins; k++)
            rest += k == c ? 0 : p[k];
        for (unsigned k = 0; k < bins; k++) {
            double b = ((double)k - (double)c) / (bins - 1);
            profile += k == c ? -p[k] * log(p[k]) : p[k] * (log(h * h / (rest * b * b)) - 2 * log(t));
        }
        best = fmax(best, profile);
    }
    return best;
}

double profile_normalized_global(const double *p, unsigned bins, double t)
{
    double mirrored[PROFILE_BINS_MAX] = {0}, best = -INFINITY;
    if (fabs(t) < 1e-9)
        return profile_elo(p, bins, 0);
    for (unsigned k = 0; k < bins; k++)
        mirrored[k] = p[t < 0 ? bins - 1 - k : k];
    if (fabs(t) > T_ASYMPTOTIC)
        return profile_asymptotic(mirrored, bins, fabs(t));
    struct stretch stretches[STRETCHES_MAX];
    unsigned count = stretches_find(stretches, bins, fabs(t));
    for (unsigned i = 0; i < count; i++)
        best = fmax(best, stretch_maximum(mirrored, bins, fabs(t), &stretches[i]));
    return best;
}
