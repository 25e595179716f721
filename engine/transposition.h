/* The transposition table of one search. 16-byte entries in buckets of four (a cache line); the key is the
 * board itself, packed: 6 bits for each house and the mover's store are 78 bits (the other store follows from
 * the 48 seeds), so two boards never pass for one another. A search that stands on more than the board (what
 * has repeated, how near the quiet limit is) mixes that `context` into the low word; then 64 bits of hash
 * tell contexts apart. Entries of an earlier game are invisible and count as empty, so a new game costs
 * nothing and plays as with an empty table. Owned by one search, one thread; internal to engine/. */
#ifndef KROO_ENGINE_TRANSPOSITION_H
#define KROO_ENGINE_TRANSPOSITION_H

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
 * used). */
struct transposition_entry {
    uint64_t low;
    uint64_t data;
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

static inline struct transposition_key transposition_key(struct board board)
{
    uint64_t own = transposition_pack(board.own), other = transposition_pack(board.other & BOARD_ROW);
    return (struct transposition_key){.low = own | other << 42, .high = other >> 22};
}

static inline uint64_t transposition_hash(struct transposition_key key)
{
    uint64_t x = key.low + key.high * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 32);
}

static inline struct transposition_entry *transposition_bucket(const struct transposition *table,
                                                               uint64_t hash)
{
    return table->entries + TRANSPOSITION_BUCKET * ((hash >> 32) * table->buckets >> 32);
}

static inline unsigned transposition_game(const struct transposition_entry *entry)
{
    return (unsigned)(entry->data >> 55);
}

static inline unsigned transposition_depth(const struct transposition_entry *entry)
{
    return (unsigned)(entry->data >> 30) & 0x7f;
}

static inline bool transposition_find(const struct transposition *table, struct transposition_key key,
                                      uint64_t hash, struct transposition_record *out)
{
    const struct transposition_entry *entry = transposition_bucket(table, hash);
    for (int slot = 0; slot < TRANSPOSITION_BUCKET; slot++, entry++) {
        uint64_t data = entry->data;
        if (entry->low != key.low || (data & 0x3fff) != key.high || transposition_game(entry) != table->game)
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
        bool visible = transposition_game(entry) == table->game;
        if (visible && entry->low == key.low && (entry->data & 0x3fff) == key.high) {
            victim = entry;
            break;
        }
        unsigned fresh = (entry->data >> 49 & 0x3f) == table->age ? 128 : 0;
        unsigned worth = visible ? 1 + fresh + transposition_depth(entry) : 0;
        if (worth < least) {
            least = worth;
            victim = entry;
        }
    }
    victim->low = key.low;
    victim->data = key.high | (uint64_t)(uint16_t)record->score << 14 | (uint64_t)record->depth << 30 |
                   (uint64_t)record->reach << 37 | (uint64_t)record->bound << 44 |
                   (uint64_t)record->move << 46 | (uint64_t)table->age << 49 | (uint64_t)table->game << 55;
}

#endif
