/* Opening books: sets of openings, each a sequence of legal moves from the usual start that leaves the game
 * unfinished, so that a game which begins with one is still replayable by its letters alone. No two openings
 * lead to the same position: houses, side to move and captured seeds count, and a position and its
 * colour-swapped twin (South's and North's seeds exchanged, the other side to move) are one. None is the
 * beginning of another, so that a game belongs to one opening. engine/README.md describes the file.
 *
 * A struct book is immutable once made and may be used by any thread. */
#ifndef KROO_ENGINE_BOOK_H
#define KROO_ENGINE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/rules.h"

enum {
    BOOK_OPENINGS_MAX = 1 << 20,
    BOOK_PLIES_MAX = 64,
    BOOK_MADE_MAX = 512, /* with its NUL */
    BOOK_BYTES_MAX = 64 * 1024 * 1024,
};

enum book_error {
    BOOK_OK = 0,
    BOOK_ERROR_READ = -1,
    BOOK_ERROR_MAGIC = -2,
    BOOK_ERROR_HEADER = -3,
    BOOK_ERROR_RULES = -4, /* made for other rules */
    BOOK_ERROR_CHECKSUM = -5,
    BOOK_ERROR_COUNT = -6,      /* other than the header says, none, or too many */
    BOOK_ERROR_LETTERS = -7,    /* a line that is no list of moves */
    BOOK_ERROR_ORDER = -8,      /* lines not in ascending order, or one that begins another */
    BOOK_ERROR_ILLEGAL = -9,    /* a move that the rules forbid */
    BOOK_ERROR_OVER = -10,      /* the opening ends the game */
    BOOK_ERROR_DUPLICATE = -11, /* two openings lead to one position */
    BOOK_ERROR_MEMORY = -12,
    BOOK_ERROR_STOPPED = -13, /* by the caller */
};
/* A sentence for people that says what to do. */
const char *book_error_text(enum book_error error);

struct book {
    struct rules rules;
    char made[BOOK_MADE_MAX]; /* one line: how it was made */
    uint32_t count;
    unsigned plies_min, plies_max;
    uint32_t *starts; /* count + 1: where each opening begins in `letters` */
    char *letters;    /* of all openings, one after another, in ascending order */
};

/* Checks everything, every opening replayed; `rules` non-NULL demands the same rules. `*line` (may be NULL)
 * is the line at fault, from 1, or 0. */
enum book_error book_parse(const void *bytes, size_t size, const struct rules *rules, struct book **out,
                           uint32_t *line);
enum book_error book_open(const char *path, const struct rules *rules, struct book **out, uint32_t *line);
/* A book of these openings, in any order. The same checks; `*line` counts openings, from 1, once sorted. */
enum book_error book_create(const struct rules *rules, const char *made, const char *const *openings,
                            uint32_t count, struct book **out, uint32_t *line);
void book_destroy(struct book *book); /* takes NULL */

/* The file; `*bytes` is malloc'ed. The same openings and words make the same bytes. */
enum book_error book_serialize(const struct book *book, void **bytes, size_t *size);

/* The letters of an opening, not NUL-terminated, and how many. */
const char *book_opening(const struct book *book, uint32_t index, unsigned *plies);

/* The opening of pair `pair` < book->count in an experiment with this seed: a permutation of the book keyed
 * by the seed, so that none comes twice before the book is used up. A balanced Feistel network of BOOK_ROUNDS
 * rounds over 2 h bits, h the least from 4 on with 2^(2h) >= count, walked on from values outside the book
 * until one is inside (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002): key =
 * mix(seed, MIX_STREAM_BOOK);  x = pair; do  left, right = halves of x; for r = 0 .. BOOK_ROUNDS - 1:  left,
 * right = right, left ^ low h bits of mix(key, r << 32 | right); x = left, right; while x >= count. A pure
 * function of three numbers. */
enum { BOOK_ROUNDS = 8 };
uint32_t book_permute(uint32_t count, uint64_t seed, uint64_t pair);

#endif
