#include "coordinator/cli/args.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/specification.h"

enum { OPTION_CONFIG = 0x1000, OPTION_DIR, OPTION_JSON };

static const struct argp_option common_options[] = {
    {"config", OPTION_CONFIG, "FILE", 0, "Settings file (otherwise KROO_CONFIG, then var/kroo.conf)", 90},
    {"dir", OPTION_DIR, "DIR", 0, "Folder of a private cluster: its DIR/kroo.conf is read", 90},
    {"json", OPTION_JSON, NULL, 0, "Answer in JSON", 90},
    {0},
};

static error_t common_parse(int key, char *text, struct argp_state *state)
{
    struct args_common *common = state->input;
    switch (key) {
    case OPTION_CONFIG:
        common->config = text;
        return 0;
    case OPTION_DIR:
        common->dir = text;
        return 0;
    case OPTION_JSON:
        common->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp args_common_argp = {.options = common_options, .parser = common_parse};
const struct argp_child args_common_children[] = {{&args_common_argp, 0, NULL, 90}, {0}};

int args_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    if (text[0] < '0' || text[0] > '9')
        return -1;
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    unsigned long long unit = 1;
    if (*end == 'k')
        unit = 1000, end++;
    else if (*end == 'M')
        unit = 1000000, end++;
    if (errno != 0 || *end != '\0' || value > UINT64_MAX / unit || value * unit < low || value * unit > high)
        return -1;
    *out = value * unit;
    return 0;
}

int args_parse_priority(const char *text, int32_t *out)
{
    uint64_t size = 0;
    bool negative = *text == '-';
    if (args_parse_number(text + negative, 0, SPECIFICATION_PRIORITY_MAX, &size) != 0)
        return -1;
    *out = negative ? -(int32_t)size : (int32_t)size;
    return 0;
}

uint64_t args_number(struct argp_state *state, const char *option, const char *text, uint64_t low,
                     uint64_t high)
{
    uint64_t value = low;
    if (args_parse_number(text, low, high, &value) != 0)
        argp_error(state, "%s takes a whole number from %llu to %llu, not \"%.40s\"", option,
                   (unsigned long long)low, (unsigned long long)high, text);
    return value;
}

uint64_t args_id(struct argp_state *state, const char *text)
{
    uint64_t id = 0;
    if (text[strspn(text, "0123456789")] != '\0' || args_parse_number(text, 1, INT64_MAX, &id) != 0)
        argp_error(state, "\"%.40s\" is no experiment number: `kroo ls` lists them", text);
    return id;
}

error_t args_experiment_parse(int key, char *text, struct argp_state *state)
{
    struct args_experiment *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->id = args_id(state, text);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which experiment? `kroo ls` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

double args_decimal(struct argp_state *state, const char *option, const char *text)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        argp_error(state, "%s takes a number, not \"%.40s\"", option, text);
    return value;
}

uint32_t args_share(struct argp_state *state, const char *option, const char *text)
{
    char number[32];
    size_t length = strlen(text);
    length -= length > 0 && text[length - 1] == '%';
    snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : 0), text);
    double percent = args_decimal(state, option, number);
    if (percent < 0 || percent > 100)
        argp_error(state, "%s is a share in percent: 0 to 100", option);
    return (uint32_t)lround(percent * 1e4);
}

void args_range(struct argp_state *state, const char *option, const char *text, uint64_t *first,
                uint64_t *last)
{
    char low[24];
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);
    bool good = length < sizeof low;
    if (good) {
        memcpy(low, text, length);
        low[length] = '\0';
        good = args_parse_number(low, 0, INT64_MAX, first) == 0 &&
               args_parse_number(dash ? dash + 1 : low, *first, INT64_MAX, last) == 0;
    }
    if (!good)
        argp_error(state, "%s takes a range such as 0-99, or one number, not \"%.40s\"", option, text);
}

