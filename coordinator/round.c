#include "coordinator/round.h"
#include "coordinator/round_control.h"
#include "coordinator/specification_json.h"
#include "coordinator/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/captures.h"
#include "coordinator/round_audit.h"
#include "coordinator/round_tune.h"
#include "engine/tables.h"
#include "engine/weights.h"
#include "proto/artifact.h"
#include "proto/log.h"
#include "sql/store_audit.h"
#include "sql/store_repeat.h"

/* --- reading an experiment into a ledger --- */

struct loading {
    struct ledger *ledger;
    const uint64_t *disputed;
    size_t disputed_count, disputed_next;
    enum tally_answer worst;
    uint64_t worst_pair;
};

/* A pair is held before its rows, which come in key order, complete it. */
static void hold_up_to(struct loading *loading, uint64_t pair)
{
    while (loading->disputed_next < loading->disputed_count &&
           loading->disputed[loading->disputed_next] <= pair) {
        uint64_t disputed = loading->disputed[loading->disputed_next++];
        if (ledger_hold(loading->ledger->tally, disputed) != 0)
            loading->worst = TALLY_MEMORY;
    }
}

static void load_game(void *context, const struct store_game *game)
{
    struct loading *loading = context;
    hold_up_to(loading, game->pair);
    enum tally_answer answer = ledger_add_game(loading->ledger, loading->ledger->tally, game);
    if (answer < 0 && loading->worst >= 0) {
        loading->worst = answer;
        loading->worst_pair = game->pair;
    }
    loading->ledger->games_stored++;
}

static void load_standing(void *context, uint64_t pair, unsigned leg, unsigned a_half_points)
{
    struct store_game game = {
        .pair = pair, .leg = (uint8_t)leg, .a_half_points = (uint8_t)a_half_points, .moves = ""};
    load_game(context, &game);
}

/* Without them the experiment is known and counted, and waits for a referee. */
static enum store_error load_terms(struct round *round, struct ledger *ledger, char text[STORE_TEXT])
{
    enum store_error error = terms_load(round->store, &ledger->experiment, &ledger->terms, text);
    if (error != STORE_ERROR_REFUSED)
        return error;
    log_line(LOG_LEVEL_ERROR, "no-terms", "experiment=%llu reason=\"%s\"",
             (unsigned long long)ledger->experiment.id, text);
    return STORE_OK;
}

/* Fills the tally of a ledger that has counted nothing yet. */
static enum store_error count_stored(struct round *round, struct ledger *ledger, char text[STORE_TEXT])
{
    uint64_t *disputed = NULL, experiment = ledger->experiment.id;
    struct loading loading = {.ledger = ledger};
    enum store_error error =
        store_disputed_pairs(round->store, experiment, &disputed, &loading.disputed_count);
    loading.disputed = disputed;
    if (error == STORE_OK)
        error = ledger->games ? store_played_all(round->store, experiment, load_game, &loading)
                              : store_standings(round->store, experiment, load_standing, &loading);
    if (error != STORE_OK)
        snprintf(text, STORE_TEXT, "%s", store_reason(round->store));
    hold_up_to(&loading, UINT64_MAX);
    free(disputed);
    if (error == STORE_OK && loading.worst < 0) {
        snprintf(text, STORE_TEXT, "experiment %llu, pair %llu: %s", (unsigned long long)experiment,
                 (unsigned long long)loading.worst_pair, tally_answer_text(loading.worst));
        error = STORE_ERROR_REFUSED;
    }
    return error;
}

enum store_error round_load(struct round *round, const struct store_experiment *experiment,
                            char text[STORE_TEXT])
{
    struct ledger *ledger = ledger_create(experiment);
    if (!ledger)
        return STORE_ERROR_MEMORY;
    enum store_error error = load_terms(round, ledger, text);
    if (error == STORE_OK && ledger_tell_repeats(ledger) != 0)
        error = STORE_ERROR_MEMORY;
    if (error == STORE_OK)
        error = count_stored(round, ledger, text);
    if (error == STORE_OK && experiment->kind == STORE_TUNE)
        error = round_tune_load(round, ledger, text);
    if (error == STORE_OK) {
        error = round_audit_load(round, ledger);
        if (error != STORE_OK)
            snprintf(text, STORE_TEXT, "%s", store_reason(round->store));
    }
    if (error == STORE_OK && ledger_book_add(round->book, ledger) != 0)
        error = STORE_ERROR_MEMORY;
    if (error != STORE_OK)
        ledger_destroy(ledger);
    return error;
}

