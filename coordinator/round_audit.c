#include "coordinator/round_audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/round_flag.h"
#include "proto/log.h"
#include "sql/store_audit.h"
#include "sql/store_tune.h"

/* --- what the event loop is told --- */

static enum store_error tell_again(struct ledger *ledger, uint64_t pair)
{
    return pairlist_add(&ledger->told, pair) ? STORE_OK : STORE_ERROR_MEMORY;
}

/* Agreed, settled or given up. */
static enum store_error close_pair(struct round *round, struct ledger *ledger, uint64_t pair)
{
    struct pairlist *again = ledger_change_again(ledger);
    struct job_report *report = round_report(round, ledger->experiment.id);
    if (!again || !report)
        return STORE_ERROR_MEMORY;
    pairlist_remove(again, pair);
    pairlist_remove(&ledger->told, pair);
    uint64_t *larger = realloc(report->closed, (report->closed_count + 1) * sizeof *larger);
    if (!larger)
        return STORE_ERROR_MEMORY;
    report->closed = larger;
    report->closed[report->closed_count++] = pair;
    return STORE_OK;
}

static enum store_error want_pair(struct round *round, struct ledger *ledger, uint64_t pair)
{
    struct pairlist *again = ledger_change_again(ledger);
    if (!again || !round_report(round, ledger->experiment.id) || !pairlist_add(again, pair))
        return STORE_ERROR_MEMORY;
    return tell_again(ledger, pair);
}

enum store_error round_replays(struct round *round, uint64_t experiment, const struct pairlist *pairs,
                               struct job_replays *out)
{
    struct store_replay *rows;
    size_t count;
    enum store_error error = store_replays(round->store, experiment, pairs ? pairs->pairs : NULL,
                                           pairs ? pairs->count : 0, &rows, &count);
    if (error != STORE_OK)
        return error;
    *out = (struct job_replays){.pairs = calloc(count ? count : 1, sizeof *out->pairs)};
    for (size_t i = 0; i < count && out->pairs; i++) {
        if (out->count == 0 || out->pairs[out->count - 1].pair != rows[i].pair)
            out->pairs[out->count++].pair = rows[i].pair;
        struct audit_pair *pair = &out->pairs[out->count - 1];
        pair->disputed = rows[i].disputed;
        pair->held = rows[i].held;
        if (rows[i].peer[0])
            audit_pair_add(pair, audit_worker(rows[i].peer, rows[i].name));
    }
    free(rows);
    return out->pairs ? STORE_OK : STORE_ERROR_MEMORY;
}

enum store_error round_audit_report(struct round *round)
{
    enum store_error error = STORE_OK;
    for (struct job *job = round->reports; job && error == STORE_OK; job = job->next) {
        struct ledger *ledger = ledger_book_find(round->book, job->report.experiment);
        if (ledger->told.count)
            error = round_replays(round, job->report.experiment, &ledger->told, &job->report.again);
    }
    return error;
}

enum store_error round_audit_load(struct round *round, struct ledger *ledger)
{
    struct store_replay *rows;
    size_t count;
    enum store_error error = store_replays(round->store, ledger->experiment.id, NULL, 0, &rows, &count);
    for (size_t i = 0; i < count && error == STORE_OK; i++)
        if (!pairlist_add(&ledger->again, rows[i].pair))
            error = STORE_ERROR_MEMORY;
    free(rows);
    return error;
}

/* --- games --- */

static bool is_timed(const struct store_experiment *experiment)
{
    const struct store_limits *a = &experiment->a.limits, *b = &experiment->b.limits;
    return a->time_ms || b->time_ms || a->clock_ms || b->clock_ms;
}

static enum store_error begin_if_due(struct round *round, struct ledger *ledger, uint64_t pair)
{
    const struct store_experiment *experiment = &ledger->experiment;
    if (ledger->draft_ended || is_timed(experiment) || !tally_pair_complete(ledger->draft, pair) ||
        !audit_is_due(round->secret, experiment->id, pair, 0, experiment->audit_ppm))
        return STORE_OK;
    uint64_t chosen;
    size_t count;
    enum store_error error = store_audit_begin(round->store, experiment->id, &pair, 1, &chosen, &count);
    return error == STORE_OK && count == 1 ? want_pair(round, ledger, pair) : error;
}

/* Pairs that are complete in the draft and due. */
static bool due_pairs(const struct round *round, const struct ledger *ledger, struct pairlist *due)
{
    const struct store_experiment *experiment = &ledger->experiment;
    uint64_t prefix = tally_prefix(ledger->draft), beyond = tally_beyond(ledger->draft);
    for (uint64_t pair = 0; pair < prefix || (beyond > 0 && pair < experiment->planned_pairs); pair++) {
        if (pair >= prefix)
            beyond -= tally_has(ledger->draft, pair, 0) + tally_has(ledger->draft, pair, 1);
        if (tally_pair_complete(ledger->draft, pair) &&
            audit_is_due(round->secret, experiment->id, pair, 0, experiment->audit_ppm) &&
            !pairlist_add(due, pair))
            return false;
    }
    return true;
}

