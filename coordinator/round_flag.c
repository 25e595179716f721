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

enum { FLEET_PAIRS_A_TURN = 16384 };

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

static int by_worker(const struct store_worker_results *one, const struct store_worker_results *other)
{
    int order = strcmp(one->peer, other->peer);
    return order != 0 ? order : strcmp(one->name, other->name);
}

/* Adds two lists in order into a third. NULL without memory. */
static struct store_worker_results *merge(const struct store_worker_results *one, size_t one_count,
                                          const struct store_worker_results *other, size_t other_count,
                                          size_t *count)
{
    struct store_worker_results *both = malloc((one_count + other_count + 1) * sizeof *both);
    *count = 0;
    for (size_t i = 0, j = 0; both && (i < one_count || j < other_count);) {
        int order = i == one_count ? 1 : j == other_count ? -1 : by_worker(&one[i], &other[j]);
        struct store_worker_results sum = order <= 0 ? one[i] : other[j];
        if (order == 0) {
            sum.won += other[j].won;
            sum.lost += other[j].lost;
            sum.equal += other[j].equal;
        }
        i += order <= 0;
        j += order >= 0;
        both[(*count)++] = sum;
    }
    return both;
}

/* What the workers' pairs up to `end` came to is added to what is known of those before. */
static enum store_error read_fleet(struct round *round, struct ledger *ledger, uint64_t end)
{
    struct store_worker_results *fresh;
    size_t count;
    enum store_error error =
        store_worker_results(round->store, ledger->experiment.id, ledger->fleet_pairs, end, &fresh, &count);
    if (error != STORE_OK)
        return error;
    struct store_worker_results *all = merge(ledger->fleet, ledger->fleet_count, fresh, count, &count);
    free(fresh);
    if (!all)
        return STORE_ERROR_MEMORY;
    free(ledger->fleet);
    ledger->fleet = all;
    ledger->fleet_count = count;
    ledger->fleet_pairs = end;
    return STORE_OK;
}

static enum store_error look_at_fleet(struct round *round, const struct ledger *ledger)
{
    size_t count = ledger->fleet_count;
    struct fleet_worker *workers = calloc(count ? count : 1, sizeof *workers);
    enum store_error error = workers ? STORE_OK : STORE_ERROR_MEMORY;
    for (size_t i = 0; i < count && workers; i++)
        workers[i] = (struct fleet_worker){
            .pairs = {ledger->fleet[i].won, ledger->fleet[i].lost, ledger->fleet[i].equal}};
    if (workers)
        fleet_blame(workers, count);
    for (size_t i = 0; i < count && error == STORE_OK; i++)
        if (workers[i].blamed)
            error = put_aside(round, &ledger->fleet[i], workers[i].z, ledger->experiment.id);
    free(workers);
    return error;
}

/* One range a turn, so that no commit waits long; a look is at the first fleet_next pairs, whoever delivers
 * when. */
static enum store_error watch_fleet(struct round *round, struct ledger *ledger)
{
    uint64_t pairs = tally_prefix(ledger->tally), end = ledger->fleet_pairs + FLEET_PAIRS_A_TURN;
    if (ledger->fleet_next == 0)
        ledger->fleet_next = fleet_next_look(pairs);
    end = end < ledger->fleet_next ? end : ledger->fleet_next;
    if (ledger->ended || ledger->course || pairs < end)
        return STORE_OK;
    enum store_error error = read_fleet(round, ledger, end);
    if (error != STORE_OK || end < ledger->fleet_next)
        return error;
    error = look_at_fleet(round, ledger);
    ledger->fleet_next = fleet_next_look(end);
    return error;
}

enum store_error round_flag_workers(struct round *round)
{
    enum store_error error = store_charged_put_aside(round->store);
    for (size_t i = 0; i < round->book->count && error == STORE_OK; i++)
        error = watch_fleet(round, round->book->ledgers[i]);
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
