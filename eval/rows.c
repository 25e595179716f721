#include "eval/rows.h"

#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/bytes.h"
#include "engine/mix.h"
#include "engine/play.h"
#include "eval/features.h"
#include "eval/radix.h"

enum { ROWS_FIRST_CAPACITY = 1 << 16, DIGEST_BYTES = 11 };

/* --- the mapping --- */

void rows_init(struct rows *rows, size_t limit)
{
    *rows = (struct rows){.limit = limit};
}

enum rows_error rows_on_disk(struct rows *rows, const char *folder)
{
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        return ROWS_ERROR_MEMORY;
    rows->file = file + 1;
    return ROWS_OK;
}

void rows_done(struct rows *rows)
{
    if (rows->items)
        munmap(rows->items, rows->capacity * sizeof *rows->items);
    if (rows->file)
        close(rows->file - 1);
    *rows = (struct rows){0};
}

/* Pages that were not written to take no memory, so doubling costs none. Blocks of a file are taken at once:
 * a full disk must be an error here, not a signal later. */
static bool grow(struct rows *rows)
{
    size_t capacity = rows->capacity ? 2 * rows->capacity : ROWS_FIRST_CAPACITY;
    size_t old = rows->capacity * sizeof *rows->items, size = capacity * sizeof *rows->items;
    if (rows->file && posix_fallocate(rows->file - 1, (off_t)old, (off_t)(size - old)) != 0)
        return false;
    void *items = rows->items  ? mremap(rows->items, old, size, MREMAP_MAYMOVE)
                  : rows->file ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, rows->file - 1, 0)
                               : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (items == MAP_FAILED)
        return false;
    (void)madvise(items, size, MADV_HUGEPAGE); /* sorting jumps about; a refusal costs speed alone */
    rows->items = items;
    rows->capacity = capacity;
    return true;
}

enum rows_error rows_add(struct rows *rows, const struct row *row)
{
    if (rows->count >= rows->limit)
        return ROWS_ERROR_LIMIT;
    if (rows->count == rows->capacity && !grow(rows))
        return ROWS_ERROR_MEMORY;
    rows->items[rows->count++] = *row;
    return ROWS_OK;
}

/* --- orders --- */

enum { ORDER_LEVELS = 16, ORDER_REST = 9, GAME_LEVELS = 4 };

/* Phase, then the mixed key: keys crowd together, mixed ones fill every digit evenly, so that three passes
 * bring most rows to their place. */
static inline uint64_t key_order(uint64_t key)
{
    return (uint64_t)features_phase(key) << 62 | mix_finish(key) >> 2;
}

/* Score, half points and game as one number in their order. */
static inline uint64_t row_rest(const struct row *row)
{
    return (uint64_t)(uint16_t)(row->score ^ INT16_MIN) << 40 | (uint64_t)row->half_points << 32 | row->game;
}

static inline unsigned row_digit(const void *item, unsigned level)
{
    struct row row;
    memcpy(&row, item, sizeof row);
    if (level < ORDER_REST - 1)
        return (unsigned)(key_order(row.key) >> (8 * (ORDER_REST - 2 - level))) & 0xff;
    if (level == ORDER_REST - 1)
        return (unsigned)(mix_finish(row.key) & 3);
    return (unsigned)(row_rest(&row) >> (8 * (ORDER_LEVELS - 1 - level))) & 0xff;
}

static int compare_keys(uint64_t a, uint64_t b)
{
    uint64_t x = key_order(a), y = key_order(b);
    if (x == y) { /* but for the two bits that the phase takes the place of */
        x = mix_finish(a);
        y = mix_finish(b);
    }
    return (x > y) - (x < y);
}

static int compare_rows(const void *left, const void *right)
{
    struct row a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    if (a.key != b.key)
        return compare_keys(a.key, b.key);
    return (row_rest(&a) > row_rest(&b)) - (row_rest(&a) < row_rest(&b));
}

static unsigned game_digit(const void *item, unsigned level)
{
    struct row row;
    memcpy(&row, item, sizeof row);
    if (level < GAME_LEVELS)
        return row.game >> (8 * (GAME_LEVELS - 1 - level)) & 0xff;
    /* The lowest four digits of row_digit are the game again. */
    return row_digit(item, level - GAME_LEVELS);
}

static int compare_games(const void *left, const void *right)
{
    struct row a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a.game != b.game ? (a.game > b.game) - (a.game < b.game) : compare_rows(left, right);
}

void rows_sort(struct rows *rows)
{
    if (rows->count > 1)
        radix_sort(rows->items, rows->count, ORDER_LEVELS, row_digit, compare_rows);
}

void rows_sort_by_game(struct rows *rows)
{
    if (rows->count > 1)
        radix_sort(rows->items, rows->count, ORDER_LEVELS, game_digit, compare_games);
}

size_t rows_shared(const struct rows *rows, const struct rows *sample)
{
    size_t shared = 0;
    for (size_t i = 0, at = 0; i < sample->count; i++) {
        uint64_t key = sample->items[i].key;
        while (at < rows->count && compare_keys(rows->items[at].key, key) < 0)
            at++;
        shared += at < rows->count && rows->items[at].key == key;
    }
    return shared;
}

/* --- digest --- */

static void digest_set(crypto_hash_sha256_state *state, const struct rows *rows, uint8_t name)
{
    uint8_t block[DIGEST_BYTES * 1024];
    size_t used = 0;
    crypto_hash_sha256_update(state, &name, 1);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        bytes_put_u32(block + used, (uint32_t)row->key);
        bytes_put_u32(block + used + 4, (uint32_t)(row->key >> 32));
        bytes_put_u16(block + used + 8, (uint16_t)row->score);
        block[used + 10] = row->half_points;
        used += DIGEST_BYTES;
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

/* --- merging --- */

double row_target(const struct row *row, double lambda, double k)
{
    double result = row->half_points / 2.0;
    if (row->score == PLAY_NO_SCORE || lambda >= 1.0) /* then k may be 0 */
        return result;
    return lambda * result + (1.0 - lambda) / (1.0 + exp(-row->score / k));
}

struct merged *rows_merge(struct rows *rows, double lambda, double k, double cap, size_t *count)
{
    unsigned char *place = (unsigned char *)rows->items; /* entries never overtake the rows they come from */
    size_t made = 0;
    for (size_t i = 0; i < rows->count;) {
        uint64_t key = rows->items[i].key;
        size_t first = i;
        double sum = 0.0;
        for (; i < rows->count && rows->items[i].key == key; i++)
            sum += row_target(&rows->items[i], lambda, k);
        double number = (double)(i - first);
        struct merged entry = {.key = key,
                               .target = (float)(sum / number),
                               .weight = (float)(cap > 0.0 && number > cap ? cap : number)};
        memcpy(place + made++ * sizeof entry, &entry, sizeof entry);
    }
    rows->count = 0;
    *count = made;
    return (struct merged *)(void *)rows->items;
}

/* Mixed once, keys are digits in any order; entries have different keys. */
static unsigned shuffled_digit(const void *item, unsigned level)
{
    struct merged entry;
    memcpy(&entry, item, sizeof entry);
    return (unsigned)(mix_finish(entry.key) >> (8 * (7 - level))) & 0xff;
}

static int compare_shuffled(const void *left, const void *right)
{
    struct merged a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    uint64_t x = mix_finish(a.key), y = mix_finish(b.key);
    return (x > y) - (x < y);
}

void rows_shuffle(struct merged *merged, size_t count)
{
    if (count > 1)
        radix_sort(merged, count, 8, shuffled_digit, compare_shuffled);
}
