#include "coordinator/cli/calc.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/calc.h"
#include "coordinator/cli/args.h"
#include "coordinator/cli/parse.h"

static const char doc[] =
    "Answers JSON requests, one a line from standard input to standard output."
    "\v{\"op\":\"elo\",\"counts\":[...]}\n"
    "{\"op\":\"llr\",\"counts\":[...],\"model\":\"normalized\",\"elo0\":0,\"elo1\":5}\n"
    "{\"op\":\"sprt\",\"bins\":5,\"model\":\"normalized\",\"elo0\":0,\"elo1\":5,\"alpha\":0.05,\"beta\":0.05,"
    "\n"
    " \"batch\":8,\"sequence\":\"0134...\"}\n"
    "{\"op\":\"rating\",\"players\":[\"A\",\"B\"],\"pairs\":[{\"a\":\"A\",\"b\":\"B\",\"counts\":[...]}]}\n\n"
    "3 counts are L, D, W games; 5 are LL, LD, DD+WL, WD, WW pairs; 6 are LL, LD, DD, WL, DW, WW pairs. "
    "In a sequence each digit is a sample, 0 the worst result of player a. "
    "Left out, model is normalized (the other is logistic), alpha and beta are 0.05, bins 5, batch 1; the "
    "answer states "
    "what was used. A bad request is answered {\"error\":\"...\"} and the next one is read.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = state->input;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    argp_error(state, "requests come on standard input, not as \"%s\"", argument);
    return EINVAL;
}

struct line {
    char *text; /* owned */
    size_t length, capacity;
};

/* Reads up to the line's end or the input's; what is beyond CALC_LINE_MAX + 1 bytes is dropped, and the
 * calculator refuses the rest for its length. False at the end of input or without memory. */
static bool line_read(struct line *line)
{
    int c = getc_unlocked(stdin);
    line->length = 0;
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(stdin)) {
        if (line->length > CALC_LINE_MAX)
            continue;
        if (line->length == line->capacity) {
            size_t capacity = line->capacity ? 2 * line->capacity : 4096;
            char *text = realloc(line->text, capacity);
            if (!text)
                return false;
            line->text = text;
            line->capacity = capacity;
        }
        line->text[line->length++] = (char)c;
    }
    return true;
}

int calc_command(int argc, char **argv)
{
    static const struct argp argp = {.parser = parse_option, .doc = doc, .children = args_common_children};
    struct args_common common = {0}; /* its answers are JSON in any case */
    struct line line = {0};
    bool written = true;
    argp_err_exit_status = 2;
    parse_line(&argp, argc, argv, &common);
    while (written && line_read(&line)) {
        char *answer = calc_answer(line.text ? line.text : "", line.length);
        /* Each answer leaves at once: the asker may be a program that waits for it. */
        written = answer && puts(answer) >= 0 && fflush(stdout) == 0;
        free(answer);
    }
    free(line.text);
    if (written && !ferror(stdin) && feof(stdin))
        return 0;
    fputs("kroo calc: an answer could not be written, or a request not read\n", stderr);
    return 1;
}
