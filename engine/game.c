#include "engine/game.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 256 };

/* A slot of the table that finds earlier occurrences: valid when its stamp is the current one, so that a
 * capture empties the table by counting the stamp up. */
struct slot {
    uint32_t stamp;
    uint32_t index; /* into boards: the latest occurrence */
};

/* `boards`, `occurrences` and `slots` cover the path since the last capture; one capacity serves all arrays
 * and grows by doubling, so that a long game costs the same per ply as a short one. */
struct game {
    struct rules rules;
    struct board board; /* as it stands, leftovers not taken */
    struct game_ending shown;
    enum side side;
    unsigned legal;
    size_t plies;
    size_t path; /* boards since the last capture, the current one included */
    size_t capacity;
    uint32_t stamp;
    char *moves;           /* capacity + 1 letters */
    struct board *boards;  /* capacity + 1 */
    uint16_t *occurrences; /* capacity + 1 */
    struct slot *slots;    /* 2 * capacity, a power of two */
};

/* --- the path since the last capture --- */

/* Slot of this board with this side to move: the one that holds it, or the free one where it belongs. At most
 * half of the slots are in use, so the probe ends. */
static struct slot *path_slot(const struct game *game, struct board board, size_t index)
{
    size_t mask = 2 * game->capacity - 1;
    size_t at = (size_t)board_hash(board) + (index & 1);
    for (;; at++) {
        struct slot *slot = &game->slots[at & mask];
        if (slot->stamp != game->stamp)
            return slot;
        if ((slot->index ^ index) % 2 == 0 && board_equal(game->boards[slot->index], board))
            return slot;
    }
}

static void path_append(struct game *game, struct board board)
{
    size_t index = game->path++;
    struct slot *slot = path_slot(game, board, index);
    uint16_t earlier = slot->stamp == game->stamp ? game->occurrences[slot->index] : 0;
    game->boards[index] = board;
    game->occurrences[index] = (uint16_t)(earlier + 1);
    *slot = (struct slot){.stamp = game->stamp, .index = (uint32_t)index};
}

static void path_clear(struct game *game)
{
    game->path = 0;
    if (++game->stamp == 0) {
        memset(game->slots, 0, 2 * game->capacity * sizeof *game->slots);
        game->stamp = 1;
    }
}

/* After the slots moved to a larger table. */
static void path_rebuild(struct game *game)
{
    for (size_t i = 0; i < game->path; i++)
        *path_slot(game, game->boards[i], i) = (struct slot){.stamp = game->stamp, .index = (uint32_t)i};
}

/* Room for `capacity` plies; nothing changes on failure but array sizes. */
static int game_reserve(struct game *game, size_t capacity)
{
    char *moves = realloc(game->moves, capacity + 1);
    game->moves = moves != NULL ? moves : game->moves;
    struct board *boards = realloc(game->boards, (capacity + 1) * sizeof *boards);
    game->boards = boards != NULL ? boards : game->boards;
    uint16_t *occurrences = realloc(game->occurrences, (capacity + 1) * sizeof *occurrences);
    game->occurrences = occurrences != NULL ? occurrences : game->occurrences;
    struct slot *slots = calloc(2 * capacity, sizeof *slots);
    if (moves == NULL || boards == NULL || occurrences == NULL || slots == NULL) {
        free(slots);
        return -1;
    }
    free(game->slots);
    game->slots = slots;
    game->capacity = capacity;
    game->stamp = 1;
    path_rebuild(game);
    return 0;
}

/* --- endings --- */

static enum game_result result_by_margin(int south_margin)
{
    if (south_margin == 0)
        return GAME_DRAW;
    return south_margin > 0 ? GAME_SOUTH_WINS : GAME_NORTH_WINS;
}

static enum rules_leftovers leftovers_after(const struct rules *rules, enum game_reason reason)
{
    if (reason == GAME_REASON_NO_MOVE)
        return rules->leftovers;
    bool stopped = reason == GAME_REASON_REPETITION || reason == GAME_REASON_QUIET_LIMIT;
    return stopped ? rules->stop_leftovers : RULES_LEFTOVERS_STAY;
}

struct game_ending game_ending_at(const struct rules *rules, struct board board, enum side side,
                                  enum game_reason reason)
{
    struct game_ending ending = {.reason = reason};
    if (reason != GAME_REASON_NONE) {
        int sign = side == SIDE_SOUTH ? 1 : -1;
        int unfed = rules->unfed_loses ? board_unfed(board) : 0;
        if (leftovers_after(rules, reason) == RULES_LEFTOVERS_OWN_ROW)
            board = (struct board){board_row_taken(board.own), board_row_taken(board.other)};
        int margin = unfed != 0 ? unfed : board_margin(board, RULES_LEFTOVERS_STAY);
        ending.result = result_by_margin(sign * margin);
        ending.reason = unfed != 0 ? GAME_REASON_UNFED : reason;
    }
    ending.position = board_to_position(board, side);
    return ending;
}

/* The reason to end at the board that has just come to stand, tested in the order of DESIGN section 4. */
static enum game_reason game_end_reason(const struct game *game)
{
    const struct rules *rules = &game->rules;
    switch (board_end(game->board, game->legal)) {
    case BOARD_MAJORITY:
        return GAME_REASON_MAJORITY;
    case BOARD_EVEN:
        return GAME_REASON_EVEN;
    case BOARD_NO_MOVE:
        return GAME_REASON_NO_MOVE;
    case BOARD_GOES_ON:
        break;
    }
    if (rules->repetitions > 0 && game->occurrences[game->path - 1] >= rules->repetitions)
        return GAME_REASON_REPETITION;
    if (rules->quiet_limit > 0 && game_quiet_plies(game) >= (size_t)rules->quiet_limit)
        return GAME_REASON_QUIET_LIMIT;
    return GAME_REASON_NONE;
}

