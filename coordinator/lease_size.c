#include "coordinator/lease_parts.h"

#include <string.h>

/* Games behind a core time: what is older is forgotten. */
enum { GAMES_OF_EXPERIMENT = 256, GAMES_OF_SESSION = 32 };

/* --- cores --- */

/* Games that `slots` play threads play at once of so many pairs; a session that has not told its slots is
 * taken to have enough. */
static uint64_t cores_of(uint32_t slots, uint64_t pairs)
{
    return slots > 0 && slots < 2 * pairs ? slots : 2 * pairs;
}

/* What the session's records of an experiment hold, `but` left out: pairs, and cores they are charged with.
 */
static uint64_t session_holds(const struct lease_book *book, const struct session *session,
                              uint64_t experiment, uint32_t but, uint64_t *cores)
{
    uint64_t pairs = 0;
    *cores = 0;
    for (uint32_t slot = session->first; slot != LEASE_NONE; slot = book->records[slot].after) {
        const struct record *record = &book->records[slot];
        if (slot == but || record->lease.experiment != experiment)
            continue;
        pairs += record->lease.count;
        *cores += record->cores;
    }
    return pairs;
}

void lease_cores_open(struct lease_book *book, uint32_t slot)
{
    struct record *record = &book->records[slot];
    const struct session *session = &book->sessions[record->session];
    uint64_t charged, pairs = session_holds(book, session, record->lease.experiment, slot, &charged);
    uint64_t cores = cores_of(session->slots, pairs + record->lease.count);
    record->cores = cores > charged ? (uint32_t)(cores - charged) : 0;
    book->experiments[record->experiment].cores += record->cores;
}

/* What it was charged with goes, but for what the session's other leases can use. */
void lease_cores_close(struct lease_book *book, uint32_t slot)
{
    struct record *record = &book->records[slot];
    const struct session *session = &book->sessions[record->session];
    struct experiment *e = &book->experiments[record->experiment];
    uint64_t charged, pairs = session_holds(book, session, record->lease.experiment, slot, &charged);
    uint64_t cores = cores_of(session->slots, pairs);
    uint32_t passed = cores > charged ? (uint32_t)(cores - charged) : 0;
    e->cores -= record->cores;
    record->cores = 0;
    for (uint32_t other = session->first; passed > 0 && other != LEASE_NONE;
         other = book->records[other].after)
        if (other != slot && book->records[other].lease.experiment == record->lease.experiment) {
            book->records[other].cores += passed;
            e->cores += passed;
            return;
        }
}

uint32_t lease_cap_room(const struct lease_book *book, const struct experiment *e,
                        const struct session *session, uint32_t slots)
{
    if (e->core_cap == 0)
        return UINT32_MAX;
    uint64_t charged = 0, pairs = session ? session_holds(book, session, e->id, LEASE_NONE, &charged) : 0;
    uint64_t others = (e->cores > charged ? e->cores - charged : 0) + e->elsewhere;
    uint64_t may = e->core_cap > others ? e->core_cap - others : 0;
    if (slots > 0 && may >= slots)
        return UINT32_MAX;
    return may / 2 > pairs ? (uint32_t)(may / 2 - pairs) : 0;
}

void lease_slots_tell(struct lease_book *book, struct session *session, uint32_t slots)
{
    if (session->slots == slots)
        return;
    if (session->leases > 0)
        book->slots_busy += (uint64_t)slots - session->slots;
    session->slots = slots;
    for (uint32_t slot = session->first; slot != LEASE_NONE; slot = book->records[slot].after) {
        book->experiments[book->records[slot].experiment].cores -= book->records[slot].cores;
        book->records[slot].cores = 0;
    }
    for (uint32_t slot = session->first; slot != LEASE_NONE; slot = book->records[slot].after)
        lease_cores_open(book, slot);
}

/* --- pace --- */

static const struct pace *pace_find(const struct session *session, uint64_t experiment)
{
    for (int i = 0; session && i < LEASE_PACES; i++)
        if (session->paces[i].last_count > 0 && session->paces[i].experiment == experiment)
            return &session->paces[i];
    return NULL;
}

