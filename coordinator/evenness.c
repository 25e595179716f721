#include "coordinator/evenness.h"

#include <math.h>

int evenness_of(struct evenness *evenness, const int64_t counts[STATISTICS_PAIR_COUNTS])
{
    struct statistics_sample sample;
    struct statistics_estimate estimate;
    int error = statistics_sample_set(&sample, counts, STATISTICS_PAIR_COUNTS);
    *evenness = (struct evenness){.p = 1};
    if (error)
        return error;
    statistics_estimate(&sample, &estimate);
    for (int i = 0; i < STATISTICS_PAIR_COUNTS; i++)
        evenness->pairs += (double)counts[i];
    evenness->score = estimate.score;
    evenness->elo = estimate.elo;
    evenness->elo_lo = estimate.elo_lo;
    evenness->elo_hi = estimate.elo_hi;
    evenness->z = (sample.mean - 0.5) / sqrt(sample.variance / sample.total);
    evenness->is_tested = evenness->pairs >= EVENNESS_PAIRS_MIN;
    if (evenness->is_tested)
        evenness->p = erfc(fabs(evenness->z) / sqrt(2));
    return 0;
}

void evenness_correct(struct evenness *workers, size_t count)
{
    size_t tested = 0;
    double least = 0, corrected = 0;
    for (size_t i = 0; i < count; i++)
        tested += workers[i].is_tested;
    /* The next smallest p is multiplied by the number of hypotheses that are left, and never falls. The ones
     * done are told by the sign that they have for the time being. */
    for (size_t left = tested; left > 0; left--) {
        size_t next = count;
        for (size_t i = 0; i < count; i++)
            if (workers[i].is_tested && workers[i].p >= 0 && !signbit(workers[i].p) &&
                (next == count || workers[i].p < least)) {
                next = i;
                least = workers[i].p;
            }
        corrected = fmax(corrected, fmin(1, least * (double)left));
        workers[next].p = -corrected;
    }
    for (size_t i = 0; i < count; i++)
        workers[i].p = fabs(workers[i].p);
}
