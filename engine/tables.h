/* Endgame tables as the search sees them: a file of 16 bits for each board of up to N seeds, mapped
 * read-only and shared by all players of a host (DESIGN section 10; engine/README.md describes it field by
 * field). A struct tables is immutable and may be used by any thread.
 *
 * What a bracket is good for, and when, is the searcher's to know: LO and UP bound the true value only if no
 * position since the last capture has occurred twice, and at least `plies` quiet plies are left. */
#ifndef KROO_ENGINE_TABLES_H
#define KROO_ENGINE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/bytes.h"
#include "engine/index.h"
#include "engine/rules.h"

enum {
    TABLES_VERSION = 1,
    TABLES_SEEDS_MAX = 24,
    TABLES_NO_MOVE = 7,
    TABLES_BIAS = 32,
};

enum tables_convention {
    TABLES_ENDLESS_ZERO = 1, /* one value a board: an endless play pays nothing */
    TABLES_OWN_ROWS = 2,     /* brackets: an endless play pays own-row splits it visits for ever */
};

enum tables_error {
    TABLES_OK = 0,
    TABLES_ERROR_READ = -1,
    TABLES_ERROR_MAGIC = -2,
    TABLES_ERROR_VERSION = -3,
    TABLES_ERROR_SIZE = -4,
    TABLES_ERROR_CHECKSUM = -5,
    TABLES_ERROR_RULES = -6, /* made for other rules */
    TABLES_ERROR_HEADER = -7,
    TABLES_ERROR_MEMORY = -8,
    TABLES_ERROR_UNSUPPORTED = -9, /* rules whose results are no sums of seeds */
    TABLES_ERROR_LINE = -10,       /* a forced line longer than the builder counts */
    TABLES_ERROR_WRITE = -11,
};

struct tables_layer {
    uint32_t boards;
    uint32_t exact;  /* LO = UP before certification */
    uint32_t failed; /* states whose value certification lowered */
    uint16_t plies;  /* D: LO and UP hold with so many quiet plies left */
    uint16_t line;   /* quiet plies within which following the stored moves makes LO good */
};

struct tables {
    const uint8_t *entries; /* two bytes a board, by index_board */
    int seeds;
    int plies; /* the largest of all layers */
    enum tables_convention convention;
    struct rules rules; /* the family's: repetitions and quiet limit are those of its first preset */
    struct tables_layer layers[TABLES_SEEDS_MAX + 1];
    size_t size;   /* of the file */
    void *mapping; /* NULL: the bytes are the caller's */
};

/* Net seeds still to come to the mover. */
struct tables_value {
    int8_t lo, up;
    int8_t move;    /* house that keeps LO and makes progress, -1 where there is no move */
    uint16_t plies; /* of the board's layer */
};

BOARD_INLINE uint16_t tables_entry(int lo, int up, int move)
{
    return (uint16_t)((lo + TABLES_BIAS) | (up + TABLES_BIAS) << 6 | move << 12);
}

BOARD_INLINE struct tables_value tables_decode(unsigned entry)
{
    int move = (int)(entry >> 12 & 7);
    return (struct tables_value){
        .lo = (int8_t)((int)(entry & 63) - TABLES_BIAS),
        .up = (int8_t)((int)(entry >> 6 & 63) - TABLES_BIAS),
        .move = (int8_t)(move < BOARD_HOUSES ? move : -1),
    };
}

/* False when the board has more seeds than the tables. Stores play no part. */
BOARD_INLINE bool tables_probe(const struct tables *tables, const struct board *board,
                               struct tables_value *out)
{
    int seeds = (int)board_seeds(*board);
    if (seeds > tables->seeds)
        return false;
    uint64_t number = index_layer_start(seeds) + index_in_layer(*board);
    *out = tables_decode(bytes_get_u16(tables->entries + 2 * number));
    out->plies = tables->layers[seeds].plies;
    return true;
}

/* Asks for the entry's memory ahead of a probe. */
BOARD_INLINE void tables_prefetch(const struct tables *tables, struct board board)
{
    if ((int)board_seeds(board) <= tables->seeds)
        __builtin_prefetch(tables->entries + 2 * index_board(board));
}

/* Maps a file after checking all of it; `rules` non-NULL demands its family (tables_same_family). The file
 * must not be written to while it is open; a new one comes by rename. */
enum tables_error tables_open(const char *path, const struct rules *rules, struct tables **out);
/* The same over bytes that outlive the tables. */
enum tables_error tables_parse(const void *bytes, size_t size, const struct rules *rules,
                               struct tables **out);
void tables_close(struct tables *tables);

/* The rules under which tables are written: repetitions and quiet limit of the first preset that shares
 * moves, captures, leftovers and convention, else of the rules themselves. */
struct rules tables_family(const struct rules *rules);
/* True when one table serves both. */
bool tables_same_family(const struct rules *a, const struct rules *b);

const char *tables_convention_text(enum tables_convention convention);
/* A sentence for people that says what to do. */
const char *tables_error_text(enum tables_error error);

/* --- writing, for tables_build --- */

enum { TABLES_HEADER_SIZE = 640 };

/* Bytes of a file. */
uint64_t tables_file_size(int seeds);
/* The header for what `tables` says of seeds, plies, convention, rules and layers, and the entries' checksum.
 */
void tables_put_header(const struct tables *tables, uint32_t entries_checksum,
                       uint8_t header[TABLES_HEADER_SIZE]);

#endif
