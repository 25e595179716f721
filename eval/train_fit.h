/* Inside of a training run: from merged positions to real weights and their integers, for each kind. One
 * thread calls. */
#ifndef KROO_EVAL_TRAIN_FIT_H
#define KROO_EVAL_TRAIN_FIT_H

#include "eval/train.h"

/* Fits and rounds: sets `fit` or `net`, and `quantized`. */
enum train_status train_fit(struct train *train);
/* Largest difference of the rounded weights from the real ones, hundredths of a seed. */
double train_rounding(const struct train *train);

/* Sets the reason and returns the status. */
__attribute__((format(printf, 3, 4))) enum train_status
train_end(struct train *train, enum train_status status, const char *format, ...);
__attribute__((format(printf, 2, 3))) void train_warn(struct train *train, const char *format, ...);

#endif
