/* The unit of work as a pure function: openings, noise and whole games from (experiment seed, pair, leg)
 * (DESIGN sections 5 and 12). The worker plays with it, the coordinator checks openings with it, the trainer
 * asks it which plies were noise. One thread per struct play_seats. */
#ifndef KROO_ENGINE_PLAY_H
#define KROO_ENGINE_PLAY_H

#include <stdatomic.h>

#include "engine/book.h"
#include "engine/game.h"
#include "engine/search.h"
#include "engine/weights.h"

enum { PLAY_OPENING_MAX = 64, PLAY_NOISE_UNIT = 1000000 };

/* What both games of a pair have in common, fixed by the experiment. */
struct play_setup {
    const struct rules *rules;
    uint64_t seed;          /* of the experiment */
    unsigned opening_plies; /* random legal plies before the players think; <= PLAY_OPENING_MAX */
    uint32_t noise_ppm;     /* share of later plies played at random, in millionths; 0 in matches */
    /* NULL: random openings. Else of the same rules, `opening_plies` means nothing, and pair k takes opening
     * book_permute(k). */
    const struct book *book;
    const struct tables *adjudication; /* end a game once they prove its outcome; NULL: none */
    int resign_score;                  /* a side resigns so many hundredths of a seed behind, */
    unsigned resign_plies;             /* for so many of its own moves in a row; 0: nobody resigns */
    uint32_t resign_playout_ppm;       /* share of games played out all the same */
    int64_t most_ms; /* a game that has not ended by then is given up; changes no move before. 0: no bound */
};

/* The opening of pair `pair`, letters that leave the game unfinished, written with a NUL to `moves`
 * (PLAY_OPENING_MAX + 1 bytes): the book's, or exactly setup->opening_plies random moves, drawn again with
 * the next attempt mixed in when a draw ends the game. Returns its length; -1 when 1000 draws all ended the
 * game, or the book has no opening left for this pair. */
int play_opening(const struct play_setup *setup, uint64_t pair, char *moves);
/* Its length alone, which needs no replay; 0 where there is none. */
size_t play_opening_plies(const struct play_setup *setup, uint64_t pair);

/* True when ply `ply` (counted from the start of the game, opening included) of this game is noise. */
bool play_is_noise(const struct play_setup *setup, uint64_t pair, unsigned leg, size_t ply);

struct play_side {
    const struct weights *weights;
    struct search_limits limits;
    unsigned hash_kib;
    int64_t clock_ms,
        increment_ms; /* for the whole game, and after each move; 0 = none, and irreproducible */
};

enum play_status {
    PLAY_DONE = 0,
    PLAY_STOPPED = -1,
    PLAY_TOO_LONG = -2,
    PLAY_MEMORY = -3,
    PLAY_NO_OPENING = -4,
    PLAY_FAILED = -5,   /* a mover failed before its first move: no game */
    PLAY_OVERTIME = -6, /* it did not end within setup->most_ms: no game */
};

struct play_record {
    char *moves;     /* letters, opening included; owned, NUL-terminated */
    int16_t *scores; /* the mover's search score of each ply, hundredths of a seed; PLAY_NO_SCORE for opening
                        and noise plies; owned */
    size_t plies;
    enum game_result result;
    enum game_reason
        reason;        /* also adjudicated and resign (engine/adjudicate.h); deadline of whoever's clock
                          ran out; a mover's fault after its first move: illegal-move, deadline or crash */
    uint8_t stores[2]; /* South, North, leftovers taken */
    uint64_t nodes;
    int64_t time_ms;
};

enum { PLAY_NO_SCORE = -32768 };

/* A player that is not the search in this process: its owner speaks to another program. */
enum play_answer {
    PLAY_ANSWER_MOVE = 0,
    PLAY_ANSWER_STOPPED = -1,
    PLAY_ANSWER_CRASH = -2,    /* it ended, hung or spoke nonsense */
    PLAY_ANSWER_DEADLINE = -3, /* it overstepped its limit of time */
};
struct play_move {
    /* Told to the mover: what South and North have on their clocks, and get after each move; 0: no clock. */
    int64_t clock_ms[2], increment_ms[2];
    /* Its answer. */
    int house;     /* 0..11 absolute; anything that is not legal loses the game */
    int16_t score; /* PLAY_NO_SCORE: not told */
    uint64_t nodes;
    int64_t time_ms;
};
struct play_mover {
    void *context;
    /* At the start of each game. */
    enum play_answer (*begin)(void *context, atomic_bool *stop);
    /* The move of an unfinished game. `stop` may be NULL in both. */
    enum play_answer (*choose)(void *context, const struct game *game, atomic_bool *stop,
                               struct play_move *out);
};

/* Two searches kept from game to game so that a play thread allocates once. */
struct play_seats;
struct play_seats *play_seats_create(void);
void play_seats_destroy(struct play_seats *seats);
/* From now on player a (`seat` 0) or b (1) moves by `mover`, which must outlive its use; NULL: by the search.
 */
void play_seats_use(struct play_seats *seats, unsigned seat, const struct play_mover *mover);
/* From now on `pulse` (NULL: none), which must outlive its use, grows while the searches of these seats go
 * on. */
void play_seats_pulse(struct play_seats *seats, atomic_uint *pulse);

/* Plays leg 0 (player a South) or leg 1 (player b South) of a pair. `stop` (may be NULL) abandons the game.
 * `progress` (may be NULL) is set to the ply reached, for a watching thread. On PLAY_DONE the caller owns the
 * record and ends it with play_record_done; on PLAY_FAILED and PLAY_OVERTIME likewise, and it holds the moves
 * up to there, if any were made. */
enum play_status play_game(struct play_seats *seats, const struct play_setup *setup,
                           const struct play_side *a, const struct play_side *b, uint64_t pair, unsigned leg,
                           atomic_bool *stop, atomic_uint *progress, struct play_record *out);
void play_record_done(struct play_record *record);

#endif
