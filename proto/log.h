/* Log lines of daemons: one a line, `2026-11-30T07:50:55.123Z level what key=value ...` on standard error.
 * The caller quotes values that may hold spaces; control characters become spaces; at most 2 KiB a line. Any
 * thread. Libraries do not log. */
#ifndef KROO_PROTO_LOG_H
#define KROO_PROTO_LOG_H

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

void log_set_level(enum log_level level);
/* Text as above, or one JSON object a line (log_json.h). Before there are threads. */
void log_set_format(enum log_format format);
/* `text` or `json`; -1 for anything else. */
int log_parse_format(const char *name, enum log_format *format);
/* `debug`, `info`, `warning`, `error`; -1 for anything else. */
int log_parse_level(const char *name, enum log_level *level);
/* `what` is a short event name; `format` gives `key=value` pairs and free text. */
void log_line(enum log_level level, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
