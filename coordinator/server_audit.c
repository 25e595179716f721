/* Pairs that are played again, as the event loop deals with them: who gets one, what becomes of its lease,
 * and when nobody is there any more to wait for. */
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "engine/build.h"
#include "proto/log.h"
#include "proto/tags.h"

enum {
    PRESENT_MIN_MS = 5000, /* workers without work ask more often than this */
    RETURN_MS = 15000,     /* and find a coordinator that has restarted within this */
};

static void end_lease(struct server *server, const struct audit_lease *lease, enum store_lease_state state)
{
    if (lease->lease != 0)
        server_end_leases(server, &lease->lease, 1, state);
}

void server_audit_want(struct server *server, uint64_t experiment, const struct job_replays *again)
{
    for (size_t i = 0; i < again->count; i++)
        if (!audit_want(server->audits, experiment, &again->pairs[i])) {
            log_line(LOG_LEVEL_WARNING, "audit-not-kept",
                     "experiment=%llu pair=%llu: too many pairs wait to be played again",
                     (unsigned long long)experiment, (unsigned long long)again->pairs[i].pair);
            /* The prefix must not wait for ever: whoever comes first plays it. */
            if (again->pairs[i].held)
                lease_reissue(server->leases, experiment, again->pairs[i].pair, 0);
        }
}

void server_audit_report(struct server *server, struct server_experiment *experiment,
                         const struct job_report *report)
{
    uint64_t id = experiment->row.id;
    struct audit_lease lease;
    for (size_t i = 0; i < report->closed_count; i++)
        if (audit_close(server->audits, id, report->closed[i], &lease))
            end_lease(server, &lease, STORE_LEASE_DONE);
    server_audit_want(server, id, &report->again);
    if (report->awaiting && !experiment->awaiting)
        lease_experiment_close(server->leases, id);
    else if (!report->awaiting && experiment->awaiting && !report->ended &&
             experiment->row.state == STORE_RUNNING)
        lease_experiment_reopen(server->leases, id);
    experiment->awaiting = report->awaiting;
    server_audit_waive(server, experiment);
}

/* --- who is able --- */

/* Workers that could play an experiment's pairs: they asked for work or got on with some within the lease's
 * term, and none of their leases has lapsed since. One that hangs cannot hold a verdict back. */
struct presence {
    const struct server *server;
    const struct server_experiment *experiment;
    int64_t since_ms;
    uint64_t workers[AUDIT_PLAYED_MAX + 1]; /* one more than can have played a pair */
    size_t count;
};

static int64_t patience_ms(const struct server *server)
{
    return server->options.term_ms > PRESENT_MIN_MS ? server->options.term_ms : PRESENT_MIN_MS;
}

static void note_present(void *context, struct session *session)
{
    struct presence *presence = context;
    char missing[TAGS_NAME];
    if (session->role != MESSAGE_ROLE_WORKER || session->able_ms < presence->since_ms || session->lapsed ||
        presence->count > AUDIT_PLAYED_MAX || server_flag_of(presence->server, session) ||
        strcmp(session->engine_build, engine_build()) != 0 ||
        !tags_cover(session->tags, presence->experiment->row.tags, missing))
        return;
    for (size_t i = 0; i < presence->count; i++)
        if (presence->workers[i] == session->worker)
            return;
    presence->workers[presence->count++] = session->worker;
}

static void look_around(struct presence *presence, const struct server *server,
                        const struct server_experiment *experiment)
{
    *presence = (struct presence){
        .server = server, .experiment = experiment, .since_ms = server->now_ms - patience_ms(server)};
    roster_each(server->roster, note_present, presence);
}

/* --- going out --- */

/* Those of finished experiments take turns with other work. */
struct turn {
    struct server *server;
    const struct session *session;
    int32_t floor; /* no experiment of a lower priority has its turn */
    bool finished_too;
    struct presence presence; /* of the experiment it names */
};

/* Within the experiment's cap, with what its other leases let the sessions play? */
static bool cap_has_room(const struct turn *turn, const struct server_experiment *experiment)
{
    struct lease_experiment_view view = {0};
    uint32_t cap = experiment->row.core_cap, slots = turn->session->slots;
    if (cap == 0)
        return true;
    lease_experiment_look(turn->server->leases, experiment->row.id, turn->session->id, slots, &view);
    return view.cores + audit_cores(turn->server->audits, experiment->row.id) + (slots == 1 ? 1 : 2) <= cap;
}

