#include "engine/cli/lines.h"

void lines_init(struct lines *lines, FILE *stream)
{
    lines->stream = stream;
    lines->length = 0;
    lines->text[0] = '\0';
}

enum lines_status lines_read(struct lines *lines)
{
    size_t length = 0;
    int byte;
    while ((byte = getc_unlocked(lines->stream)) != EOF && byte != '\n') {
        if (length <= LINES_MAX)
            lines->text[length] = (char)byte;
        length++;
    }
    if (ferror(lines->stream))
        return LINES_ERROR;
    if (byte == EOF && length == 0)
        return LINES_END;
    if (length > 0 && length <= LINES_MAX + 1 && lines->text[length - 1] == '\r')
        length--;
    if (length > LINES_MAX)
        return LINES_LONG;
    lines->text[length] = '\0';
    lines->length = length;
    return LINES_LINE;
}
