#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/build.h"
#include "proto/engine_set.h"
#include "proto/progress.h"
#include "worker/bounds.h"
#include "worker/inside.h"

static const char *const ask_names[ASK_KINDS] = {
    [ASK_HELLO] = "HELLO",         [ASK_LEASE] = "LEASE_REQUEST", [ASK_RESULTS] = "RESULTS",
    [ASK_PROGRESS] = "PROGRESS",   [ASK_RELEASE] = "RELEASE",     [ASK_ARTIFACT] = "ARTIFACT_REQUEST",
    [ASK_SEALS] = "SEALS_REQUEST",
};

/* --- the session's steps --- */

static void forget_asks(struct worker *worker)
{
    memset(worker->asks, 0, sizeof worker->asks);
    worker->unsent_ms = worker->lost_ms = 0;
    worker->missed = false;
}

/* What belongs to standing in the new state. */
static void enter_state(struct worker *worker, int64_t now)
{
    switch (worker->session.state) {
    case SESSION_APART:
        forget_asks(worker);
        worker->reconnect_ms = now + backoff_next(&worker->backoff);
        break;
    case SESSION_GREETING:
        forget_asks(worker);
        worker->asks[ASK_HELLO].deadline_ms = now + worker->options.reply_ms;
        break;
    case SESSION_READY:
        forget_asks(worker);
        worker->proved = false;
        worker->heard_ms = now;
        worker->progress_told_ms = now;
        break;
    case SESSION_LEAVING:
        worker->asks[ASK_RELEASE] = (struct ask){0};
        break;
    case SESSION_OVER:
    case SESSION_STATES:
        break;
    }
}

/* Each connection is a new socket: one whose handshake was refused never recovers (libzmq#2329). */
static void connect_again(struct worker *worker)
{
    char reason[256] = "";
    if (worker->socket_used && dealer_reconnect(worker->dealer, reason, sizeof reason) != SOCKET_OK)
        log_line(LOG_LEVEL_WARNING, "reconnect-failed", "why=\"%s\"", reason);
    worker->socket_used = true;
}

void conversation_step(struct worker *worker, enum session_event event, int64_t now)
{
    enum session_state before = worker->session.state;
    if (session_step(&worker->session, event) != 0) {
        log_line(LOG_LEVEL_ERROR, "session-refuses", "state=%s event=%s", session_state_name(before),
                 session_event_name(event));
        return;
    }
    log_line(LOG_LEVEL_DEBUG, "session", "state=%s event=%s next=%s", session_state_name(before),
             session_event_name(event), session_state_name(worker->session.state));
    if (before == SESSION_READY)
        worker->apart_ms = now;
    if (event == SESSION_EVENT_CONNECT)
        connect_again(worker);
    enter_state(worker, now);
}

void conversation_pause_asking(struct worker *worker, uint32_t wait_ms, int64_t now)
{
    int64_t until = now + backoff_jitter(&worker->backoff, wait_ms);
    if (until > worker->asks[ASK_LEASE].not_before_ms)
        worker->asks[ASK_LEASE].not_before_ms = until;
}

static uint32_t bounded_wait(uint32_t retry_ms)
{
    if (retry_ms == 0)
        return INSIDE_RETRY_MS;
    return retry_ms < 60000 ? retry_ms : 60000;
}

/* --- saying --- */

static bool may_ask(const struct worker *worker, enum ask_kind kind, int64_t now)
{
    return !worker->asks[kind].out && now >= worker->asks[kind].not_before_ms;
}

