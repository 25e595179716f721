#include "coordinator/lease.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/lease_parts.h"

#define NONE LEASE_NONE

enum { RING_FIRST = 64 };

struct lease_policy lease_policy_default(void)
{
    return (struct lease_policy){120000, 8000, 4, 4096, 64, 65536, 2000};
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
    case LEASE_CAPPED:
        return "as many cores play for the experiment as may";
    }
    return "";
}

struct lease_book *lease_book_create(const struct lease_policy *policy, uint64_t first_id)
{
    if (policy->term_ms < 1 || policy->target_ms < 1 || policy->pairs_first < 1 || policy->pairs_max < 1 ||
        policy->pairs_max > LEASE_PAIRS_MAX || policy->leases_per_session < 1 || policy->sessions_max < 1 ||
        policy->twin_after_ms < 0)
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

/* No pair at or above this is leased. */
static uint64_t experiment_end(const struct experiment *e)
{
    uint64_t end = e->window < e->planned - e->prefix ? e->prefix + e->window : e->planned;
    end = e->reach > end ? e->reach : end;
    return e->limit >= end ? end : e->limit > e->prefix ? e->limit : e->prefix;
}

/* What was leased or finished before the prefix fell back lies below the end, wherever the window has its. */
static bool reach(struct experiment *e, uint64_t end)
{
    if (end > experiment_end(e) && end - e->prefix <= LEASE_WINDOW_MAX)
        e->reach = end;
    return end <= experiment_end(e);
}

/* Makes the ring hold every pair below `end`. */
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
    e->out -= cell->state == PAIR_LEASED;
    e->out += state == PAIR_LEASED;
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

uint64_t lease_available(const struct experiment *e)
{
    return e->closed ? 0 : e->lost + fresh(e);
}

static bool available_to(const struct experiment *e, uint64_t session)
{
    return !e->closed && (fresh(e) > 0 || lost_for(e, session) != PAIRSET_NONE);
}

/* --- sessions and records --- */

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
    if (session->leases++ == 0) {
        book->sessions_busy++;
        book->slots_busy += session->slots;
    }
    lease_cores_open(book, slot);
}

static void session_unlink(struct lease_book *book, uint32_t slot)
{
    lease_cores_close(book, slot);
    const struct record *record = &book->records[slot];
    struct session *session = &book->sessions[record->session];
    if (record->before != NONE)
        book->records[record->before].after = record->after;
    else
        session->first = record->after;
    if (record->after != NONE)
        book->records[record->after].before = record->before;
    session->pairs_out -= record->lease.left;
    if (--session->leases == 0) {
        book->sessions_busy--;
        book->slots_busy -= session->slots;
    }
}

