/* What travels between the event loop and the writer: jobs, and the bounded queues they wait in. A job
 * belongs to whoever holds it; a queue holds what it was given until it is taken. Any thread may use a queue.
 */
#ifndef KROO_COORDINATOR_JOB_H
#define KROO_COORDINATOR_JOB_H

#include <pthread.h>
#include <stdbool.h>

#include "coordinator/audit.h"
#include "coordinator/tune_book.h"
#include "coordinator/control.h"
#include "coordinator/terms.h"
#include "proto/message.h"
#include "proto/socket.h"
#include "sql/store_flag.h"
#include "sql/store_seal.h"

enum { JOB_NUMBERS_COUNT = 1 << 16 }; /* lease numbers reserved at once */

enum job_kind {
    /* grouped in one transaction */
    JOB_RESULTS,     /* games to commit, then ResultsAck */
    JOB_GRANT,       /* a lease row */
    JOB_NUMBERS,     /* a block of lease numbers is reserved */
    JOB_LEASES_END,  /* lease rows that ended */
    JOB_SESSION,     /* a session row, then Welcome */
    JOB_SESSION_END, /* a session said goodbye */
    JOB_BENCH,       /* a session has measured its machine again: `session_row` */
    JOB_REFERENCE,   /* what limits of time are meant for, at the start */
    JOB_BLOCK,       /* an experiment that cannot go on, with the reason: `event` holds both */
    JOB_FLAG,        /* a worker is set aside: nobody else's programs fail */
    JOB_AUDIT_WAIVE, /* nobody is there for an experiment's open audits: `event` holds its number */
    JOB_FAULT,       /* a program that gave no game */
    JOB_HOOK_END,    /* a hook has ended: `event` holds how */
    JOB_EVENT,       /* a line of the event log */
    /* each in a transaction of its own */
    JOB_CREATE,
    JOB_CONTROL, /* a verb done to an experiment */
    JOB_PROMOTE,
    JOB_HOOKS,    /* claims hooks that are due */
    JOB_ARTIFACT, /* an artifact's bytes, for the chunks */
    JOB_SEALS,    /* who signed one */
    JOB_LOOKUP,   /* an experiment that is not in memory */
    JOB_PLAYERS,  /* of a batch of a tune that is not in memory (any more) */
    /* from the writer, unasked */
    JOB_REPORT,  /* an experiment moved: pairs complete, prefix, decision */
    JOB_PEERS,   /* the allow-list, and the champion */
    JOB_RELOAD,  /* an experiment whose games have changed places: prefix, leases, what is done */
    JOB_RECHECK, /* pairs of a finished experiment are to be played again */
    JOB_LOST,    /* another coordinator leads now, or the schema changed: give up */
};

struct job_results {
    struct message message; /* MESSAGE_RESULTS; owns what the rows point at */
    struct store_game *games;
    enum store_outcome *outcome;
    size_t count;
    struct message_game_answer *refused; /* by the referee, before the database */
    size_t refused_count;
};

struct job_players {
    uint64_t experiment, pair;
    bool found;
    uint32_t batch_pairs; /* 0: it is no tune */
    struct store_tune_batch batch;
};

struct job_grant {
    struct store_lease lease;
    bool late;                   /* the experiment had its verdict already: no row, no lease */
    bool again;                  /* one pair that is played already */
    struct job_players *players; /* owned; of a pair of a tune that is played again: who plays its batch */
};

struct job_leases_end {
    uint64_t *ids;
    size_t count;
    enum store_lease_state state;
};

struct job_event {
    char kind[32];
    uint64_t experiment, session;
    char text[STORE_TEXT];
};

struct job_fault {
    struct store_fault row; /* its moves point at the field below */
    char moves[MESSAGE_FAULT_MOVES_MAX];
};

struct job_create {
    struct store_experiment experiment;
    struct terms *terms;        /* owned: kept until the event loop has its referee */
    char submitter[STORE_NAME]; /* "": needs no approval */
    bool existed;
};

/* Pairs to be played again, and by whom not. */
struct job_replays {
    struct audit_pair *pairs;
    size_t count;
};

struct job_control {
    uint64_t experiment;         /* 0: of a tournament */
    char tournament[STORE_NAME]; /* name or number; "": of an experiment */
    enum message_verb verb;
    int32_t priority;
    char text[STORE_TEXT];
    char by[STORE_NAME], user[STORE_NAME]; /* name, and ZAP user */
    struct control_step step;              /* what came of it */
    uint64_t games;                        /* deleted with it */
    bool loaded;                           /* its ledger was read for this */
    struct job_replays again;              /* of one that was blocked: pairs to play again */
    bool withdraws;            /* by a submitter: only what waits for approval and is the same key's */
    struct job_control *parts; /* of a tournament: what came of each match that had not ended; owned */
    size_t part_count;
    uint64_t tournament_id; /* as it was found */
    bool same;              /* nothing was to be changed */
};
/* Frees what it owns, parts included. */
void job_control_done(struct job_control *control);

