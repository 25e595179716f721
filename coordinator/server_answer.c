#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"
#include "coordinator/wire.h"
#include "proto/log.h"

static enum message_refusal refusal_of(enum store_error error)
{
    switch (error) {
    case STORE_ERROR_REFUSED:
        return MESSAGE_REFUSAL_CONFLICT;
    case STORE_ERROR_UNIQUE:
        return MESSAGE_REFUSAL_CONFLICT;
    default:
        return MESSAGE_REFUSAL_UNAVAILABLE;
    }
}

void server_refuse_job(struct server *server, const struct job *job)
{
    if (job->peer.id_size || job->kind == JOB_CONTROL) /* one without a peer was ordered on the page */
        server_refuse(server, &job->peer, job->request, refusal_of(job->error), SERVER_RETRY_MS, "%s",
                      job->text);
}

/* --- results --- */

static void list_conflicts(const struct job_results *results, struct message_results_ack *ack)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct store_game *game = &results->games[i];
        if (results->outcome[i] != STORE_GAME_CONFLICT)
            continue;
        struct message_game_answer *answer = &ack->exceptions[ack->exception_count++];
        *answer = (struct message_game_answer){
            .experiment = game->experiment,
            .pair = game->pair,
            .leg = game->leg,
            .verdict = MESSAGE_GAME_CONFLICT,
        };
        snprintf(answer->text, sizeof answer->text,
                 "another game is stored for this pair: it is disputed and will be played again");
    }
}

/* What the new games of one experiment cost. */
static void charge(struct server *server, const struct job *job, uint64_t experiment, uint64_t games,
                   double core_ms)
{
    if (games == 0)
        return;
    schedule_charge(server->schedule, experiment, core_ms);
    lease_experiment_cost(server->leases, experiment, job->session, games, core_ms);
}

static uint64_t nodes_of(const struct job_results *results)
{
    uint64_t nodes = 0;
    for (size_t i = 0; i < results->count; i++)
        nodes += results->outcome[i] == STORE_GAME_INSERTED ? results->games[i].nodes : 0;
    return nodes;
}

/* Games of an experiment stand together in a batch, mostly. */
static void charge_games(struct server *server, const struct job *job)
{
    const struct job_results *results = &job->results;
    uint64_t experiment = 0, games = 0;
    double core_ms = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct store_game *game = &results->games[i];
        if (results->outcome[i] != STORE_GAME_INSERTED)
            continue;
        if (game->experiment != experiment) {
            charge(server, job, experiment, games, core_ms);
            experiment = game->experiment;
            games = 0;
            core_ms = 0;
        }
        games++;
        core_ms += game->core_us > 0 ? game->core_us / 1000.0 : game->time_ms;
    }
    charge(server, job, experiment, games, core_ms);
}

/* One event a batch, however much of it differs. */
static void note_conflicts(struct server *server, struct session *session, const struct job *job)
{
    const struct store_game *first = NULL;
    size_t conflicts = 0;
    for (size_t i = 0; i < job->results.count; i++)
        if (job->results.outcome[i] == STORE_GAME_CONFLICT && conflicts++ == 0)
            first = &job->results.games[i];
    if (first && (!session || server_may_report(server, session)))
        server_event(
            server, "dispute", first->experiment, job->session,
            "pair %llu leg %u: two contents under one key; the prefix waits (%zu of %zu games of this "
            "batch differ from what is stored)",
            (unsigned long long)first->pair, first->leg, conflicts, job->results.count);
}

static void answer_results(struct server *server, struct job *job)
{
    struct job_results *results = &job->results;
    if (job->error != STORE_OK) {
        server_refuse_job(server, job);
        return;
    }
    struct message message = {.request = job->request, .kind = MESSAGE_RESULTS_ACK};
    struct message_results_ack *ack = &message.results_ack;
    ack->batch = results->message.results.batch;
    for (size_t i = 0; i < results->count; i++) {
        ack->accepted += results->outcome[i] == STORE_GAME_INSERTED;
        ack->duplicates += results->outcome[i] == STORE_GAME_DUPLICATE;
    }
    /* The array of refusals has a place for every game of the batch. */
    ack->exceptions = results->refused;
    ack->exception_count = results->refused_count;
    list_conflicts(results, ack);
    struct session *session = roster_find(server->roster, job->session);
    if (session) {
        if (ack->accepted + ack->duplicates > 0)
            server_note_able(server, session, true);
        meter_add(&session->meter, ack->accepted, nodes_of(results), server->now_ms);
        session->games += ack->accepted;
        session->duplicates += ack->duplicates;
    }
    charge_games(server, job);
    note_conflicts(server, session, job);
    histogram_add(&server->metrics.histogram[METRIC_ACKNOWLEDGE_SECONDS], metrics_now_s() - job->made_s);
    server_reply(server, &job->peer, &message);
}

