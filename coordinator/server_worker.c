#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "engine/build.h"
#include "proto/log.h"
#include "proto/progress.h"

/* Numbers of sessions stay exact in JSON. */
#define SESSION_ID_MASK ((UINT64_C(1) << 53) - 1)

/* --- HELLO --- */

static bool versions_meet(const struct message_hello *hello)
{
    return hello->protocol >= MESSAGE_PROTOCOL_MIN && hello->protocol_min <= MESSAGE_PROTOCOL;
}

static void fill_welcome(const struct server *server, const struct session *session, struct message *message)
{
    struct message_welcome *welcome = &message->welcome;
    message->kind = MESSAGE_WELCOME;
    *welcome = (struct message_welcome){
        .session = session->id,
        .protocol = MESSAGE_PROTOCOL,
        .progress_ms = server->options.progress_ms,
        .term_ms = server->options.term_ms,
        .announcement = server->announcement,
        .scale_ppm = session->scale_ppm,
    };
    memcpy(welcome->announced, server->announced, sizeof welcome->announced);
    snprintf(welcome->engine_build, sizeof welcome->engine_build, "%s", engine_build());
}

void server_welcome(struct server *server, struct session *session, uint64_t request)
{
    struct message message = {.request = request};
    fill_welcome(server, session, &message);
    server_reply(server, &session->peer, &message);
}

struct census {
    const char *user;
    size_t count;
};

static void count_one(void *context, struct session *session)
{
    struct census *census = context;
    census->count += strcmp(session->peer.user, census->user) == 0;
}

/* One key cannot fill the roster; whoever needs no key is on this machine. */
static bool is_crowded(struct server *server, const struct socket_peer *peer, uint64_t request)
{
    struct census census = {.user = peer->user};
    if (!allowlist_find(&server->allowlist, peer->user))
        return false;
    roster_each(server->roster, count_one, &census);
    if (census.count < SERVER_SESSIONS_A_KEY)
        return false;
    server->counters.crowded++;
    server_refuse(server, peer, request, MESSAGE_REFUSAL_BUSY, server_jitter(server, 60000),
                  "this key has %zu sessions already: give other machines keys of their own, or wait until "
                  "silent ones are forgotten",
                  census.count);
    return true;
}

/* The session of this process: known already, or new. NULL when it cannot be had; the peer is told. */
static struct session *session_for(struct server *server, const struct socket_peer *peer,
                                   const struct message *message)
{
    uint64_t id = message->hello.session_nonce & SESSION_ID_MASK;
    struct session *session = roster_find(server->roster, id);
    if (session && strcmp(session->peer.user, peer->user) != 0) {
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_CONFLICT, 0,
                      "this session number belongs to another key: start again");
        return NULL;
    }
    struct session *other = roster_find_peer(server->roster, peer);
    if (other && other != session) {
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_CONFLICT, 0,
                      "this connection has a session already");
        return NULL;
    }
    if (!session && is_crowded(server, peer, message->request))
        return NULL;
    if (session)
        roster_move(server->roster, session, peer);
    else
        session = roster_add(server->roster, id, peer);
    if (!session)
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_BUSY, server_jitter(server, 10000),
                      "too many sessions");
    return session;
}

static void store_session_row(struct server *server, const struct session *session, uint64_t request)
{
    struct job *job = job_create(JOB_SESSION);
    if (!job)
        return;
    job->peer = session->peer;
    job->request = request;
    job->session = session->id;
    job->session_row.id = session->id;
    job->session_row.slots = session->slots;
    snprintf(job->session_row.peer, sizeof job->session_row.peer, "%.63s", session->peer.user);
    snprintf(job->session_row.name, sizeof job->session_row.name, "%s", session->name);
    snprintf(job->session_row.engine_build, sizeof job->session_row.engine_build, "%s",
             session->engine_build);
    server_bench_row(server, session, &job->session_row);
    snprintf(job->session_row.tags, sizeof job->session_row.tags, "%s", session->tags);
    snprintf(job->session_row.confinement, sizeof job->session_row.confinement, "%s", session->confinement);
    snprintf(job->session_row.architecture, sizeof job->session_row.architecture, "%s",
             session->architecture);
    snprintf(job->session_row.compiler, sizeof job->session_row.compiler, "%s", session->compiler);
    server_submit(server, job);
}

