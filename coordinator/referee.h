/* Promise 1: every counted game was legal. A referee knows one experiment and turns a received game into the
 * row to store, or refuses it: the opening must be the pair's own, the players' weights, engines, tables and
 * build must be the experiment's, every move must be legal, and the result stored is the one that the replay
 * gives, or, where a program is said to have failed at its turn, the claim, marked as one. Pure but for its
 * buffers; one thread. */
#ifndef KROO_COORDINATOR_REFEREE_H
#define KROO_COORDINATOR_REFEREE_H

#include <stddef.h>

#include "coordinator/terms.h"
#include "coordinator/tune_book.h"
#include "engine/replay.h"
#include "proto/message.h"
#include "sql/store.h"

struct referee {
    struct terms *terms;
    struct play_setup setup; /* of the terms */
    struct replayer *replayer;
    struct game *game;                         /* to look where the terms end a game; NULL: they end none */
    const struct store_experiment *experiment; /* borrowed */
    const struct tune_book *players;           /* borrowed; who plays which pair of a tune; else NULL */
};

/* `experiment` must outlive the referee; its book and tables are kept by somebody (terms_load). Returns 0, or
 * -1 with the reason (rules that this program does not know, no memory). */
int referee_init(struct referee *referee, const struct store_experiment *experiment, char *reason,
                 size_t reason_size);
void referee_done(struct referee *referee);

/* Judges `received`; fills `row`, whose moves and scores point into it. 0: store it; -1: refused, and
 * `reason` says at which ply and why. */
int referee_judge(struct referee *referee, const struct message_game *received, struct store_game *row,
                  char *reason, size_t reason_size);

#endif
