#include "coordinator/verify_captures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct store_captures *find_segment(const struct captures *counted, uint64_t segment)
{
    for (size_t i = 0; i < counted->count; i++)
        if (counted->segments[i].segment == segment)
            return &counted->segments[i];
    return NULL;
}

/* `{1,2,3}` against the list; the first ply that differs, 0 when none does. */
static size_t differing_ply(const char *text, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *end;
        if (*text != '{' && *text != ',')
            return i + 1;
        if (strtoul(text + 1, &end, 10) != list[i] || end == text + 1)
            return i + 1;
        text = end;
    }
    return *text == '}' || strcmp(text, "{}") == 0 ? 0 : count + 1;
}

static void compare_row(const struct store_table *rows, size_t row, const struct store_captures *counted,
                        void (*differ)(void *context, const char *text), void *context)
{
    static const char *const names[] = {"games", "captures", "seeds"};
    const struct store_captures nothing = {0};
    const struct store_captures *c = counted ? counted : &nothing;
    const uint32_t *const lists[] = {c->games, c->captures, c->seeds};
    for (size_t i = 0; i < 3; i++) {
        char text[160];
        size_t ply = differing_ply(store_cell(rows, row, 1 + i), lists[i], c->plies);
        if (ply == 0)
            continue;
        snprintf(text, sizeof text, ": capture_rollup, segment %s, has other %s at ply %zu than the games",
                 store_cell(rows, row, 0), names[i], ply);
        differ(context, text);
    }
}

enum store_error verify_captures(struct store *store, uint64_t experiment, const struct captures *counted,
                                 void (*differ)(void *context, const char *text), void *context)
{
    char id[24], text[160];
    const char *parameters[] = {id};
    struct store_table rows;
    size_t found = 0;
    snprintf(id, sizeof id, "%llu", (unsigned long long)experiment);
    enum store_error error = store_query(store,
                                         "select segment, games, captures, seeds from kroo.capture_rollup"
                                         " where experiment_id = $1::bigint order by segment",
                                         parameters, 1, &rows);
    if (error != STORE_OK)
        return error;
    for (size_t i = 0; i < rows.rows; i++) {
        const struct store_captures *segment =
            find_segment(counted, strtoull(store_cell(&rows, i, 0), NULL, 10));
        found += segment != NULL;
        compare_row(&rows, i, segment, differ, context);
    }
    if (found < counted->count) {
        snprintf(text, sizeof text,
                 ": capture_rollup lacks %zu segments that have games (`kroo migrate` counts those in "
                 "capture_due)",
                 counted->count - found);
        differ(context, text);
    }
    store_table_done(&rows);
    return STORE_OK;
}