void server_hello(struct server *server, const struct socket_peer *peer, const struct message *message)
{
    const struct message_hello *hello = &message->hello;
    if (!versions_meet(hello)) {
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_VERSION, 0,
                      "protocol %u to %u is spoken here, not %u to %u: install the same release",
                      MESSAGE_PROTOCOL_MIN, MESSAGE_PROTOCOL, hello->protocol_min, hello->protocol);
        return;
    }
    if (!allowlist_allows_role(&server->allowlist, peer->user, hello->role)) {
        server->counters.not_allowed++;
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_NOT_ALLOWED, 0,
                      "this key may not be a %s: `kroo key ls` shows its role",
                      hello->role == MESSAGE_ROLE_WORKER ? "worker" : "user");
        return;
    }
    struct session *session = session_for(server, peer, message);
    if (!session)
        return;
    session->role = hello->role;
    session->slots = hello->slots;
    session->credit = hello->credit;
    session->scale_ppm = fitness_scale(&server->options.fitness, hello->bench.speed);
    server_note_bench(server, session, &hello->bench);
    snprintf(session->tags, sizeof session->tags, "%s", hello->tags);
    session->heard_ms = server->now_ms;
    snprintf(session->name, sizeof session->name, "%s", hello->name);
    snprintf(session->engine_build, sizeof session->engine_build, "%s", hello->engine_build);
    session->worker = audit_worker(session->peer.user, session->name);
    snprintf(session->confinement, sizeof session->confinement, "%s", hello->confinement);
    snprintf(session->architecture, sizeof session->architecture, "%s", hello->architecture);
    snprintf(session->compiler, sizeof session->compiler, "%s", hello->compiler);
    session->wall_off_ms = hello->wall_ms ? (int64_t)hello->wall_ms - (int64_t)progress_wall_ms() : 0;
    if (session->role == MESSAGE_ROLE_WORKER && !session->stored)
        store_session_row(server, session, message->request);
    else
        server_welcome(server, session, message->request);
}

/* --- leases --- */

static void nothing(struct server *server, struct session *session, uint64_t request, uint32_t retry_ms,
                    const char *because)
{
    struct message message = {.request = request, .kind = MESSAGE_NOTHING};
    message.nothing.retry_ms = server_jitter(server, retry_ms);
    message.nothing.measure = session->wants_bench;
    snprintf(message.nothing.because, sizeof message.nothing.because, "%s", because);
    snprintf(session->told, sizeof session->told, "%s", because);
    session->told_ms = server->now_ms;
    server->counters.nothing++;
    server_reply(server, &session->peer, &message);
}

static bool is_worker(struct server *server, const struct session *session, const struct message *message)
{
    if (session->role == MESSAGE_ROLE_WORKER)
        return true;
    server->counters.not_allowed++;
    server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_NOT_ALLOWED, 0,
                  "%s is for sessions that said HELLO as a worker", message_kind_name(message->kind));
    return false;
}

static uint32_t room_for(const struct server *server, const struct session *session, uint32_t pairs)
{
    struct lease_session_view view = {0};
    lease_session_find(server->leases, session->id, &view);
    uint64_t room = session->credit > view.pairs_out ? session->credit - view.pairs_out : 0;
    return pairs < room ? pairs : (uint32_t)room;
}

/* A pair that is to be played again goes before new ones of its priority and below. With nothing else to do,
 * also one of a finished experiment out of turn. */
static bool grant_again(struct server *server, struct session *session, uint64_t request,
                        const struct schedule_pick *pick)
{
    bool picked = pick->outcome == SCHEDULE_PICKED;
    const struct server_experiment *next = picked ? server_find_experiment(server, pick->experiment) : NULL;
    return server_audit_grant(server, session, request, next ? next->row.priority : INT32_MIN) ||
           (!picked && server_audit_grant(server, session, request, INT32_MIN));
}

void server_lease_request(struct server *server, struct session *session, const struct message *message)
{
    char reason[MESSAGE_TEXT_MAX], unfit[FITNESS_TEXT];
    if (!is_worker(server, session, message))
        return;
    session->wants_bench = false;
    server_note_bench(server, session, &message->lease_request.bench);
    if (strcmp(session->engine_build, engine_build()) != 0) {
        snprintf(reason, sizeof reason,
                 "this cluster plays with %s, this worker is %s: install the same build", engine_build(),
                 session->engine_build);
        nothing(server, session, message->request, 30000, reason);
        return;
    }
    if (server_flag_reason(server, session, reason)) {
        nothing(server, session, message->request, 5000, reason);
        return;
    }
    if (!writer_is_up(server->writer, reason, sizeof reason)) {
        nothing(server, session, message->request, 2 * SERVER_RETRY_MS, reason);
        return;
    }
    if (!server_has_numbers(server)) {
        nothing(server, session, message->request, SERVER_RETRY_MS / 4, "lease numbers are being reserved");
        return;
    }
    const struct message_lease_request *wanted = &message->lease_request;
    struct lease_ask ask = {.session = session->id,
                            .credit = room_for(server, session, wanted->pairs),
                            .slots = session->slots,
                            .work_ms = wanted->work_ms,
                            .pairs_per_minute = wanted->pairs_per_minute};
    if (ask.credit > 0)
        server_note_able(server, session, false);
    server_audit_cores(server);
    struct schedule_asker asker = {.session = session->id,
                                   .credit = ask.credit,
                                   .slots = session->slots,
                                   .tags = session->tags,
                                   .unfit = server_unfit(server, session, unfit)};
    struct schedule_pick pick =
        schedule_pick(server->schedule, server->leases, &asker, server->draining, server->now_ms);
    session->wants_bench = pick.passed_timed && server_bench_is_old(server, session);
    if (ask.credit > 0 && !server->draining && grant_again(server, session, message->request, &pick))
        return;
    if (pick.outcome != SCHEDULE_PICKED) {
        nothing(server, session, message->request, pick.retry_ms, pick.because);
        return;
    }
    struct lease lease;
    enum lease_status status =
        pick.twin ? lease_twin(server->leases, pick.experiment, &ask, server->now_ms, &lease)
                  : lease_grant(server->leases, pick.experiment, &ask, server->now_ms, &lease);
    session->told[0] = '\0';
    if (status != LEASE_OK)
        nothing(server, session, message->request, SERVER_RETRY_MS, lease_status_text(status));
    else
        server_grant(server, session, &lease, message->request);
}

