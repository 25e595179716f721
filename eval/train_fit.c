#include "eval/train_fit.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/build.h"
#include "eval/blas.h"
#include "eval/build.h"

enum { SEED_VALUE_ROWS = 1 << 16 };

/* --- table and features: Newton --- */

static int report_newton(void *context, int phase, unsigned step, double loss)
{
    struct train *train = context;
    char note[64];
    snprintf(note, sizeof note, "phase %d  loss %.5f", phase + 1, loss);
    uint64_t steps = train->options.iterations;
    return train->report(train->report_context, (uint64_t)phase * steps + step, WEIGHTS_PHASES * steps, note);
}

static enum train_status fit_newton(struct train *train)
{
    struct fit_options options = {.model = train->options.kind,
                                  .kernel = train->options.kernel,
                                  .threads = train->options.threads,
                                  .iterations = train->options.iterations,
                                  .ridge = train->options.ridge};
    switch (fit_run(train->merged, train->merged_count, &options, train->report ? report_newton : NULL, train,
                    &train->fit, train->reason, sizeof train->reason)) {
    case FIT_OK:
        break;
    case FIT_ERROR_STOPPED:
        return TRAIN_STOPPED;
    case FIT_ERROR_MEMORY:
    case FIT_ERROR_NUMBER:
    case FIT_ERROR_DIVERGED:
        return TRAIN_FAILED;
    case FIT_ERROR_ROWS:
    case FIT_ERROR_DEGENERATE:
        return TRAIN_REFUSED;
    }
    enum quantize_error error = quantize_fit(&train->fit, train->options.kind, &train->quantized);
    return error == QUANTIZE_OK ? TRAIN_DONE
                                : train_end(train, TRAIN_REFUSED, "%s", quantize_error_text(error));
}

/* --- net: Adam --- */

static int report_adam(void *context, uint64_t done, unsigned epoch, double training, double validation)
{
    struct train *train = context;
    char note[96];
    if (validation > 0.0)
        snprintf(note, sizeof note, "epoch %u  loss %.5f  validation %.5f", epoch, training, validation);
    else
        snprintf(note, sizeof note, "epoch %u  loss %.5f", epoch, training);
    return train->report(train->report_context, done, (uint64_t)train->merged_count * train->options.epochs,
                         note);
}

/* What a checkpoint must have in common with a run that goes on from it. */
static void identify(const struct train *train, uint8_t identity[crypto_hash_sha256_BYTES])
{
    const struct train_options *options = &train->options;
    char text[512];
    int length = snprintf(text, sizeof text, "%s %s %s %u %u %.17g %" PRIu64 " %.17g %.17g %.17g %d ",
                          train_build(), engine_build(), blas_core(), options->epochs, options->batch,
                          options->rate, train->reader.filters.seed, train->lambda, train->k,
                          options->count_cap, options->tables_seeds);
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)text, (unsigned long long)length);
    crypto_hash_sha256_update(&state, train->data_sha256, sizeof train->data_sha256);
    crypto_hash_sha256_final(&state, identity);
}

static enum train_status round_net(struct train *train)
{
    size_t rows = train->merged_count < SEED_VALUE_ROWS ? train->merged_count : SEED_VALUE_ROWS;
    double seed = net_seed_value(&train->net->net, train->merged, rows);
    enum quantize_error error = quantize_net(&train->net->net, seed, &train->quantized);
    return error == QUANTIZE_OK ? TRAIN_DONE
                                : train_end(train, TRAIN_REFUSED, "%s", quantize_error_text(error));
}

static enum train_status fit_adam(struct train *train)
{
    struct train_options *chosen = &train->options;
    if (chosen->batch == 0) /* so that the record says what was used */
        chosen->batch = net_batch(train->merged_count);
    struct net_options options = {.threads = chosen->threads,
                                  .epochs = chosen->epochs,
                                  .batch = chosen->batch,
                                  .rate = chosen->rate,
                                  .seed = train->reader.filters.seed,
                                  .checkpoint = chosen->checkpoint};
    struct row_targets targets = {train->lambda, train->k};
    identify(train, options.identity);
    free(train->net);
    train->net = aligned_alloc(64, sizeof *train->net);
    if (!train->net)
        return train_end(train, TRAIN_FAILED, "memory is short");
    memset(train->net, 0, sizeof *train->net);
    rows_shuffle(train->merged, train->merged_count);
    switch (net_run(train->merged, train->merged_count, &train->reader.validation, targets, &options,
                    train->report ? report_adam : NULL, train, train->net, train->reason,
                    sizeof train->reason)) {
    case NET_OK:
        return round_net(train);
    case NET_ERROR_STOPPED:
        return TRAIN_STOPPED;
    case NET_ERROR_ROWS:
    case NET_ERROR_CHECKPOINT:
        return TRAIN_REFUSED;
    case NET_ERROR_MEMORY:
    case NET_ERROR_NUMBER:
        break;
    }
    return TRAIN_FAILED;
}

/* --- both --- */

enum train_status train_fit(struct train *train)
{
    return train->options.kind == WEIGHTS_NET ? fit_adam(train) : fit_newton(train);
}

double train_rounding(const struct train *train)
{
    if (train->options.kind == WEIGHTS_NET)
        return quantize_net_largest_error(&train->net->net, train->weights, train->merged,
                                          train->merged_count);
    return quantize_largest_error(&train->fit, train->weights, train->merged, train->merged_count);
}