enum store_error round_recount(struct round *round, struct ledger *ledger)
{
    char text[STORE_TEXT];
    struct ledger *fresh = ledger_create(&ledger->experiment);
    if (!fresh || ledger_draft(ledger) != 0) {
        ledger_destroy(fresh);
        return STORE_ERROR_MEMORY;
    }
    fresh->games = ledger->games; /* lent */
    if (fresh->games)
        tally_tell_repeats(fresh->tally);
    enum store_error error = count_stored(round, fresh, text);
    if (error == STORE_OK) {
        tally_swap(ledger->draft, fresh->tally);
        ledger->draft_games_stored = fresh->games_stored;
        ledger->recounted = ledger->games != NULL;
        ledger->fleet_count = ledger->fleet_pairs = 0; /* read anew */
    }
    fresh->games = NULL;
    ledger_destroy(fresh);
    return error;
}

/* --- reports --- */

struct job_report *round_report(struct round *round, uint64_t experiment)
{
    for (struct job *job = round->reports; job; job = job->next)
        if (job->report.experiment == experiment)
            return &job->report;
    struct job *job = job_create(JOB_REPORT);
    if (!job)
        return NULL;
    job->report.experiment = experiment;
    job->next = round->reports;
    round->reports = job;
    return &job->report;
}

static void reports_destroy(struct round *round)
{
    while (round->reports) {
        struct job *job = round->reports;
        round->reports = job->next;
        job_destroy(job);
    }
}

/* Arrays of a report grow in powers of two. */
static bool full(size_t count)
{
    return count == 0 || (count >= 16 && (count & (count - 1)) == 0);
}

static int report_complete(struct job_report *report, uint64_t pair, uint64_t session)
{
    size_t count = report->complete_count;
    if (full(count)) {
        struct job_pair *larger = realloc(report->complete, (count ? 2 * count : 16) * sizeof *larger);
        if (!larger)
            return -1;
        report->complete = larger;
    }
    report->complete[report->complete_count++] = (struct job_pair){pair, session};
    return 0;
}

/* --- games --- */

static enum store_error count_game(struct round *round, const struct store_game *game,
                                   enum store_outcome outcome)
{
    struct ledger *ledger = ledger_book_find(round->book, game->experiment);
    struct job_report *report = round_report(round, game->experiment);
    if (!ledger || !report || ledger_draft(ledger) != 0)
        return STORE_ERROR_MEMORY;
    if (outcome == STORE_GAME_INSERTED)
        ledger->draft_games_stored++;
    if (ledger->draft_ended)
        return STORE_OK;
    if (outcome == STORE_GAME_INSERTED && ledger_add_game(ledger, ledger->draft, game) < 0)
        return STORE_ERROR_MEMORY;
    if (tally_pair_complete(ledger->draft, game->pair) &&
        report_complete(report, game->pair, game->session) != 0)
        return STORE_ERROR_MEMORY;
    return STORE_OK;
}

static bool has_time(const struct store_limits *limits)
{
    return limits->time_ms > 0 || limits->clock_ms > 0;
}

/* A claimed ending waits until a second worker says the same; under time limits there is no such thing, and a
 * resignation follows from the scores. */
static bool waits_for_proof(const struct ledger *ledger, const struct store_game *game)
{
    return game->claimed && strcmp(game->reason, "resign") != 0 && ledger &&
           !has_time(&ledger->experiment.a.limits) && !has_time(&ledger->experiment.b.limits);
}

