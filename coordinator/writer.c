#include "coordinator/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/captures.h"
#include "coordinator/round_audit.h"
#include "coordinator/round_flag.h"
#include "engine/build.h"
#include "engine/mix.h"
#include "proto/log.h"
#include "proto/progress.h"
#include "sql/store_audit.h"
#include "sql/store_lead.h"
#include "sql/store_notice.h"

struct writer {
    pthread_t thread;
    struct job_queue questions, answers;
    char conninfo[1024];
    int wake;
    bool allow_unsafe;
    uint32_t term_ms;
    struct store_leadership leadership; /* epoch 0: has not led yet */
    atomic_bool give_up;                /* destroy's deadline is over */
    int64_t peers_read_ms;
    bool rechecks_old; /* those that an earlier coordinator has begun are not read yet */
    uint64_t jitter;
    struct round round;
    struct ledger_book book;
    struct job *reports; /* held back until the answers are out */

    pthread_mutex_t mutex; /* for what other threads look at */
    bool up;
    int64_t down_since_ms;
    char down_reason[STORE_TEXT];
    struct writer_counters counters;
    double busy_since_s; /* 0: it waits for work */

    struct writer_waiting waiting; /* of the start */
};

/* --- being up or down --- */

static void note_up(struct writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    bool was_up = writer->up;
    writer->up = true;
    pthread_mutex_unlock(&writer->mutex);
    if (!was_up)
        log_line(LOG_LEVEL_INFO, "database-up", "leading");
}

static void note_down(struct writer *writer, const char *reason, int64_t retry_ms)
{
    pthread_mutex_lock(&writer->mutex);
    if (writer->up || !writer->down_since_ms)
        writer->down_since_ms = progress_now_ms();
    writer->up = false;
    snprintf(writer->down_reason, sizeof writer->down_reason, "%s", reason);
    pthread_mutex_unlock(&writer->mutex);
    log_line(LOG_LEVEL_WARNING, "database-down",
             "reason=\"%s\" retry_ms=%lld: what is unacknowledged is kept", reason, (long long)retry_ms);
}

bool writer_is_up(struct writer *writer, char *reason, size_t reason_size)
{
    pthread_mutex_lock(&writer->mutex);
    bool up = writer->up;
    if (!up && reason)
        snprintf(reason, reason_size, "the database has been away for %lld s: %.200s",
                 (long long)(progress_now_ms() - writer->down_since_ms) / 1000, writer->down_reason);
    pthread_mutex_unlock(&writer->mutex);
    return up;
}

/* --- connecting --- */

enum try_outcome {
    TRY_LEADS,
    TRY_AGAIN,   /* the database is away */
    TRY_WAITS,   /* another leads, or this is a replica */
    TRY_LOST,    /* another has led since: all that is known here is old */
    TRY_REFUSED, /* never */
};

/* On a connection that is new: for the first time, or again if what is in memory still holds. */
static enum try_outcome take_lead(struct writer *writer, struct store *store)
{
    bool lost = false;
    enum store_error error =
        writer->leadership.epoch == 0
            ? store_lead_begin(store, engine_build(), writer->term_ms, &writer->leadership)
            : store_lead_again(store, &writer->leadership, writer->term_ms, &lost);
    if (error == STORE_OK)
        return TRY_LEADS;
    if (writer->leadership.timeline == 0)
        writer->leadership = (struct store_leadership){0};
    return lost ? TRY_LOST : error == STORE_ERROR_LEADER ? TRY_WAITS : TRY_AGAIN;
}

static enum try_outcome try_lead(struct writer *writer, char *reason, size_t reason_size)
{
    struct store *store =
        store_open(writer->conninfo, "kroo_coordinator", "kroo-coordinator", reason, reason_size);
    if (!store)
        return TRY_AGAIN;
    enum store_error error = store_check_schema(store);
    enum try_outcome outcome = error == STORE_OK              ? TRY_LEADS
                               : error == STORE_ERROR_VERSION ? TRY_REFUSED
                                                              : TRY_AGAIN;
    if (outcome == TRY_LEADS && !writer->allow_unsafe && store_is_unsafe(store, reason, reason_size)) {
        store_close(store);
        return TRY_REFUSED;
    }
    if (outcome == TRY_LEADS)
        outcome = take_lead(writer, store);
    if (outcome != TRY_LEADS) {
        snprintf(reason, reason_size, "%s", store_reason(store));
        store_close(store);
        return outcome;
    }
    writer->round.store = store;
    return TRY_LEADS;
}

