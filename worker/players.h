/* The play threads: each takes a game from the queue, plays it with the in-process engine or with programs of
 * its own, and puts the outcome into the other queue. Every task taken gives exactly one outcome. Made and
 * ended by the main thread. */
#ifndef KROO_WORKER_PLAYERS_H
#define KROO_WORKER_PLAYERS_H

#include <stdint.h>

#include "worker/lease.h"
#include "worker/process.h"
#include "worker/queue.h"

enum {
    PLAYERS_MAX = 1024,
    PLAYERS_LOOK_MS =
        500, /* no more is taken to have passed between two looks: the watcher, too, may be stopped */
};

struct task {
    struct lease *lease;
    uint32_t index; /* pair number minus lease->first_pair */
    unsigned leg;
};

struct outcome {
    struct task task;
    enum play_status status;
    struct message_game *game; /* PLAY_DONE: malloc'ed, the taker's */
    /* Of PLAY_FAILED and PLAY_OVERTIME: */
    char why[DIALECT_REASON_MAX]; /* which player, and what happened */
    uint32_t side;                /* 1: player a, 2: player b */
    char moves[MESSAGE_FAULT_MOVES_MAX];
};

struct players;

/* Starts `slots` threads. `cores`: thread i stays on core cores[i]; NULL: anywhere. `wake_fd` is rung when
 * outcomes wait in number or the tasks run out. NULL when a thread or its memory cannot be had. */
struct players *players_create(unsigned slots, const int *cores, struct queue *tasks, struct queue *outcomes,
                               int wake_fd);
/* Both queues are closed and every lease's stop is set: joins the threads. */
void players_destroy(struct players *players);

/* Plies made so far under a lease, the games being played included: grows only as the threads really play. It
 * may once miss or twice count a game that ends at this moment; the caller keeps the largest. */
uint64_t players_plies(struct players *players, struct lease *lease);

/* The main thread's watch. Each play thread has a pulse: it grows with its games, their plies, the nodes of
 * its search and its waits for programs, whatever these do. */

/* Looks at every pulse; to be called at every turn. */
void players_look(struct players *players, int64_t now_ms);
/* Whether a thread that plays under this lease was seen to go on after `since_ms`. */
bool players_think(const struct players *players, const struct lease *lease, int64_t since_ms);
/* A lease that is not stopped, one of whose threads has stood still for `still_ms`; NULL: none. */
struct lease *players_still(const struct players *players, int64_t still_ms);
/* How many threads stand still so long in a game. */
unsigned players_still_count(const struct players *players, int64_t still_ms);

void outcome_done(struct outcome *outcome);

#endif
