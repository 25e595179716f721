#include "coordinator/lease.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/idmap.h"
#include "coordinator/pairset.h"

#define NONE ((uint32_t)IDMAP_NONE)

enum { RING_FIRST = 64 };

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
    uint64_t block, limit; /* lease_experiment_bound */
    uint64_t cursor;       /* pairs below are not fresh */
    uint64_t touched;      /* pairs at or beyond the cursor that are not fresh: after a restart only */
    uint64_t lost;         /* pairs in state lost, the members of lost_set */
    bool used, closed;
    struct pair *ring; /* owned; pair p at p & (capacity - 1), for prefix <= p < prefix + capacity */
    uint64_t capacity;
    struct pairset lost_set; /* of places in the ring */
};

struct record {
    struct lease lease;
    uint32_t own;            /* pairs of it that its own session finished */
    uint32_t session;        /* slot */
    uint32_t experiment;     /* slot */
    uint32_t earlier, later; /* by deadline */
    uint32_t before, after;  /* of the same session; `after` chains free records */
    bool used;
};

struct session {
    uint64_t id;
    uint32_t leases;
    uint32_t last_count; /* pairs of its latest lease; 0 before the first */
    uint64_t pairs_out;
    double pair_ms; /* 0 = not measured */
    uint32_t first; /* record; chains free slots when unused */
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
};

struct lease_policy lease_policy_default(void)
{
    return (struct lease_policy){120000, 8000, 4, 4096, 64, 65536};
}

const char *lease_status_text(enum lease_status status)
{
    switch (status) {
    case LEASE_OK:
        return "ok";
    case LEASE_UNKNOWN:
        return "no such experiment, session or lease";
    case LEASE_NO_PAIRS:
        return "every pair is leased out or done";
    case LEASE_NO_CREDIT:
        return "the session takes no more pairs";
    case LEASE_TOO_MANY:
        return "too many leases or sessions";
    case LEASE_CLOSED:
        return "the experiment takes no more leases";
    case LEASE_STALE:
        return "no progress since the last report";
    case LEASE_OVERLAP:
        return "the lease holds pairs of another";
    case LEASE_MEMORY:
        return "out of memory";
    case LEASE_EXISTS:
        return "there already";
    case LEASE_BAD:
        return "out of range";
    }
    return "";
}

struct lease_book *lease_book_create(const struct lease_policy *policy, uint64_t first_id)
{
    if (policy->term_ms < 1 || policy->target_ms < 1 || policy->pairs_first < 1 || policy->pairs_max < 1 ||
        policy->pairs_max > LEASE_PAIRS_MAX || policy->leases_per_session < 1 || policy->sessions_max < 1)
        return NULL;
    struct lease_book *book = calloc(1, sizeof *book);
    if (!book)
        return NULL;
    book->policy = *policy;
    book->next_id = first_id ? first_id : 1;
    book->now_ms = INT64_MIN;
    book->record_free = book->session_free = book->soonest = book->latest = NONE;
    return book;
}

static void experiment_done(struct experiment *experiment)
{
    free(experiment->ring);
    pairset_done(&experiment->lost_set);
    *experiment = (struct experiment){0};
}

void lease_book_destroy(struct lease_book *book)
{
    if (!book)
        return;
    for (uint32_t i = 0; i < book->experiment_capacity; i++)
        experiment_done(&book->experiments[i]);
    free(book->experiments);
    free(book->records);
    free(book->sessions);
    idmap_done(&book->record_of);
    idmap_done(&book->session_of);
    idmap_done(&book->experiment_of);
    free(book);
}

/* The present, never going back: the order of deadlines stands on it. */
static int64_t tick(struct lease_book *book, int64_t now_ms)
{
    if (now_ms > book->now_ms)
        book->now_ms = now_ms;
    return book->now_ms;
}

/* --- pairs --- */

