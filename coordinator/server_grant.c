/* Leases on their way to workers. Most are told at once, while their row waits for the next transaction: what
 * a crash takes of it is only who had which pairs, and those go out again. Their numbers come out of blocks
 * that a commit has reserved before, so that none comes twice. A pair that is played again is told when its
 * row stands. */
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/server_parts.h"
#include "coordinator/wire.h"

bool server_has_numbers(struct server *server)
{
    uint64_t next = lease_number(server->leases);
    if (!server->numbers_asked && next + JOB_NUMBERS_COUNT / 2 >= server->numbers_end) {
        struct job *job = job_create(JOB_NUMBERS);
        server->numbers_asked = server_submit(server, job);
    }
    return next < server->numbers_end;
}

void server_answer_numbers(struct server *server, struct job *job)
{
    server->numbers_asked = false;
    if (job->error == STORE_OK)
        server->numbers_end = job->numbers + JOB_NUMBERS_COUNT;
}

static void tell(struct server *server, const struct job *job)
{
    const struct store_lease *row = &job->grant.lease;
    const struct server_experiment *experiment = server_find_experiment(server, row->experiment);
    uint64_t skip[MESSAGE_SKIP_MAX];
    struct message message = {.request = job->request, .kind = MESSAGE_LEASE_GRANT};
    struct message_lease_grant *grant = &message.lease_grant;
    *grant = (struct message_lease_grant){
        .lease = row->id,
        .attempt = row->attempt,
        .first_pair = row->first_pair,
        .pair_count = row->pair_count,
        .term_ms = server->options.term_ms,
        .scale_ppm = row->scale_ppm,
        .skip = skip,
    };
    const struct session *session = roster_find(server->roster, row->session);
    grant->measure = session && session->wants_bench;
    wire_spec(&experiment->row, &grant->spec);
    if (experiment->row.kind == STORE_TUNE)
        server_tune_spec(experiment, row->first_pair, &grant->spec);
    for (uint32_t i = 0; i < row->pair_count && !job->grant.again && grant->skip_count < MESSAGE_SKIP_MAX;
         i++)
        if (lease_pair_done(server->leases, row->experiment, row->first_pair + i))
            skip[grant->skip_count++] = row->first_pair + i;
    server->counters.grants++;
    histogram_add(&server->metrics.histogram[METRIC_GRANT_SECONDS], metrics_now_s() - job->made_s);
    server_reply(server, &job->peer, &message);
}

struct job *server_grant_job(struct server *server, const struct session *session, uint64_t request,
                             const struct store_lease *row)
{
    struct job *job = job_create(JOB_GRANT);
    if (!job)
        return NULL;
    job->peer = session->peer;
    job->request = request;
    job->session = session->id;
    job->grant.lease = *row;
    job->grant.lease.session = session->id;
    job->grant.lease.scale_ppm = server_lease_scale(server, session, row->experiment);
    return job;
}

void server_grant(struct server *server, struct session *session, const struct lease *lease, uint64_t request)
{
    const struct store_lease row = {.id = lease->id,
                                    .experiment = lease->experiment,
                                    .first_pair = lease->first,
                                    .pair_count = lease->count,
                                    .attempt = lease->attempt};
    struct job *job = server_grant_job(server, session, request, &row);
    struct job told;
    if (job)
        told = *job;
    if (server_submit(server, job))
        tell(server, &told);
    else
        lease_release(server->leases, lease->id, session->id, NULL);
}

/* What was to be played again may have been dropped with its experiment's end. */
static bool is_over(struct server *server, const struct job *job)
{
    const struct store_lease *row = &job->grant.lease;
    struct server_experiment *experiment = server_find_experiment(server, row->experiment);
    if (!experiment)
        return true;
    if (job->grant.players && !server_tune_recall(experiment, job->grant.players))
        return true;
    return job->grant.again ? !audit_holds(server->audits, row->id, row->session) : experiment->ended;
}

void server_answer_grant(struct server *server, struct job *job)
{
    const struct store_lease *row = &job->grant.lease;
    if (job->error == STORE_OK && !job->grant.late && !is_over(server, job)) {
        if (job->grant.again)
            tell(server, job);
        return;
    }
    /* Whoever was told of it hears with its next report that it is over. */
    lease_release(server->leases, row->id, row->session, NULL);
    server_audit_released(server, row->id, row->session);
    if (job->error == STORE_OK) {
        if (!job->grant.late)
            server_end_leases(server, &row->id, 1, STORE_LEASE_RELEASED);
        job->error = STORE_ERROR_CONNECTION;
        snprintf(job->text, sizeof job->text, "the experiment ended or was paused meanwhile: ask again");
    }
    if (job->grant.again)
        server_refuse_job(server, job);
}
