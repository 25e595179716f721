/* The board of the hot path: two 64-bit rows seen by the side to move, sown by adding a table row.
 *
 * A row holds its six houses in bytes 0..5 and its owner's store in byte 6; byte 7 is zero. Bytes mean
 * shifts, never memory, so the byte order of the machine does not matter. `own` belongs to the side to move:
 * house 0 is A for South, a for North; making a move swaps the view. A board does not know who South is; at
 * most 48 seeds.
 *
 * What it offers a search (all inline, no allocation, no globals but a constant table of 12 KB):
 *   board_legal_site, board_make_site   the `site` family (board_is_site): no branch on the rule set
 *   board_legal, board_make             the same for any rule set, taking const struct rules *
 *   board_make_as, board_legal_as       for code compiled once a family: pass constants
 *   board_captured                      seeds a move took, from the boards before and after it
 *   board_end                           majority, even or no-move, tested in the order of DESIGN section 4
 *   board_margin                        mover's store minus the other's, now or with own rows taken
 *   board_equal, board_hash             the exact comparison and 64 well mixed bits, stores included
 * Repetition and quiet plies belong to the path: engine/game.h hands out the history since the last capture.
 * Pure functions; any thread. */
#ifndef KROO_ENGINE_BOARD_H
#define KROO_ENGINE_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/mix.h"
#include "engine/position.h"
#include "engine/rules.h"

struct board {
    uint64_t own;   /* the side to move */
    uint64_t other; /* its opponent */
};

/* 24 in a store is half of the 48 seeds. */
enum {
    BOARD_HOUSES = 6,
    BOARD_COUNTS = POSITION_SEEDS + 1,
    BOARD_SOWINGS = 64,
    BOARD_HALF = POSITION_SEEDS / 2,
};

#define BOARD_ROW  UINT64_C(0x0000ffffffffffff) /* the six houses of a row */
#define BOARD_ONES UINT64_C(0x0101010101010101)
#define BOARD_TOPS UINT64_C(0x0000808080808080) /* the flag bit of each house */
#define BOARD_TWOS UINT64_C(0x0000020202020202)
/* Added to a row, sets the flag of every house that holds a seed, or that reaches the opponent's row. */
#define BOARD_ADD_SEEDED UINT64_C(0x00007f7f7f7f7f7f)
#define BOARD_ADD_FEEDS  UINT64_C(0x00007f7e7d7c7b7a)

/* The same for every house of three seeds or more, of twelve or more. */
#define BOARD_ADD_THREES  UINT64_C(0x00007d7d7d7d7d7d)
#define BOARD_ADD_TWELVES UINT64_C(0x0000747474747474)

/* Sowing n seeds from a house: what to add to both rows (the emptied house included); the opponent's houses
 * from its first to the last seed's, none when the last seed falls in the own row: `reach` their flags and
 * bit 0 (see board_taken), `houses` their bytes. 32 bytes and BOARD_SOWINGS entries for a house, so that
 * one is found by shifts. */
struct board_sowing {
    uint64_t own, other, reach, houses;
};
extern const struct board_sowing board_sowings[BOARD_HOUSES][BOARD_SOWINGS];

#define BOARD_INLINE static inline __attribute__((always_inline))

BOARD_INLINE unsigned board_house(uint64_t row, int house)
{
    return (unsigned)(row >> (8 * house)) & 0xff;
}

BOARD_INLINE unsigned board_store(uint64_t row)
{
    return (unsigned)(row >> 48);
}

/* Seeds in the six houses of a row. */
BOARD_INLINE unsigned board_row_seeds(uint64_t row)
{
    return (unsigned)(((row & BOARD_ROW) * BOARD_ONES) >> 56);
}

BOARD_INLINE unsigned board_seeds(struct board board)
{
    return board_row_seeds(board.own) + board_row_seeds(board.other);
}

/* The row with its houses emptied into its store. */
BOARD_INLINE uint64_t board_row_taken(uint64_t row)
{
    return (uint64_t)(board_store(row) + board_row_seeds(row)) << 48;
}

BOARD_INLINE struct board board_swap(struct board board)
{
    return (struct board){.own = board.other, .other = board.own};
}

BOARD_INLINE bool board_equal(struct board a, struct board b)
{
    return ((a.own ^ b.own) | (a.other ^ b.other)) == 0;
}

/* 64 mixed bits of both rows and stores, the mover's view. */
BOARD_INLINE uint64_t board_hash(struct board board)
{
    uint64_t x = board.own * UINT64_C(0x9e3779b97f4a7c15);
    return mix_finish((x ^ (x >> 32)) + board.other * UINT64_C(0xd1342543de82ef95));
}

/* Flags (bit 7 of each house byte) to bits 0..5, and their number, without a population-count instruction. */
BOARD_INLINE unsigned board_flags_mask(uint64_t flags)
{
    return (unsigned)((flags * UINT64_C(0x0002040810204000)) >> 56);
}