static int64_t backoff_ms(struct writer *writer, int attempt)
{
    int64_t ceiling = attempt < 6 ? 200LL << attempt : WRITER_BACKOFF_MAX_MS;
    if (ceiling > WRITER_BACKOFF_MAX_MS)
        ceiling = WRITER_BACKOFF_MAX_MS;
    writer->jitter = mix(writer->jitter, (uint64_t)attempt);
    return ceiling / 2 + mix_below(writer->jitter, (uint32_t)(ceiling / 2 + 1));
}

/* Waits without work, but wakes every 50 ms to see whether to stop. */
static bool pause_unless(const atomic_bool *stop, int64_t wait_ms)
{
    int64_t until = progress_now_ms() + wait_ms;
    while (!atomic_load(stop)) {
        int64_t left = until - progress_now_ms();
        if (left <= 0)
            return true;
        struct timespec nap = {.tv_nsec = (left < 50 ? left : 50) * 1000000};
        nanosleep(&nap, NULL);
    }
    return false;
}

/* Only while the caller of writer_create waits: afterwards this is the writer's thread. */
static void tell_waiting(const struct writer *writer, const char *reason)
{
    if (writer->waiting.say)
        writer->waiting.say(writer->waiting.context, reason);
}

/* Until leading (0), stopped (1) or not to lead with what is known here (-1). */
static int lead(struct writer *writer, const atomic_bool *stop, char *reason, size_t reason_size)
{
    char told[STORE_TEXT] = "";
    for (int attempt = 0;; attempt++) {
        enum try_outcome outcome = try_lead(writer, reason, reason_size);
        if (outcome == TRY_LEADS)
            return 0;
        if (outcome == TRY_LOST || outcome == TRY_REFUSED)
            return -1;
        int64_t wait_ms = outcome == TRY_WAITS ? WRITER_STANDBY_MS : backoff_ms(writer, attempt);
        if (outcome != TRY_WAITS || strcmp(told, reason) != 0) /* a long wait for the lead is one line */
            note_down(writer, reason, wait_ms);
        snprintf(told, sizeof told, "%s", reason);
        if (stop != &writer->give_up)
            tell_waiting(writer, reason);
        if (!pause_unless(stop, wait_ms))
            return 1;
    }
}

static void disconnect(struct writer *writer)
{
    store_close(writer->round.store);
    writer->round.store = NULL;
}

/* Puts a list at the end of another; takes it. */
static void hold_back(struct job **list, struct job *jobs)
{
    while (*list)
        list = &(*list)->next;
    *list = jobs;
}

/* The ledgers as the database has them: a commit whose outcome is unknown may have happened. */
static enum store_error reload(struct writer *writer, char text[STORE_TEXT])
{
    struct ledger_book fresh = {0};
    struct round round = {.store = writer->round.store, .book = &fresh};
    enum store_error error = STORE_OK;
    for (size_t i = 0; i < writer->book.count && error == STORE_OK; i++) {
        struct store_experiment experiment;
        error = store_experiment_get(round.store, writer->book.ledgers[i]->experiment.id, &experiment);
        if (error == STORE_OK)
            error = round_load(&round, &experiment, text);
        else if (error == STORE_ERROR_REFUSED)
            error = STORE_OK; /* deleted, by the commit whose outcome was unknown */
        else
            snprintf(text, STORE_TEXT, "%s", store_reason(round.store));
    }
    if (error != STORE_OK) {
        ledger_book_done(&fresh);
        jobs_destroy(round.reports);
        return error;
    }
    ledger_book_done(&writer->book);
    writer->book = fresh;
    hold_back(&writer->reports, round.reports);
    return STORE_OK;
}

/* After a loss of the connection: leads again and reads again. False when the writer must end. */
static bool recover(struct writer *writer, const char *why)
{
    char reason[STORE_TEXT];
    snprintf(reason, sizeof reason, "%s", why);
    for (int attempt = 0;; attempt++) {
        disconnect(writer);
        note_down(writer, reason, 0);
        int outcome = lead(writer, &writer->give_up, reason, sizeof reason);
        if (outcome != 0) {
            if (outcome < 0)
                log_line(LOG_LEVEL_ERROR, "database-refused", "reason=\"%s\"", reason);
            return false;
        }
        if (reload(writer, reason) == STORE_OK)
            break;
        if (!pause_unless(&writer->give_up, backoff_ms(writer, attempt)))
            return false;
    }
    pthread_mutex_lock(&writer->mutex);
    writer->counters.reconnects++;
    pthread_mutex_unlock(&writer->mutex);
    note_up(writer);
    return true;
}