static void say(const char *kind, const char *format, va_list arguments)
{
    fflush(stdout);
    fputs(kind, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int args_refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("kroo: ", format, arguments);
    va_end(arguments);
    return COMMAND_REFUSED;
}

void args_warn(const char *format, ...)
{
    va_list arguments;
    if (getenv(ARGS_DRIVEN))
        return;
    va_start(arguments, format);
    say("warning: ", format, arguments);
    va_end(arguments);
}

enum { NAME_MAX_LENGTH = 31 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t length = strlen(b);
    size_t row[NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t replace = corner + (a[i] != b[j]);
            corner = row[j + 1];
            size_t shorter = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = replace < shorter ? replace : shorter;
        }
    }
    return row[length];
}

const char *args_nearest(const char *text, const char *const *names, size_t count)
{
    if (strlen(text) > NAME_MAX_LENGTH)
        return NULL;
    const char *nearest = NULL;
    size_t best = 4;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (length > NAME_MAX_LENGTH)
            continue;
        size_t distance = edit_distance(text, names[i]);
        if (length > 3 && strncmp(text, names[i], 3) == 0 && distance > 2)
            distance = 2;
        if (distance < best && distance < length) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

static void dispatch_help(FILE *out, const struct args_command *commands, const char *doc, const char *name)
{
    fprintf(out, "Usage: %s COMMAND [OPTION...]\n%s\n\nCommands:\n", name, doc);
    for (const struct args_command *command = commands; command->name; command++)
        fprintf(out, "  %-12s  %s\n", command->name, command->help);
    fprintf(out,
            "\n`%s COMMAND --help` tells more. --config FILE and --dir DIR name the cluster; --json answers\n"
            "in JSON. Exit status: 0 done, 1 refused or differences found, 2 wrong usage, 3 no connection.\n",
            name);
}

static int dispatch_unknown(const struct args_command *commands, const char *name, const char *word)
{
    const char *names[64];
    size_t count = 0;
    for (; commands[count].name && count < sizeof names / sizeof *names; count++)
        names[count] = commands[count].name;
    const char *nearest = args_nearest(word, names, count);
    fprintf(stderr, "%s: there is no command \"%.40s\"", name, word);
    if (nearest)
        fprintf(stderr, "; did you mean `%s %s`?\n", name, nearest);
    else
        fprintf(stderr, "; `%s --help` lists them\n", name);
    return COMMAND_USAGE;
}

/* Calls the command with argv[0] "NAME COMMAND" and the leading options put behind it. */
static int dispatch_run(const struct args_command *command, const char *name, char **leading,
                        int leading_count, int argc, char **argv)
{
    char title[96];
    snprintf(title, sizeof title, "%s %s", name, command->name);
    char **passed = calloc((size_t)(leading_count + argc) + 1, sizeof *passed);
    if (!passed)
        return args_refuse("out of memory");
    int count = 0;
    passed[count++] = title;
    for (int i = 0; command->takes_common && i < leading_count; i++)
        passed[count++] = leading[i];
    for (int i = 1; i < argc; i++)
        passed[count++] = argv[i];
    int status = command->run(count, passed);
    free(passed);
    return status;
}

/* How many words a leading option takes: 0 when it is none of ours. */
static int leading_words(const char *word)
{
    if (strcmp(word, "--json") == 0 || strncmp(word, "--config=", 9) == 0 || strncmp(word, "--dir=", 6) == 0)
        return 1;
    return strcmp(word, "--config") == 0 || strcmp(word, "--dir") == 0 ? 2 : 0;
}

int args_dispatch(const struct args_command *commands, const char *doc, int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    int at = 1;
    while (at < argc) {
        int words = leading_words(argv[at]);
        if (words == 0)
            break;
        at += words;
    }
    if (at > argc) {
        fprintf(stderr, "%s: %s needs a value\n", name, argv[argc - 1]);
        return COMMAND_USAGE;
    }
    if (at == argc) {
        dispatch_help(stderr, commands, doc, name);
        return COMMAND_USAGE;
    }
    const char *word = argv[at];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "-?") == 0 ||
        strcmp(word, "help") == 0) {
        dispatch_help(stdout, commands, doc, name);
        return COMMAND_DONE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts(argp_program_version ? argp_program_version : name);
        return COMMAND_DONE;
    }
    for (const struct args_command *command = commands; command->name; command++)
        if (strcmp(command->name, word) == 0)
            return dispatch_run(command, name, argv + 1, at - 1, argc - at, argv + at);
    return dispatch_unknown(commands, name, word);
}