/* The place of the experiment, moved to the front; the one used least recently makes room. */
static struct pace *pace_need(struct session *session, uint64_t experiment)
{
    const struct pace *known = pace_find(session, experiment);
    struct pace pace = known ? *known : (struct pace){.experiment = experiment, .last_count = 1};
    size_t before = known ? (size_t)(known - session->paces) : LEASE_PACES - 1;
    memmove(&session->paces[1], &session->paces[0], before * sizeof pace);
    session->paces[0] = pace;
    return &session->paces[0];
}

void lease_pace_grant(struct session *session, uint64_t experiment, uint32_t count)
{
    pace_need(session, experiment)->last_count = count;
}

void lease_pace_lapse(struct session *session, uint64_t experiment)
{
    struct pace *pace = pace_need(session, experiment);
    pace->pair_ms = 0;
    session->swiftness = 0;
    pace->last_count = pace->last_count > 1 ? pace->last_count / 4 + 1 : pace->last_count;
}

double lease_pace_latest(const struct session *session)
{
    return session->paces[0].last_count > 0 ? session->paces[0].pair_ms : 0;
}

static void session_cost(struct session *session, const struct experiment *e, double games, double pair_ms)
{
    struct pace *pace = pace_need(session, e->id);
    double news = games / (games + GAMES_OF_SESSION), swiftness = pair_ms > 0 ? e->pair_ms / pair_ms : 0;
    pace->pair_ms = pace->pair_ms > 0 ? pace->pair_ms + news * (pair_ms - pace->pair_ms) : pair_ms;
    if (swiftness > 0)
        session->swiftness =
            session->swiftness > 0 ? session->swiftness + news * (swiftness - session->swiftness) : swiftness;
}

void lease_experiment_cost(struct lease_book *book, uint64_t experiment, uint64_t session, uint64_t games,
                           double core_ms)
{
    struct experiment *e = experiment_find(book, experiment);
    struct session *player = session_find(book, session);
    if (!e || games == 0 || !(core_ms >= 0))
        return;
    double pair_ms = 2 * core_ms / (double)games, weight = (double)games;
    if (e->games > GAMES_OF_EXPERIMENT)
        e->games = GAMES_OF_EXPERIMENT;
    e->pair_ms = (e->pair_ms * e->games + pair_ms * weight) / (e->games + weight);
    e->games += weight;
    if (player)
        session_cost(player, e, weight, pair_ms);
}

/* --- size --- */

static double session_swiftness(const struct session *session)
{
    return session && session->swiftness > 0 ? session->swiftness : 1;
}

/* What a session says of its own speed is of whatever it played before: it is for one that was just met.
 * At most twice what the session had last of this experiment, and near the end at most half of what its play
 * threads make of what is left, so that nobody is left alone with the last large range. */
uint32_t lease_size(const struct lease_book *book, const struct experiment *e, const struct session *session,
                    const struct lease_ask *ask, uint64_t left)
{
    const struct lease_policy *policy = &book->policy;
    const struct pace *pace = pace_find(session, e->id);
    double target_ms = ask->work_ms > 0 && ask->work_ms < policy->target_ms ? (double)ask->work_ms
                                                                            : (double)policy->target_ms;
    uint32_t slots = ask->slots > 0 ? ask->slots : 1;
    double pairs = policy->pairs_first > slots ? policy->pairs_first : slots;
    if (pace && pace->pair_ms > 0)
        pairs = target_ms * slots / pace->pair_ms;
    else if (e->pair_ms > 0)
        pairs = target_ms * slots / e->pair_ms * session_swiftness(session);
    else if (ask->pairs_per_minute > 0 && !(session && session->paces[0].last_count > 0))
        pairs = target_ms * ask->pairs_per_minute / 60000;
    if (pace && pairs > 2.0 * pace->last_count)
        pairs = 2.0 * pace->last_count;
    uint64_t size = pairs >= policy->pairs_max ? policy->pairs_max : pairs < 1 ? 1 : (uint64_t)pairs;
    uint64_t busy = book->slots_busy > 0 ? book->slots_busy : book->sessions_busy;
    uint64_t sharers = busy + (session && session->leases ? 0 : slots);
    uint64_t share = sharers > 0 ? (uint64_t)((double)left * slots / (2 * (double)sharers)) : left;
    if (size > share)
        size = share > 0 ? share : 1;
    return (uint32_t)size;
}
