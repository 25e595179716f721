#include "coordinator/course.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/specification.h"
#include "coordinator/wire.h"
#include "engine/mix.h"

enum {
    THIN_EVERY = 64,           /* batches, so that thinning costs little */
    STREAM_MATCH = 0x6d617463, /* "matc": the openings of the match are its own */
};

static enum store_error fail(struct store *store, enum store_error error, char *reason)
{
    if (error != STORE_OK && store_reason(store)[0])
        snprintf(reason, TUNING_REASON, "%.*s", TUNING_REASON - 1, store_reason(store));
    return error;
}

/* --- a new tune --- */

/* The parameters as store_tune_create wants them; malloc'ed. */
static char *parameters_json(const struct tuning *tuning)
{
    json_t *array = json_array();
    for (size_t i = 0; i < tuning->count; i++) {
        const struct spsa_parameter *p = &tuning->parameters[i];
        json_array_append_new(array, json_pack("{s:I, s:s, s:f, s:f, s:f, s:f, s:f}", "number", (json_int_t)i,
                                               "name", tuning->names[i], "start", p->start, "low", p->min,
                                               "high", p->max, "c_end", p->c_end, "r_end", p->r_end));
    }
    char *text = json_dumps(array, JSON_COMPACT);
    json_decref(array);
    return text;
}

static enum store_error put_tune(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                 char *reason)
{
    struct store_tune row = {.experiment = experiment,
                             .batch_pairs = tuning->plan.batch,
                             .lag = tuning->plan.lag,
                             .batches = spsa_batches(&tuning->plan),
                             .parameters = (uint32_t)tuning->count};
    char *json = parameters_json(tuning);
    if (!json)
        return STORE_ERROR_MEMORY;
    enum store_error error = store_tune_create(store, &row, json);
    free(json);
    return fail(store, error, reason);
}

/* Makes the players of a batch, and their row. */
static enum store_error put_batch(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                  uint64_t batch, const double *theta, struct tune_book *news, char *reason)
{
    struct tuning_side sides[2];
    struct store_tune_batch row = {.batch = batch};
    if (tuning_players(tuning, batch, theta, sides, reason) != 0)
        return STORE_ERROR_DATA;
    for (int side = 0; side < 2; side++) {
        memcpy(row.weights[side], sides[side].weights, STORE_HASH);
        snprintf(row.options[side], sizeof row.options[side], "%s", sides[side].options);
        tuning_side_done(&sides[side]);
    }
    enum store_error error = fail(store, store_tune_batch_put(store, experiment, &row), reason);
    if (error == STORE_OK && news && tune_book_add(news, &row) != 0)
        error = STORE_ERROR_MEMORY;
    return error;
}

enum store_error course_begin(struct store *store, const struct store_experiment *experiment,
                              char reason[TUNING_REASON])
{
    struct tuning *tuning = NULL;
    enum store_error error = tune_history_load(store, experiment, &tuning, reason);
    if (error != STORE_OK)
        return error;
    double *theta = malloc((tuning->count + 1) * sizeof *theta);
    error = theta ? put_tune(store, experiment->id, tuning, reason) : STORE_ERROR_MEMORY;
    if (theta)
        tuning_start(tuning, theta);
    uint64_t batches = spsa_batches(&tuning->plan);
    for (uint64_t batch = 0; batch < tuning->plan.lag && batch < batches && error == STORE_OK; batch++)
        error = put_batch(store, experiment->id, tuning, batch, theta, NULL, reason);
    free(theta);
    tuning_destroy(tuning);
    return error;
}

/* --- in memory --- */

