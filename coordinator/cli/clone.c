/* `kroo clone`: another experiment with the specification of one that is there. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/launch.h"
#include "coordinator/record.h"
#include "coordinator/specification.h"

enum {
    OPTION_SAME_SEED = 0x3000,
    OPTION_SEED,
    OPTION_PAIRS,
    OPTION_PRIORITY,
    OPTION_KEY,
    OPTION_NOTE,
    OPTION_WAIT,
    OPTION_DRY_RUN
};

struct clone {
    struct launch launch;
    uint64_t id, pairs, seed;
    const char *key, *note, *priority;
    bool same_seed;
};

static error_t clone_parse(int key, char *text, struct argp_state *state)
{
    struct clone *clone = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &clone->launch.common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        clone->id = args_id(state, text);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which experiment? `kroo ls` lists them");
        return 0;
    case OPTION_SAME_SEED:
        clone->same_seed = true;
        return 0;
    case OPTION_SEED:
        clone->seed = args_number(state, "--seed", text, 0, SPECIFICATION_SEED_MAX);
        clone->launch.has_seed = true;
        return 0;
    case OPTION_PAIRS:
        clone->pairs = args_number(state, "--pairs", text, 1, SPECIFICATION_PAIRS_MAX);
        return 0;
    case OPTION_PRIORITY:
        clone->priority = text;
        return 0;
    case OPTION_KEY:
        clone->key = text;
        return 0;
    case OPTION_NOTE:
        clone->note = text;
        return 0;
    case OPTION_WAIT:
        clone->launch.wait = true;
        return 0;
    case OPTION_DRY_RUN:
        clone->launch.dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int override(const struct clone *clone, struct message_create_experiment *create)
{
    if (clone->pairs)
        create->pairs = clone->pairs;
    if (clone->priority && args_parse_priority(clone->priority, &create->priority) != 0)
        return args_refuse("--priority lies within -%d and %d, not \"%.40s\"", SPECIFICATION_PRIORITY_MAX,
                           SPECIFICATION_PRIORITY_MAX, clone->priority);
    if (clone->key && strlen(clone->key) >= sizeof create->idempotency_key)
        return args_refuse("--key: at most %zu letters", sizeof create->idempotency_key - 1);
    if (clone->note && strlen(clone->note) >= sizeof create->note)
        return args_refuse("--note: at most %zu bytes", sizeof create->note - 1);
    snprintf(create->idempotency_key, sizeof create->idempotency_key, "%s", clone->key ? clone->key : "");
    if (clone->note)
        snprintf(create->note, sizeof create->note, "%s", clone->note);
    return COMMAND_DONE;
}

/* The specification as it was sent, with what is to be another. */
static int load(struct clone *clone, const struct settings *settings)
{
    struct record record;
    struct store *store = connect_store(settings, "kroo_reader");
    if (!store)
        return COMMAND_NO_CONNECTION;
    struct launch *launch = &clone->launch;
    int status = connect_failed(store, record_load(store, clone->id, &record));
    if (status == COMMAND_DONE) {
        record_specification(&record, &launch->create);
        launch->create.spec.experiment = 0;
        launch->create.spec.engine_build[0] = '\0';
        if (launch->has_seed)
            launch->create.spec.seed = clone->seed;
        launch->has_seed = launch->has_seed || clone->same_seed;
        status = override(clone, &launch->create);
    }
    if (status == COMMAND_DONE)
        status = launch_fill_random(launch, store);
    store_close(store);
    return status;
}

int clone_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"same-seed", OPTION_SAME_SEED, NULL, 0, "With its seed: the same games again (default: a new seed)",
         1},
        {"seed", OPTION_SEED, "S", 0, "With this seed", 1},
        {"pairs", OPTION_PAIRS, "N", 0, "With so many pairs", 1},
        {"priority", OPTION_PRIORITY, "P", 0, "With this priority", 1},
        {"key", OPTION_KEY, "TEXT", 0, "Idempotency key: sent twice, the experiment is made once", 1},
        {"note", OPTION_NOTE, "TEXT", 0, "With this note", 1},
        {"wait", OPTION_WAIT, NULL, 0, "Follow it to its end", 2},
        {"dry-run", OPTION_DRY_RUN, NULL, 0, "Check and forecast only; submit nothing", 2},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = clone_parse,
        .args_doc = "ID",
        .doc = "Make another experiment of the same specification. It plays with the engine build of the "
               "cluster as it "
               "is now, under a new seed unless --same-seed is given. Prints its number.\v"
               "Examples:\n  kroo clone 12\n  kroo clone 12 --same-seed --pairs 2000 --wait",
        .children = args_common_children};
    struct clone clone = {0};
    parse_line(&argp, argc, argv, &clone);
    if (clone.same_seed && clone.launch.has_seed)
        return args_refuse("--seed and --same-seed contradict each other: give one");
    int status;
    struct settings *settings = connect_settings(&clone.launch.common, &status);
    if (!settings)
        return status;
    status = load(&clone, settings);
    if (status == COMMAND_DONE)
        status = launch_offer(&clone.launch, settings);
    settings_destroy(settings);
    return status;
}