/* --- answers --- */

static void answer(struct writer *writer, struct job *job)
{
    if (!job_queue_put(&writer->answers, job))
        job_destroy(job);
}

static void answer_list(struct writer *writer, struct job *jobs)
{
    while (jobs) {
        struct job *next = jobs->next;
        answer(writer, jobs);
        jobs = next;
    }
    wake_ring(writer->wake);
}

static void note_busy(struct writer *writer, double since_s)
{
    pthread_mutex_lock(&writer->mutex);
    writer->busy_since_s = since_s;
    pthread_mutex_unlock(&writer->mutex);
}

static void count_round(struct writer *writer, const struct job *jobs, double seconds)
{
    pthread_mutex_lock(&writer->mutex);
    writer->counters.commits++;
    histogram_add(&writer->counters.commit, seconds);
    for (const struct job *job = jobs; job; job = job->next) {
        if (job->kind != JOB_RESULTS)
            continue;
        for (size_t i = 0; i < job->results.count; i++) {
            enum store_outcome outcome = job->results.outcome[i];
            writer->counters.games += outcome == STORE_GAME_INSERTED;
            writer->counters.duplicates += outcome == STORE_GAME_DUPLICATE;
            writer->counters.conflicts += outcome == STORE_GAME_CONFLICT;
        }
    }
    pthread_mutex_unlock(&writer->mutex);
}

/* --- rounds --- */

static bool retryable(enum store_error error)
{
    return error == STORE_ERROR_CONNECTION || error == STORE_ERROR_SPACE || error == STORE_ERROR_MEMORY;
}

/* Makes one attempt last until it is not the database's absence that stops it. False: the writer must end. */
static bool survive(struct writer *writer, enum store_error error, const char *text, int attempt)
{
    if (error == STORE_ERROR_CONNECTION)
        return recover(writer, text);
    int64_t wait_ms = backoff_ms(writer, attempt);
    note_down(writer, text, wait_ms);
    return pause_unless(&writer->give_up, wait_ms);
}

/* Commits `jobs` together; when the database refuses the group, one by one, so that a bad job harms only
 * itself. False when the writer must end. */
static bool commit_group(struct writer *writer, struct job *jobs)
{
    for (int attempt = 0;; attempt++) {
        double begun_s = metrics_now_s();
        enum store_error error = round_commit(&writer->round, jobs);
        if (error == STORE_OK) {
            note_up(writer);
            count_round(writer, jobs, metrics_now_s() - begun_s);
            answer_list(writer, writer->round.reports);
            writer->round.reports = NULL;
            return true;
        }
        if (retryable(error)) {
            char text[STORE_TEXT];
            snprintf(text, sizeof text, "%s", jobs->text);
            if (!survive(writer, error, text, attempt))
                return false;
            continue;
        }
        log_line(LOG_LEVEL_WARNING, "commit-refused", "reason=\"%s\"%s", jobs->text,
                 jobs->next ? ": trying its jobs one by one" : "");
        if (!jobs->next)
            return true;
        break;
    }
    while (jobs) {
        struct job *rest = jobs->next;
        jobs->next = NULL;
        bool going = commit_group(writer, jobs);
        jobs->next = rest;
        if (!going)
            return false;
        jobs = rest;
    }
    return true;
}

static int start_experiment(const struct ledger *ledger, struct writer_experiment *out)
{
    uint64_t prefix = tally_prefix(ledger->tally), beyond = tally_beyond(ledger->tally);
    *out = (struct writer_experiment){
        .experiment = ledger->experiment, .prefix = prefix, .awaiting = ledger_awaiting(ledger)};
    if (beyond == 0)
        return 0;
    out->complete = malloc(beyond * sizeof *out->complete);
    if (!out->complete)
        return -1;
    uint64_t seen = 0;
    for (uint64_t pair = prefix; seen < beyond && pair < ledger->experiment.planned_pairs; pair++) {
        seen += tally_has(ledger->tally, pair, 0) + tally_has(ledger->tally, pair, 1);
        /* Those in dispute go out again by themselves (round_replays). */
        if (tally_pair_complete(ledger->tally, pair))
            out->complete[out->complete_count++] = pair;
    }
    return 0;
}

