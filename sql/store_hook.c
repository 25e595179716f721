/* Hooks that are due when experiments end: each is claimed in a transaction of its own before it is started.
 */
#include "sql/store_connection.h"

#include <inttypes.h>
#include <stdlib.h>

/* A claim whose COMMIT went unheard is made again under the same number, and finds what it had claimed. */
enum store_error store_hooks_claim(struct store *store, uint64_t claim, size_t limit,
                                   struct store_hook **list, size_t *count)
{
    *list = NULL;
    *count = 0;
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, claim);
    store_add_u64(&parameters, limit);
    enum store_error error = store_run(
        store,
        "update hook_run set state = 'started', started_at = now(), claim = $1 where experiment_id in "
        "(select experiment_id from hook_run where state = 'due' and not exists (select from hook_run where "
        "claim = $1) "
        "order by experiment_id limit $2) and state = 'due'",
        &parameters, false, NULL);
    if (error != STORE_OK)
        return error;
    struct store_parameters claimed = {0};
    store_add_u64(&claimed, claim);
    PGresult *result;
    error = store_run(
        store,
        "select h.experiment_id, h.command, e.kind, v.verdict, v.counted_pairs, "
        "coalesce(round(v.elo::numeric, 1)::text, ''), e.note from hook_run h join experiment e on e.id = "
        "h.experiment_id join verdict v on v.experiment_id = e.id where h.claim = $1 and h.state = "
        "'started' order by h.experiment_id",
        &claimed, false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    struct store_hook *found = calloc(rows > 0 ? rows : 1, sizeof *found);
    bool bad = false;
    for (size_t i = 0; i < rows && found; i++) {
        int row = (int)i;
        found[i].experiment = store_cell_u64(result, row, 0, &bad);
        store_cell_text(result, row, 1, found[i].command, sizeof found[i].command, &bad);
        store_cell_text(result, row, 2, found[i].kind, sizeof found[i].kind, &bad);
        store_cell_text(result, row, 3, found[i].verdict, sizeof found[i].verdict, &bad);
        found[i].counted_pairs = store_cell_u64(result, row, 4, &bad);
        store_cell_text(result, row, 5, found[i].elo, sizeof found[i].elo, &bad);
        store_cell_text(result, row, 6, found[i].note, sizeof found[i].note, &bad);
    }
    PQclear(result);
    if (!found || bad) {
        free(found);
        return found ? store_fail(store, STORE_ERROR_DATA, "the hooks that are due cannot be read")
                     : store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu hooks", rows);
    }
    *list = found;
    *count = rows;
    return STORE_OK;
}

enum store_error store_hook_end(struct store *store, uint64_t experiment, const char *state,
                                const char *outcome)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, state);
    store_add_text(&parameters, outcome);
    return store_run(
        store,
        "with ended as (update hook_run set state = $2, ended_at = now(), outcome = $3 where experiment_id = "
        "$1 and state = 'started' returning experiment_id, command) insert into event (kind, experiment_id, "
        "text) select 'hook-' || $2, experiment_id, format('%s: %s', command, $3::text) from ended",
        &parameters, false, NULL);
}

enum store_error store_hooks_lost(struct store *store)
{
    return store_run(
        store,
        "with ended as (update hook_run set state = 'unknown', ended_at = now(), outcome = 'the coordinator "
        "ended while it ran: it is not started again' where state = 'started' returning experiment_id, "
        "command, outcome) insert into event (kind, experiment_id, text) select 'hook-unknown', "
        "experiment_id, format('%s: %s', command, outcome) from ended",
        NULL, false, NULL);
}