/* Before anything of the round counts: a pair may complete and be disputed in one transaction. */
static enum store_error hold_conflicts(struct round *round, const struct store_game *games,
                                       const enum store_outcome *outcome, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ledger *ledger = ledger_book_find(round->book, games[i].experiment);
        bool disputed = outcome[i] == STORE_GAME_CONFLICT ||
                        (outcome[i] == STORE_GAME_INSERTED && waits_for_proof(ledger, &games[i]));
        if (!disputed || (ledger && ledger->ended))
            continue;
        if (!ledger || ledger_draft(ledger) != 0 || ledger_hold(ledger->draft, games[i].pair) != 0)
            return STORE_ERROR_MEMORY;
    }
    return STORE_OK;
}

static bool opens_or_settles(const struct ledger *ledger, const struct store_game *game,
                             enum store_outcome outcome)
{
    return outcome != STORE_GAME_INSERTED || waits_for_proof(ledger, game);
}

/* Games that met a stored one may settle its pair's dispute, or open it, and so may a claimed ending. Legs of
 * a pair lie side by side. */
static enum store_error settle_disputes(struct round *round, const struct store_game *games,
                                        const enum store_outcome *outcome, size_t count)
{
    enum store_error error = STORE_OK;
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        struct ledger *ledger = ledger_book_find(round->book, games[i].experiment);
        bool last_leg = i + 1 == count || games[i + 1].pair != games[i].pair ||
                        games[i + 1].experiment != games[i].experiment;
        bool met = opens_or_settles(ledger, &games[i], outcome[i]) ||
                   (i > 0 && games[i - 1].pair == games[i].pair &&
                    opens_or_settles(ledger, &games[i - 1], outcome[i - 1]));
        if (!last_leg || !met)
            continue;
        if (ledger->draft_ended || !tally_is_held(ledger->draft, games[i].pair)) {
            bool conflict =
                outcome[i] == STORE_GAME_CONFLICT ||
                (i > 0 && games[i - 1].pair == games[i].pair && outcome[i - 1] == STORE_GAME_CONFLICT);
            error = round_audit_settle(round, ledger, &games[i], conflict);
            continue;
        }
        error = round_audit_held(round, ledger, games[i].pair);
    }
    return error;
}

struct counting {
    const struct ledger_book *book;
    const struct store_game *games;
    const enum store_outcome *outcome; /* NULL: as if all were new */
    size_t count;
    bool done, no_memory;
    struct captures captures;
};

static void count_captures(void *context)
{
    struct counting *counting = context;
    counting->done = true;
    for (size_t i = 0; i < counting->count && !counting->no_memory; i++) {
        const struct store_game *game = &counting->games[i];
        const struct ledger *ledger = ledger_book_find(counting->book, game->experiment);
        if (ledger && ledger->terms && (!counting->outcome || counting->outcome[i] == STORE_GAME_INSERTED))
            counting->no_memory =
                captures_count(&counting->captures, game->experiment, game->pair / STORE_SEGMENT_PAIRS,
                               &ledger->terms->rules, game->moves, game->plies) != 0;
    }
}

/* What the games that were stored capture: what was counted of all of them, where all are new. */
static enum store_error put_captures(struct round *round, struct counting *counting,
                                     const enum store_outcome *outcome)
{
    enum store_error error = STORE_OK;
    bool all = counting->done;
    for (size_t i = 0; i < counting->count && error == STORE_OK; i++) {
        const struct store_game *game = &counting->games[i];
        const struct ledger *ledger = ledger_book_find(round->book, game->experiment);
        all = all && outcome[i] == STORE_GAME_INSERTED;
        if (outcome[i] == STORE_GAME_INSERTED && (!ledger || !ledger->terms))
            error = store_captures_forget(round->store, game->experiment, game->pair / STORE_SEGMENT_PAIRS);
    }
    if (!all) {
        captures_done(&counting->captures);
        counting->no_memory = false;
        counting->outcome = outcome;
        count_captures(counting);
    }
    if (error == STORE_OK && counting->no_memory)
        error = STORE_ERROR_MEMORY;
    for (size_t i = 0; i < counting->captures.count && error == STORE_OK; i++)
        error = store_captures_add(round->store, &counting->captures.segments[i]);
    return error;
}