static struct experiment *experiment_find(const struct lease_book *book, uint64_t id)
{
    uint32_t slot = idmap_get(&book->experiment_of, id);
    return slot == NONE ? NULL : &book->experiments[slot];
}

/* No pair at or above this is leased. */
static uint64_t experiment_end(const struct experiment *e)
{
    uint64_t end = e->window < e->planned - e->prefix ? e->prefix + e->window : e->planned;
    return e->limit >= end ? end : e->limit > e->prefix ? e->limit : e->prefix;
}

static struct pair pair_at(const struct experiment *e, uint64_t pair)
{
    bool there = pair >= e->prefix && pair - e->prefix < e->capacity;
    return there ? e->ring[pair & (e->capacity - 1)] : (struct pair){0};
}

/* Makes the ring hold every pair below `end`, which lies within the window. */
static bool ring_reach(struct experiment *e, uint64_t end)
{
    uint64_t capacity = e->capacity ? e->capacity : RING_FIRST;
    while (end - e->prefix > capacity)
        capacity *= 2;
    if (capacity == e->capacity)
        return true;
    struct pairset lost_set;
    struct pair *ring = calloc((size_t)capacity, sizeof *ring);
    if (!ring || !pairset_init(&lost_set, capacity)) {
        free(ring);
        return false;
    }
    for (uint64_t pair = e->prefix; pair < e->prefix + e->capacity; pair++) {
        uint64_t place = pair & (capacity - 1);
        ring[place] = e->ring[pair & (e->capacity - 1)];
        if (ring[place].state == PAIR_LOST)
            pairset_add(&lost_set, place);
    }
    free(e->ring);
    pairset_done(&e->lost_set);
    e->ring = ring;
    e->lost_set = lost_set;
    e->capacity = capacity;
    return true;
}

/* The one place where a pair changes its state; the ring reaches it. */
static void pair_become(struct experiment *e, uint64_t pair, enum pair_state state)
{
    uint64_t place = pair & (e->capacity - 1);
    struct pair *cell = &e->ring[place];
    if (cell->state == PAIR_LOST) {
        e->lost--;
        pairset_remove(&e->lost_set, place);
    }
    if (state == PAIR_LOST) {
        e->lost++;
        pairset_add(&e->lost_set, place);
        cell->lease = 0;
    }
    if (pair >= e->cursor) {
        e->touched -= cell->state != PAIR_FRESH;
        e->touched += state != PAIR_FRESH;
    }
    cell->state = (uint8_t)state;
}

/* A lost pair that this session played last is for others. */
static bool avoids(const struct pair *cell, uint64_t session)
{
    return cell->state == PAIR_LOST && cell->lease != 0 && cell->lease == (uint32_t)session;
}

/* The lowest lost pair that this session may have, or PAIRSET_NONE. Walks over those it may not: disputed
 * ones that it played last. */
static uint64_t lost_for(const struct experiment *e, uint64_t session)
{
    uint64_t base = e->capacity ? e->prefix & (e->capacity - 1) : 0;
    for (uint64_t seen = 0, from = base; seen < e->lost; seen++) {
        uint64_t place = pairset_next(&e->lost_set, from);
        if (place == PAIRSET_NONE)
            place = pairset_next(&e->lost_set, 0);
        if (!avoids(&e->ring[place], session))
            return e->prefix + ((place - base) & (e->capacity - 1));
        from = place + 1;
    }
    return PAIRSET_NONE;
}

/* Past everything that is not fresh, below `end`. */
static void cursor_skip(struct experiment *e, uint64_t end)
{
    while (e->touched > 0 && e->cursor < end && pair_at(e, e->cursor).state != PAIR_FRESH) {
        e->touched--;
        e->cursor++;
    }
}

static uint64_t fresh(const struct experiment *e)
{
    return experiment_end(e) - e->cursor - e->touched;
}

static uint64_t available(const struct experiment *e)
{
    return e->closed ? 0 : e->lost + fresh(e);
}

