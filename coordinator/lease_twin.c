#include "coordinator/lease_parts.h"

enum { LOOK_MAX = 64 }; /* leases looked at for one that can have a twin */

static bool may_have_twin(const struct lease_book *book, const struct record *record, uint64_t session,
                          int64_t now_ms)
{
    return !record->second && record->twin == LEASE_NONE && record->lease.session != session &&
           now_ms - record->lease.granted_ms >= book->policy.twin_after_ms;
}

/* The one that was longest without progress, of those the session can help with. */
static uint32_t twin_find(const struct lease_book *book, const struct experiment *e, uint64_t session,
                          int64_t now_ms)
{
    if (!e || !e->twins || e->closed || e->out == 0 || lease_available(e) > 0)
        return LEASE_NONE;
    uint32_t slot = book->soonest;
    for (int looked = 0; slot != LEASE_NONE && looked < LOOK_MAX; looked++) {
        const struct record *record = &book->records[slot];
        if (record->lease.experiment == e->id && may_have_twin(book, record, session, now_ms))
            return slot;
        slot = record->later;
    }
    return LEASE_NONE;
}

bool lease_has_twin(const struct lease_book *book, uint64_t experiment, uint64_t session, int64_t now_ms)
{
    return twin_find(book, experiment_find(book, experiment), session, now_ms) != LEASE_NONE;
}

/* From the last unfinished pair of a lease backwards, those of one attempt, at most half of what is left. */
static void later_half(const struct experiment *e, const struct lease *lease, uint32_t slot, uint32_t most,
                       struct lease *half)
{
    uint32_t wanted = (lease->left + 1) / 2;
    uint64_t pair = lease->first + lease->count, end = pair;
    *half = (struct lease){.experiment = lease->experiment};
    wanted = wanted < most ? wanted : most;
    while (pair-- > lease->first && half->left < wanted) {
        struct pair cell = pair_at(e, pair);
        if (cell.state != PAIR_LEASED || cell.lease != slot)
            continue;
        if (half->left == 0) {
            half->attempt = cell.attempt;
            end = pair + 1;
        } else if (cell.attempt != half->attempt) {
            break;
        }
        half->first = pair;
        half->left++;
    }
    half->count = (uint32_t)(end - half->first);
    half->attempt += half->attempt < LEASE_ATTEMPT_MAX;
}

enum lease_status lease_twin(struct lease_book *book, uint64_t experiment, const struct lease_ask *ask,
                             int64_t now_ms, struct lease *granted)
{
    struct experiment *e = experiment_find(book, experiment);
    const struct session *session = session_find(book, ask->session);
    if (!e)
        return LEASE_UNKNOWN;
    if (ask->credit == 0)
        return LEASE_NO_CREDIT;
    if (session && session->leases >= book->policy.leases_per_session)
        return LEASE_TOO_MANY;
    uint32_t first = twin_find(book, e, ask->session, now_ms), second;
    if (first == LEASE_NONE)
        return LEASE_NO_PAIRS;
    uint32_t room = lease_cap_room(book, e, session, ask->slots);
    if (room == 0)
        return LEASE_CAPPED;
    struct lease half;
    later_half(e, &book->records[first].lease, first, room < ask->credit ? room : ask->credit, &half);
    enum lease_status status = lease_open(book, ask, &half, now_ms, &second);
    if (status != LEASE_OK)
        return status;
    book->records[first].twin = second;
    book->records[second].twin = first;
    book->records[second].second = true;
    for (uint64_t pair = half.first; pair < half.first + half.count; pair++)
        if (pair_at(e, pair).state == PAIR_LEASED && pair_at(e, pair).lease == first)
            e->ring[pair & (e->capacity - 1)].attempt = (uint16_t)half.attempt;
    *granted = book->records[second].lease;
    return LEASE_OK;
}

void lease_twin_part(struct lease_book *book, uint32_t slot)
{
    struct record *record = &book->records[slot], *twin;
    if (record->twin == LEASE_NONE)
        return;
    twin = &book->records[record->twin];
    if (!record->second) {
        struct experiment *e = &book->experiments[record->experiment];
        for (uint64_t pair = twin->lease.first; pair < twin->lease.first + twin->lease.count; pair++) {
            struct pair cell = pair_at(e, pair);
            if (cell.state == PAIR_LEASED && cell.lease == slot)
                e->ring[pair & (e->capacity - 1)].lease = record->twin;
        }
        record->lease.left -= twin->lease.left;
        book->sessions[record->session].pairs_out -= twin->lease.left;
        twin->second = false;
    } else {
        /* Its pairs stay with the first lease: nothing of it is unfinished any more. */
        book->sessions[record->session].pairs_out -= record->lease.left;
        record->lease.left = 0;
    }
    twin->twin = LEASE_NONE;
    record->twin = LEASE_NONE;
}
