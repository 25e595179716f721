#include "engine/cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REASON_MAX = 640 };

void options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    argp_err_exit_status = TOOL_USAGE;
    error_t error = argp_parse(argp, argc, argv, 0, NULL, input);
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", argv[0], strerror(error));
        exit(TOOL_USAGE);
    }
}

void options_read_rules(struct argp_state *state, const char *text, struct rules *out)
{
    char reason[REASON_MAX];
    if (rules_parse(text, out, reason, sizeof reason) != 0)
        argp_error(state, "%s", reason);
}

void options_read_position(struct argp_state *state, const char *text, struct position *out)
{
    char reason[REASON_MAX];
    if (position_parse(text, out, reason, sizeof reason) != 0)
        argp_error(state, "position: %s", reason);
}

int options_read_number(struct argp_state *state, const char *text, const char *what, int lowest, int highest)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < lowest || value > highest) {
        argp_error(state, "%s must be a number from %d to %d, not '%s'", what, lowest, highest, text);
        return lowest;
    }
    return (int)value;
}

struct weights *options_load_weights(const char *path, const char *rules_name, const char *tool)
{
    struct weights *weights = NULL;
    enum weights_error error = WEIGHTS_ERROR_MEMORY;
    if (path)
        error = weights_load(path, rules_name, &weights);
    else
        weights = weights_create_starting(rules_name);
    if (!weights)
        fprintf(stderr, "%s: %s: %s\n", tool, path ? path : "starting weights", weights_error_text(error));
    return weights;
}

bool options_load_tables(const char *path, const struct rules *rules, const char *tool,
                         struct tables **tables)
{
    *tables = NULL;
    enum tables_error error = path ? tables_open(path, rules, tables) : TABLES_OK;
    if (error != TABLES_OK)
        fprintf(stderr, "%s: %s: %s\n", tool, path, tables_error_text(error));
    return error == TABLES_OK;
}

struct rules options_default_rules(void)
{
    return *rules_preset(0);
}

int options_finish_output(const char *tool)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return TOOL_DONE;
    fprintf(stderr, "%s: standard output could not be written: %s\n", tool, strerror(errno));
    return TOOL_REFUSED;
}

int options_run_command(const struct options_command *commands, size_t count, const char *usage, int argc,
                        char **argv)
{
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0)) {
        fputs(usage, stdout);
        return options_finish_output(argv[0]);
    }
    for (size_t i = 0; argc >= 2 && i < count; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        char title[64];
        snprintf(title, sizeof title, "%s %s", argv[0], commands[i].name);
        argv[1] = title;
        return commands[i].run(argc - 1, argv + 1);
    }
    fputs(usage, stderr);
    return TOOL_USAGE;
}