struct course *course_load(struct store *store, const struct store_experiment *experiment,
                           enum store_error *error, char reason[TUNING_REASON])
{
    struct course *course = calloc(1, sizeof *course);
    uint64_t batch = 0;
    bool found = false;
    snprintf(reason, TUNING_REASON, "no memory");
    *error = course ? tune_history_load(store, experiment, &course->tuning, reason) : STORE_ERROR_MEMORY;
    if (*error == STORE_OK) {
        size_t bytes = (course->tuning->count + 1) * sizeof *course->theta;
        course->theta = malloc(bytes);
        course->draft = malloc(bytes);
        *error = course->theta && course->draft ? STORE_OK : STORE_ERROR_MEMORY;
    }
    if (*error == STORE_OK)
        *error = fail(store,
                      store_tune_kept(store, experiment->id, UINT64_MAX, course->theta, course->tuning->count,
                                      &batch, &course->applied, &found),
                      reason);
    if (*error == STORE_OK)
        *error =
            tune_history_theta(store, experiment->id, course->tuning, course->applied, course->theta, reason);
    if (*error == STORE_OK) {
        course_discard(course);
        return course;
    }
    course_destroy(course);
    return NULL;
}

void course_destroy(struct course *course)
{
    if (!course)
        return;
    tuning_destroy(course->tuning);
    free(course->theta);
    free(course->draft);
    free(course);
}

void course_keep(struct course *course)
{
    memcpy(course->theta, course->draft, course->tuning->count * sizeof *course->theta);
    course->applied = course->draft_applied;
}

void course_discard(struct course *course)
{
    memcpy(course->draft, course->theta, course->tuning->count * sizeof *course->theta);
    course->draft_applied = course->applied;
}

bool course_is_over(const struct course *course)
{
    return course->draft_applied == spsa_batches(&course->tuning->plan);
}

/* --- batch by batch --- */

static enum store_error apply_batch(struct course *course, struct store *store, uint64_t experiment,
                                    char *reason)
{
    const struct tuning *tuning = course->tuning;
    uint64_t pairs = tuning->plan.batch, games = 0;
    struct store_tune_batch row = {
        .batch = course->draft_applied, .theta = course->draft, .theta_count = tuning->count};
    enum store_error error = store_tune_result(store, experiment, row.batch * pairs, (row.batch + 1) * pairs,
                                               &row.won, &row.lost, &games);
    if (error != STORE_OK)
        return fail(store, error, reason);
    if (games != 2 * pairs) {
        snprintf(reason, TUNING_REASON, "batch %llu is counted, yet %llu of its %llu games are there",
                 (unsigned long long)row.batch, (unsigned long long)games, (unsigned long long)(2 * pairs));
        return STORE_ERROR_DATA;
    }
    spsa_apply(&tuning->plan, tuning->parameters, tuning->count, row.batch,
               (int64_t)row.won - (int64_t)row.lost, course->draft);
    error = store_tune_batch_apply(store, experiment, &row);
    course->draft_applied++;
    if (error == STORE_OK && course->draft_applied % THIN_EVERY == 0 && course->draft_applied > SPSA_KEEP)
        error = store_tune_thin(store, experiment, course->draft_applied - SPSA_KEEP,
                                spsa_keep_step(course->draft_applied));
    return fail(store, error, reason);
}

enum store_error course_advance(struct course *course, struct store *store, uint64_t experiment,
                                uint64_t prefix, struct tune_book *news, char reason[TUNING_REASON])
{
    const struct spsa_plan *plan = &course->tuning->plan;
    enum store_error error = STORE_OK;
    while (error == STORE_OK && (course->draft_applied + 1) * plan->batch <= prefix) {
        uint64_t next = course->draft_applied + plan->lag;
        error = apply_batch(course, store, experiment, reason);
        if (error == STORE_OK && next < spsa_batches(plan))
            error = put_batch(store, experiment, course->tuning, next, course->draft, news, reason);
    }
    return error;
}

/* --- the end --- */