enum store_error round_audit_begin_stored(struct round *round, struct ledger *ledger)
{
    struct pairlist due = {0};
    size_t count = 0;
    if (is_timed(&ledger->experiment))
        return STORE_OK;
    if (!due_pairs(round, ledger, &due)) {
        pairlist_done(&due);
        return STORE_ERROR_MEMORY;
    }
    uint64_t *chosen = calloc(due.count + 1, sizeof *chosen);
    enum store_error error =
        chosen ? store_audit_begin(round->store, ledger->experiment.id, due.pairs, due.count, chosen, &count)
               : STORE_ERROR_MEMORY;
    free(chosen);
    pairlist_done(&due);
    return error;
}

/* The stored game once more: a word for its audit if it is another worker's. */
static enum store_error take_agreement(struct round *round, struct ledger *ledger,
                                       const struct store_game *game)
{
    bool closed = false;
    if (!pairlist_has(ledger_again(ledger), game->pair))
        return STORE_OK;
    enum store_error error =
        store_audit_agree(round->store, game->experiment, game->pair, game->leg, game->session, &closed);
    if (error != STORE_OK)
        return error;
    /* A round whose commit was doubtful is written again, and all of its games are duplicates: then the event
     * loop has not heard of the pair yet. */
    return closed ? close_pair(round, ledger, game->pair) : tell_again(ledger, game->pair);
}

enum store_error round_audit_games(struct round *round, const struct store_game *games,
                                   const enum store_outcome *outcome, size_t count)
{
    enum store_error error = STORE_OK;
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        struct ledger *ledger = ledger_book_find(round->book, games[i].experiment);
        if (!ledger)
            continue;
        if (outcome[i] == STORE_GAME_INSERTED)
            error = begin_if_due(round, ledger, games[i].pair);
        else if (outcome[i] == STORE_GAME_DUPLICATE)
            error = take_agreement(round, ledger, &games[i]);
    }
    return error;
}

/* Five runs and no two that agree, or two builds that differ: a running experiment stops, a finished one
 * stands as it is. */
static enum store_error take_blocked(struct round *round, struct ledger *ledger, uint64_t pair,
                                     enum store_settlement settlement)
{
    struct job_report *report = round_report(round, ledger->experiment.id);
    if (!report)
        return STORE_ERROR_MEMORY;
    if (!ledger->draft_ended) {
        report->blocked = true;
        return ledger_block(ledger, round->store, settlement);
    }
    return close_pair(round, ledger, pair);
}

enum store_error round_audit_held(struct round *round, struct ledger *ledger, uint64_t pair)
{
    struct job_report *report = round_report(round, ledger->experiment.id);
    bool again = false, blocked = false;
    enum store_error error =
        report ? ledger_settle(ledger, round->store, pair, &again, &blocked) : STORE_ERROR_MEMORY;
    if (error != STORE_OK)
        return error;
    report->blocked = report->blocked || blocked;
    if (blocked)
        return STORE_OK;
    return again ? want_pair(round, ledger, pair) : close_pair(round, ledger, pair);
}

enum store_error round_audit_settle(struct round *round, struct ledger *ledger, const struct store_game *game,
                                    bool conflict)
{
    enum store_settlement settlement;
    int points[2];
    bool waited_for = pairlist_has(ledger_again(ledger), game->pair);
    if (!conflict && !waited_for)
        return STORE_OK;
    enum store_error error =
        store_dispute_settle(round->store, game->experiment, game->pair, &settlement, points);
    if (error != STORE_OK)
        return error;
    switch (settlement) {
    case STORE_DISPUTE_NONE:
        return conflict ? store_charge_late(round->store, game) : STORE_OK;
    case STORE_DISPUTE_OPEN:
        return game->pair < tally_prefix(ledger->draft) ? want_pair(round, ledger, game->pair) : STORE_OK;
    case STORE_DISPUTE_BLOCKED:
    case STORE_DISPUTE_DIVERGENT:
        return take_blocked(round, ledger, game->pair, settlement);
    case STORE_DISPUTE_REPLACED:
        error = round_recount(round, ledger);
        break;
    case STORE_DISPUTE_OUTVOTED:
        error = round_flag_judge(round, &ledger->experiment);
        break;
    case STORE_DISPUTE_KEPT:
        break;
    }
    return error == STORE_OK ? close_pair(round, ledger, game->pair) : error;
}

/* --- the verdict --- */