/* --- sessions --- */

static void answer_session(struct server *server, struct job *job)
{
    struct session *session = roster_find(server->roster, job->session);
    if (job->error != STORE_OK) {
        server_refuse_job(server, job);
        return;
    }
    if (!session)
        return;
    session->stored = true;
    log_line(
        LOG_LEVEL_INFO, "worker", "session=%llu name=%s slots=%u peer=%s confinement=\"%s\" build=\"%s\"",
        (unsigned long long)session->id, session->name, session->slots,
        allowlist_name(&server->allowlist, session->peer.user), session->confinement, session->engine_build);
    server_welcome(server, session, job->request);
}

/* --- control --- */

static void control_done(struct server *server, const struct job *job, uint64_t experiment, bool existed,
                         const char *text)
{
    struct message message = {.request = job->request, .kind = MESSAGE_CONTROL_DONE};
    message.control_done.experiment = experiment;
    message.control_done.existed = existed;
    snprintf(message.control_done.text, sizeof message.control_done.text, "%s", text);
    server_reply(server, &job->peer, &message);
}

static void answer_create(struct server *server, struct job *job)
{
    const struct store_experiment *row = &job->create.experiment;
    if (job->error != STORE_OK) {
        server_refuse_job(server, job);
        return;
    }
    if (!server_find_experiment(server, row->id))
        server_add_experiment(server, row, 0);
    control_done(server, job, row->id, job->create.existed,
                 job->create.existed           ? "this experiment was there already"
                 : row->state == STORE_PENDING ? "created; it waits until an operator approves it"
                                               : "created");
}

/* What the row in memory becomes; the database has it already. Where a COMMIT went unheard, the verb was done
 * again and found it so: then only this memory lags behind. */
static void follow_control(struct server *server, const struct job_control *control,
                           struct server_experiment *experiment)
{
    bool lags = control->step.effect == CONTROL_AGREE && control->verb != MESSAGE_VERB_DELETE &&
                experiment->row.state != control->step.state;
    switch (lags ? CONTROL_MOVE : control->step.effect) {
    case CONTROL_MOVE:
        if (control->step.state != STORE_RUNNING) {
            server_hold_experiment(server, experiment, control->step.state);
            break;
        }
        server_audit_want(server, control->experiment, &control->again);
        server_resume_experiment(server, experiment);
        break;
    case CONTROL_CHANGE:
        if (control->verb != MESSAGE_VERB_PRIORITY)
            break;
        experiment->row.priority = control->priority;
        schedule_set_priority(server->schedule, control->experiment, control->priority);
        break;
    case CONTROL_END:
        experiment->row.state = control->step.state;
        server_end_experiment(server, experiment);
        break;
    case CONTROL_REOPEN: /* a JOB_RELOAD has come before */
    case CONTROL_DELETE:
    case CONTROL_AGREE:
    case CONTROL_REFUSE:
        break;
    }
}

static void answer_tournament(struct server *server, struct job *job)
{
    const struct job_control *control = &job->control;
    if (job->error != STORE_OK) {
        server_refuse_job(server, job);
        return;
    }
    for (size_t i = 0; i < control->part_count; i++) {
        struct server_experiment *experiment = server_find_experiment(server, control->parts[i].experiment);
        if (experiment)
            follow_control(server, &control->parts[i], experiment);
    }
    log_line(LOG_LEVEL_INFO, "control", "tournament=%s verb=%s by=%s%s", control->tournament,
             control_verb_name(control->verb), control->by, control->same ? ": it was so already" : "");
    control_done(server, job, 0, control->same, job->text);
}

