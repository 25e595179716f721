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

static bool may_submit(struct server *server, const struct session *session, const struct message *message,
                       bool *needs_approval)
{
    if (session->role == MESSAGE_ROLE_CONTROL &&
        allowlist_may_submit(&server->allowlist, session->peer.user, needs_approval))
        return true;
    server->counters.not_allowed++;
    server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_NOT_ALLOWED, 0,
                  "%s needs an operator's or a submitter's key", message_kind_name(message->kind));
    return false;
}

/* A submitter may take back what still waits for approval; whose it is, the writer sees. */
static bool may_control(struct server *server, const struct session *session, const struct message *message,
                        const struct message_control_experiment *wanted)
{
    bool needs_approval = false;
    bool takes_back = (wanted->verb == MESSAGE_VERB_STOP || wanted->verb == MESSAGE_VERB_DELETE) &&
                      wanted->tournament[0] == '\0';
    if (takes_back && session->role == MESSAGE_ROLE_CONTROL &&
        allowlist_may_submit(&server->allowlist, session->peer.user, &needs_approval) && needs_approval)
        return true;
    return may_change(server, session, message);
}

static bool may_run_another(struct server *server, const struct session *session,
                            const struct message *message)
{
    if (schedule_count(server->schedule) < SCHEDULE_EXPERIMENTS_MAX)
        return true;
    server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_BUSY, 60000,
                  "%d experiments run already: stop one", SCHEDULE_EXPERIMENTS_MAX);
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
    char reason[SPECIFICATION_REASON_MAX], why[HOOK_REASON_MAX];
    bool needs_approval;
    if (!may_submit(server, session, message, &needs_approval))
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
    if (create->on_finish[0] && !hook_check(&server->hooks, create->on_finish, why)) {
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_CONFLICT, 0, "on_finish: %s",
                      why);
        return;
    }
    if (!may_run_another(server, session, message))
        return;
    struct job *job = control_job(JOB_CREATE, session, message);
    if (job)
        wire_store_experiment(create, allowlist_name(&server->allowlist, session->peer.user),
                              &job->create.experiment);
    if (job && needs_approval)
        snprintf(job->create.submitter, sizeof job->create.submitter, "%.63s", session->peer.user);
    server_submit(server, job);
}

static void submit_control(struct server *server, const struct session *session,
                           const struct message *message, const struct message_control_experiment *wanted)
{
    struct server_experiment *experiment = server_find_experiment(server, wanted->experiment);
    struct job *job = control_job(JOB_CONTROL, session, message);
    if (job) {
        struct job_control *control = &job->control;
        control->experiment = wanted->experiment;
        control->verb = wanted->verb;
        control->priority = wanted->priority;
        snprintf(control->by, sizeof control->by, "%s",
                 allowlist_name(&server->allowlist, session->peer.user));
        snprintf(control->user, sizeof control->user, "%.63s", session->peer.user);
        snprintf(control->text, sizeof control->text, "%s", wanted->text);
        snprintf(control->tournament, sizeof control->tournament, "%s", wanted->tournament);
        control->withdraws = !allowlist_allows_change(&server->allowlist, session->peer.user);
    }
    /* What comes for it from now on would find neither ledger nor partition. */
    if (server_submit(server, job) && experiment && wanted->verb == MESSAGE_VERB_DELETE)
        experiment->deleting++;
}

void server_control(struct server *server, struct session *session, const struct message *message)
{
    const struct message_control_experiment *wanted = &message->control_experiment;
    bool starts = wanted->verb == MESSAGE_VERB_RESUME || wanted->verb == MESSAGE_VERB_APPROVE;
    if (!may_control(server, session, message, wanted))
        return;
    if (wanted->verb == MESSAGE_VERB_PRIORITY &&
        (wanted->priority > SPECIFICATION_PRIORITY_MAX || wanted->priority < -SPECIFICATION_PRIORITY_MAX)) {
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_MALFORMED, 0,
                      "a priority lies within -%d and %d", SPECIFICATION_PRIORITY_MAX,
                      SPECIFICATION_PRIORITY_MAX);
        return;
    }
    if (starts && !may_run_another(server, session, message))
        return;
    submit_control(server, session, message, wanted);
}

/* What earlier releases of `kroo` say for `kroo stop`. */
void server_stop(struct server *server, struct session *session, const struct message *message)
{
    struct message_control_experiment wanted = {.experiment = message->stop_experiment.experiment,
                                                .verb = MESSAGE_VERB_STOP};
    snprintf(wanted.text, sizeof wanted.text, "%s", message->stop_experiment.reason);
    if (may_control(server, session, message, &wanted))
        submit_control(server, session, message, &wanted);
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
