#include "coordinator/schedule.h"

#include <stdlib.h>

enum {
    RETRY_DRAINING_MS = 10000,
    RETRY_NO_WORK_MS = 2000,
    RETRY_WAIT_MS = 1000,
    RETRY_BATCH_MS = 100, /* a tune's next batch comes with the results of the one before */
    RETRY_CREDIT_MS = 250,
    RETRY_MIN_MS = 50
};

struct entry {
    uint64_t experiment;
    double served;
    int32_t priority;
};

struct schedule {
    struct entry *entries; /* owned */
    size_t count, capacity;
};

struct schedule *schedule_create(void)
{
    return calloc(1, sizeof(struct schedule));
}

void schedule_destroy(struct schedule *schedule)
{
    if (!schedule)
        return;
    free(schedule->entries);
    free(schedule);
}

static struct entry *entry_find(const struct schedule *schedule, uint64_t experiment)
{
    for (size_t i = 0; i < schedule->count; i++)
        if (schedule->entries[i].experiment == experiment)
            return &schedule->entries[i];
    return NULL;
}

/* What the least served of a priority has had, `except` left out; 0 when it has none. */
static double least_served(const struct schedule *schedule, int32_t priority, uint64_t except)
{
    double least = 0;
    bool found = false;
    for (size_t i = 0; i < schedule->count; i++) {
        const struct entry *entry = &schedule->entries[i];
        if (entry->priority != priority || entry->experiment == except)
            continue;
        if (!found || entry->served < least)
            least = entry->served;
        found = true;
    }
    return least;
}

int schedule_add(struct schedule *schedule, uint64_t experiment, int32_t priority)
{
    if (entry_find(schedule, experiment) || schedule->count == SCHEDULE_EXPERIMENTS_MAX)
        return -1;
    if (schedule->count == schedule->capacity) {
        size_t capacity = schedule->capacity ? 2 * schedule->capacity : 16;
        struct entry *entries = realloc(schedule->entries, capacity * sizeof *entries);
        if (!entries)
            return -1;
        schedule->entries = entries;
        schedule->capacity = capacity;
    }
    double served = least_served(schedule, priority, experiment);
    schedule->entries[schedule->count++] = (struct entry){experiment, served, priority};
    return 0;
}

bool schedule_remove(struct schedule *schedule, uint64_t experiment)
{
    struct entry *entry = entry_find(schedule, experiment);
    if (!entry)
        return false;
    *entry = schedule->entries[--schedule->count];
    return true;
}

bool schedule_set_priority(struct schedule *schedule, uint64_t experiment, int32_t priority)
{
    struct entry *entry = entry_find(schedule, experiment);
    if (!entry)
        return false;
    if (entry->priority != priority)
        entry->served = least_served(schedule, priority, experiment);
    entry->priority = priority;
    return true;
}

void schedule_serve(struct schedule *schedule, uint64_t experiment, double amount)
{
    struct entry *entry = entry_find(schedule, experiment);
    if (entry && amount > 0)
        entry->served += amount;
}

size_t schedule_count(const struct schedule *schedule)
{
    return schedule->count;
}

/* Higher priority, then less served, then older: a total order, so that a rerun picks alike. */
static bool goes_before(const struct entry *one, const struct entry *other)
{
    if (one->priority != other->priority)
        return one->priority > other->priority;
    if (one->served != other->served)
        return one->served < other->served;
    return one->experiment < other->experiment;
}

static const struct entry *entry_best(const struct schedule *schedule, const struct lease_book *book,
                                      uint64_t session)
{
    const struct entry *best = NULL;
    for (size_t i = 0; i < schedule->count; i++) {
        const struct entry *entry = &schedule->entries[i];
        if ((!best || goes_before(entry, best)) && lease_experiment_has_for(book, entry->experiment, session))
            best = entry;
    }
    return best;
}

static struct schedule_pick nothing(enum schedule_outcome outcome, const char *because, uint32_t retry_ms)
{
    return (struct schedule_pick){.outcome = outcome, .because = because, .retry_ms = retry_ms};
}

/* Work may come back at the next deadline; results may make room sooner. */
static uint32_t retry_all_out(const struct lease_book *book, int64_t now_ms)
{
    int64_t deadline = lease_next_deadline(book);
    uint32_t wait_ms = lease_book_waits(book) ? RETRY_BATCH_MS : RETRY_WAIT_MS;
    if (deadline == INT64_MAX || deadline - now_ms > wait_ms)
        return wait_ms;
    return deadline - now_ms < RETRY_MIN_MS ? RETRY_MIN_MS : (uint32_t)(deadline - now_ms);
}

struct schedule_pick schedule_pick(const struct schedule *schedule, const struct lease_book *book,
                                   uint64_t session, uint32_t credit, bool draining, int64_t now_ms)
{
    if (draining)
        return nothing(SCHEDULE_DRAINING, "the coordinator is shutting down", RETRY_DRAINING_MS);
    if (schedule->count == 0)
        return nothing(SCHEDULE_NO_WORK, "no experiment is running", RETRY_NO_WORK_MS);
    if (credit == 0)
        return nothing(SCHEDULE_NO_CREDIT,
                       "this worker holds as many pairs as it takes: waiting for its results",
                       RETRY_CREDIT_MS);
    if (!lease_session_has_room(book, session))
        return nothing(SCHEDULE_TOO_MANY,
                       "this worker holds as many leases as it may: waiting for its results",
                       RETRY_CREDIT_MS);
    const struct entry *best = entry_best(schedule, book, session);
    if (!best)
        return nothing(SCHEDULE_ALL_OUT, "every pair is leased out: waiting for results",
                       retry_all_out(book, now_ms));
    return (struct schedule_pick){.outcome = SCHEDULE_PICKED, .experiment = best->experiment};
}
