#include "eval/features.h"

enum { EXCESS_SHIFT = 55, FULL_HOUSES_MAX = 3 }; /* three houses of 15 hold 45 of the 48 seeds */

/* The six houses of a row as nibbles, more than 15 as 15. */
static uint64_t row_nibbles(uint64_t row)
{
    const uint64_t ones = BOARD_ONES & BOARD_ROW;
    row &= BOARD_ROW;
    uint64_t above = (row + ones * (0x7f - FEATURES_COUNT_MAX)) & BOARD_TOPS;
    row = (row | board_flags_bytes(above)) & (ones * FEATURES_COUNT_MAX);
    row = (row | row >> 4) & UINT64_C(0x00ff00ff00ff);
    return (row & 0xff) | (row >> 8 & 0xff00) | (row >> 16 & 0xff0000);
}

static unsigned board_count(struct board board, int house)
{
    return house < BOARD_HOUSES ? board_house(board.own, house)
                                : board_house(board.other, house - BOARD_HOUSES);
}

/* --- the excess: what up to three houses of 15 hold beyond it, as the number of that combination --- */

/* Combinations of `houses` excesses in order of their sum, then of the first one. */
static int excess_find(int houses, const int wanted[FULL_HOUSES_MAX], int code, int out[FULL_HOUSES_MAX])
{
    int number = 0;
    for (int sum = 0; sum <= POSITION_SEEDS - FEATURES_COUNT_MAX * houses; sum++)
        for (int first = 0; first <= sum; first++)
            for (int second = 0; second <= sum - first; second++) {
                int third = sum - first - second;
                if ((houses < 3 && third != 0) || (houses < 2 && second != 0))
                    continue;
                bool found =
                    wanted ? first == wanted[0] && second == wanted[1] && third == wanted[2] : number == code;
                if (found) {
                    out[0] = first;
                    out[1] = second;
                    out[2] = third;
                    return number;
                }
                number++;
            }
    out[0] = out[1] = out[2] = 0;
    return 0;
}

static int full_houses(uint64_t key, int houses[FULL_HOUSES_MAX])
{
    int count = 0;
    for (int house = 0; house < WEIGHTS_HOUSES && count < FULL_HOUSES_MAX; house++)
        if (features_count(key, house) == FEATURES_COUNT_MAX)
            houses[count++] = house;
    return count;
}

static uint64_t excess_code(uint64_t key, struct board board)
{
    int houses[FULL_HOUSES_MAX], beyond[FULL_HOUSES_MAX] = {0}, same[FULL_HOUSES_MAX];
    int count = full_houses(key, houses);
    for (int i = 0; i < count; i++)
        beyond[i] = (int)board_count(board, houses[i]) - FEATURES_COUNT_MAX;
    return (uint64_t)excess_find(count, beyond, 0, same);
}

/* Combinations come in order of their sum, so the sum is how many borders the code has passed. */
int features_excess_seeds(uint64_t key)
{
    uint64_t full = key & key >> 1 & key >> 2 & key >> 3 & UINT64_C(0x111111111111);
    int code = (int)(key >> EXCESS_SHIFT), houses = __builtin_popcountll(full), sum = 0;
    for (int border = 1, size = 1; border <= code; sum++) {
        size = houses == 1 ? 1 : houses == 2 ? sum + 2 : (sum + 2) * (sum + 3) / 2;
        border += size;
    }
    return sum;
}

/* --- keys --- */

uint64_t features_key(struct board board)
{
    const uint64_t sixteens = (BOARD_ONES & BOARD_ROW) * 0xf0;
    uint64_t key = row_nibbles(board.own) | row_nibbles(board.other) << 24;
    unsigned difference = FEATURES_DIFFERENCE_OFFSET + board_store(board.own) - board_store(board.other);
    key |= (uint64_t)difference << 48;
    if (((board.own | board.other) & sixteens) != 0)
        key |= excess_code(key, board) << EXCESS_SHIFT;
    return key;
}

struct board features_board(uint64_t key)
{
    struct board board = {0, 0};
    for (int house = 0; house < BOARD_HOUSES; house++) {
        board.own |= (uint64_t)features_count(key, house) << (8 * house);
        board.other |= (uint64_t)features_count(key, house + BOARD_HOUSES) << (8 * house);
    }
    if (key >> EXCESS_SHIFT) {
        int houses[FULL_HOUSES_MAX], beyond[FULL_HOUSES_MAX];
        int count = full_houses(key, houses);
        excess_find(count, NULL, (int)(key >> EXCESS_SHIFT), beyond);
        for (int i = 0; i < count; i++) {
            uint64_t *row = houses[i] < BOARD_HOUSES ? &board.own : &board.other;
            *row += (uint64_t)beyond[i] << (8 * (houses[i] % BOARD_HOUSES));
        }
    }
    int stored = POSITION_SEEDS - (int)board_seeds(board);
    board.own |= (uint64_t)((stored + features_difference(key)) / 2) << 48;
    board.other |= (uint64_t)((stored - features_difference(key)) / 2) << 48;
    return board;
}

int32_t features_score(uint64_t key, const struct weights *weights)
{
    struct position position = board_to_position(features_board(key), SIDE_SOUTH);
    return weights_evaluate(weights, &position);
}