/* Sends a request and notes its deadline. A HELLO keeps the deadline of its greeting. */
static bool ask(struct worker *worker, enum ask_kind kind, struct message *message, int64_t now)
{
    struct ask *asked = &worker->asks[kind];
    message->request = ++worker->last_request;
    enum socket_error error = dealer_send(worker->dealer, message);
    if (error != SOCKET_OK) {
        if (error != SOCKET_ERROR_AGAIN)
            log_line(LOG_LEVEL_ERROR, "send-failed", "message=%s error=%d", ask_names[kind], (int)error);
        asked->not_before_ms = now + 100;
        if (worker->unsent_ms == 0)
            worker->unsent_ms = now;
        return false;
    }
    worker->unsent_ms = 0;
    asked->out = true;
    asked->request = message->request;
    if (kind != ASK_HELLO)
        asked->deadline_ms = now + worker->options.reply_ms;
    return true;
}

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static struct message_bench bench_of(const struct worker *worker, int64_t now)
{
    const struct yardstick *yardstick = &worker->yardstick;
    int64_t ago_ms = yardstick->speed > 0 ? now - worker->measure.measured_ms : 0;
    return (struct message_bench){.speed = yardstick->speed,
                                  .spread_ppm = yardstick->spread_ppm,
                                  .load_ppm = yardstick->load_ppm,
                                  .measured_ms = ago_ms < INT32_MAX ? (uint32_t)ago_ms : INT32_MAX};
}

static void say_hello(struct worker *worker, int64_t now)
{
    struct message message = {.kind = MESSAGE_HELLO};
    message.hello = (struct message_hello){.role = MESSAGE_ROLE_WORKER,
                                           .protocol = MESSAGE_PROTOCOL,
                                           .protocol_min = MESSAGE_PROTOCOL_MIN,
                                           .session_nonce = worker->nonce,
                                           .slots = worker->options.slots,
                                           .credit = worker->options.credit};
    message.hello.bench = bench_of(worker, now);
    snprintf(message.hello.tags, sizeof message.hello.tags, "%s", worker->options.tags);
    snprintf(message.hello.name, sizeof message.hello.name, "%s", worker->options.name);
    snprintf(message.hello.engine_build, sizeof message.hello.engine_build, "%s", engine_build());
    snprintf(message.hello.confinement, sizeof message.hello.confinement, "%s",
             confine_level_text(confine_level(NULL)));
    snprintf(message.hello.architecture, sizeof message.hello.architecture, "%s", engine_set_arch());
    snprintf(message.hello.compiler, sizeof message.hello.compiler, "%s", COMPILER);
    message.hello.wall_ms = progress_wall_ms();
    ask(worker, ASK_HELLO, &message, now);
}

/* Takes the next batch from the spool, made durable first, unless one is under way already. It waits for more
 * only while more is being played. */
static bool batch_ready(struct worker *worker, int64_t now)
{
    if (worker->batch.pairs > 0)
        return true;
    uint64_t pairs = spool_pairs(worker->spool);
    if (pairs == 0 || (pairs < worker->batch_pairs_max &&
                       now - worker->batch_sent_ms < worker->options.batch_ms && workload_playing(worker)))
        return false;
    char reason[256];
    uint64_t lost = spool_lost(worker->spool);
    worker->synced_ms = now;
    if (spool_sync(worker->spool, reason, sizeof reason) != SPOOL_OK ||
        spool_read(worker->spool, worker->batch_pairs_max, INSIDE_BATCH_BYTES, &worker->batch, reason,
                   sizeof reason) != SPOOL_OK) {
        log_line(LOG_LEVEL_ERROR, "spool-failed", "why=\"%s\" next=\"tried again in a second\"", reason);
        worker->asks[ASK_RESULTS].not_before_ms = now + INSIDE_RETRY_MS;
        return false;
    }
    if (spool_lost(worker->spool) > lost)
        log_line(LOG_LEVEL_ERROR, "spool-damaged",
                 "pairs_lost=%" PRIu64 " next=\"their leases lapse and they are played again\"",
                 spool_lost(worker->spool) - lost);
    worker->batch_number++;
    return worker->batch.pairs > 0;
}

static void say_results(struct worker *worker, int64_t now)
{
    if (!may_ask(worker, ASK_RESULTS, now) || !batch_ready(worker, now))
        return;
    struct message message = {.kind = MESSAGE_RESULTS};
    message.results = (struct message_results){
        .batch = worker->batch_number, .games = worker->batch.games, .game_count = 2 * worker->batch.pairs};
    if (ask(worker, ASK_RESULTS, &message, now))
        worker->batch_sent_ms = now;
}