static void game_test_end(struct game *game)
{
    game->legal = board_legal(&game->rules, game->board);
    game->shown = game_ending_at(&game->rules, game->board, game->side, game_end_reason(game));
    if (game->shown.reason != GAME_REASON_NONE)
        game->legal = 0;
}

/* --- life and moves --- */

struct game *game_create(const struct rules *rules, const struct position *start)
{
    struct game *game = calloc(1, sizeof *game);
    if (game == NULL)
        return NULL;
    game->rules = *rules;
    if (game_reserve(game, CAPACITY_FIRST) != 0) {
        game_destroy(game);
        return NULL;
    }
    game_reset(game, start);
    return game;
}

void game_destroy(struct game *game)
{
    if (game == NULL)
        return;
    free(game->moves);
    free(game->boards);
    free(game->occurrences);
    free(game->slots);
    free(game);
}

void game_reset(struct game *game, const struct position *start)
{
    struct position usual = position_start();
    start = start != NULL ? start : &usual;
    game->board = board_from_position(start);
    game->side = (enum side)start->side;
    game->plies = 0;
    game->moves[0] = '\0';
    path_clear(game);
    path_append(game, game->board);
    game_test_end(game);
}

enum game_error game_play(struct game *game, int house)
{
    if (game->shown.result != GAME_UNFINISHED)
        return GAME_ERROR_OVER;
    int own = house - (game->side == SIDE_NORTH ? BOARD_HOUSES : 0);
    if (own < 0 || own >= BOARD_HOUSES || (game->legal >> own & 1) == 0)
        return GAME_ERROR_ILLEGAL;
    if (game->plies == GAME_PLIES_MAX)
        return GAME_ERROR_LENGTH;
    if (game->plies == game->capacity && game_reserve(game, 2 * game->capacity) != 0)
        return GAME_ERROR_MEMORY;
    struct board next = board_make(&game->rules, game->board, own);
    if (board_captured(game->board, next) > 0)
        path_clear(game);
    game->board = next;
    game->side = game->side == SIDE_SOUTH ? SIDE_NORTH : SIDE_SOUTH;
    game->moves[game->plies++] = position_house_letter(house);
    game->moves[game->plies] = '\0';
    path_append(game, next);
    game_test_end(game);
    return GAME_OK;
}

enum game_error game_play_letter(struct game *game, char letter)
{
    return game_play(game, position_letter_house(letter));
}

enum game_error game_play_text(struct game *game, const char *moves, size_t length, size_t *played)
{
    enum game_error error = GAME_OK;
    size_t made = 0;
    while (made < length && error == GAME_OK) {
        error = game_play_letter(game, moves[made]);
        made += error == GAME_OK;
    }
    *played = made;
    return error;
}

/* --- what a game shows --- */

unsigned game_legal(const struct game *game)
{
    return game->legal;
}

bool game_over(const struct game *game)
{
    return game->shown.result != GAME_UNFINISHED;
}

enum game_result game_result(const struct game *game)
{
    return game->shown.result;
}

enum game_reason game_reason(const struct game *game)
{
    return game->shown.reason;
}

struct position game_position(const struct game *game)
{
    return game->shown.position;
}

const struct rules *game_rules(const struct game *game)
{
    return &game->rules;
}

size_t game_plies(const struct game *game)
{
    return game->plies;
}

size_t game_quiet_plies(const struct game *game)
{
    return game->path - 1;
}

struct game_history game_history(const struct game *game)
{
    return (struct game_history){game->boards, game->occurrences, game->path};
}

const char *game_moves(const struct game *game)
{
    return game->moves;
}

/* --- words --- */

static const char *const result_texts[] = {
    [GAME_UNFINISHED] = "unfinished",
    [GAME_SOUTH_WINS] = "south",
    [GAME_NORTH_WINS] = "north",
    [GAME_DRAW] = "draw",
};

static const char *const reason_texts[] = {
    [GAME_REASON_NONE] = "",
    [GAME_REASON_MAJORITY] = "majority",
    [GAME_REASON_EVEN] = "even",
    [GAME_REASON_NO_MOVE] = "no-move",
    [GAME_REASON_REPETITION] = "repetition",
    [GAME_REASON_QUIET_LIMIT] = "quiet-limit",
    [GAME_REASON_UNFED] = "unfed",
    [GAME_REASON_ADJUDICATED] = "adjudicated",
    [GAME_REASON_AGREED] = "agreed",
    [GAME_REASON_RESIGN] = "resign",
    [GAME_REASON_DEADLINE] = "deadline",
    [GAME_REASON_ILLEGAL_MOVE] = "illegal-move",
    [GAME_REASON_CRASH] = "crash",
};

static int word_find(const char *const *words, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0)
            return (int)i;
    }
    return -1;
}

const char *game_result_text(enum game_result result)
{
    return result_texts[result];
}

const char *game_reason_text(enum game_reason reason)
{
    return reason_texts[reason];
}

int game_result_parse(const char *text)
{
    return word_find(result_texts, sizeof result_texts / sizeof result_texts[0], text);
}

int game_reason_parse(const char *text)
{
    return word_find(reason_texts, sizeof reason_texts / sizeof reason_texts[0], text);
}
