#include "coordinator/cli/args.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/terminal.h"
#include "coordinator/specification.h"

enum { OPTION_CONFIG = 0x1000, OPTION_DIR, OPTION_JSON, OPTION_COLOR };

static const struct argp_option common_options[] = {
    {"config", OPTION_CONFIG, "FILE", 0, "Settings file (otherwise KROO_CONFIG, then var/kroo.conf)", 90},
    {"dir", OPTION_DIR, "DIR", 0, "Folder of a private cluster: its DIR/kroo.conf is read", 90},
    {"json", OPTION_JSON, NULL, 0, "Answer in JSON; what goes wrong is JSON, too", 90},
    {"color", OPTION_COLOR, "WHEN", 0, "Colours: auto (on a terminal, without NO_COLOR), always, never", 90},
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
    case OPTION_COLOR:
        if (terminal_set_color(text) != 0)
            argp_error(state, "--color is auto, always or never, not \"%.40s\"", text);
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

/* --- what goes wrong --- */

static bool in_json;
static _Thread_local char *captured;
static _Thread_local size_t captured_size;

void args_speak_json(void)
{
    in_json = getenv(ARGS_DRIVEN) == NULL;
}

bool args_wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) {
            args_speak_json();
            return true;
        }
    return false;
}

void args_capture(char *text, size_t size)
{
    captured = text;
    captured_size = size;
    if (text)
        text[0] = '\0';
}

/* `kroo: TEXT`, or a line of JSON with it. */
static void say(const char *kind, enum terminal_paint paint, const char *text)
{
    fflush(stdout);
    if (in_json) {
        json_t *object = json_pack("{s:s}", kind, text);
        char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
        fprintf(stderr, "%s\n", line ? line : "{\"error\":\"out of memory, or a text that is no UTF-8\"}");
        free(line);
        json_decref(object);
        return;
    }
    if (strcmp(kind, "note") == 0)
        fprintf(stderr, "%s\n", text);
    else
        fprintf(stderr, "%s%s:%s %s\n", terminal_begin(stderr, paint),
                strcmp(kind, "error") == 0 ? "kroo" : kind, terminal_end(stderr), text);
}

static void say_formatted(const char *kind, enum terminal_paint paint, const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    say(kind, paint, text ? text : "out of memory");
    free(text);
}

int args_refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (captured && captured[0] == '\0')
        vsnprintf(captured, captured_size, format, arguments);
    else if (!captured)
        say_formatted("error", TERMINAL_BAD, format, arguments);
    va_end(arguments);
    return COMMAND_REFUSED;
}

void args_warn(const char *format, ...)
{
    va_list arguments;
    if (getenv(ARGS_DRIVEN) || captured)
        return;
    va_start(arguments, format);
    say_formatted("warning", TERMINAL_CARE, format, arguments);
    va_end(arguments);
}

void args_note(const char *format, ...)
{
    va_list arguments;
    if (captured)
        return;
    va_start(arguments, format);
    say_formatted("note", TERMINAL_PLAIN, format, arguments);
    va_end(arguments);
}

bool args_hides_progress(void)
{
    return in_json && isatty(STDERR_FILENO) != 1;
}
