/* Lists that come in a HELLO or with an experiment: tags, and options of a player. Taken within their bounds,
 * or refused with a reason. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "proto/message.h"
#include "proto/tags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), reason[256] = "", missing[TAGS_NAME], list[TAGS_TEXT] = "one";
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!tags_check(text, reason, sizeof reason)) {
        if (reason[0] == '\0')
            abort();
    } else if (!tags_cover(text, text, missing) || (text[0] == '\0' && tags_cover("", "a", missing))) {
        abort();
    } else if (strchr(text, ',') == NULL && strlen(text) < TAGS_NAME && text[0] != '\0') {
        tags_add(list, text);
        if (!tags_check(list, reason, sizeof reason))
            abort();
    }
    reason[0] = '\0';
    if (!message_options_check(text, reason, sizeof reason) && reason[0] == '\0')
        abort();
    free(text);
    return 0;
}
