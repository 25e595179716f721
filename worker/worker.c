#include "worker/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "proto/progress.h"
#include "worker/inside.h"

enum {
    BUSY_TICK_MS = 50,
    IDLE_TICK_MS = 250,
    HEARD_IN_A_TURN = 256,
    STATUS_MS = 60000,
    IDLE_CHANGE_MS = 5000,
    OWN_LOAD_MS = 1000,
};

void worker_options_init(struct worker_options *options)
{
    *options = (struct worker_options){
        .tags = "",
        .credit = WORKER_CREDIT,
        .spool_max = UINT64_C(1) << 30,
        .drain_ms = WORKER_DRAIN_MS,
        .reply_ms = WORKER_REPLY_MS,
        .batch_ms = WORKER_BATCH_MS,
        .move_ms = DIALECT_MOVE_MS,
        .measure_ms = MEASURE_EVERY_MS,
        .backoff_low_ms = BACKOFF_LOW_MS,
        .backoff_high_ms = BACKOFF_HIGH_MS,
    };
}

/* --- made and ended --- */

/* What programs are kept in by, said once: whoever runs strangers' engines wants to know. */
static void tell_confinement(const struct worker *worker)
{
    const char *why;
    confine_hide(worker->options.state);
    enum confine_level level = confine_level(&why);
    log_line(level == CONFINE_NAMESPACES ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "confinement",
             "programs=\"%s\" why=\"%s\"", confine_level_text(level),
             level == CONFINE_NAMESPACES ? "no sockets, no files but their own" : why);
}

static int open_state(struct worker *worker, char *reason, size_t reason_size)
{
    if (folder_open(&worker->folder, worker->options.state, reason, reason_size) != FOLDER_OK)
        return -1;
    struct spool_report report;
    worker->spool = spool_create(worker->folder.spool, worker->options.spool_max, SPOOL_SEGMENT_BYTES,
                                 &report, reason, reason_size);
    if (worker->spool == NULL)
        return -1;
    if (report.torn_bytes + report.damaged_bytes > 0)
        log_line(LOG_LEVEL_WARNING, "spool-torn",
                 "torn_bytes=%" PRIu64 " damaged_bytes=%" PRIu64
                 " next=\"passed over; those pairs are played again when their leases lapse\"",
                 report.torn_bytes, report.damaged_bytes);
    if (report.pairs > 0)
        log_line(LOG_LEVEL_INFO, "spool", "pairs=%zu segments=%zu next=\"sent after the next WELCOME\"",
                 report.pairs, report.segments);
    worker->cache = cache_create(worker->folder.artifacts);
    if (worker->cache == NULL) {
        snprintf(reason, reason_size, "not enough memory");
        return -1;
    }
    worker->files = files_create(&worker->folder, reason, reason_size);
    for (size_t i = 0; worker->files != NULL && i < worker->options.table_count; i++)
        if (files_share_tables(worker->files, worker->options.tables[i], reason, reason_size) != 0)
            return -1;
    if (worker->files != NULL)
        tell_confinement(worker);
    return worker->files == NULL ? -1 : 0;
}

/* --- measuring --- */

static void measure_now(struct worker *worker, int64_t now)
{
    worker->yardstick = yardstick_measure(worker->own.cores);
    measure_done(&worker->measure, now);
    log_line(LOG_LEVEL_INFO, "yardstick", "nodes_per_second=%u spread_percent=%u load_percent=%u",
             worker->yardstick.speed, worker->yardstick.spread_ppm / 10000,
             worker->yardstick.load_ppm / 10000);
}

/* Whoever waits for the news may ask for work at once. */
static void see_to_measuring(struct worker *worker, int64_t now)
{
    if (now - worker->own_noted_ms >= OWN_LOAD_MS) {
        worker->own_noted_ms = now;
        measure_own_note(&worker->own, now, yardstick_cpu_us());
    }
    bool asked = worker->measure.asked;
    if (!measure_is_due(&worker->measure, workload_playing(worker) || prepare_is_busy(worker->prepare), now))
        return;
    measure_now(worker, now);
    if (asked)
        worker->asks[ASK_LEASE].not_before_ms = now;
}

