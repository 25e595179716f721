#include "eval/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <lapacke.h>

#include "eval/shards.h"

enum {
    N = FEATURES_COLUMNS,        /* of a table; traits are fewer */
    ACTIVE = 2 + WEIGHTS_HOUSES, /* columns of a table's row that are not zero */
    BLOCK_ROWS = 256,            /* rows handed to one dsyrk: 316 KB, within a second-level cache */
    LEVENBERG_TRIES = 12,
};

static const double levenberg_first = 1e-4, levenberg_growth = 10.0;
/* A pivot this much smaller than the largest one means a column that others explain. */
static const double pivot_ratio = 1e-7;
/* Below this the gradient is rounding. */
static const double gradient_zero = 1e-13;

/* --- one pass: loss, gradient and Hessian --- */

struct pass {
    const struct merged *rows;
    size_t count;
    const double *weights;
    const struct fit_options *options;
    int columns;
    struct fit_sums *shards; /* SHARDS of them */
    double *blocks;          /* dense: SHARDS blocks of BLOCK_ROWS * N */
};

int fit_columns(enum weights_kind model)
{
    return model == WEIGHTS_FEATURES ? TRAITS : FEATURES_COLUMNS;
}

double fit_logit(enum weights_kind model, uint64_t key, const double *weights)
{
    if (model != WEIGHTS_FEATURES)
        return features_logit(key, weights);
    int16_t traits[TRAITS];
    double sum = 0.0;
    traits_of(features_board(key), traits);
    for (int i = 0; i < TRAITS; i++)
        sum += weights[i] * traits[i];
    return sum;
}

/* Adds the loss of a row at log odds z; `*error` is its gradient, the answer its weight in the Hessian. */
static inline double add_loss(struct fit_sums *sums, const struct merged *row, double z, double *error)
{
    double weight = (double)row->weight, target = (double)row->target;
    double small = exp(-fabs(z)); /* the one exponential behind both the probability and the loss */
    double p = z >= 0.0 ? 1.0 / (1.0 + small) : small / (1.0 + small);
    *error = weight * (p - target);
    sums->weight += weight;
    sums->loss += weight * (fmax(z, 0.0) + log1p(small) - target * z);
    return weight * p * (1.0 - p);
}

static double add_gradient(struct fit_sums *sums, const struct merged *row, const double *weights)
{
    double error, curvature = add_loss(sums, row, features_logit(row->key, weights), &error);
    sums->gradient[FEATURES_BIAS] += error;
    sums->gradient[FEATURES_STORE] += error * features_difference(row->key);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        sums->gradient[features_column(row->key, house)] += error;
    return curvature;
}

static void add_sparse(struct fit_sums *sums, uint64_t key, double curvature)
{
    size_t columns[ACTIVE] = {FEATURES_BIAS, FEATURES_STORE};
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        columns[2 + house] = (size_t)features_column(key, house);
    double difference = features_difference(key) * curvature;
    double *row = sums->hessian;
    row[0] += curvature;
    row[1] += difference;
    row[N + 1] += difference * features_difference(key);
    for (int i = 2; i < ACTIVE; i++) {
        row[columns[i]] += curvature;
        row[N + columns[i]] += difference;
    }
    for (int i = 2; i < ACTIVE; i++) {
        row = sums->hessian + columns[i] * N;
        for (int j = i; j < ACTIVE; j++)
            row[columns[j]] += curvature;
    }
}

static void set_dense(double *row, uint64_t key, double curvature)
{
    double root = sqrt(curvature);
    memset(row, 0, N * sizeof *row);
    row[FEATURES_BIAS] = root;
    row[FEATURES_STORE] = root * features_difference(key);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        row[features_column(key, house)] = root;
}

/* Loss, gradient and the row of the dense block of a position seen by its traits. */
static void add_traits(struct fit_sums *sums, const struct merged *row, const double *weights, double *dense)
{
    int16_t traits[TRAITS];
    double z = 0.0, error;
    traits_of(features_board(row->key), traits);
    for (int i = 0; i < TRAITS; i++)
        z += weights[i] * traits[i];
    double root = sqrt(add_loss(sums, row, z, &error));
    for (int i = 0; i < TRAITS; i++) {
        sums->gradient[i] += error * traits[i];
        dense[i] = root * traits[i];
    }
}

static void add_dense(const struct pass *pass, struct fit_sums *sums, const struct merged *row, double *dense)
{
    if (pass->options->model == WEIGHTS_FEATURES)
        add_traits(sums, row, pass->weights, dense);
    else
        set_dense(dense, row->key, add_gradient(sums, row, pass->weights));
}

