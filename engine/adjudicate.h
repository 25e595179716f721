/* Games that end before their rules end them: because endgame tables prove the outcome, or because a side
 * resigns by what its own search says. Where such a game ends is a pure function of the setup, the moves and
 * the scores, so that whoever has those can check it. One thread per struct adjudicator. */
#ifndef KROO_ENGINE_ADJUDICATE_H
#define KROO_ENGINE_ADJUDICATE_H

#include "engine/play.h"

/* GAME_UNFINISHED: the game goes on. Reasons are adjudicated and resign. */
struct adjudication {
    enum game_result result;
    enum game_reason reason;
};

struct adjudicator {
    const struct play_setup *setup;
    bool plays_out;     /* a resignation does not end this game */
    unsigned behind[2]; /* by side: own moves in a row that found it lost */
    size_t resign_ply;  /* ply after which a side has resigned, or would have; 0 = none */
};

/* The outcome that the tables prove of an unfinished game under its real rules: no position since the last
 * capture has stood twice, enough quiet plies are left, and with d the captured difference of the side to
 * move d + LO > 0, d + UP < 0, or LO = UP = -d (DESIGN section 10). GAME_UNFINISHED where they prove none. */
enum game_result adjudicate_by_tables(const struct tables *tables, const struct game *game);

/* True when this game is played to its end whoever resigns: a share keyed by (seed, pair, leg). */
bool adjudicate_plays_out(const struct play_setup *setup, uint64_t pair, unsigned leg);

/* At the end of the opening. */
struct adjudication adjudicator_begin(struct adjudicator *adjudicator, const struct play_setup *setup,
                                      uint64_t pair, unsigned leg, const struct game *game);
/* After a ply that left the game unfinished, with its mover's score. A side resigns with the move that makes
 * resign_plies moves of its own in a row whose score was -resign_score or less; a ply without a score ends
 * the row. */
struct adjudication adjudicator_ply(struct adjudicator *adjudicator, const struct game *game, int16_t score);

/* Where the terms of the setup end a game with these moves, looked for from the end of its opening. `game` is
 * scratch of the setup's rules; `scores` NULL or two bytes a ply, little-endian. */
struct adjudicate_replay {
    struct adjudication ending; /* GAME_UNFINISHED: they do not */
    size_t plies;               /* made when they did */
    size_t resign_ply;          /* as in struct adjudicator */
    uint8_t stores[2];          /* as they stand */
};
void adjudicate_replay(const struct play_setup *setup, uint64_t pair, unsigned leg, struct game *game,
                       const char *moves, size_t plies, const uint8_t *scores, struct adjudicate_replay *out);

#endif
