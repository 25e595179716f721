#include "coordinator/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/herald.h"
#include "coordinator/server_parts.h"
#include "engine/build.h"
#include "engine/mix.h"
#include "proto/log.h"
#include "proto/progress.h"

/* --- small things --- */

/* Lines about what others do are bounded, so that nobody fills the disk with them. */
static bool may_tell(struct server *server, struct allowance *allowance)
{
    bool may = allowance_take(allowance, SERVER_TOLD_BURST, SERVER_TOLD_A_MINUTE, server->now_ms);
    server->counters.untold += !may;
    return may;
}

bool server_may_report(struct server *server, struct session *session)
{
    bool may =
        allowance_take(&session->reports, SERVER_REPORTS_BURST, SERVER_REPORTS_A_MINUTE, server->now_ms);
    server->counters.untold += !may;
    return may;
}

void server_reply(struct server *server, const struct socket_peer *peer, struct message *message)
{
    if (peer->id_size == 0 && server_order_answer(server, message))
        return;
    enum socket_error error = router_send(server->router, peer, message);
    bool unsent = error != SOCKET_OK && error != SOCKET_ERROR_GONE;
    if (unsent && may_tell(server, &server->told_unsent))
        log_line(LOG_LEVEL_WARNING, "send-failed", "kind=%s error=%d: the peer will ask again",
                 message_kind_name(message->kind), (int)error);
}

void server_refuse(struct server *server, const struct socket_peer *peer, uint64_t request,
                   enum message_refusal code, uint32_t retry_ms, const char *format, ...)
{
    struct message message = {.request = request, .kind = MESSAGE_REFUSED};
    message.refused.code = code;
    message.refused.retry_ms = retry_ms;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.refused.text, sizeof message.refused.text, format, arguments);
    va_end(arguments);
    server_reply(server, peer, &message);
}

uint32_t server_jitter(struct server *server, uint32_t retry_ms)
{
    server->jitter = mix(server->jitter, retry_ms);
    return retry_ms / 2 + mix_below(server->jitter, retry_ms + 1);
}

bool server_submit(struct server *server, struct job *job)
{
    if (job && writer_put(server->writer, job)) {
        server->outstanding++;
        return true;
    }
    if (job && job->peer.id_size) {
        server->counters.busy++;
        server_refuse(server, &job->peer, job->request, MESSAGE_REFUSAL_BUSY,
                      server_jitter(server, SERVER_RETRY_MS), "the writer's queue is full");
    }
    job_destroy(job);
    return false;
}

void server_event(struct server *server, const char *kind, uint64_t experiment, uint64_t session,
                  const char *format, ...)
{
    struct job *job = job_create(JOB_EVENT);
    if (!job)
        return;
    job->event.experiment = experiment;
    job->event.session = session;
    snprintf(job->event.kind, sizeof job->event.kind, "%s", kind);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->event.text, sizeof job->event.text, format, arguments);
    va_end(arguments);
    log_line(LOG_LEVEL_INFO, kind, "experiment=%llu session=%llu %s", (unsigned long long)experiment,
             (unsigned long long)session, job->event.text);
    server_submit(server, job);
}

/* --- experiments --- */

struct server_experiment *server_find_experiment(const struct server *server, uint64_t id)
{
    for (size_t i = 0; i < server->experiment_count; i++)
        if (server->experiments[i]->row.id == id)
            return server->experiments[i];
    return NULL;
}

static bool make_room(struct server *server)
{
    if (server->experiment_count < server->experiment_room)
        return true;
    size_t room = server->experiment_room ? 2 * server->experiment_room : 16;
    struct server_experiment **larger = realloc(server->experiments, room * sizeof *larger);
    if (!larger)
        return false;
    server->experiments = larger;
    server->experiment_room = room;
    return true;
}

static bool is_timed(const struct store_player *player)
{
    return player->limits.time_ms > 0 || player->limits.clock_ms > 0;
}

/* The built-in engine: two runs of a pair are the same by promise, not by hope. */
static bool plays_here(const struct store_player *player)
{
    return message_hash_is_none(player->engine);
}

