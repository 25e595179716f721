/* How the coordinator stands at this moment: `kroo status`, `kroo workers`, `kroo why`. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/explain.h"
#include "coordinator/server_parts.h"
#include "engine/build.h"
#include "proto/progress.h"

enum {
    LISTING_BYTES_MAX = 160 * 1024, /* of the workers in a reply */
    WORKER_BYTES = 960,             /* of one, its sentence and tags left out */
    SILENT_SLACK_MS = 5000,
};

struct session_listing {
    struct server *server;
    json_t *array;
    const char *asked; /* name or number of the worker; "": all */
    uint32_t skip;
    size_t bytes;
};

int64_t server_silent_most_ms(const struct server *server)
{
    return 3 * (int64_t)server->options.progress_ms + SILENT_SLACK_MS;
}

bool server_is_silent(const struct server *server, const struct session *session)
{
    return server->now_ms - session->heard_ms > server_silent_most_ms(server);
}

static json_t *session_experiments(const struct server *server, const struct session *session,
                                   uint64_t experiments[EXPLAIN_EXPERIMENTS], size_t *count)
{
    json_t *array = json_array();
    *count = lease_session_experiments(server->leases, session->id, experiments, EXPLAIN_EXPERIMENTS);
    for (size_t i = 0; i < *count && i < EXPLAIN_EXPERIMENTS; i++)
        json_array_append_new(array, json_integer((json_int_t)experiments[i]));
    return array;
}

static json_t *describe_session(struct server *server, const struct session *session)
{
    struct lease_session_view view = {0};
    uint64_t experiments[EXPLAIN_EXPERIMENTS];
    char why[EXPLAIN_TEXT], unfit[FITNESS_TEXT];
    const struct store_flag *flag = server_flag_of(server, session);
    lease_session_find(server->leases, session->id, &view);
    struct explain_facts facts = {
        .silent_ms = server->now_ms - session->heard_ms,
        .silent_most_ms = server_silent_most_ms(server),
        .term_ms = server->options.term_ms,
        .leases = view.leases,
        .pairs_out = view.pairs_out,
        .experiments = experiments,
        .games_per_minute = meter_games_per_minute(&session->meter, server->now_ms),
        .told = session->told,
        .unfit = server_unfit(server, session, unfit),
        .speed = session->speed,
        .measured_ms = server->now_ms - session->measured_ms,
        .told_ms = server->now_ms - session->told_ms,
        .set_aside = flag ? flag->reason : NULL,
    };
    json_t *plays = session_experiments(server, session, experiments, &facts.experiment_count);
    enum explain_state state = explain(&facts, why);
    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:f, s:f, s:f, "
        "s:I, s:o, s:s, s:I}",
        "session", (json_int_t)session->id, "name", session->name, "peer",
        allowlist_name(&server->allowlist, session->peer.user), "engine_build", session->engine_build,
        "state", explain_state_name(state), "why", why, "plays", plays, "tags", session->tags, "slots",
        (int)session->slots, "leases", (int)view.leases, "pairs_out", (json_int_t)view.pairs_out, "games",
        (json_int_t)session->games, "refused", (json_int_t)session->refused, "silent_ms",
        (json_int_t)facts.silent_ms, "pair_ms", view.pair_ms, "games_per_minute", facts.games_per_minute,
        "nodes_per_second", meter_nodes_per_second(&session->meter, server->now_ms), "bench",
        (json_int_t)session->speed, "measured_s",
        session->speed ? json_integer((json_int_t)(facts.measured_ms / 1000)) : json_null(), "unfit",
        facts.unfit ? facts.unfit : "", "clock_off_ms", (json_int_t)session->wall_off_ms);
}

/* By its name, or by its session's number. */
static bool is_asked_for(const struct session *session, const char *asked)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)session->id);
    return asked[0] == '\0' || strcmp(asked, session->name) == 0 || strcmp(asked, number) == 0;
}

static void list_session(void *context, struct session *session)
{
    struct session_listing *listing = context;
    if (session->role != MESSAGE_ROLE_WORKER || !is_asked_for(session, listing->asked) ||
        listing->bytes > LISTING_BYTES_MAX)
        return;
    if (listing->skip > 0) {
        listing->skip--;
        return;
    }
    json_t *described = describe_session(listing->server, session);
    if (!described)
        return;
    listing->bytes +=
        WORKER_BYTES + strlen(json_string_value(json_object_get(described, "why"))) + strlen(session->tags);
    json_array_append_new(listing->array, described);
}

static json_t *status_counters(const struct server *server)
{
    struct router_counters wire = router_counters(server->router);
    struct writer_counters rows = writer_counters(server->writer);
    const struct server_counters *own = &server->counters;
    const struct {
        const char *name;
        uint64_t value;
    } counters[] = {
        {"received", wire.received},
        {"sent", wire.sent},
        {"malformed", wire.malformed},
        {"oversized", wire.oversized},
        {"handshakes_refused", wire.refused_handshakes},
        {"games_committed", rows.games},
        {"duplicates", rows.duplicates},
        {"conflicts", rows.conflicts},
        {"commits", rows.commits},
        {"reconnects", rows.reconnects},
        {"games_refused", own->refused_games},
        {"leases_granted", own->grants},
        {"leases_lapsed", own->expired},
        {"not_allowed", own->not_allowed},
        {"busy", own->busy},
        {"engines_unsigned", own->unsigned_engines},
        {"noisy", own->noisy},
        {"discarded", wire.discarded},
        {"crowded", own->crowded},
        {"untold", own->untold},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        json_object_set_new(object, counters[i].name, json_integer((json_int_t)counters[i].value));
    return object;
}

void server_reply_status(struct server *server, const struct session *session, uint64_t request,
                         json_t *status)
{
    struct message reply = {.request = request, .kind = MESSAGE_STATUS_REPLY};
    reply.status_reply.json = status ? json_dumps(status, JSON_COMPACT) : NULL;
    json_decref(status);
    if (reply.status_reply.json)
        server_reply(server, &session->peer, &reply);
    else
        server_refuse(server, &session->peer, request, MESSAGE_REFUSAL_BUSY, SERVER_RETRY_MS, "no memory");
    free(reply.status_reply.json);
}

void server_status(struct server *server, struct session *session, const struct message *message)
{
    struct session_listing listing = {.server = server,
                                      .array = json_array(),
                                      .asked = message->status_request.worker,
                                      .skip = message->status_request.skip};
    if (message->status_request.waits_from > 0) {
        json_decref(listing.array);
        server_waits(server, session, message);
        return;
    }
    char database[STORE_TEXT] = "up";
    roster_each(server->roster, list_session, &listing);
    writer_is_up(server->writer, database, sizeof database);
    json_t *status =
        json_pack("{s:s, s:I, s:I, s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o}", "engine_build", engine_build(),
                  "uptime_ms", (json_int_t)(server->now_ms - server->started_ms), "clock_ms",
                  (json_int_t)progress_wall_ms(), "database", database, "sessions",
                  (int)roster_count(server->roster), "leases", (int)lease_count(server->leases),
                  "experiments_running", (int)schedule_count(server->schedule), "writer_queue",
                  (int)writer_queue_count(server->writer), "outstanding", (int)server->outstanding,
                  "counters", status_counters(server), "workers", listing.array);
    server_reply_status(server, session, message->request, status);
}
