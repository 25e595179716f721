/* Positions as the trainer keeps them: 16 bytes each, in one mapping that grows without a copy, sorted and
 * merged where they lie. So memory at its peak is ROWS_BYTES a position, or, with a scratch folder, a file of
 * that size which the system pages. One thread. */
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

/* Equal positions as one: the mean target carries the same gradient as its rows did. */
struct merged {
    uint64_t key;
    float target; /* mean, in [0, 1] */
    float weight; /* rows behind it, or the cap */
};

enum { ROWS_BYTES = 16 };
_Static_assert(sizeof(struct row) == ROWS_BYTES && sizeof(struct merged) == ROWS_BYTES,
               "merged entries take the place of rows");

struct rows {
    struct row *items; /* a mapping of its own, `capacity` items */
    size_t count, capacity;
    size_t limit; /* rows; rows_add refuses beyond it */
    int file;     /* of the mapping, plus one; 0 = memory */
};

enum rows_error { ROWS_OK = 0, ROWS_ERROR_LIMIT = -1, ROWS_ERROR_MEMORY = -2 };

void rows_init(struct rows *rows, size_t limit);
/* Keeps the rows in a file without a name in `folder`, for more of them than there is memory. Right after
 * rows_init. ROWS_ERROR_MEMORY when no file can be made there. */
enum rows_error rows_on_disk(struct rows *rows, const char *folder);
void rows_done(struct rows *rows);
/* A failure has no effect. */
enum rows_error rows_add(struct rows *rows, const struct row *row);

/* Sorts by (phase, mixed key, score, half points, game): an order in which arrival has no part. */
void rows_sort(struct rows *rows);
/* Sorts by game, then as rows_sort. */
void rows_sort_by_game(struct rows *rows);

/* Rows of the sorted `sample` whose position occurs in the sorted `rows`. */
size_t rows_shared(const struct rows *rows, const struct rows *sample);

/* SHA-256 over both sorted sets, game numbers left out: one byte 'T' or 'V' before each set, then for each
 * row key, score, half points in little-endian (8 + 2 + 1 bytes). */
void rows_digest(const struct rows *training, const struct rows *validation, uint8_t sha256[32]);

/* Target of a row: lambda * result + (1 - lambda) * sigmoid(score / k); the result alone where there is no
 * score (TRAINER "Data"). */
double row_target(const struct row *row, double lambda, double k);
struct row_targets {
    double lambda, k;
};

/* Merges sorted rows, sums in sorted order; `cap` bounds a weight, 0 = none. The entries take the place of
 * the rows, which are gone: they live until rows_done. */
struct merged *rows_merge(struct rows *rows, double lambda, double k, double cap, size_t *count);

/* Puts merged entries into an order that has nothing to do with what their keys say: that of mixed keys. */
void rows_shuffle(struct merged *merged, size_t count);

#endif
