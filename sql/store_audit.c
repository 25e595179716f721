/* Audits: pairs played again by other workers. */
#include "sql/store_audit.h"

#include <stdlib.h>
#include <string.h>

#include "sql/store_connection.h"

enum store_error store_audit_secret(struct store *store, uint8_t secret[STORE_HASH])
{
    PGresult *result;
    enum store_error error = store_run(store, "select audit_secret_read()", NULL, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = PQntuples(result) != 1;
    if (!bad)
        store_cell_hash(result, 0, 0, secret, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the audit's secret cannot be read") : STORE_OK;
}

enum store_error store_audit_begin(struct store *store, uint64_t experiment, const uint64_t *pairs,
                                   size_t count, uint64_t *chosen, size_t *chosen_count)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    char *array = store_array_text(pairs, sizeof *pairs, count);
    *chosen_count = 0;
    if (!array)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu pairs", count);
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, array);
    enum store_error error =
        store_run(store, "select audit_begin($1, 0, $2::bigint[])", &parameters, false, &result);
    free(array);
    if (error != STORE_OK)
        return error;
    bool bad = (size_t)PQntuples(result) > count;
    for (int row = 0; row < PQntuples(result) && !bad; row++)
        chosen[(*chosen_count)++] = store_cell_u64(result, row, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "audited pairs cannot be read") : STORE_OK;
}

enum store_error store_audit_agree(struct store *store, uint64_t experiment, uint64_t pair, unsigned leg,
                                   uint64_t session, bool *closed)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, pair);
    store_add_u64(&parameters, leg);
    store_add_u64(&parameters, session);
    enum store_error error =
        store_run(store, "select audit_agree($1, $2, $3, $4)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    *closed = store_cell_bool(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "an audit gave no clear answer") : STORE_OK;
}

enum store_error store_audit_waive(struct store *store, uint64_t experiment, uint64_t **pairs, size_t *count)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    *pairs = NULL;
    *count = 0;
    store_add_u64(&parameters, experiment);
    enum store_error error = store_run(store, "select audit_waive($1)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    error = store_read_numbers(store, result, pairs, count);
    PQclear(result);
    return error;
}

enum store_error store_audit_end(struct store *store, uint64_t experiment, uint64_t counted,
                                 char remark[STORE_TEXT])
{
    struct store_parameters parameters = {0};
    PGresult *result;
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, counted);
    enum store_error error = store_run(store, "select audit_end($1, $2)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    store_cell_text(result, 0, 0, remark, STORE_TEXT, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the audit's remark cannot be read") : STORE_OK;
}

enum store_error store_charge_late(struct store *store, const struct store_game *game)
{
    struct store_parameters parameters = {0};
    char *moves = strndup(game->moves, game->plies);
    if (!moves)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for a game");
    store_add_u64(&parameters, game->experiment);
    store_add_u64(&parameters, game->pair);
    store_add_u64(&parameters, game->leg);
    store_add_u64(&parameters, game->session);
    store_add_text(&parameters, moves);
    store_add_bool(&parameters, game->claimed);
    enum store_error error =
        store_run(store, "select charge_late($1, $2, $3, $4, $5, $6)", &parameters, false, NULL);
    free(moves);
    return error;
}

static enum store_error read_replays(struct store *store, const PGresult *result, struct store_replay **list,
                                     size_t *count)
{
    size_t rows = (size_t)PQntuples(result);
    bool bad = false;
    struct store_replay *found = calloc(rows ? rows : 1, sizeof *found);
    if (!found)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu pairs", rows);
    for (size_t row = 0; row < rows; row++) {
        found[row].pair = store_cell_u64(result, (int)row, 0, &bad);
        found[row].disputed = store_cell_bool(result, (int)row, 1, &bad);
        found[row].held = store_cell_bool(result, (int)row, 2, &bad);
        store_cell_text(result, (int)row, 3, found[row].peer, sizeof found[row].peer, &bad);
        store_cell_text(result, (int)row, 4, found[row].name, sizeof found[row].name, &bad);
    }
    if (bad) {
        free(found);
        return store_fail(store, STORE_ERROR_DATA, "pairs to be played again cannot be read");
    }
    *list = found;
    *count = rows;
    return STORE_OK;
}

