/* The one thread that owns the database connection. It takes jobs, commits them in groups (games, counters,
 * lease rows, verdicts of one round in one transaction), and hands every job back with its outcome; only then
 * is anything acknowledged. While the database is away it keeps what it holds and tries again; its queue is
 * bounded, so the event loop turns new work down. */
#ifndef KROO_COORDINATOR_WRITER_H
#define KROO_COORDINATOR_WRITER_H

#include <stdatomic.h>

#include "coordinator/job.h"
#include "coordinator/metrics.h"

enum {
    WRITER_QUEUE_JOBS = 8192,
    WRITER_QUEUE_BYTES = 64 << 20,
    WRITER_ROUND_BYTES = 16 << 20, /* of one transaction */
    WRITER_BACKOFF_MAX_MS = 3000,
    WRITER_STANDBY_MS = 500, /* between two looks whether the lead is free */
    WRITER_PEERS_MS = 1000,  /* how old the allow-list may be */
};

/* An experiment as the event loop needs it when it enters memory. */
struct writer_experiment {
    struct store_experiment experiment;
    uint64_t prefix;    /* pairs counted */
    uint64_t *complete; /* pairs beyond the prefix that are finished */
    size_t complete_count;
    struct job_replays again;  /* pairs to be played again */
    uint64_t awaiting;         /* of them, those that keep a decided experiment's verdict back */
    struct tune_book *players; /* owned; of a tune, else NULL */
};

/* What is in the database when the coordinator starts to lead. */
struct writer_start {
    struct writer_experiment *experiments; /* running ones */
    size_t experiment_count;
    struct store_lease *leases;
    size_t lease_count;
    uint64_t next_lease; /* JOB_NUMBERS_COUNT from here on are reserved */
    struct job *peers;   /* JOB_PEERS: the allow-list before anybody may connect */
};

struct writer;

/* Hears, while writer_create goes on, what it waits for; NULL: it got a step further. */
struct writer_waiting {
    void (*say)(void *context, const char *reason);
    void *context;
};

/* Connects, waiting for the database and for leadership until *stop is set, and starts the thread. `wake` is
 * rung when answers wait. NULL with the reason when stopped, or when the database is not ours to use (schema,
 * unsafe settings). `allow_unsafe` accepts fsync, full_page_writes or synchronous_commit off. A writer that
 * says nothing to the database for `term_ms` (STORE_LEAD_IDLE_MIN_MS at least) loses the lead. */
struct writer *writer_create(const char *conninfo, bool allow_unsafe, uint32_t term_ms, int wake,
                             atomic_bool *stop, const struct writer_waiting *waiting,
                             struct writer_start *start, char *reason, size_t reason_size);
void writer_start_done(struct writer_start *start);
/* Commits what is queued if the database answers within deadline_ms, and ends the thread. */
void writer_destroy(struct writer *writer, int deadline_ms);

/* Takes the job; false (it stays the caller's) when the queue is full. */
bool writer_put(struct writer *writer, struct job *job);
/* Jobs done, in order; NULL when there is none. The caller owns them. */
struct job *writer_answers(struct writer *writer);
/* Is the database there? When not, `reason` (may be NULL) says since when and why. */
bool writer_is_up(struct writer *writer, char *reason, size_t reason_size);
size_t writer_queue_count(struct writer *writer);
/* Transactions, games committed, duplicates, conflicts; how long transactions took. */
struct writer_counters {
    uint64_t commits, games, duplicates, conflicts, reconnects;
    struct histogram commit;
    double busy_s; /* at what it does now; 0: it waits */
};
struct writer_counters writer_counters(struct writer *writer);

#endif