static void say_progress(struct worker *worker, int64_t now)
{
    if (!may_ask(worker, ASK_PROGRESS, now) || now - worker->progress_told_ms < worker->progress_ms)
        return;
    struct message_lease_progress leases[INSIDE_LEASES_MAX];
    size_t count = 0;
    for (size_t at = 0; at < worker->lease_count; at++) {
        struct lease *lease = worker->leases[at];
        if (lease->state == LEASE_OVER)
            continue;
        uint64_t plies = players_plies(worker->players, lease);
        if (players_think(worker->players, lease, worker->progress_told_ms) && plies <= lease->plies_told)
            atomic_fetch_add(&lease->plies,
                             lease->plies_told - plies + 1); /* a long thought is progress, too */
        plies = players_plies(worker->players, lease);
        if (plies > lease->plies_told)
            lease->plies_told = plies;
        leases[count++] = (struct message_lease_progress){
            .lease = lease->id, .plies = lease->plies_told, .pairs_done = lease->done};
    }
    struct message message = {.kind = MESSAGE_PROGRESS, .progress = {.leases = leases, .lease_count = count}};
    if (ask(worker, ASK_PROGRESS, &message, now))
        worker->progress_told_ms = now;
}

static void say_artifact(struct worker *worker, int64_t now)
{
    struct message message = {.kind = MESSAGE_ARTIFACT_REQUEST};
    if (may_ask(worker, ASK_ARTIFACT, now) && fetch_request(&worker->fetch, &message.artifact_request))
        ask(worker, ASK_ARTIFACT, &message, now);
}

static void say_seals(struct worker *worker, int64_t now)
{
    struct message message = {.kind = MESSAGE_SEALS_REQUEST};
    if (may_ask(worker, ASK_SEALS, now) && notary_request(&worker->notary, &message.seals_request))
        ask(worker, ASK_SEALS, &message, now);
}

static void say_release(struct worker *worker, bool goodbye, int64_t now)
{
    if (!may_ask(worker, ASK_RELEASE, now) || (worker->release_count == 0 && !goodbye))
        return;
    struct message message = {.kind = MESSAGE_RELEASE};
    message.release = (struct message_release){
        .leases = worker->releases, .lease_count = worker->release_count, .goodbye = goodbye};
    memcpy(message.release.because, worker->release_because, sizeof message.release.because);
    message.release.fault = worker->release_fault;
    if (!ask(worker, ASK_RELEASE, &message, now))
        return;
    worker->release_because[0] = '\0';
    worker->release_fault = (struct message_fault){0};
    worker->release_count = 0; /* told once; if it is lost, they lapse */
}

static void say_lease_request(struct worker *worker, int64_t now)
{
    const char *reason;
    if (!may_ask(worker, ASK_LEASE, now) || worker->leaving != LEAVING_NOT ||
        measure_holds_work(&worker->measure))
        return;
    uint32_t work_ms, pairs = workload_wanted(worker, &work_ms, &reason);
    if (reason != NULL)
        worker_idle(worker, reason, now);
    if (pairs == 0)
        return;
    struct message message = {.kind = MESSAGE_LEASE_REQUEST};
    message.lease_request =
        (struct message_lease_request){.pairs = pairs,
                                       .pairs_per_minute = (uint32_t)(worker->games_per_second * 30),
                                       .work_ms = work_ms,
                                       .bench = bench_of(worker, now)};
    ask(worker, ASK_LEASE, &message, now);
}

/* --- deadlines --- */

/* With a key, a refused handshake looks much like a silent peer: both are named. */
void conversation_trouble(const struct worker *worker, char *text, size_t size)
{
    const struct keys *keys = worker->options.keys;
    const char *trouble = dealer_trouble(worker->dealer);
    char hint[160] = "";
    if (keys != NULL)
        snprintf(hint, sizeof hint,
                 "; is this key allowed? run `kroo key allow NAME %s --role worker` where the coordinator is",
                 keys->public_key);
    snprintf(text, size, "%s%s", trouble[0] != '\0' ? trouble : "is the coordinator running there?", hint);
}

/* Broken, and not repaired in a moment. Each worker's moment is another: they all lose a coordinator at once.
 */
static bool connection_lost(struct worker *worker, int64_t now)
{
    if (!dealer_is_apart(worker->dealer)) {
        worker->lost_ms = 0;
        return false;
    }
    if (worker->lost_ms == 0)
        worker->lost_ms = now + INSIDE_LOST_MS + backoff_spread(&worker->backoff, INSIDE_LOST_MS);
    return now >= worker->lost_ms;
}