/* What the event loop has to know of an experiment whose games have changed places. */
static enum store_error tell_moved(struct writer *writer, uint64_t id)
{
    struct ledger *ledger = ledger_book_find(&writer->book, id);
    struct job *job = job_create(JOB_RELOAD);
    struct writer_experiment now = {0};
    if (!job || !ledger || start_experiment(ledger, &now) != 0) {
        job_destroy(job);
        return STORE_ERROR_MEMORY;
    }
    struct job_reload *reload = &job->reload;
    *reload = (struct job_reload){.row = ledger->experiment,
                                  .experiment = id,
                                  .prefix = now.prefix,
                                  .awaiting = now.awaiting,
                                  .ended = ledger->ended,
                                  .complete = now.complete,
                                  .complete_count = now.complete_count};
    enum store_error error = store_leases_live(writer->round.store, &reload->leases, &reload->lease_count);
    size_t kept = 0;
    for (size_t i = 0; i < reload->lease_count && error == STORE_OK; i++)
        if (reload->leases[i].experiment == id)
            reload->leases[kept++] = reload->leases[i];
    reload->lease_count = kept;
    if (error == STORE_OK)
        error = round_replays(&writer->round, id, NULL, &reload->again);
    if (error != STORE_OK) {
        job_destroy(job);
        return error;
    }
    answer_list(writer, job);
    return STORE_OK;
}

static bool is_reopening(const struct job *job)
{
    return job->kind == JOB_CONTROL && job->control.step.effect == CONTROL_REOPEN;
}

/* False when the writer must end. */
static bool tell_reopened(struct writer *writer, struct job *job)
{
    char text[STORE_TEXT];
    enum store_error error = tell_moved(writer, job->control.experiment);
    if (error != STORE_ERROR_CONNECTION) {
        if (error != STORE_OK)
            log_line(LOG_LEVEL_ERROR, "not-told", "experiment=%llu: it goes on after a restart",
                     (unsigned long long)job->control.experiment);
        return true;
    }
    snprintf(text, sizeof text, "%s", store_reason(writer->round.store));
    return recover(writer, text) && tell_moved(writer, job->control.experiment) != STORE_ERROR_CONNECTION;
}

static bool run_single(struct writer *writer, struct job *job)
{
    for (int attempt = 0;; attempt++) {
        enum store_error error = round_single(&writer->round, job);
        hold_back(&writer->reports, writer->round.reports);
        writer->round.reports = NULL;
        if (!retryable(error))
            return error != STORE_OK || !is_reopening(job) || tell_reopened(writer, job);
        char text[STORE_TEXT];
        snprintf(text, sizeof text, "%s", job->text);
        job->text[0] = '\0';
        if (!survive(writer, error, text, attempt))
            return false;
    }
}

static bool is_grouped(enum job_kind kind)
{
    return kind <= JOB_EVENT;
}

/* Jobs in the order they came: runs of grouped ones together, the others alone. */
static bool run_jobs(struct writer *writer, struct job *jobs)
{
    bool going = true;
    while (jobs && going) {
        struct job *end = jobs;
        while (is_grouped(jobs->kind) && end->next && is_grouped(end->next->kind))
            end = end->next;
        struct job *rest = end->next;
        end->next = NULL;
        going = is_grouped(jobs->kind) ? commit_group(writer, jobs) : run_single(writer, jobs);
        if (going)
            answer_list(writer, jobs);
        else
            end->next = rest;
        jobs = going ? rest : jobs;
    }
    jobs_destroy(jobs);
    return going;
}

/* The allow-list and the champion as a JOB_PEERS; NULL with the error otherwise. */
static struct job *peers_job(struct writer *writer, enum store_error *error)
{
    struct job *job = job_create(JOB_PEERS);
    *error = job ? store_peers_versioned(writer->round.store, &job->peers.peers, &job->peers.count,
                                         &job->peers.version)
                 : STORE_ERROR_MEMORY;
    if (*error == STORE_OK)
        *error = store_flags(writer->round.store, &job->peers.flags, &job->peers.flag_count);
    if (*error == STORE_OK)
        *error = store_champion(writer->round.store, "main", job->peers.champion, &job->peers.epoch);
    if (*error == STORE_ERROR_REFUSED) {
        job->peers.epoch = 0; /* nothing promoted yet */
        *error = STORE_OK;
    }
    if (*error == STORE_OK) {
        writer->peers_read_ms = progress_now_ms();
        return job;
    }
    job_destroy(job);
    return NULL;
}