/* Pairs of it go out from now on. */
static void enter_schedule(struct server *server, const struct store_experiment *row)
{
    if (schedule_add(server->schedule, row->id, row->priority) != 0) {
        log_line(LOG_LEVEL_ERROR, "not-scheduled", "experiment=%llu: too many experiments run",
                 (unsigned long long)row->id);
        return;
    }
    schedule_set_share(server->schedule, row->id, row->share);
    if (!schedule_set_needs(server->schedule, row->id, row->tags, is_timed(&row->a) || is_timed(&row->b)))
        log_line(LOG_LEVEL_ERROR, "no-memory", "experiment=%llu: its tags are not seen to",
                 (unsigned long long)row->id);
}

void server_move_prefix(struct server *server, struct server_experiment *experiment, uint64_t prefix)
{
    experiment->prefix = prefix;
    if (experiment->furthest < prefix + server->options.window)
        experiment->furthest = prefix + server->options.window;
}

static void open_for_work(struct server *server, struct server_experiment *experiment)
{
    const struct store_experiment *row = &experiment->row;
    experiment->playable = strcmp(row->a.engine_build, engine_build()) == 0;
    if (!experiment->playable) {
        log_line(
            LOG_LEVEL_WARNING, "not-playable",
            "experiment=%llu needs=\"%s\" here=\"%s\": it waits for a coordinator and workers of that build",
            (unsigned long long)row->id, row->a.engine_build, engine_build());
        return;
    }
    bool timed = is_timed(&row->a) || is_timed(&row->b);
    if (lease_experiment_add(server->leases, row->id, row->planned_pairs, server->options.window,
                             experiment->prefix) != LEASE_OK) {
        log_line(LOG_LEVEL_ERROR, "not-scheduled", "experiment=%llu: too many experiments run",
                 (unsigned long long)row->id);
        return;
    }
    if (row->kind == STORE_TUNE)
        server_tune_open(server, experiment);
    lease_experiment_terms(server->leases, row->id, row->core_cap,
                           !timed && plays_here(&row->a) && plays_here(&row->b));
    if (row->state == STORE_RUNNING)
        enter_schedule(server, row);
    else
        lease_experiment_close(server->leases, row->id);
}

void server_hold_experiment(struct server *server, struct server_experiment *experiment,
                            enum store_state state)
{
    experiment->row.state = state;
    schedule_remove(server->schedule, experiment->row.id);
    lease_experiment_close(server->leases, experiment->row.id);
}

void server_resume_experiment(struct server *server, struct server_experiment *experiment)
{
    experiment->row.state = STORE_RUNNING;
    experiment->setback_worker = 0;
    if (!experiment->playable)
        return;
    if (!experiment->awaiting)
        lease_experiment_reopen(server->leases, experiment->row.id);
    enter_schedule(server, &experiment->row);
}

struct server_experiment *server_add_experiment(struct server *server, const struct store_experiment *row,
                                                uint64_t prefix)
{
    struct server_experiment *experiment = make_room(server) ? calloc(1, sizeof *experiment) : NULL;
    char reason[256];
    if (!experiment)
        return NULL;
    experiment->row = *row;
    server_move_prefix(server, experiment, prefix);
    experiment->ended = row->state == STORE_FINISHED || row->state == STORE_STOPPED;
    if (referee_init(&experiment->referee, &experiment->row, reason, sizeof reason) != 0) {
        log_line(LOG_LEVEL_ERROR, "no-referee", "experiment=%llu reason=\"%s\"", (unsigned long long)row->id,
                 reason);
        free(experiment);
        return NULL;
    }
    server->experiments[server->experiment_count++] = experiment;
    if (!experiment->ended)
        open_for_work(server, experiment);
    return experiment;
}

void server_forget_experiment(struct server *server, uint64_t id)
{
    for (size_t i = 0; i < server->experiment_count; i++) {
        struct server_experiment *experiment = server->experiments[i];
        if (experiment->row.id != id)
            continue;
        server_end_experiment(server, experiment);
        audit_drop(server->audits, id);
        referee_done(&experiment->referee);
        free(experiment);
        server->experiments[i] = server->experiments[--server->experiment_count];
        break;
    }
    server->unknown[server->unknown_next++ % SERVER_UNKNOWN_MAX] = id;
}