static void greeting_failed(struct worker *worker, int64_t now)
{
    char trouble[320];
    conversation_trouble(worker, trouble, sizeof trouble);
    log_line(LOG_LEVEL_WARNING, "no-answer",
             "endpoint=%s after_ms=%lld why=\"no answer to HELLO: %s\" next=\"a new socket\"",
             dealer_endpoint(worker->dealer),
             (long long)(now - worker->asks[ASK_HELLO].deadline_ms) + worker->options.reply_ms, trouble);
    worker_idle(worker, "no connection to the coordinator", now);
    conversation_step(worker, SESSION_EVENT_SILENCE, now);
}

static void see_to_deadlines(struct worker *worker, int64_t now)
{
    for (int kind = 0; kind < ASK_KINDS; kind++) {
        struct ask *asked = &worker->asks[kind];
        if (!asked->out || now < asked->deadline_ms)
            continue;
        log_line(LOG_LEVEL_WARNING, "unanswered", "message=%s after_ms=%u", ask_names[kind],
                 worker->options.reply_ms);
        asked->out = false;
        worker->missed = true;
    }
    bool unsent = connection_lost(worker, now) ||
                  (worker->unsent_ms != 0 && now - worker->unsent_ms >= worker->options.reply_ms);
    if (unsent || (worker->missed && now - worker->heard_ms >= 2 * (int64_t)worker->options.reply_ms)) {
        log_line(LOG_LEVEL_WARNING, "silence", "%s next=\"connect again\"",
                 unsent ? "the connection is gone" : "nothing was heard of the coordinator");
        conversation_step(worker, SESSION_EVENT_SILENCE, now);
    }
}

static void ready_tick(struct worker *worker, int64_t now)
{
    say_results(worker, now);
    say_progress(worker, now);
    say_artifact(worker, now);
    say_seals(worker, now);
    say_release(worker, false, now);
    say_lease_request(worker, now);
    see_to_deadlines(worker, now);
}

void conversation_tick(struct worker *worker, int64_t now)
{
    switch (worker->session.state) {
    case SESSION_APART:
        if (now >= worker->reconnect_ms)
            conversation_step(worker, SESSION_EVENT_CONNECT, now);
        break;
    case SESSION_GREETING:
        if (may_ask(worker, ASK_HELLO, now))
            say_hello(worker, now);
        if (now >= worker->asks[ASK_HELLO].deadline_ms || connection_lost(worker, now))
            greeting_failed(worker, now);
        break;
    case SESSION_READY:
        ready_tick(worker, now);
        break;
    case SESSION_LEAVING:
        say_release(worker, true, now);
        see_to_deadlines(worker, now);
        break;
    case SESSION_OVER:
    case SESSION_STATES:
        break;
    }
}

/* --- hearing --- */

static void hear_announcement(struct worker *worker, uint64_t epoch, const uint8_t sha256[MESSAGE_HASH])
{
    if (epoch <= worker->announcement)
        return;
    worker->announcement = epoch;
    char hex[ARTIFACT_HEX];
    artifact_hex(sha256, hex);
    bool known = cache_has(worker->cache, sha256);
    log_line(LOG_LEVEL_INFO, "announcement", "epoch=%" PRIu64 " weights=%s here=%s", epoch, hex,
             known ? "yes" : "no");
    if (!known)
        fetch_want(&worker->fetch, sha256, false); /* when the list is full, a lease will ask for it */
}

static void hear_welcome(struct worker *worker, const struct message_welcome *welcome, int64_t now)
{
    if (welcome->protocol < MESSAGE_PROTOCOL_MIN || welcome->protocol > MESSAGE_PROTOCOL) {
        log_line(LOG_LEVEL_ERROR, "barred",
                 "why=\"the coordinator chose protocol %u, this worker speaks %d to %d\"", welcome->protocol,
                 MESSAGE_PROTOCOL_MIN, MESSAGE_PROTOCOL);
        worker->status = WORKER_BARRED;
        conversation_step(worker, SESSION_EVENT_BARRED, now);
        return;
    }
    conversation_step(worker, SESSION_EVENT_WELCOME, now);
    worker->progress_ms = welcome->progress_ms > 0 ? welcome->progress_ms : 5000;
    worker->term_ms = welcome->term_ms;
    prepare_bound(worker->prepare, (int)bounds_still_ms(worker->term_ms, worker->options.move_ms));
    worker->scale_ppm = welcome->scale_ppm;
    log_line(LOG_LEVEL_INFO, "welcome", "session=%" PRIu64 " coordinator=\"%s\" spooled_pairs=%" PRIu64,
             welcome->session, welcome->engine_build, spool_pairs(worker->spool));
    hear_announcement(worker, welcome->announcement, welcome->announced);
}

