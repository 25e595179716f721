/* Which running experiment a session works for next: the highest priority that has pairs to lease, and among
 * equals the least served. Service is counted in whatever unit the caller gives (pairs, or pairs times their
 * cost) and is fair from the moment an experiment joins: it starts level with the least served of its
 * priority. Pure; one thread. */
#ifndef KROO_COORDINATOR_SCHEDULE_H
#define KROO_COORDINATOR_SCHEDULE_H

#include "coordinator/lease.h"

enum { SCHEDULE_EXPERIMENTS_MAX = 4096 };

struct schedule;
struct schedule *schedule_create(void);
void schedule_destroy(struct schedule *schedule);

/* 0; -1 when it is there already, the schedule is full, or there is no memory. */
int schedule_add(struct schedule *schedule, uint64_t experiment, int32_t priority);
/* False when it is not there. */
bool schedule_remove(struct schedule *schedule, uint64_t experiment);
bool schedule_set_priority(struct schedule *schedule, uint64_t experiment, int32_t priority);
/* `amount` of work went out for it. */
void schedule_serve(struct schedule *schedule, uint64_t experiment, double amount);
size_t schedule_count(const struct schedule *schedule);

enum schedule_outcome {
    SCHEDULE_PICKED = 0,
    SCHEDULE_DRAINING,  /* the coordinator shuts down */
    SCHEDULE_NO_WORK,   /* no experiment runs */
    SCHEDULE_ALL_OUT,   /* every pair is leased out: waiting for results */
    SCHEDULE_NO_CREDIT, /* the session asked for no pairs */
    SCHEDULE_TOO_MANY,  /* the session holds as many leases as it may */
};

struct schedule_pick {
    enum schedule_outcome outcome;
    uint64_t experiment; /* when picked */
    const char *because; /* when not: a sentence for the worker's log; static */
    uint32_t retry_ms;   /* when not: come back after about this; the caller adds jitter */
};

/* The next experiment for `session`, which takes `credit` more pairs. Counts nothing: call lease_grant, and
 * when that succeeds schedule_serve. */
struct schedule_pick schedule_pick(const struct schedule *schedule, const struct lease_book *book,
                                   uint64_t session, uint32_t credit, bool draining, int64_t now_ms);

#endif
