#include "coordinator/verify_tune.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/tune_history.h"

struct verify_tune {
    const struct record *record;
    struct result {
        uint8_t won, lost;
    } * results; /* of each counted pair; grows in powers of two */
    size_t room;
    uint64_t pairs; /* counted */
    /* of the comparison */
    struct tuning *tuning;
    double *thetas; /* ring of the last lag + 1, by applied batches */
    uint64_t applied, seen;
    verify_tune_differ *differ;
    void *context;
};

struct verify_tune *verify_tune_create(const struct record *record)
{
    struct verify_tune *tune = calloc(1, sizeof *tune);
    if (tune)
        tune->record = record;
    return tune;
}

void verify_tune_destroy(struct verify_tune *tune)
{
    if (!tune)
        return;
    free(tune->results);
    free(tune->thetas);
    tuning_destroy(tune->tuning);
    free(tune);
}

/* The batch length is known only from the tune's file, so results are kept by pair until then. */
int verify_tune_count(struct verify_tune *tune, const unsigned half_points[2])
{
    if (tune->pairs == tune->room) {
        size_t room = tune->room ? 2 * tune->room : 1024;
        struct result *larger = realloc(tune->results, room * sizeof *larger);
        if (!larger)
            return -1;
        tune->results = larger;
        tune->room = room;
    }
    tune->results[tune->pairs++] =
        (struct result){.won = (uint8_t)((half_points[0] == 2) + (half_points[1] == 2)),
                        .lost = (uint8_t)((half_points[0] == 0) + (half_points[1] == 0))};
    return 0;
}

__attribute__((format(printf, 2, 3))) static void say(struct verify_tune *tune, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tune->differ(tune->context, text);
}

/* --- one batch --- */

static double *theta_at(const struct verify_tune *tune, uint64_t applied)
{
    return tune->thetas + (applied % (tune->tuning->plan.lag + 1)) * tune->tuning->count;
}

static void check_players(struct verify_tune *tune, const struct store_tune_batch *row)
{
    const struct spsa_plan *plan = &tune->tuning->plan;
    struct tuning_side sides[2];
    char reason[TUNING_REASON];
    uint64_t rests_on = spsa_applied(plan, row->batch) / plan->batch;
    if (tuning_players(tune->tuning, row->batch, theta_at(tune, rests_on), sides, reason) != 0) {
        say(tune, ": batch %llu has no players: %.160s", (unsigned long long)row->batch, reason);
        return;
    }
    for (int side = 0; side < 2; side++) {
        if (memcmp(sides[side].weights, row->weights[side], STORE_HASH) != 0 ||
            strcmp(sides[side].options, row->options[side]) != 0)
            say(tune, ": batch %llu was played by another player %c than the games before it make",
                (unsigned long long)row->batch, 'a' + side);
        tuning_side_done(&sides[side]);
    }
}

static void check_theta(struct verify_tune *tune, const struct store_tune_batch *row, const double *theta)
{
    size_t count = tune->tuning->count;
    if (row->theta && row->theta_count != count) {
        say(tune, ": batch %llu has %zu parameters, the tune %zu", (unsigned long long)row->batch,
            row->theta_count, count);
        return;
    }
    for (size_t i = 0; row->theta && i < count; i++)
        if (!(fabs(row->theta[i] - theta[i]) <= 1e-9 * fmax(1, fabs(theta[i]))))
            say(tune, ": %s after batch %llu is stored as %.12g, the games make it %.12g",
                tune->tuning->names[i], (unsigned long long)row->batch, row->theta[i], theta[i]);
}

static void check_applied(struct verify_tune *tune, const struct store_tune_batch *row)
{
    const struct spsa_plan *plan = &tune->tuning->plan;
    uint64_t won = 0, lost = 0;
    for (uint64_t pair = row->batch * plan->batch; pair < (row->batch + 1) * plan->batch; pair++) {
        won += tune->results[pair].won;
        lost += tune->results[pair].lost;
    }
    if (row->won != won || row->lost != lost)
        say(tune, ": batch %llu is stored with %llu games won and %llu lost, the games make it %llu and %llu",
            (unsigned long long)row->batch, (unsigned long long)row->won, (unsigned long long)row->lost,
            (unsigned long long)won, (unsigned long long)lost);
    double *after = theta_at(tune, row->batch + 1);
    memcpy(after, theta_at(tune, row->batch), tune->tuning->count * sizeof *after);
    spsa_apply(plan, tune->tuning->parameters, tune->tuning->count, row->batch, (int64_t)won - (int64_t)lost,
               after);
    check_theta(tune, row, after);
}

static int check_batch(void *context, const struct store_tune_batch *row)
{
    struct verify_tune *tune = context;
    if (row->batch != tune->seen) {
        say(tune, ": batch %llu is missing", (unsigned long long)tune->seen);
        return 1;
    }
    tune->seen++;
    check_players(tune, row);
    if (row->is_applied != (row->batch < tune->applied))
        say(tune, ": batch %llu is %s, yet its pairs are %s", (unsigned long long)row->batch,
            row->is_applied ? "applied" : "not applied", row->is_applied ? "not all counted" : "counted");
    if (row->batch < tune->applied)
        check_applied(tune, row);
    return 0;
}

/* --- the whole --- */

static void check_end(struct verify_tune *tune, const struct store_tune *row)
{
    struct tuning_side side;
    char reason[TUNING_REASON];
    bool is_over = tune->applied == spsa_batches(&tune->tuning->plan);
    if (row->is_tuned != is_over) {
        say(tune, ": all batches are %sapplied, yet %s came of it", is_over ? "" : "not ",
            is_over ? "nothing" : "something");
        return;
    }
    if (!is_over || tuning_settle(tune->tuning, theta_at(tune, tune->applied), &side, reason) != 0)
        return;
    if (memcmp(side.weights, row->tuned, STORE_HASH) != 0 || strcmp(side.options, row->tuned_options) != 0)
        say(tune, ": what came of it is another player than its games make");
    tuning_side_done(&side);
}

enum store_error verify_tune_check(struct verify_tune *tune, struct store *store, verify_tune_differ *differ,
                                   void *context)
{
    struct store_tune row;
    char reason[TUNING_REASON];
    const struct store_experiment *experiment = &tune->record->experiment;
    tune->differ = differ;
    tune->context = context;
    enum store_error error = tune_history_load(store, experiment, &tune->tuning, reason);
    if (error == STORE_ERROR_REFUSED) {
        say(tune, ": what it tunes cannot be read: %.200s", reason);
        return STORE_OK;
    }
    if (error == STORE_OK)
        error = store_tune_get(store, experiment->id, &row);
    if (error != STORE_OK)
        return error;
    const struct spsa_plan *plan = &tune->tuning->plan;
    tune->thetas = malloc((plan->lag + 1) * tune->tuning->count * sizeof *tune->thetas);
    if (!tune->thetas)
        return STORE_ERROR_MEMORY;
    tuning_start(tune->tuning, tune->thetas);
    tune->applied = tune->pairs / plan->batch;
    int outcome = store_tune_batches(store, experiment->id, 0, UINT64_MAX, check_batch, tune);
    if (outcome < 0)
        return (enum store_error)outcome;
    uint64_t expected = tune->applied + plan->lag, batches = spsa_batches(plan);
    if (outcome == 0 && tune->seen != (expected < batches ? expected : batches))
        say(tune, ": %llu batches have players, the games make it %llu", (unsigned long long)tune->seen,
            (unsigned long long)(expected < batches ? expected : batches));
    if (outcome == 0 && tune->seen >= tune->applied)
        check_end(tune, &row);
    return STORE_OK;
}