/* False when the lease is over, or another session's. */
static bool take_progress(struct server *server, struct session *session,
                          const struct message_lease_progress *progress)
{
    enum lease_status status =
        lease_progress(server->leases, progress->lease, session->id, progress->plies, server->now_ms);
    enum audit_answer answer = AUDIT_UNKNOWN;
    if (status == LEASE_UNKNOWN)
        answer =
            audit_progress(server->audits, progress->lease, session->id, progress->plies, server->now_ms);
    if (status == LEASE_OK || answer == AUDIT_RENEWED)
        server_note_able(server, session, true);
    return status != LEASE_UNKNOWN || answer != AUDIT_UNKNOWN;
}

void server_progress(struct server *server, struct session *session, const struct message *message)
{
    const struct message_progress *progress = &message->progress;
    uint64_t dropped[MESSAGE_LEASES_MAX];
    struct message ack = {.request = message->request, .kind = MESSAGE_PROGRESS_ACK};
    if (!is_worker(server, session, message))
        return;
    for (size_t i = 0; i < progress->lease_count && i < MESSAGE_LEASES_MAX; i++)
        if (!take_progress(server, session, &progress->leases[i]))
            dropped[ack.progress_ack.dropped_count++] = progress->leases[i].lease;
    ack.progress_ack.dropped = dropped;
    ack.progress_ack.announcement = server->announcement;
    memcpy(ack.progress_ack.announced, server->announced, MESSAGE_HASH);
    server_reply(server, &session->peer, &ack);
}

/* --- results --- */

static void refuse_game(struct server *server, struct job_results *results, const struct message_game *game,
                        const char *reason)
{
    struct message_game_answer *answer = &results->refused[results->refused_count++];
    *answer = (struct message_game_answer){
        .experiment = game->experiment,
        .pair = game->pair,
        .leg = game->leg,
        .verdict = MESSAGE_GAME_REFUSED,
    };
    snprintf(answer->text, sizeof answer->text, "%s", reason);
    server->counters.refused_games++;
}

static bool is_known_absent(const struct server *server, uint64_t id)
{
    for (size_t i = 0; i < SERVER_UNKNOWN_MAX; i++)
        if (server->unknown[i] == id)
            return true;
    return id == 0;
}

/* Looks up the first experiment of the batch that is not in memory. True when the batch has to wait for it.
 */
static bool wait_for_lookup(struct server *server, const struct session *session,
                            const struct message *message)
{
    const struct message_results *results = &message->results;
    for (size_t i = 0; i < results->game_count; i++) {
        uint64_t id = results->games[i].experiment;
        if (server_find_experiment(server, id) || is_known_absent(server, id))
            continue;
        struct job *job = job_create(JOB_LOOKUP);
        if (job) {
            job->lookup.id = id;
            server_submit(server, job);
        }
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_BUSY,
                      server_jitter(server, SERVER_RETRY_MS / 2), "looking up experiment %llu: send again",
                      (unsigned long long)id);
        return true;
    }
    return false;
}

