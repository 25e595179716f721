#include "engine/traits.h"

#include <assert.h>
#include <stddef.h>

#include "engine/board.h"

static const struct {
    const char *name;
    int largest;
} traits[TRAITS] = {
    [TRAIT_BIAS] = {"bias", 1},
    [TRAIT_STORE_DIFFERENCE] = {"store_difference", POSITION_SEEDS},
    [TRAIT_OWN_SEEDS] = {"own_seeds", POSITION_SEEDS},
    [TRAIT_OTHER_SEEDS] = {"other_seeds", POSITION_SEEDS},
    [TRAIT_OWN_MOBILITY] = {"own_mobility", BOARD_HOUSES},
    [TRAIT_OTHER_MOBILITY] = {"other_mobility", BOARD_HOUSES},
    [TRAIT_OWN_REACHING] = {"own_reaching", BOARD_HOUSES},
    [TRAIT_OTHER_REACHING] = {"other_reaching", BOARD_HOUSES},
    [TRAIT_OWN_ONES] = {"own_ones", BOARD_HOUSES},
    [TRAIT_OTHER_ONES] = {"other_ones", BOARD_HOUSES},
    [TRAIT_OWN_TWOS] = {"own_twos", BOARD_HOUSES},
    [TRAIT_OTHER_TWOS] = {"other_twos", BOARD_HOUSES},
    [TRAIT_OWN_KROOS] = {"own_kroos", POSITION_SEEDS / 12},
    [TRAIT_OTHER_KROOS] = {"other_kroos", POSITION_SEEDS / 12},
    [TRAIT_OWN_CAPTURES] = {"own_captures", BOARD_HOUSES},
    [TRAIT_OTHER_CAPTURES] = {"other_captures", BOARD_HOUSES},
    [TRAIT_OWN_BEST_CAPTURE] = {"own_best_capture", 3 * BOARD_HOUSES},
    [TRAIT_OTHER_BEST_CAPTURE] = {"other_best_capture", 3 * BOARD_HOUSES},
    [TRAIT_OWN_VULNERABLE] = {"own_vulnerable", BOARD_HOUSES},
    [TRAIT_OTHER_VULNERABLE] = {"other_vulnerable", BOARD_HOUSES},
    [TRAIT_OWN_LARGEST] = {"own_largest", POSITION_SEEDS},
    [TRAIT_OTHER_LARGEST] = {"other_largest", POSITION_SEEDS},
    [TRAIT_OWN_REAR] = {"own_rear", POSITION_SEEDS},
    [TRAIT_OTHER_REAR] = {"other_rear", POSITION_SEEDS},
};

const char *traits_name(enum trait trait)
{
    assert(trait < TRAITS);
    return traits[trait].name;
}

int traits_largest(enum trait trait)
{
    assert(trait < TRAITS);
    return traits[trait].largest;
}

/* Houses of the row that hold exactly `count` seeds; a byte of the difference is zero where they do. */
static int16_t houses_holding(uint64_t row, unsigned count)
{
    uint64_t difference = (row & BOARD_ROW) ^ ((BOARD_ONES & BOARD_ROW) * count);
    return (int16_t)(BOARD_HOUSES - board_flags_count((difference + BOARD_ADD_SEEDED) & BOARD_TOPS));
}

static int16_t houses_above(uint64_t row, uint64_t add)
{
    return (int16_t)board_flags_count(((row & BOARD_ROW) + add) & BOARD_TOPS);
}

static int16_t largest_house(uint64_t row)
{
    unsigned largest = 0;
    for (int house = 0; house < BOARD_HOUSES; house++)
        largest = board_house(row, house) > largest ? board_house(row, house) : largest;
    return (int16_t)largest;
}

/* The traits of the side whose row is `row`: those of the mover come first in each pair. */
static void count_row(uint64_t row, int side, int16_t out[TRAITS])
{
    out[TRAIT_OWN_SEEDS + side] = (int16_t)board_row_seeds(row);
    out[TRAIT_OWN_MOBILITY + side] = houses_above(row, BOARD_ADD_SEEDED);
    out[TRAIT_OWN_REACHING + side] = houses_above(row, BOARD_ADD_FEEDS);
    out[TRAIT_OWN_ONES + side] = houses_holding(row, 1);
    out[TRAIT_OWN_TWOS + side] = houses_holding(row, 2);
    out[TRAIT_OWN_KROOS + side] = houses_above(row, BOARD_ADD_TWELVES);
    out[TRAIT_OWN_LARGEST + side] = largest_house(row);
    out[TRAIT_OWN_REAR + side] = (int16_t)board_row_seeds(row & UINT64_C(0xffffff));
}

/* What the side to move of `board` could capture: its own traits and what is vulnerable to it. */
static void count_captures(struct board board, int side, int16_t out[TRAITS])
{
    int16_t captures = 0, best = 0;
    uint64_t vulnerable = 0;
    for (int house = 0; house < BOARD_HOUSES; house++) {
        unsigned seeds = board_house(board.own, house);
        const struct board_sowing *sowing = &board_sowings[house][seeds];
        uint64_t other = board.other + sowing->other, taken = board_taken(other, sowing);
        if (seeds == 0 || taken == 0 || taken == (other & BOARD_ROW))
            continue;
        int16_t gain = (int16_t)board_row_seeds(taken);
        best = gain > best ? gain : best;
        captures++;
        vulnerable |= board_chain(other, sowing);
    }
    out[TRAIT_OWN_CAPTURES + side] = captures;
    out[TRAIT_OWN_BEST_CAPTURE + side] = best;
    out[TRAIT_OTHER_VULNERABLE - side] = (int16_t)board_flags_count(vulnerable);
}

void traits_of(struct board board, int16_t out[TRAITS])
{
    out[TRAIT_BIAS] = 1;
    out[TRAIT_STORE_DIFFERENCE] = (int16_t)((int)board_store(board.own) - (int)board_store(board.other));
    count_row(board.own, 0, out);
    count_row(board.other, 1, out);
    count_captures(board, 0, out);
    count_captures(board_swap(board), 1, out);
}