/* A settled dispute may have replaced a game: its segment is due. */
static bool may_replace(struct round *round, const struct store_game *games,
                        const enum store_outcome *outcome, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ledger *ledger = ledger_book_find(round->book, games[i].experiment);
        if (opens_or_settles(ledger, &games[i], outcome[i]) || !ledger || !ledger->terms)
            return true;
    }
    return false;
}

static size_t games_of(const struct job *jobs)
{
    size_t count = 0;
    for (const struct job *job = jobs; job; job = job->next)
        if (job->kind == JOB_RESULTS)
            count += job->results.count;
    return count;
}

static enum store_error put_games(struct round *round, struct job *jobs)
{
    size_t count = games_of(jobs), at = 0;
    if (count == 0)
        return STORE_OK;
    struct store_game *games = malloc(count * sizeof *games);
    enum store_outcome *outcome = malloc(count * sizeof *outcome);
    enum store_error error = games && outcome ? STORE_OK : STORE_ERROR_MEMORY;
    for (struct job *job = jobs; job && error == STORE_OK; job = job->next)
        if (job->kind == JOB_RESULTS && job->results.count) {
            memcpy(games + at, job->results.games, job->results.count * sizeof *games);
            at += job->results.count;
        }
    struct counting counting = {.book = round->book, .games = games, .count = count};
    const struct store_beside beside = {count_captures, &counting};
    if (error == STORE_OK)
        error = store_games_put_beside(round->store, games, count, outcome, &beside);
    if (error == STORE_OK)
        error = store_faults_of_games(round->store, games, count);
    if (error == STORE_OK)
        error = put_captures(round, &counting, outcome);
    captures_done(&counting.captures);
    if (error == STORE_OK)
        error = hold_conflicts(round, games, outcome, count);
    for (size_t i = 0; i < count && error == STORE_OK; i++)
        error = count_game(round, &games[i], outcome[i]);
    if (error == STORE_OK)
        error = round_audit_games(round, games, outcome, count);
    if (error == STORE_OK)
        error = settle_disputes(round, games, outcome, count);
    if (error == STORE_OK && may_replace(round, games, outcome, count))
        error = captures_settle(round->store);
    at = 0;
    for (struct job *job = jobs; job && error == STORE_OK; job = job->next)
        if (job->kind == JOB_RESULTS && job->results.count) {
            memcpy(job->results.outcome, outcome + at, job->results.count * sizeof *outcome);
            at += job->results.count;
        }
    free(games);
    free(outcome);
    return error;
}

/* Once the audits of what it counts are closed. */
static enum store_error put_verdict(struct round *round, struct ledger *ledger)
{
    char remark[STORE_TEXT];
    bool waits, written;
    enum store_error error = round_audit_verdict(round, ledger, &waits, remark);
    if (error != STORE_OK || waits)
        return error;
    struct store_verdict verdict = ledger_verdict(ledger, NULL, remark);
    ledger->draft_ended = true;
    return store_verdict_write(round->store, &verdict, &written);
}

enum store_error round_put_counters(struct round *round)
{
    enum store_error error = STORE_OK;
    for (size_t i = 0; i < round->book->count && error == STORE_OK; i++) {
        struct ledger *ledger = round->book->ledgers[i];
        if (!ledger->draft)
            continue;
        struct store_counters counters = ledger_counters(ledger);
        error = ledger_put_repeats(ledger, round->store);
        if (error == STORE_OK)
            error = store_counters_update(round->store, ledger->experiment.id, &counters);
        if (error == STORE_OK && ledger->course && !ledger->draft_ended)
            error = round_tune_advance(round, ledger);
        if (error == STORE_OK && !ledger->draft_ended && tally_decision(ledger->draft) != TALLY_NONE)
            error = put_verdict(round, ledger);
    }
    return error;
}

/* --- the rest of a round --- */

