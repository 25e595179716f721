/* What the files of the lease book share: lease.c (pairs, ranges, the life of a lease), lease_size.c (how
 * large a range, how many cores), lease_twin.c (the last ranges, issued twice). Private to these three. */
#ifndef KROO_COORDINATOR_LEASE_PARTS_H
#define KROO_COORDINATOR_LEASE_PARTS_H

#include "coordinator/idmap.h"
#include "coordinator/lease.h"
#include "coordinator/pairset.h"

#define LEASE_NONE ((uint32_t)IDMAP_NONE)

enum { LEASE_PACES = 8 }; /* experiments of which a session's speed is remembered */

enum pair_state { PAIR_FRESH = 0, PAIR_LEASED = 1, PAIR_LOST = 2, PAIR_DONE = 3 };

/* 8 bytes for each pair at or beyond the prefix; all zero for one that nobody has touched. */
struct pair {
    uint32_t
        lease; /* leased: slot of the record that holds it; lost: low half of the session to avoid, or 0 */
    uint16_t attempt; /* of the last lease that held it */
    uint8_t state;
};

struct experiment {
    uint64_t id, planned, window, prefix;
    uint64_t reach;        /* pairs below it may be leased, whatever the window says */
    uint64_t block, limit; /* lease_experiment_bound */
    uint64_t cursor;       /* pairs below are not fresh */
    uint64_t touched;      /* pairs at or beyond the cursor that are not fresh: after a restart only */
    uint64_t lost;         /* pairs in state lost, the members of lost_set */
    uint64_t out;          /* pairs in state leased */
    uint64_t cores;        /* of the records' `cores` the sum */
    uint32_t core_cap;     /* 0: none */
    uint32_t elsewhere;    /* lease_experiment_elsewhere */
    double pair_ms;        /* core time of a pair, over all sessions; 0 = not measured */
    double games;          /* behind it, forgetting the old ones */
    bool used, closed;
    bool twins;        /* its last ranges may go out twice */
    struct pair *ring; /* owned; pair p at p & (capacity - 1), for prefix <= p < prefix + capacity */
    uint64_t capacity;
    struct pairset lost_set; /* of places in the ring */
};

struct record {
    struct lease lease;
    uint32_t cores;          /* what its session plays at once of the experiment, beyond its other leases */
    uint32_t session;        /* slot */
    uint32_t experiment;     /* slot */
    uint32_t twin;           /* slot of the other lease of these pairs; NONE */
    uint32_t earlier, later; /* by deadline */
    uint32_t before, after;  /* of the same session; `after` chains free records */
    bool second;             /* the pairs point at its twin, not at it */
    bool used;
};

/* How fast a session plays one experiment. */
struct pace {
    uint64_t experiment;
    double pair_ms;      /* core time of a pair; 0 = not measured */
    uint32_t last_count; /* pairs of its latest lease; 0: this place is free */
};

struct session {
    uint64_t id;
    uint32_t leases;
    uint32_t slots; /* games it plays at once; 0 = not told yet */
    uint64_t pairs_out;
    double swiftness;               /* of a slot, times the average session's; 0 = not measured */
    struct pace paces[LEASE_PACES]; /* the latest first */
    uint32_t first;                 /* record; chains free slots when unused */
    bool used;
};

/* Three arrays with free lists. Terms are all equal and time does not go back, so a list in order of renewal
 * is in order of deadline. */
struct lease_book {
    struct lease_policy policy;
    uint64_t next_id;
    int64_t now_ms;
    struct record *records;
    uint32_t record_capacity, record_free;
    struct session *sessions;
    uint32_t session_capacity, session_free;
    struct experiment *experiments;
    uint32_t experiment_capacity;
    struct idmap record_of, session_of, experiment_of;
    uint32_t soonest, latest; /* records by deadline */
    size_t leases;
    uint32_t sessions_busy; /* with a lease */
    uint64_t slots_busy;    /* of these */
};

static inline struct experiment *experiment_find(const struct lease_book *book, uint64_t id)
{
    uint32_t slot = idmap_get(&book->experiment_of, id);
    return slot == LEASE_NONE ? NULL : &book->experiments[slot];
}

static inline struct session *session_find(const struct lease_book *book, uint64_t id)
{
    uint32_t slot = idmap_get(&book->session_of, id);
    return slot == LEASE_NONE ? NULL : &book->sessions[slot];
}

static inline struct pair pair_at(const struct experiment *e, uint64_t pair)
{
    bool there = pair >= e->prefix && pair - e->prefix < e->capacity;
    return there ? e->ring[pair & (e->capacity - 1)] : (struct pair){0};
}

/* lease.c */

/* Opens a record for a range that ring_reach covers, under the session of `ask`; *slot is its place. The
 * pairs are the caller's to change. OK, TOO_MANY or MEMORY. */
enum lease_status lease_open(struct lease_book *book, const struct lease_ask *ask, struct lease *lease,
                             int64_t now_ms, uint32_t *slot);
/* Pairs that could be leased to somebody now. */
uint64_t lease_available(const struct experiment *e);

/* lease_size.c */

/* Pairs for about the time asked for at the session's measured speed in this experiment; `left` are there. */
uint32_t lease_size(const struct lease_book *book, const struct experiment *e, const struct session *session,
                    const struct lease_ask *ask, uint64_t left);
/* So many more pairs may the session (NULL: a new one) have before it would play more games at once than the
 * cap leaves; UINT32_MAX: any. */
uint32_t lease_cap_room(const struct lease_book *book, const struct experiment *e,
                        const struct session *session, uint32_t slots);
/* The record was opened, and stands in its session's list; or is about to leave it. */
void lease_cores_open(struct lease_book *book, uint32_t slot);
void lease_cores_close(struct lease_book *book, uint32_t slot);
/* What a session says of itself when it asks. */
void lease_slots_tell(struct lease_book *book, struct session *session, uint32_t slots);
void lease_pace_grant(struct session *session, uint64_t experiment, uint32_t count);
/* It was too slow or is gone: it is measured anew, from a smaller range. */
void lease_pace_lapse(struct session *session, uint64_t experiment);
/* Core time of a pair of what it played last; 0 = not measured. */
double lease_pace_latest(const struct session *session);

/* lease_twin.c */

/* The record ends: its twin, if it has one, stands alone, and takes over the pairs that they share. */
void lease_twin_part(struct lease_book *book, uint32_t slot);

#endif
