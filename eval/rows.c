#include "eval/rows.h"

#include <math.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bytes.h"
#include "engine/play.h"

enum { ROWS_FIRST_CAPACITY = 1 << 14, ROW_BYTES = 11 };

void rows_init(struct rows *rows, size_t limit)
{
    *rows = (struct rows){.limit = limit};
}

void rows_done(struct rows *rows)
{
    free(rows->items);
    *rows = (struct rows){0};
}

enum rows_error rows_add(struct rows *rows, const struct row *row)
{
    if (rows->count >= rows->limit)
        return ROWS_ERROR_LIMIT;
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity + rows->capacity / 2 : ROWS_FIRST_CAPACITY;
        capacity = capacity < rows->limit ? capacity : rows->limit;
        struct row *items = realloc(rows->items, capacity * sizeof *items);
        if (!items)
            return ROWS_ERROR_MEMORY;
        rows->items = items;
        rows->capacity = capacity;
    }
    rows->items[rows->count++] = *row;
    return ROWS_OK;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->score != b->score)
        return a->score < b->score ? -1 : 1;
    if (a->half_points != b->half_points)
        return a->half_points < b->half_points ? -1 : 1;
    return (a->game > b->game) - (a->game < b->game);
}

void rows_sort(struct rows *rows)
{
    if (rows->count > 1)
        qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
}

static bool contains_key(const struct rows *rows, uint64_t key)
{
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->count && rows->items[low].key == key;
}

size_t rows_shared(const struct rows *rows, const struct rows *sample)
{
    size_t shared = 0;
    for (size_t i = 0; i < sample->count; i++)
        shared += contains_key(rows, sample->items[i].key);
    return shared;
}

static void digest_set(crypto_hash_sha256_state *state, const struct rows *rows, uint8_t name)
{
    uint8_t block[ROW_BYTES * 1024];
    size_t used = 0;
    crypto_hash_sha256_update(state, &name, 1);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        bytes_put_u32(block + used, (uint32_t)row->key);
        bytes_put_u32(block + used + 4, (uint32_t)(row->key >> 32));
        bytes_put_u16(block + used + 8, (uint16_t)row->score);
        block[used + 10] = row->half_points;
        used += ROW_BYTES;
        if (used == sizeof block) {
            crypto_hash_sha256_update(state, block, used);
            used = 0;
        }
    }
    crypto_hash_sha256_update(state, block, used);
}

void rows_digest(const struct rows *training, const struct rows *validation, uint8_t sha256[32])
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    digest_set(&state, training, 'T');
    digest_set(&state, validation, 'V');
    crypto_hash_sha256_final(&state, sha256);
}

double row_target(const struct row *row, double lambda, double k)
{
    double result = row->half_points / 2.0;
    if (row->score == PLAY_NO_SCORE || lambda >= 1.0) /* then k may be 0 */
        return result;
    return lambda * result + (1.0 - lambda) / (1.0 + exp(-row->score / k));
}

enum rows_error rows_merge(const struct rows *rows, double lambda, double k, double cap,
                           struct merged **merged, size_t *count)
{
    size_t keys = 0;
    for (size_t i = 0; i < rows->count; i++)
        keys += i == 0 || rows->items[i].key != rows->items[i - 1].key;
    struct merged *list = malloc((keys ? keys : 1) * sizeof *list);
    if (!list)
        return ROWS_ERROR_MEMORY;
    size_t made = 0;
    for (size_t i = 0; i < rows->count;) {
        uint64_t key = rows->items[i].key;
        size_t first = i;
        double sum = 0.0;
        for (; i < rows->count && rows->items[i].key == key; i++)
            sum += row_target(&rows->items[i], lambda, k);
        double number = (double)(i - first);
        list[made++] = (struct merged){
            .key = key, .target = sum / number, .weight = cap > 0.0 && number > cap ? cap : number};
    }
    *merged = list;
    *count = made;
    return ROWS_OK;
}