static bool available_to(const struct experiment *e, uint64_t session)
{
    return !e->closed && (fresh(e) > 0 || lost_for(e, session) != PAIRSET_NONE);
}

/* --- sessions and records --- */

static struct session *session_find(const struct lease_book *book, uint64_t id)
{
    uint32_t slot = idmap_get(&book->session_of, id);
    return slot == NONE ? NULL : &book->sessions[slot];
}

/* Doubles an array of `size`-byte items; false without memory. The new tail is zero. */
static bool array_grow(void **items, uint32_t *capacity, size_t size)
{
    uint32_t grown = *capacity ? *capacity * 2 : 16;
    void *moved = realloc(*items, grown * size);
    if (!moved)
        return false;
    memset((char *)moved + *capacity * size, 0, (grown - *capacity) * size);
    *items = moved;
    *capacity = grown;
    return true;
}

/* The slot of a session, made if need be; NONE without memory or beyond the limit (*status says which). */
static uint32_t session_need(struct lease_book *book, uint64_t id, enum lease_status *status)
{
    uint32_t slot = idmap_get(&book->session_of, id);
    if (slot != NONE)
        return slot;
    *status = LEASE_TOO_MANY;
    if (book->session_of.count >= book->policy.sessions_max)
        return NONE;
    *status = LEASE_MEMORY;
    if (!idmap_reserve(&book->session_of))
        return NONE;
    if (book->session_free == NONE) {
        uint32_t from = book->session_capacity;
        if (!array_grow((void **)&book->sessions, &book->session_capacity, sizeof *book->sessions))
            return NONE;
        for (uint32_t i = book->session_capacity; i-- > from;) {
            book->sessions[i].first = book->session_free;
            book->session_free = i;
        }
    }
    *status = LEASE_OK;
    slot = book->session_free;
    book->session_free = book->sessions[slot].first;
    book->sessions[slot] = (struct session){.id = id, .first = NONE, .used = true};
    idmap_put(&book->session_of, id, slot);
    return slot;
}

static void session_forget(struct lease_book *book, uint32_t slot)
{
    idmap_remove(&book->session_of, book->sessions[slot].id);
    book->sessions[slot] = (struct session){.first = book->session_free};
    book->session_free = slot;
}

/* Room for one more record. */
static bool record_reserve(struct lease_book *book)
{
    if (!idmap_reserve(&book->record_of))
        return false;
    if (book->record_free != NONE)
        return true;
    uint32_t from = book->record_capacity;
    if (!array_grow((void **)&book->records, &book->record_capacity, sizeof *book->records))
        return false;
    for (uint32_t i = book->record_capacity; i-- > from;) {
        book->records[i].after = book->record_free;
        book->record_free = i;
    }
    return true;
}

static void due_append(struct lease_book *book, uint32_t slot, int64_t now_ms)
{
    struct record *record = &book->records[slot];
    record->lease.deadline_ms = now_ms + book->policy.term_ms;
    record->earlier = book->latest;
    record->later = NONE;
    if (book->latest != NONE)
        book->records[book->latest].later = slot;
    else
        book->soonest = slot;
    book->latest = slot;
}

static void due_remove(struct lease_book *book, uint32_t slot)
{
    const struct record *record = &book->records[slot];
    if (record->earlier != NONE)
        book->records[record->earlier].later = record->later;
    else
        book->soonest = record->later;
    if (record->later != NONE)
        book->records[record->later].earlier = record->earlier;
    else
        book->latest = record->earlier;
}

static void renew(struct lease_book *book, uint32_t slot, int64_t now_ms)
{
    due_remove(book, slot);
    due_append(book, slot, now_ms);
}

static void session_link(struct lease_book *book, uint32_t slot, uint32_t session_slot)
{
    struct record *record = &book->records[slot];
    struct session *session = &book->sessions[session_slot];
    record->session = session_slot;
    record->lease.session = session->id;
    record->before = NONE;
    record->after = session->first;
    if (session->first != NONE)
        book->records[session->first].before = slot;
    session->first = slot;
    session->pairs_out += record->lease.left;
    book->sessions_busy += session->leases++ == 0;
}