/* Judges one game into the job. */
static void judge(struct server *server, struct session *session, struct job_results *results,
                  const struct message_game *game)
{
    char reason[MESSAGE_TEXT_MAX];
    const struct store_flag *flag = server_flag_of(server, session);
    struct server_experiment *experiment = server_find_experiment(server, game->experiment);
    if (flag && !flag->games_stand && server_flag_reason(server, session, reason)) {
        refuse_game(server, results, game, reason);
        return;
    }
    if (!experiment || experiment->deleting) {
        refuse_game(server, results, game, "there is no such experiment (any more)");
        return;
    }
    if (!experiment->ended && game->pair >= experiment->furthest) {
        refuse_game(server, results, game, "far beyond every pair that was leased");
        return;
    }
    struct store_game *row = &results->games[results->count];
    if (referee_judge(&experiment->referee, game, row, reason, sizeof reason) != 0) {
        refuse_game(server, results, game, reason);
        return;
    }
    row->session = session->id;
    row->fault = row->claimed ? game->fault : NULL;
    experiment->setback_worker = 0;
    session->setbacks = 0;
    results->count++;
}

static struct job *results_job(const struct session *session, struct message *message)
{
    size_t count = message->results.game_count;
    struct job *job = job_create(JOB_RESULTS);
    if (!job)
        return NULL;
    struct job_results *results = &job->results;
    results->games = malloc((count + 1) * sizeof *results->games);
    results->outcome = malloc((count + 1) * sizeof *results->outcome);
    results->refused = malloc((count + 1) * sizeof *results->refused);
    if (!results->games || !results->outcome || !results->refused) {
        job_destroy(job);
        return NULL;
    }
    job->peer = session->peer;
    job->request = message->request;
    job->session = session->id;
    for (size_t i = 0; i < count; i++)
        job->bytes += message_game_bytes(&message->results.games[i]) + sizeof(struct store_game);
    results->message = *message;
    *message = (struct message){0};
    return job;
}

void server_results(struct server *server, struct session *session, struct message *message)
{
    if (!is_worker(server, session, message) || wait_for_lookup(server, session, message) ||
        server_tune_waits(server, session, message))
        return;
    struct job *job = results_job(session, message);
    if (!job) {
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_BUSY,
                      server_jitter(server, SERVER_RETRY_MS), "no memory: send again");
        return;
    }
    const struct message_results *received = &job->results.message.results;
    for (size_t i = 0; i < received->game_count; i++)
        judge(server, session, &job->results, &received->games[i]);
    server->counters.results++;
    if (job->results.refused_count) {
        const struct message_game_answer *first = &job->results.refused[0];
        session->refused += job->results.refused_count;
        if (server_may_report(server, session))
            server_event(server, "game-refused", first->experiment, session->id,
                         "worker %s, pair %llu leg %u: %s (%zu of %zu games refused)", session->name,
                         (unsigned long long)first->pair, first->leg, first->text, job->results.refused_count,
                         received->game_count);
    }
    server_submit(server, job);
}

/* --- artifacts --- */

struct server_artifact *server_find_artifact(struct server *server, const uint8_t sha256[STORE_HASH])
{
    for (size_t i = 0; i < SERVER_ARTIFACTS_MAX; i++) {
        struct server_artifact *artifact = &server->artifacts[i];
        if (artifact->content && memcmp(artifact->sha256, sha256, STORE_HASH) == 0) {
            artifact->used = ++server->artifact_clock;
            return artifact;
        }
    }
    return NULL;
}

void server_send_chunk(struct server *server, const struct socket_peer *peer, uint64_t request,
                       const struct server_artifact *artifact, uint64_t offset, uint32_t length)
{
    if (offset >= artifact->size) {
        server_refuse(server, peer, request, MESSAGE_REFUSAL_MALFORMED, 0,
                      "the artifact has %zu bytes, offset %llu is beyond", artifact->size,
                      (unsigned long long)offset);
        return;
    }
    size_t left = artifact->size - (size_t)offset;
    if (length == 0 || length > MESSAGE_CHUNK_MAX)
        length = MESSAGE_CHUNK_MAX;
    struct message message = {.request = request, .kind = MESSAGE_ARTIFACT_CHUNK};
    memcpy(message.artifact_chunk.sha256, artifact->sha256, STORE_HASH);
    message.artifact_chunk.offset = offset;
    message.artifact_chunk.size = artifact->size;
    message.artifact_chunk.content = (uint8_t *)artifact->content + offset;
    message.artifact_chunk.content_size = left < length ? left : length;
    server_reply(server, peer, &message);
}

void server_artifact_request(struct server *server, struct session *session, const struct message *message)
{
    const struct message_artifact_request *wanted = &message->artifact_request;
    struct server_artifact *artifact = server_find_artifact(server, wanted->sha256);
    if (artifact) {
        server_send_chunk(server, &session->peer, message->request, artifact, wanted->offset, wanted->length);
        return;
    }
    struct job *job = job_create(JOB_ARTIFACT);
    if (job) {
        job->peer = session->peer;
        job->request = message->request;
        memcpy(job->artifact.sha256, wanted->sha256, STORE_HASH);
        job->artifact.offset = wanted->offset;
        job->artifact.length = wanted->length;
    }
    server_submit(server, job);
}
