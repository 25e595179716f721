/* What people do to experiments that are there (`kroo pause`, `resume`, `stop`, `priority`, `note`,
 * `approve`, `reject`, `delete`), and `kroo status`: plain questions to the coordinator. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/specification.h"

struct control {
    struct args_common common;
    uint64_t id;
    const char *tournament; /* name or number, in place of an experiment; NULL: an experiment */
    bool takes_tournament;
    bool of_tournament;        /* `kroo tournament pause`: a number is a tournament's, too */
    const char *reason, *word; /* the second argument */
    const char *second;        /* what it is, when the verb needs one */
    bool yes;
};

enum { OPTION_REASON = 0x3000, OPTION_YES };
#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
/* What a verb is done to, as its help has it. */
#define EITHER     "ID|TOURNAMENT"
#define TOURNAMENT "NAME|ID"

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
    case OPTION_YES:
        control->yes = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What is no number names a tournament, where the verb is for these. */
static error_t target_parse(struct control *control, char *text, struct argp_state *state)
{
    bool is_number = text[strspn(text, "0123456789")] == '\0';
    bool is_name = isalnum((unsigned char)text[0]) && text[strspn(text, NAME_LETTERS)] == '\0' &&
                   strlen(text) < MESSAGE_NAME_MAX;
    if (control->of_tournament && !is_name)
        argp_error(state, "\"%.40s\" is no tournament: `kroo tournament ls` lists them", text);
    if (control->of_tournament || (control->takes_tournament && is_name && !is_number))
        control->tournament = text;
    else
        control->id = args_id(state, text);
    return 0;
}

