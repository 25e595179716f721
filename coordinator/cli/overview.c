/* `kroo` alone: the state of things, and what one might do next. It answers within a second whatever is set
 * up, and whatever answers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/glance.h"
#include "coordinator/cli/page.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/terminal.h"

enum { PATIENCE_MS = 600, WAIT_MS = 800, NEXT_MAX = 8, NEXT_TEXT = 128 };

struct overview {
    struct args_common common;
    bool is_set_up;
    char reason[GLANCE_REASON]; /* why not */
    struct glance glance;
    char command[NEXT_MAX][NEXT_TEXT], what[NEXT_MAX][NEXT_TEXT];
    size_t count;
};

/* --- what next --- */

static void __attribute__((format(printf, 3, 4)))
advise(struct overview *overview, const char *what, const char *format, ...)
{
    va_list arguments;
    if (overview->count == NEXT_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(overview->command[overview->count], NEXT_TEXT, format, arguments);
    va_end(arguments);
    snprintf(overview->what[overview->count++], NEXT_TEXT, "%s", what);
}

static void advise_on_open(struct overview *overview, const json_t *open)
{
    const json_t *one;
    size_t i;
    json_array_foreach(open, i, one)
    {
        const char *state = page_text(one, "state");
        double id = page_number(one, "id");
        if (strcmp(state, "blocked") == 0)
            advise(overview, "why it is blocked", "kroo show %.0f", id);
        else if (strcmp(state, "pending") == 0)
            advise(overview, "let it run", "kroo approve %.0f", id);
        else if (strcmp(state, "paused") == 0)
            advise(overview, "let it go on", "kroo resume %.0f", id);
    }
    if (json_array_size(open) > 0)
        advise(overview, "look on, live", "kroo watch");
}

static void advise_on_ended(struct overview *overview, const json_t *verdicts)
{
    const json_t *last = json_array_get(verdicts, 0);
    double id = page_number(last, "id");
    bool is_match = strcmp(page_text(last, "kind"), "match") == 0;
    if (!last)
        return;
    advise(overview, "all about the last one that ended", "kroo show %.0f", id);
    if (is_match && strcmp(page_text(last, "verdict"), "accepted") == 0 &&
        !json_is_true(json_object_get(last, "is_promoted")))
        advise(overview, "make its winner the champion", "kroo weights promote %.40s --experiment %.0f",
               page_text(last, "name"), id);
    if (strcmp(page_text(last, "kind"), "selfplay") == 0)
        advise(overview, "learn from its games", "kroo-train fit --games %.0f --parent %.40s --name new", id,
               page_text(last, "name"));
}

static void advise_all(struct overview *overview)
{
    const struct glance *glance = &overview->glance;
    const json_t *told = glance->database.told;
    size_t workers, playing;
    page_games_per_second(glance, &workers, &playing);
    if (!overview->is_set_up) {
        advise(overview, "start a private cluster here, in the folder var", "kroo up");
        advise(overview, "check this machine first", "kroo doctor");
        advise(overview, "or use a cluster that is there: its settings file", "kroo --config FILE");
        return;
    }
    if (!glance->database.is_up || !glance->coordinator.is_up) {
        advise(overview, "what is wrong, and how to mend it", "kroo doctor");
        advise(overview, "start the private cluster again, where it is one", "kroo up");
        return;
    }
    if (workers == 0)
        advise(overview, "nobody plays: start workers", "kroo up --workers 2");
    advise_on_open(overview, json_object_get(told, "open"));
    advise_on_ended(overview, json_object_get(told, "verdicts"));
    if (json_array_size(json_object_get(told, "open")) == 0 &&
        json_array_size(json_object_get(told, "verdicts")) == 0)
        advise(overview, "the first games", "kroo selfplay --pairs 1000 --nodes 200 --wait");
    advise(overview, "all commands", "kroo --help");
}

/* --- showing --- */

static void print_next(const struct overview *overview)
{
    size_t width = 0;
    for (size_t i = 0; i < overview->count; i++)
        width = strlen(overview->command[i]) > width ? strlen(overview->command[i]) : width;
    printf("\n%sNext%s\n", terminal_begin(stdout, TERMINAL_STRONG), terminal_end(stdout));
    for (size_t i = 0; i < overview->count; i++)
        printf("  %s%-*s%s  %s\n", terminal_begin(stdout, TERMINAL_ACCENT), (int)width, overview->command[i],
               terminal_end(stdout), overview->what[i]);
}

static int print_page(const struct overview *overview)
{
    if (!overview->is_set_up) {
        printf("no cluster is set up here: %.*s\n", (int)strcspn(overview->reason, "\n"), overview->reason);
    } else {
        page_print_standing(stdout, &overview->glance);
        page_print_champions(stdout, &overview->glance);
        page_print_attention(stdout, &overview->glance);
        page_print_open(stdout, &overview->glance);
        page_print_verdicts(stdout, &overview->glance);
    }
    print_next(overview);
    return COMMAND_DONE;
}

static json_t *side_json(const struct glance_side *side)
{
    return json_pack("{s:b, s:s, s:o}", "is_up", side->is_up, "reason", side->reason, "told",
                     side->told ? json_incref(side->told) : json_null());
}

static int print_json(const struct overview *overview)
{
    json_t *next = json_array();
    for (size_t i = 0; i < overview->count; i++)
        json_array_append_new(
            next, json_pack("{s:s, s:s}", "command", overview->command[i], "what", overview->what[i]));
    return table_json_print(json_pack("{s:b, s:s, s:o, s:o, s:o}", "is_set_up", overview->is_set_up, "reason",
                                      overview->reason, "database", side_json(&overview->glance.database),
                                      "coordinator", side_json(&overview->glance.coordinator), "next", next));
}

static error_t overview_parse(int key, char *text, struct argp_state *state)
{
    struct overview *overview = state->input;
    (void)text;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &overview->common;
    return 0;
}

/* The settings, unless nothing is set up. COMMAND_USAGE, said, when they are bad. */
static int find_settings(struct overview *overview, struct settings **settings)
{
    int status;
    args_capture(overview->reason, sizeof overview->reason);
    *settings = connect_settings(&overview->common, &status);
    args_capture(NULL, 0);
    if (!*settings && status != COMMAND_NO_CONNECTION)
        return args_refuse("%s", overview->reason), status;
    overview->is_set_up =
        *settings && (settings_get(*settings, "database", NULL) || settings_get(*settings, "endpoint", NULL));
    if (*settings && !overview->is_set_up)
        snprintf(overview->reason, sizeof overview->reason,
                 "neither database nor endpoint is set, and there is no var/kroo.conf");
    return COMMAND_DONE;
}

int overview_command(int argc, char **argv)
{
    static const struct argp argp = {.parser = overview_parse,
                                     .doc = "The state of things at a glance, and what one might do next: "
                                            "`kroo` alone shows it. Database and "
                                            "coordinator have 0.8 seconds to answer; exit status 0 whether "
                                            "they do or not (`kroo doctor` tells "
                                            "by its own).\v"
                                            "Examples:\n  kroo\n  kroo --json | jq .next",
                                     .children = args_common_children};
    struct overview overview = {.count = 0};
    struct settings *settings;
    parse_line(&argp, argc, argv, &overview);
    int status = find_settings(&overview, &settings);
    if (status != COMMAND_DONE)
        return status;
    struct glance_source *source = overview.is_set_up ? glance_start(settings, 0, 60000, PATIENCE_MS) : NULL;
    if (source) {
        glance_read(source, WAIT_MS, &overview.glance);
        glance_stop(source);
    }
    advise_all(&overview);
    status = overview.common.json ? print_json(&overview) : print_page(&overview);
    glance_done(&overview.glance);
    return status; /* the settings stay with the threads */
}
