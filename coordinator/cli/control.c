/* `kroo stop` and `kroo status`: plain questions to the coordinator. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"

struct control {
    struct args_common common;
    uint64_t id;
    const char *reason;
};

enum { OPTION_REASON = 0x3000 };

static error_t control_parse(int key, char *text, struct argp_state *state)
{
    struct control *control = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &control->common;
        return 0;
    case OPTION_REASON:
        control->reason = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t stop_parse(int key, char *text, struct argp_state *state)
{
    struct control *control = state->input;
    if (key == ARGP_KEY_ARG && state->arg_num == 0) {
        control->id = args_id(state, text);
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "which experiment? `kroo ls` lists them");
    return control_parse(key, text, state);
}

/* Opens the link, asks once, closes. */
static int ask_once(const struct args_common *common, struct message *request, enum message_kind expected,
                    struct message *reply)
{
    int status;
    struct settings *settings = connect_settings(common, &status);
    if (!settings)
        return status;
    struct coordinator_link *link = link_open(settings, &status);
    settings_destroy(settings);
    if (link)
        status = link_ask(link, request, expected, reply);
    link_close(link);
    return status;
}

int stop_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"reason", OPTION_REASON, "TEXT", 0, "Why; kept with the verdict", 1}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = stop_parse,
        .args_doc = "ID",
        .doc =
            "Stop an experiment: no more pairs go out, and its verdict is `aborted` under your name. Games "
            "that were played stay. A finished experiment is left as it is.\v"
            "Example:\n  kroo stop 12 --reason 'wrong limit'",
        .children = args_common_children};
    struct control control = {.reason = ""};
    argp_parse(&argp, argc, argv, 0, NULL, &control);
    struct message request = {.kind = MESSAGE_STOP_EXPERIMENT}, reply;
    struct message_stop_experiment *stop = &request.stop_experiment;
    stop->experiment = control.id;
    if (strlen(control.reason) >= sizeof stop->reason)
        return args_refuse("--reason: at most %zu letters", sizeof stop->reason - 1);
    snprintf(stop->reason, sizeof stop->reason, "%s", control.reason);
    int status = ask_once(&control.common, &request, MESSAGE_CONTROL_DONE, &reply);
    if (status != COMMAND_DONE)
        return status;
    if (control.common.json)
        status =
            table_json_print(json_pack("{s:I, s:s}", "experiment", (json_int_t)reply.control_done.experiment,
                                       "text", reply.control_done.text));
    else
        printf("%s\n", *reply.control_done.text ? reply.control_done.text : "stopped");
    message_done(&reply);
    return status;
}

/* Objects as indented `name value` lines; arrays of objects one a line. */
static void print_value(const char *name, const json_t *value, int indent)
{
    const char *key;
    json_t *member;
    size_t index;
    if (json_is_object(value)) {
        if (*name)
            printf("%*s%s\n", indent, "", name);
        json_object_foreach((json_t *)value, key, member) print_value(key, member, indent + (*name ? 2 : 0));
        return;
    }
    if (json_is_array(value) && json_array_size(value) > 0) {
        printf("%*s%s\n", indent, "", name);
        json_array_foreach((json_t *)value, index, member)
        {
            printf("%*s", indent + 2, "");
            json_dumpf(member, stdout, JSON_ENCODE_ANY);
            putchar('\n');
        }
        return;
    }
    printf("%*s%-24s ", indent, "", name);
    if (json_is_string(value))
        fputs(json_string_value(value), stdout);
    else
        json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    putchar('\n');
}

int status_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = control_parse,
        .doc = "The coordinator's state at this moment, from its memory: sessions, leases, queues, counters. "
               "Exit status 3 when no coordinator answers.\v"
               "Examples:\n  kroo status\n  kroo status --json | jq .",
        .children = args_common_children};
    struct control control = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &control);
    struct message request = {.kind = MESSAGE_STATUS_REQUEST}, reply;
    int status = ask_once(&control.common, &request, MESSAGE_STATUS_REPLY, &reply);
    if (status != COMMAND_DONE)
        return status;
    json_error_t error;
    json_t *state = json_loads(reply.status_reply.json, 0, &error);
    message_done(&reply);
    if (!state)
        return args_refuse("the coordinator's answer is no JSON: %s", error.text);
    if (control.common.json)
        return table_json_print(state);
    print_value("", state, 0);
    json_decref(state);
    return COMMAND_DONE;
}
