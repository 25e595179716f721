/* The transposition table of a search. 16-byte entries in buckets of four (a cache line); the key is the
 * board itself, packed: 6 bits for each house and the mover's store are 78 bits (the other store follows from
 * the 48 seeds), so two boards never pass for one another. A search that stands on more than the board (what
 * has repeated, how near the quiet limit is) mixes that `context` into the low word; then 64 bits of hash
 * tell contexts apart. Entries of an earlier game are invisible and count as empty, so a new game costs
 * nothing and plays as with an empty table. One thread owns it; others may find and store at the same time
 * (an entry's words are written one by one, and the first is kept combined with the second, so that an entry
 * of two halves matches no key). Internal to engine/. */
#ifndef KROO_ENGINE_TRANSPOSITION_H
#define KROO_ENGINE_TRANSPOSITION_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/board.h"

enum transposition_bound { TRANSPOSITION_UPPER = 1, TRANSPOSITION_LOWER = 2, TRANSPOSITION_EXACT = 3 };

enum {
    TRANSPOSITION_BUCKET = 4,
    TRANSPOSITION_NO_MOVE = 7,
    TRANSPOSITION_REACH_MAX = 127,
    TRANSPOSITION_KIB_MAX = 16 << 20,
};

/* `data`, from bit 0: high key 14, score 16, depth 7, reach 7, bound 2, move 3, age 6, game 9 (0: never
 * used). `check` is the low key ^ data. */
struct transposition_entry {
    atomic_uint_least64_t check, data;
};

struct transposition {
    struct transposition_entry *entries; /* owned; aligned to a bucket */
    size_t buckets;
    unsigned game; /* 1..511 */
    unsigned age;  /* of the search within the game, modulo 64: older entries give way first */
};

struct transposition_key {
    uint64_t low, high;
};

struct transposition_record {
    int score; /* int16 range */
    int depth; /* 0..127 */
    int reach; /* 0..127: plies below this board that a quiet line of the search behind the score went */
    enum transposition_bound bound;
    int move; /* 0..5 or TRANSPOSITION_NO_MOVE */
};

/* 0, or -1 when memory is short or `kib` is 0 or above TRANSPOSITION_KIB_MAX. */
int transposition_init(struct transposition *table, unsigned kib);
void transposition_done(struct transposition *table);
void transposition_new_game(struct transposition *table);
void transposition_new_search(struct transposition *table);
/* Entries of this game among the first thousand, in permille. */
int transposition_permille(const struct transposition *table);

/* 6 bits a byte, seven bytes. */
static inline uint64_t transposition_pack(uint64_t row)
{
    uint64_t pairs = (row & UINT64_C(0x003f003f003f003f)) | (row & UINT64_C(0x00003f003f003f00)) >> 2;
    uint64_t quads = (pairs & UINT64_C(0x00000fff00000fff)) | (pairs & UINT64_C(0x0fff00000fff0000)) >> 4;
    return (quads & UINT64_C(0xffffff)) | (quads >> 32) << 24;
}

static inline struct transposition_key transposition_key(struct board board, uint64_t context)
{
    uint64_t own = transposition_pack(board.own), other = transposition_pack(board.other & BOARD_ROW);
    return (struct transposition_key){.low = (own | other << 42) ^ context, .high = other >> 22};
}

/* Where an entry of the board stands, and the name of the board in sums over a history. */
static inline uint64_t transposition_hash(struct board board)
{
    uint64_t x = board.own * UINT64_C(0x9e3779b97f4a7c15) + board.other * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 32);
}

static inline uint64_t transposition_hash_with(uint64_t hash, uint64_t context)
{
    return context == 0 ? hash : mix_finish(hash ^ context);
}

static inline struct transposition_entry *transposition_bucket(const struct transposition *table,
                                                               uint64_t hash)
{
    return table->entries + TRANSPOSITION_BUCKET * ((hash >> 32) * table->buckets >> 32);
}

static inline void transposition_prefetch(const struct transposition *table, uint64_t hash)
{
    __builtin_prefetch(transposition_bucket(table, hash));
}

static inline unsigned transposition_game(uint64_t data)
{
    return (unsigned)(data >> 55);
}

static inline uint64_t transposition_read(const atomic_uint_least64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Whether an entry of this game with these words has the key. */
static inline bool transposition_is(const struct transposition *table, struct transposition_key key,
                                    uint64_t check, uint64_t data)
{
    return (check ^ data) == key.low && (data & 0x3fff) == key.high &&
           transposition_game(data) == table->game;
}

static inline bool transposition_find(const struct transposition *table, struct transposition_key key,
                                      uint64_t hash, struct transposition_record *out)
{
    const struct transposition_entry *entry = transposition_bucket(table, hash);
    for (int slot = 0; slot < TRANSPOSITION_BUCKET; slot++, entry++) {
        uint64_t data = transposition_read(&entry->data);
        if (!transposition_is(table, key, transposition_read(&entry->check), data))
            continue;
        out->score = (int16_t)(uint16_t)(data >> 14);
        out->depth = (int)(data >> 30 & 0x7f);
        out->reach = (int)(data >> 37 & 0x7f);
        out->bound = (enum transposition_bound)(data >> 44 & 3);
        out->move = (int)(data >> 46 & 7);
        return true;
    }
    return false;
}

/* Takes the entry of the same key, else an invisible one, else one of an older search, else the shallowest.
 */
static inline void transposition_store(struct transposition *table, struct transposition_key key,
                                       uint64_t hash, const struct transposition_record *record)
{
    struct transposition_entry *bucket = transposition_bucket(table, hash), *victim = bucket;
    unsigned least = UINT32_MAX;
    for (struct transposition_entry *entry = bucket; entry < bucket + TRANSPOSITION_BUCKET; entry++) {
        uint64_t data = transposition_read(&entry->data);
        if (transposition_is(table, key, transposition_read(&entry->check), data)) {
            victim = entry;
            break;
        }
        unsigned fresh = (data >> 49 & 0x3f) == table->age ? 128 : 0;
        unsigned worth =
            transposition_game(data) == table->game ? 1 + fresh + ((unsigned)(data >> 30) & 0x7f) : 0;
        if (worth < least) {
            least = worth;
            victim = entry;
        }
    }
    uint64_t data = key.high | (uint64_t)(uint16_t)record->score << 14 | (uint64_t)record->depth << 30 |
                    (uint64_t)record->reach << 37 | (uint64_t)record->bound << 44 |
                    (uint64_t)record->move << 46 | (uint64_t)table->age << 49 | (uint64_t)table->game << 55;
    atomic_store_explicit(&victim->check, key.low ^ data, memory_order_relaxed);
    atomic_store_explicit(&victim->data, data, memory_order_relaxed);
}

#endif
