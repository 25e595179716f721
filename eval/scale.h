/* The scale K of scores: sigmoid(score / K) is the mover's expected result. Fitted on (score, target) by
 * Newton in one dimension, from a histogram: exact, of fixed size, and blind to order. One thread. */
#ifndef KROO_EVAL_SCALE_H
#define KROO_EVAL_SCALE_H

#include <stdint.h>

enum { SCALE_SCORES = 1 << 16, SCALE_K_MIN = 1, SCALE_K_MAX = 100000 };

struct scale {
    double weight[SCALE_SCORES]; /* by score + 32768 */
    double sum[SCALE_SCORES];    /* of weighted targets */
    double total;
};

enum scale_error {
    SCALE_OK = 0,
    SCALE_ERROR_EMPTY = -1,     /* no score but zeros */
    SCALE_ERROR_UNRELATED = -2, /* better scores do not mean better results: no positive K */
    SCALE_ERROR_RANGE = -3,     /* a target outside [0, 1] or a weight that is no number */
};

/* About a megabyte, zeroed; NULL when memory is short. Ends with free(). */
struct scale *scale_create(void);
void scale_add(struct scale *scale, int32_t score, double target, double weight);
/* K in [SCALE_K_MIN, SCALE_K_MAX] with the least cross-entropy; scores that separate the results perfectly
 * end at SCALE_K_MIN. */
enum scale_error scale_fit(const struct scale *scale, double *k);

#endif
