#include "coordinator/cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MIN = 20, COLUMNS_MAX = 10000 };

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color = COLOR_AUTO;

static FILE *stand_in, *stood_for;

void terminal_stand_in(FILE *buffer, FILE *out)
{
    stand_in = buffer;
    stood_for = out;
}

static FILE *real(FILE *out)
{
    return out == stand_in && stand_in ? stood_for : out;
}

int terminal_set_color(const char *when)
{
    if (strcmp(when, "auto") == 0)
        color = COLOR_AUTO;
    else if (strcmp(when, "always") == 0)
        color = COLOR_ALWAYS;
    else if (strcmp(when, "never") == 0)
        color = COLOR_NEVER;
    else
        return -1;
    return 0;
}

bool terminal_has_color(FILE *out)
{
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    int fd = fileno(real(out));
    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;
    return !(none && *none) && kind && *kind && strcmp(kind, "dumb") != 0 && fd >= 0 && isatty(fd) == 1;
}

const char *terminal_begin(FILE *out, enum terminal_paint paint)
{
    static const char *const codes[] = {
        [TERMINAL_PLAIN] = "",         [TERMINAL_STRONG] = "\033[1m", [TERMINAL_FAINT] = "\033[2m",
        [TERMINAL_GOOD] = "\033[32m",  [TERMINAL_BAD] = "\033[31m",   [TERMINAL_CARE] = "\033[33m",
        [TERMINAL_ACCENT] = "\033[36m"};
    return terminal_has_color(out) ? codes[paint] : "";
}

const char *terminal_end(FILE *out)
{
    return terminal_has_color(out) ? "\033[0m" : "";
}

enum terminal_paint terminal_paint_of(const char *word)
{
    static const struct {
        const char *word;
        enum terminal_paint paint;
    } words[] = {{"running", TERMINAL_ACCENT}, {"playing", TERMINAL_ACCENT}, {"accepted", TERMINAL_GOOD},
                 {"finished", TERMINAL_GOOD},  {"up", TERMINAL_GOOD},        {"ok", TERMINAL_GOOD},
                 {"fit", TERMINAL_GOOD},       {"promoted", TERMINAL_GOOD},  {"rejected", TERMINAL_BAD},
                 {"blocked", TERMINAL_BAD},    {"aborted", TERMINAL_BAD},    {"stopped", TERMINAL_BAD},
                 {"failed", TERMINAL_BAD},     {"error", TERMINAL_BAD},      {"down", TERMINAL_BAD},
                 {"gone", TERMINAL_BAD},       {"set aside", TERMINAL_BAD},  {"revoked", TERMINAL_BAD},
                 {"pending", TERMINAL_CARE},   {"paused", TERMINAL_CARE},    {"undecided", TERMINAL_CARE},
                 {"waiting", TERMINAL_CARE},   {"idle", TERMINAL_CARE},      {"unknown", TERMINAL_CARE},
                 {"unfit", TERMINAL_CARE},     {"warning", TERMINAL_CARE},   {"ended", TERMINAL_FAINT},
                 {"stopping", TERMINAL_CARE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].paint;
    return TERMINAL_PLAIN;
}

size_t terminal_columns(FILE *out)
{
    struct winsize size;
    const char *told = getenv("COLUMNS");
    int fd = fileno(real(out));
    if (fd < 0 || isatty(fd) != 1)
        return 0;
    unsigned long columns = told ? strtoul(told, NULL, 10) : 0;
    if (columns >= COLUMNS_MIN && columns <= COLUMNS_MAX)
        return columns;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= COLUMNS_MIN ? size.ws_col : 0;
}

size_t terminal_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

size_t terminal_prefix(const char *text, size_t width)
{
    size_t at = 0;
    for (; text[at]; at++)
        if (((unsigned char)text[at] & 0xc0) != 0x80 && width-- == 0)
            break;
    return at;
}