/* A lease asked for before the verdict, or before a pause, and written after it would be one too many. */
static enum store_error put_grant(struct round *round, struct job_grant *grant, struct store_lease *fresh,
                                  size_t *count)
{
    const struct ledger *ledger = ledger_book_find(round->book, grant->lease.experiment);
    if (grant->again) {
        grant->late = ledger && !ledger_has_ended(ledger) && ledger->experiment.state != STORE_RUNNING;
        enum store_error error = grant->late ? STORE_OK : round_tune_seat(round, ledger, grant);
        return grant->late || error != STORE_OK ? error : store_replay_lease(round->store, &grant->lease);
    }
    grant->late = !ledger || ledger_has_ended(ledger) || ledger->experiment.state != STORE_RUNNING;
    if (!grant->late)
        fresh[(*count)++] = grant->lease;
    return STORE_OK;
}

static size_t jobs_of(const struct job *jobs, enum job_kind kind)
{
    size_t count = 0;
    for (const struct job *job = jobs; job; job = job->next)
        count += job->kind == kind;
    return count;
}

/* All in one statement. */
static enum store_error put_grants(struct round *round, struct job *jobs)
{
    size_t most = jobs_of(jobs, JOB_GRANT), count = 0;
    if (most == 0)
        return STORE_OK;
    struct store_lease *fresh = malloc(most * sizeof *fresh);
    enum store_error error = fresh ? STORE_OK : STORE_ERROR_MEMORY;
    for (struct job *job = jobs; job && error == STORE_OK; job = job->next)
        if (job->kind == JOB_GRANT)
            error = put_grant(round, &job->grant, fresh, &count);
    if (error == STORE_OK)
        error = store_lease_insert(round->store, fresh, count);
    free(fresh);
    return error;
}

/* One statement for each way to end. */
static enum store_error put_ends(struct round *round, const struct job *jobs)
{
    enum store_error error = STORE_OK;
    size_t most = 0;
    for (const struct job *job = jobs; job; job = job->next)
        most += job->kind == JOB_LEASES_END ? job->leases_end.count : 0;
    uint64_t *ids = most ? malloc(most * sizeof *ids) : NULL;
    if (most && !ids)
        return STORE_ERROR_MEMORY;
    for (int state = STORE_LEASE_DONE; state <= STORE_LEASE_RELEASED && most && error == STORE_OK; state++) {
        size_t count = 0;
        for (const struct job *job = jobs; job; job = job->next)
            for (size_t i = 0; job->kind == JOB_LEASES_END && i < job->leases_end.count; i++)
                if ((int)job->leases_end.state == state)
                    ids[count++] = job->leases_end.ids[i];
        error = store_lease_end(round->store, ids, count, (enum store_lease_state)state);
    }
    free(ids);
    return error;
}

static enum store_error put_row(struct round *round, struct job *job)
{
    switch (job->kind) {
    case JOB_NUMBERS:
        return store_lease_numbers(round->store, JOB_NUMBERS_COUNT, &job->numbers);
    case JOB_SESSION:
        return store_session_insert(round->store, &job->session_row);
    case JOB_BENCH:
        return store_session_measured(round->store, &job->session_row);
    case JOB_REFERENCE:
        return store_reference_put(round->store, job->reference_speed);
    case JOB_SESSION_END:
        return store_session_end(round->store, job->session);
    case JOB_BLOCK:
        return store_experiment_set_state(round->store, job->event.experiment, STORE_BLOCKED,
                                          job->event.text);
    case JOB_FAULT:
        return store_fault_put(round->store, &job->fault.row);
    case JOB_HOOK_END:
        return store_hook_end(round->store, job->event.experiment, job->event.kind, job->event.text);
    case JOB_FLAG: {
        bool is_new;
        return store_worker_put_aside(round->store, job->flag.peer, job->flag.name, "failures",
                                      job->flag.reason, "the coordinator", &is_new);
    }
    case JOB_EVENT:
        return store_event(round->store, job->event.kind, job->event.experiment, job->event.session,
                           job->event.text);
    default:
        return STORE_OK;
    }
}

