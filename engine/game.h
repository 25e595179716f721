/* One game from its start to its end under any rule set: history, repetition, quiet plies, endings with
 * reasons (DESIGN section 4). A game owns its history, which grows while it is played by game_play and
 * never while it is searched. One thread at a time. */
#ifndef KROO_ENGINE_GAME_H
#define KROO_ENGINE_GAME_H

#include "engine/board.h"
#include "engine/position.h"
#include "engine/rules.h"

enum game_result { GAME_UNFINISHED, GAME_SOUTH_WINS, GAME_NORTH_WINS, GAME_DRAW };

enum game_reason {
    GAME_REASON_NONE,
    GAME_REASON_MAJORITY, /* 25 or more in a store; the board stays as it is */
    GAME_REASON_EVEN,     /* 24-24 */
    GAME_REASON_NO_MOVE,  /* no legal move */
    GAME_REASON_REPETITION,
    GAME_REASON_QUIET_LIMIT,
    GAME_REASON_UNFED,       /* togo: a side with two seeds or more facing an empty row loses */
    GAME_REASON_ADJUDICATED, /* endgame tables prove the outcome; stores as they stand */
    /* Endings a replay cannot show; stored as claimed. */
    GAME_REASON_AGREED,
    GAME_REASON_RESIGN,
    GAME_REASON_DEADLINE,
    GAME_REASON_ILLEGAL_MOVE,
    GAME_REASON_CRASH,
};

enum game_error {
    GAME_OK = 0,
    GAME_ERROR_ILLEGAL = -1, /* not a legal move here, or no letter of a house */
    GAME_ERROR_OVER = -2,    /* the game has ended: a surplus move */
    GAME_ERROR_MEMORY = -3,
    GAME_ERROR_LENGTH = -4, /* GAME_PLIES_MAX reached */
};

/* How a game stands or ended. */
struct game_ending {
    struct position position; /* at an end after leftovers were taken */
    enum game_result result;
    enum game_reason reason;
};

/* The game that stands at `board` with `side` to move, ended for `reason` (majority to quiet limit): with
 * leftovers and `unfed_loses` as the rules say. GAME_REASON_NONE: unfinished. */
struct game_ending game_ending_at(const struct rules *rules, struct board board, enum side side,
                                  enum game_reason reason);

/* No counted game is longer: the most plies a game can have, and the bound of its buffers. */
enum { GAME_PLIES_MAX = 16384 };

struct game; /* engine/game.c owns the fields */

/* A new game under `rules` (copied) from `start` (NULL: the usual start). An end that already holds at
 * `start` is seen at once. Returns NULL when memory is short. */
struct game *game_create(const struct rules *rules, const struct position *start);
void game_destroy(struct game *game);
/* Back to the start position given, keeping buffers. */
void game_reset(struct game *game, const struct position *start);

/* Plays house 0..11 (absolute) of the side to move. A failure has no effect. */
enum game_error game_play(struct game *game, int house);
enum game_error game_play_letter(struct game *game, char letter);
/* Plays letters until the end of `moves` or the first refusal; `*played` counts the plies made. */
enum game_error game_play_text(struct game *game, const char *moves, size_t length, size_t *played);

/* Legal houses of the side to move, bit h for house h of its own row (0..5); 0 when the game is over. */
unsigned game_legal(const struct game *game);

bool game_over(const struct game *game);
enum game_result game_result(const struct game *game);
enum game_reason game_reason(const struct game *game);
/* The board as it stands; at an end after leftovers were taken. */
struct position game_position(const struct game *game);
const struct rules *game_rules(const struct game *game);
size_t game_plies(const struct game *game);
size_t game_quiet_plies(const struct game *game);

/* The path since the last capture (or the start), all that a later repetition can refer to. */
struct game_history {
    const struct board *boards; /* oldest first, each seen by its mover, so sides alternate; the last one is
                                   the board as it stands, before leftovers are taken */
    const uint16_t
        *occurrences; /* how often boards[i] had occurred when it stood, itself included: 1, 2, ... */
    size_t count;     /* quiet plies + 1 */
};
/* Nothing is copied: valid until the next call that changes the game. Equal boards count only at an even
 * distance (the same side moves), and no cycle is shorter than 12 plies. */
struct game_history game_history(const struct game *game);
/* The moves played so far as letters, NUL-terminated; valid until the next call that changes the game. */
const char *game_moves(const struct game *game);

/* `south`, `north`, `draw`, `unfinished`; `majority`, `no-move`, ... ("" for NONE). Parsing returns -1 on
 * an unknown word. */
const char *game_result_text(enum game_result result);
const char *game_reason_text(enum game_reason reason);
int game_result_parse(const char *text);
int game_reason_parse(const char *text);

#endif