static int open_play(struct worker *worker, char *reason, size_t reason_size)
{
    size_t games = 2 * ((size_t)worker->options.credit + LEASE_PAIRS_MAX);
    int cores[YARDSTICK_CORES_MAX];
    unsigned claimed = worker->options.pin ? yardstick_claim_cores(worker->options.slots, cores) : 0;
    worker->measure =
        (struct measure){.enabled = worker->options.measure, .every_ms = worker->options.measure_ms};
    if (worker->options.measure)
        measure_now(worker, progress_now_ms());
    log_line(LOG_LEVEL_INFO, "pinned", "threads=%u", claimed);
    worker->wake_fd = wake_create();
    worker->tasks = queue_create(sizeof(struct task), games);
    worker->outcomes = queue_create(sizeof(struct outcome), INSIDE_OUTCOMES_MAX);
    if (worker->wake_fd >= 0 && worker->tasks != NULL && worker->outcomes != NULL)
        worker->players = players_create(worker->options.slots, claimed > 0 ? cores : NULL, worker->tasks,
                                         worker->outcomes, worker->wake_fd);
    if (worker->players != NULL)
        worker->prepare =
            prepare_create(worker->folder.engines, (int)worker->options.move_ms, worker->wake_fd);
    if (worker->prepare == NULL) {
        snprintf(reason, reason_size, "cannot start %u play threads: %s; try fewer --slots",
                 worker->options.slots, strerror(errno));
        return -1;
    }
    return 0;
}

struct worker *worker_create(const struct worker_options *options, char *reason, size_t reason_size)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        snprintf(reason, reason_size, "not enough memory");
        return NULL;
    }
    worker->options = *options;
    notary_trust(&worker->notary, &options->trust);
    worker->folder.lock_fd = -1;
    worker->wake_fd = -1;
    worker->batch_pairs_max = INSIDE_BATCH_PAIRS;
    fetch_init(&worker->fetch, ARTIFACT_BYTES_MAX);
    session_init(&worker->session);
    /* A copied state folder must not make two sessions look like one, so the nonce is never stored. */
    if (getrandom(&worker->nonce, sizeof worker->nonce, 0) != (ssize_t)sizeof worker->nonce) {
        snprintf(reason, reason_size, "no random numbers: %s", strerror(errno));
        worker_destroy(worker);
        return NULL;
    }
    backoff_init(&worker->backoff, worker->nonce, options->backoff_low_ms, options->backoff_high_ms);
    if (open_state(worker, reason, reason_size) == 0)
        worker->dealer = dealer_create(options->endpoints, options->endpoint_count, options->keys,
                                       options->server_key, reason, reason_size);
    if (worker->dealer == NULL || open_play(worker, reason, reason_size) != 0) {
        worker_destroy(worker);
        return NULL;
    }
    return worker;
}

void worker_destroy(struct worker *worker)
{
    if (worker == NULL)
        return;
    for (size_t at = 0; at < worker->lease_count; at++)
        atomic_store(&worker->leases[at]->stop, true);
    if (worker->tasks != NULL)
        queue_close(worker->tasks);
    if (worker->outcomes != NULL)
        queue_close(worker->outcomes);
    players_destroy(worker->players);
    prepare_destroy(worker->prepare);
    struct outcome outcome;
    while (worker->outcomes != NULL && queue_try_pop(worker->outcomes, &outcome) == QUEUE_OK)
        outcome_done(&outcome);
    queue_destroy(worker->tasks);
    queue_destroy(worker->outcomes);
    for (size_t at = 0; at < worker->lease_count; at++)
        lease_destroy(worker->leases[at]);
    spool_batch_done(&worker->batch);
    spool_destroy(worker->spool);
    fetch_done(&worker->fetch);
    cache_destroy(worker->cache);
    files_destroy(worker->files);
    dealer_destroy(worker->dealer);
    if (worker->wake_fd >= 0)
        close(worker->wake_fd);
    folder_close(&worker->folder);
    free(worker);
}

/* --- leaving --- */

void worker_signal(struct worker *worker, enum worker_order order)
{
    int before = atomic_load(&worker->order);
    while (before < (int)order && !atomic_compare_exchange_weak(&worker->order, &before, (int)order))
        ;
    wake_ring(worker->wake_fd);
}

