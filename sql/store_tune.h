/* Rows of tunes (016_tune.sql): part of the C layer that store.h opens. Everything is idempotent by key or
 * within the caller's transaction. The store's thread. */
#ifndef KROO_SQL_STORE_TUNE_H
#define KROO_SQL_STORE_TUNE_H

#include "sql/store.h"

struct store_tune {
    uint64_t experiment;
    uint32_t batch_pairs, lag;
    uint64_t batches;
    uint32_t parameters;
    bool is_tuned; /* ended: */
    uint8_t tuned[STORE_HASH];
    char tuned_options[STORE_OPTIONS];
    uint64_t match; /* 0: none */
};

/* `parameters_json`: an array of objects with number, name, start, low, high, c_end, r_end. */
enum store_error store_tune_create(struct store *store, const struct store_tune *tune,
                                   const char *parameters_json);
/* REFUSED when the experiment is no tune. */
enum store_error store_tune_get(struct store *store, uint64_t experiment, struct store_tune *out);
/* What came of it; once. */
enum store_error store_tune_finish(struct store *store, const struct store_tune *tune);

/* Pairs that had moved the parameters when two other workers agreed on other games; 0 of what is no tune. */
enum store_error store_tune_outvoted(struct store *store, uint64_t experiment, uint64_t *pairs);

struct store_tune_batch {
    uint64_t batch;
    uint8_t weights[2][STORE_HASH];
    char options[2][STORE_OPTIONS];
    bool is_applied;
    uint64_t won, lost;
    double *theta; /* NULL: thinned or not applied; valid during a callback */
    size_t theta_count;
};
enum store_error store_tune_batch_put(struct store *store, uint64_t experiment,
                                      const struct store_tune_batch *batch);
/* The result of a batch, and theta after it. REFUSED when it has one already. */
enum store_error store_tune_batch_apply(struct store *store, uint64_t experiment,
                                        const struct store_tune_batch *batch);
/* Forgets the thetas of applied batches below `below` whose number is no multiple of `step`. */
enum store_error store_tune_thin(struct store *store, uint64_t experiment, uint64_t below, uint64_t step);
/* Games of the pairs [first, end) that player a won and lost, and how many there are. */
enum store_error store_tune_result(struct store *store, uint64_t experiment, uint64_t first, uint64_t end,
                                   uint64_t *won, uint64_t *lost, uint64_t *games);

/* Batches [first, end) in order. A callback's non-zero return ends it and is returned. */
typedef int store_tune_row(void *context, const struct store_tune_batch *batch);
int store_tune_batches(struct store *store, uint64_t experiment, uint64_t first, uint64_t end,
                       store_tune_row *row, void *context);
/* The latest batch below `end` whose theta is kept, and the number of applied batches; *found false when
 * there is none. `theta` has `count` places. */
enum store_error store_tune_kept(struct store *store, uint64_t experiment, uint64_t end, double *theta,
                                 size_t count, uint64_t *batch, uint64_t *applied, bool *found);
/* The batch in which weights play: *found false when in none. */
enum store_error store_tune_find_weights(struct store *store, const uint8_t sha256[STORE_HASH],
                                         uint64_t *experiment, uint64_t *batch, bool *found);

/* Stores a file of kind `tune`; storing it again changes nothing. */
enum store_error store_tune_file_put(struct store *store, const uint8_t sha256[STORE_HASH],
                                     const void *content, size_t size);

#endif