BOARD_INLINE unsigned board_flags_count(uint64_t flags)
{
    return (unsigned)(((flags >> 7) * BOARD_ONES) >> 56);
}

/* Each flag to 0xff in its byte. */
BOARD_INLINE uint64_t board_flags_bytes(uint64_t flags)
{
    return (flags << 1) - (flags >> 7);
}

/* --- legal moves --- */

BOARD_INLINE uint64_t board_seeded_flags(uint64_t row)
{
    return ((row & BOARD_ROW) + BOARD_ADD_SEEDED) & BOARD_TOPS;
}

/* Legal houses as flags where an empty opponent must be fed and no move is barred by its capture. */
BOARD_INLINE uint64_t board_legal_flags_must(struct board board)
{
    uint64_t add = (board.other & BOARD_ROW) != 0 ? BOARD_ADD_SEEDED : BOARD_ADD_FEEDS;
    return ((board.own & BOARD_ROW) + add) & BOARD_TOPS;
}

BOARD_INLINE unsigned board_legal_site(struct board board)
{
    return board_flags_mask(board_legal_flags_must(board));
}

/* --- moves --- */

/* The opponent's houses, already sown, that break a chain of captures: the flags within `reach` of those that
 * hold neither two nor three. Bit 0 is always set, so that there is a highest bit. No byte exceeds 48, so the
 * addition carries nothing across bytes. */
BOARD_INLINE uint64_t board_breaks(uint64_t other, uint64_t reach)
{
    uint64_t odd = (other ^ BOARD_TWOS) & UINT64_C(0x0000fefefefefefe); /* zero where 2 or 3 */
    return (odd + BOARD_ADD_SEEDED) & reach;
}

/* The houses of `other` that a move captures, as flags: the unbroken run of twos and threes that ends at the
 * last seed. */
BOARD_INLINE uint64_t board_chain(uint64_t other, const struct board_sowing *sowing)
{
    return sowing->houses & BOARD_TOPS & ~(UINT64_MAX >> __builtin_clzll(board_breaks(other, sowing->reach)));
}

/* The seeds in the same houses. The flag that breaks the chain is no seed: what is above it may include it.
 */
BOARD_INLINE uint64_t board_taken(uint64_t other, const struct board_sowing *sowing)
{
    unsigned broken = 63 ^ (unsigned)__builtin_clzll(board_breaks(other, sowing->reach));
    return other & sowing->houses & (UINT64_MAX << broken);
}

/* The seeds of a part of a row, in the place of its store. */
BOARD_INLINE uint64_t board_banked(uint64_t taken)
{
    return (taken * BOARD_ONES) & (UINT64_C(0xff) << 48);
}

/* The seeds really taken by a capture of all that `other`, already sown, holds. */
BOARD_INLINE uint64_t board_slam_taken(uint64_t other, const struct board_sowing *sowing,
                                       enum rules_slam slam)
{
    uint64_t chain = board_chain(other, sowing);
    switch (slam) {
    case RULES_SLAM_CAPTURES_NOTHING:
        return 0;
    case RULES_SLAM_VOID_AT_SIX:
        chain = chain == BOARD_TOPS ? 0 : chain;
        break;
    case RULES_SLAM_KEEP_LAST:
        chain &= sowing->reach >> 8;
        break;
    case RULES_SLAM_KEEP_FIRST:
        chain &= chain - 1;
        break;
    case RULES_SLAM_ILLEGAL:
    case RULES_SLAM_REST_TO_OPPONENT:
    case RULES_SLAM_ALLOWED:
    case RULES_SLAM_LAST_RESORT:
        break;
    }
    return other & board_flags_bytes(chain);
}

/* The board after sowing `house` (0..5, holding a seed), seen by the opponent. `slam` is meant to be
 * constant. */
BOARD_INLINE struct board board_make_as(struct board board, int house, enum rules_slam slam)
{
    const struct board_sowing *sowing = &board_sowings[house][board_house(board.own, house)];
    uint64_t own = board.own + sowing->own;
    uint64_t other = board.other + sowing->other;
    uint64_t taken = board_taken(other, sowing);
    bool emptied = (other - taken) << 16 == 0; /* the store shifted out */
    if (slam == RULES_SLAM_CAPTURES_NOTHING) {
        taken = emptied ? 0 : taken;
    } else if (emptied && taken != 0) {
        taken = board_slam_taken(other, sowing, slam);
        if (slam == RULES_SLAM_REST_TO_OPPONENT) {
            other += (uint64_t)board_row_seeds(own) << 48;
            own &= ~BOARD_ROW;
        }
    }
    return (struct board){.own = other - taken, .other = own + board_banked(taken)};
}

BOARD_INLINE struct board board_make_site(struct board board, int house)
{
    return board_make_as(board, house, RULES_SLAM_CAPTURES_NOTHING);
}

BOARD_INLINE struct board board_make(const struct rules *rules, struct board board, int house)
{
    return board_make_as(board, house, rules->slam);
}

