/* Positions as the trainer keeps them: 16 bytes each, in one array with a stated bound, later merged to one
 * entry a key. Memory at its peak is ROWS_PEAK_BYTES for each position read. One thread. */
#ifndef KROO_EVAL_ROWS_H
#define KROO_EVAL_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* One position of one game, seen by its mover. */
struct row {
    uint64_t key;        /* features.h */
    uint32_t game;       /* number in order of reading; the cluster of the standard error */
    int16_t score;       /* hundredths of a seed; PLAY_NO_SCORE where there is none */
    uint8_t half_points; /* of the mover at the end of the game: 0, 1, 2 */
    uint8_t zero;
};

enum {
    ROWS_PEAK_BYTES =
        48, /* a row with the slack of growth, and beside it the sort's copy or its merged entry */
};

struct rows {
    struct row *items;
    size_t count, capacity;
    size_t limit; /* rows; rows_add refuses beyond it */
};

enum rows_error { ROWS_OK = 0, ROWS_ERROR_LIMIT = -1, ROWS_ERROR_MEMORY = -2 };

void rows_init(struct rows *rows, size_t limit);
void rows_done(struct rows *rows);
/* A failure has no effect. */
enum rows_error rows_add(struct rows *rows, const struct row *row);

/* Sorts by (key, score, half points, game): an order in which arrival has no part. */
void rows_sort(struct rows *rows);

/* Rows of `sample` (any order) whose key occurs in the sorted `rows`. */
size_t rows_shared(const struct rows *rows, const struct rows *sample);

/* SHA-256 over both sorted sets, game numbers left out: one byte 'T' or 'V' before each set, then for each
 * row key, score, half points in little-endian (8 + 2 + 1 bytes). */
void rows_digest(const struct rows *training, const struct rows *validation, uint8_t sha256[32]);

/* Equal positions as one: the mean target carries the same gradient as its rows did. */
struct merged {
    uint64_t key;
    double target; /* mean, in [0, 1] */
    double weight; /* rows behind it, or the cap */
};

/* Target of a row: lambda * result + (1 - lambda) * sigmoid(score / k); the result alone where there is no
 * score (TRAINER "Data"). */
double row_target(const struct row *row, double lambda, double k);

/* Merges sorted rows, sums in sorted order; `cap` bounds a weight, 0 = none. `*merged` is malloc'ed. */
enum rows_error rows_merge(const struct rows *rows, double lambda, double k, double cap,
                           struct merged **merged, size_t *count);

#endif
