#include "coordinator/tune_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum store_error fail(struct store *store, enum store_error error, char *reason)
{
    if (error != STORE_OK)
        snprintf(reason, TUNING_REASON, "%.*s", TUNING_REASON - 1, store_reason(store));
    return error;
}

enum store_error tune_history_load(struct store *store, const struct store_experiment *experiment,
                                   struct tuning **out, char reason[TUNING_REASON])
{
    void *json = NULL, *weights = NULL;
    size_t json_size = 0, weights_size = 0;
    enum store_error error = store_artifact_get(store, experiment->tune, &json, &json_size);
    if (error == STORE_OK)
        error = store_artifact_get(store, experiment->a.weights, &weights, &weights_size);
    if (error == STORE_OK) {
        struct tuning_ground ground = {.player = &experiment->a,
                                       .weights = weights,
                                       .weights_size = weights_size,
                                       .rules = experiment->rules,
                                       .pairs = experiment->planned_pairs,
                                       .seed = experiment->seed};
        *out = tuning_create(json, json_size, &ground, reason);
        error = *out ? STORE_OK : STORE_ERROR_REFUSED;
    } else {
        fail(store, error, reason);
    }
    free(json);
    free(weights);
    return error;
}

/* --- theta --- */

struct walk {
    const struct tuning *tuning;
    double *theta;
    uint64_t next; /* batch to apply */
};

static int walk_on(void *context, const struct store_tune_batch *batch)
{
    struct walk *walk = context;
    const struct tuning *tuning = walk->tuning;
    if (batch->batch != walk->next || !batch->is_applied)
        return 1;
    spsa_apply(&tuning->plan, tuning->parameters, tuning->count, batch->batch,
               (int64_t)batch->won - (int64_t)batch->lost, walk->theta);
    walk->next++;
    return 0;
}

enum store_error tune_history_theta(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                    uint64_t applied, double *theta, char reason[TUNING_REASON])
{
    uint64_t batch = 0, there = 0;
    bool found;
    enum store_error error =
        store_tune_kept(store, experiment, applied, theta, tuning->count, &batch, &there, &found);
    if (error != STORE_OK)
        return fail(store, error, reason);
    struct walk walk = {tuning, theta, found ? batch + 1 : 0};
    if (!found)
        tuning_start(tuning, theta);
    int outcome =
        walk.next < applied ? store_tune_batches(store, experiment, walk.next, applied, walk_on, &walk) : 0;
    if (outcome < 0)
        return fail(store, (enum store_error)outcome, reason);
    if (walk.next == applied)
        return STORE_OK;
    snprintf(reason, TUNING_REASON, "tune %llu: batch %llu is not applied yet",
             (unsigned long long)experiment, (unsigned long long)walk.next);
    return STORE_ERROR_REFUSED;
}

/* --- players --- */

static int take_batch(void *context, const struct store_tune_batch *batch)
{
    struct store_tune_batch *out = context;
    *out = *batch;
    out->theta = NULL;
    return 1;
}

static bool is_as_stored(const struct tuning_side sides[2], const struct store_tune_batch *stored)
{
    for (int side = 0; side < 2; side++)
        if (memcmp(sides[side].weights, stored->weights[side], STORE_HASH) != 0 ||
            strcmp(sides[side].options, stored->options[side]) != 0)
            return false;
    return true;
}

enum store_error tune_history_players(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                      uint64_t batch, struct tuning_side sides[2], char reason[TUNING_REASON])
{
    struct store_tune_batch stored;
    int outcome = store_tune_batches(store, experiment, batch, batch + 1, take_batch, &stored);
    if (outcome < 0)
        return fail(store, (enum store_error)outcome, reason);
    if (outcome == 0) {
        snprintf(reason, TUNING_REASON, "batch %llu of tune %llu has no players yet",
                 (unsigned long long)batch, (unsigned long long)experiment);
        return STORE_ERROR_REFUSED;
    }
    double *theta = malloc((tuning->count + 1) * sizeof *theta);
    if (!theta) {
        snprintf(reason, TUNING_REASON, "no memory");
        return STORE_ERROR_MEMORY;
    }
    enum store_error error = tune_history_theta(
        store, experiment, tuning, spsa_applied(&tuning->plan, batch) / tuning->plan.batch, theta, reason);
    if (error == STORE_OK && tuning_players(tuning, batch, theta, sides, reason) != 0)
        error = STORE_ERROR_DATA;
    free(theta);
    if (error != STORE_OK || is_as_stored(sides, &stored))
        return error;
    tuning_side_done(&sides[0]);
    tuning_side_done(&sides[1]);
    snprintf(reason, TUNING_REASON, "batch %llu of tune %llu: its players are not those that were stored",
             (unsigned long long)batch, (unsigned long long)experiment);
    return STORE_ERROR_DATA;
}

