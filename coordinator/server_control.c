#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "coordinator/specification.h"
#include "coordinator/wire.h"
#include "engine/build.h"

enum { STATUS_SESSIONS_MAX = 500 };

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

/* --- status --- */

struct session_listing {
    struct server *server;
    json_t *array;
};

static void list_session(void *context, struct session *session)
{
    struct session_listing *listing = context;
    struct server *server = listing->server;
    if (session->role != MESSAGE_ROLE_WORKER || json_array_size(listing->array) >= STATUS_SESSIONS_MAX)
        return;
    struct lease_session_view view = {0};
    lease_session_find(server->leases, session->id, &view);
    json_array_append_new(listing->array,
                          json_pack("{s:I, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:f}", "session",
                                    (json_int_t)session->id, "name", session->name, "peer",
                                    allowlist_name(&server->allowlist, session->peer.user), "engine_build",
                                    session->engine_build, "slots", (int)session->slots, "leases",
                                    (int)view.leases, "pairs_out", (json_int_t)view.pairs_out, "games",
                                    (json_int_t)session->games, "refused", (json_int_t)session->refused,
                                    "silent_ms", (json_int_t)(server->now_ms - session->heard_ms), "pair_ms",
                                    view.pair_ms));
}

static json_t *status_counters(const struct server *server)
{
    struct router_counters wire = router_counters(server->router);
    struct writer_counters rows = writer_counters(server->writer);
    const struct server_counters *own = &server->counters;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                     "received", (json_int_t)wire.received, "sent", (json_int_t)wire.sent, "malformed",
                     (json_int_t)wire.malformed, "oversized", (json_int_t)wire.oversized,
                     "handshakes_refused", (json_int_t)wire.refused_handshakes, "games_committed",
                     (json_int_t)rows.games, "duplicates", (json_int_t)rows.duplicates, "conflicts",
                     (json_int_t)rows.conflicts, "commits", (json_int_t)rows.commits, "reconnects",
                     (json_int_t)rows.reconnects, "games_refused", (json_int_t)own->refused_games,
                     "leases_granted", (json_int_t)own->grants, "leases_lapsed", (json_int_t)own->expired,
                     "not_allowed", (json_int_t)own->not_allowed, "busy", (json_int_t)own->busy);
}

void server_status(struct server *server, struct session *session, const struct message *message)
{
    struct session_listing listing = {server, json_array()};
    char database[STORE_TEXT] = "up";
    roster_each(server->roster, list_session, &listing);
    writer_is_up(server->writer, database, sizeof database);
    json_t *status =
        json_pack("{s:s, s:I, s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o}", "engine_build", engine_build(),
                  "uptime_ms", (json_int_t)(server->now_ms - server->started_ms), "database", database,
                  "sessions", (int)roster_count(server->roster), "leases", (int)lease_count(server->leases),
                  "experiments_running", (int)schedule_count(server->schedule), "writer_queue",
                  (int)writer_queue_count(server->writer), "outstanding", (int)server->outstanding,
                  "counters", status_counters(server), "workers", listing.array);
    struct message reply = {.request = message->request, .kind = MESSAGE_STATUS_REPLY};
    reply.status_reply.json = status ? json_dumps(status, JSON_COMPACT) : NULL;
    json_decref(status);
    if (reply.status_reply.json)
        server_reply(server, &session->peer, &reply);
    else
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_BUSY, SERVER_RETRY_MS,
                      "no memory");
    free(reply.status_reply.json);
}
