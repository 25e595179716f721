#include "coordinator/round_tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum store_error tell(enum store_error error, const char *reason, char text[STORE_TEXT])
{
    if (error != STORE_OK)
        snprintf(text, STORE_TEXT, "%s", reason);
    return error;
}

enum store_error round_tune_begin(struct round *round, struct job *job)
{
    char reason[TUNING_REASON] = "";
    return tell(course_begin(round->store, &job->create.experiment, reason), reason, job->text);
}

enum store_error round_tune_load(struct round *round, struct ledger *ledger, char text[STORE_TEXT])
{
    char reason[TUNING_REASON] = "";
    enum store_error error = STORE_OK;
    uint64_t id = ledger->experiment.id;
    ledger->course = course_load(round->store, &ledger->experiment, &error, reason);
    if (!ledger->course)
        return tell(error, reason, text);
    /* Of one that has ended nothing is leased; who plays a pair again is told with it. */
    if (ledger->ended)
        return STORE_OK;
    struct job_report *report = round_report(round, id);
    if (!report)
        return STORE_ERROR_MEMORY;
    report->prefix = tally_prefix(ledger->tally);
    tune_book_destroy(report->players);
    report->players = NULL;
    error = tune_history_book(round->store, id, ledger->course->tuning, &report->players, reason);
    return tell(error, reason, text);
}

static enum store_error block(struct round *round, const struct ledger *ledger, struct job_report *report,
                              const char *reason)
{
    report->blocked = true;
    return store_experiment_set_state(round->store, ledger->experiment.id, STORE_BLOCKED, reason);
}

static enum store_error end(struct round *round, struct ledger *ledger, struct job_report *report)
{
    char why[TUNING_REASON];
    enum store_error error =
        course_finish(ledger->course, round->store, &ledger->experiment, &report->follow_up, why);
    if (error == STORE_OK && report->follow_up == 0)
        error = store_event(round->store, "tune-without-match", ledger->experiment.id, 0, why);
    return error;
}

enum store_error round_tune_advance(struct round *round, struct ledger *ledger)
{
    char reason[TUNING_REASON] = "";
    struct course *course = ledger->course;
    uint64_t first = course->draft_applied + course->tuning->plan.lag;
    struct job_report *report = round_report(round, ledger->experiment.id);
    if (report && !report->players)
        report->players = tune_book_create(course->tuning->plan.batch, first);
    if (!report || !report->players)
        return STORE_ERROR_MEMORY;
    bool was_over = course_is_over(course);
    enum store_error error = course_advance(course, round->store, ledger->experiment.id,
                                            tally_prefix(ledger->draft), report->players, reason);
    if (error == STORE_OK && !was_over && course_is_over(course))
        error = end(round, ledger, report);
    return error == STORE_ERROR_DATA ? block(round, ledger, report, reason) : error;
}

enum store_error round_tune_artifact(struct round *round, struct job *job)
{
    char reason[TUNING_REASON] = "", text[STORE_TEXT];
    struct job_artifact *wanted = &job->artifact;
    enum store_error error =
        store_artifact_get(round->store, wanted->sha256, &wanted->content, &wanted->size);
    if (error != STORE_ERROR_REFUSED)
        return error;
    snprintf(text, sizeof text, "%s", store_reason(round->store));
    error = tune_history_artifact(round->store, wanted->sha256, &wanted->content, &wanted->size, reason);
    return tell(error, error == STORE_ERROR_REFUSED ? text : reason, job->text);
}

static int take_players(void *context, const struct store_tune_batch *batch)
{
    struct job_players *players = context;
    players->found = true;
    players->batch = *batch;
    players->batch.theta = NULL;
    return 0;
}

enum store_error round_tune_players(struct round *round, struct job_players *players)
{
    struct store_tune tune;
    players->found = false;
    players->batch_pairs = 0;
    enum store_error error = store_tune_get(round->store, players->experiment, &tune);
    if (error == STORE_ERROR_REFUSED)
        return STORE_OK;
    if (error != STORE_OK)
        return error;
    uint64_t batch = players->pair / tune.batch_pairs;
    players->batch_pairs = tune.batch_pairs;
    players->batch.batch = batch;
    int outcome =
        store_tune_batches(round->store, players->experiment, batch, batch + 1, take_players, players);
    return outcome < 0 ? (enum store_error)outcome : STORE_OK;
}

enum store_error round_tune_seat(struct round *round, const struct ledger *ledger, struct job_grant *grant)
{
    if (!ledger || !ledger->course || grant->players)
        return STORE_OK;
    grant->players = calloc(1, sizeof *grant->players);
    if (!grant->players)
        return STORE_ERROR_MEMORY;
    grant->players->experiment = grant->lease.experiment;
    grant->players->pair = grant->lease.first_pair;
    return round_tune_players(round, grant->players);
}
