#include "engine/perft.h"

#include <assert.h>

#include "engine/board.h"
#include "engine/sowing.h"

/* --- bulk counting --- */

/* Legal moves as flags. */
BOARD_INLINE uint64_t legal_flags(struct board board, enum rules_slam slam, enum rules_feeding feeding)
{
    uint64_t flags =
        feeding == RULES_FEEDING_MUST ? board_legal_flags_must(board) : board_seeded_flags(board.own);
    bool barred =
        slam == RULES_SLAM_ILLEGAL || slam == RULES_SLAM_LAST_RESORT || feeding == RULES_FEEDING_IF_ANY;
    if (barred && board_slam_possible(board)) {
        unsigned mask = board_legal_as(board, slam, feeding);
        flags = 0;
        for (int house = 0; house < BOARD_HOUSES; house++)
            flags |= (uint64_t)(mask >> house & 1) << (8 * house + 7);
    }
    return flags;
}

/* Sowings into the opponent's row read backwards, house 5 in byte 0, so that the chain of captures runs up
 * and a carry can follow it: the seeds that fall there, and a one in the byte of the last seed if it falls
 * there. */
struct reply_sowing {
    uint64_t seeds, start;
};
#define BYTE(h, n, p) ((uint64_t)SOWING_ADDED(h, n, p) << (8 * (11 - (p))))
#define SEEDS(h, n)                                                                                          \
    (BYTE(h, n, 6) + BYTE(h, n, 7) + BYTE(h, n, 8) + BYTE(h, n, 9) + BYTE(h, n, 10) + BYTE(h, n, 11))
#define START(h, n)                                                                                          \
    ((n) == 0 || SOWING_LAST(h, n) < 6 ? UINT64_C(0) : UINT64_C(1) << (8 * ((11 - SOWING_LAST(h, n)) % 6)))
#define REPLY_SOWING(h, n)                                                                                   \
    {                                                                                                        \
        SEEDS(h, n), START(h, n)                                                                             \
    }
static const struct reply_sowing reply_sowings[BOARD_HOUSES][BOARD_COUNTS] = SOWING_TABLE(REPLY_SOWING);

/* A chain takes at most three seeds from each of six houses. */
enum { CHAIN_MAX = 18 };

/* True when only captures of parts of the row, won by nobody, lie ahead for a ply, and no reply of the
 * opponent is bound to feed or could be a grand slam: then replies can be counted the same way under any rule
 * set. */
BOARD_INLINE bool replies_are_plain(struct board board)
{
    uint64_t threes = ((board.own & BOARD_ROW) + BOARD_ADD_THREES) & BOARD_TOPS;
    return board_store(board.own) + CHAIN_MAX <= BOARD_HALF && !board_slam_possible(board) &&
           (threes & (threes - 1)) != 0;
}

/* Nodes two plies below such a board: the sum over its moves of the opponent's houses that hold a seed and
 * are not captured. Where two or three lie the byte of `runs` is 0xff, so a one added where the last seed
 * fell carries through just the captured houses and clears their flags; in any other byte the carry stops. A
 * house without seeds counts as a move that changes nothing and is taken off at the end. */
BOARD_INLINE uint64_t count_replies_plain(struct board board)
{
    uint64_t other = __builtin_bswap64(board.other) >> 16;
    uint64_t replies = 0;
    for (int house = 0; house < BOARD_HOUSES; house++) {
        const struct reply_sowing *sowing = &reply_sowings[house][board_house(board.own, house)];
        uint64_t sown = other + sowing->seeds;
        uint64_t runs = (sown ^ UINT64_C(0x0000fdfdfdfdfdfd)) | UINT64_C(0x0000010101010101);
        replies += ((sown + BOARD_ADD_SEEDED) & (runs + sowing->start) & BOARD_TOPS) >> 7;
    }
    unsigned idle = BOARD_HOUSES - board_flags_count(board_seeded_flags(board.own));
    return ((replies * BOARD_ONES) >> 56) - idle * board_flags_count(board_seeded_flags(board.other));
}

/* Nodes two plies below any undecided board. */
BOARD_INLINE uint64_t count_replies(struct board board, enum rules_slam slam, enum rules_feeding feeding)
{
    if (__builtin_expect(replies_are_plain(board), 1))
        return count_replies_plain(board);
    uint64_t nodes = 0;
    for (unsigned mask = board_legal_as(board, slam, feeding); mask != 0; mask &= mask - 1) {
        struct board next = board_make_as(board, __builtin_ctz(mask), slam);
        nodes += board_decided(next) ? 0 : board_flags_count(legal_flags(next, slam, feeding));
    }
    return nodes;
}

typedef uint64_t walk_function(struct board board, int depth);

/* Nodes `depth` >= 2 plies below an undecided board. `walk` is the function this is the body of. */
BOARD_INLINE uint64_t walk_as(struct board board, int depth, enum rules_slam slam, enum rules_feeding feeding,
                              walk_function *walk)
{
    if (depth == 2)
        return count_replies(board, slam, feeding);
    uint64_t nodes = 0;
    for (unsigned mask = board_legal_as(board, slam, feeding); mask != 0; mask &= mask - 1) {
        struct board next = board_make_as(board, __builtin_ctz(mask), slam);
        if (!board_decided(next))
            nodes += walk(next, depth - 1);
    }
    return nodes;
}