struct job_hooks {
    uint64_t claim;
    size_t limit;
    struct store_hook *list;
    size_t count;
};

struct job_promote {
    char line[STORE_NAME];
    uint8_t sha256[STORE_HASH];
    uint64_t experiment;
    char by[STORE_NAME];
    char reason[STORE_TEXT];
    uint64_t epoch;
};

struct job_artifact {
    uint8_t sha256[STORE_HASH];
    uint64_t offset;
    uint32_t length;
    void *content;
    size_t size;
};

struct job_seals {
    uint8_t sha256[STORE_HASH];
    struct store_seal list[STORE_SEALS_MAX];
    size_t count;
};

struct job_lookup {
    uint64_t id;
    bool found;
    struct store_experiment experiment;
};

struct job_recheck {
    struct store_experiment experiment;
    struct job_replays again;
};

struct job_report {
    uint64_t experiment;
    struct job_pair {
        uint64_t pair;
        uint64_t session; /* whose game completed it */
    } * complete;
    size_t complete_count;
    uint64_t prefix;
    bool ended;                /* decided, stopped or finished: no more leases */
    bool blocked;              /* a dispute that does not settle: no more leases either */
    struct tune_book *players; /* owned; of a tune: what has come to its batches; else NULL */
    uint64_t follow_up;        /* an experiment that was made at its end, 0 for none */
    struct job_replays again;
    uint64_t *closed; /* pairs that need not be played again any more */
    size_t closed_count;
    uint64_t
        awaiting; /* audits and disputes of counted pairs that keep a decided experiment's verdict back */
};

struct job_peers {
    struct store_peer *peers;
    size_t count;
    uint64_t version; /* the list is not older */
    uint64_t epoch;
    uint8_t champion[STORE_HASH];
    struct store_flag *flags; /* workers that are set aside */
    size_t flag_count;
};

struct job_flag {
    char peer[STORE_NAME], name[STORE_NAME], reason[STORE_TEXT];
};

struct job_reload {
    struct store_experiment row;
    uint64_t experiment, prefix, awaiting;
    bool ended;
    uint64_t *complete; /* pairs beyond the prefix that are finished */
    size_t complete_count;
    struct store_lease *leases; /* of this experiment */
    size_t lease_count;
    struct job_replays again;
};

struct job {
    struct job *next;
    enum job_kind kind;
    struct socket_peer peer; /* who waits for the answer; id_size 0: nobody */
    uint64_t request;
    uint64_t session;
    double made_s; /* metrics_now_s when it was made: when what it answers was taken up */
    size_t bytes;  /* what it weighs in the queue's bound */
    enum store_error error;
    char text[STORE_TEXT]; /* why, or what was done */
    union {
        struct job_results results;
        struct job_grant grant;
        uint64_t numbers; /* the first of the block */
        struct job_leases_end leases_end;
        struct store_session session_row;
        uint32_t reference_speed;
        struct job_event event;
        struct job_fault fault;
        struct job_create create;
        struct job_control control;
        struct job_promote promote;
        struct job_hooks hooks;
        struct job_artifact artifact;
        struct job_seals seals;
        struct job_lookup lookup;
        struct job_players players;
        struct job_report report;
        struct job_recheck recheck;
        struct job_peers peers;
        struct job_flag flag;
        struct job_reload reload;
    };
};

/* NULL when memory is short. */
struct job *job_create(enum job_kind kind);
void job_destroy(struct job *job);
void jobs_destroy(struct job *jobs);

struct job_queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct job *first, *last;
    size_t count, bytes;
    size_t count_max, bytes_max; /* 0 = not bounded: only for answers, which are bounded by the questions */
    bool closed;
};

void job_queue_init(struct job_queue *queue, size_t count_max, size_t bytes_max);
void job_queue_done(struct job_queue *queue);
/* Takes the job; false (and the job stays the caller's) when the queue is full or closed. */
bool job_queue_put(struct job_queue *queue, struct job *job);
/* Everything queued, up to `bytes_max` bytes but at least one job, as a list in order; NULL after timeout_ms
 * without any.
 */
struct job *job_queue_take(struct job_queue *queue, size_t bytes_max, int timeout_ms);
/* No more puts; takes go on until it is empty. */
void job_queue_close(struct job_queue *queue);
bool job_queue_is_closed(struct job_queue *queue);
size_t job_queue_count(struct job_queue *queue);

#endif
