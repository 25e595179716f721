/* Judging a fit on validation positions (TRAINER "Judging a fit"): paired loss against the parent on the same
 * games with the standard error by game, and calibration by phase. It judges the integers that will leave,
 * not the real numbers they were rounded from. Pure; any thread. */
#ifndef KROO_EVAL_JUDGE_H
#define KROO_EVAL_JUDGE_H

#include "engine/weights.h"
#include "eval/rows.h"

enum { JUDGE_BINS = 20 };

/* Weights and what their score means. */
struct judged {
    const struct weights *weights;
    double k; /* hundredths of a seed in one unit of log odds, > 0 */
};

struct judge_bin {
    uint64_t positions;
    double predicted, target; /* means; 0 when empty */
};

struct judge {
    uint64_t positions, games;
    double before, after;                              /* mean cross-entropy against the target */
    double result_before, result_after;                /* the same against the result alone */
    double difference;                                 /* after - before; negative is better */
    double error;                                      /* its standard error, games as clusters */
    double naive_error;                                /* as if positions were independent: for comparison */
    struct judge_bin bins[WEIGHTS_PHASES][JUDGE_BINS]; /* by predicted probability, of the fitted weights */
};

/* `validation` in order of reading (rows of one game together). Zero rows give zeros. */
void judge_run(const struct rows *validation, struct row_targets targets, struct judged before,
               struct judged after, struct judge *out);

/* Mean cross-entropy of merged rows under weights. */
double judge_merged(const struct merged *rows, size_t count, struct judged judged);

/* Cross-entropy of target y at log odds z, without overflow. */
double judge_loss(double z, double y);

#endif
