#include "coordinator/round_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/round_audit.h"
#include "coordinator/round_flag.h"

static enum store_error refuse(struct job *job, const char *why)
{
    snprintf(job->text, sizeof job->text, "experiment %llu %s", (unsigned long long)job->control.experiment,
             why);
    return STORE_ERROR_REFUSED;
}

/* `paused by anna: the room is hot` */
static enum store_error log_it(struct round *round, const struct job *job)
{
    const struct job_control *control = &job->control;
    char kind[32], what[STORE_TEXT], text[STORE_TEXT];
    snprintf(kind, sizeof kind, "experiment-%s", control_done_word(control->verb));
    snprintf(what, sizeof what, "%s", control_done_word(control->verb));
    if (control->verb == MESSAGE_VERB_PRIORITY)
        snprintf(what, sizeof what, "priority %d given", (int)control->priority);
    if (control->verb == MESSAGE_VERB_DELETE)
        snprintf(what, sizeof what, "%s, with %llu games,", control_done_word(control->verb),
                 (unsigned long long)control->games);
    snprintf(text, sizeof text, "%.100s by %s%s%.320s", what, control->by, control->text[0] ? ": " : "",
             control->text);
    return store_event(round->store, kind, control->experiment, 0, text);
}

/* Nobody approves what was asked for with the same key. */
static enum store_error move(struct round *round, struct job *job, enum store_state from,
                             const char *submitter)
{
    struct job_control *control = &job->control;
    enum store_state to = control->step.state;
    char reason[STORE_TEXT] = "";
    if (control->verb == MESSAGE_VERB_APPROVE && strcmp(submitter, control->user) == 0)
        return refuse(job, "was asked for with this very key: somebody else must approve it");
    if (to != STORE_RUNNING)
        snprintf(reason, sizeof reason, "by %s%s%.400s", control->by, control->text[0] ? ": " : "",
                 control->text);
    enum store_error error = store_experiment_set_state(round->store, control->experiment, to, reason);
    if (error == STORE_OK && from == STORE_BLOCKED)
        error = store_disputes_restart(round->store, control->experiment);
    if (error == STORE_OK && from == STORE_BLOCKED)
        error = round_replays(round, control->experiment, NULL, &control->again);
    return error;
}

static enum store_error change(struct round *round, const struct job_control *control)
{
    if (control->verb == MESSAGE_VERB_PRIORITY)
        return store_experiment_prioritize(round->store, control->experiment, control->priority);
    return store_experiment_annotate(round->store, control->experiment, control->text);
}

/* The verdict `aborted`, over what counted so far. */
static enum store_error end(struct round *round, struct job *job)
{
    struct job_control *control = &job->control;
    struct ledger *ledger = ledger_book_find(round->book, control->experiment);
    bool written = false;
    if (!ledger || ledger_draft(ledger) != 0)
        return STORE_ERROR_MEMORY;
    struct store_verdict verdict = ledger_verdict(ledger, control->by, control->text);
    enum store_error error = store_verdict_write(round->store, &verdict, &written);
    ledger->draft_ended = true;
    if (error == STORE_OK)
        error = round_audit_abort(round, ledger, verdict.counters.prefix_pairs);
    return error == STORE_OK && !written ? refuse(job, "is not running: it has its verdict") : error;
}

/* A finished experiment whose verdict is withdrawn goes on: what nobody believes any more is played again. */
static enum store_error reopen(struct round *round, struct job *job)
{
    struct job_control *control = &job->control;
    bool withdrawn = false;
    uint64_t games = 0;
    enum store_error error = store_verdict_is_withdrawn(round->store, control->experiment, &withdrawn);
    if (error == STORE_OK && !withdrawn)
        return refuse(job, control->step.text);
    if (error == STORE_OK)
        error = store_experiment_reopen(round->store, control->experiment, control->by, &games);
    return error == STORE_OK ? round_flag_reopen(round, control->experiment, &control->loaded) : error;
}

static enum store_error perform(struct round *round, struct job *job, enum store_state from,
                                const char *submitter)
{
    struct job_control *control = &job->control;
    switch (control->step.effect) {
    case CONTROL_MOVE:
        return move(round, job, from, submitter);
    case CONTROL_CHANGE:
        return change(round, control);
    case CONTROL_END:
        return end(round, job);
    case CONTROL_DELETE:
        return store_experiment_delete(round->store, control->experiment, control->by, control->text,
                                       &control->games);
    case CONTROL_REOPEN:
        return reopen(round, job);
    case CONTROL_REFUSE:
        return refuse(job, control->step.text);
    case CONTROL_AGREE:
        break;
    }
    return STORE_OK;
}

/* A deletion whose COMMIT went unheard is asked for again, and is done. */
static enum store_error absent(struct round *round, struct job *job)
{
    bool deleted = false;
    char why[STORE_TEXT];
    snprintf(why, sizeof why, "%s", store_reason(round->store));
    enum store_error error = store_experiment_was_deleted(round->store, job->control.experiment, &deleted);
    if (error != STORE_OK)
        return error;
    if (!deleted) {
        snprintf(job->text, sizeof job->text, "%s", why);
        return STORE_ERROR_REFUSED;
    }
    if (job->control.verb != MESSAGE_VERB_DELETE)
        return refuse(job, "was deleted: `kroo events` says by whom");
    job->control.step = (struct control_step){CONTROL_AGREE, STORE_STOPPED, "was deleted already"};
    return STORE_OK;
}

enum store_error round_control(struct round *round, struct job *job)
{
    struct job_control *control = &job->control;
    struct store_experiment experiment;
    char submitter[STORE_NAME] = "";
    enum store_error error = store_experiment_lock(round->store, control->experiment, submitter);
    if (error == STORE_ERROR_REFUSED)
        return absent(round, job);
    if (error == STORE_OK)
        error = store_experiment_get(round->store, control->experiment, &experiment);
    if (error != STORE_OK)
        return error;
    control->step = control_step(experiment.state, control->verb);
    error = perform(round, job, experiment.state, submitter);
    return error == STORE_OK && control->step.effect != CONTROL_AGREE ? log_it(round, job) : error;
}

void round_control_end(struct round *round, const struct job *job, bool committed)
{
    const struct job_control *control = &job->control;
    struct ledger *ledger = ledger_book_find(round->book, control->experiment);
    if (!ledger)
        return;
    if (!committed) {
        ledger_discard(ledger);
        if (control->loaded)
            ledger_book_remove(round->book, control->experiment);
        return;
    }
    ledger_keep(ledger);
    switch (control->step.effect) {
    case CONTROL_MOVE:
    case CONTROL_END:
    case CONTROL_REOPEN:
        ledger->experiment.state = control->step.state;
        break;
    case CONTROL_DELETE:
        ledger_book_remove(round->book, control->experiment);
        break;
    default:
        break;
    }
}

enum store_error round_pend(struct round *round, struct job *job)
{
    struct job_create *create = &job->create;
    uint64_t waiting = 0;
    if (!create->submitter[0])
        return STORE_OK;
    enum store_error error = store_experiments_pending(round->store, create->submitter, &waiting);
    if (error == STORE_OK && waiting >= ROUND_PENDING_MAX) {
        snprintf(job->text, sizeof job->text, "%d experiments of %s wait for approval already",
                 ROUND_PENDING_MAX, create->experiment.created_by);
        return STORE_ERROR_REFUSED;
    }
    if (error == STORE_OK)
        error = store_experiment_pend(round->store, create->experiment.id, create->submitter);
    create->experiment.state = STORE_PENDING;
    return error;
}