static void session_unlink(struct lease_book *book, uint32_t slot)
{
    const struct record *record = &book->records[slot];
    struct session *session = &book->sessions[record->session];
    if (record->before != NONE)
        book->records[record->before].after = record->after;
    else
        session->first = record->after;
    if (record->after != NONE)
        book->records[record->after].before = record->before;
    session->pairs_out -= record->lease.left;
    book->sessions_busy -= --session->leases == 0;
}

/* Takes over the pairs of `lease` that `takes` says; record_reserve and ring_reach have been called. */
static uint32_t record_open(struct lease_book *book, const struct lease *lease, uint32_t session_slot,
                            int64_t now_ms)
{
    uint32_t slot = book->record_free;
    struct record *record = &book->records[slot];
    book->record_free = record->after;
    *record = (struct record){.lease = *lease, .used = true};
    record->experiment = idmap_get(&book->experiment_of, lease->experiment);
    idmap_put(&book->record_of, lease->id, slot);
    due_append(book, slot, now_ms);
    session_link(book, slot, session_slot);
    book->leases++;
    return slot;
}

/* Ends a lease: its unfinished pairs are lost. */
static void record_close(struct lease_book *book, uint32_t slot, struct lease *copy)
{
    struct record *record = &book->records[slot];
    struct experiment *e = &book->experiments[record->experiment];
    if (copy)
        *copy = record->lease;
    uint64_t end = record->lease.first + record->lease.count, left = record->lease.left;
    for (uint64_t pair = record->lease.first; pair < end && left > 0; pair++) {
        struct pair cell = pair_at(e, pair);
        if (cell.state != PAIR_LEASED || cell.lease != slot)
            continue;
        pair_become(e, pair, PAIR_LOST);
        left--;
    }
    session_unlink(book, slot);
    due_remove(book, slot);
    idmap_remove(&book->record_of, record->lease.id);
    *record = (struct record){.after = book->record_free};
    book->record_free = slot;
    book->leases--;
}

/* A pair of a lease is finished; true when that was the last. */
static bool record_progress(struct lease_book *book, uint32_t slot)
{
    struct record *record = &book->records[slot];
    book->sessions[record->session].pairs_out--;
    return --record->lease.left == 0;
}

/* --- experiments --- */

enum lease_status lease_experiment_add(struct lease_book *book, uint64_t experiment, uint64_t planned,
                                       uint64_t window, uint64_t prefix)
{
    if (planned < 1 || planned > INT64_MAX || window < 1 || window > LEASE_WINDOW_MAX || prefix > planned)
        return LEASE_BAD;
    if (experiment_find(book, experiment))
        return LEASE_EXISTS;
    if (!idmap_reserve(&book->experiment_of))
        return LEASE_MEMORY;
    uint32_t slot = 0;
    while (slot < book->experiment_capacity && book->experiments[slot].used)
        slot++;
    if (slot == book->experiment_capacity &&
        !array_grow((void **)&book->experiments, &book->experiment_capacity, sizeof *book->experiments))
        return LEASE_MEMORY;
    book->experiments[slot] = (struct experiment){.id = experiment,
                                                  .planned = planned,
                                                  .window = window,
                                                  .prefix = prefix,
                                                  .cursor = prefix,
                                                  .limit = UINT64_MAX,
                                                  .used = true};
    idmap_put(&book->experiment_of, experiment, slot);
    return LEASE_OK;
}

