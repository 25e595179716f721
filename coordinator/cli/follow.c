#include "coordinator/cli/follow.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/record.h"
#include "proto/progress.h"

enum { LOOK_MS = 250, PATIENCE_MS = 60000, RECONNECT_MS = 1000, IDLE_MS = 5000 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void pause_ms(int ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

struct follow {
    const struct settings *settings;
    struct store *store;
    uint64_t experiment;
    bool json;
    struct record record;
    struct progress progress;
    bool started;
    uint64_t shown_games;
    int64_t idle_since_ms; /* 0: somebody plays */
    bool idle_told;
};

/* Once more to the database; the reason why not is kept. */
static void reconnect(struct follow *follow, char *reason, size_t reason_size)
{
    store_close(follow->store);
    follow->store = NULL;
    pause_ms(RECONNECT_MS);
    follow->store = store_open(settings_get(follow->settings, "database", ""), "kroo_reader", "kroo", reason,
                               reason_size);
}

/* Reads the record; a database that is away is asked again until its patience is over. */
static int look(struct follow *follow)
{
    int64_t away_ms = -1;
    char reason[512] = "";
    while (!interrupted) {
        enum store_error error = STORE_ERROR_CONNECTION;
        if (follow->store)
            error = record_load(follow->store, follow->experiment, &follow->record);
        if (error == STORE_ERROR_REFUSED)
            return names_refuse_experiment(follow->store, follow->experiment);
        if (error != STORE_ERROR_CONNECTION)
            return connect_failed(follow->store, error);
        int64_t now = progress_now_ms();
        if (away_ms < 0) {
            args_warn("the database went away; waiting for it up to a minute");
            away_ms = now;
        } else if (now - away_ms > PATIENCE_MS) {
            args_refuse("the database did not come back: %s", reason);
            return COMMAND_NO_CONNECTION;
        }
        reconnect(follow, reason, sizeof reason);
    }
    return COMMAND_DONE;
}

static void note(const struct record *record, char *text, size_t size)
{
    const struct store_counters *counters = record_counters(record);
    struct sprt_test test;
    if (record_test(record, &test)) {
        struct sprt_state state;
        char left[RECORD_LEFT];
        sprt_init(&state, &test, STATISTICS_PAIR_BINS);
        record_left(record, left);
        snprintf(text, size, "LLR %.2f [%.2f, %.2f] (%s)%s%s", counters->llr, state.lower, state.upper,
                 record->experiment.sprt.model, *left ? "; time left " : "", left);
    } else if (record->experiment.kind == STORE_MATCH) {
        snprintf(text, size, "W %llu D %llu L %llu", (unsigned long long)counters->wins,
                 (unsigned long long)counters->draws, (unsigned long long)counters->losses);
    } else {
        text[0] = '\0';
    }
}

static void show_json(struct follow *follow)
{
    const struct record *record = &follow->record;
    const struct store_counters *c = record_counters(record);
    if (follow->started && record_is_open(record) && follow->shown_games == record->counters.games_stored)
        return;
    follow->started = true;
    follow->shown_games = record->counters.games_stored;
    json_t *line = json_pack(
        "{s:I, s:s, s:I, s:I, s:I, s:I, s:[I,I,I,I,I,I], s:I, s:I, s:I, s:o, s:o, s:o}", "experiment",
        (json_int_t)follow->experiment, "state", record_state_name(record->state), "pairs",
        (json_int_t)c->prefix_pairs, "repeated_pairs", (json_int_t)c->repeated_pairs, "planned_pairs",
        (json_int_t)record->experiment.planned_pairs, "games_stored",
        (json_int_t)record->counters.games_stored, "counts", (json_int_t)c->ll, (json_int_t)c->ld,
        (json_int_t)c->dd, (json_int_t)c->wl, (json_int_t)c->dw, (json_int_t)c->ww, "wins",
        (json_int_t)c->wins, "draws", (json_int_t)c->draws, "losses", (json_int_t)c->losses, "llr",
        record->experiment.has_sprt ? json_real(c->llr) : json_null(), "seconds_left",
        record->has_left && record->seconds_left >= 0 ? json_real(record->seconds_left) : json_null(),
        "verdict", record->has_verdict ? json_string(record->verdict.verdict) : json_null());
    table_json_print(line);
}

/* Says once why it does not go on, so that nobody waits for what cannot come. */
static void warn_idle(struct follow *follow)
{
    char why[SPECIFICATION_REASON_MAX];
    int64_t now = progress_now_ms();
    if (!record_is_idle(&follow->record, why)) {
        follow->idle_since_ms = 0;
        follow->idle_told = false;
    } else if (follow->idle_since_ms == 0) {
        follow->idle_since_ms = now;
    } else if (!follow->idle_told && now - follow->idle_since_ms > IDLE_MS) {
        args_warn("experiment %llu: %s", (unsigned long long)follow->experiment, why);
        follow->idle_told = true;
    }
}

static void show(struct follow *follow)
{
    const struct record *record = &follow->record;
    char text[192];
    if (follow->json) {
        show_json(follow);
        return;
    }
    uint64_t pairs = record_counters(record)->prefix_pairs;
    if (!follow->started) {
        char what[48];
        snprintf(what, sizeof what, "experiment %llu", (unsigned long long)follow->experiment);
        progress_init(&follow->progress, what, "pairs", record->experiment.planned_pairs, false);
        follow->progress.first = pairs;
        follow->started = true;
    }
    note(record, text, sizeof text);
    if (record_is_open(record))
        progress_show(&follow->progress, pairs, *text ? text : NULL);
    else
        progress_end(&follow->progress, pairs, *text ? text : NULL);
}

static int conclude(const struct follow *follow)
{
    const struct record *record = &follow->record;
    if (interrupted) {
        if (follow->started && !follow->json)
            fputc('\n', stderr); /* behind the bar */
        fprintf(stderr, "experiment %llu goes on: `kroo watch %llu` follows it, `kroo stop %llu` ends it\n",
                (unsigned long long)follow->experiment, (unsigned long long)follow->experiment,
                (unsigned long long)follow->experiment);
        return COMMAND_DONE;
    }
    if (record->state == STORE_BLOCKED)
        return args_refuse("experiment %llu is blocked: %s", (unsigned long long)follow->experiment,
                           record->state_reason);
    const struct store_counters *counters = record_counters(record);
    if (!follow->json) {
        char repeated[64] = "";
        if (counters->repeated_pairs)
            snprintf(repeated, sizeof repeated, ", %llu repeated pairs not counted",
                     (unsigned long long)counters->repeated_pairs);
        printf("experiment %llu: %s after %llu pairs%s; `kroo show %llu` tells all\n",
               (unsigned long long)follow->experiment, record_outcome(record),
               (unsigned long long)counters->prefix_pairs, repeated, (unsigned long long)follow->experiment);
    }
    return record->state == STORE_FINISHED ? COMMAND_DONE : COMMAND_REFUSED;
}

int follow_experiment(const struct settings *settings, uint64_t experiment, bool json)
{
    struct follow follow = {.settings = settings, .experiment = experiment, .json = json};
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    follow.store = connect_store(settings, "kroo_reader");
    if (!follow.store)
        return COMMAND_NO_CONNECTION;
    interrupted = 0;
    sigaction(SIGINT, &action, &before);
    int status;
    while ((status = look(&follow)) == COMMAND_DONE && !interrupted) {
        show(&follow);
        warn_idle(&follow);
        if (!record_is_open(&follow.record))
            break;
        pause_ms(LOOK_MS);
    }
    sigaction(SIGINT, &before, NULL);
    store_close(follow.store);
    return status == COMMAND_DONE ? conclude(&follow) : status;
}

int follow_check(const struct settings *settings, uint64_t experiment)
{
    struct follow follow = {.settings = settings, .experiment = experiment};
    follow.store = connect_store(settings, "kroo_reader");
    if (!follow.store)
        return COMMAND_NO_CONNECTION;
    int status = look(&follow);
    store_close(follow.store);
    return status;
}

int follow_conclude(const struct settings *settings, uint64_t experiment)
{
    struct follow follow = {.settings = settings, .experiment = experiment};
    follow.store = connect_store(settings, "kroo_reader");
    if (!follow.store)
        return COMMAND_NO_CONNECTION;
    int status = look(&follow);
    store_close(follow.store);
    interrupted = status == COMMAND_DONE && record_is_open(&follow.record);
    return status == COMMAND_DONE ? conclude(&follow) : status;
}
