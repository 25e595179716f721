#include <stdio.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "proto/log.h"

void server_tune_open(struct server *server, struct server_experiment *experiment)
{
    lease_experiment_bound(server->leases, experiment->row.id, 1, 0);
}

void server_tune_take(struct server *server, struct server_experiment *experiment,
                      const struct tune_book *news)
{
    if (!experiment->players)
        experiment->players = tune_book_create(news->batch_pairs, news->first);
    experiment->referee.players = experiment->players;
    if (!experiment->players || tune_book_merge(experiment->players, news) != 0) {
        log_line(LOG_LEVEL_ERROR, "no-players", "experiment=%llu: no memory for the players of its batches",
                 (unsigned long long)experiment->row.id);
        return;
    }
    lease_experiment_bound(server->leases, experiment->row.id, news->batch_pairs,
                           tune_book_limit(experiment->players));
}

void server_tune_spec(const struct server_experiment *experiment, uint64_t first_pair,
                      struct message_spec *spec)
{
    /* Nothing beyond the book is leased, and a lease lies in one batch. */
    const struct tune_pairing *pairing =
        experiment->players ? tune_book_find(experiment->players, first_pair) : NULL;
    struct message_player *players[] = {&spec->a, &spec->b};
    for (int side = 0; side < 2 && pairing; side++) {
        memcpy(players[side]->weights, pairing->weights[side], MESSAGE_HASH);
        snprintf(players[side]->options, sizeof players[side]->options, "%s", pairing->options[side]);
    }
}

void server_tune_follow_up(struct server *server, uint64_t experiment)
{
    struct job *job = job_create(JOB_LOOKUP);
    if (!job)
        return;
    job->lookup.id = experiment;
    server_submit(server, job);
}
