/* What workers tell of their machines' speed, and what timed play makes of it. */
#include <stdio.h>

#include "coordinator/server_parts.h"

static struct fitness_bench bench_of(const struct server *server, const struct session *session)
{
    return (struct fitness_bench){.speed = session->speed,
                                  .spread_ppm = session->spread_ppm,
                                  .load_ppm = session->load_ppm,
                                  .age_ms = server->now_ms - session->measured_ms};
}

bool server_take_bench(struct server *server, struct session *session, const struct message_bench *bench)
{
    if (bench->speed == 0)
        return false;
    bool is_new = session->speed != bench->speed || session->spread_ppm != bench->spread_ppm ||
                  session->load_ppm != bench->load_ppm;
    session->speed = bench->speed;
    session->spread_ppm = bench->spread_ppm;
    session->load_ppm = bench->load_ppm;
    session->measured_ms = server->now_ms - bench->measured_ms;
    session->scale_ppm = fitness_scale(&server->options.fitness, bench->speed);
    return is_new;
}

void server_bench_row(const struct server *server, const struct session *session, struct store_session *row)
{
    int64_t ago_ms = server->now_ms - session->measured_ms;
    row->speed = session->speed;
    row->spread_ppm = session->spread_ppm;
    row->load_ppm = session->load_ppm;
    row->scale_ppm = session->scale_ppm;
    row->measured_ms = ago_ms < 0 ? 0 : ago_ms < INT32_MAX ? (uint32_t)ago_ms : INT32_MAX;
}

void server_note_bench(struct server *server, struct session *session, const struct message_bench *bench)
{
    if (!server_take_bench(server, session, bench) || !session->stored)
        return;
    struct job *job = job_create(JOB_BENCH);
    if (!job)
        return;
    job->session_row.id = session->id;
    server_bench_row(server, session, &job->session_row);
    server_submit(server, job);
}

const char *server_unfit(const struct server *server, const struct session *session, char text[FITNESS_TEXT])
{
    struct fitness_bench bench = bench_of(server, session);
    return fitness_unfit(&server->options.fitness, &bench, text);
}

bool server_bench_is_old(const struct server *server, const struct session *session)
{
    struct fitness_bench bench = bench_of(server, session);
    return fitness_is_old(&server->options.fitness, &bench);
}

uint32_t server_lease_scale(const struct server *server, const struct session *session, uint64_t experiment)
{
    const struct server_experiment *found = server_find_experiment(server, experiment);
    if (!found || !found->row.has_reference)
        return 0;
    struct fitness_policy policy = server->options.fitness;
    policy.reference = found->row.reference_speed;
    return fitness_scale(&policy, session->speed);
}

void server_tell_reference(struct server *server)
{
    struct job *job = job_create(JOB_REFERENCE);
    if (job)
        job->reference_speed = server->options.fitness.reference;
    server_submit(server, job);
}