static int32_t rank(void *context, uint64_t id)
{
    const struct turn *turn = context;
    char missing[TAGS_NAME];
    const struct server_experiment *experiment = server_find_experiment(turn->server, id);
    if (!experiment || experiment->row.priority < turn->floor ||
        strcmp(experiment->row.a.engine_build, engine_build()) != 0 ||
        !tags_cover(turn->session->tags, experiment->row.tags, missing) || !cap_has_room(turn, experiment))
        return AUDIT_NOT;
    bool goes = experiment->ended ? turn->finished_too : experiment->row.state == STORE_RUNNING;
    return goes ? experiment->row.priority : AUDIT_NOT;
}

static size_t able(void *context, uint64_t id, const uint64_t **workers)
{
    struct turn *turn = context;
    if (!turn->presence.experiment || turn->presence.experiment->row.id != id)
        look_around(&turn->presence, turn->server, server_find_experiment(turn->server, id));
    *workers = turn->presence.workers;
    return turn->presence.count;
}

bool server_audit_grant(struct server *server, struct session *session, uint64_t request, int32_t floor)
{
    struct turn turn = {
        .server = server, .session = session, .floor = floor, .finished_too = !session->had_finished};
    struct audit_ask ask = {.worker = session->worker,
                            .session = session->id,
                            .lease = lease_number(server->leases),
                            .cores = session->slots,
                            .context = &turn,
                            .rank = rank,
                            .able = able};
    struct audit_lease taken;
    session->had_finished = false;
    if (!audit_take(server->audits, &ask, server->now_ms, &taken))
        return false;
    lease_number_use(server->leases);
    session->had_finished = server_find_experiment(server, taken.experiment)->ended;
    const struct store_lease row = {.id = taken.lease,
                                    .experiment = taken.experiment,
                                    .first_pair = taken.pair,
                                    .pair_count = 1,
                                    .attempt = taken.attempt};
    struct job *job = server_grant_job(server, session, request, &row);
    if (job)
        job->grant.again = true;
    if (!server_submit(server, job))
        audit_release(server->audits, taken.lease, session->id, &taken);
    return true;
}

/* --- leases --- */

uint64_t server_audit_released(struct server *server, uint64_t lease, uint64_t session)
{
    struct audit_lease released;
    if (!audit_release(server->audits, lease, session, &released))
        return 0;
    end_lease(server, &released, STORE_LEASE_RELEASED);
    return released.experiment;
}

void server_audit_session_end(struct server *server, uint64_t session)
{
    struct audit_lease released[64];
    size_t count;
    do {
        count = audit_session_end(server->audits, session, released, 64);
        for (size_t i = 0; i < count; i++)
            end_lease(server, &released[i], STORE_LEASE_RELEASED);
    } while (count == 64);
}

/* --- waiting --- */

/* After a start workers need a moment to be back. */
static bool may_be_on_the_way(const struct server *server)
{
    int64_t wait_ms = patience_ms(server) < RETURN_MS ? patience_ms(server) : RETURN_MS;
    return server->now_ms - server->started_ms < wait_ms;
}

void server_audit_waive(struct server *server, struct server_experiment *experiment)
{
    if (!experiment->awaiting || experiment->ended || experiment->waived == experiment->awaiting ||
        may_be_on_the_way(server))
        return;
    struct presence presence;
    look_around(&presence, server, experiment);
    struct audit_outlook outlook =
        audit_look(server->audits, experiment->row.id, presence.workers, presence.count);
    if (outlook.hopeful > 0)
        return;
    struct job *job = job_create(JOB_AUDIT_WAIVE);
    if (!job)
        return;
    job->event.experiment = experiment->row.id;
    if (server_submit(server, job))
        experiment->waived = experiment->awaiting;
}

void server_audit_cores(struct server *server)
{
    for (size_t i = 0; i < server->experiment_count; i++) {
        const struct store_experiment *row = &server->experiments[i]->row;
        if (row->core_cap > 0 && !server->experiments[i]->ended)
            lease_experiment_elsewhere(server->leases, row->id, audit_cores(server->audits, row->id));
    }
}

void server_note_lapse(struct server *server, uint64_t id)
{
    struct session *session = roster_find(server->roster, id);
    if (session)
        session->lapsed = true;
}

void server_note_able(struct server *server, struct session *session, bool progress)
{
    session->able_ms = server->now_ms;
    session->lapsed = session->lapsed && !progress;
}

void server_audit_tick(struct server *server)
{
    struct audit_lease lapsed[64];
    size_t count;
    do {
        count = audit_expire(server->audits, server->now_ms, lapsed, 64);
        for (size_t i = 0; i < count; i++) {
            server_note_lapse(server, lapsed[i].session);
            end_lease(server, &lapsed[i], STORE_LEASE_EXPIRED);
        }
    } while (count == 64);
    for (size_t i = 0; i < server->experiment_count; i++)
        server_audit_waive(server, server->experiments[i]);
}
