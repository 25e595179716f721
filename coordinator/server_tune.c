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

/* --- batches that were forgotten --- */

bool server_tune_recall(struct server_experiment *experiment, const struct job_players *players)
{
    if (players->batch_pairs == 0)
        return false;
    if (!experiment->players && experiment->ended)
        experiment->players = tune_book_create(players->batch_pairs, TUNE_BOOK_NOTHING);
    experiment->referee.players = experiment->players;
    return experiment->players && tune_book_recall(experiment->players, &players->batch) == 0;
}

/* A game of a batch whose players are not in memory and can be had. */
static bool is_forgotten(const struct server *server, const struct message_game *game)
{
    const struct server_experiment *experiment = server_find_experiment(server, game->experiment);
    if (!experiment || experiment->row.kind != STORE_TUNE || game->pair >= experiment->row.planned_pairs)
        return false;
    return experiment->players ? tune_book_is_forgotten(experiment->players, game->pair) : experiment->ended;
}

static void ask_for_players(struct server *server, const struct message_game *game)
{
    struct job *job = job_create(JOB_PLAYERS);
    if (!job)
        return;
    job->players.experiment = game->experiment;
    job->players.pair = game->pair;
    server_submit(server, job);
}

bool server_tune_waits(struct server *server, const struct session *session, const struct message *message)
{
    const struct message_results *results = &message->results;
    const struct message_game *asked[TUNE_BOOK_RECALLED / 2];
    size_t count = 0, room = sizeof asked / sizeof *asked;
    for (size_t i = 0; i < results->game_count; i++) {
        const struct message_game *game = &results->games[i];
        bool again = count > 0 && asked[count - 1]->experiment == game->experiment &&
                     asked[count - 1]->pair == game->pair;
        if (again || !is_forgotten(server, game))
            continue;
        if (count == room)
            return false; /* more than can be remembered at once: the rest is refused by the referee */
        asked[count++] = game;
    }
    for (size_t i = 0; i < count; i++)
        ask_for_players(server, asked[i]);
    if (count > 0)
        server_refuse(server, &session->peer, message->request, MESSAGE_REFUSAL_BUSY,
                      server_jitter(server, SERVER_RETRY_MS / 2),
                      "looking up who plays an earlier batch of tune %llu: send again",
                      (unsigned long long)asked[0]->experiment);
    return count > 0;
}