static const struct message_game *batch_game(const struct worker *worker,
                                             const struct message_game_answer *answer)
{
    for (size_t i = 0; i < 2 * worker->batch.pairs; i++) {
        const struct message_game *game = &worker->batch.games[i];
        if (game->experiment == answer->experiment && game->pair == answer->pair && game->leg == answer->leg)
            return game;
    }
    return NULL;
}

static void set_aside(struct worker *worker, const struct message_game *game, const char *text, bool tell)
{
    char reason[256] = "";
    enum folder_error error = folder_set_aside(&worker->folder, game, text, reason, sizeof reason);
    if (tell)
        log_line(LOG_LEVEL_ERROR, "game-refused",
                 "experiment=%" PRIu64 " pair=%" PRIu64 " leg=%u why=\"%s\" kept=%s %s", game->experiment,
                 game->pair, game->leg, text, error == FOLDER_OK ? worker->folder.refused : "no", reason);
}

static void batch_acknowledged(struct worker *worker)
{
    spool_acknowledge(worker->spool, worker->batch.pairs);
    spool_batch_done(&worker->batch);
    worker->asks[ASK_RESULTS].out = false;
}

static void hear_results_ack(struct worker *worker, const struct message_results_ack *ack)
{
    if (worker->batch.pairs == 0 || ack->batch != worker->batch_number) {
        log_line(LOG_LEVEL_DEBUG, "late-acknowledgement", "batch=%" PRIu64, ack->batch);
        return;
    }
    enum { TOLD_MAX = 10 };
    unsigned conflicts = 0, refused = 0;
    for (size_t i = 0; i < ack->exception_count; i++) {
        const struct message_game_answer *answer = &ack->exceptions[i];
        const struct message_game *game = batch_game(worker, answer);
        if (game == NULL)
            continue;
        if (answer->verdict == MESSAGE_GAME_REFUSED)
            set_aside(worker, game, answer->text, refused++ < TOLD_MAX);
        else if (answer->verdict == MESSAGE_GAME_CONFLICT && conflicts++ < TOLD_MAX)
            log_line(LOG_LEVEL_WARNING, "game-conflict",
                     "experiment=%" PRIu64 " pair=%" PRIu64 " leg=%u why=\"%s\"", game->experiment,
                     game->pair, game->leg, answer->text);
    }
    enum log_level level = ack->duplicates + refused + conflicts > 0 ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
    log_line(level, "acknowledged",
             "batch=%" PRIu64 " pairs=%zu accepted=%u duplicates=%u conflicts=%u refused=%u", ack->batch,
             worker->batch.pairs, ack->accepted, ack->duplicates, conflicts, refused);
    batch_acknowledged(worker);
    worker->batch_pairs_max =
        worker->batch_pairs_max * 2 < INSIDE_BATCH_PAIRS ? worker->batch_pairs_max * 2 : INSIDE_BATCH_PAIRS;
}

/* A whole batch was refused for good: halves find the pair that is to blame. */
static void results_refused(struct worker *worker, const char *text)
{
    if (worker->batch.pairs > 1) {
        log_line(LOG_LEVEL_WARNING, "batch-refused", "pairs=%zu why=\"%s\" next=\"try half of it\"",
                 worker->batch.pairs, text);
        worker->batch_pairs_max = worker->batch.pairs / 2;
        spool_batch_done(&worker->batch);
        return;
    }
    if (worker->batch.pairs == 0)
        return;
    set_aside(worker, &worker->batch.games[0], text, true);
    set_aside(worker, &worker->batch.games[1], text, true);
    batch_acknowledged(worker);
}

