#include "coordinator/round_tournament.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/store_tournament.h"

static enum store_error refuse(struct job *job, const struct store_tournament *tournament, const char *why)
{
    snprintf(job->text, sizeof job->text, "tournament %.40s %s", tournament->name, why);
    return STORE_ERROR_REFUSED;
}

/* Nothing of it can go on: no match is open, none is lacking, and no further ones will come. */
static bool is_over(const struct store_tournament *tournament)
{
    bool grows = strcmp(tournament->kind, "pool") == 0 || strcmp(tournament->kind, "progression") == 0;
    return !grows && tournament->open_count == 0 && tournament->lacking == 0;
}

static enum store_error check(struct job *job, const struct store_tournament *tournament)
{
    enum message_verb verb = job->control.verb;
    if (verb > MESSAGE_VERB_NOTE)
        return refuse(job, tournament,
                      "is paused, resumed, stopped, given a priority or a note; all else is done to its "
                      "matches, one by one");
    if (verb == MESSAGE_VERB_NOTE)
        return STORE_OK;
    if (strcmp(tournament->state, "stopped") == 0)
        return refuse(job, tournament, "was stopped, and that stands; another --key makes another like it");
    if (is_over(tournament))
        return refuse(job, tournament, "is over: all its matches have ended");
    return STORE_OK;
}

/* Its own row; *changed says whether that is another one now. */
static enum store_error set_own(struct round *round, const struct job_control *control,
                                const struct store_tournament *tournament, bool *changed)
{
    static const char *const states[MESSAGE_VERBS] = {
        [MESSAGE_VERB_PAUSE] = "paused", [MESSAGE_VERB_RESUME] = "running", [MESSAGE_VERB_STOP] = "stopped"};
    char reason[STORE_TEXT] = "";
    *changed = true;
    if (control->verb == MESSAGE_VERB_NOTE)
        return store_tournament_annotate(round->store, tournament->id, control->text);
    if (control->verb == MESSAGE_VERB_PRIORITY)
        return store_tournament_prioritize(round->store, tournament->id, control->priority);
    const char *state = states[control->verb];
    *changed = strcmp(state, tournament->state) != 0;
    if (control->verb != MESSAGE_VERB_RESUME)
        snprintf(reason, sizeof reason, "by %s%s%.400s", control->by, control->text[0] ? ": " : "",
                 control->text);
    return *changed ? store_tournament_set_state(round->store, tournament->id, state, reason) : STORE_OK;
}

/* Each match by the table for one; what that refuses (a blocked one is not paused) stays as it is. */
static enum store_error set_matches(struct round *round, struct job *job,
                                    const struct store_tournament *tournament, size_t *changed)
{
    struct job_control *whole = &job->control;
    *changed = 0;
    whole->parts = calloc(tournament->open_count + 1, sizeof *whole->parts);
    if (!whole->parts)
        return STORE_ERROR_MEMORY;
    for (size_t i = 0; i < tournament->open_count; i++) {
        struct job_control *part = &whole->parts[whole->part_count++];
        *part = *whole;
        part->parts = NULL;
        part->part_count = 0;
        part->experiment = tournament->open[i];
        enum store_error error = round_control_one(round, part, job->text);
        if (error != STORE_OK && (error != STORE_ERROR_REFUSED || part->step.effect != CONTROL_REFUSE))
            return error;
        *changed += part->step.effect != CONTROL_AGREE && part->step.effect != CONTROL_REFUSE;
        job->text[0] = '\0';
    }
    return STORE_OK;
}

static enum store_error log_whole(struct round *round, const struct job *job,
                                  const struct store_tournament *tournament, size_t changed)
{
    const struct job_control *control = &job->control;
    char kind[40], text[STORE_TEXT], what[48];
    snprintf(kind, sizeof kind, "tournament-%s", control_done_word(control->verb));
    snprintf(what, sizeof what, "%s", control_done_word(control->verb));
    if (control->verb == MESSAGE_VERB_PRIORITY)
        snprintf(what, sizeof what, "priority %d given", (int)control->priority);
    snprintf(text, sizeof text, "tournament %.40s: %s by %s, %zu matches with it%s%.240s", tournament->name,
             what, control->by, changed, control->text[0] ? ": " : "", control->text);
    return store_event(round->store, kind, 0, 0, text);
}

static enum store_error perform(struct round *round, struct job *job,
                                const struct store_tournament *tournament)
{
    struct job_control *control = &job->control;
    bool own = false;
    size_t changed = 0;
    snprintf(control->tournament, sizeof control->tournament, "%s", tournament->name);
    control->tournament_id = tournament->id;
    enum store_error error = set_own(round, control, tournament, &own);
    if (error == STORE_OK && control->verb != MESSAGE_VERB_NOTE)
        error = set_matches(round, job, tournament, &changed);
    control->same = !own && changed == 0;
    if (error == STORE_OK && !control->same)
        error = log_whole(round, job, tournament, changed);
    if (error != STORE_OK)
        return error;
    if (control->verb == MESSAGE_VERB_NOTE)
        snprintf(job->text, sizeof job->text, "tournament %s noted", tournament->name);
    else
        snprintf(job->text, sizeof job->text, "tournament %s %s%s: %zu of its %zu matches that had not ended",
                 tournament->name, control->same ? "is so already, " : "", control_done_word(control->verb),
                 changed, tournament->open_count);
    return STORE_OK;
}

enum store_error round_tournament(struct round *round, struct job *job)
{
    struct store_tournament tournament;
    enum store_error error = store_tournament_lock(round->store, job->control.tournament, &tournament);
    if (error == STORE_OK)
        error = check(job, &tournament);
    if (error == STORE_OK)
        error = perform(round, job, &tournament);
    free(tournament.open);
    return error;
}