void lease_experiment_advance(struct lease_book *book, uint64_t experiment, uint64_t prefix)
{
    struct experiment *e = experiment_find(book, experiment);
    if (!e || prefix <= e->prefix)
        return;
    if (prefix > e->planned)
        prefix = e->planned;
    uint64_t stored = prefix - e->prefix < e->capacity ? prefix : e->prefix + e->capacity;
    for (uint64_t pair = e->prefix; pair < stored; pair++) {
        struct pair *cell = &e->ring[pair & (e->capacity - 1)];
        if (cell->state == PAIR_LEASED && record_progress(book, cell->lease)) {
            uint32_t slot = cell->lease;
            pair_become(e, pair, PAIR_DONE);
            record_close(book, slot, NULL);
        }
        pair_become(e, pair, PAIR_FRESH);
        *cell = (struct pair){0};
    }
    e->prefix = prefix;
    if (e->cursor < prefix)
        e->cursor = prefix;
}

void lease_experiment_bound(struct lease_book *book, uint64_t experiment, uint64_t block, uint64_t limit)
{
    struct experiment *e = experiment_find(book, experiment);
    if (e) {
        e->block = block;
        e->limit = limit;
    }
}

bool lease_book_waits(const struct lease_book *book)
{
    for (uint32_t slot = 0; slot < book->experiment_capacity; slot++) {
        const struct experiment *e = &book->experiments[slot];
        if (e->used && !e->closed && e->limit < e->planned)
            return true;
    }
    return false;
}

void lease_experiment_close(struct lease_book *book, uint64_t experiment)
{
    struct experiment *e = experiment_find(book, experiment);
    if (e)
        e->closed = true;
}

void lease_experiment_reopen(struct lease_book *book, uint64_t experiment)
{
    struct experiment *e = experiment_find(book, experiment);
    if (e)
        e->closed = false;
}

size_t lease_experiment_remove(struct lease_book *book, uint64_t experiment)
{
    struct experiment *e = experiment_find(book, experiment);
    size_t removed = 0;
    if (!e)
        return 0;
    for (uint32_t slot = 0; slot < book->record_capacity; slot++)
        if (book->records[slot].used && book->records[slot].lease.experiment == experiment) {
            record_close(book, slot, NULL);
            removed++;
        }
    idmap_remove(&book->experiment_of, experiment);
    experiment_done(e);
    return removed;
}

uint64_t lease_experiment_available(const struct lease_book *book, uint64_t experiment)
{
    const struct experiment *e = experiment_find(book, experiment);
    return e ? available(e) : 0;
}

bool lease_experiment_has_for(const struct lease_book *book, uint64_t experiment, uint64_t session)
{
    const struct experiment *e = experiment_find(book, experiment);
    return e && available_to(e, session);
}

/* --- after a restart --- */

enum lease_status lease_restore(struct lease_book *book, const struct lease *row, bool open, int64_t now_ms)
{
    struct experiment *e = experiment_find(book, row->experiment);
    if (!e)
        return LEASE_UNKNOWN;
    if (row->count < 1 || row->count > LEASE_PAIRS_MAX || row->attempt < 1 ||
        row->attempt > LEASE_ATTEMPT_MAX || row->id < 1 || row->first > e->planned ||
        row->count > e->planned - row->first)
        return LEASE_BAD;
    uint64_t end = row->first + row->count, first = row->first > e->prefix ? row->first : e->prefix;
    if (open && idmap_get(&book->record_of, row->id) != NONE)
        return LEASE_EXISTS;
    if (end > experiment_end(e))
        return LEASE_OVERLAP;
    uint32_t left = 0;
    for (uint64_t pair = first; open && pair < end; pair++) {
        if (pair_at(e, pair).state == PAIR_LEASED)
            return LEASE_OVERLAP;
        left += pair_at(e, pair).state != PAIR_DONE;
    }
    if (end > first && !ring_reach(e, end))
        return LEASE_MEMORY;
    uint32_t slot = NONE;
    if (left > 0) {
        enum lease_status status = LEASE_OK;
        uint32_t session = session_need(book, row->session, &status);
        if (session == NONE)
            return status;
        if (!record_reserve(book))
            return LEASE_MEMORY;
        struct lease lease = *row;
        lease.left = left;
        lease.granted_ms = tick(book, now_ms);
        slot = record_open(book, &lease, session, lease.granted_ms);
        /* Its clock started in another life: no measure of the session's speed. */
        book->records[slot].own = NONE;
    }
    if (row->id >= book->next_id)
        book->next_id = row->id + 1;
    for (uint64_t pair = first; pair < end; pair++) {
        struct pair *cell = &e->ring[pair & (e->capacity - 1)];
        if (cell->attempt < row->attempt)
            cell->attempt = (uint16_t)row->attempt;
        if (slot != NONE && cell->state != PAIR_DONE) {
            pair_become(e, pair, PAIR_LEASED);
            cell->lease = slot;
        }
    }
    return open && left == 0 ? LEASE_STALE : LEASE_OK;
}

