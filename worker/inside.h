/* What the parts of a worker share: worker.c (loop, leaving), conversation.c (requests and answers),
 * workload.c (leases, games, weights). Private to these three; the main thread's. */
#ifndef KROO_WORKER_INSIDE_H
#define KROO_WORKER_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "proto/confine.h"
#include "proto/log.h"
#include "proto/message.h"
#include "proto/socket.h"
#include "worker/backoff.h"
#include "worker/cache.h"
#include "worker/fetch.h"
#include "worker/files.h"
#include "worker/folder.h"
#include "worker/lease.h"
#include "worker/measure.h"
#include "worker/notary.h"
#include "worker/players.h"
#include "worker/prepare.h"
#include "worker/queue.h"
#include "worker/session.h"
#include "worker/spool.h"
#include "worker/worker.h"
#include "worker/yardstick.h"

enum {
    INSIDE_LEASES_MAX = 64,
    INSIDE_OUTCOMES_MAX = 1024,
    INSIDE_BATCH_PAIRS = MESSAGE_GAMES_MAX / 2,
    INSIDE_BATCH_BYTES = MESSAGE_BYTES_MAX - 4096,
    INSIDE_AHEAD_MS = 3000, /* work held ready at the measured speed */
    INSIDE_SYNC_MS = 1000,  /* a finished pair is durable after this at the latest */
    INSIDE_LOST_MS =
        500, /* a broken connection may come back by itself for so long, and once more so long at most */
    INSIDE_RETRY_MS = 1000,    /* where the peer did not say */
    INSIDE_SETBACK_MS = 30000, /* no asking for work after a lease that could not be played */
    INSIDE_FETCHES_MAX = 16,   /* of one lease's weights, engines and tables */
    INSIDE_COSTS = 8,          /* experiments whose cost of a game is remembered */
    INSIDE_GAME_MS = 1000,     /* of a play thread, for a game of which nothing is known */
};

/* The requests that may be out at a time: one of each. */
enum ask_kind {
    ASK_HELLO,
    ASK_LEASE,
    ASK_RESULTS,
    ASK_PROGRESS,
    ASK_RELEASE,
    ASK_ARTIFACT,
    ASK_SEALS,
    ASK_KINDS
};

struct ask {
    bool out;
    uint64_t request;
    int64_t deadline_ms;
    int64_t not_before_ms;
};

/* What a game of an experiment costs a play thread here. */
struct cost {
    uint64_t experiment; /* 0: none */
    double game_ms;
};

enum leaving { LEAVING_NOT, LEAVING_FINISH, LEAVING_DRAIN };

struct worker {
    struct worker_options options;
    struct folder folder;
    struct spool *spool;
    struct cache *cache;
    struct files *files;
    struct fetch fetch;
    struct queue *tasks, *outcomes;
    struct players *players;
    struct prepare *prepare;
    struct notary notary;
    struct dealer *dealer;
    int wake_fd;
    atomic_int order; /* enum worker_order, from any thread */

    /* conversation */
    struct session session;
    struct backoff backoff;
    struct ask asks[ASK_KINDS];
    uint64_t last_request, nonce;
    uint32_t progress_ms, term_ms;
    uint32_t scale_ppm; /* limits of time are multiplied by this, where their lease does not say */
    struct yardstick yardstick;
    struct measure measure;
    struct measure_own own;
    int64_t own_noted_ms;
    uint64_t announcement;
    bool socket_used;     /* the next connection needs a new socket */
    bool proved;          /* something other than SAY_HELLO was answered since WELCOME */
    int64_t reconnect_ms; /* APART: when to connect */
    int64_t apart_ms;     /* since when there is no WELCOME */
    int64_t heard_ms;
    int64_t unsent_ms; /* since when nothing can be sent; 0 = it can */
    int64_t lost_ms;   /* when a connection that is broken now is given up; 0 = it is not broken */
    bool missed;       /* a deadline passed since anything was heard */
    int64_t progress_told_ms;
    int status; /* exit status once the session is over */

