/* What a player's program says: greeting and answers of any bytes leave texts within their bounds, of clean
 * UTF-8, and a move that is a letter or none. */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "proto/dialect_line.h"
#include "proto/text.h"

static void check(const struct dialect_listing *listing, const struct dialect_answer *answer)
{
    if (listing->count > DIALECT_OPTIONS_MAX || strlen(listing->options) != listing->filled ||
        !text_is_utf8(listing->options, listing->filled, true) ||
        !text_is_utf8(listing->name, strlen(listing->name), false))
        abort();
    if ((answer->move != '\0' && !isalpha((unsigned char)answer->move)) ||
        (answer->score != DIALECT_NO_SCORE && (answer->score < -32767 || answer->score > 32767)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dialect_listing listing;
    struct dialect_answer answer = {.score = DIALECT_NO_SCORE};
    char *text = malloc(size + 1), *rest = NULL;
    if (!text)
        return 0;
    memset(&listing, 0, sizeof listing);
    memcpy(text, data, size);
    text[size] = '\0'; /* program.c lets no NUL through */
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        (void)dialect_line_greeting(line, &listing);
        (void)dialect_line_answer(line, &answer);
        (void)dialect_line_has_option(&listing, line);
    }
    check(&listing, &answer);
    free(text);
    return 0;
}