static bool pass_is_dense(const struct fit_options *options)
{
    return options->kernel == FIT_DENSE || options->model == WEIGHTS_FEATURES;
}

static void pass_shard(void *context, unsigned shard)
{
    const struct pass *pass = context;
    struct fit_sums *sums = &pass->shards[shard];
    size_t first = shards_first(pass->count, shard), end = shards_first(pass->count, shard + 1);
    memset(sums, 0, sizeof *sums);
    if (!pass_is_dense(pass->options)) {
        for (size_t i = first; i < end; i++)
            add_sparse(sums, pass->rows[i].key, add_gradient(sums, &pass->rows[i], pass->weights));
        return;
    }
    int n = pass->columns;
    double *block = pass->blocks + (size_t)shard * BLOCK_ROWS * N;
    for (size_t i = first; i < end;) {
        int used = 0;
        for (; used < BLOCK_ROWS && i < end; used++, i++)
            add_dense(pass, sums, &pass->rows[i], block + used * n);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, used, 1.0, block, n, 1.0, sums->hessian, n);
    }
}

static bool sums_finite(const struct fit_sums *sums, int n)
{
    bool finite = isfinite(sums->weight) && isfinite(sums->loss);
    for (int i = 0; i < n; i++) {
        finite = finite && isfinite(sums->gradient[i]);
        for (int j = i; j < n; j++)
            finite = finite && isfinite(sums->hessian[i * n + j]);
    }
    return finite;
}

static enum fit_error pass_run(struct pass *pass, const double *weights, struct fit_sums *sums)
{
    int n = pass->columns;
    pass->weights = weights;
    shards_run(pass->options->threads, pass_shard, pass);
    memset(sums, 0, sizeof *sums);
    for (int shard = 0; shard < SHARDS; shard++) {
        const struct fit_sums *part = &pass->shards[shard];
        sums->weight += part->weight;
        sums->loss += part->loss;
        for (int i = 0; i < n; i++)
            sums->gradient[i] += part->gradient[i];
        for (int i = 0; i < n * n; i++)
            sums->hessian[i] += part->hessian[i];
    }
    return sums_finite(sums, n) ? FIT_OK : FIT_ERROR_NUMBER;
}

static bool pass_init(struct pass *pass, const struct merged *rows, size_t count,
                      const struct fit_options *options)
{
    *pass = (struct pass){
        .rows = rows, .count = count, .options = options, .columns = fit_columns(options->model)};
    pass->shards = malloc(SHARDS * sizeof *pass->shards);
    if (pass_is_dense(options))
        pass->blocks = malloc(sizeof *pass->blocks * SHARDS * BLOCK_ROWS * N);
    /* Ours are the threads: BLAS calls stay on the thread that makes them. */
    openblas_set_num_threads(1);
    return pass->shards && (!pass_is_dense(options) || pass->blocks);
}

static void pass_done(struct pass *pass)
{
    free(pass->shards);
    free(pass->blocks);
}

enum fit_error fit_pass(const struct merged *rows, size_t count, const double *weights,
                        const struct fit_options *options, struct fit_sums *sums)
{
    struct pass pass;
    enum fit_error error = FIT_ERROR_MEMORY;
    if (pass_init(&pass, rows, count, options))
        error = pass_run(&pass, weights, sums);
    pass_done(&pass);
    return error;
}

/* --- one Newton step --- */

struct newton {
    struct pass pass;
    const struct fit_options *options;
    struct fit_sums *now, *tried;
    double *matrix; /* N * N, overwritten by its Cholesky factor */
    double weights[N], trial[N], step[N];
};

static double squares(const double *values, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += values[i] * values[i];
    return sum;
}

/* What is made least, ridge included, times the total weight. */
static double penalised(const struct newton *newton, const struct fit_sums *sums, const double *weights)
{
    return sums->loss + 0.5 * newton->options->ridge * sums->weight * squares(weights, newton->pass.columns);
}

/* Solves (H + (ridge + levenberg) * weight * I) step = -(gradient + ridge * weight * b). The row-major upper
 * triangle is LAPACK's column-major lower one. dposv can say all is well with NaN inside: everything that
 * goes in was checked by sums_finite, and everything that comes out is checked here. */
