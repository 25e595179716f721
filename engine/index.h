/* Boards as numbers: the combinatorial number system over the twelve houses (THEORY section 4), minimal and
 * perfect over all boards with up to 48 seeds.
 *
 * With S_i the seeds in the first i + 1 houses of the mover's view (own A to F, then the opponent's), the
 * number of a board among those of as many seeds is the sum of C(S_i + i, i + 1) for i = 0..10. The term of
 * i = 11 counts the boards with fewer seeds: with it, the boards of up to N seeds have the numbers 0 to
 * C(N + 12, 12) - 1, ordered by seeds. Stores play no part. Pure; any thread. */
#ifndef KROO_ENGINE_INDEX_H
#define KROO_ENGINE_INDEX_H

#include <stdint.h>

#include "engine/board.h"

enum { INDEX_HOUSES = 12, INDEX_COUNTS = BOARD_COUNTS + 1 };

/* index_terms[i][s] = C(s + i, i + 1) */
extern const uint64_t index_terms[INDEX_HOUSES][INDEX_COUNTS];

/* Boards of exactly so many seeds, and of fewer; 0 to 48 seeds. */
BOARD_INLINE uint64_t index_layer_size(int seeds)
{
    return index_terms[10][seeds + 1];
}

BOARD_INLINE uint64_t index_layer_start(int seeds)
{
    return index_terms[11][seeds];
}

/* Byte i of the result: the seeds in houses 0 to i of a row, bytes 6 and 7 as byte 5. */
BOARD_INLINE uint64_t index_prefixes(uint64_t row)
{
    return (row & BOARD_ROW) * BOARD_ONES;
}

/* The number of a board among those of as many seeds. */
BOARD_INLINE uint64_t index_in_layer(struct board board)
{
    uint64_t own = index_prefixes(board.own);
    uint64_t other = index_prefixes(board.other) + (own >> 56) * BOARD_ONES;
    uint64_t sum = 0;
    for (int i = 0; i < BOARD_HOUSES; i++)
        sum += index_terms[i][own >> (8 * i) & 0xff];
    for (int i = 0; i < BOARD_HOUSES - 1; i++)
        sum += index_terms[BOARD_HOUSES + i][other >> (8 * i) & 0xff];
    return sum;
}

/* The number of a board among all. */
BOARD_INLINE uint64_t index_board(struct board board)
{
    return index_layer_start((int)board_seeds(board)) + index_in_layer(board);
}

/* The board, stores empty, of a number below index_layer_size(seeds). */
struct board index_unrank(int seeds, uint64_t number);

#endif
