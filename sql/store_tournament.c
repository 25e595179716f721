#include "sql/store_tournament.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sql/store_connection.h"

static enum store_error find(struct store *store, const char *name_or_id, struct store_tournament *out)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, name_or_id);
    PGresult *result;
    enum store_error error = store_run(
        store,
        "select t.id, t.name, t.kind, t.state, (select count(*) from tournament_pairing p where "
        "p.tournament_id = t.id and p.experiment_id is null) from tournament t where t.id = "
        "(select id from tournament where name = $1 or id::text = $1 order by (name = $1) desc limit 1) "
        "for update of t",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    if (PQntuples(result) == 0) {
        error = store_fail(store, STORE_ERROR_REFUSED,
                           "there is no tournament %.40s: `kroo tournament ls` lists them", name_or_id);
    } else {
        out->id = store_cell_u64(result, 0, 0, &bad);
        store_cell_text(result, 0, 1, out->name, sizeof out->name, &bad);
        store_cell_text(result, 0, 2, out->kind, sizeof out->kind, &bad);
        store_cell_text(result, 0, 3, out->state, sizeof out->state, &bad);
        out->lacking = store_cell_u64(result, 0, 4, &bad);
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "tournament %.40s cannot be read", name_or_id) : error;
}

static enum store_error list_open(struct store *store, struct store_tournament *out)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, out->id);
    PGresult *result;
    enum store_error error =
        store_run(store,
                  "select e.id from tournament_pairing p join experiment e on e.id = p.experiment_id where "
                  "p.tournament_id = $1 and e.state not in ('finished', 'stopped') order by e.id",
                  &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    out->open_count = (size_t)PQntuples(result);
    out->open = calloc(out->open_count + 1, sizeof *out->open);
    for (size_t i = 0; i < out->open_count && out->open; i++)
        out->open[i] = store_cell_u64(result, (int)i, 0, &bad);
    PQclear(result);
    if (!out->open)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu matches", out->open_count);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a number was expected") : STORE_OK;
}

enum store_error store_tournament_lock(struct store *store, const char *name_or_id,
                                       struct store_tournament *out)
{
    *out = (struct store_tournament){0};
    enum store_error error = find(store, name_or_id, out);
    return error == STORE_OK ? list_open(store, out) : error;
}

static enum store_error change(struct store *store, const char *sql,
                               const struct store_parameters *parameters)
{
    return store_run(store, sql, parameters, false, NULL);
}

enum store_error store_tournament_set_state(struct store *store, uint64_t tournament, const char *state,
                                            const char *reason)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, tournament);
    store_add_text(&parameters, state);
    store_add_text(&parameters, reason);
    return change(store, "update tournament set state = $2, state_reason = $3 where id = $1", &parameters);
}

enum store_error store_tournament_prioritize(struct store *store, uint64_t tournament, int32_t priority)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, tournament);
    store_add_i64(&parameters, priority);
    return change(store, "update tournament set priority = $2 where id = $1", &parameters);
}

enum store_error store_tournament_annotate(struct store *store, uint64_t tournament, const char *note)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, tournament);
    store_add_text(&parameters, note);
    return change(store, "update tournament set note = $2 where id = $1", &parameters);
}
