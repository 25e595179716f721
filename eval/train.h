/* A fit from rows to a weights file, without database or terminal: checks, scale, merging, Newton,
 * quantisation, judging, and the gate (TRAINER "Fitting", "Judging a fit"). The same rows, options and BLAS
 * core type give the same bytes, whatever the number of threads. One thread calls; the fit starts its own. */
#ifndef KROO_EVAL_TRAIN_H
#define KROO_EVAL_TRAIN_H

#include "eval/endgame.h"
#include "eval/fit.h"
#include "eval/judge.h"
#include "eval/net.h"
#include "eval/perfect.h"
#include "eval/quantize.h"
#include "eval/reader.h"

enum { TRAIN_WARNINGS_MAX = 8, TRAIN_TEXT = 400, TRAIN_MIN_POSITIONS = 2000 };

struct train_options {
    enum weights_kind kind;
    double lambda;
    unsigned threads;
    double ridge; /* Newton: table and features */
    unsigned iterations;
    enum fit_kernel kernel;
    unsigned epochs, batch; /* Adam: net; batch 0 = as suits the data (net_batch) */
    double rate;
    const char *checkpoint; /* file, or NULL */
    int tables_seeds;       /* how far the tables correct targets; 0 = not at all */
    double count_cap;       /* most weight of one position; 0 = none */
    uint64_t min_positions;
    bool force; /* keep weights that judge worse than their parent */
};

struct train_parent {
    struct weights *weights; /* owned */
    uint8_t sha256[STORE_HASH];
    uint64_t number;
    bool stored; /* false: the built-in starting weights, which have no row */
};

enum train_status {
    TRAIN_DONE,
    TRAIN_REFUSED, /* the data or the outcome: the reason says why and what to do */
    TRAIN_FAILED,  /* memory, or a number that is none */
    TRAIN_STOPPED,
};

/* `done` of `total` steps or positions, and a note for people; a non-zero return stops the fit. */
typedef int train_report(void *context, uint64_t done, uint64_t total, const char *note);

struct train {
    struct train_options options;
    struct train_parent parent;
    struct store_range ranges[READER_SOURCES_MAX]; /* the closed manifest */
    size_t range_count;
    struct reader reader; /* what it read; its training rows are gone after the merge */
    train_report *report; /* may be NULL */
    void *report_context;

    double lambda;          /* as used: 1 where no position has a score */
    double k;               /* scale of the scores; 0 = not fitted */
    double parent_k, own_k; /* scales of the parent's and of the new weights' scores */
    uint8_t data_sha256[STORE_HASH];
    bool has_data_sha256;
    uint64_t positions; /* training positions before merging */
    uint64_t validation_positions, shared;
    struct merged *merged; /* in the place of the reader's training rows */
    size_t merged_count;
    struct tables *tables; /* owned; NULL = none */
    struct endgame_targets exact;
    struct fit fit;      /* of table and features */
    struct net_fit *net; /* of a net; owned */
    struct quantized quantized;
    double quantisation_error;
    double train_before, train_after;
    bool judged;
    struct judge judge;
    struct perfect perfect; /* for the record; whoever fits fills it */
    double start_score;     /* hundredths of a seed at the start position, new weights */
    struct weights *weights;
    void *bytes; /* of the weights file */
    size_t size;
    uint8_t sha256[STORE_HASH];

    char warnings[TRAIN_WARNINGS_MAX][TRAIN_TEXT];
    size_t warning_count;
    char reason[TRAIN_TEXT + READER_REASON];
};

/* Runs everything after the reading. On TRAIN_DONE `bytes` is the file; else `reason` is set, and what was
 * computed before the refusal stands for the record. */
enum train_status train_run(struct train *train);
/* The part before any fitting: checks, digest, scale, merging. For who wants to know what data there is. */
enum train_status train_look(struct train *train);
/* Judges given weights against the parent instead of fitting any: `weights` is taken over, whatever the
 * outcome. */
enum train_status train_compare(struct train *train, struct weights *weights);
/* Frees what the run owns, the reader and the parent's weights included. */
void train_done(struct train *train);

#endif
