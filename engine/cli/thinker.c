#include "engine/cli/thinker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct helper {
    struct thinker *thinker;
    struct search *search;
    pthread_t thread;
    bool started;
};

/* `lock` guards thinking, held and task.ponder; the rest changes only while nothing thinks. */
struct thinker {
    struct search *search;
    struct helper helpers[THINKER_THREADS_MAX - 1];
    int helper_count;
    struct thinker_task task;
    struct search_clock clock;
    pthread_t thread;
    bool started; /* the thread is to be joined */
    atomic_bool stop, stop_helpers;
    pthread_mutex_t lock;
    pthread_cond_t released;
    bool thinking, held;
};

/* --- life --- */

struct thinker *thinker_create(unsigned hash_kib)
{
    struct thinker *thinker = calloc(1, sizeof *thinker);
    if (!thinker)
        return NULL;
    thinker->search = search_create(hash_kib);
    if (!thinker->search) {
        free(thinker);
        return NULL;
    }
    pthread_mutex_init(&thinker->lock, NULL);
    pthread_cond_init(&thinker->released, NULL);
    return thinker;
}

static void drop_helpers(struct thinker *thinker, int from)
{
    for (int i = from; i < thinker->helper_count; i++)
        search_destroy(thinker->helpers[i].search);
    thinker->helper_count = from < thinker->helper_count ? from : thinker->helper_count;
}

void thinker_destroy(struct thinker *thinker)
{
    if (!thinker)
        return;
    thinker_stop(thinker);
    thinker_wait(thinker);
    drop_helpers(thinker, 0);
    search_destroy(thinker->search);
    pthread_cond_destroy(&thinker->released);
    pthread_mutex_destroy(&thinker->lock);
    free(thinker);
}

bool thinker_set_hash(struct thinker *thinker, unsigned hash_kib)
{
    struct search *search = search_create(hash_kib);
    if (!search)
        return false;
    search_destroy(thinker->search);
    thinker->search = search;
    return true;
}

bool thinker_set_threads(struct thinker *thinker, int threads)
{
    int before = thinker->helper_count;
    while (thinker->helper_count < threads - 1) {
        struct search *search = search_create_helper();
        if (!search) {
            drop_helpers(thinker, before);
            return false;
        }
        thinker->helpers[thinker->helper_count++] = (struct helper){.thinker = thinker, .search = search};
    }
    drop_helpers(thinker, threads - 1);
    return true;
}

void thinker_new_game(struct thinker *thinker)
{
    search_new_game(thinker->search);
}

/* --- thinking --- */

static void *help(void *argument)
{
    struct helper *helper = argument;
    const struct thinker_task *task = &helper->thinker->task;
    struct search_limits limits = {.full_width = task->limits.full_width,
                                   .lines = task->limits.lines,
                                   .parameters = task->limits.parameters};
    struct search_info info;
    search_run(helper->search, task->game, task->weights, &limits, &helper->thinker->stop_helpers, NULL, NULL,
               &info);
    return NULL;
}

/* Nodes are those of all threads. */
static void report_sum(void *context, const struct search_info *info)
{
    struct thinker *thinker = context;
    struct search_info sum = *info;
    for (int i = 0; i < thinker->helper_count; i++)
        if (thinker->helpers[i].started)
            sum.nodes += search_nodes(thinker->helpers[i].search);
    if (thinker->task.report)
        thinker->task.report(thinker->task.context, &sum);
}

/* A helper that cannot be started is done without. */
static void start_helpers(struct thinker *thinker)
{
    atomic_store(&thinker->stop_helpers, false);
    for (int i = 0; i < thinker->helper_count; i++) {
        struct helper *helper = &thinker->helpers[i];
        search_share(helper->search, thinker->search);
        helper->started = pthread_create(&helper->thread, NULL, help, helper) == 0;
    }
}

static void stop_helpers(struct thinker *thinker)
{
    atomic_store(&thinker->stop_helpers, true);
    for (int i = 0; i < thinker->helper_count; i++)
        if (thinker->helpers[i].started)
            pthread_join(thinker->helpers[i].thread, NULL);
}

static void hold_answer(struct thinker *thinker)
{
    pthread_mutex_lock(&thinker->lock);
    while (thinker->held && !atomic_load(&thinker->stop))
        pthread_cond_wait(&thinker->released, &thinker->lock);
    pthread_mutex_unlock(&thinker->lock);
}

/* Answers only when a new task would be taken: front ends reply at once. */
static void *think(void *argument)
{
    struct thinker *thinker = argument;
    const struct thinker_task *task = &thinker->task;
    struct search_info info;
    start_helpers(thinker);
    search_run(thinker->search, task->game, task->weights, &task->limits, &thinker->stop, report_sum, thinker,
               &info);
    stop_helpers(thinker);
    hold_answer(thinker);
    pthread_mutex_lock(&thinker->lock);
    thinker->thinking = false;
    pthread_mutex_unlock(&thinker->lock);
    task->answer(task->context, &info);
    return NULL;
}

bool thinker_start(struct thinker *thinker, const struct thinker_task *task)
{
    thinker_wait(thinker);
    thinker->task = *task;
    thinker->task.limits.clock = &thinker->clock;
    thinker->held = task->held || task->ponder;
    thinker->thinking = true;
    atomic_store(&thinker->stop, false);
    bool runs = !task->ponder && !task->held;
    search_clock_set(&thinker->clock, runs ? task->soft_ms : 0, runs ? task->hard_ms : 0);
    thinker->started = pthread_create(&thinker->thread, NULL, think, thinker) == 0;
    if (!thinker->started)
        thinker->thinking = false;
    return thinker->started;
}

bool thinker_is_thinking(struct thinker *thinker)
{
    pthread_mutex_lock(&thinker->lock);
    bool thinking = thinker->thinking;
    pthread_mutex_unlock(&thinker->lock);
    if (!thinking)
        thinker_wait(thinker);
    return thinking;
}

void thinker_wait(struct thinker *thinker)
{
    if (thinker->started)
        pthread_join(thinker->thread, NULL);
    thinker->started = false;
}

/* With the lock held. */
static void stop(struct thinker *thinker)
{
    atomic_store(&thinker->stop, true);
    pthread_cond_signal(&thinker->released);
}

void thinker_stop(struct thinker *thinker)
{
    pthread_mutex_lock(&thinker->lock);
    stop(thinker);
    pthread_mutex_unlock(&thinker->lock);
}

void thinker_finish(struct thinker *thinker)
{
    pthread_mutex_lock(&thinker->lock);
    if (thinker->held)
        stop(thinker);
    pthread_mutex_unlock(&thinker->lock);
    thinker_wait(thinker);
}

void thinker_hit(struct thinker *thinker)
{
    pthread_mutex_lock(&thinker->lock);
    if (thinker->thinking && thinker->task.ponder) {
        thinker->held = thinker->task.held;
        search_clock_set(&thinker->clock, thinker->task.soft_ms, thinker->task.hard_ms);
        const struct search_limits *limits = &thinker->task.limits;
        bool endless = limits->depth == 0 && limits->nodes == 0 && thinker->task.hard_ms == 0;
        if (endless && !thinker->held)
            atomic_store(&thinker->stop, true);
        pthread_cond_signal(&thinker->released);
    }
    pthread_mutex_unlock(&thinker->lock);
}