static error_t verb_parse(int key, char *text, struct argp_state *state)
{
    struct control *control = state->input;
    if (key == ARGP_KEY_ARG && state->arg_num == 0)
        return target_parse(control, text, state);
    if (key == ARGP_KEY_ARG && state->arg_num == 1 && control->second) {
        control->word = text;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, control->of_tournament ? "which tournament? `kroo tournament ls` lists them"
                                                 : "which experiment? `kroo ls` lists them");
    if (key == ARGP_KEY_END && control->second && !control->word)
        argp_error(state, "which %s?", control->second);
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

static int perform(const struct control *control, enum message_verb verb, int32_t priority, const char *text)
{
    struct message request = {.kind = MESSAGE_CONTROL_EXPERIMENT}, reply;
    struct message_control_experiment *wanted = &request.control_experiment;
    *wanted = (struct message_control_experiment){
        .experiment = control->id,
        .verb = verb,
        .priority = priority,
    };
    if (strlen(text) >= sizeof wanted->text)
        return args_refuse("that text is too long: at most %zu bytes", sizeof wanted->text - 1);
    snprintf(wanted->text, sizeof wanted->text, "%s", text);
    snprintf(wanted->tournament, sizeof wanted->tournament, "%s",
             control->tournament ? control->tournament : "");
    int status = ask_once(&control->common, &request, MESSAGE_CONTROL_DONE, &reply);
    if (status != COMMAND_DONE)
        return status;
    if (control->common.json)
        status = table_json_print(json_pack("{s:I, s:b, s:s}", "experiment",
                                            (json_int_t)reply.control_done.experiment, "existed",
                                            reply.control_done.existed, "text", reply.control_done.text));
    else if (control->tournament)
        printf("%s\n", reply.control_done.text);
    else
        printf("experiment %llu %s\n", (unsigned long long)reply.control_done.experiment,
               reply.control_done.text);
    message_done(&reply);
    return status;
}

/* A verb that needs nothing but what it is done to and, perhaps, a reason. */
static int plain_verb(int argc, char **argv, enum message_verb verb, const char *of, const char *doc)
{
    static const struct argp_option options[] = {
        {"reason", OPTION_REASON, "TEXT", 0, "Why; kept in the event log", 1}, {0}};
    const struct argp argp = {.options = options,
                              .parser = verb_parse,
                              .args_doc = of,
                              .doc = doc,
                              .children = args_common_children};
    struct control control = {.reason = "",
                              .takes_tournament = strcmp(of, EITHER) == 0,
                              .of_tournament = strcmp(of, TOURNAMENT) == 0};
    parse_line(&argp, argc, argv, &control);
    return perform(&control, verb, 0, control.reason);
}

int pause_command(int argc, char **argv)
{
    return plain_verb(
        argc, argv, MESSAGE_VERB_PAUSE, EITHER,
        "Pause an experiment, or all matches of a tournament by its name: no more pairs go out; those that "
        "are out are played to their end and "
        "count. A restart of the coordinator changes nothing about it.\v"
        "Examples:\n  kroo pause 12 --reason 'the room is hot'\n  kroo pause week");
}

int resume_command(int argc, char **argv)
{
    return plain_verb(
        argc, argv, MESSAGE_VERB_RESUME, EITHER,
        "Let a paused experiment go on, or a blocked one whose cause was mended: the runs of a disputed "
        "pair are counted afresh; or all matches of a tournament by its name. A finished one goes on only "
        "when its "
        "verdict was withdrawn: the games that nobody believes any more are played again by others, "
        "everything "
        "else stays, and it comes to a verdict anew; the one before is kept beside it. Otherwise `kroo "
        "clone` "
        "makes another like it.\v"
        "Examples:\n  kroo resume 12\n  kroo resume week");
}

int stop_command(int argc, char **argv)
{
    return plain_verb(
        argc, argv, MESSAGE_VERB_STOP, EITHER,
        "Stop an experiment for good, or all matches of a tournament by its name: no more pairs go out, and "
        "its verdict is `aborted` under your name. "
        "Games that were played stay. A finished experiment is left as it is. `kroo pause` is for a "
        "while. A submitter may stop what he asked for himself as long as it waits for approval.\v"
        "Examples:\n  kroo stop 12 --reason 'wrong limit'\n  kroo stop week");
}

int approve_command(int argc, char **argv)
{
    return plain_verb(
        argc, argv, MESSAGE_VERB_APPROVE, "ID",
        "Let an experiment run that a submitter asked for (`kroo ls --state pending`). Nobody approves "
        "what was asked for with the same key.\v"
        "Example:\n  kroo approve 12");
}

int reject_command(int argc, char **argv)
{
    return plain_verb(
        argc, argv, MESSAGE_VERB_REJECT, "ID",
        "Refuse an experiment that a submitter asked for: its verdict is `aborted` under your name.\v"
        "Example:\n  kroo reject 12 --reason 'a million nodes a move is a week of the whole farm'");
}

static int priority_verb(int argc, char **argv, const struct argp *argp, struct control *control)
{
    int32_t priority = 0;
    parse_line(argp, argc, argv, control);
    if (args_parse_priority(control->word, &priority) != 0)
        return args_refuse("a priority lies within -%d and %d, not \"%.40s\"", SPECIFICATION_PRIORITY_MAX,
                           SPECIFICATION_PRIORITY_MAX, control->word);
    return perform(control, MESSAGE_VERB_PRIORITY, priority, control->reason);
}

static const struct argp_option reason_options[] = {
    {"reason", OPTION_REASON, "TEXT", 0, "Why; kept in the event log", 1}, {0}};

int priority_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = reason_options,
        .parser = verb_parse,
        .args_doc = EITHER " N",
        .doc = "Give an experiment, or all matches of a tournament by its name, another priority, -1000 to "
               "1000: workers that ask for pairs get those of "
               "the highest "
               "first. Each worker changes over with its next lease. Write a negative number behind `--`.\v"
               "Examples:\n  kroo priority 12 5\n  kroo priority 12 -- -5\n  kroo priority week 5",
        .children = args_common_children};
    struct control control = {.reason = "", .second = "priority", .takes_tournament = true};
    return priority_verb(argc, argv, &argp, &control);
}

int note_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = verb_parse,
        .args_doc = EITHER " TEXT",
        .doc = "Write the note of an experiment, or of a tournament by its name, in place of what it was; "
               "the event log "
               "keeps who wrote it.\v"
               "Examples:\n  kroo note 12 'the weights of the cold room'\n  kroo note week 'of the summer'",
        .children = args_common_children};
    struct control control = {.second = "note", .takes_tournament = true};
    parse_line(&argp, argc, argv, &control);
    return perform(&control, MESSAGE_VERB_NOTE, 0, control.word);
}

