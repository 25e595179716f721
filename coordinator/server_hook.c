#include <stdio.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "engine/mix.h"

static void tell_end(struct server *server, uint64_t experiment, bool succeeded, const char *outcome)
{
    struct job *job = job_create(JOB_HOOK_END);
    if (!job)
        return;
    job->event.experiment = experiment;
    snprintf(job->event.kind, sizeof job->event.kind, "%s", succeeded ? "succeeded" : "failed");
    snprintf(job->event.text, sizeof job->event.text, "%s", outcome);
    server_submit(server, job);
}

/* Claims as many as there is room for. */
static void ask_for_hooks(struct server *server)
{
    struct job *job = job_create(JOB_HOOKS);
    if (job) {
        server->jitter = mix(server->jitter, (uint64_t)server->now_ms);
        job->hooks.claim = server->jitter >> 1;
        job->hooks.limit = hook_room(&server->hooks);
    }
    server->hooks_asked = server_submit(server, job);
    server->hooks_due = !server->hooks_asked; /* what ends from now on makes it true again */
}

void server_tend_hooks(struct server *server)
{
    uint64_t experiment;
    bool succeeded;
    char outcome[HOOK_REASON_MAX];
    if (!server->hooks.folder)
        return;
    while (hook_reap(&server->hooks, server->now_ms, &experiment, &succeeded, outcome))
        tell_end(server, experiment, succeeded, outcome);
    if (server->hooks_due && !server->hooks_asked && !server->draining && hook_room(&server->hooks) > 0 &&
        writer_is_up(server->writer, NULL, 0))
        ask_for_hooks(server);
}

void server_start_hooks(struct server *server, struct job *job)
{
    const struct job_hooks *hooks = &job->hooks;
    char reason[HOOK_REASON_MAX];
    server->hooks_asked = false;
    if (job->error != STORE_OK || hooks->count >= hooks->limit)
        server->hooks_due = true;
    for (size_t i = 0; job->error == STORE_OK && i < hooks->count; i++)
        if (!hook_start(&server->hooks, &hooks->list[i], server->now_ms, reason))
            tell_end(server, hooks->list[i].experiment, false, reason);
}
