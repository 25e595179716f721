/* A worker: one process that plays leased pairs on its play threads and returns them (DESIGN sections 5, 6).
 * The thread that creates a worker runs and destroys it; worker_signal may be called from a signal handler.
 */
#ifndef KROO_WORKER_WORKER_H
#define KROO_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/keys.h"
#include "proto/seal.h"

enum {
    WORKER_CREDIT = 4096,
    WORKER_CREDIT_MAX = 32768,
    WORKER_DRAIN_MS = 5000,
    WORKER_REPLY_MS = 10000, /* how long an answer may take */
    WORKER_BATCH_MS = 200,
};

/* Exit statuses of worker_run. */
enum { WORKER_DONE = 0, WORKER_BARRED = 1, WORKER_NO_CONNECTION = 3 };

struct worker_options {
    const char *const *endpoints;
    size_t endpoint_count;
    const struct keys *keys; /* NULL: none, on ipc */
    const char *server_key;  /* z85; NULL: none */
    struct seal_trust trust; /* whose signatures programs need; none: they need none */
    /* Reads them again, before each lease with a program: 0, or -1 with the reason. NULL: they stay. */
    int (*trust_again)(void *context, struct seal_trust *out, char *reason, size_t reason_size);
    void *trust_context;
    const char *state;  /* folder */
    const char *name;   /* for people */
    const char *tags;   /* what it has, comma separated, as proto/tags.h has them */
    unsigned slots;     /* play threads */
    uint32_t credit;    /* most pairs held, leased or finished, that are not acknowledged */
    uint64_t spool_max; /* bytes */
    uint32_t drain_ms;
    uint32_t idle_exit_ms;       /* leave after so long without work; 0 = never */
    uint32_t connect_timeout_ms; /* give up after so long without a WELCOME; 0 = never */
    bool measure;                /* the speed, for timed play */
    uint32_t measure_ms;         /* again so often while idle */
    bool pin;                    /* play threads to cores of their own, where there are enough */
    uint32_t move_ms; /* a program that has not moved by then under a limit of nodes or plies hangs */
    uint32_t game_ms; /* a game that has not ended by then is given up; 0: by its limits */
    const char *const *tables; /* endgame tables on a disk */
    size_t table_count;
    uint32_t reply_ms, batch_ms;
    uint32_t backoff_low_ms, backoff_high_ms;
};

/* Everything but endpoints, keys, state, name and slots. */
void worker_options_init(struct worker_options *options);

struct worker;

/* Takes the state folder, opens the spool, starts the play threads. The strings and keys of `options` must
 * outlive the worker. NULL with the reason, which says what to do. */
struct worker *worker_create(const struct worker_options *options, char *reason, size_t reason_size);
void worker_destroy(struct worker *worker);

/* Whether a play thread stands still: worker_destroy would wait for it. For the end: all is on disk. */
bool worker_stands_still(const struct worker *worker);

/* Works until it is told to leave, barred, or without connection for too long. Returns the exit status. */
int worker_run(struct worker *worker);

enum worker_order {
    WORKER_ORDER_FINISH = 1, /* play what is leased, deliver, leave */
    WORKER_ORDER_DRAIN = 2,  /* the same within drain_ms; what is not finished by then is given back */
};
/* Async-signal-safe; a stronger order replaces a weaker one. */
void worker_signal(struct worker *worker, enum worker_order order);

#endif