void server_end_experiment(struct server *server, struct server_experiment *experiment)
{
    if (experiment->ended)
        return;
    experiment->ended = true;
    server->hooks_due = server->hooks_due || experiment->row.on_finish[0] != '\0';
    schedule_remove(server->schedule, experiment->row.id);
    lease_experiment_remove(server->leases, experiment->row.id);
    audit_drop(server->audits, experiment->row.id);
    log_line(LOG_LEVEL_INFO, "experiment-ended", "experiment=%llu pairs=%llu",
             (unsigned long long)experiment->row.id, (unsigned long long)experiment->prefix);
}

/* --- start --- */

static void restore_experiment(struct server *server, const struct writer_experiment *start)
{
    struct server_experiment *experiment = server_add_experiment(server, &start->experiment, start->prefix);
    if (experiment && start->players)
        server_tune_take(server, experiment, start->players);
}

void server_end_leases(struct server *server, const uint64_t *ids, size_t count, enum store_lease_state state)
{
    struct job *job = count ? job_create(JOB_LEASES_END) : NULL;
    if (!job)
        return;
    job->leases_end.ids = malloc(count * sizeof *job->leases_end.ids);
    job->leases_end.state = state;
    if (job->leases_end.ids) {
        memcpy(job->leases_end.ids, ids, count * sizeof *ids);
        job->leases_end.count = count;
    }
    server_submit(server, job);
}

enum { LEASES_AT_ONCE = 64 };
static void end_leases(struct server *server, const struct lease *leases, size_t count,
                       enum store_lease_state state)
{
    uint64_t ids[LEASES_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        ids[i] = leases[i].id;
    server_end_leases(server, ids, count, state);
}

/* Those of a worker that is set aside end here. */
static bool is_flagged(const struct server *server, uint64_t session)
{
    const struct session *known = roster_find(server->roster, session);
    return known && server_flag_of(server, known);
}

static void restore_leases(struct server *server, const struct store_lease *leases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct store_lease *row = &leases[i];
        bool open = !row->ended && !is_flagged(server, row->session);
        struct lease lease = {
            .id = row->id,
            .experiment = row->experiment,
            .session = row->session,
            .first = row->first_pair,
            .count = row->pair_count,
            .attempt = row->attempt,
        };
        enum lease_status status = lease_restore(server->leases, &lease, open, server->now_ms);
        struct server_experiment *experiment = server_find_experiment(server, row->experiment);
        if (experiment && experiment->furthest < row->first_pair + row->pair_count)
            experiment->furthest = row->first_pair + row->pair_count;
        if (status == LEASE_OK)
            continue;
        log_line(LOG_LEVEL_INFO, "lease-not-restored", "lease=%llu reason=\"%s\"",
                 (unsigned long long)row->id, lease_status_text(status));
        if (!row->ended)
            end_leases(server, &lease, 1, STORE_LEASE_EXPIRED);
    }
}

/* Experiments first, then leases, then what is finished beyond the prefix: the order that lease.h asks for.
 */
static void restore(struct server *server, struct writer_start *start)
{
    for (size_t i = 0; i < start->experiment_count; i++)
        restore_experiment(server, &start->experiments[i]);
    restore_leases(server, start->leases, start->lease_count);
    for (size_t i = 0; i < start->experiment_count; i++) {
        struct server_experiment *experiment =
            server_find_experiment(server, start->experiments[i].experiment.id);
        if (!experiment)
            continue;
        server_audit_want(server, experiment->row.id, &start->experiments[i].again);
        experiment->awaiting = start->experiments[i].awaiting;
        if (experiment->awaiting)
            lease_experiment_close(server->leases, experiment->row.id);
    }
    for (size_t i = 0; i < start->experiment_count; i++)
        for (size_t j = 0; j < start->experiments[i].complete_count; j++)
            lease_done(server->leases, start->experiments[i].experiment.id, start->experiments[i].complete[j],
                       0, server->now_ms, NULL);
    log_line(LOG_LEVEL_INFO, "resumed", "experiments=%zu leases=%zu", start->experiment_count,
             start->lease_count);
}

