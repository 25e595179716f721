/* Who plays the batches of a tune, as far as it matters to the event loop: the players of those that may be
 * leased, and of the latest that are counted, for results that come again. Plain data; one thread at a time.
 */
#ifndef KROO_COORDINATOR_TUNE_BOOK_H
#define KROO_COORDINATOR_TUNE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sql/store_tune.h"

enum {
    TUNE_BOOK_MAX = 65536,  /* batches, some 300 bytes each; older ones are forgotten ... */
    TUNE_BOOK_RECALLED = 64 /* ... and so many of them remembered again, for late results and audits */
};

struct tune_pairing {
    uint8_t weights[2][STORE_HASH];
    char *options[2];                      /* owned */
    uint8_t options_sha256[2][STORE_HASH]; /* of these lines */
};

struct tune_book {
    uint32_t batch_pairs;
    uint64_t first; /* batch of pairings[0] */
    size_t count, room;
    struct tune_pairing *pairings;
    /* Older batches that somebody asked for, in a ring: the database has them all. */
    struct tune_recalled {
        uint64_t batch;
        struct tune_pairing pairing; /* options[0] NULL: free */
    } recalled[TUNE_BOOK_RECALLED];
    size_t recalled_next;
};

/* NULL without memory. */
struct tune_book *tune_book_create(uint32_t batch_pairs, uint64_t first);
void tune_book_destroy(struct tune_book *book);
/* The next batch. 0, or -1 without memory. */
int tune_book_add(struct tune_book *book, const struct store_tune_batch *batch);
/* What `news` has beyond the end of `book`; it starts anew where there is a gap. 0, or -1 without memory. */
int tune_book_merge(struct tune_book *book, const struct tune_book *news);
/* Who plays is known of no batch, the recalled ones apart: first of a tune that has ended. */
#define TUNE_BOOK_NOTHING UINT32_MAX
/* One that was forgotten (weights of zeros: there is none such), in place of the one recalled longest ago. 0,
 * or -1 without memory. */
int tune_book_recall(struct tune_book *book, const struct store_tune_batch *batch);
/* NULL when the pair's batch is forgotten or not known yet. */
const struct tune_pairing *tune_book_find(const struct tune_book *book, uint64_t pair);
/* Is it below what is remembered, so that only the database has its players? */
bool tune_book_is_forgotten(const struct tune_book *book, uint64_t pair);
/* No pair at or above this has players. */
uint64_t tune_book_limit(const struct tune_book *book);

#endif