static void answer_control(struct server *server, struct job *job)
{
    const struct job_control *control = &job->control;
    struct server_experiment *experiment = server_find_experiment(server, control->experiment);
    char text[MESSAGE_TEXT_MAX];
    if (control->tournament[0]) {
        answer_tournament(server, job);
        return;
    }
    if (experiment && control->verb == MESSAGE_VERB_DELETE && experiment->deleting)
        experiment->deleting--;
    if (job->error != STORE_OK) {
        server_refuse_job(server, job);
        return;
    }
    bool agreed = control->step.effect == CONTROL_AGREE;
    if (experiment)
        follow_control(server, control, experiment);
    if (control->step.effect == CONTROL_DELETE)
        server_forget_experiment(server, control->experiment);
    log_line(LOG_LEVEL_INFO, "control", "experiment=%llu verb=%s by=%s%s",
             (unsigned long long)control->experiment, control_verb_name(control->verb), control->by,
             agreed ? ": it was so already" : "");
    snprintf(text, sizeof text, "%s", agreed ? control->step.text : control_done_word(control->verb));
    if (control->step.effect == CONTROL_DELETE)
        snprintf(text, sizeof text, "deleted, with %llu games", (unsigned long long)control->games);
    control_done(server, job, control->experiment, agreed, text);
}

static void answer_promote(struct server *server, struct job *job)
{
    if (job->error != STORE_OK) {
        server_refuse_job(server, job);
        return;
    }
    if (strcmp(job->promote.line, "main") == 0 && job->promote.epoch > server->announcement) {
        server->announcement = job->promote.epoch;
        memcpy(server->announced, job->promote.sha256, MESSAGE_HASH);
    }
    log_line(LOG_LEVEL_INFO, "promoted", "line=%s epoch=%llu by=%s", job->promote.line,
             (unsigned long long)job->promote.epoch, job->promote.by);
    control_done(server, job, job->promote.experiment, false, "promoted");
}

/* --- what enters memory --- */

/* The least recently used goes; a free place counts as never used. */
static struct server_artifact *oldest_artifact(struct server *server, bool filled)
{
    struct server_artifact *oldest = NULL;
    for (size_t i = 0; i < SERVER_ARTIFACTS_MAX; i++) {
        struct server_artifact *artifact = &server->artifacts[i];
        if (filled && !artifact->content)
            continue;
        if (!oldest || artifact->used < oldest->used)
            oldest = artifact;
    }
    return oldest;
}

static void drop_artifact(struct server *server, struct server_artifact *artifact)
{
    server->artifact_bytes -= artifact->size;
    free(artifact->content);
    *artifact = (struct server_artifact){0};
}

/* Takes the job's content. */
static struct server_artifact *keep_artifact(struct server *server, struct job *job)
{
    struct server_artifact *place;
    while (server->artifact_bytes + job->artifact.size > SERVER_ARTIFACTS_BYTES &&
           (place = oldest_artifact(server, true)) != NULL)
        drop_artifact(server, place);
    place = oldest_artifact(server, false);
    drop_artifact(server, place);
    *place = (struct server_artifact){
        .content = job->artifact.content,
        .size = job->artifact.size,
        .used = ++server->artifact_clock,
    };
    memcpy(place->sha256, job->artifact.sha256, STORE_HASH);
    server->artifact_bytes += place->size;
    job->artifact.content = NULL;
    return place;
}

static void answer_artifact(struct server *server, struct job *job)
{
    if (job->error != STORE_OK) {
        server_refuse(server, &job->peer, job->request,
                      job->error == STORE_ERROR_REFUSED ? MESSAGE_REFUSAL_UNKNOWN
                                                        : MESSAGE_REFUSAL_UNAVAILABLE,
                      SERVER_RETRY_MS, "%s", job->text);
        return;
    }
    struct server_artifact *place = server_find_artifact(server, job->artifact.sha256);
    if (!place)
        place = keep_artifact(server, job);
    server_send_chunk(server, &job->peer, job->request, place, job->artifact.offset, job->artifact.length);
}

