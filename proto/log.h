/* Log lines of daemons: one a line, `2026-11-30T07:50:55.123Z level what key=value ...` on standard error.
 * Values with spaces are quoted. Any thread. Libraries do not log. */
#ifndef KROO_PROTO_LOG_H
#define KROO_PROTO_LOG_H

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

void log_set_level(enum log_level level);
/* `what` is a short event name; `format` gives `key=value` pairs and free text. */
void log_line(enum log_level level, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