/* Of the time to leave, six tenths are for games under way, and a tenth (300 ms at most) for the goodbye. */
static void begin_drain(struct worker *worker, int64_t now)
{
    uint32_t drain_ms = worker->options.drain_ms;
    worker->leaving = LEAVING_DRAIN;
    worker->play_until_ms = now + drain_ms * INT64_C(6) / 10;
    worker->deadline_ms = now + drain_ms;
    worker->goodbye_ms = worker->deadline_ms - (drain_ms / 10 < 300 ? drain_ms / 10 : 300);
    log_line(LOG_LEVEL_INFO, "drain", "within_ms=%u spooled_pairs=%" PRIu64, drain_ms,
             spool_pairs(worker->spool));
    workload_cancel_waiting(worker);
}

static void take_orders(struct worker *worker, int64_t now)
{
    int order = atomic_load(&worker->order);
    if (order == WORKER_ORDER_DRAIN && worker->leaving != LEAVING_DRAIN) {
        begin_drain(worker, now);
    } else if (order == WORKER_ORDER_FINISH && worker->leaving == LEAVING_NOT) {
        worker->leaving = LEAVING_FINISH;
        log_line(LOG_LEVEL_INFO, "finish", "next=\"play what is leased, deliver it, leave\"");
    }
}

static void leave(struct worker *worker, int64_t now)
{
    workload_abandon_all(worker);
    if (spool_pairs(worker->spool) > 0)
        log_line(LOG_LEVEL_INFO, "spooled",
                 "pairs=%" PRIu64 " next=\"they go out when a worker starts with this state\"",
                 spool_pairs(worker->spool));
    if (worker->session.state == SESSION_READY && worker->leaving != LEAVING_DRAIN)
        worker->deadline_ms = now + worker->options.reply_ms; /* for the goodbye alone */
    conversation_step(worker, SESSION_EVENT_LEAVE, now);
}

static void see_to_leaving(struct worker *worker, int64_t now)
{
    if (worker->leaving == LEAVING_NOT || worker->session.state == SESSION_OVER)
        return;
    if (worker->session.state == SESSION_LEAVING) {
        if (now >= worker->deadline_ms)
            conversation_step(worker, SESSION_EVENT_LEAVE, now);
        return;
    }
    bool draining = worker->leaving == LEAVING_DRAIN;
    if (draining && now >= worker->play_until_ms && workload_playing(worker))
        workload_abandon_all(worker);
    bool delivered = !workload_playing(worker) && worker->stuck == NULL && spool_pairs(worker->spool) == 0;
    if (delivered || (draining && now >= worker->goodbye_ms))
        leave(worker, now);
}

/* Without a WELCOME for too long, where the user set a limit. */
static void see_to_connection(struct worker *worker, int64_t now)
{
    bool apart = worker->session.state == SESSION_APART || worker->session.state == SESSION_GREETING;
    if (!apart || worker->options.connect_timeout_ms == 0 ||
        now - worker->apart_ms < (int64_t)worker->options.connect_timeout_ms)
        return;
    char trouble[320];
    conversation_trouble(worker, trouble, sizeof trouble);
    log_line(LOG_LEVEL_ERROR, "no-connection", "after_ms=%u why=\"%s\" next=\"exit; spooled results stay\"",
             worker->options.connect_timeout_ms, trouble);
    worker->status = WORKER_NO_CONNECTION;
    conversation_step(worker, SESSION_EVENT_LEAVE, now);
}

/* --- what people see --- */

void worker_idle(struct worker *worker, const char *why, int64_t now)
{
    int64_t since = now - worker->idle_told_ms;
    worker->idle_news |= strcmp(worker->idle, why) != 0;
    snprintf(worker->idle, sizeof worker->idle, "%s", why);
    if (workload_playing(worker) ||
        (worker->idle_told_ms != 0 && since < (worker->idle_news ? IDLE_CHANGE_MS : STATUS_MS)))
        return;
    worker->idle_told_ms = now;
    worker->idle_news = false;
    log_line(LOG_LEVEL_INFO, "idle", "why=\"%s\"", why);
}