/* Who is set aside has been told to the event loop before, so that nothing of theirs comes any more. */
static enum store_error set_games_aside(struct writer *writer)
{
    uint64_t *moved;
    size_t count;
    enum store_error error = round_flag_games(&writer->round, &moved, &count);
    for (size_t i = 0; i < count && error == STORE_OK; i++)
        error = tell_moved(writer, moved[i]);
    free(moved);
    return error;
}

static bool read_peers(struct writer *writer)
{
    enum store_error error = round_flag_workers(&writer->round);
    struct job *job = error == STORE_OK ? peers_job(writer, &error) : NULL, *rechecks = NULL;
    if (job) {
        answer_list(writer, job);
        writer->round.reports = NULL;
        error = round_rechecks(&writer->round, writer->rechecks_old, &rechecks);
        answer_list(writer, rechecks);
        hold_back(&writer->reports, writer->round.reports);
        writer->round.reports = NULL;
        writer->rechecks_old = writer->rechecks_old && error != STORE_OK;
        if (error == STORE_OK)
            error = set_games_aside(writer);
    }
    if (error == STORE_OK)
        return true;
    char text[STORE_TEXT];
    snprintf(text, sizeof text, "%s", store_reason(writer->round.store));
    if (error == STORE_ERROR_CONNECTION)
        return recover(writer, text);
    log_line(LOG_LEVEL_WARNING, "look-failed", "error=%d reason=\"%s\": trying again in a second", (int)error,
             text);
    return true;
}

static void *run(void *context)
{
    struct writer *writer = context;
    bool going = true;
    while (going && !atomic_load(&writer->give_up)) {
        struct job *jobs = job_queue_take(&writer->questions, WRITER_ROUND_BYTES, WRITER_PEERS_MS / 2);
        if (!jobs && job_queue_is_closed(&writer->questions))
            break;
        note_busy(writer, metrics_now_s());
        if (jobs)
            going = run_jobs(writer, jobs);
        if (going && progress_now_ms() - writer->peers_read_ms >= WRITER_PEERS_MS)
            going = read_peers(writer);
        if (writer->reports) {
            answer_list(writer, writer->reports);
            writer->reports = NULL;
        }
        note_busy(writer, 0);
    }
    if (!going && !atomic_load(&writer->give_up)) {
        struct job *job = job_create(JOB_LOST);
        if (job)
            answer_list(writer, job);
    }
    return NULL;
}

/* --- start and end --- */

/* The players of its batches, out of the report that the ledger's reading has left. */
static void start_tune(struct round *round, struct writer_experiment *out)
{
    struct job_report *report = round_report(round, out->experiment.id);
    if (!report)
        return;
    out->players = report->players;
    report->players = NULL;
}

/* Reads what runs: ledgers into the writer, the rest into `start`. */
static enum store_error read_start(struct writer *writer, struct writer_start *start, char text[STORE_TEXT])
{
    struct store *store = writer->round.store;
    struct store_experiment *running = NULL;
    size_t count = 0;
    uint64_t segments = 0;
    *start = (struct writer_start){0};
    enum store_error error = captures_catch_up(store, &segments);
    if (error == STORE_OK)
        error = store_experiments_running(store, &running, &count);
    if (error == STORE_OK)
        error = store_audit_secret(store, writer->round.secret);
    if (error == STORE_OK)
        error = store_replay_leases_drop(store);
    if (error == STORE_OK)
        error = store_leases_live(store, &start->leases, &start->lease_count);
    if (error == STORE_OK)
        error = store_lease_numbers(store, JOB_NUMBERS_COUNT, &start->next_lease);
    if (error == STORE_OK)
        error = store_hooks_lost(store);
    if (error == STORE_OK)
        start->peers = peers_job(writer, &error);
    if (error != STORE_OK)
        snprintf(text, STORE_TEXT, "%s", store_reason(store));
    start->experiments = calloc(count ? count : 1, sizeof *start->experiments);
    if (!start->experiments)
        error = STORE_ERROR_MEMORY;
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        error = round_load(&writer->round, &running[i], text);
        tell_waiting(writer, NULL);
        if (error == STORE_OK &&
            start_experiment(writer->book.ledgers[i], &start->experiments[start->experiment_count++]) != 0)
            error = STORE_ERROR_MEMORY;
        if (error == STORE_OK && writer->book.ledgers[i]->again.count)
            error = round_replays(&writer->round, running[i].id, NULL, &start->experiments[i].again);
        if (error == STORE_OK && running[i].kind == STORE_TUNE)
            start_tune(&writer->round, &start->experiments[i]);
    }
    jobs_destroy(writer->round.reports);
    writer->round.reports = NULL;
    free(running);
    return error;
}