static void finish_reports(struct round *round)
{
    for (struct job *job = round->reports; job; job = job->next) {
        const struct ledger *ledger = ledger_book_find(round->book, job->report.experiment);
        job->report.prefix = tally_prefix(ledger->tally);
        job->report.ended = ledger->ended;
        job->report.awaiting = ledger_awaiting(ledger);
    }
}

static void note_blocked(struct round *round, const struct job *jobs)
{
    for (const struct job *job = jobs; job; job = job->next) {
        uint64_t experiment = job->kind == JOB_BLOCK                           ? job->event.experiment
                              : job->kind == JOB_REPORT && job->report.blocked ? job->report.experiment
                                                                               : 0;
        struct ledger *ledger = experiment ? ledger_book_find(round->book, experiment) : NULL;
        if (ledger)
            ledger->experiment.state = STORE_BLOCKED;
    }
}

enum store_error round_commit(struct round *round, struct job *jobs)
{
    round->reports = NULL;
    enum store_error error = store_begin(round->store);
    for (struct job *job = jobs; job && error == STORE_OK; job = job->next)
        if (job->kind == JOB_SESSION)
            error = put_row(round, job);
    if (error == STORE_OK)
        error = put_games(round, jobs);
    for (struct job *job = jobs; job && error == STORE_OK; job = job->next)
        if (job->kind == JOB_AUDIT_WAIVE)
            error = round_audit_waive(round, job->event.experiment);
    if (error == STORE_OK)
        error = round_put_counters(round);
    if (error == STORE_OK)
        error = round_audit_report(round);
    if (error == STORE_OK)
        error = put_grants(round, jobs);
    if (error == STORE_OK)
        error = put_ends(round, jobs);
    for (struct job *job = jobs; job && error == STORE_OK; job = job->next)
        if (job->kind != JOB_SESSION)
            error = put_row(round, job);
    if (error == STORE_OK)
        error = store_commit(round->store);
    bool committed = error == STORE_OK;
    for (struct job *job = jobs; job; job = job->next) {
        job->error = error;
        if (!committed)
            snprintf(job->text, sizeof job->text, "%s", store_reason(round->store));
    }
    for (size_t i = 0; i < round->book->count; i++)
        if (committed)
            ledger_keep(round->book->ledgers[i]);
        else
            ledger_discard(round->book->ledgers[i]);
    if (committed) {
        note_blocked(round, jobs);
        note_blocked(round, round->reports);
        finish_reports(round);
        return STORE_OK;
    }
    reports_destroy(round);
    if (error != STORE_ERROR_CONNECTION && store_rollback(round->store) == STORE_ERROR_CONNECTION)
        error = STORE_ERROR_CONNECTION;
    return error;
}

/* --- single jobs --- */

/* The built-in starting weights exist for every rule set: they enter the database when an experiment first
 * plays with them. */
static enum store_error put_starting(struct round *round, const struct store_experiment *experiment)
{
    struct weights *weights = weights_create_starting(experiment->rules);
    struct store_weights row = {.kind = "table"};
    void *bytes = NULL;
    size_t size;
    enum store_error error = STORE_ERROR_MEMORY;
    if (weights && weights_serialize(weights, &bytes, &size) == WEIGHTS_OK) {
        artifact_hash(bytes, size, row.sha256);
        snprintf(row.rules, sizeof row.rules, "%s", experiment->rules);
        bool usual = strcmp(experiment->rules, "site") == 0;
        snprintf(row.name, sizeof row.name, "starting%s%.50s", usual ? "" : "-",
                 usual ? "" : experiment->rules);
        bool wanted = memcmp(row.sha256, experiment->a.weights, STORE_HASH) == 0 ||
                      memcmp(row.sha256, experiment->b.weights, STORE_HASH) == 0;
        error = wanted ? store_weights_put(round->store, &row, bytes, size) : STORE_OK;
    }
    free(bytes);
    weights_destroy(weights);
    return error;
}