static enum fit_error solve(struct newton *newton, double levenberg)
{
    const struct fit_sums *sums = newton->now;
    double ridge = newton->options->ridge * sums->weight;
    int n = newton->pass.columns;
    memcpy(newton->matrix, sums->hessian, (size_t)(n * n) * sizeof *newton->matrix);
    for (int i = 0; i < n; i++) {
        newton->matrix[i * n + i] += ridge + levenberg * sums->weight;
        newton->step[i] = -(sums->gradient[i] + ridge * newton->weights[i]);
    }
    int info = LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', n, 1, newton->matrix, n, newton->step, n);
    if (info != 0)
        return info > 0 ? FIT_ERROR_DEGENERATE : FIT_ERROR_NUMBER;
    double smallest = INFINITY, largest = 0.0;
    for (int i = 0; i < n; i++) {
        double pivot = newton->matrix[i * n + i];
        if (!isfinite(newton->step[i]) || !isfinite(pivot))
            return FIT_ERROR_NUMBER;
        smallest = fmin(smallest, pivot);
        largest = fmax(largest, pivot);
    }
    bool unregular = newton->options->ridge <= 0.0 && levenberg <= 0.0;
    return unregular && smallest < pivot_ratio * largest ? FIT_ERROR_DEGENERATE : FIT_OK;
}

static double largest_gradient(const struct newton *newton)
{
    const struct fit_sums *sums = newton->now;
    double largest = 0.0;
    for (int i = 0; i < newton->pass.columns; i++)
        largest = fmax(largest,
                       fabs(sums->gradient[i] / sums->weight + newton->options->ridge * newton->weights[i]));
    return largest;
}

/* Takes one step that does not raise the loss, with as little of Levenberg's factor as that needs. */
static enum fit_error improve(struct newton *newton, double *levenberg)
{
    double before = penalised(newton, newton->now, newton->weights);
    *levenberg = 0.0;
    for (int try = 0; try < LEVENBERG_TRIES; try++) {
        enum fit_error error = solve(newton, *levenberg);
        if (error == FIT_ERROR_NUMBER || (error == FIT_ERROR_DEGENERATE && newton->options->ridge <= 0.0))
            return error;
        if (error == FIT_OK) {
            for (int i = 0; i < newton->pass.columns; i++)
                newton->trial[i] = newton->weights[i] + newton->step[i];
            error = pass_run(&newton->pass, newton->trial, newton->tried);
            double after = penalised(newton, newton->tried, newton->trial);
            if (error == FIT_OK && after <= before * (1.0 + 1e-12)) {
                struct fit_sums *old = newton->now;
                newton->now = newton->tried;
                newton->tried = old;
                memcpy(newton->weights, newton->trial, sizeof newton->weights);
                return FIT_OK;
            }
        }
        *levenberg = *levenberg > 0.0 ? *levenberg * levenberg_growth : levenberg_first;
    }
    return FIT_ERROR_DIVERGED;
}

/* --- a phase --- */

static void see_traits(uint64_t key, bool seen[N])
{
    int16_t traits[TRAITS];
    traits_of(features_board(key), traits);
    for (int i = 0; i < TRAITS; i++)
        seen[i] |= traits[i] != 0;
}

/* Columns with a value that is not zero. */
static unsigned count_columns(const struct merged *rows, size_t count, enum weights_kind model)
{
    bool seen[N] = {false};
    unsigned columns = 0;
    for (size_t i = 0; i < count; i++) {
        if (model == WEIGHTS_FEATURES) {
            see_traits(rows[i].key, seen);
            continue;
        }
        seen[FEATURES_BIAS] = true;
        seen[FEATURES_STORE] |= features_difference(rows[i].key) != 0;
        for (int house = 0; house < WEIGHTS_HOUSES; house++)
            seen[features_column(rows[i].key, house)] = true;
    }
    for (int i = 0; i < N; i++)
        columns += seen[i];
    return columns;
}

static bool rows_finite(const struct merged *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(rows[i].target >= 0.0F && rows[i].target <= 1.0F) || !(rows[i].weight > 0.0F) ||
            !isfinite(rows[i].weight))
            return false;
    return true;
}

static void note_step(const struct newton *newton, struct fit_phase *phase, double levenberg)
{
    phase->curve[phase->steps] = (struct fit_step){.loss = newton->now->loss / newton->now->weight,
                                                   .gradient = largest_gradient(newton),
                                                   .levenberg = levenberg};
}