void server_reload(struct server *server, const struct job_reload *reload)
{
    struct server_experiment *experiment = server_find_experiment(server, reload->experiment);
    if (!experiment && !reload->ended)
        experiment = server_add_experiment(server, &reload->row, reload->prefix);
    if (!experiment || (experiment->ended && reload->ended))
        return;
    if (experiment->ended) { /* its verdict was withdrawn, and somebody let it go on */
        experiment->ended = false;
        experiment->row.state = reload->row.state;
    }
    schedule_remove(server->schedule, reload->experiment);
    lease_experiment_remove(server->leases, reload->experiment);
    audit_drop(server->audits, reload->experiment);
    server_move_prefix(server, experiment, reload->prefix);
    experiment->awaiting = reload->awaiting;
    experiment->waived = 0;
    if (reload->ended) {
        server_end_experiment(server, experiment);
        return;
    }
    open_for_work(server, experiment);
    restore_leases(server, reload->leases, reload->lease_count);
    for (size_t i = 0; i < reload->complete_count; i++)
        lease_done(server->leases, reload->experiment, reload->complete[i], 0, server->now_ms, NULL);
    server_audit_want(server, reload->experiment, &reload->again);
    if (experiment->awaiting)
        lease_experiment_close(server->leases, reload->experiment);
    log_line(LOG_LEVEL_INFO, "counted-anew", "experiment=%llu prefix=%llu",
             (unsigned long long)reload->experiment, (unsigned long long)reload->prefix);
}

static bool admit(void *context, const char public_key_z85[KEYS_TEXT])
{
    struct server *server = context;
    bool admitted = allowlist_admits(&server->allowlist, public_key_z85);
    if (!admitted && may_tell(server, &server->told_keys))
        log_line(LOG_LEVEL_WARNING, "key-refused",
                 "key=%s: not listed; `kroo key allow NAME %s --role worker`", public_key_z85,
                 public_key_z85);
    return admitted;
}

/* Beyond its ration, and beyond what is answered of that. */
static bool is_spent(void *context, const struct socket_peer *peer)
{
    const struct server *server = context;
    return ration_is_spent(server->rations, ration_peer(peer->id, peer->id_size), server->now_ms);
}

static int create_books(struct server *server, uint64_t next_lease, char *reason, size_t reason_size)
{
    struct lease_policy policy = lease_policy_default();
    policy.term_ms = server->options.term_ms;
    server->roster = roster_create();
    server->schedule = schedule_create();
    server->leases = lease_book_create(&policy, next_lease);
    server->numbers_end = next_lease + JOB_NUMBERS_COUNT;
    server->audits = audit_book_create(server->options.term_ms);
    server->rations = ration_create(server->options.peer_rate);
    if (server->rations && server->roster && server->schedule && server->leases && server->audits)
        return 0;
    snprintf(reason, reason_size, "no memory for the books");
    return -1;
}

static int open_server(struct server *server, int wake, atomic_bool *stop, char *reason, size_t reason_size)
{
    const struct server_options *options = &server->options;
    struct writer_start start;
    const struct writer_waiting waiting = {server_metrics_waiting, server};
    server->writer = writer_create(options->conninfo, options->allow_unsafe, options->term_ms, wake, stop,
                                   &waiting, &start, reason, reason_size);
    if (!server->writer)
        return -1;
    server->now_ms = server->started_ms = progress_now_ms();
    int outcome = create_books(server, start.next_lease, reason, reason_size);
    if (outcome == 0) {
        restore(server, &start);
        server_take_answer(server, start.peers);
        start.peers = NULL;
    }
    writer_start_done(&start);
    if (outcome == 0) {
        server->router = router_create(options->endpoints, options->endpoint_count, options->keys, admit,
                                       server, reason, reason_size);
        outcome = server->router ? 0 : -1;
    }
    if (outcome == 0)
        router_discard_by(server->router, is_spent, server);
    for (size_t i = 0; outcome == 0 && router_endpoint(server->router, i); i++)
        log_line(LOG_LEVEL_INFO, "listening", "endpoint=%s build=\"%s\"", router_endpoint(server->router, i),
                 engine_build());
    return outcome;
}

