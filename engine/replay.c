#include "engine/replay.h"

#include <stdlib.h>
#include <string.h>

/* No board returns sooner: a cycle without captures plays each of the twelve houses. */
enum { SHORTEST_CYCLE = 12 };

/* NO_INDEX ends a chain; an index is a ply, so it fits 16 bits beside a stamp of 16. */
enum { HEADS = 2048, NO_INDEX = 0xffff, STAMP_MAX = 0xffff };
_Static_assert((int)GAME_PLIES_MAX < (int)NO_INDEX, "a ply is an index");

/* The boards that the present one may repeat, found by chains of a hash. They enter twelve plies after they
 * stood, so that most games, which capture more often, never hash a board. `heads` holds stamp and index; a
 * head with an old stamp is empty. */
struct replayer {
    struct rules rules;
    size_t watch; /* quiet plies from which a repetition or the quiet limit may end a game */
    uint32_t stamp;
    uint32_t heads[HEADS];
    uint16_t next[GAME_PLIES_MAX + 1];
    uint16_t occurrences[GAME_PLIES_MAX + 1]; /* of this board among those that entered */
    struct board boards[GAME_PLIES_MAX + 1];  /* for games that bring no room of their own */
};

struct replayer *replayer_create(const struct rules *rules)
{
    struct replayer *replayer = calloc(1, sizeof *replayer);
    if (replayer == NULL)
        return NULL;
    replayer->rules = *rules;
    replayer->watch = rules->repetitions > 0 ? SHORTEST_CYCLE : SIZE_MAX;
    if (rules->quiet_limit > 0 && (size_t)rules->quiet_limit < replayer->watch)
        replayer->watch = (size_t)rules->quiet_limit;
    return replayer;
}

void replayer_destroy(struct replayer *replayer)
{
    free(replayer);
}

/* --- repetition --- */

static uint32_t *board_head(struct replayer *replayer, const struct board *boards, size_t ply)
{
    return &replayer->heads[(board_hash(boards[ply]) + (ply & 1)) % HEADS];
}

/* The entry of the board at `ply` in its chain, NO_INDEX when it has none. */
static size_t find_board(const struct replayer *replayer, uint32_t head, const struct board *boards,
                         size_t ply)
{
    size_t index = head >> 16 == replayer->stamp ? head & NO_INDEX : NO_INDEX;
    while (index != NO_INDEX && ((index ^ ply) % 2 != 0 || !board_equal(boards[index], boards[ply])))
        index = replayer->next[index];
    return index;
}

static void enter_board(struct replayer *replayer, const struct board *boards, size_t ply)
{
    uint32_t *head = board_head(replayer, boards, ply);
    size_t index = find_board(replayer, *head, boards, ply);
    if (index != NO_INDEX) {
        replayer->occurrences[index]++;
        return;
    }
    replayer->next[ply] = *head >> 16 == replayer->stamp ? (uint16_t)*head : NO_INDEX;
    replayer->occurrences[ply] = 1;
    *head = replayer->stamp << 16 | (uint32_t)ply;
}

static void forget_boards(struct replayer *replayer)
{
    if (replayer->stamp++ < STAMP_MAX)
        return;
    memset(replayer->heads, 0, sizeof replayer->heads);
    replayer->stamp = 1;
}

/* How often the board at `ply` has stood, itself included. Called once for each ply from the twelfth quiet
 * one on. */
static int count_occurrences(struct replayer *replayer, const struct board *boards, size_t ply, size_t quiet)
{
    if (quiet == SHORTEST_CYCLE)
        forget_boards(replayer);
    enter_board(replayer, boards, ply - SHORTEST_CYCLE);
    size_t index = find_board(replayer, *board_head(replayer, boards, ply), boards, ply);
    return index == NO_INDEX ? 1 : replayer->occurrences[index] + 1;
}

static enum game_reason stop_reason(struct replayer *replayer, const struct board *boards, size_t ply,
                                    size_t quiet)
{
    const struct rules *rules = &replayer->rules;
    if (rules->repetitions > 0 && quiet >= SHORTEST_CYCLE &&
        count_occurrences(replayer, boards, ply, quiet) >= rules->repetitions)
        return GAME_REASON_REPETITION;
    if (rules->quiet_limit > 0 && quiet >= (size_t)rules->quiet_limit)
        return GAME_REASON_QUIET_LIMIT;
    return GAME_REASON_NONE;
}

/* --- games --- */

/* The reason a board without a path ends a game. */
BOARD_INLINE enum game_reason board_reason(struct board board, unsigned legal)
{
    static const enum game_reason reasons[] = {
        [BOARD_GOES_ON] = GAME_REASON_NONE,
        [BOARD_MAJORITY] = GAME_REASON_MAJORITY,
        [BOARD_EVEN] = GAME_REASON_EVEN,
        [BOARD_NO_MOVE] = GAME_REASON_NO_MOVE,
    };
    return reasons[board_end(board, legal)];
}

BOARD_INLINE bool move_legal(unsigned legal, unsigned house)
{
    return house < BOARD_HOUSES && (legal >> house & 1) != 0;
}

/* `slam` and `feeding` are meant to be constant where speed counts. */
BOARD_INLINE void replay_as(struct replayer *replayer, const struct replay_game *game,
                            struct replay_outcome *outcome, enum rules_slam slam, enum rules_feeding feeding)
{
    struct position usual = position_start();
    const struct position *start = game->start != NULL ? game->start : &usual;
    struct board *boards = game->boards != NULL ? game->boards : replayer->boards;
    struct board board = board_from_position(start);
    unsigned legal = board_legal_as(board, slam, feeding);
    enum game_reason reason = board_reason(board, legal);
    size_t end = game->length < GAME_PLIES_MAX ? game->length : GAME_PLIES_MAX;
    size_t ply = 0, quiet = 0;
    unsigned first = start->side == SIDE_SOUTH ? 'A' : 'a'; /* the mover's first house */
    boards[0] = board;
    for (; ply < end && reason == GAME_REASON_NONE; first ^= 'A' ^ 'a') {
        unsigned house = (unsigned char)game->moves[ply] - first;
        if (!move_legal(legal, house))
            break;
        struct board next = board_make_as(board, (int)house, slam);
        quiet = board_captured(board, next) > 0 ? 0 : quiet + 1;
        board = next;
        boards[++ply] = board;
        legal = board_legal_as(board, slam, feeding);
        reason = board_reason(board, legal);
        if (quiet >= replayer->watch && reason == GAME_REASON_NONE)
            reason = stop_reason(replayer, boards, ply, quiet);
    }
    enum side side = first == 'A' ? SIDE_SOUTH : SIDE_NORTH;
    outcome->plies = ply;
    outcome->error = GAME_OK;
    outcome->ending = game_ending_at(&replayer->rules, board, side, reason);
    if (ply == game->length)
        return;
    if (reason != GAME_REASON_NONE)
        outcome->error = GAME_ERROR_OVER;
    else if (!move_legal(legal, (unsigned char)game->moves[ply] - first))
        outcome->error = GAME_ERROR_ILLEGAL;
    else
        outcome->error = GAME_ERROR_LENGTH;
}

void replay_games(struct replayer *replayer, const struct replay_game *games, size_t count,
                  struct replay_outcome *outcomes)
{
    const struct rules *rules = &replayer->rules;
    if (board_is_site(rules)) {
        for (size_t i = 0; i < count; i++)
            replay_as(replayer, &games[i], &outcomes[i], RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_MUST);
        return;
    }
    for (size_t i = 0; i < count; i++)
        replay_as(replayer, &games[i], &outcomes[i], rules->slam, rules->feeding);
}