static void hear_chunk(struct worker *worker, const struct message_artifact_chunk *chunk, int64_t now)
{
    char reason[256] = "";
    enum fetch_outcome outcome = fetch_chunk(&worker->fetch, chunk, reason, sizeof reason);
    if (outcome == FETCH_MORE)
        return;
    const struct artifact_download *download = &worker->fetch.download;
    if (outcome == FETCH_COMPLETE && cache_store(worker->cache, download->sha256, download->bytes,
                                                 (size_t)download->size, reason, sizeof reason) != CACHE_OK)
        outcome = FETCH_FAILED;
    if (outcome == FETCH_FAILED) {
        workload_artifact_failed(worker, reason, now);
        fetch_end(&worker->fetch);
        return;
    }
    char hex[ARTIFACT_HEX];
    artifact_hex(download->sha256, hex);
    log_line(LOG_LEVEL_INFO, "fetched", "sha256=%s bytes=%" PRIu64, hex, download->size);
    fetch_end(&worker->fetch);
    workload_artifact(worker, now);
}

/* A refusal that concerns this one request. */
static void request_refused(struct worker *worker, enum ask_kind kind, const struct message_refused *refused,
                            int64_t now)
{
    bool later = refused->code == MESSAGE_REFUSAL_UNAVAILABLE || refused->code == MESSAGE_REFUSAL_BUSY;
    uint32_t wait_ms = bounded_wait(refused->retry_ms);
    log_line(later ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "refused", "message=%s why=\"%s\" retry_ms=%u",
             ask_names[kind], refused->text, wait_ms);
    worker->asks[kind].not_before_ms = now + backoff_jitter(&worker->backoff, wait_ms);
    if (kind == ASK_LEASE)
        worker_idle(worker, refused->text, now);
    if (later)
        return;
    if (kind == ASK_RESULTS)
        results_refused(worker, refused->text);
    if (kind == ASK_SEALS) {
        notary_fail(&worker->notary, refused->text);
        workload_prepared(worker, now);
    }
    if (kind == ASK_ARTIFACT && worker->fetch.under_way) {
        workload_artifact_failed(worker, refused->text, now);
        fetch_end(&worker->fetch);
    }
}

static void hear_refused(struct worker *worker, enum ask_kind kind, const struct message_refused *refused,
                         int64_t now)
{
    bool barred = refused->code == MESSAGE_REFUSAL_VERSION || refused->code == MESSAGE_REFUSAL_NOT_ALLOWED ||
                  (kind == ASK_HELLO && refused->code == MESSAGE_REFUSAL_MALFORMED);
    if (barred) {
        log_line(LOG_LEVEL_ERROR, "barred", "message=%s why=\"%s\" next=\"exit; spooled results stay\"",
                 ask_names[kind], refused->text);
        if (worker->session.state != SESSION_LEAVING)
            worker->status = WORKER_BARRED;
        conversation_step(worker, SESSION_EVENT_BARRED, now);
    } else if (kind == ASK_HELLO) {
        log_line(LOG_LEVEL_WARNING, "put-off", "why=\"%s\" retry_ms=%u", refused->text, refused->retry_ms);
        conversation_step(worker, SESSION_EVENT_PUT_OFF, now);
        int64_t told = now + backoff_jitter(&worker->backoff, bounded_wait(refused->retry_ms));
        worker->reconnect_ms = told > worker->reconnect_ms ? told : worker->reconnect_ms;
        worker_idle(worker, refused->text, now);
    } else if (refused->code == MESSAGE_REFUSAL_SAY_HELLO) {
        log_line(LOG_LEVEL_INFO, "stranger", "message=%s next=\"HELLO, then what is not acknowledged again\"",
                 ask_names[kind]);
        bool again = worker->session.state == SESSION_READY && !worker->proved;
        conversation_step(worker, again ? SESSION_EVENT_PUT_OFF : SESSION_EVENT_STRANGER, now);
    } else {
        request_refused(worker, kind, refused, now);
    }
}

