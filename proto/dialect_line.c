#include "proto/dialect_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/text.h"

bool dialect_line_begins(const char *line, const char *word, const char **rest)
{
    size_t size = strlen(word);
    if (strncmp(line, word, size) != 0 || (line[size] != '\0' && line[size] != ' '))
        return false;
    *rest = line + size;
    while (**rest == ' ')
        (*rest)++;
    return true;
}

static void keep_option(struct dialect_listing *listing, const char *line)
{
    size_t room = sizeof listing->options - listing->filled, size = strlen(line);
    if (listing->count == DIALECT_OPTIONS_MAX || size + 2 > room)
        return;
    char *at = listing->options + listing->filled;
    text_clean(line, at, room - 1);
    size = strlen(at);
    at[size] = '\n';
    at[size + 1] = '\0';
    listing->filled += size + 1;
    listing->count++;
}

bool dialect_line_greeting(const char *line, struct dialect_listing *listing)
{
    const char *rest;
    if (dialect_line_begins(line, "id", &rest) && dialect_line_begins(rest, "name", &rest))
        text_clean(rest, listing->name, sizeof listing->name);
    else if (dialect_line_begins(line, "option", &rest))
        keep_option(listing, line);
    else
        return dialect_line_begins(line, "uciok", &rest);
    return false;
}

bool dialect_line_has_option(const struct dialect_listing *listing, const char *name)
{
    static const char head[] = "option name ";
    size_t size = strlen(name);
    for (const char *line = listing->options; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *listed = line + strlen(head);
        if (strncmp(line, head, strlen(head)) == 0 && strncasecmp(listed, name, size) == 0 &&
            strncmp(listed + size, " type ", 6) == 0)
            return true;
    }
    return false;
}

/* A number behind a word of an `info` line; false when it is none. */
static bool info_number(const char *word, int64_t low, int64_t high, int64_t *out)
{
    char *end;
    errno = 0;
    long long number = strtoll(word, &end, 10);
    if (end == word || (*end != ' ' && *end != '\0') || errno != 0 || number < low || number > high)
        return false;
    *out = number;
    return true;
}

/* Takes score and nodes of an `info` line; a line of a second variant, or without either, changes nothing. */
static void take_info(const char *rest, struct dialect_answer *answer)
{
    const char *at;
    int64_t number;
    if (dialect_line_begins(rest, "string", &at) ||
        ((at = strstr(rest, "multipv ")) != NULL && info_number(at + 8, 2, INT32_MAX, &number)))
        return;
    if ((at = strstr(rest, "score cp ")) != NULL && info_number(at + 9, -32767, 32767, &number))
        answer->score = (int32_t)number;
    if ((at = strstr(rest, "nodes ")) != NULL && info_number(at + 6, 0, INT64_MAX, &number))
        answer->nodes = (uint64_t)number;
}

bool dialect_line_answer(const char *line, struct dialect_answer *answer)
{
    const char *rest;
    if (dialect_line_begins(line, "info", &rest)) {
        take_info(rest, answer);
        return false;
    }
    if (!dialect_line_begins(line, "bestmove", &rest))
        return false;
    bool letter = isalpha((unsigned char)rest[0]) != 0 && (rest[1] == '\0' || rest[1] == ' ');
    answer->move = letter ? rest[0] : '\0';
    return true;
}