/* Takes over the pairs of `lease` that `takes` says; record_reserve and ring_reach have been called. */
static uint32_t record_open(struct lease_book *book, const struct lease *lease, uint32_t session_slot,
                            int64_t now_ms)
{
    uint32_t slot = book->record_free;
    struct record *record = &book->records[slot];
    book->record_free = record->after;
    *record = (struct record){.lease = *lease, .twin = NONE, .used = true};
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
    lease_twin_part(book, slot);
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

/* A pair of a lease is finished; ends the lease when that was its last one. */
static bool record_progress(struct lease_book *book, uint32_t slot, uint64_t session, int64_t now_ms,
                            struct lease *finished)
{
    struct record *record = &book->records[slot];
    book->sessions[record->session].pairs_out--;
    record->lease.left--;
    if (record->lease.session == session)
        renew(book, slot, now_ms);
    if (record->lease.left > 0)
        return false;
    record_close(book, slot, finished);
    return true;
}

/* A leased pair is finished, whoever played it: ends the leases that it completes, one or both of twins. */
static size_t leased_pair_finish(struct lease_book *book, struct experiment *e, uint64_t pair,
                                 uint64_t session, struct lease finished[LEASE_TWINS])
{
    uint32_t slot = pair_at(e, pair).lease, twin = book->records[slot].twin;
    bool shared = twin != NONE && pair >= book->records[twin].lease.first &&
                  pair - book->records[twin].lease.first < book->records[twin].lease.count;
    struct lease scratch[LEASE_TWINS];
    size_t count = 0;
    if (!finished)
        finished = scratch;
    pair_become(e, pair, PAIR_DONE);
    /* The second first: its pairs are among those of the first. */
    if (shared)
        count += record_progress(book, twin, session, book->now_ms, &finished[count]);
    count += record_progress(book, slot, session, book->now_ms, &finished[count]);
    return count;
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
        if (cell->state == PAIR_LEASED)
            leased_pair_finish(book, e, pair, 0, NULL);
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
    return e ? lease_available(e) : 0;
}

bool lease_experiment_has_for(const struct lease_book *book, uint64_t experiment, uint64_t session)
{
    const struct experiment *e = experiment_find(book, experiment);
    return e && available_to(e, session);
}

void lease_experiment_terms(struct lease_book *book, uint64_t experiment, uint32_t core_cap, bool twins)
{
    struct experiment *e = experiment_find(book, experiment);
    if (!e)
        return;
    e->core_cap = core_cap;
    e->twins = twins;
}

void lease_experiment_elsewhere(struct lease_book *book, uint64_t experiment, uint32_t cores)
{
    struct experiment *e = experiment_find(book, experiment);
    if (e)
        e->elsewhere = cores;
}

bool lease_experiment_look(const struct lease_book *book, uint64_t experiment, uint64_t session,
                           uint32_t slots, struct lease_experiment_view *view)
{
    const struct experiment *e = experiment_find(book, experiment);
    if (!e)
        return false;
    *view = (struct lease_experiment_view){
        .has_pairs = lease_available(e) > 0,
        .has_for = available_to(e, session),
        .capped = e->core_cap > 0 && lease_cap_room(book, e, session_find(book, session), slots) == 0,
        .out = e->out,
        .cores = e->cores,
        .pair_ms = e->pair_ms,
    };
    return true;
}

/* --- after a restart --- */

/* Pairs of [first, end) that an open row would hold; *overlaps when another lease holds one of them. */
static uint32_t restore_left(const struct experiment *e, uint64_t first, uint64_t end, bool *overlaps)
{
    uint32_t left = 0;
    for (uint64_t pair = first; pair < end; pair++) {
        *overlaps |= pair_at(e, pair).state == PAIR_LEASED;
        left += pair_at(e, pair).state != PAIR_DONE;
    }
    return left;
}

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
    if (!reach(e, end))
        return LEASE_OVERLAP;
    bool overlaps = false;
    uint32_t left = open ? restore_left(e, first, end, &overlaps) : 0;
    if (end > first && !ring_reach(e, end))
        return LEASE_MEMORY;
    uint32_t slot = NONE;
    if (left > 0 && !overlaps) {
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
    return overlaps ? LEASE_OVERLAP : open && left == 0 ? LEASE_STALE : LEASE_OK;
}

/* --- granting --- */

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

static enum lease_status grant_check(const struct lease_book *book, const struct experiment *e,
                                     const struct lease_ask *ask)
{
    const struct session *session = session_find(book, ask->session);
    if (!e)
        return LEASE_UNKNOWN;
    if (e->closed)
        return LEASE_CLOSED;
    if (ask->credit == 0)
        return LEASE_NO_CREDIT;
    if (session && session->leases >= book->policy.leases_per_session)
        return LEASE_TOO_MANY;
    if (!available_to(e, ask->session))
        return LEASE_NO_PAIRS;
    return lease_cap_room(book, e, session, ask->slots) > 0 ? LEASE_OK : LEASE_CAPPED;
}

enum lease_status lease_open(struct lease_book *book, const struct lease_ask *ask, struct lease *lease,
                             int64_t now_ms, uint32_t *slot)
{
    enum lease_status status;
    uint32_t session = session_need(book, ask->session, &status);
    if (session == NONE)
        return status;
    if (!record_reserve(book))
        return LEASE_MEMORY;
    lease_slots_tell(book, &book->sessions[session], ask->slots);
    lease->id = book->next_id++;
    lease->session = ask->session;
    lease->granted_ms = tick(book, now_ms);
    *slot = record_open(book, lease, session, lease->granted_ms);
    lease_pace_grant(&book->sessions[session], lease->experiment, lease->count);
    return LEASE_OK;
}

enum lease_status lease_grant(struct lease_book *book, uint64_t experiment, const struct lease_ask *ask,
                              int64_t now_ms, struct lease *granted)
{
    struct experiment *e = experiment_find(book, experiment);
    enum lease_status status = grant_check(book, e, ask);
    if (status != LEASE_OK)
        return status;
    const struct session *session = session_find(book, ask->session);
    uint32_t size = lease_size(book, e, session, ask, lease_available(e));
    uint32_t room = lease_cap_room(book, e, session, ask->slots), slot;
    size = size < ask->credit ? size : ask->credit;
    struct lease lease = {.experiment = experiment};
    range_find(e, ask->session, size < room ? size : room, &lease.first, &lease.count);
    if (!ring_reach(e, lease.first + lease.count))
        return LEASE_MEMORY;
    uint32_t last = pair_at(e, lease.first).attempt;
    lease.attempt = last < LEASE_ATTEMPT_MAX ? last + 1 : last;
    lease.left = lease.count;
    if ((status = lease_open(book, ask, &lease, now_ms, &slot)) != LEASE_OK)
        return status;
    for (uint32_t i = 0; i < lease.count; i++) {
        pair_become(e, lease.first + i, PAIR_LEASED);
        struct pair *cell = &e->ring[(lease.first + i) & (e->capacity - 1)];
        cell->lease = slot;
        cell->attempt = (uint16_t)lease.attempt;
    }
    cursor_skip(e, lease.first + lease.count);
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

size_t lease_done(struct lease_book *book, uint64_t experiment, uint64_t pair, uint64_t session,
                  int64_t now_ms, struct lease finished[LEASE_TWINS])
{
    struct experiment *e = experiment_find(book, experiment);
    if (!e || pair < e->prefix || pair >= e->planned)
        return 0;
    if (!reach(e, pair + 1))
        return 0;
    struct pair cell = pair_at(e, pair);
    /* Without memory a fresh pair stays fresh: it is played once more, and its results are duplicates. */
    if (cell.state == PAIR_DONE || (cell.state == PAIR_FRESH && !ring_reach(e, pair + 1)))
        return 0;
    tick(book, now_ms);
    if (cell.state == PAIR_LEASED)
        return leased_pair_finish(book, e, pair, session, finished);
    pair_become(e, pair, PAIR_DONE);
    return 0;
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
        lease_pace_lapse(&book->sessions[book->records[slot].session], book->records[slot].lease.experiment);
        record_close(book, slot, &lapsed[count++]);
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

uint64_t lease_number(const struct lease_book *book)
{
    return book->next_id;
}

void lease_number_use(struct lease_book *book)
{
    book->next_id++;
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
    *view = (struct lease_session_view){s->leases, s->pairs_out,
                                        lease_pace_latest(s) / (s->slots > 0 ? s->slots : 1)};
    return true;
}

size_t lease_session_experiments(const struct lease_book *book, uint64_t session, uint64_t *experiments,
                                 size_t max)
{
    const struct session *s = session_find(book, session);
    size_t count = 0;
    for (uint32_t slot = s ? s->first : NONE; slot != NONE; slot = book->records[slot].after) {
        size_t at = 0;
        while (at < count && experiments[at] != book->records[slot].lease.experiment)
            at++;
        if (at == count && count < max)
            experiments[count++] = book->records[slot].lease.experiment;
    }
    return count;
}

bool lease_session_has_room(const struct lease_book *book, uint64_t session)
{
    const struct session *s = session_find(book, session);
    return s ? s->leases < book->policy.leases_per_session
             : book->session_of.count < book->policy.sessions_max;
}
