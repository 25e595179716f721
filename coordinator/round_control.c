#include "coordinator/round_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/round_audit.h"
#include "coordinator/round_flag.h"
#include "coordinator/round_tournament.h"

static enum store_error refuse(const struct job_control *control, char text[STORE_TEXT], const char *why)
{
    snprintf(text, STORE_TEXT, "experiment %llu %s", (unsigned long long)control->experiment, why);
    return STORE_ERROR_REFUSED;
}

/* `paused by anna: the room is hot` */
static enum store_error log_it(struct round *round, const struct job_control *control)
{
    char kind[32], what[STORE_TEXT], text[STORE_TEXT];
    snprintf(kind, sizeof kind, "experiment-%s", control_done_word(control->verb));
    snprintf(what, sizeof what, "%s", control_done_word(control->verb));
    if (control->verb == MESSAGE_VERB_PRIORITY)
        snprintf(what, sizeof what, "priority %d given", (int)control->priority);
    if (control->verb == MESSAGE_VERB_DELETE)
        snprintf(what, sizeof what, "%s, with %llu games,", control_done_word(control->verb),
                 (unsigned long long)control->games);
    const char *tournament = control->tournament;
    snprintf(text, sizeof text, "%.60s by %s%s%s%s%.240s", what, control->by,
             tournament[0] ? ", with all of tournament " : "", tournament, control->text[0] ? ": " : "",
             control->text);
    return store_event(round->store, kind, control->experiment, 0, text);
}

/* Nobody approves what was asked for with the same key. */
static enum store_error move(struct round *round, struct job_control *control, enum store_state from,
                             const char *submitter, char text[STORE_TEXT])
{
    enum store_state to = control->step.state;
    char reason[STORE_TEXT] = "";
    if (control->verb == MESSAGE_VERB_APPROVE && strcmp(submitter, control->user) == 0)
        return refuse(control, text, "was asked for with this very key: somebody else must approve it");
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
static enum store_error end(struct round *round, struct job_control *control, char text[STORE_TEXT])
{
    struct ledger *ledger = ledger_book_find(round->book, control->experiment);
    bool written = false;
    if (!ledger || ledger_draft(ledger) != 0)
        return STORE_ERROR_MEMORY;
    struct store_verdict verdict = ledger_verdict(ledger, control->by, control->text);
    enum store_error error = store_verdict_write(round->store, &verdict, &written);
    ledger->draft_ended = true;
    if (error == STORE_OK)
        error = round_audit_abort(round, ledger, verdict.counters.prefix_pairs);
    return error == STORE_OK && !written ? refuse(control, text, "is not running: it has its verdict")
                                         : error;
}

/* A finished experiment whose verdict is withdrawn goes on: what nobody believes any more is played again. */
static enum store_error reopen(struct round *round, struct job_control *control, char text[STORE_TEXT])
{
    bool withdrawn = false;
    uint64_t games = 0;
    enum store_error error = store_verdict_is_withdrawn(round->store, control->experiment, &withdrawn);
    if (error == STORE_OK && !withdrawn)
        return refuse(control, text, control->step.text);
    if (error == STORE_OK)
        error = store_experiment_reopen(round->store, control->experiment, control->by, &games);
    return error == STORE_OK ? round_flag_reopen(round, control->experiment, &control->loaded) : error;
}

/* What waits for approval and is withdrawn leaves nothing behind. */
static enum store_error delete (struct round *round, struct job_control *control, enum store_state from,
                                char text[STORE_TEXT]) {
    enum store_error error = from == STORE_PENDING ? end(round, control, text) : STORE_OK;
    return error != STORE_OK ? error
                             : store_experiment_delete(round->store, control->experiment, control->by,
                                                       control->text, &control->games);
}

static enum store_error perform(struct round *round, struct job_control *control, enum store_state from,
                                const char *submitter, char text[STORE_TEXT])
{
    switch (control->step.effect) {
    case CONTROL_MOVE:
        return move(round, control, from, submitter, text);
    case CONTROL_CHANGE:
        return change(round, control);
    case CONTROL_END:
        return end(round, control, text);
    case CONTROL_DELETE:
        return delete (round, control, from, text);
    case CONTROL_REOPEN:
        return reopen(round, control, text);
    case CONTROL_REFUSE:
        return refuse(control, text, control->step.text);
    case CONTROL_AGREE:
        break;
    }
    return STORE_OK;
}

/* A submitter takes back what waits for approval and was asked for with the same key, by stop or delete. */
static enum store_error check_withdrawal(struct job_control *control, enum store_state state,
                                         const char *submitter, char text[STORE_TEXT])
{
    if (strcmp(submitter, control->user) != 0)
        return refuse(control, text,
                      "was not asked for with this key: a submitter withdraws his own requests; an "
                      "operator's key may do more");
    if (state == STORE_PENDING) {
        if (control->verb == MESSAGE_VERB_DELETE)
            control->step = (struct control_step){CONTROL_DELETE, STORE_STOPPED, NULL};
        return STORE_OK;
    }
    return refuse(control, text, "does not wait for approval any more: ask an operator");
}

/* A deletion whose COMMIT went unheard is asked for again, and is done. */
static enum store_error absent(struct round *round, struct job_control *control, char text[STORE_TEXT])
{
    bool deleted = false;
    char why[STORE_TEXT];
    snprintf(why, sizeof why, "%s", store_reason(round->store));
    enum store_error error = store_experiment_was_deleted(round->store, control->experiment, &deleted);
    if (error != STORE_OK)
        return error;
    if (!deleted) {
        snprintf(text, STORE_TEXT, "%s", why);
        return STORE_ERROR_REFUSED;
    }
    if (control->verb != MESSAGE_VERB_DELETE)
        return refuse(control, text, "was deleted: `kroo events` says by whom");
    control->step = (struct control_step){CONTROL_AGREE, STORE_STOPPED, "was deleted already"};
    return STORE_OK;
}

enum store_error round_control_one(struct round *round, struct job_control *control, char text[STORE_TEXT])
{
    struct store_experiment experiment;
    char submitter[STORE_NAME] = "";
    enum store_error error = store_experiment_lock(round->store, control->experiment, submitter);
    if (error == STORE_ERROR_REFUSED)
        return absent(round, control, text);
    if (error == STORE_OK)
        error = store_experiment_get(round->store, control->experiment, &experiment);
    if (error != STORE_OK)
        return error;
    control->step = control_step(experiment.state, control->verb);
    if (control->withdraws)
        error = check_withdrawal(control, experiment.state, submitter, text);
    if (error == STORE_OK)
        error = perform(round, control, experiment.state, submitter, text);
    return error == STORE_OK && control->step.effect != CONTROL_AGREE ? log_it(round, control) : error;
}

enum store_error round_control(struct round *round, struct job *job)
{
    job_control_done(&job->control);
    return job->control.tournament[0] ? round_tournament(round, job)
                                      : round_control_one(round, &job->control, job->text);
}

static void end_one(struct round *round, const struct job_control *control, bool committed)
{
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

void round_control_end(struct round *round, const struct job *job, bool committed)
{
    if (!job->control.tournament[0])
        end_one(round, &job->control, committed);
    for (size_t i = 0; i < job->control.part_count; i++)
        end_one(round, &job->control.parts[i], committed);
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
