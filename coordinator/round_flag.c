#include "coordinator/round_flag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/captures.h"
#include "coordinator/fleet.h"
#include "coordinator/record.h"
#include "coordinator/round_audit.h"
#include "coordinator/withdraw.h"
#include "proto/log.h"
#include "sql/store_flag.h"

/* --- who --- */

static enum store_error put_aside(struct round *round, const struct store_worker_results *worker, double z,
                                  uint64_t experiment)
{
    char reason[STORE_TEXT];
    bool is_new;
    snprintf(reason, sizeof reason,
             "its %llu pairs won, %llu lost, %llu equal in experiment %llu differ from the others' (z %.1f)",
             (unsigned long long)worker->won, (unsigned long long)worker->lost,
             (unsigned long long)worker->equal, (unsigned long long)experiment, z);
    return store_worker_put_aside(round->store, worker->peer, worker->name, "statistics", reason,
                                  "the coordinator", &is_new);
}

static enum store_error look_at_fleet(struct round *round, uint64_t experiment)
{
    struct store_worker_results *results;
    size_t count;
    enum store_error error = store_worker_results(round->store, experiment, &results, &count);
    if (error != STORE_OK)
        return error;
    struct fleet_worker *workers = calloc(count ? count : 1, sizeof *workers);
    for (size_t i = 0; i < count && workers; i++)
        workers[i] = (struct fleet_worker){.pairs = {results[i].won, results[i].lost, results[i].equal}};
    if (workers)
        fleet_blame(workers, count);
    for (size_t i = 0; i < count && workers && error == STORE_OK; i++)
        if (workers[i].blamed)
            error = put_aside(round, &results[i], workers[i].z, experiment);
    error = workers ? error : STORE_ERROR_MEMORY;
    free(workers);
    free(results);
    return error;
}

enum store_error round_flag_workers(struct round *round)
{
    enum store_error error = store_charged_put_aside(round->store);
    for (size_t i = 0; i < round->book->count && error == STORE_OK; i++) {
        struct ledger *ledger = round->book->ledgers[i];
        uint64_t pairs = tally_prefix(ledger->tally);
        if (ledger->fleet_next == 0)
            ledger->fleet_next = fleet_next_look(pairs);
        if (ledger->ended || ledger->course || pairs < ledger->fleet_next)
            continue;
        error = look_at_fleet(round, ledger->experiment.id);
        ledger->fleet_next = fleet_next_look(pairs);
    }
    return error;
}

/* --- games --- */

static enum store_error count_anew(struct round *round, struct ledger *ledger)
{
    struct pairlist *again = ledger_change_again(ledger);
    struct job_replays replays = {0};
    if (!again)
        return STORE_ERROR_MEMORY;
    enum store_error error = round_recount(round, ledger);
    pairlist_done(again);
    if (error == STORE_OK)
        error = round_replays(round, ledger->experiment.id, NULL, &replays);
    for (size_t i = 0; i < replays.count && error == STORE_OK; i++)
        if (!pairlist_add(again, replays.pairs[i].pair))
            error = STORE_ERROR_MEMORY;
    free(replays.pairs);
    return error == STORE_OK ? round_put_counters(round) : error;
}

static enum store_error take_games(struct round *round, struct ledger *ledger, bool *moved)
{
    uint64_t games = 0;
    round->reports = NULL;
    enum store_error error = store_begin(round->store);
    if (error == STORE_OK)
        error = store_games_set_aside(round->store, ledger->experiment.id, &games);
    if (error == STORE_OK && games > 0)
        error = count_anew(round, ledger);
    if (error == STORE_OK && games > 0)
        error = captures_settle(round->store);
    if (error == STORE_OK)
        error = store_commit(round->store);
    else if (error != STORE_ERROR_CONNECTION)
        store_rollback(round->store);
    if (error == STORE_OK)
        ledger_keep(ledger);
    else
        ledger_discard(ledger);
    jobs_destroy(round->reports);
    round->reports = NULL;
    *moved = error == STORE_OK && games > 0;
    return error;
}

enum store_error round_flag_reopen(struct round *round, uint64_t experiment, bool *loaded)
{
    struct store_experiment row;
    char text[STORE_TEXT];
    struct ledger *ledger = ledger_book_find(round->book, experiment);
    enum store_error error = store_experiment_get(round->store, experiment, &row);
    if (error == STORE_OK && !ledger) {
        error = round_load(round, &row, text);
        ledger = ledger_book_find(round->book, experiment);
        *loaded = ledger != NULL;
    }
    if (error == STORE_OK && ledger_draft(ledger) != 0)
        error = STORE_ERROR_MEMORY;
    if (error != STORE_OK)
        return error;
    ledger->draft_ended = false;
    ledger->fleet_next = 0;
    error = round_recount(round, ledger);
    if (error == STORE_OK)
        error = round_audit_begin_stored(round, ledger);
    if (error == STORE_OK)
        error = count_anew(round, ledger);
    if (error == STORE_OK)
        error = captures_settle(round->store);
    /* The event loop hears of it all at once (JOB_RELOAD). */
    jobs_destroy(round->reports);
    round->reports = NULL;
    return error;
}

static enum store_error take_all(struct round *round, uint64_t **moved, size_t *moved_count)
{
    uint64_t *list;
    size_t count;
    enum store_error error = store_games_to_set_aside(round->store, &list, &count);
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        struct ledger *ledger = ledger_book_find(round->book, list[i]);
        bool taken = false;
        if (ledger && !ledger->ended)
            error = take_games(round, ledger, &taken);
        if (taken)
            list[(*moved_count)++] = list[i];
    }
    *moved = list;
    return error;
}

/* --- verdicts --- */

enum store_error round_flag_judge(struct round *round, const struct store_experiment *experiment)
{
    struct record record;
    char reason[STORE_TEXT];
    bool changes, written;
    enum store_error error = record_load(round->store, experiment->id, &record);
    if (error != STORE_OK || !record.has_verdict)
        return error;
    error = withdraw_judge(round->store, experiment, record.verdict.verdict,
                           record.verdict.counters.prefix_pairs, &changes, reason);
    if (error != STORE_OK || !changes)
        return error;
    log_line(LOG_LEVEL_WARNING, "verdict-withdrawn", "experiment=%llu reason=\"%s\"",
             (unsigned long long)experiment->id, reason);
    return store_verdict_withdraw(round->store, experiment->id, reason, &written);
}

static enum store_error judge_all(struct round *round)
{
    uint64_t *list;
    size_t count;
    enum store_error error = store_verdicts_to_judge(round->store, &list, &count);
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        struct store_experiment experiment;
        error = store_experiment_get(round->store, list[i], &experiment);
        if (error == STORE_OK)
            error = round_flag_judge(round, &experiment);
    }
    free(list);
    return error == STORE_OK ? store_flags_judged(round->store) : error;
}

enum store_error round_flag_games(struct round *round, uint64_t **moved, size_t *moved_count)
{
    *moved = NULL;
    *moved_count = 0;
    enum store_error error = take_all(round, moved, moved_count);
    return error == STORE_OK ? judge_all(round) : error;
}