/* --- granting --- */

/* Pairs for about target_ms, at most twice what the session had last, and near the end at most half of an
 * equal share, so that nobody is left alone with the last large range. */
static uint32_t lease_size(const struct lease_book *book, const struct session *session, uint64_t left,
                           uint32_t pairs_per_minute)
{
    const struct lease_policy *policy = &book->policy;
    double pairs = policy->pairs_first;
    if (session && session->pair_ms > 0)
        pairs = (double)policy->target_ms / session->pair_ms;
    else if (pairs_per_minute > 0)
        pairs = (double)policy->target_ms * pairs_per_minute / 60000;
    if (session && session->last_count > 0 && pairs > 2.0 * session->last_count)
        pairs = 2.0 * session->last_count;
    uint64_t size = pairs >= policy->pairs_max ? policy->pairs_max : pairs < 1 ? 1 : (uint64_t)pairs;
    uint64_t sharers = book->sessions_busy + (session && session->leases ? 0u : 1u);
    uint64_t share = left / (2 * sharers);
    if (size > share)
        size = share > 0 ? share : 1;
    return (uint32_t)size;
}

/* The next range of at most `most` pairs for a session, all of one state and one last attempt; there is a
 * pair to lease. */
static void range_find(struct experiment *e, uint64_t session, uint32_t most, uint64_t *first,
                       uint32_t *count)
{
    uint64_t lost = lost_for(e, session);
    enum pair_state state = lost != PAIRSET_NONE ? PAIR_LOST : PAIR_FRESH;
    uint64_t end = experiment_end(e);
    if (state == PAIR_FRESH)
        cursor_skip(e, end);
    *first = state == PAIR_LOST ? lost : e->cursor;
    if (e->block && end - *first > e->block - *first % e->block)
        end = *first + e->block - *first % e->block;
    struct pair cell = pair_at(e, *first);
    *count = 1;
    while (*count < most && *first + *count < end) {
        struct pair next = pair_at(e, *first + *count);
        if (next.state != state || next.attempt != cell.attempt || avoids(&next, session))
            break;
        ++*count;
    }
}

static enum lease_status grant_check(const struct lease_book *book, const struct experiment *e, uint64_t id,
                                     const struct session *session, uint32_t credit)
{
    if (!e)
        return LEASE_UNKNOWN;
    if (e->closed)
        return LEASE_CLOSED;
    if (credit == 0)
        return LEASE_NO_CREDIT;
    if (session && session->leases >= book->policy.leases_per_session)
        return LEASE_TOO_MANY;
    return available_to(e, id) ? LEASE_OK : LEASE_NO_PAIRS;
}