static void close_server(struct server *server)
{
    exporter_destroy(server->exporter);
    router_destroy(server->router);
    writer_destroy(server->writer, 1000);
    herald_destroy(server->herald);
    roster_destroy(server->roster);
    schedule_destroy(server->schedule);
    lease_book_destroy(server->leases);
    audit_book_destroy(server->audits);
    ration_destroy(server->rations);
    free(server->flags);
    allowlist_done(&server->allowlist);
    for (size_t i = 0; i < server->experiment_count; i++) {
        referee_done(&server->experiments[i]->referee);
        tune_book_destroy(server->experiments[i]->players);
        free(server->experiments[i]);
    }
    free(server->experiments);
    for (size_t i = 0; i < SERVER_ARTIFACTS_MAX; i++)
        free(server->artifacts[i].content);
}

/* --- messages --- */

static void serve_session(struct server *server, struct session *session, struct message *message)
{
    switch (message->kind) {
    case MESSAGE_LEASE_REQUEST:
        server_lease_request(server, session, message);
        break;
    case MESSAGE_RESULTS:
        server_results(server, session, message);
        break;
    case MESSAGE_PROGRESS:
        server_progress(server, session, message);
        break;
    case MESSAGE_RELEASE:
        server_release(server, session, message);
        break;
    case MESSAGE_ARTIFACT_REQUEST:
        server_artifact_request(server, session, message);
        break;
    case MESSAGE_SEALS_REQUEST:
        server_seals_request(server, session, message);
        break;
    case MESSAGE_CREATE_EXPERIMENT:
        server_create(server, session, message);
        break;
    case MESSAGE_STOP_EXPERIMENT:
        server_stop(server, session, message);
        break;
    case MESSAGE_CONTROL_EXPERIMENT:
        server_control(server, session, message);
        break;
    case MESSAGE_PROMOTE_WEIGHTS:
        server_promote(server, session, message);
        break;
    case MESSAGE_STATUS_REQUEST:
        server_status(server, session, message);
        break;
    default:
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_MALFORMED, 0,
                      "%s is not for a coordinator", message_kind_name(message->kind));
    }
}

/* Whether a message is within its peer's ration; refused with the time to wait where it is not. */
static bool is_rationed(struct server *server, const struct socket_peer *peer, const struct message *message)
{
    uint32_t retry_ms;
    enum ration_verdict verdict =
        ration_take(server->rations, ration_peer(peer->id, peer->id_size), server->now_ms, &retry_ms);
    if (verdict == RATION_SERVE)
        return true;
    server->counters.noisy++;
    if (may_tell(server, &server->told_noise)) {
        const struct session *session = roster_find_peer(server->roster, peer);
        log_line(
            LOG_LEVEL_WARNING, "peer-noisy",
            "peer=%s name=%s message=%s: more than %u messages a second; refused, and beyond that dropped",
            allowlist_name(&server->allowlist, peer->user), session ? session->name : "?",
            message_kind_name(message->kind), server->options.peer_rate);
    }
    if (verdict == RATION_REFUSE)
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_BUSY, retry_ms,
                      "more than %u messages a second came over this connection: wait for answers",
                      server->options.peer_rate);
    return false;
}

static void serve(struct server *server, const struct socket_peer *peer, struct message *message)
{
    if (!is_rationed(server, peer, message))
        return;
    if (!allowlist_admits(&server->allowlist, peer->user)) {
        server->counters.not_allowed++;
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_NOT_ALLOWED, 0,
                      "this key is not allowed (any more)");
        return;
    }
    if (message->kind == MESSAGE_HELLO) {
        server_hello(server, peer, message);
        return;
    }
    struct session *session = roster_find_peer(server->roster, peer);
    if (!session || strcmp(session->peer.user, peer->user) != 0) {
        server->counters.say_hello++;
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_SAY_HELLO, 0,
                      "not known here: say HELLO, then send again what was not acknowledged");
        return;
    }
    if (!allowlist_allows_role(&server->allowlist, peer->user, session->role)) {
        server->counters.not_allowed++;
        server_refuse(server, peer, message->request, MESSAGE_REFUSAL_NOT_ALLOWED, 0,
                      "this key may not be a %s any more: `kroo key ls` shows its role",
                      session->role == MESSAGE_ROLE_WORKER ? "worker" : "user");
        return;
    }
    session->heard_ms = server->now_ms;
    serve_session(server, session, message);
}

