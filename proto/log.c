#include "proto/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/log_json.h"
#include "proto/text.h"

enum { LINE_MAX_BYTES = 2048, TIME_BYTES = 64, JSON_MAX_BYTES = 3 * LINE_MAX_BYTES };

static const char *const level_names[] = {"debug", "info", "warning", "error"};
static _Atomic int lowest = LOG_LEVEL_INFO;
static enum log_format chosen = LOG_FORMAT_TEXT;

void log_set_level(enum log_level level)
{
    atomic_store(&lowest, (int)level);
}

void log_set_format(enum log_format format)
{
    chosen = format;
}

int log_parse_format(const char *name, enum log_format *format)
{
    if (strcmp(name, "text") != 0 && strcmp(name, "json") != 0)
        return -1;
    *format = name[0] == 'j' ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT;
    return 0;
}

int log_parse_level(const char *name, enum log_level *level)
{
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, level_names[i]) != 0)
            continue;
        *level = (enum log_level)i;
        return 0;
    }
    return -1;
}

static size_t put_time(char *line, size_t size)
{
    struct timespec now;
    struct tm date;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &date) == NULL)
        return 0;
    size_t length = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &date);
    int more = snprintf(line + length, size - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
    return more > 0 ? length + (size_t)more : length;
}

/* A text from outside must not look like another line, nor move the terminal's cursor. */
static void mask_controls(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = ' ';
}

static void write_line(char *line, size_t length)
{
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length); /* one write: lines of threads do not mix */
    (void)written;
}

static void write_json(enum log_level level, const char *what, const char *format, va_list arguments)
{
    char time[TIME_BYTES], body[LINE_MAX_BYTES], clean[LINE_MAX_BYTES], line[JSON_MAX_BYTES];
    time[put_time(time, sizeof time)] = '\0';
    (void)vsnprintf(body, sizeof body, format, arguments);
    text_clean(body, clean, sizeof clean);
    write_line(line, log_json(time, level_names[level], what, clean, line, sizeof line - 1));
}

static void write_text(enum log_level level, const char *what, const char *format, va_list arguments)
{
    char line[LINE_MAX_BYTES];
    size_t size = sizeof line - 1; /* room for the line feed */
    size_t length = put_time(line, size);
    int head = snprintf(line + length, size - length, " %s %s ", level_names[level], what);
    length += head > 0 ? (size_t)head : 0;
    if (length < size) {
        int body = vsnprintf(line + length, size - length, format, arguments);
        length += body > 0 ? (size_t)body : 0;
    }
    if (length >= size) {
        length = size - 1;
        memcpy(line + length - 3, "...", 3);
    }
    mask_controls(line, length);
    write_line(line, length);
}

void log_line(enum log_level level, const char *what, const char *format, ...)
{
    va_list arguments;
    if ((int)level < atomic_load(&lowest))
        return;
    va_start(arguments, format);
    if (chosen == LOG_FORMAT_JSON)
        write_json(level, what, format, arguments);
    else
        write_text(level, what, format, arguments);
    va_end(arguments);
}