enum lease_status lease_grant(struct lease_book *book, uint64_t experiment, uint64_t session, uint32_t credit,
                              uint32_t pairs_per_minute, int64_t now_ms, struct lease *granted)
{
    struct experiment *e = experiment_find(book, experiment);
    enum lease_status status = grant_check(book, e, session, session_find(book, session), credit);
    if (status != LEASE_OK)
        return status;
    uint32_t session_slot = session_need(book, session, &status);
    if (session_slot == NONE)
        return status;
    struct session *s = &book->sessions[session_slot];
    uint32_t size = lease_size(book, s, available(e), pairs_per_minute);
    struct lease lease = {.id = book->next_id, .experiment = experiment, .session = session};
    range_find(e, session, size < credit ? size : credit, &lease.first, &lease.count);
    if (!ring_reach(e, lease.first + lease.count) || !record_reserve(book))
        return LEASE_MEMORY;
    uint32_t last = pair_at(e, lease.first).attempt;
    lease.attempt = last < LEASE_ATTEMPT_MAX ? last + 1 : last;
    lease.left = lease.count;
    lease.granted_ms = tick(book, now_ms);
    uint32_t slot = record_open(book, &lease, session_slot, lease.granted_ms);
    for (uint32_t i = 0; i < lease.count; i++) {
        pair_become(e, lease.first + i, PAIR_LEASED);
        struct pair *cell = &e->ring[(lease.first + i) & (e->capacity - 1)];
        cell->lease = slot;
        cell->attempt = (uint16_t)lease.attempt;
    }
    cursor_skip(e, lease.first + lease.count);
    s->last_count = lease.count;
    book->next_id++;
    *granted = book->records[slot].lease;
    return LEASE_OK;
}

/* --- the life of a lease --- */

enum lease_status lease_progress(struct lease_book *book, uint64_t lease, uint64_t session, uint64_t progress,
                                 int64_t now_ms)
{
    uint32_t slot = idmap_get(&book->record_of, lease);
    if (slot == NONE || book->records[slot].lease.session != session)
        return LEASE_UNKNOWN;
    if (progress <= book->records[slot].lease.progress)
        return LEASE_STALE;
    book->records[slot].lease.progress = progress;
    renew(book, slot, tick(book, now_ms));
    return LEASE_OK;
}

/* A lease that its own session finished from end to end tells the session's speed. */
static void speed_note(struct session *session, const struct record *record, int64_t now_ms)
{
    if (record->own != record->lease.count)
        return;
    int64_t took = now_ms - record->lease.granted_ms;
    double sample = (took > 0 ? (double)took : 0.5) / record->lease.count;
    session->pair_ms = session->pair_ms > 0 ? (session->pair_ms + sample) / 2 : sample;
}

bool lease_done(struct lease_book *book, uint64_t experiment, uint64_t pair, uint64_t session, int64_t now_ms,
                struct lease *finished)
{
    struct experiment *e = experiment_find(book, experiment);
    if (!e || pair < e->prefix || pair >= experiment_end(e))
        return false;
    struct pair cell = pair_at(e, pair);
    /* Without memory a fresh pair stays fresh: it is played once more, and its results are duplicates. */
    if (cell.state == PAIR_DONE || (cell.state == PAIR_FRESH && !ring_reach(e, pair + 1)))
        return false;
    pair_become(e, pair, PAIR_DONE);
    if (cell.state != PAIR_LEASED)
        return false;
    struct record *record = &book->records[cell.lease];
    now_ms = tick(book, now_ms);
    if (record->lease.session == session) {
        record->own += record->own != NONE;
        renew(book, cell.lease, now_ms);
    }
    if (!record_progress(book, cell.lease))
        return false;
    speed_note(&book->sessions[record->session], record, now_ms);
    record_close(book, cell.lease, finished);
    return true;
}

enum lease_status lease_reissue(struct lease_book *book, uint64_t experiment, uint64_t pair, uint64_t session)
{
    struct experiment *e = experiment_find(book, experiment);
    if (!e)
        return LEASE_UNKNOWN;
    if (pair_at(e, pair).state != PAIR_DONE)
        return LEASE_BAD;
    pair_become(e, pair, PAIR_LOST);
    e->ring[pair & (e->capacity - 1)].lease = (uint32_t)session;
    return LEASE_OK;
}