/* --- the same of tournaments, whatever their names look like --- */

int tournament_pause(int argc, char **argv)
{
    return plain_verb(argc, argv, MESSAGE_VERB_PAUSE, TOURNAMENT,
                      "Pause all matches of a tournament; further ones are not made until it is resumed.\v"
                      "Example:\n  kroo tournament pause week --reason 'the room is hot'");
}

int tournament_resume(int argc, char **argv)
{
    return plain_verb(argc, argv, MESSAGE_VERB_RESUME, TOURNAMENT,
                      "Let a tournament go on, with all its matches that are paused or blocked.\v"
                      "Example:\n  kroo tournament resume week");
}

int tournament_stop(int argc, char **argv)
{
    return plain_verb(argc, argv, MESSAGE_VERB_STOP, TOURNAMENT,
                      "Stop a tournament for good: the verdict of every match that has not ended is "
                      "`aborted` under your name.\v"
                      "Example:\n  kroo tournament stop week --reason 'wrong players'");
}

int tournament_priority(int argc, char **argv)
{
    static const struct argp argp = {
        .options = reason_options,
        .parser = verb_parse,
        .args_doc = TOURNAMENT " N",
        .doc = "Give all matches of a tournament another priority; further ones get it, too.\v"
               "Example:\n  kroo tournament priority week 5",
        .children = args_common_children};
    struct control control = {.reason = "", .second = "priority", .of_tournament = true};
    return priority_verb(argc, argv, &argp, &control);
}

int tournament_note(int argc, char **argv)
{
    static const struct argp argp = {.parser = verb_parse,
                                     .args_doc = TOURNAMENT " TEXT",
                                     .doc = "Write the note of a tournament.\v"
                                            "Example:\n  kroo tournament note week 'of the summer'",
                                     .children = args_common_children};
    struct control control = {.second = "note", .of_tournament = true};
    parse_line(&argp, argc, argv, &control);
    return perform(&control, MESSAGE_VERB_NOTE, 0, control.word);
}

/* What goes, and what keeps it. COMMAND_DONE when somebody said yes to it. */
static int confirm(const struct control *control)
{
    char answer[16] = "";
    struct store_table table;
    int status;
    if (control->yes)
        return COMMAND_DONE;
    if (!isatty(STDIN_FILENO))
        return args_refuse("deleting asks first, and nobody is here to answer: give --yes");
    struct store *store = connect_reader(&control->common, &status);
    if (!store)
        return status;
    status = connect_query_of(store,
                              "select games_stored, note from kroo.experiment_progress where id = $1::bigint",
                              control->id, &table);
    if (status == COMMAND_DONE && table.rows == 0) {
        store_table_done(&table);
        status = names_refuse_experiment(store, control->id);
    }
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    fprintf(stderr,
            "experiment %llu, \"%s\": its %s games and everything about it will be gone. Delete it? [y/N] ",
            (unsigned long long)control->id, store_cell(&table, 0, 1), store_cell(&table, 0, 0));
    store_table_done(&table);
    bool yes = fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
    return yes ? COMMAND_DONE : args_refuse("not deleted");
}

int delete_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"reason", OPTION_REASON, "TEXT", 0, "Why; kept in the event log", 1},
        {"yes", OPTION_YES, NULL, 0, "Do not ask", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = verb_parse,
        .args_doc = "ID",
        .doc = "Delete an experiment that has ended: its games, leases, disputes, counters and verdict. "
               "Refused when "
               "something descends from it (a fit to its games, a promotion, a loop, a tournament), with "
               "what that is. "
               "Its number is never used again; the event log and the totals keep what it was.\v"
               "Example:\n  kroo delete 12 --reason 'a test of the test' --yes",
        .children = args_common_children};
    struct control control = {.reason = ""};
    parse_line(&argp, argc, argv, &control);
    int status = confirm(&control);
    return status == COMMAND_DONE ? perform(&control, MESSAGE_VERB_DELETE, 0, control.reason) : status;
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
    parse_line(&argp, argc, argv, &control);
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