/* The weights of a side become weights like others, descended from those it started from. */
static enum store_error put_weights(struct store *store, const struct course *course,
                                    const struct store_experiment *experiment, const struct tuning_side *side,
                                    const char *suffix)
{
    struct store_weights row = {.has_parent = true};
    if (!side->file)
        return STORE_OK;
    memcpy(row.sha256, side->weights, STORE_HASH);
    memcpy(row.parent, course->tuning->base_sha256, STORE_HASH);
    snprintf(row.rules, sizeof row.rules, "%s", experiment->rules);
    snprintf(row.kind, sizeof row.kind, "%s", weights_kind_name(course->tuning->base->kind));
    snprintf(row.name, sizeof row.name, "tune-%llu%s", (unsigned long long)experiment->id, suffix);
    return store_weights_put(store, &row, side->file, side->file_size);
}

static void set_side(struct store_player *player, const struct tuning_side *side)
{
    memcpy(player->weights, side->weights, STORE_HASH);
    snprintf(player->options, sizeof player->options, "%s", side->options);
}

/* A match like any other, under a key of its own; false when it would prove nothing. */
static bool match_of(const struct course *course, const struct store_experiment *tune,
                     const struct tuning_side sides[2], struct store_experiment *match, char *why)
{
    struct message_create_experiment create;
    *match = *tune;
    match->id = 0;
    match->kind = STORE_MATCH;
    match->state = STORE_RUNNING;
    match->planned_pairs = course->tuning->match_pairs;
    match->seed = mix(mix(tune->seed, STREAM_MATCH), tune->id) >> 11;
    match->on_finish[0] = '\0';
    memset(match->tune, 0, sizeof match->tune);
    set_side(&match->a, &sides[0]);
    set_side(&match->b, &sides[1]);
    snprintf(match->idempotency_key, sizeof match->idempotency_key, "tune-%llu-match",
             (unsigned long long)tune->id);
    snprintf(match->note, sizeof match->note, "tune %llu: tuned against start", (unsigned long long)tune->id);
    if (course->tuning->match_pairs == 0) {
        snprintf(why, TUNING_REASON, "no match was asked for");
        return false;
    }
    char reason[SPECIFICATION_REASON_MAX];
    wire_create(match, &create);
    if (specification_check(&create, reason))
        return true;
    snprintf(why, TUNING_REASON, "%.*s", TUNING_REASON - 1, reason);
    return false;
}

static enum store_error put_end(const struct course *course, struct store *store,
                                const struct store_experiment *experiment, const struct tuning_side sides[2],
                                uint64_t *match, char *why)
{
    struct store_experiment row;
    struct store_tune tune = {.experiment = experiment->id};
    bool existed;
    enum store_error error = put_weights(store, course, experiment, &sides[0], "");
    if (error == STORE_OK)
        error = put_weights(store, course, experiment, &sides[1], "-start");
    if (error == STORE_OK && match_of(course, experiment, sides, &row, why)) {
        error = store_experiment_create(store, &row, &existed);
        tune.match = row.id;
    }
    memcpy(tune.tuned, sides[0].weights, STORE_HASH);
    snprintf(tune.tuned_options, sizeof tune.tuned_options, "%s", sides[0].options);
    if (error == STORE_OK)
        error = store_tune_finish(store, &tune);
    *match = tune.match;
    return fail(store, error, why);
}

enum store_error course_finish(const struct course *course, struct store *store,
                               const struct store_experiment *experiment, uint64_t *match,
                               char why[TUNING_REASON])
{
    struct tuning_side sides[2];
    double *start = malloc((course->tuning->count + 1) * sizeof *start);
    *match = 0;
    why[0] = '\0';
    if (!start)
        return STORE_ERROR_MEMORY;
    tuning_start(course->tuning, start);
    enum store_error error = STORE_ERROR_DATA;
    if (tuning_settle(course->tuning, course->draft, &sides[0], why) == 0) {
        if (tuning_settle(course->tuning, start, &sides[1], why) == 0) {
            error = put_end(course, store, experiment, sides, match, why);
            tuning_side_done(&sides[1]);
        }
        tuning_side_done(&sides[0]);
    }
    free(start);
    return error;
}
