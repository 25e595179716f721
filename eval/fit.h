/* Logistic regression of the kinds `table` and `features` by Newton (IRLS) with ridge and a Levenberg factor
 * on failure. Their phases share no parameter, so they are four independent blocks: FEATURES_COLUMNS of a
 * table, one-hot but for two, or the TRAITS of engine/traits.h (TRAINER "Fitting").
 *
 * Of each phase, what is made least is
 *     sum_i w_i * cross_entropy(y_i, sigmoid(x_i . b)) / sum_i w_i  +  ridge / 2 * |b|^2.
 * The same rows give the same bits for any number of threads (shards.h), given the same BLAS core type. */
#ifndef KROO_EVAL_FIT_H
#define KROO_EVAL_FIT_H

#include <stdbool.h>

#include "eval/features.h"
#include "eval/rows.h"

enum { FIT_ITERATIONS = 6, FIT_ITERATIONS_MAX = 60, FIT_CURVE_MAX = FIT_ITERATIONS_MAX + 1 };

enum fit_kernel {
    FIT_SPARSE, /* scatter of the fourteen columns of a row */
    FIT_DENSE,  /* cblas_dsyrk over blocks of rows; same sums within rounding */
};

enum fit_error {
    FIT_OK = 0,
    FIT_ERROR_MEMORY = -1,
    FIT_ERROR_NUMBER = -2,     /* NaN or infinity went in or came out */
    FIT_ERROR_ROWS = -3,       /* a phase with fewer distinct positions than parameters with data */
    FIT_ERROR_DEGENERATE = -4, /* constant or collinear columns, and no ridge */
    FIT_ERROR_DIVERGED = -5,   /* no step lowers the loss, though the gradient is not zero */
    FIT_ERROR_STOPPED = -6,
};

struct fit_options {
    enum weights_kind model; /* WEIGHTS_TABLE or WEIGHTS_FEATURES */
    enum fit_kernel kernel;  /* of a table; traits are always dense */
    unsigned threads;
    unsigned iterations; /* 1..FIT_ITERATIONS_MAX, from zero */
    double ridge;        /* >= 0 */
};

struct fit_step {
    double loss;      /* mean cross-entropy, without the ridge */
    double gradient;  /* largest component of the mean gradient, ridge included */
    double levenberg; /* the factor this step needed; 0 = plain Newton */
};

struct fit_phase {
    size_t rows;      /* distinct positions */
    double weight;    /* positions */
    unsigned columns; /* parameters that have data */
    unsigned steps;
    struct fit_step curve[FIT_CURVE_MAX]; /* steps + 1 entries, the first one at zero */
    double weights[FEATURES_COLUMNS];     /* log odds; of `features` the first TRAITS */
};

struct fit {
    struct fit_phase phases[WEIGHTS_PHASES];
    double loss; /* of all rows, weighted */
};

/* Sums over rows of one phase at given weights, before any ridge. */
struct fit_sums {
    double weight, loss;
    double gradient[FEATURES_COLUMNS];
    double hessian[FEATURES_COLUMNS * FEATURES_COLUMNS]; /* row-major by fit_columns, the upper triangle */
};

/* Columns of a phase's block. */
int fit_columns(enum weights_kind model);
/* Log odds of a position under one phase's weights. */
double fit_logit(enum weights_kind model, uint64_t key, const double *weights);

/* One pass over the rows of a phase under fit_columns weights. Exposed so that tests can hold the kernels
 * against each other. */
enum fit_error fit_pass(const struct merged *rows, size_t count, const double *weights,
                        const struct fit_options *options, struct fit_sums *sums);

/* Called after each step; a non-zero return stops the fit with FIT_ERROR_STOPPED. */
typedef int fit_report(void *context, int phase, unsigned step, double loss);

/* Fits all phases from rows as rows_sort and rows_merge leave them. On failure `reason` says which phase and
 * what to do. */
enum fit_error fit_run(const struct merged *rows, size_t count, const struct fit_options *options,
                       fit_report *report, void *context, struct fit *out, char *reason, size_t reason_size);

/* First row of `phase` in sorted rows; phase WEIGHTS_PHASES gives `count`. */
size_t fit_phase_first(const struct merged *rows, size_t count, int phase);

#endif