/* Weights that no worker could load must not become an experiment. */
static enum store_error check_weights(struct round *round, struct job *job, const uint8_t sha256[STORE_HASH])
{
    void *content = NULL;
    size_t size;
    char hex[ARTIFACT_HEX];
    enum store_error error = store_artifact_get(round->store, sha256, &content, &size);
    if (error != STORE_OK)
        return error;
    struct weights *weights = NULL;
    enum weights_error parsed = weights_parse(content, size, job->create.experiment.rules, &weights);
    free(content);
    weights_destroy(weights);
    if (parsed == WEIGHTS_OK)
        return STORE_OK;
    artifact_hex(sha256, hex);
    snprintf(job->text, sizeof job->text, "weights %.12s cannot play %s: %s", hex,
             job->create.experiment.rules, weights_error_text(parsed));
    return STORE_ERROR_REFUSED;
}

/* Engines and tables are files that an operator added; tables fit the rules or are refused. */
static enum store_error check_files(struct round *round, struct job *job, struct store_player *player)
{
    struct store_engine engine;
    struct store_tables tables;
    struct rules rules, family;
    char why[256];
    enum store_error error = STORE_OK;
    if (!message_hash_is_none(player->engine))
        error = store_engine_find(round->store, NULL, player->engine, &engine);
    if (error == STORE_OK && !message_hash_is_none(player->engine))
        memcpy(player->signature, engine.signature, sizeof player->signature);
    if (error != STORE_OK || message_hash_is_none(player->tables))
        return error;
    error = store_tables_find(round->store, NULL, player->tables, &tables);
    if (error != STORE_OK)
        return error;
    if (rules_parse(job->create.experiment.rules, &rules, why, sizeof why) == 0 &&
        rules_parse(tables.rules, &family, why, sizeof why) == 0 && tables_same_family(&rules, &family))
        return STORE_OK;
    snprintf(job->text, sizeof job->text, "tables %s are for the rules %s, this experiment plays %s",
             tables.name, tables.rules, job->create.experiment.rules);
    return STORE_ERROR_REFUSED;
}

/* Opens book and tables, which must fit; a book has no more pairs than openings. */
static enum store_error check_terms(struct round *round, struct job *job)
{
    struct store_experiment *experiment = &job->create.experiment;
    terms_destroy(job->create.terms); /* of a try before this one */
    job->create.terms = NULL;
    enum store_error error = terms_load(round->store, experiment, &job->create.terms, job->text);
    const struct book *book = error == STORE_OK ? job->create.terms->setup.book : NULL;
    if (book == NULL || experiment->planned_pairs <= book->count)
        return error;
    if (experiment->kind == STORE_TUNE) {
        snprintf(job->text, sizeof job->text,
                 "the book has %u openings, and a tune needs one for each of its "
                 "%llu pairs: take a larger book, or fewer pairs",
                 book->count, (unsigned long long)experiment->planned_pairs);
        return STORE_ERROR_REFUSED;
    }
    experiment->planned_pairs = book->count;
    if (!experiment->has_sprt || experiment->sprt.batch <= book->count)
        return STORE_OK;
    snprintf(job->text, sizeof job->text, "the book has %u openings, fewer than one batch of %u pairs",
             book->count, experiment->sprt.batch);
    return STORE_ERROR_REFUSED;
}

/* The key is known: the experiment that is there must be what was asked for. */
static enum store_error adopt(struct round *round, struct job *job)
{
    struct store_experiment there;
    struct message_create_experiment old, new;
    char differences[300];
    uint64_t id = job->create.experiment.id;
    enum store_error error = store_experiment_get(round->store, id, &there);
    if (error != STORE_OK)
        return error;
    wire_create(&there, &old);
    wire_create(&job->create.experiment, &new);
    if (new.spec.reference_speed == 0) /* whatever it was when the other was made */
        new.spec.reference_speed = old.spec.reference_speed;
    if (specification_json_differ(&old, &new, differences, sizeof differences)) {
        snprintf(job->text, sizeof job->text,
                 "the key \"%s\" stands for experiment %llu, which is another: %s; give another key, or none",
                 there.idempotency_key, (unsigned long long)id, differences);
        return STORE_ERROR_REFUSED;
    }
    job->create.experiment = there;
    return STORE_OK;
}