enum store_error store_replays(struct store *store, uint64_t experiment, const uint64_t *pairs, size_t count,
                               struct store_replay **list, size_t *list_count)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    char *array = pairs ? store_array_text(pairs, sizeof *pairs, count) : NULL;
    *list = NULL;
    *list_count = 0;
    if (pairs && !array)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu pairs", count);
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, array);
    enum store_error error = store_run(store,
                                       "select pair_no, is_disputed, is_held, coalesce(peer, ''), "
                                       "coalesce(name, '') from replay_wanted($1, $2::bigint[])",
                                       &parameters, false, &result);
    free(array);
    if (error != STORE_OK)
        return error;
    error = read_replays(store, result, list, list_count);
    PQclear(result);
    return error;
}

enum store_error store_replay_lease(struct store *store, const struct store_lease *lease)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, lease->id);
    store_add_u64(&parameters, lease->experiment);
    store_add_u64(&parameters, lease->first_pair);
    store_add_u64(&parameters, lease->attempt);
    store_add_u64(&parameters, lease->session);
    return store_run(store, "select replay_lease($1, $2, $3, $4, $5)", &parameters, false, NULL);
}

enum store_error store_replay_leases_drop(struct store *store)
{
    return store_run(store, "select replay_lease_drop()", NULL, false, NULL);
}

enum store_error store_audit_ask(struct store *store, uint64_t experiment, uint32_t share_ppm, const char *by,
                                 uint64_t *request)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, share_ppm);
    store_add_text(&parameters, by);
    enum store_error error = store_run(store, "select audit_ask($1, $2, $3)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    *request = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the request has no number") : STORE_OK;
}

enum store_error store_audit_requests(struct store *store, bool begun, struct store_audit_request **list,
                                      size_t *count)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    store_add_bool(&parameters, begun);
    *list = NULL;
    *count = 0;
    enum store_error error = store_run(store,
                                       "select r.id, r.experiment_id, c.counted_pairs, r.share_ppm, "
                                       "r.opened_at is not null "
                                       "from audit_request r join experiment_counted c using (experiment_id) "
                                       "where r.opened_at is null or ($1 and exists (select from audit a "
                                       "where a.experiment_id = r.experiment_id and a.request_id = r.id "
                                       "and a.state = 'open')) order by r.id",
                                       &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    bool bad = false;
    struct store_audit_request *found = calloc(rows ? rows : 1, sizeof *found);
    for (size_t row = 0; row < rows && found; row++) {
        found[row].id = store_cell_u64(result, (int)row, 0, &bad);
        found[row].experiment = store_cell_u64(result, (int)row, 1, &bad);
        found[row].counted_pairs = store_cell_u64(result, (int)row, 2, &bad);
        found[row].share_ppm = (uint32_t)store_cell_u64(result, (int)row, 3, &bad);
        found[row].begun = store_cell_bool(result, (int)row, 4, &bad);
    }
    PQclear(result);
    if (!found || bad) {
        free(found);
        return store_fail(store, found ? STORE_ERROR_DATA : STORE_ERROR_MEMORY,
                          "requests for audits cannot be read");
    }
    *list = found;
    *count = rows;
    return STORE_OK;
}

enum store_error store_audit_begin_request(struct store *store, uint64_t request, const uint64_t *pairs,
                                           size_t count)
{
    struct store_parameters parameters = {0};
    char *array = store_array_text(pairs, sizeof *pairs, count);
    if (!array)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu pairs", count);
    store_add_u64(&parameters, request);
    store_add_text(&parameters, array);
    enum store_error error =
        store_run(store, "select audit_begin_request($1, $2::bigint[])", &parameters, false, NULL);
    free(array);
    return error;
}
