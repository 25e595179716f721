#include "coordinator/job.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "coordinator/condition.h"
#include "coordinator/metrics.h"

struct job *job_create(enum job_kind kind)
{
    struct job *job = calloc(1, sizeof *job);
    if (job) {
        job->kind = kind;
        job->bytes = sizeof *job;
        job->made_s = metrics_now_s();
    }
    return job;
}

void job_control_done(struct job_control *control)
{
    for (size_t i = 0; i < control->part_count; i++)
        free(control->parts[i].again.pairs);
    free(control->parts);
    free(control->again.pairs);
    control->parts = NULL;
    control->part_count = 0;
    control->again = (struct job_replays){0};
}

void job_destroy(struct job *job)
{
    if (!job)
        return;
    switch (job->kind) {
    case JOB_RESULTS:
        message_done(&job->results.message);
        free(job->results.games);
        free(job->results.outcome);
        free(job->results.refused);
        break;
    case JOB_LEASES_END:
        free(job->leases_end.ids);
        break;
    case JOB_ARTIFACT:
        free(job->artifact.content);
        break;
    case JOB_REPORT:
        free(job->report.complete);
        tune_book_destroy(job->report.players);
        free(job->report.again.pairs);
        free(job->report.closed);
        break;
    case JOB_RELOAD:
        free(job->reload.complete);
        free(job->reload.leases);
        free(job->reload.again.pairs);
        break;
    case JOB_RECHECK:
        free(job->recheck.again.pairs);
        break;
    case JOB_HOOKS:
        free(job->hooks.list);
        break;
    case JOB_CONTROL:
        job_control_done(&job->control);
        break;
    case JOB_PEERS:
        free(job->peers.peers);
        free(job->peers.flags);
        break;
    case JOB_CREATE:
        terms_destroy(job->create.terms);
        break;
    case JOB_GRANT:
        free(job->grant.players);
        break;
    case JOB_SESSION:
    case JOB_SESSION_END:
    case JOB_BENCH:
    case JOB_REFERENCE:
    case JOB_NUMBERS:
    case JOB_BLOCK:
    case JOB_AUDIT_WAIVE:
    case JOB_FLAG:
    case JOB_FAULT:
    case JOB_HOOK_END:
    case JOB_EVENT:
    case JOB_PROMOTE:
    case JOB_LOOKUP:
    case JOB_SEALS:
    case JOB_PLAYERS:
    case JOB_LOST:
        break;
    }
    free(job);
}

void jobs_destroy(struct job *jobs)
{
    while (jobs) {
        struct job *next = jobs->next;
        job_destroy(jobs);
        jobs = next;
    }
}

void job_queue_init(struct job_queue *queue, size_t count_max, size_t bytes_max)
{
    *queue = (struct job_queue){.count_max = count_max, .bytes_max = bytes_max};
    pthread_mutex_init(&queue->mutex, NULL);
    condition_init(&queue->filled);
}

void job_queue_done(struct job_queue *queue)
{
    while (queue->first) {
        struct job *job = queue->first;
        queue->first = job->next;
        job_destroy(job);
    }
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->mutex);
}

bool job_queue_put(struct job_queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->mutex);
    bool full = (queue->count_max && queue->count >= queue->count_max) ||
                (queue->bytes_max && queue->count && queue->bytes + job->bytes > queue->bytes_max);
    bool taken = !full && !queue->closed;
    if (taken) {
        job->next = NULL;
        if (queue->last)
            queue->last->next = job;
        else
            queue->first = job;
        queue->last = job;
        queue->count++;
        queue->bytes += job->bytes;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&queue->mutex);
    return taken;
}

static void wait_filled(struct job_queue *queue, int timeout_ms)
{
    struct timespec until = condition_until(timeout_ms);
    while (!queue->first && !queue->closed)
        if (pthread_cond_timedwait(&queue->filled, &queue->mutex, &until) == ETIMEDOUT)
            return;
}

struct job *job_queue_take(struct job_queue *queue, size_t bytes_max, int timeout_ms)
{
    pthread_mutex_lock(&queue->mutex);
    wait_filled(queue, timeout_ms);
    struct job *list = queue->first, *end = NULL;
    size_t bytes = 0;
    for (struct job *job = list; job && (!end || bytes + job->bytes <= bytes_max); job = job->next) {
        bytes += job->bytes;
        queue->bytes -= job->bytes;
        queue->count--;
        end = job;
    }
    if (end) {
        queue->first = end->next;
        if (!queue->first)
            queue->last = NULL;
        end->next = NULL;
    }
    pthread_mutex_unlock(&queue->mutex);
    return list;
}

void job_queue_close(struct job_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->mutex);
}

bool job_queue_is_closed(struct job_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    bool closed = queue->closed;
    pthread_mutex_unlock(&queue->mutex);
    return closed;
}

size_t job_queue_count(struct job_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    size_t count = queue->count;
    pthread_mutex_unlock(&queue->mutex);
    return count;
}