static enum fit_error iterate(struct newton *newton, int number, fit_report *report, void *context,
                              struct fit_phase *phase)
{
    enum fit_error error = pass_run(&newton->pass, newton->weights, newton->now);
    if (error != FIT_OK)
        return error;
    phase->weight = newton->now->weight;
    note_step(newton, phase, 0.0);
    while (phase->steps < newton->options->iterations &&
           (phase->steps == 0 || phase->curve[phase->steps].gradient > gradient_zero)) {
        double levenberg = 0.0;
        error = improve(newton, &levenberg);
        /* At the optimum rounding alone decides whether a step looks uphill: what was reached stands. */
        if (error == FIT_ERROR_DIVERGED && phase->curve[phase->steps].gradient < 1e-8)
            break;
        if (error != FIT_OK)
            return error;
        phase->steps++;
        note_step(newton, phase, levenberg);
        if (report && report(context, number, phase->steps, phase->curve[phase->steps].loss) != 0)
            return FIT_ERROR_STOPPED;
    }
    memcpy(phase->weights, newton->weights, sizeof phase->weights);
    return FIT_OK;
}

static enum fit_error fit_one_phase(const struct merged *rows, size_t count, int number,
                                    const struct fit_options *options, fit_report *report, void *context,
                                    struct fit_phase *phase)
{
    *phase = (struct fit_phase){.rows = count, .columns = count_columns(rows, count, options->model)};
    if (!rows_finite(rows, count))
        return FIT_ERROR_NUMBER;
    if (count == 0 || count < phase->columns)
        return FIT_ERROR_ROWS;
    struct newton *newton = calloc(1, sizeof *newton);
    if (!newton)
        return FIT_ERROR_MEMORY;
    newton->options = options;
    newton->now = malloc(sizeof *newton->now);
    newton->tried = malloc(sizeof *newton->tried);
    newton->matrix = malloc(N * N * sizeof *newton->matrix);
    enum fit_error error = FIT_ERROR_MEMORY;
    if (pass_init(&newton->pass, rows, count, options) && newton->now && newton->tried && newton->matrix)
        error = iterate(newton, number, report, context, phase);
    pass_done(&newton->pass);
    free(newton->now);
    free(newton->tried);
    free(newton->matrix);
    free(newton);
    return error;
}

static void explain(enum fit_error error, int number, const struct fit_phase *phase, char *reason,
                    size_t size)
{
    static const char *const seeds[WEIGHTS_PHASES] = {"36 seeds or more", "24 to 35 seeds", "12 to 23 seeds",
                                                      "under 12 seeds"};
    const char *where = seeds[number];
    switch (error) {
    case FIT_ERROR_ROWS:
        snprintf(
            reason, size,
            "the phase of %s on the board has %zu distinct positions for %u parameters with data; train on "
            "more games",
            where, phase->rows, phase->columns);
        break;
    case FIT_ERROR_NUMBER:
        snprintf(reason, size,
                 "a NaN or an infinity turned up in the phase of %s on the board; nothing was kept", where);
        break;
    case FIT_ERROR_DEGENERATE:
        snprintf(reason, size,
                 "the phase of %s on the board has constant or collinear columns; give --ridge a value "
                 "above zero",
                 where);
        break;
    case FIT_ERROR_DIVERGED:
        snprintf(reason, size,
                 "no step lowers the loss in the phase of %s on the board; give a larger --ridge", where);
        break;
    case FIT_ERROR_MEMORY:
        snprintf(reason, size, "memory is short; use fewer games or threads");
        break;
    case FIT_ERROR_STOPPED:
        snprintf(reason, size, "stopped on request");
        break;
    case FIT_OK:
        break;
    }
}

size_t fit_phase_first(const struct merged *rows, size_t count, int phase)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (features_phase(rows[middle].key) < phase)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum fit_error fit_run(const struct merged *rows, size_t count, const struct fit_options *options,
                       fit_report *report, void *context, struct fit *out, char *reason, size_t reason_size)
{
    double loss = 0.0, weight = 0.0;
    for (int number = 0; number < WEIGHTS_PHASES; number++) {
        struct fit_phase *phase = &out->phases[number];
        size_t first = fit_phase_first(rows, count, number), end = fit_phase_first(rows, count, number + 1);
        enum fit_error error =
            fit_one_phase(rows + first, end - first, number, options, report, context, phase);
        if (error != FIT_OK) {
            explain(error, number, phase, reason, reason_size);
            return error;
        }
        loss += phase->curve[phase->steps].loss * phase->weight;
        weight += phase->weight;
    }
    out->loss = loss / weight;
    return FIT_OK;
}
