/* The `net` kind in real numbers: 243 inputs, 32 clipped units, one output (TRAINER "Two kinds in one weights
 * format"), fitted by mini-batch Adam (Kingma, Ba, arXiv 1412.6980) on cross-entropy.
 *
 * The first layer gathers and scatters thirteen rows of weights a position, the second one is cblas_sgemm. A
 * batch is NET_PARTS parts, each summed by one thread, the sums added in order of the parts: the same bits
 * for any number of threads, given the same BLAS core type. After each epoch the state can be written to a
 * checkpoint, from which a later run goes on to the same end. */
#ifndef KROO_EVAL_NET_H
#define KROO_EVAL_NET_H

#include <stdbool.h>

#include "eval/features.h"
#include "eval/rows.h"

enum {
    NET_HIDDEN = WEIGHTS_NET_HIDDEN,
    NET_INPUTS = WEIGHTS_NET_INPUTS,
    NET_ACTIVE = WEIGHTS_HOUSES + 1, /* inputs that are one */
    NET_PARTS = 8,
    NET_EPOCHS = 24,
    NET_EPOCHS_MAX = 1000,
    NET_BATCH_LOW = 256, /* net_batch stays within these */
    NET_BATCH_HIGH = 2048,
    NET_BATCH_MAX = 1 << 16,
};
#define NET_RATE 4e-3

/* Hidden units are clipped to 0..1, the output is log odds. Begins a cache line. */
struct net {
    _Alignas(64) float input[NET_INPUTS][NET_HIDDEN];
    float bias[NET_HIDDEN];
    float output[NET_HIDDEN];
    float output_bias, zero[15];
};

struct net_options {
    unsigned threads;
    unsigned epochs; /* 1..NET_EPOCHS_MAX */
    unsigned batch;  /* positions, a multiple of NET_PARTS, up to NET_BATCH_MAX */
    double rate;   /* first learning rate; a third of it from half of the epochs on, a tenth from 3/4, ... */
    uint64_t seed; /* first weights and order of the batches */
    const char *checkpoint; /* file, NULL = none; one that is there is gone on from */
    uint8_t identity[32];   /* of data and options; a checkpoint of another identity is refused */
};

struct net_epoch {
    double training, validation; /* mean cross-entropy; training is that of the batches as they went by */
    double rate;
};

struct net_fit {
    struct net net; /* of the epoch with the least validation loss; of the last one without validation */
    unsigned epochs, best, resumed; /* made; 1.. ; epochs that came from the checkpoint */
    struct net_epoch curve[NET_EPOCHS_MAX];
    double seconds; /* of the epochs made here */
};

enum net_error {
    NET_OK = 0,
    NET_ERROR_MEMORY = -1,
    NET_ERROR_NUMBER = -2,     /* NaN or infinity went in or came out */
    NET_ERROR_ROWS = -3,       /* fewer distinct positions than parameters */
    NET_ERROR_CHECKPOINT = -4, /* of another run, damaged, or cannot be written */
    NET_ERROR_STOPPED = -5,    /* on request; the checkpoint holds the last whole epoch */
};

/* Called after each batch; a non-zero return stops the fit. `done` positions of all epochs, `epoch` from 1,
 * its mean loss so far, and the last validation loss (0 = none yet). */
typedef int net_report(void *context, uint64_t done, unsigned epoch, double training, double validation);

/* `rows` in any order that has nothing to do with their keys. The validation positions and their targets are
 * read in shards. On failure `reason` says what to do. */
enum net_error net_run(const struct merged *rows, size_t count, const struct rows *validation,
                       struct row_targets targets, const struct net_options *options, net_report *report,
                       void *context, struct net_fit *out, char *reason, size_t reason_size);

/* A batch that suits so many rows: some 500 steps an epoch, where that is neither too noisy nor too slow. */
unsigned net_batch(size_t count);

/* Log odds of one position. */
double net_logit(const struct net *net, uint64_t key);
/* Mean change of the log odds by a seed more in the store, over up to `count` positions. */
double net_seed_value(const struct net *net, const struct merged *rows, size_t count);

#endif
