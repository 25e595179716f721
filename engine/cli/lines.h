/* Lines of standard input with a bound, for the tools: a line ends with LF, CR LF or the end of the input.
 * A struct lines owns its buffer. One thread. */
#ifndef KROO_ENGINE_CLI_LINES_H
#define KROO_ENGINE_CLI_LINES_H

#include <stddef.h>
#include <stdio.h>

/* Longer lines are refused, their rest skipped. */
enum { LINES_MAX = 1 << 16 };

enum lines_status {
    LINES_END = 0,
    LINES_LINE = 1,
    LINES_LONG = -1,  /* longer than LINES_MAX bytes; the next call gives the next line */
    LINES_ERROR = -2, /* reading failed */
};

struct lines {
    FILE *stream;
    char text[LINES_MAX + 2]; /* the line last read, without its end, NUL-terminated; may hold NULs itself */
    size_t length;
};

void lines_init(struct lines *lines, FILE *stream);
enum lines_status lines_read(struct lines *lines);

#endif
