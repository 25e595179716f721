/* Pairs that are played again, as the event loop deals with them: who gets one, what becomes of its lease,
 * and when nobody is there any more to wait for. */
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "engine/build.h"
#include "proto/log.h"
#include "proto/tags.h"

enum { PRESENT_MIN_MS = 5000 }; /* workers without work ask more often than this */

static void end_lease(struct server *server, const struct audit_lease *lease, enum store_lease_state state)
{
    if (lease->lease != 0)
        server_end_leases(server, &lease->lease, 1, state);
}

void server_audit_want(struct server *server, uint64_t experiment, const struct job_replays *again)
{
    for (size_t i = 0; i < again->count; i++)
        if (!audit_want(server->audits, experiment, &again->pairs[i]))
            log_line(LOG_LEVEL_WARNING, "audit-not-kept",
                     "experiment=%llu pair=%llu: too many pairs wait to be played again",
                     (unsigned long long)experiment, (unsigned long long)again->pairs[i].pair);
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

/* --- going out --- */

/* Those of finished experiments take turns with other work. */
struct turn {
    struct server *server;
    const struct session *session;
    bool finished_too;
};

static bool may(void *context, uint64_t id)
{
    const struct turn *turn = context;
    char missing[TAGS_NAME];
    const struct server_experiment *experiment = server_find_experiment(turn->server, id);
    if (!experiment || strcmp(experiment->row.a.engine_build, engine_build()) != 0 ||
        !tags_cover(turn->session->tags, experiment->row.tags, missing))
        return false;
    return experiment->ended ? turn->finished_too : experiment->row.state == STORE_RUNNING;
}

bool server_audit_grant(struct server *server, struct session *session, uint64_t request)
{
    struct turn turn = {server, session, !session->had_finished};
    uint64_t number = lease_number(server->leases);
    struct audit_lease taken;
    session->had_finished = false;
    if (!audit_take(server->audits, session->worker, may, &turn, session->id, number, server->now_ms, &taken))
        return false;
    lease_number_use(server->leases);
    session->had_finished = server_find_experiment(server, taken.experiment)->ended;
    struct job *job = job_create(JOB_GRANT);
    if (job) {
        job->peer = session->peer;
        job->request = request;
        job->session = session->id;
        job->grant.term_ms = server->options.term_ms;
        job->grant.again = true;
        job->grant.lease = (struct store_lease){
            .id = taken.lease,
            .experiment = taken.experiment,
            .first_pair = taken.pair,
            .pair_count = 1,
            .attempt = taken.attempt,
            .session = session->id,
            .scale_ppm = server_lease_scale(server, session, taken.experiment),
        };
    }
    if (!server_submit(server, job))
        audit_release(server->audits, taken.lease, session->id, &taken);
    return true;
}

/* --- leases --- */

void server_audit_released(struct server *server, uint64_t lease, uint64_t session)
{
    struct audit_lease released;
    if (audit_release(server->audits, lease, session, &released))
        end_lease(server, &released, STORE_LEASE_RELEASED);
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

struct presence {
    const struct server *server;
    int64_t since_ms;
    uint64_t workers[AUDIT_PLAYED_MAX + 1]; /* one more than can have played a pair */
    size_t count;
};

static void note_present(void *context, struct session *session)
{
    struct presence *presence = context;
    if (session->role != MESSAGE_ROLE_WORKER || session->heard_ms < presence->since_ms ||
        presence->count > AUDIT_PLAYED_MAX || server_flag_of(presence->server, session) ||
        strcmp(session->engine_build, engine_build()) != 0)
        return;
    for (size_t i = 0; i < presence->count; i++)
        if (presence->workers[i] == session->worker)
            return;
    presence->workers[presence->count++] = session->worker;
}

void server_audit_waive(struct server *server, struct server_experiment *experiment)
{
    if (!experiment->awaiting || experiment->ended || experiment->waived == experiment->awaiting)
        return;
    int64_t patience_ms = server->options.term_ms > PRESENT_MIN_MS ? server->options.term_ms : PRESENT_MIN_MS;
    struct presence presence = {.server = server, .since_ms = server->now_ms - patience_ms};
    roster_each(server->roster, note_present, &presence);
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

void server_audit_tick(struct server *server)
{
    struct audit_lease lapsed[64];
    size_t count;
    do {
        count = audit_expire(server->audits, server->now_ms, lapsed, 64);
        for (size_t i = 0; i < count; i++)
            end_lease(server, &lapsed[i], STORE_LEASE_EXPIRED);
    } while (count == 64);
    for (size_t i = 0; i < server->experiment_count; i++)
        server_audit_waive(server, server->experiments[i]);
}