static void writer_experiment_done(struct writer_experiment *experiment)
{
    free(experiment->complete);
    free(experiment->again.pairs);
    tune_book_destroy(experiment->players);
}

void writer_start_done(struct writer_start *start)
{
    for (size_t i = 0; i < start->experiment_count; i++)
        writer_experiment_done(&start->experiments[i]);
    free(start->experiments);
    free(start->leases);
    job_destroy(start->peers);
    *start = (struct writer_start){0};
}

/* Leads and reads; 0, or -1 with the reason. */
static int begin(struct writer *writer, const atomic_bool *stop, struct writer_start *start, char *reason,
                 size_t reason_size)
{
    for (int attempt = 0;; attempt++) {
        writer->leadership = (struct store_leadership){0}; /* everything is read from here on */
        int outcome = lead(writer, stop, reason, reason_size);
        if (outcome != 0)
            return -1;
        char text[STORE_TEXT] = "";
        enum store_error error = read_start(writer, start, text);
        if (error == STORE_OK)
            return 0;
        snprintf(reason, reason_size, "%s", text);
        writer_start_done(start);
        ledger_book_done(&writer->book);
        disconnect(writer);
        if (error != STORE_ERROR_CONNECTION || !pause_unless(stop, backoff_ms(writer, attempt)))
            return -1;
    }
}

static void release(struct writer *writer)
{
    disconnect(writer);
    ledger_book_done(&writer->book);
    jobs_destroy(writer->reports);
    job_queue_done(&writer->questions);
    job_queue_done(&writer->answers);
    pthread_mutex_destroy(&writer->mutex);
    free(writer);
}

struct writer *writer_create(const char *conninfo, bool allow_unsafe, uint32_t term_ms, int wake,
                             atomic_bool *stop, const struct writer_waiting *waiting,
                             struct writer_start *start, char *reason, size_t reason_size)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        snprintf(reason, reason_size, "no memory");
        return NULL;
    }
    snprintf(writer->conninfo, sizeof writer->conninfo, "%s", conninfo);
    writer->wake = wake;
    writer->allow_unsafe = allow_unsafe;
    writer->term_ms = term_ms;
    if (waiting)
        writer->waiting = *waiting;
    writer->rechecks_old = true;
    writer->jitter = (uint64_t)progress_now_ms();
    writer->round = (struct round){.book = &writer->book};
    pthread_mutex_init(&writer->mutex, NULL);
    job_queue_init(&writer->questions, WRITER_QUEUE_JOBS, WRITER_QUEUE_BYTES);
    job_queue_init(&writer->answers, 0, 0);
    if (begin(writer, stop, start, reason, reason_size) != 0) {
        release(writer);
        return NULL;
    }
    note_up(writer);
    if (pthread_create(&writer->thread, NULL, run, writer) != 0) {
        snprintf(reason, reason_size, "cannot start the writer's thread");
        writer_start_done(start);
        release(writer);
        return NULL;
    }
    return writer;
}

void writer_destroy(struct writer *writer, int deadline_ms)
{
    if (!writer)
        return;
    job_queue_close(&writer->questions);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += deadline_ms / 1000;
    if (pthread_clockjoin_np(writer->thread, NULL, CLOCK_MONOTONIC, &until) != 0) {
        atomic_store(&writer->give_up, true);
        pthread_join(writer->thread, NULL);
    }
    release(writer);
}

bool writer_put(struct writer *writer, struct job *job)
{
    return job_queue_put(&writer->questions, job);
}

struct job *writer_answers(struct writer *writer)
{
    return job_queue_take(&writer->answers, SIZE_MAX, 0);
}

size_t writer_queue_count(struct writer *writer)
{
    return job_queue_count(&writer->questions);
}

struct writer_counters writer_counters(struct writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    struct writer_counters counters = writer->counters;
    counters.busy_s = writer->busy_since_s > 0 ? metrics_now_s() - writer->busy_since_s : 0;
    pthread_mutex_unlock(&writer->mutex);
    return counters;
}
