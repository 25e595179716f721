/* Pairs that are played already and go out once more, to a worker that has not played them (DESIGN section 5,
 * "audited", and section 7): which pairs are audited, and who plays which of them again. The first player of
 * a pair cannot tell: the choice is a keyed hash, and nothing is said before its games are committed. A book
 * of tasks beside the lease book, for a task may lie below the counted prefix and in experiments that have
 * ended. Pure: time comes in as now_ms. One thread.
 *
 *     (none) --audit_want--> waiting --audit_take--> out --audit_close--> (none)
 *                                    <--audit_expire, audit_release, audit_session_end--
 */
#ifndef KROO_COORDINATOR_AUDIT_H
#define KROO_COORDINATOR_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AUDIT_SECRET = 32,
    AUDIT_PPM = 1000000,
    AUDIT_PLAYED_MAX = 8,      /* workers remembered of a pair; five runs settle a dispute or block it */
    AUDIT_TASKS_MAX = 1 << 17, /* more are not taken: their audits are given up when the verdict is due */
    AUDIT_HELD_MAX = 1 << 14,  /* beside them, of pairs that the prefix waits for */
    AUDIT_LOOKS_MAX = 4096,    /* tasks looked at for one request */
};

/* Is the pair audited, at a share of `ppm` millionths? By the first 8 bytes of sha256(secret, experiment,
 * pair, request), numbers of 8 bytes, the highest first. `request` is 0 for the experiment's own audit. */
bool audit_is_due(const uint8_t secret[AUDIT_SECRET], uint64_t experiment, uint64_t pair, uint64_t request,
                  uint32_t ppm);

/* Who plays: workers are independent when key or name differ. Never 0. */
uint64_t audit_worker(const char *peer, const char *name);

/* A pair to be played again, and who has played it. */
struct audit_pair {
    uint64_t pair;
    bool disputed; /* two contents came, or one that nobody can check: it is never given up */
    bool held;     /* and the prefix waits for it: better the same workers again than nobody */
    uint32_t played_count;
    uint64_t played[AUDIT_PLAYED_MAX]; /* whoever played it last at the end */
};
/* Ignores one who is there, or for whom there is no room. */
void audit_pair_add(struct audit_pair *pair, uint64_t worker);

struct audit_lease {
    uint64_t experiment, pair;
    uint64_t lease, session;
    uint32_t attempt;
};

/* Who asks for a task, and what it may be of. */
#define AUDIT_NOT INT32_MIN
struct audit_ask {
    uint64_t worker, session, lease; /* the lease's number, should there be one */
    uint32_t cores;                  /* how many games the session plays at once */
    void *context;
    /* How soon an experiment's tasks go out, the highest first; AUDIT_NOT: not to this session. Asked once of
     * each experiment that has tasks waiting. */
    int32_t (*rank)(void *context, uint64_t experiment);
    /* Workers that could play the experiment's pairs now, or some AUDIT_PLAYED_MAX + 1 of them; their number.
     */
    size_t (*able)(void *context, uint64_t experiment, const uint64_t **workers);
};

struct audit_book;
/* A task that is out and shows no progress for term_ms waits again. */
struct audit_book *audit_book_create(int64_t term_ms);
void audit_book_destroy(struct audit_book *book);

/* A pair is to be played again by somebody else; of a task that is there, this is what is known now. False
 * when the book is full or without memory. */
bool audit_want(struct audit_book *book, uint64_t experiment, const struct audit_pair *pair);
/* Agreed, settled or given up: true when there was a task; *was_out (lease 0: it waited). */
bool audit_close(struct audit_book *book, uint64_t experiment, uint64_t pair, struct audit_lease *was_out);
/* All tasks of an experiment; their number. */
size_t audit_drop(struct audit_book *book, uint64_t experiment);
/* Hands a waiting task of the highest rank to a worker that has not played it. A pair that the prefix waits
 * for goes to one that has, but not the last time, when nobody else is able. False: none found among
 * AUDIT_LOOKS_MAX, which go round. */
bool audit_take(struct audit_book *book, const struct audit_ask *ask, int64_t now_ms,
                struct audit_lease *taken);
enum audit_answer {
    AUDIT_UNKNOWN, /* no lease of this session here */
    AUDIT_STALE,   /* no progress since the last report */
    AUDIT_RENEWED,
};
enum audit_answer audit_progress(struct audit_book *book, uint64_t lease, uint64_t session, uint64_t progress,
                                 int64_t now_ms);
/* Is it a lease of this session here? */
bool audit_holds(const struct audit_book *book, uint64_t lease, uint64_t session);
bool audit_release(struct audit_book *book, uint64_t lease, uint64_t session, struct audit_lease *released);
/* At most `max` leases without progress, or of a session that ended: they wait again. */
size_t audit_expire(struct audit_book *book, int64_t now_ms, struct audit_lease *lapsed, size_t max);
size_t audit_session_end(struct audit_book *book, uint64_t session, struct audit_lease *released, size_t max);

/* Games of the experiment's tasks that are out and played at once. */
uint32_t audit_cores(const struct audit_book *book, uint64_t experiment);

struct audit_outlook {
    size_t tasks, disputed; /* of the experiment */
    size_t hopeful;         /* undisputed ones that are out, or that one of the workers could play */
};
/* Could the experiment's audits be closed with the workers that are here? */
struct audit_outlook audit_look(const struct audit_book *book, uint64_t experiment, const uint64_t *workers,
                                size_t count);

#endif