static void answer_lookup(struct server *server, struct job *job)
{
    if (job->error != STORE_OK)
        return;
    if (!job->lookup.found) {
        server->unknown[server->unknown_next++ % SERVER_UNKNOWN_MAX] = job->lookup.id;
        return;
    }
    if (!server_find_experiment(server, job->lookup.id))
        server_add_experiment(server, &job->lookup.experiment, 0);
}

static void answer_players(struct server *server, struct job *job)
{
    struct server_experiment *experiment = server_find_experiment(server, job->players.experiment);
    if (job->error == STORE_OK && experiment)
        server_tune_recall(experiment, &job->players);
}

static void answer_report(struct server *server, struct job *job)
{
    const struct job_report *report = &job->report;
    struct server_experiment *experiment = server_find_experiment(server, report->experiment);
    if (!experiment)
        return;
    struct lease finished[LEASE_TWINS];
    struct job *ended = job_create(JOB_LEASES_END);
    if (ended) {
        ended->leases_end.ids =
            malloc((LEASE_TWINS * report->complete_count + 1) * sizeof *ended->leases_end.ids);
        ended->leases_end.state = STORE_LEASE_DONE;
    }
    for (size_t i = 0; i < report->complete_count; i++) {
        size_t count = lease_done(server->leases, report->experiment, report->complete[i].pair,
                                  report->complete[i].session, server->now_ms, finished);
        for (size_t j = 0; j < count && ended && ended->leases_end.ids; j++)
            ended->leases_end.ids[ended->leases_end.count++] = finished[j].id;
    }
    server_move_prefix(server, experiment, report->prefix);
    lease_experiment_advance(server->leases, report->experiment, report->prefix);
    if (report->players)
        server_tune_take(server, experiment, report->players);
    if (report->follow_up)
        server_tune_follow_up(server, report->follow_up);
    server_audit_report(server, experiment, report);
    if (report->blocked)
        server_event(
            server, "experiment-blocked", report->experiment, 0,
            "a dispute is not to be settled by playing on (`kroo show` says why): no more leases until "
            "somebody looks");
    if (report->ended)
        server_end_experiment(server, experiment);
    else if (report->blocked)
        server_hold_experiment(server, experiment, STORE_BLOCKED);
    if (ended && ended->leases_end.count)
        server_submit(server, ended);
    else
        job_destroy(ended);
}

static void answer_reload(struct server *server, struct job *job)
{
    server_reload(server, &job->reload);
}

static void answer_recheck(struct server *server, struct job *job)
{
    if (!server_find_experiment(server, job->recheck.experiment.id) &&
        !server_add_experiment(server, &job->recheck.experiment, 0))
        return;
    server_audit_want(server, job->recheck.experiment.id, &job->recheck.again);
}

static void answer_peers(struct server *server, struct job *job)
{
    server_keys_use(server, job->peers.peers, job->peers.count, job->peers.version);
    job->peers.peers = NULL;
    server_flag_take(server, &job->peers);
    if (job->peers.epoch > server->announcement) {
        server->announcement = job->peers.epoch;
        memcpy(server->announced, job->peers.champion, MESSAGE_HASH);
    }
}

void server_take_answer(struct server *server, struct job *job)
{
    static void (*const answers[])(struct server *, struct job *) = {
        [JOB_RESULTS] = answer_results,
        [JOB_GRANT] = server_answer_grant,
        [JOB_SESSION] = answer_session,
        [JOB_CREATE] = answer_create,
        [JOB_CONTROL] = answer_control,
        [JOB_PROMOTE] = answer_promote,
        [JOB_HOOKS] = server_start_hooks,
        [JOB_ARTIFACT] = answer_artifact,
        [JOB_LOOKUP] = answer_lookup,
        [JOB_REPORT] = answer_report,
        [JOB_PEERS] = answer_peers,
        [JOB_RECHECK] = answer_recheck,
        [JOB_RELOAD] = answer_reload,
        [JOB_PLAYERS] = answer_players,
        [JOB_SEALS] = server_answer_seals,
        [JOB_NUMBERS] = server_answer_numbers,
        [JOB_LOST] = NULL,
    };
    if (job->kind == JOB_LOST)
        server->lost = true;
    else if (answers[job->kind])
        answers[job->kind](server, job);
    bool unasked = job->kind >= JOB_REPORT;
    if (!unasked)
        server->outstanding--;
    job_destroy(job);
}
