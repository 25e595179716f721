#include "engine/board.h"

#include <assert.h>

#include "engine/sowing.h"

#define BYTE(h, n, p) ((uint64_t)SOWING_ADDED(h, n, p) << (8 * ((p) % 6)))
#define ROW(h, n, p)                                                                                         \
    (BYTE(h, n, p) + BYTE(h, n, p + 1) + BYTE(h, n, p + 2) + BYTE(h, n, p + 3) + BYTE(h, n, p + 4) +         \
     BYTE(h, n, p + 5))
/* The remainder keeps the shift in range where the houses are not wanted. */
#define HOUSES(h, n)                                                                                         \
    ((n) == 0 || SOWING_LAST(h, n) < 6 ? UINT64_C(0) : BOARD_ROW >> (8 * ((11 - SOWING_LAST(h, n)) % 6)))
#define SOWING(h, n)                                                                                         \
    {                                                                                                        \
        ROW(h, n, 0), ROW(h, n, 6), (HOUSES(h, n) & BOARD_TOPS) | 1, HOUSES(h, n)                            \
    }

const struct board_sowing board_sowings[BOARD_HOUSES][BOARD_SOWINGS] = SOWING_TABLE(SOWING);

unsigned board_slams(struct board board, unsigned mask)
{
    unsigned slams = 0;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        int house = __builtin_ctz(rest);
        slams |= (unsigned)board_is_slam(board, house) << house;
    }
    return slams;
}

unsigned board_leaves_seed(struct board board, unsigned mask, enum rules_slam slam)
{
    unsigned leaving = 0;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        int house = __builtin_ctz(rest);
        struct board next = board_make_as(board, house, slam);
        leaving |= (unsigned)((next.own & BOARD_ROW) != 0) << house;
    }
    return leaving;
}

struct board board_from_position(const struct position *position)
{
    uint64_t rows[2] = {(uint64_t)position->stores[0] << 48, (uint64_t)position->stores[1] << 48};
    unsigned seeds = (unsigned)position->stores[0] + position->stores[1];
    for (int house = 0; house < 12; house++) {
        rows[house / 6] |= (uint64_t)position->houses[house] << (8 * (house % 6));
        seeds += position->houses[house];
    }
    assert(seeds <= POSITION_SEEDS && position->side <= SIDE_NORTH);
    (void)seeds;
    return (struct board){.own = rows[position->side], .other = rows[1 - position->side]};
}

struct position board_to_position(struct board board, enum side side)
{
    struct position position = {.side = (uint8_t)side};
    uint64_t rows[2] = {side == SIDE_SOUTH ? board.own : board.other,
                        side == SIDE_SOUTH ? board.other : board.own};
    for (int house = 0; house < 12; house++)
        position.houses[house] = (uint8_t)board_house(rows[house / 6], house % 6);
    position.stores[SIDE_SOUTH] = (uint8_t)board_store(rows[0]);
    position.stores[SIDE_NORTH] = (uint8_t)board_store(rows[1]);
    return position;
}
