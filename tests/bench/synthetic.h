/* Workers without a player: the real protocol and legal games, at no cost of thinking. What load.c (many,
 * fast) and tests/system/liar.c (one, dishonest) have in common. Whatever goes wrong ends the program with a
 * sentence. One thread per struct synthetic. */
#ifndef KROO_BENCH_SYNTHETIC_H
#define KROO_BENCH_SYNTHETIC_H

#include "engine/game.h"
#include "engine/play.h"
#include "proto/socket.h"

enum { SYNTHETIC_DEADLINE_MS = 60000, SYNTHETIC_AGAIN_MS = 2000 };

struct synthetic {
    char name[MESSAGE_NAME_MAX];
    char engine_build[MESSAGE_NAME_MAX]; /* what HELLO says; ours by default */
    uint32_t protocol;                   /* likewise */
    uint32_t credit;
    const char *architecture; /* NULL: not told */
    struct dealer *dealer;
    uint64_t request, nonce;
    uint64_t bits;       /* chance */
    struct message late; /* a lease granted to a question that was asked again; kind MESSAGE_NONE: none */
};

/* What is demanded of the games of a lease. */
enum synthetic_winner { SYNTHETIC_ANYBODY, SYNTHETIC_A, SYNTHETIC_B };
struct synthetic_games {
    struct rules rules;
    struct play_setup setup; /* points to `rules` */
    struct game *game;
    enum synthetic_winner winner;
    double score;     /* with `same`: the chance that player a wins a game; 0: nothing is demanded */
    bool same;        /* chance comes from experiment, pair and leg: everybody plays the same game */
    uint32_t variant; /* everybody of this variant */
};

/* Who it is, without a connection. */
void synthetic_name(struct synthetic *worker, const char *name);
void synthetic_init(struct synthetic *worker, const char *endpoint, const char *name);
void synthetic_done(struct synthetic *worker);
_Noreturn void synthetic_give_up(const struct synthetic *worker, const char *why);

/* Sends a request under the next number and waits for its answer, to be ended with message_done. Unanswered
 * it is sent again, since the coordinator may have been restarted. */
void synthetic_ask(struct synthetic *worker, struct message *question, struct message *answer);
/* HELLO, always as the same session; the answer is WELCOME or REFUSED. */
void synthetic_hello(struct synthetic *worker, struct message *answer);

void synthetic_games_init(struct synthetic_games *games, const struct synthetic *worker,
                          const struct message_spec *spec);
void synthetic_games_done(struct synthetic_games *games);
/* Plays one game from the pair's opening into `out`, whose arrays are freed by message_game_done. */
void synthetic_play(struct synthetic *worker, struct synthetic_games *games,
                    const struct message_lease_grant *grant, uint64_t pair, unsigned leg,
                    struct message_game *out);

#endif