/* One compiled walk for each rule on grand slams and feeding, so that none branches on the rule set. */
#define WALK(name, slam, feeding)                                                                            \
    static uint64_t name(struct board board, int depth)                                                      \
    {                                                                                                        \
        return walk_as(board, depth, slam, feeding, name);                                                   \
    }
#define WALKS(name, slam)                                                                                    \
    WALK(name##_must, slam, RULES_FEEDING_MUST)                                                              \
    WALK(name##_none, slam, RULES_FEEDING_NONE)                                                              \
    WALK(name##_if_any, slam, RULES_FEEDING_IF_ANY)

WALKS(captures_nothing, RULES_SLAM_CAPTURES_NOTHING)
WALKS(void_at_six, RULES_SLAM_VOID_AT_SIX)
WALKS(illegal, RULES_SLAM_ILLEGAL)
WALKS(rest_to_opponent, RULES_SLAM_REST_TO_OPPONENT)
WALKS(keep_last, RULES_SLAM_KEEP_LAST)
WALKS(keep_first, RULES_SLAM_KEEP_FIRST)
WALKS(allowed, RULES_SLAM_ALLOWED)
WALKS(last_resort, RULES_SLAM_LAST_RESORT)

#define WALKS_BY_FEEDING(name)                                                                               \
    {                                                                                                        \
        [RULES_FEEDING_MUST] = name##_must, [RULES_FEEDING_NONE] = name##_none,                              \
        [RULES_FEEDING_IF_ANY] = name##_if_any                                                               \
    }

static walk_function *const walks[][3] = {
    [RULES_SLAM_CAPTURES_NOTHING] = WALKS_BY_FEEDING(captures_nothing),
    [RULES_SLAM_VOID_AT_SIX] = WALKS_BY_FEEDING(void_at_six),
    [RULES_SLAM_ILLEGAL] = WALKS_BY_FEEDING(illegal),
    [RULES_SLAM_REST_TO_OPPONENT] = WALKS_BY_FEEDING(rest_to_opponent),
    [RULES_SLAM_KEEP_LAST] = WALKS_BY_FEEDING(keep_last),
    [RULES_SLAM_KEEP_FIRST] = WALKS_BY_FEEDING(keep_first),
    [RULES_SLAM_ALLOWED] = WALKS_BY_FEEDING(allowed),
    [RULES_SLAM_LAST_RESORT] = WALKS_BY_FEEDING(last_resort),
};

uint64_t perft_nodes(const struct rules *rules, const struct position *position, int depth)
{
    assert(depth >= 1);
    struct board board = board_from_position(position);
    if (board_decided(board))
        return 0;
    if (depth == 1)
        return (uint64_t)__builtin_popcount(board_legal(rules, board));
    return walks[rules->slam][rules->feeding](board, depth);
}

/* --- a move at a time --- */

struct walk {
    const struct rules *rules;
    enum perft_mode mode;
    struct perft_leaves count;
    struct board path[PERFT_DEPTH_MAX + 1]; /* from the root to the board that stands */
    int quiet[PERFT_DEPTH_MAX + 1];         /* plies since a capture, or since the root */
};

/* No board returns sooner: a cycle without captures plays each of the twelve houses. */
enum { SHORTEST_CYCLE = 12 };

static bool path_ended(const struct walk *walk, int ply)
{
    const struct rules *rules = walk->rules;
    int occurrences = 1;
    for (int back = SHORTEST_CYCLE; back <= walk->quiet[ply]; back += 2)
        occurrences += board_equal(walk->path[ply], walk->path[ply - back]);
    return (rules->repetitions > 0 && occurrences >= rules->repetitions) ||
           (rules->quiet_limit > 0 && walk->quiet[ply] >= rules->quiet_limit);
}

static bool walk_ended(const struct walk *walk, int ply, unsigned legal)
{
    if (walk->mode == PERFT_NO_ENDINGS)
        return false;
    if (board_end(walk->path[ply], legal) != BOARD_GOES_ON)
        return true;
    return walk->mode == PERFT_FULL && path_ended(walk, ply);
}

static void walk_on(struct walk *walk, int ply, int depth)
{
    struct board board = walk->path[ply];
    unsigned legal = board_legal(walk->rules, board);
    bool ended = walk_ended(walk, ply, legal);
    if (depth == 0) {
        walk->count.leaves++;
        walk->count.ended += ended;
        return;
    }
    for (unsigned mask = ended ? 0 : legal; mask != 0; mask &= mask - 1) {
        struct board next = board_make(walk->rules, board, __builtin_ctz(mask));
        walk->path[ply + 1] = next;
        walk->quiet[ply + 1] = board_captured(board, next) > 0 ? 0 : walk->quiet[ply] + 1;
        walk_on(walk, ply + 1, depth - 1);
    }
}

struct perft_leaves perft_count_leaves(const struct rules *rules, const struct position *position, int depth,
                                       enum perft_mode mode)
{
    assert(depth >= 1 && depth <= PERFT_DEPTH_MAX);
    struct walk walk = {.rules = rules, .mode = mode};
    walk.path[0] = board_from_position(position);
    walk_on(&walk, 0, depth);
    return walk.count;
}