static void receive_some(struct server *server)
{
    for (int i = 0; i < SERVER_MESSAGES_A_TURN; i++) {
        struct socket_peer peer;
        struct message message = {0};
        char reason[256] = "";
        enum socket_error error = router_receive(server->router, &peer, &message, reason, sizeof reason);
        if (error == SOCKET_ERROR_AGAIN || error == SOCKET_ERROR_SYSTEM)
            return;
        if (error == SOCKET_OK)
            serve(server, &peer, &message);
        else if (allowlist_admits(&server->allowlist, peer.user) && is_rationed(server, &peer, &message))
            server_refuse(server, &peer, message.request, MESSAGE_REFUSAL_MALFORMED, 0, "%s", reason);
        message_done(&message);
    }
}

/* --- the clock --- */

static void expire_leases(struct server *server)
{
    struct lease lapsed[LEASES_AT_ONCE];
    size_t count;
    do {
        count = lease_expire(server->leases, server->now_ms, lapsed, LEASES_AT_ONCE);
        for (size_t i = 0; i < count; i++) {
            server_note_lapse(server, lapsed[i].session);
            log_line(
                LOG_LEVEL_WARNING, "lease-lapsed",
                "lease=%llu experiment=%llu first=%llu left=%u session=%llu: no progress; going out again",
                (unsigned long long)lapsed[i].id, (unsigned long long)lapsed[i].experiment,
                (unsigned long long)lapsed[i].first, lapsed[i].left, (unsigned long long)lapsed[i].session);
        }
        server->counters.expired += count;
        end_leases(server, lapsed, count, STORE_LEASE_EXPIRED);
    } while (count == LEASES_AT_ONCE);
}

void server_session_leases_end(struct server *server, uint64_t session)
{
    struct lease released[LEASES_AT_ONCE];
    size_t count;
    do {
        count = lease_session_end(server->leases, session, released, LEASES_AT_ONCE);
        end_leases(server, released, count, STORE_LEASE_RELEASED);
    } while (count == LEASES_AT_ONCE);
    server_audit_session_end(server, session);
}

static void end_session(struct server *server, struct session *session)
{
    server_session_leases_end(server, session->id);
    struct job *job = session->stored ? job_create(JOB_SESSION_END) : NULL;
    if (job) {
        job->session = session->id;
        server_submit(server, job);
    }
    roster_remove(server->roster, session);
}

static void forget_if_silent(void *context, struct session *session)
{
    struct server *server = context;
    struct lease_session_view view = {0};
    lease_session_find(server->leases, session->id, &view);
    if (view.leases == 0 && server->now_ms - session->heard_ms > SERVER_SESSION_SILENT_MS)
        end_session(server, session);
}

static void tick(struct server *server)
{
    server->last_tick_ms = server->now_ms;
    expire_leases(server);
    server_audit_tick(server);
    roster_each(server->roster, forget_if_silent, server);
    server_tend_hooks(server);
}

static void store_fault(struct server *server, struct session *session, const struct message_release *release)
{
    static const char *const kinds[] = {[MESSAGE_FAULT_START] = "start",
                                        [MESSAGE_FAULT_SELF_TEST] = "self-test",
                                        [MESSAGE_FAULT_BUILD] = "build",
                                        [MESSAGE_FAULT_OVERTIME] = "overtime",
                                        [MESSAGE_FAULT_UNSIGNED] = "unsigned"};
    const struct message_fault *fault = &release->fault;
    server->counters.unsigned_engines += fault->kind == MESSAGE_FAULT_UNSIGNED;
    bool known = server_find_experiment(server, fault->experiment) != NULL;
    struct job *job = known && server_may_report(server, session) ? job_create(JOB_FAULT) : NULL;
    if (!job)
        return;
    job->fault.row = (struct store_fault){.experiment = fault->experiment,
                                          .session = session->id,
                                          .side = "\0ab"[fault->side],
                                          .has_game = fault->kind == MESSAGE_FAULT_START ||
                                                      fault->kind == MESSAGE_FAULT_OVERTIME,
                                          .pair = fault->pair,
                                          .leg = (uint8_t)fault->leg,
                                          .attempt = fault->attempt,
                                          .moves = job->fault.moves};
    memcpy(job->fault.moves, fault->moves, sizeof job->fault.moves);
    snprintf(job->fault.row.kind, sizeof job->fault.row.kind, "%s", kinds[fault->kind]);
    snprintf(job->fault.row.why, sizeof job->fault.row.why, "%s", release->because);
    server_submit(server, job);
}

