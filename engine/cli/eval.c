#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/lines.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/weights.h"

struct request {
    const char *weights; /* path, or `starting` */
    struct rules rules;
    bool rules_given;
};

static const struct argp_option option_list[] = {
    {"weights", 'w', "FILE", 0, "Weights file, or the word starting for the built-in ones", 0},
    {"rules", 'r', "RULES", 0, "Refuse weights made for other rules than these", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'w':
        request->weights = value;
        return 0;
    case 'r':
        options_read_rules(state, value, &request->rules);
        request->rules_given = true;
        return 0;
    case ARGP_KEY_END:
        if (!request->weights)
            argp_error(state, "--weights is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse_option,
    .doc = "Evaluates positions from standard input, one a line, without searching: an integer a line, "
           "hundredths "
           "of a seed in the view of the side to move. A line that is no position is answered by `error:` "
           "and the "
           "reason, and the command ends with status 1 after doing the rest.",
};

static struct weights *open_weights(const struct request *request, const char *tool)
{
    struct weights *weights = NULL;
    enum weights_error error = WEIGHTS_ERROR_MEMORY;
    if (strcmp(request->weights, "starting") == 0)
        weights = weights_create_starting(request->rules.name);
    else
        error = weights_load(request->weights, request->rules_given ? request->rules.name : NULL, &weights);
    if (!weights)
        fprintf(stderr, "%s: %s: %s\n", tool, request->weights, weights_error_text(error));
    return weights;
}

static int answer_line(const struct weights *weights, const struct lines *lines)
{
    char reason[256] = "a position holds no NUL byte";
    struct position position;
    if (strlen(lines->text) != lines->length ||
        position_parse(lines->text, &position, reason, sizeof reason) != 0) {
        printf("error: %s\n", reason);
        return TOOL_REFUSED;
    }
    printf("%d\n", (int)weights_evaluate(weights, &position));
    return TOOL_DONE;
}

static int answer_lines(const struct weights *weights, struct lines *lines, const char *tool)
{
    int status = TOOL_DONE;
    enum lines_status read;
    while ((read = lines_read(lines)) != LINES_END) {
        if (read == LINES_ERROR) {
            fprintf(stderr, "%s: standard input could not be read\n", tool);
            return TOOL_REFUSED;
        }
        if (read == LINES_LONG) {
            printf("error: the line is longer than %d bytes\n", LINES_MAX);
            status = TOOL_REFUSED;
        } else if (answer_line(weights, lines) != TOOL_DONE) {
            status = TOOL_REFUSED;
        }
    }
    return status;
}

int eval_main(int argc, char **argv)
{
    struct request request = {.rules = options_default_rules()};
    options_parse(&argp, argc, argv, &request);
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct weights *weights = open_weights(&request, argv[0]);
    struct lines *lines = malloc(sizeof *lines);
    int status = TOOL_REFUSED;
    if (weights && lines) {
        lines_init(lines, stdin);
        status = answer_lines(weights, lines, argv[0]);
    }
    free(lines);
    weights_destroy(weights);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}