static enum store_error single_create(struct round *round, struct job *job)
{
    struct job_create *create = &job->create;
    enum store_error error = put_starting(round, &create->experiment);
    if (error == STORE_OK)
        error = check_weights(round, job, create->experiment.a.weights);
    if (error == STORE_OK)
        error = check_weights(round, job, create->experiment.b.weights);
    if (error == STORE_OK)
        error = check_files(round, job, &create->experiment.a);
    if (error == STORE_OK)
        error = check_files(round, job, &create->experiment.b);
    if (error == STORE_OK)
        error = check_terms(round, job);
    create->experiment.repeat_rule = repeat_game_rule(&create->experiment);
    if (error == STORE_OK)
        error = store_experiment_create(round->store, &create->experiment, &create->existed);
    if (error != STORE_OK)
        return error;
    if (!create->existed && create->experiment.kind == STORE_TUNE)
        error = round_tune_begin(round, job);
    if (error != STORE_OK)
        return error;
    if (create->existed)
        return adopt(round, job);
    error = round_pend(round, job);
    if (error != STORE_OK)
        return error;
    char text[STORE_TEXT];
    snprintf(text, sizeof text, "created by %s%s", create->experiment.created_by,
             create->submitter[0] ? ": waits for approval" : "");
    return store_event(round->store, "experiment-created", create->experiment.id, 0, text);
}

static enum store_error single_promote(struct round *round, struct job *job)
{
    struct job_promote *promote = &job->promote;
    return store_promote(round->store, promote->line, promote->sha256, promote->experiment, promote->by,
                         promote->reason, &promote->epoch);
}

static enum store_error single_lookup(struct round *round, struct job *job)
{
    struct job_lookup *lookup = &job->lookup;
    enum store_error error = store_experiment_get(round->store, lookup->id, &lookup->experiment);
    lookup->found = error == STORE_OK;
    return error == STORE_ERROR_REFUSED ? STORE_OK : error;
}

static enum store_error single_work(struct round *round, struct job *job)
{
    switch (job->kind) {
    case JOB_CREATE:
        return single_create(round, job);
    case JOB_CONTROL:
        return round_control(round, job);
    case JOB_PROMOTE:
        return single_promote(round, job);
    case JOB_HOOKS:
        free(job->hooks.list);
        return store_hooks_claim(round->store, job->hooks.claim, job->hooks.limit, &job->hooks.list,
                                 &job->hooks.count);
    case JOB_ARTIFACT:
        return round_tune_artifact(round, job);
    case JOB_SEALS:
        return store_seals(round->store, job->seals.sha256, job->seals.list, &job->seals.count);
    case JOB_LOOKUP:
        return single_lookup(round, job);
    case JOB_PLAYERS:
        return round_tune_players(round, &job->players);
    default:
        return STORE_OK;
    }
}

/* What enters memory only once the transaction stands. */
static enum store_error single_enter(struct round *round, struct job *job)
{
    const struct store_experiment *experiment = NULL;
    if (job->kind == JOB_CREATE)
        experiment = &job->create.experiment;
    if (job->kind == JOB_LOOKUP && job->lookup.found)
        experiment = &job->lookup.experiment;
    if (!experiment || ledger_book_find(round->book, experiment->id))
        return STORE_OK;
    return round_load(round, experiment, job->text);
}

enum store_error round_single(struct round *round, struct job *job)
{
    round->reports = NULL;
    enum store_error error = store_begin(round->store);
    if (error == STORE_OK)
        error = single_work(round, job);
    if (error == STORE_OK)
        error = store_commit(round->store);
    if (job->kind == JOB_CONTROL)
        round_control_end(round, job, error == STORE_OK);
    if (error != STORE_OK) {
        if (!job->text[0])
            snprintf(job->text, sizeof job->text, "%s", store_reason(round->store));
        if (error != STORE_ERROR_CONNECTION && store_rollback(round->store) == STORE_ERROR_CONNECTION)
            error = STORE_ERROR_CONNECTION;
    } else {
        error = single_enter(round, job);
    }
    job->error = error;
    return error;
}