/* The experiment of the lease that was given back; 0: it is not this session's. */
static uint64_t release_one(struct server *server, const struct session *session, uint64_t lease)
{
    struct lease released;
    if (lease_release(server->leases, lease, session->id, &released) == LEASE_OK) {
        end_leases(server, &released, 1, STORE_LEASE_RELEASED);
        return released.experiment;
    }
    /* No verdict waits for who gives back what was to be played again. */
    uint64_t experiment = server_audit_released(server, lease, session->id);
    if (experiment)
        server_note_lapse(server, session->id);
    return experiment;
}

void server_release(struct server *server, struct session *session, const struct message *message)
{
    const struct message_release *release = &message->release;
    struct message ack = {.request = message->request, .kind = MESSAGE_RELEASE_ACK};
    for (size_t i = 0; i < release->lease_count; i++) {
        uint64_t experiment = release_one(server, session, release->leases[i]);
        if (release->because[0] && experiment)
            server_take_setback(server, session, experiment, release->because);
    }
    if (release->fault.kind != 0 && session->role == MESSAGE_ROLE_WORKER)
        store_fault(server, session, release);
    server_reply(server, &session->peer, &ack);
    if (release->goodbye) {
        log_line(LOG_LEVEL_INFO, "goodbye", "session=%llu name=%s", (unsigned long long)session->id,
                 session->name);
        end_session(server, session);
    }
}

/* --- the loop --- */

static void take_answers(struct server *server)
{
    for (struct job *job = writer_answers(server->writer), *next; job; job = next) {
        next = job->next;
        job->next = NULL;
        server_take_answer(server, job);
    }
}

static bool finished(const struct server *server, int64_t drain_until_ms)
{
    return server->lost ||
           (server->draining && (server->outstanding == 0 || server->now_ms >= drain_until_ms));
}

static void loop(struct server *server, int wake, atomic_bool *stop, int drain_ms)
{
    int64_t drain_until_ms = INT64_MAX;
    while (!finished(server, drain_until_ms)) {
        bool woken = false;
        enum socket_error ready = router_wait(server->router, wake, SERVER_TICK_MS, &woken);
        double begun_s = metrics_now_s();
        server->now_ms = progress_now_ms();
        if (woken)
            wake_clear(wake);
        take_answers(server);
        server_orders(server);
        server_keys_take(server);
        if (ready == SOCKET_OK)
            receive_some(server);
        if (server->now_ms - server->last_tick_ms >= SERVER_TICK_MS)
            tick(server);
        if (atomic_load(stop) && !server->draining) {
            server->draining = true;
            drain_until_ms = server->now_ms + drain_ms;
            log_line(LOG_LEVEL_INFO, "draining", "outstanding=%zu deadline_ms=%d", server->outstanding,
                     drain_ms);
            server_metrics_draining(server);
        }
        server_metrics_turn(server, begun_s);
    }
}

int server_run(const struct server_options *options, int wake, atomic_bool *stop, int drain_ms, char *reason,
               size_t reason_size)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server) {
        snprintf(reason, reason_size, "no memory");
        return -1;
    }
    server->options = *options;
    server->jitter = (uint64_t)progress_now_ms();
    server->hooks.folder = options->hooks;
    server->hooks_due = true;
    int outcome = server_metrics_open(server, reason, reason_size);
    if (outcome == 0)
        outcome = open_server(server, wake, stop, reason, reason_size);
    if (outcome == 0) {
        server->now_ms = progress_now_ms();
        server_keys_open(server, wake);
        server_tell_reference(server);
        server_metrics_leading(server);
        loop(server, wake, stop, drain_ms);
        if (server->lost) {
            snprintf(reason, reason_size, "the database is led by another coordinator or not ours any more");
            outcome = SERVER_STOOD_DOWN;
        }
    } else if (atomic_load(stop)) {
        outcome = 0;
    }
    close_server(server);
    free(server);
    return outcome;
}
