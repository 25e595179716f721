#include "coordinator/web_call.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct web_call *web_call_find(const char *path)
{
    for (const struct web_call *call = web_calls; call->path; call++)
        if (strcmp(call->path, path) == 0)
            return call;
    return NULL;
}

const struct web_file *web_file_find(const char *path)
{
    for (const struct web_file *file = web_files; file->path; file++)
        if (strcmp(file->path, path) == 0)
            return file;
    return NULL;
}

const char *web_cell(const struct store_table *rows, size_t row, const char *column)
{
    for (size_t i = 0; i < rows->columns; i++)
        if (strcmp(rows->names[i], column) == 0)
            return rows->cells[row * rows->columns + i];
    return NULL;
}

void web_answer_text(struct web_answer *answer, char *text)
{
    answer->text = text;
    answer->size = text ? strlen(text) : 0;
}

void web_answer_json(struct web_answer *answer, json_t *object)
{
    web_answer_text(answer, object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL);
    json_decref(object);
}

void web_answer_error(struct web_answer *answer, unsigned status, const char *format, ...)
{
    char text[STORE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    free(answer->text);
    memset(answer, 0, sizeof *answer);
    answer->status = status;
    json_t *object = json_pack("{s:s}", "error", text);
    if (!object)
        object = json_pack("{s:s}", "error", "what went wrong cannot be put into words"); /* no UTF-8 */
    web_answer_json(answer, object);
}