    /* results on their way */
    struct spool_batch batch; /* sent, not acknowledged */
    uint64_t batch_number;
    size_t batch_pairs_max; /* halved when a whole batch is refused */
    int64_t batch_sent_ms, synced_ms, spool_retry_ms;
    struct lease *stuck; /* its pair `stuck_index` is finished and the spool did not take it */
    uint32_t stuck_index;

    /* work */
    struct lease *leases[INSIDE_LEASES_MAX];
    size_t lease_count;
    uint64_t releases[MESSAGE_LEASES_MAX];
    size_t release_count;
    char release_because[MESSAGE_TEXT_MAX]; /* why one of them cannot be played here; "": nothing is wrong */
    struct message_fault release_fault;     /* whose fault that is */
    double games_per_second;                /* 0 = not known */
    struct cost costs[INSIDE_COSTS];        /* the latest first */
    uint64_t games_total, games_window;
    int64_t window_ms;      /* play time since games_window was 0 */
    int64_t collected_ms;   /* the last look at finished games */
    bool window_open;       /* something was being played then */
    unsigned threads_still; /* play threads that stand still, as last told */

    /* leaving and idling */
    enum leaving leaving;
    int64_t play_until_ms; /* games not finished by then are abandoned */
    int64_t goodbye_ms;    /* results not acknowledged by then stay in the spool */
    int64_t deadline_ms;   /* the process ends */
    int64_t busy_ms;       /* last time there was work */
    char idle[MESSAGE_TEXT_MAX];
    bool idle_news; /* it was never told */
    int64_t idle_told_ms, status_told_ms;
};

/* conversation.c */

/* Takes the session's step and does what belongs to it; logs one that the table does not have. */
void conversation_step(struct worker *worker, enum session_event event, int64_t now);
/* Sends what is due, sees to deadlines. */
/* What went wrong with the connection last, and what to do, for a log line. */
void conversation_trouble(const struct worker *worker, char *text, size_t size);
void conversation_tick(struct worker *worker, int64_t now);
void conversation_hear(struct worker *worker, const struct message *message, int64_t now);
/* No work is asked for until then. */
void conversation_pause_asking(struct worker *worker, uint32_t wait_ms, int64_t now);

/* workload.c */

void workload_adopt(struct worker *worker, const struct message_lease_grant *grant, int64_t now);
/* Takes finished games from the play threads, pairs them, spools them; lets go of leases that are over. */
void workload_collect(struct worker *worker, int64_t now);
/* The coordinator says these leases are over. */
void workload_drop(struct worker *worker, const uint64_t *leases, size_t count);
/* Gives up what is not finished; the leases go on the list to be released. */
void workload_abandon_all(struct worker *worker);
/* Takes back games whose pair has not begun. */
void workload_cancel_waiting(struct worker *worker);
/* An artifact came (or will not come): leases that wait for it go on (or are given back). */
void workload_artifact(struct worker *worker, int64_t now);
void workload_artifact_failed(struct worker *worker, const char *why, int64_t now);
/* Looks at the play threads' pulses; what is leased to one that stands still goes back before its term is
 * over.
 */
void workload_watch(struct worker *worker, int64_t now);
/* Engines that were prepared meanwhile: leases that wait for one go on, or are given back. */
void workload_prepared(struct worker *worker, int64_t now);
/* Pairs that may be asked for now, and about how much work they should be; 0 with the reason when it is not
 * for a full queue. */
uint32_t workload_wanted(struct worker *worker, uint32_t *work_ms, const char **reason);
bool workload_playing(const struct worker *worker); /* games queued, played, or waiting for weights */
void workload_release(struct worker *worker, uint64_t lease);

/* worker.c */

/* Says why there is nothing to do: on a change and once a minute. */
void worker_idle(struct worker *worker, const char *why, int64_t now);

#endif
