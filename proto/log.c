#include "proto/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048 };

static _Atomic int lowest = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
    atomic_store(&lowest, (int)level);
}

int log_parse_level(const char *name, enum log_level *level)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) != 0)
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

void log_line(enum log_level level, const char *what, const char *format, ...)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};
    if ((int)level < atomic_load(&lowest))
        return;
    char line[LINE_MAX_BYTES];
    size_t size = sizeof line - 1; /* room for the line feed */
    size_t length = put_time(line, size);
    int head = snprintf(line + length, size - length, " %s %s ", names[level], what);
    length += head > 0 ? (size_t)head : 0;
    if (length < size) {
        va_list arguments;
        va_start(arguments, format);
        int body = vsnprintf(line + length, size - length, format, arguments);
        va_end(arguments);
        length += body > 0 ? (size_t)body : 0;
    }
    if (length >= size) {
        length = size - 1;
        memcpy(line + length - 3, "...", 3);
    }
    mask_controls(line, length);
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length); /* one write: lines of threads do not mix */
    (void)written;
}