static void tell_status(struct worker *worker, int64_t now)
{
    bool playing = workload_playing(worker);
    if (playing || spool_pairs(worker->spool) > 0 || worker->session.state != SESSION_READY)
        worker->busy_ms = now;
    if (now - worker->status_told_ms < STATUS_MS)
        return;
    worker->status_told_ms = now;
    log_line(LOG_LEVEL_INFO, "status",
             "state=%s games=%" PRIu64 " games_per_second=%.1f leases=%zu spooled_pairs=%" PRIu64
             " idle=\"%s\"",
             session_state_name(worker->session.state), worker->games_total, worker->games_per_second,
             worker->lease_count, spool_pairs(worker->spool), playing ? "no" : worker->idle);
}

static void see_to_idling(struct worker *worker, int64_t now)
{
    if (worker->options.idle_exit_ms == 0 || worker->leaving != LEAVING_NOT ||
        now - worker->busy_ms < (int64_t)worker->options.idle_exit_ms)
        return;
    log_line(LOG_LEVEL_INFO, "idle-exit", "after_ms=%u", worker->options.idle_exit_ms);
    worker->leaving = LEAVING_FINISH;
}

/* --- the loop --- */

static void sync_spool(struct worker *worker, int64_t now)
{
    char reason[256];
    if (now - worker->synced_ms < INSIDE_SYNC_MS)
        return;
    worker->synced_ms = now;
    if (spool_sync(worker->spool, reason, sizeof reason) != SPOOL_OK)
        log_line(LOG_LEVEL_ERROR, "spool-failed", "why=\"%s\" next=\"tried again in a second\"", reason);
}

static void hear_all(struct worker *worker, int64_t now)
{
    struct message message;
    char reason[256];
    for (int turn = 0; turn < HEARD_IN_A_TURN; turn++) {
        enum socket_error error = dealer_receive(worker->dealer, &message, reason, sizeof reason);
        if (error == SOCKET_ERROR_MALFORMED) {
            log_line(LOG_LEVEL_WARNING, "malformed", "why=\"%s\" next=\"ignored\"", reason);
            continue;
        }
        if (error != SOCKET_OK)
            return;
        conversation_hear(worker, &message, now);
        message_done(&message);
    }
}

static int wait_ms(const struct worker *worker)
{
    bool brisk = workload_playing(worker) || worker->session.state != SESSION_READY ||
                 spool_pairs(worker->spool) > 0 || worker->leaving != LEAVING_NOT;
    return brisk ? BUSY_TICK_MS : IDLE_TICK_MS;
}

bool worker_stands_still(const struct worker *worker)
{
    return worker->threads_still > 0;
}

int worker_run(struct worker *worker)
{
    int64_t now = progress_now_ms();
    worker->apart_ms = worker->busy_ms = worker->collected_ms = worker->status_told_ms = now;
    worker->reconnect_ms = now;
    log_line(LOG_LEVEL_INFO, "start", "name=%s slots=%u credit=%u state=%s", worker->options.name,
             worker->options.slots, worker->options.credit, worker->options.state);
    while (worker->session.state != SESSION_OVER) {
        now = progress_now_ms();
        take_orders(worker, now);
        workload_collect(worker, now);
        workload_watch(worker, now);
        workload_prepared(worker, now);
        see_to_leaving(worker, now);
        see_to_measuring(worker, now);
        conversation_tick(worker, now);
        see_to_connection(worker, now);
        sync_spool(worker, now);
        tell_status(worker, now);
        see_to_idling(worker, now);
        if (worker->session.state == SESSION_OVER)
            break;
        bool woken = false;
        dealer_wait(worker->dealer, worker->wake_fd, wait_ms(worker), &woken);
        if (woken)
            wake_clear(worker->wake_fd);
        hear_all(worker, progress_now_ms());
    }
    sync_spool(worker, worker->synced_ms + INSIDE_SYNC_MS);
    log_line(LOG_LEVEL_INFO, "end", "games=%" PRIu64 " spooled_pairs=%" PRIu64 " status=%d",
             worker->games_total, spool_pairs(worker->spool), worker->status);
    return worker->status;
}
