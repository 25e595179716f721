/* Who plays the batches of a tune, as far as it matters to the event loop: the players of those that may be
 * leased, and of the latest that are counted, for results that come again. Plain data; one thread at a time.
 */
#ifndef KROO_COORDINATOR_TUNE_BOOK_H
#define KROO_COORDINATOR_TUNE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sql/store_tune.h"

enum { TUNE_BOOK_MAX = 65536 }; /* batches, some 200 bytes each; older ones are forgotten */

struct tune_pairing {
    uint8_t weights[2][STORE_HASH];
    char *options[2]; /* owned */
};

struct tune_book {
    uint32_t batch_pairs;
    uint64_t first; /* batch of pairings[0] */
    size_t count, room;
    struct tune_pairing *pairings;
};

/* NULL without memory. */
struct tune_book *tune_book_create(uint32_t batch_pairs, uint64_t first);
void tune_book_destroy(struct tune_book *book);
/* The next batch. 0, or -1 without memory. */
int tune_book_add(struct tune_book *book, const struct store_tune_batch *batch);
/* What `news` has beyond the end of `book`; it starts anew where there is a gap. 0, or -1 without memory. */
int tune_book_merge(struct tune_book *book, const struct tune_book *news);
/* NULL when the pair's batch is forgotten or not known yet. */
const struct tune_pairing *tune_book_find(const struct tune_book *book, uint64_t pair);
/* No pair at or above this has players. */
uint64_t tune_book_limit(const struct tune_book *book);

#endif