enum store_error round_audit_waive(struct round *round, uint64_t experiment)
{
    struct ledger *ledger = ledger_book_find(round->book, experiment);
    uint64_t *pairs;
    size_t count;
    if (!ledger || ledger_draft(ledger) != 0)
        return ledger ? STORE_ERROR_MEMORY : STORE_OK;
    if (ledger_awaiting(ledger) == 0)
        return STORE_OK;
    enum store_error error = store_audit_waive(round->store, experiment, &pairs, &count);
    for (size_t i = 0; i < count && error == STORE_OK; i++)
        error = close_pair(round, ledger, pairs[i]);
    free(pairs);
    return error;
}

/* A tune whose parameters rest on games that were outvoted says so in its verdict. */
static enum store_error remark_outvoted(struct round *round, uint64_t experiment, char remark[STORE_TEXT])
{
    uint64_t pairs = 0;
    size_t used = strlen(remark);
    enum store_error error = store_tune_outvoted(round->store, experiment, &pairs);
    if (error == STORE_OK && pairs > 0)
        snprintf(remark + used, STORE_TEXT - used,
                 "%s%llu pairs were outvoted by two other workers after they had moved the parameters",
                 used ? "; " : "", (unsigned long long)pairs);
    return error;
}

static enum store_error end_audits(struct round *round, struct ledger *ledger, uint64_t counted,
                                   char remark[STORE_TEXT])
{
    struct pairlist *again = ledger_change_again(ledger);
    if (!again)
        return STORE_ERROR_MEMORY;
    pairlist_done(again);
    remark[0] = '\0';
    enum store_error error = STORE_OK;
    if (ledger->experiment.audit_ppm > 0)
        error = store_audit_end(round->store, ledger->experiment.id, counted, remark);
    if (error == STORE_OK && ledger->experiment.kind == STORE_TUNE)
        error = remark_outvoted(round, ledger->experiment.id, remark);
    return error;
}

enum store_error round_audit_abort(struct round *round, struct ledger *ledger, uint64_t counted)
{
    char remark[STORE_TEXT];
    return end_audits(round, ledger, counted, remark);
}

enum store_error round_audit_verdict(struct round *round, struct ledger *ledger, bool *waits,
                                     char remark[STORE_TEXT])
{
    remark[0] = '\0';
    *waits = ledger_awaiting(ledger) > 0;
    if (*waits)
        return round_report(round, ledger->experiment.id) ? STORE_OK : STORE_ERROR_MEMORY;
    return end_audits(round, ledger, tally_decided_at(ledger->draft) + 1, remark);
}

/* --- finished experiments --- */

static enum store_error choose(struct round *round, const struct store_audit_request *request,
                               struct pairlist *chosen)
{
    for (uint64_t pair = 0; pair < request->counted_pairs; pair++)
        if (audit_is_due(round->secret, request->experiment, pair, request->id, request->share_ppm) &&
            !pairlist_add(chosen, pair))
            return STORE_ERROR_MEMORY;
    enum store_error error = store_begin(round->store);
    if (error == STORE_OK)
        error = store_audit_begin_request(round->store, request->id, chosen->pairs, chosen->count);
    if (error == STORE_OK)
        return store_commit(round->store);
    if (error != STORE_ERROR_CONNECTION)
        store_rollback(round->store);
    return error;
}

static enum store_error ledger_need(struct round *round, uint64_t experiment, struct ledger **ledger)
{
    struct store_experiment row;
    char text[STORE_TEXT];
    *ledger = ledger_book_find(round->book, experiment);
    enum store_error error = *ledger ? STORE_OK : store_experiment_get(round->store, experiment, &row);
    if (error == STORE_OK && !*ledger)
        error = round_load(round, &row, text);
    *ledger = ledger_book_find(round->book, experiment);
    return error;
}

static enum store_error recheck(struct round *round, const struct store_audit_request *request,
                                struct job **jobs)
{
    struct pairlist chosen = {0};
    struct ledger *ledger = NULL;
    struct job *job = job_create(JOB_RECHECK);
    enum store_error error = job ? STORE_OK : STORE_ERROR_MEMORY;
    if (error == STORE_OK && !request->begun)
        error = choose(round, request, &chosen);
    if (error == STORE_OK)
        error = ledger_need(round, request->experiment, &ledger);
    for (size_t i = 0; i < chosen.count && error == STORE_OK; i++)
        if (!pairlist_add(&ledger->again, chosen.pairs[i]))
            error = STORE_ERROR_MEMORY;
    if (error == STORE_OK)
        error = round_replays(round, request->experiment, NULL, &job->recheck.again);
    pairlist_done(&chosen);
    if (error != STORE_OK) {
        job_destroy(job);
        return error;
    }
    job->recheck.experiment = ledger->experiment;
    job->next = *jobs;
    *jobs = job;
    return STORE_OK;
}

enum store_error round_rechecks(struct round *round, bool first, struct job **jobs)
{
    struct store_audit_request *requests;
    size_t count;
    enum store_error error = store_audit_requests(round->store, first, &requests, &count);
    for (size_t i = 0; i < count && error == STORE_OK; i++)
        error = recheck(round, &requests[i], jobs);
    free(requests);
    return error;
}
