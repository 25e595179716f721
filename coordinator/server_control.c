#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "coordinator/specification.h"
#include "coordinator/wire.h"
#include "engine/build.h"

/* May this session change things? Refuses it otherwise. */
static bool may_change(struct server *server, const struct session *session, const struct message *message)
{
    if (session->role == MESSAGE_ROLE_CONTROL &&
        allowlist_allows_change(&server->allowlist, session->peer.user))
        return true;
    server->counters.not_allowed++;
    server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_NOT_ALLOWED, 0,
                  "%s needs an operator's key", message_kind_name(message->kind));
    return false;
}

static struct job *control_job(enum job_kind kind, const struct session *session,
                               const struct message *message)
{
    struct job *job = job_create(kind);
    if (job) {
        job->peer = session->peer;
        job->request = message->request;
        job->session = session->id;
    }
    return job;
}

void server_create(struct server *server, struct session *session, const struct message *message)
{
    const struct message_create_experiment *create = &message->create_experiment;
    char reason[SPECIFICATION_REASON_MAX];
    if (!may_change(server, session, message))
        return;
    if (!specification_check(create, reason)) {
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_MALFORMED, 0, "%s", reason);
        return;
    }
    if (create->spec.engine_build[0] && strcmp(create->spec.engine_build, engine_build()) != 0) {
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_CONFLICT, 0,
                      "this cluster plays with %s, not with %s", engine_build(), create->spec.engine_build);
        return;
    }
    if (schedule_count(server->schedule) >= SCHEDULE_EXPERIMENTS_MAX) {
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_BUSY, 60000,
                      "%d experiments run already: stop one", SCHEDULE_EXPERIMENTS_MAX);
        return;
    }
    struct job *job = control_job(JOB_CREATE, session, message);
    if (job)
        wire_store_experiment(create, allowlist_name(&server->allowlist, session->peer.user),
                              &job->create.experiment);
    server_submit(server, job);
}

void server_stop(struct server *server, struct session *session, const struct message *message)
{
    if (!may_change(server, session, message))
        return;
    struct job *job = control_job(JOB_STOP, session, message);
    if (job) {
        job->stop.experiment = message->stop_experiment.experiment;
        snprintf(job->stop.by, sizeof job->stop.by, "%s",
                 allowlist_name(&server->allowlist, session->peer.user));
        snprintf(job->stop.reason, sizeof job->stop.reason, "%s", message->stop_experiment.reason);
    }
    server_submit(server, job);
}

void server_promote(struct server *server, struct session *session, const struct message *message)
{
    const struct message_promote_weights *wanted = &message->promote_weights;
    if (!may_change(server, session, message))
        return;
    struct job *job = control_job(JOB_PROMOTE, session, message);
    if (job) {
        memcpy(job->promote.sha256, wanted->sha256, STORE_HASH);
        job->promote.experiment = wanted->experiment;
        snprintf(job->promote.line, sizeof job->promote.line, "%s", wanted->line[0] ? wanted->line : "main");
        snprintf(job->promote.reason, sizeof job->promote.reason, "%s", wanted->reason);
        snprintf(job->promote.by, sizeof job->promote.by, "%s",
                 allowlist_name(&server->allowlist, session->peer.user));
    }
    server_submit(server, job);
}
