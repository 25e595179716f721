#include "coordinator/tune_book.h"

#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"

struct tune_book *tune_book_create(uint32_t batch_pairs, uint64_t first)
{
    struct tune_book *book = calloc(1, sizeof *book);
    if (book) {
        book->batch_pairs = batch_pairs;
        book->first = first;
    }
    return book;
}

static void pairing_done(struct tune_pairing *pairing)
{
    free(pairing->options[0]);
    free(pairing->options[1]);
    pairing->options[0] = pairing->options[1] = NULL;
}

static int pairing_init(struct tune_pairing *pairing, const uint8_t weights[2][STORE_HASH], const char *a,
                        const char *b)
{
    *pairing = (struct tune_pairing){.options = {strdup(a), strdup(b)}};
    if (!pairing->options[0] || !pairing->options[1]) {
        pairing_done(pairing);
        return -1;
    }
    memcpy(pairing->weights, weights, sizeof pairing->weights);
    artifact_hash(a, strlen(a), pairing->options_sha256[0]);
    artifact_hash(b, strlen(b), pairing->options_sha256[1]);
    return 0;
}

static void forget(struct tune_book *book, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pairing_done(&book->pairings[i]);
    memmove(book->pairings, book->pairings + count, (book->count - count) * sizeof *book->pairings);
    book->count -= count;
    book->first += count;
}

void tune_book_destroy(struct tune_book *book)
{
    if (!book)
        return;
    if (book->count)
        forget(book, book->count);
    for (size_t i = 0; i < TUNE_BOOK_RECALLED; i++)
        pairing_done(&book->recalled[i].pairing);
    free(book->pairings);
    free(book);
}

static bool make_room(struct tune_book *book)
{
    if (book->count == TUNE_BOOK_MAX)
        forget(book, TUNE_BOOK_MAX / 4);
    if (book->count < book->room)
        return true;
    size_t room = book->room ? 2 * book->room : 16;
    struct tune_pairing *larger = realloc(book->pairings, room * sizeof *larger);
    if (!larger)
        return false;
    book->pairings = larger;
    book->room = room;
    return true;
}

static int add(struct tune_book *book, const uint8_t weights[2][STORE_HASH], const char *a, const char *b)
{
    struct tune_pairing pairing;
    if (pairing_init(&pairing, weights, a, b) != 0)
        return -1;
    if (!make_room(book)) {
        pairing_done(&pairing);
        return -1;
    }
    book->pairings[book->count++] = pairing;
    return 0;
}

int tune_book_add(struct tune_book *book, const struct store_tune_batch *batch)
{
    return add(book, batch->weights, batch->options[0], batch->options[1]);
}

int tune_book_merge(struct tune_book *book, const struct tune_book *news)
{
    if (news->count == 0)
        return 0;
    if (news->first > book->first + book->count) {
        if (book->count)
            forget(book, book->count);
        book->first = news->first;
    }
    for (size_t i = 0; i < news->count; i++) {
        const struct tune_pairing *pairing = &news->pairings[i];
        if (news->first + i < book->first + book->count)
            continue;
        if (add(book, pairing->weights, pairing->options[0], pairing->options[1]) != 0)
            return -1;
    }
    return 0;
}

int tune_book_recall(struct tune_book *book, const struct store_tune_batch *batch)
{
    struct tune_recalled *place = &book->recalled[book->recalled_next % TUNE_BOOK_RECALLED];
    struct tune_pairing pairing;
    if (tune_book_find(book, batch->batch * book->batch_pairs))
        return 0;
    if (pairing_init(&pairing, batch->weights, batch->options[0], batch->options[1]) != 0)
        return -1;
    pairing_done(&place->pairing);
    *place = (struct tune_recalled){batch->batch, pairing};
    book->recalled_next++;
    return 0;
}

const struct tune_pairing *tune_book_find(const struct tune_book *book, uint64_t pair)
{
    uint64_t batch = pair / book->batch_pairs;
    if (batch >= book->first && batch - book->first < book->count)
        return &book->pairings[batch - book->first];
    for (size_t i = 0; i < TUNE_BOOK_RECALLED; i++)
        if (book->recalled[i].pairing.options[0] && book->recalled[i].batch == batch)
            return &book->recalled[i].pairing;
    return NULL;
}

bool tune_book_is_forgotten(const struct tune_book *book, uint64_t pair)
{
    return pair / book->batch_pairs < book->first && !tune_book_find(book, pair);
}

uint64_t tune_book_limit(const struct tune_book *book)
{
    return (book->first + book->count) * book->batch_pairs;
}
