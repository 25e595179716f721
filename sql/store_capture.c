#include "sql/store_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sql/store_copy.h"

enum { LISTS = 3, NUMBER_MAX = 11 };

/* `{1,2,3}`; `size` holds NUMBER_MAX a number and 3 more. */
static void write_list(char *text, size_t size, const uint32_t *list, size_t count)
{
    size_t used = 1;
    text[0] = '{';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ",%" PRIu32 : "%" PRIu32, list[i]);
    snprintf(text + used, size - used, "}");
}

static enum store_error send_lists(struct store *store, const char *sql,
                                   const struct store_captures *captures)
{
    const uint32_t *const lists[LISTS] = {captures->games, captures->captures, captures->seeds};
    size_t size = captures->plies * NUMBER_MAX + 3;
    char *texts = malloc(LISTS * size);
    if (!texts)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for the captures of %zu plies",
                          captures->plies);
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, captures->experiment);
    store_add_u64(&parameters, captures->segment);
    for (size_t i = 0; i < LISTS; i++) {
        write_list(texts + i * size, size, lists[i], captures->plies);
        store_add_text(&parameters, texts + i * size);
    }
    enum store_error error = store_run(store, sql, &parameters, false, NULL);
    free(texts);
    return error;
}

enum store_error store_captures_add(struct store *store, const struct store_captures *captures)
{
    return send_lists(store, "select kroo.capture_add($1, $2, $3, $4, $5)", captures);
}

enum store_error store_captures_put(struct store *store, const struct store_captures *captures)
{
    return send_lists(store, "select kroo.capture_put($1, $2, $3, $4, $5)", captures);
}

enum store_error store_captures_forget(struct store *store, uint64_t experiment, uint64_t segment)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, segment);
    return store_run(store, "select kroo.capture_forget($1, $2)", &parameters, false, NULL);
}

enum store_error store_captures_due(struct store *store, struct store_captures_due *due, bool *found)
{
    PGresult *result;
    bool bad = false;
    *found = false;
    enum store_error error = store_run(
        store, "select experiment_id, segment, rules from kroo.capture_due_take(1)", NULL, false, &result);
    if (error != STORE_OK)
        return error;
    *found = PQntuples(result) > 0;
    if (*found) {
        due->experiment = store_cell_u64(result, 0, 0, &bad);
        due->segment = store_cell_u64(result, 0, 1, &bad);
        store_cell_text(result, 0, 2, due->rules, sizeof due->rules, &bad);
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a segment whose captures are due cannot be read")
               : STORE_OK;
}

struct reading {
    store_capture_moves *take;
    void *context;
};

static int receive_moves(void *context, const struct store_field *fields)
{
    const struct reading *reading = context;
    return reading->take(reading->context, fields[0].bytes, fields[0].size > 0 ? (size_t)fields[0].size : 0);
}

enum store_error store_captures_read(struct store *store, const struct store_captures_due *due,
                                     store_capture_moves *take, void *context)
{
    char sql[256];
    struct reading reading = {take, context};
    int stopped = 0;
    snprintf(sql, sizeof sql,
             "copy (select moves from kroo.game where experiment_id = %" PRIu64 " and pair_no >= %" PRIu64
             " and pair_no < %" PRIu64 ") to stdout (format binary)",
             due->experiment, due->segment * STORE_SEGMENT_PAIRS, (due->segment + 1) * STORE_SEGMENT_PAIRS);
    enum store_error error = store_copy_out(store, sql, 1, receive_moves, &reading, &stopped);
    if (error == STORE_OK && stopped)
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory to count captures");
    return error;
}
