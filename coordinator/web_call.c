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
    answer->text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    answer->size = answer->text ? strlen(answer->text) : 0;
    json_decref(object);
}
