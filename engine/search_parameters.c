#include "engine/search_parameters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/search.h"

enum { NAME_MAX_LENGTH = 40 };

#define FIELD(member) offsetof(struct search_parameters, member)

static const struct entry {
    struct search_parameter parameter;
    size_t offset;
} entries[] = {
    {{"AspirationWindow", 1, 1000, 40}, FIELD(aspiration_window)},
    {{"CutDepth", 0, SEARCH_DEPTH_MAX, 9}, FIELD(cut_depth)},
    {{"CutMargin", 0, 1000, 60}, FIELD(cut_margin)},
    {{"HopelessDepth", 0, SEARCH_DEPTH_MAX, 3}, FIELD(hopeless_depth)},
    {{"HopelessMargin", 0, 2000, 250}, FIELD(hopeless_margin)},
    {{"CaptureMargin", 0, 4000, 200}, FIELD(capture_margin)},
    {{"UnknownDepth", 2, SEARCH_DEPTH_MAX, 4}, FIELD(unknown_depth)},
    {{"ReduceDepth", 2, SEARCH_DEPTH_MAX, 3}, FIELD(reduce_depth)},
    {{"ReduceFrom", 1, 6, 2}, FIELD(reduce_from)},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

const struct search_parameter *search_parameter_at(size_t index)
{
    return index < ENTRIES ? &entries[index].parameter : NULL;
}

const struct search_parameter *search_parameter_find(const char *name)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (strcasecmp(entries[i].parameter.name, name) == 0)
            return &entries[i].parameter;
    return NULL;
}

static size_t offset_of(const struct search_parameter *which)
{
    size_t i = 0;
    while (&entries[i].parameter != which)
        i++;
    return entries[i].offset;
}

int32_t search_parameters_get(const struct search_parameters *parameters,
                              const struct search_parameter *which)
{
    int32_t value;
    memcpy(&value, (const char *)parameters + offset_of(which), sizeof value);
    return value;
}

bool search_parameters_set(struct search_parameters *parameters, const struct search_parameter *which,
                           int32_t value)
{
    if (value < which->low || value > which->high)
        return false;
    memcpy((char *)parameters + offset_of(which), &value, sizeof value);
    return true;
}

struct search_parameters search_parameters_default(void)
{
    struct search_parameters parameters;
    for (size_t i = 0; i < ENTRIES; i++)
        search_parameters_set(&parameters, &entries[i].parameter, entries[i].parameter.usual);
    return parameters;
}

/* One line, its name and value apart. */
static bool take(const char *name, const char *value, unsigned *seen, struct search_parameters *out,
                 char *reason, size_t reason_size)
{
    const struct search_parameter *which = search_parameter_find(name);
    if (which == NULL) {
        snprintf(
            reason, reason_size,
            "the built-in engine has no option \"%s\": `echo uci | kroo-engine` lists those of the search",
            name);
        return false;
    }
    unsigned bit = 1u << (offset_of(which) / sizeof(int32_t));
    if (*seen & bit) {
        snprintf(reason, reason_size, "option %s is there twice: leave one out", which->name);
        return false;
    }
    *seen |= bit;
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < which->low || number > which->high) {
        snprintf(reason, reason_size, "option %s is a whole number from %d to %d, not \"%.40s\"", which->name,
                 which->low, which->high, value);
        return false;
    }
    return search_parameters_set(out, which, (int32_t)number);
}

bool search_parameters_parse(const char *options, struct search_parameters *out, char *reason,
                             size_t reason_size)
{
    unsigned seen = 0;
    *out = search_parameters_default();
    while (*options != '\0') {
        char line[2 * NAME_MAX_LENGTH];
        size_t length = strcspn(options, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, options);
        char *equals = strchr(line, '=');
        if (length >= sizeof line || equals == NULL) {
            snprintf(reason, reason_size, "an option of the built-in engine is Name=Value, not \"%.40s\"",
                     line);
            return false;
        }
        *equals = '\0';
        if (!take(line, equals + 1, &seen, out, reason, reason_size))
            return false;
        options += length + (options[length] == '\n');
    }
    return true;
}
