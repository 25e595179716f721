/* Workers that are set aside, as the event loop sees them: no leases, no results, and told why. One machine's
 * failures set that machine aside; what two independent workers say stops an experiment (DESIGN section 7).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "proto/log.h"

const struct store_flag *server_flag_of(const struct server *server, const struct session *session)
{
    for (size_t i = 0; i < server->flag_count; i++) {
        const struct store_flag *flag = &server->flags[i];
        if ((!flag->peer[0] || strcmp(flag->peer, session->peer.user) == 0) &&
            (!flag->name[0] || strcmp(flag->name, session->name) == 0))
            return flag;
    }
    return NULL;
}

static void take_leases(void *context, struct session *session)
{
    struct server *server = context;
    struct lease_session_view view = {0};
    if (session->role != MESSAGE_ROLE_WORKER || !server_flag_of(server, session))
        return;
    lease_session_find(server->leases, session->id, &view);
    if (view.leases > 0)
        log_line(LOG_LEVEL_INFO, "set-aside", "session=%llu name=%s leases=%u",
                 (unsigned long long)session->id, session->name, view.leases);
    server_session_leases_end(server, session->id);
}

void server_flag_take(struct server *server, struct job_peers *peers)
{
    free(server->flags);
    server->flags = peers->flags;
    server->flag_count = peers->flag_count;
    peers->flags = NULL;
    if (server->flag_count)
        roster_each(server->roster, take_leases, server);
}

bool server_flag_reason(const struct server *server, const struct session *session,
                        char reason[MESSAGE_TEXT_MAX])
{
    const struct store_flag *flag = server_flag_of(server, session);
    if (flag)
        snprintf(reason, MESSAGE_TEXT_MAX,
                 "this worker is set aside: %.300s; `kroo workers restore %.63s` lets it work again",
                 flag->reason, flag->name[0] ? flag->name : flag->peer);
    return flag != NULL;
}

/* --- failures --- */

static void put_aside(struct server *server, const struct session *session, const char *why)
{
    struct job *job = job_create(JOB_FLAG);
    if (!job)
        return;
    snprintf(job->flag.peer, sizeof job->flag.peer, "%.63s", session->peer.user);
    snprintf(job->flag.name, sizeof job->flag.name, "%s", session->name);
    snprintf(job->flag.reason, sizeof job->flag.reason,
             "%d times in a row it could not play, and nobody else failed: %.380s", SERVER_SETBACKS_MAX, why);
    server_submit(server, job);
}

void server_take_setback(struct server *server, struct session *session, uint64_t id, const char *why)
{
    struct server_experiment *experiment = server_find_experiment(server, id);
    if (!experiment || experiment->ended || experiment->row.state != STORE_RUNNING)
        return;
    if (server_may_report(server, session))
        server_event(server, "lease-given-back", id, session->id, "worker %s: %s", session->name, why);
    snprintf(session->told, sizeof session->told, "it gave a lease of experiment %llu back: %.400s",
             (unsigned long long)id, why);
    session->told_ms = server->now_ms;
    bool others = experiment->setback_worker != 0 && experiment->setback_worker != session->worker;
    experiment->setback_worker = session->worker;
    session->setbacks++;
    if (!others) {
        if (session->setbacks % SERVER_SETBACKS_MAX == 0)
            put_aside(server, session, why);
        return;
    }
    struct job *job = job_create(JOB_BLOCK);
    if (!job)
        return;
    job->event.experiment = id;
    snprintf(job->event.text, sizeof job->event.text, "%.400s (said by two workers)", why);
    server_event(server, "experiment-blocked", id, session->id, "%s", job->event.text);
    server_submit(server, job);
    server_hold_experiment(server, experiment, STORE_BLOCKED);
}