enum store_error tune_history_seat(struct store *store, const struct store_experiment *experiment,
                                   uint64_t pair, struct store_player *a, struct store_player *b,
                                   char reason[TUNING_REASON])
{
    struct store_tune tune;
    struct store_tune_batch batch;
    struct store_player *players[] = {a, b};
    enum store_error error = store_tune_get(store, experiment->id, &tune);
    if (error != STORE_OK)
        return fail(store, error, reason);
    uint64_t number = pair / tune.batch_pairs;
    int outcome = store_tune_batches(store, experiment->id, number, number + 1, take_batch, &batch);
    if (outcome < 0)
        return fail(store, (enum store_error)outcome, reason);
    if (outcome == 0) {
        snprintf(reason, TUNING_REASON, "batch %llu of tune %llu has no players yet",
                 (unsigned long long)number, (unsigned long long)experiment->id);
        return STORE_ERROR_REFUSED;
    }
    for (int side = 0; side < 2; side++) {
        *players[side] = experiment->a;
        memcpy(players[side]->weights, batch.weights[side], STORE_HASH);
        snprintf(players[side]->options, sizeof players[side]->options, "%s", batch.options[side]);
    }
    return STORE_OK;
}

static int book_add(void *context, const struct store_tune_batch *batch)
{
    struct tune_book *book = context;
    if (batch->batch != book->first + book->count)
        return 1;
    return tune_book_add(book, batch) == 0 ? 0 : (int)STORE_ERROR_MEMORY;
}

enum store_error tune_history_book(struct store *store, uint64_t experiment, const struct tuning *tuning,
                                   struct tune_book **out, char reason[TUNING_REASON])
{
    uint64_t batch = 0, applied = 0;
    bool found;
    double *theta = malloc((tuning->count + 1) * sizeof *theta);
    enum store_error error =
        theta ? store_tune_kept(store, experiment, UINT64_MAX, theta, tuning->count, &batch, &applied, &found)
              : STORE_ERROR_MEMORY;
    free(theta);
    if (error != STORE_OK)
        return fail(store, error, reason);
    uint64_t back = TUNE_BOOK_MAX / 2, first = applied > back ? applied - back : 0;
    struct tune_book *book = tune_book_create(tuning->plan.batch, first);
    int outcome =
        book ? store_tune_batches(store, experiment, first, applied + tuning->plan.lag, book_add, book)
             : (int)STORE_ERROR_MEMORY;
    if (outcome == 0) {
        *out = book;
        return STORE_OK;
    }
    tune_book_destroy(book);
    if (outcome < 0)
        return fail(store, (enum store_error)outcome, reason);
    snprintf(reason, TUNING_REASON, "tune %llu: the batches have a gap", (unsigned long long)experiment);
    return STORE_ERROR_DATA;
}

enum store_error tune_history_artifact(struct store *store, const uint8_t sha256[STORE_HASH], void **content,
                                       size_t *size, char reason[TUNING_REASON])
{
    uint64_t id = 0, batch = 0;
    bool found;
    struct store_experiment experiment;
    struct tuning *tuning = NULL;
    struct tuning_side sides[2];
    enum store_error error = store_tune_find_weights(store, sha256, &id, &batch, &found);
    if (error == STORE_OK && found)
        error = store_experiment_get(store, id, &experiment);
    if (error != STORE_OK)
        return fail(store, error, reason);
    if (!found) {
        snprintf(reason, TUNING_REASON, "no batch of a tune plays with these weights");
        return STORE_ERROR_REFUSED;
    }
    error = tune_history_load(store, &experiment, &tuning, reason);
    if (error == STORE_OK)
        error = tune_history_players(store, id, tuning, batch, sides, reason);
    if (error == STORE_OK) {
        struct tuning_side *side = memcmp(sides[0].weights, sha256, STORE_HASH) == 0 ? &sides[0] : &sides[1];
        *content = side->file;
        *size = side->file_size;
        side->file = NULL;
        error = *content ? STORE_OK : STORE_ERROR_REFUSED;
        tuning_side_done(&sides[0]);
        tuning_side_done(&sides[1]);
    }
    tuning_destroy(tuning);
    return error;
}