size_t lease_expire(struct lease_book *book, int64_t now_ms, struct lease *lapsed, size_t max)
{
    size_t count = 0;
    now_ms = tick(book, now_ms);
    while (count < max && book->soonest != NONE && book->records[book->soonest].lease.deadline_ms <= now_ms) {
        uint32_t slot = book->soonest;
        struct session *session = &book->sessions[book->records[slot].session];
        record_close(book, slot, &lapsed[count++]);
        /* It was too slow or is gone: measure it anew, from a smaller range. */
        session->pair_ms = 0;
        session->last_count = session->last_count > 1 ? session->last_count / 4 + 1 : session->last_count;
    }
    return count;
}

int64_t lease_next_deadline(const struct lease_book *book)
{
    return book->soonest == NONE ? INT64_MAX : book->records[book->soonest].lease.deadline_ms;
}

enum lease_status lease_release(struct lease_book *book, uint64_t lease, uint64_t session,
                                struct lease *released)
{
    uint32_t slot = idmap_get(&book->record_of, lease);
    if (slot == NONE || book->records[slot].lease.session != session)
        return LEASE_UNKNOWN;
    record_close(book, slot, released);
    return LEASE_OK;
}

size_t lease_session_end(struct lease_book *book, uint64_t session, struct lease *released, size_t max)
{
    struct session *s = session_find(book, session);
    size_t count = 0;
    if (!s)
        return 0;
    while (count < max && s->first != NONE)
        record_close(book, s->first, &released[count++]);
    if (s->first == NONE)
        session_forget(book, idmap_get(&book->session_of, session));
    return count;
}

enum lease_status lease_session_rename(struct lease_book *book, uint64_t from, uint64_t to)
{
    uint32_t source = idmap_get(&book->session_of, from);
    if (source == NONE)
        return LEASE_UNKNOWN;
    if (from == to)
        return LEASE_OK;
    uint32_t target = idmap_get(&book->session_of, to);
    if (target == NONE) {
        if (!idmap_reserve(&book->session_of))
            return LEASE_MEMORY;
        idmap_remove(&book->session_of, from);
        idmap_put(&book->session_of, to, source);
        book->sessions[source].id = to;
        for (uint32_t slot = book->sessions[source].first; slot != NONE; slot = book->records[slot].after)
            book->records[slot].lease.session = to;
        return LEASE_OK;
    }
    while (book->sessions[source].first != NONE) {
        uint32_t slot = book->sessions[source].first;
        session_unlink(book, slot);
        session_link(book, slot, target);
    }
    session_forget(book, source);
    return LEASE_OK;
}

/* --- looking --- */

bool lease_find(const struct lease_book *book, uint64_t lease, struct lease *found)
{
    uint32_t slot = idmap_get(&book->record_of, lease);
    if (slot == NONE)
        return false;
    *found = book->records[slot].lease;
    return true;
}

bool lease_of_pair(const struct lease_book *book, uint64_t experiment, uint64_t pair, struct lease *found)
{
    const struct experiment *e = experiment_find(book, experiment);
    if (!e || pair_at(e, pair).state != PAIR_LEASED)
        return false;
    *found = book->records[pair_at(e, pair).lease].lease;
    return true;
}

bool lease_pair_done(const struct lease_book *book, uint64_t experiment, uint64_t pair)
{
    const struct experiment *e = experiment_find(book, experiment);
    return e && (pair < e->prefix || pair_at(e, pair).state == PAIR_DONE);
}

size_t lease_count(const struct lease_book *book)
{
    return book->leases;
}

bool lease_session_find(const struct lease_book *book, uint64_t session, struct lease_session_view *view)
{
    const struct session *s = session_find(book, session);
    if (!s)
        return false;
    *view = (struct lease_session_view){s->leases, s->pairs_out, s->pair_ms};
    return true;
}

bool lease_session_has_room(const struct lease_book *book, uint64_t session)
{
    const struct session *s = session_find(book, session);
    return s ? s->leases < book->policy.leases_per_session
             : book->session_of.count < book->policy.sessions_max;
}