/* Seeds captured by the move that led from `before` to `after` (seeds given to the opponent not counted). */
BOARD_INLINE unsigned board_captured(struct board before, struct board after)
{
    return board_store(after.other) - board_store(before.own);
}

/* True when the chain of this move covers every seed of the opponent, whatever the rule makes of it. */
BOARD_INLINE bool board_is_slam(struct board board, int house)
{
    const struct board_sowing *sowing = &board_sowings[house][board_house(board.own, house)];
    uint64_t other = board.other + sowing->other;
    uint64_t taken = board_taken(other, sowing);
    return taken != 0 && taken == (other & BOARD_ROW);
}

/* --- any rule set --- */

/* False when no move can leave the opponent without a seed. A house of three or more is not captured, since a
 * captured house received a seed. Sowing fewer than twelve seeds drops one into each house from a to the last
 * seed's: all of these must be captured, so held seeds before, and all others must be empty. */
BOARD_INLINE bool board_slam_possible(struct board board)
{
    if ((((board.other & BOARD_ROW) + BOARD_ADD_THREES) & BOARD_TOPS) != 0)
        return false;
    uint64_t seeded = board_flags_bytes(board_seeded_flags(board.other));
    uint64_t laps = ((board.own & BOARD_ROW) + BOARD_ADD_TWELVES) & BOARD_TOPS;
    return (seeded & (seeded + 1)) == 0 || laps != 0;
}

/* Of the houses in `mask`, those whose move is a grand slam. */
unsigned board_slams(struct board board, unsigned mask);
/* Of the houses in `mask`, those whose move leaves the opponent a seed. */
unsigned board_leaves_seed(struct board board, unsigned mask, enum rules_slam slam);

/* Legal houses, bits 0..5. Empty exactly when the mover cannot move (`no-move`). */
BOARD_INLINE unsigned board_legal_as(struct board board, enum rules_slam slam, enum rules_feeding feeding)
{
    unsigned mask = feeding == RULES_FEEDING_MUST ? board_legal_site(board)
                                                  : board_flags_mask(board_seeded_flags(board.own));
    bool leave_seed = slam == RULES_SLAM_LAST_RESORT || feeding == RULES_FEEDING_IF_ANY;
    if ((slam != RULES_SLAM_ILLEGAL && !leave_seed) || !board_slam_possible(board))
        return mask;
    if (slam == RULES_SLAM_ILLEGAL)
        mask &= ~board_slams(board, mask);
    unsigned leaving = leave_seed ? board_leaves_seed(board, mask, slam) : 0;
    return leaving != 0 ? leaving : mask;
}

BOARD_INLINE unsigned board_legal(const struct rules *rules, struct board board)
{
    return board_legal_as(board, rules->slam, rules->feeding);
}

/* True when moves and captures are those of `site`: board_legal_site and board_make_site apply. */
BOARD_INLINE bool board_is_site(const struct rules *rules)
{
    return rules->slam == RULES_SLAM_CAPTURES_NOTHING && rules->feeding == RULES_FEEDING_MUST;
}

/* --- endings --- */

enum board_ending { BOARD_GOES_ON, BOARD_MAJORITY, BOARD_EVEN, BOARD_NO_MOVE };

/* True when a store holds 25 or more, or both hold 24. */
BOARD_INLINE bool board_decided(struct board board)
{
    unsigned own = board_store(board.own), other = board_store(board.other);
    return own > BOARD_HALF || other > BOARD_HALF || (own & other) == BOARD_HALF;
}

/* How the game ends at this board, given its legal mask; the path's own endings are not looked at. */
BOARD_INLINE enum board_ending board_end(struct board board, unsigned legal)
{
    if (board_decided(board))
        return board_store(board.own) == board_store(board.other) ? BOARD_EVEN : BOARD_MAJORITY;
    return legal == 0 ? BOARD_NO_MOVE : BOARD_GOES_ON;
}

/* Mover's store minus the opponent's; with RULES_LEFTOVERS_OWN_ROW each side takes its own row first. */
BOARD_INLINE int board_margin(struct board board, enum rules_leftovers leftovers)
{
    if (leftovers == RULES_LEFTOVERS_OWN_ROW)
        board = (struct board){board_row_taken(board.own), board_row_taken(board.other)};
    return (int)board_store(board.own) - (int)board_store(board.other);
}

/* `unfed_loses` (togo): -1 when the mover has two seeds or more facing an empty row, +1 when the opponent
 * has, 0 otherwise: the winner's sign in the mover's view. */
BOARD_INLINE int board_unfed(struct board board)
{
    unsigned own = board_row_seeds(board.own), other = board_row_seeds(board.other);
    if (own == 0 && other >= 2)
        return 1;
    return other == 0 && own >= 2 ? -1 : 0;
}

/* --- to and from positions --- */

/* The position's seeds must not exceed 48 (position_parse checks; an assertion here). */
struct board board_from_position(const struct position *position);
/* `side` is the side to move. */
struct position board_to_position(struct board board, enum side side);

#endif
