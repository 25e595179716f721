/* `kroo watch`: the cluster, or one experiment, live on the whole screen; plain lines, or lines of JSON,
 * where standard output is no terminal. What is away is waited for, and the rest stays on view. */
#include <locale.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/follow.h"
#include "coordinator/cli/glance.h"
#include "coordinator/cli/page.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/screen.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/terminal.h"
#include "coordinator/cli/watch_page.h"
#include "proto/progress.h"

enum { OPTION_EVERY = 0x3000, OPTION_TIMES };
enum {
    SCREEN_EVERY_MS = 1000,
    LINES_EVERY_MS = 5000,
    EVERY_MAX_S = 3600,
    PATIENCE_MS = 2000,
    REDRAW_MS = 250
};

struct watch {
    struct args_common common;
    uint64_t id; /* 0: the cluster */
    uint64_t every_s, times;
    struct watch_pace pace;
};

static error_t watch_parse(int key, char *text, struct argp_state *state)
{
    struct watch *watch = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &watch->common;
        return 0;
    case OPTION_EVERY:
        watch->every_s = args_number(state, "--every", text, 1, EVERY_MAX_S);
        return 0;
    case OPTION_TIMES:
        watch->times = args_number(state, "--times", text, 1, UINT32_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        watch->id = args_id(state, text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int every_ms(const struct watch *watch, int otherwise)
{
    return watch->every_s > 0 ? (int)watch->every_s * 1000 : otherwise;
}

/* --- the screen --- */

static void draw(struct watch *watch, const struct glance *glance)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    terminal_stand_in(out, stdout);
    watch_pace_add(&watch->pace, glance);
    watch_page_print(out, glance, &watch->pace, watch->id);
    terminal_stand_in(NULL, NULL);
    if (fclose(out) == 0)
        screen_draw(text);
    free(text);
}

static bool has_ended(const struct watch *watch, const struct glance *glance)
{
    return watch->id > 0 && glance->has_record && !record_is_open(&glance->record);
}

static void show_screen(struct watch *watch, struct glance_source *source)
{
    enum screen_event event = SCREEN_TICK;
    uint64_t drawn = 0;
    bool ended = false;
    while (event != SCREEN_QUIT && event != SCREEN_KILLED && !ended) {
        struct glance glance;
        glance_read(source, drawn == 0 ? PATIENCE_MS / 4 : 0, &glance);
        draw(watch, &glance);
        ended = has_ended(watch, &glance) || (watch->times > 0 && ++drawn >= watch->times);
        drawn += watch->times == 0;
        glance_done(&glance);
        if (!ended)
            event = screen_wait(REDRAW_MS);
    }
}

/* --- lines --- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static bool print_glance(struct watch *watch, const struct glance *glance)
{
    if (!watch->common.json) {
        watch_page_line(stdout, glance);
    } else {
        json_t *line =
            json_pack("{s:b, s:b, s:o, s:o}", "database_is_up", glance->database.is_up, "coordinator_is_up",
                      glance->coordinator.is_up, "database",
                      glance->database.told ? json_incref(glance->database.told) : json_null(), "coordinator",
                      glance->coordinator.told ? json_incref(glance->coordinator.told) : json_null());
        table_json_print(line);
    }
    return fflush(stdout) == 0;
}

static void print_lines(struct watch *watch, struct glance_source *source)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    int step_ms = every_ms(watch, LINES_EVERY_MS);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (uint64_t printed = 1; !interrupted; printed++) {
        struct glance glance;
        glance_read(source, PATIENCE_MS, &glance);
        bool goes_on = print_glance(watch, &glance);
        glance_done(&glance);
        if (!goes_on || (watch->times > 0 && printed >= watch->times))
            return;
        struct timespec time = {.tv_sec = step_ms / 1000, .tv_nsec = (long)(step_ms % 1000) * 1000000};
        nanosleep(&time, NULL); /* a signal cuts it short */
    }
}

/* --- the command --- */

static int watch_cluster(struct watch *watch, const struct settings *settings)
{
    bool on_screen = !watch->common.json && screen_is_possible();
    if (!settings_get(settings, "database", NULL) && !settings_get(settings, "endpoint", NULL)) {
        args_refuse(
            "no cluster is set up here: `kroo up` starts a private one, --config or --dir names another");
        return COMMAND_NO_CONNECTION;
    }
    struct glance_source *source =
        glance_start(settings, 0, every_ms(watch, on_screen ? SCREEN_EVERY_MS : LINES_EVERY_MS), PATIENCE_MS);
    if (!source)
        return COMMAND_REFUSED;
    if (on_screen && screen_open() == 0) {
        show_screen(watch, source);
        screen_close();
    } else {
        print_lines(watch, source);
    }
    glance_stop(source);
    return COMMAND_DONE;
}

/* On the screen to its end, or until somebody has seen enough; how it ended is told as ever. */
static int watch_experiment(struct watch *watch, const struct settings *settings)
{
    if (watch->common.json || !screen_is_possible())
        return follow_experiment(settings, watch->id, watch->common.json);
    int status = follow_check(settings, watch->id);
    if (status != COMMAND_DONE)
        return status;
    struct glance_source *source =
        glance_start(settings, watch->id, every_ms(watch, SCREEN_EVERY_MS), PATIENCE_MS);
    if (!source || screen_open() != 0)
        return COMMAND_REFUSED;
    show_screen(watch, source);
    screen_close();
    glance_stop(source);
    return follow_conclude(settings, watch->id);
}

int watch_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"every", OPTION_EVERY, "SECONDS", 0, "Look every so many seconds (default 1 on a screen, else 5)",
         1},
        {"times", OPTION_TIMES, "N", 0, "End after N lines (default: never)", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = watch_parse,
        .args_doc = "[ID]",
        .doc =
            "The cluster live on the whole screen: who plays, how fast, what is open and how far, the last "
            "verdicts, the last events; q or Ctrl-C ends it, Ctrl-Z lets it rest. What goes away (database, "
            "coordinator) is told and waited for. Where standard output is no terminal: a line every five "
            "seconds, or of JSON.\n"
            "With ID one experiment, to its end: exit status 0 when it finished or you have seen enough, 1 "
            "when it "
            "was stopped or is blocked. Ending the watching does not end the experiment.\v"
            "Examples:\n  kroo watch\n  kroo watch --times 1 | cat\n  kroo watch 12\n  kroo watch 12 --json "
            "| tail "
            "-n 1",
        .children = args_common_children};
    struct watch watch = {.id = 0};
    parse_line(&argp, argc, argv, &watch);
    int status;
    struct settings *settings = connect_settings(&watch.common, &status);
    if (!settings)
        return status;
    /* The settings stay with the threads that look. */
    return watch.id > 0 ? watch_experiment(&watch, settings) : watch_cluster(&watch, settings);
}
