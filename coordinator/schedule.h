/* Which running experiment a session works for next. Priorities are strict: as long as one of a higher
 * priority has pairs for the session, no other goes out. Among equals the session goes to the one that has
 * had least for its share, in core-seconds: what its games have taken by the workers' clocks, plus an
 * estimate for what is out, which is replaced by the truth as results come. So long and short games, and
 * pairs that are lost, get what is theirs.
 *
 * It is fair from the moment an experiment joins: it starts level with the least served of its priority.
 * Nobody saves up: one that has nothing to lease, or all the cores its cap allows, moves along with the
 * others; one that only some workers may play lags by at most SCHEDULE_LAG times what all have out.
 *
 * Pure; one thread. A pick costs one look at each experiment. */
#ifndef KROO_COORDINATOR_SCHEDULE_H
#define KROO_COORDINATOR_SCHEDULE_H

#include "coordinator/lease.h"
#include "proto/tags.h"

enum {
    SCHEDULE_EXPERIMENTS_MAX = 4096,
    SCHEDULE_SHARE = 100, /* of an experiment that was given none */
    SCHEDULE_SHARE_MAX = 10000,
    SCHEDULE_LAG = 4,
    SCHEDULE_PAIR_MS = 1000, /* core time of a pair of which nothing is known */
    SCHEDULE_TEXT = 240,
};

struct schedule;
struct schedule *schedule_create(void);
void schedule_destroy(struct schedule *schedule);

/* With the usual share, no tags, not timed. 0; -1 when it is there already, the schedule is full, or there is
 * no memory. */
int schedule_add(struct schedule *schedule, uint64_t experiment, int32_t priority);
/* False when it is not there. */
bool schedule_remove(struct schedule *schedule, uint64_t experiment);
bool schedule_set_priority(struct schedule *schedule, uint64_t experiment, int32_t priority);
/* Its part among equals; 0 counts as 1. What it has had stays in proportion. */
bool schedule_set_share(struct schedule *schedule, uint64_t experiment, uint32_t share);
/* It goes only to sessions that have all of these tags (a list as proto/tags.h has them; copied), and, when
 * timed, only to those fit for timed play. False also without memory. */
bool schedule_set_needs(struct schedule *schedule, uint64_t experiment, const char *tags, bool timed);
/* Its games took so long, on the cores that played them. */
void schedule_charge(struct schedule *schedule, uint64_t experiment, double core_ms);
size_t schedule_count(const struct schedule *schedule);

enum schedule_outcome {
    SCHEDULE_PICKED = 0,
    SCHEDULE_DRAINING,  /* the coordinator shuts down */
    SCHEDULE_NO_WORK,   /* no experiment runs */
    SCHEDULE_ALL_OUT,   /* every pair is leased out: waiting for results */
    SCHEDULE_NO_CREDIT, /* the session asked for no pairs */
    SCHEDULE_TOO_MANY,  /* the session holds as many leases as it may */
    SCHEDULE_CAPPED,    /* as many cores play as may */
    SCHEDULE_NO_TAGS,   /* what is there needs tags that the session has not */
    SCHEDULE_UNFIT,     /* what is there is timed, and the session is not fit for it */
};

struct schedule_asker {
    uint64_t session;
    uint32_t credit; /* pairs it takes */
    uint32_t slots;  /* games it plays at once */
    const char *tags;
    const char *unfit; /* why it is not fit for timed play; NULL: it is */
};

struct schedule_pick {
    enum schedule_outcome outcome;
    uint64_t experiment;         /* when picked */
    bool twin;                   /* by lease_twin: nothing else is left */
    char because[SCHEDULE_TEXT]; /* when not: a sentence for the worker's log */
    uint32_t retry_ms;           /* when not: come back after about this; the caller adds jitter */
    bool passed_timed;           /* timed play was passed over, because the session is unfit for it */
};

/* The next experiment for a session. Counts nothing: what lease_grant gives out counts by itself. */
struct schedule_pick schedule_pick(struct schedule *schedule, const struct lease_book *book,
                                   const struct schedule_asker *asker, bool draining, int64_t now_ms);

/* --- why an experiment waits --- */
enum schedule_wait_kind {
    SCHEDULE_WAIT_NONE,   /* a worker that asks gets pairs of it */
    SCHEDULE_WAIT_BEHIND, /* one of a higher priority goes before it everywhere */
    SCHEDULE_WAIT_CAP,    /* as many cores play as may */
    SCHEDULE_WAIT_OUT,    /* every pair is leased out */
    SCHEDULE_WAIT_UNFIT,  /* it is timed, and nobody is fit for it */
    SCHEDULE_WAIT_TAGS,   /* nobody has its tags */
    SCHEDULE_WAIT_NOBODY, /* no worker is there */
    SCHEDULE_WAITS
};
struct schedule_wait {
    uint64_t experiment;
    enum schedule_wait_kind kind; /* the least of what keeps the workers from it */
    uint64_t out;                 /* pairs that are leased */
    uint64_t behind;              /* of BEHIND: what goes before it */
    int32_t priority, behind_priority;
    char tag[TAGS_NAME]; /* of TAGS: one that nobody has, or no worker together with the others */
};

/* What keeps `askers` (a worker of each kind that is there) from each experiment that runs: `waits` has
 * schedule_count places and comes in order of experiments. Costs a pick for each asker. */
void schedule_waits(struct schedule *schedule, const struct lease_book *book,
                    const struct schedule_asker *askers, size_t asker_count, struct schedule_wait *waits);
/* In words, for a sentence that begins with the experiment. */
void schedule_wait_text(const struct schedule_wait *wait, char text[SCHEDULE_TEXT]);

#endif