static void hear_answer(struct worker *worker, enum ask_kind kind, const struct message *message, int64_t now)
{
    static const enum message_kind expected[ASK_KINDS][2] = {
        [ASK_HELLO] = {MESSAGE_WELCOME, MESSAGE_WELCOME},
        [ASK_LEASE] = {MESSAGE_LEASE_GRANT, MESSAGE_NOTHING},
        [ASK_RESULTS] = {MESSAGE_RESULTS_ACK, MESSAGE_RESULTS_ACK},
        [ASK_PROGRESS] = {MESSAGE_PROGRESS_ACK, MESSAGE_PROGRESS_ACK},
        [ASK_RELEASE] = {MESSAGE_RELEASE_ACK, MESSAGE_RELEASE_ACK},
        [ASK_ARTIFACT] = {MESSAGE_ARTIFACT_CHUNK, MESSAGE_ARTIFACT_CHUNK},
        [ASK_SEALS] = {MESSAGE_SEALS, MESSAGE_SEALS},
    };
    if (message->kind != expected[kind][0] && message->kind != expected[kind][1]) {
        log_line(LOG_LEVEL_WARNING, "wrong-answer", "message=%s answer=%s", ask_names[kind],
                 message_kind_name(message->kind));
        worker->asks[kind].not_before_ms = now + backoff_jitter(&worker->backoff, INSIDE_RETRY_MS);
        return;
    }
    switch (kind) {
    case ASK_HELLO:
        hear_welcome(worker, &message->welcome, now);
        return;
    case ASK_LEASE:
        if (message->kind == MESSAGE_LEASE_GRANT) {
            worker->measure.asked |= message->lease_grant.measure;
            workload_adopt(worker, &message->lease_grant, now);
            break;
        }
        worker->measure.asked |= message->nothing.measure;
        conversation_pause_asking(worker, bounded_wait(message->nothing.retry_ms), now);
        worker_idle(worker, message->nothing.because, now);
        break;
    case ASK_RESULTS:
        hear_results_ack(worker, &message->results_ack);
        break;
    case ASK_PROGRESS:
        workload_drop(worker, message->progress_ack.dropped, message->progress_ack.dropped_count);
        hear_announcement(worker, message->progress_ack.announcement, message->progress_ack.announced);
        break;
    case ASK_RELEASE:
        if (worker->session.state == SESSION_LEAVING)
            conversation_step(worker, SESSION_EVENT_RELEASED, now);
        break;
    case ASK_ARTIFACT:
        hear_chunk(worker, &message->artifact_chunk, now);
        break;
    case ASK_SEALS:
        if (notary_hear(&worker->notary, &message->seals))
            workload_prepared(worker, now);
        break;
    case ASK_KINDS:
        break;
    }
    worker->proved = true;
    backoff_reset(&worker->backoff);
}

/* Answers that came after their deadline, and still mean something. */
static void hear_late(struct worker *worker, const struct message *message, int64_t now)
{
    bool unread =
        message->kind == MESSAGE_REFUSED && message->request == 0; /* it could not read our number */
    if (unread && worker->asks[ASK_HELLO].out && message->refused.code == MESSAGE_REFUSAL_MALFORMED)
        hear_refused(worker, ASK_HELLO, &message->refused, now);
    else if (message->kind == MESSAGE_LEASE_GRANT && worker->session.state == SESSION_READY)
        workload_adopt(worker, &message->lease_grant, now);
    else if (message->kind == MESSAGE_RESULTS_ACK)
        hear_results_ack(worker, &message->results_ack);
    else if (unread)
        log_line(LOG_LEVEL_WARNING, "refused", "message=unknown why=\"%s\"", message->refused.text);
    else
        log_line(LOG_LEVEL_DEBUG, "late-answer", "answer=%s", message_kind_name(message->kind));
}

void conversation_hear(struct worker *worker, const struct message *message, int64_t now)
{
    worker->heard_ms = now;
    worker->missed = false;
    for (int kind = 0; kind < ASK_KINDS; kind++) {
        struct ask *asked = &worker->asks[kind];
        if (!asked->out || asked->request != message->request)
            continue;
        asked->out = false;
        if (message->kind == MESSAGE_REFUSED)
            hear_refused(worker, (enum ask_kind)kind, &message->refused, now);
        else
            hear_answer(worker, (enum ask_kind)kind, message, now);
        return;
    }
    hear_late(worker, message, now);
}
