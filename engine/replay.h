/* Many games at once from their letters: every move checked, results and reasons exactly those of
 * engine/game.h, at several times its speed. For who checks games (the coordinator) or reads them (the
 * trainer); a game that is being played is a struct game. A replayer owns its buffers and allocates only when
 * created. One thread at a time. */
#ifndef KROO_ENGINE_REPLAY_H
#define KROO_ENGINE_REPLAY_H

#include "engine/game.h"

struct replay_game {
    const char *moves; /* `length` bytes, any bytes */
    size_t length;
    const struct position *start; /* NULL: the usual start */
    /* NULL, or room for `length` + 1 boards (GAME_PLIES_MAX + 1 are always enough): the boards from the start
     * to the last one that stood, each seen by its mover, leftovers not taken; outcome plies + 1 of them are
     * written. */
    struct board *boards;
};

struct replay_outcome {
    size_t plies; /* made; a refused move is number plies + 1 */
    /* Why a move was refused: GAME_ERROR_ILLEGAL, _OVER (a surplus move) or _LENGTH. The rest tells of the
     * game before that move. */
    enum game_error error;
    struct game_ending ending; /* GAME_UNFINISHED when the letters stop too early */
};

struct replayer; /* engine/replay.c owns the fields */

/* A copy of `rules` is kept. NULL when memory is short. */
struct replayer *replayer_create(const struct rules *rules);
void replayer_destroy(struct replayer *replayer);

/* Replays `count` games that have nothing to do with one another. */
void replay_games(struct replayer *replayer, const struct replay_game *games, size_t count,
                  struct replay_outcome *outcomes);

#endif
