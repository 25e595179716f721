#include "eval/scale.h"

#include <math.h>
#include <stdlib.h>

enum { SCORE_OFFSET = 1 << 15, NEWTON_STEPS = 100 };

struct scale *scale_create(void)
{
    return calloc(1, sizeof(struct scale));
}

void scale_add(struct scale *scale, int32_t score, double target, double weight)
{
    int32_t clamped = score > INT16_MAX ? INT16_MAX : score < -INT16_MAX ? -INT16_MAX : score;
    scale->weight[clamped + SCORE_OFFSET] += weight;
    scale->sum[clamped + SCORE_OFFSET] += weight * target;
    scale->total += weight;
}

/* First and second derivative of the cross-entropy by b = 1/K. */
static void derivatives(const struct scale *scale, double b, double *first, double *second)
{
    *first = *second = 0.0;
    for (int i = 0; i < SCALE_SCORES; i++) {
        if (scale->weight[i] == 0.0)
            continue;
        double score = i - SCORE_OFFSET;
        double p = 1.0 / (1.0 + exp(-b * score));
        *first += score * (scale->weight[i] * p - scale->sum[i]);
        *second += scale->weight[i] * score * score * p * (1.0 - p);
    }
}

enum scale_error scale_fit(const struct scale *scale, double *k)
{
    double low = 1.0 / SCALE_K_MAX, high = 1.0 / SCALE_K_MIN, first, second;
    double spread = 0.0;
    for (int i = 0; i < SCALE_SCORES; i++) {
        if (!isfinite(scale->weight[i]) || !isfinite(scale->sum[i]) || scale->sum[i] < -1e-9 ||
            scale->sum[i] > scale->weight[i] * (1.0 + 1e-9))
            return SCALE_ERROR_RANGE;
        spread += scale->weight[i] * fabs((double)(i - SCORE_OFFSET));
    }
    if (spread <= 0.0)
        return SCALE_ERROR_EMPTY;
    derivatives(scale, low, &first, &second);
    if (first >= 0.0)
        return SCALE_ERROR_UNRELATED;
    /* Convex in b: Newton, kept inside a bracket that every derivative narrows. */
    double b = 1.0 / 400.0;
    for (int step = 0; step < NEWTON_STEPS && high - low > 1e-13 * high; step++) {
        derivatives(scale, b, &first, &second);
        if (first < 0.0)
            low = b;
        else
            high = b;
        double next = second > 0.0 ? b - first / second : high;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - b) <= 1e-14 * b)
            break;
        b = next;
    }
    *k = 1.0 / b;
    return isfinite(*k) ? SCALE_OK : SCALE_ERROR_RANGE;
}
