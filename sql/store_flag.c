/* Workers that are set aside. */
#include "sql/store_flag.h"

#include <stdlib.h>

#include "sql/store_connection.h"

enum store_error store_flags(struct store *store, struct store_flag **list, size_t *count)
{
    PGresult *result;
    *list = NULL;
    *count = 0;
    enum store_error error =
        store_run(store,
                  "select id, coalesce(peer, ''), coalesce(name, ''), reason, kind = 'failures' "
                  "from worker_flag where restored_at is null order by id",
                  NULL, false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    bool bad = false;
    struct store_flag *found = calloc(rows ? rows : 1, sizeof *found);
    for (size_t row = 0; row < rows && found; row++) {
        found[row].id = store_cell_u64(result, (int)row, 0, &bad);
        store_cell_text(result, (int)row, 1, found[row].peer, sizeof found[row].peer, &bad);
        store_cell_text(result, (int)row, 2, found[row].name, sizeof found[row].name, &bad);
        store_cell_text(result, (int)row, 3, found[row].reason, sizeof found[row].reason, &bad);
        found[row].games_stand = store_cell_bool(result, (int)row, 4, &bad);
    }
    PQclear(result);
    if (!found || bad) {
        free(found);
        return store_fail(store, found ? STORE_ERROR_DATA : STORE_ERROR_MEMORY,
                          "who is set aside cannot be read");
    }
    *list = found;
    *count = rows;
    return STORE_OK;
}

enum store_error store_worker_put_aside(struct store *store, const char *peer, const char *name,
                                        const char *kind, const char *reason, const char *by, bool *is_new)
{
    struct store_parameters parameters = {0};
    char clean_name[STORE_NAME], clean_reason[STORE_TEXT];
    PGresult *result;
    store_clean_text(clean_name, sizeof clean_name, name);
    store_clean_text(clean_reason, sizeof clean_reason, reason);
    store_add_name(&parameters, peer);
    store_add_name(&parameters, clean_name);
    store_add_text(&parameters, kind);
    store_add_text(&parameters, clean_reason);
    store_add_text(&parameters, by);
    enum store_error error =
        store_run(store, "select worker_put_aside($1, $2, $3, $4, $5)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *is_new = !PQgetisnull(result, 0, 0);
    PQclear(result);
    return STORE_OK;
}

static enum store_error read_number(struct store *store, const char *sql,
                                    const struct store_parameters *parameters, uint64_t *number)
{
    PGresult *result;
    bool bad = false;
    enum store_error error = store_run(store, sql, parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *number = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a number cannot be read") : STORE_OK;
}

enum store_error store_worker_restore(struct store *store, const char *peer, const char *name, const char *by,
                                      uint64_t *restored)
{
    struct store_parameters parameters = {0};
    store_add_name(&parameters, peer);
    store_add_name(&parameters, name);
    store_add_text(&parameters, by);
    return read_number(store, "select worker_restore($1, $2, $3)", &parameters, restored);
}

enum store_error store_charged_put_aside(struct store *store)
{
    return store_run(store, "select worker_put_charged_aside()", NULL, false, NULL);
}

static enum store_error read_list(struct store *store, const char *sql, uint64_t **list, size_t *count)
{
    PGresult *result;
    *list = NULL;
    *count = 0;
    enum store_error error = store_run(store, sql, NULL, false, &result);
    if (error != STORE_OK)
        return error;
    error = store_read_numbers(store, result, list, count);
    PQclear(result);
    return error;
}

enum store_error store_games_to_set_aside(struct store *store, uint64_t **list, size_t *count)
{
    return read_list(store, "select games_to_set_aside()", list, count);
}

enum store_error store_games_set_aside(struct store *store, uint64_t experiment, uint64_t *games)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    return read_number(store, "select games_set_aside($1)", &parameters, games);
}

enum store_error store_verdicts_to_judge(struct store *store, uint64_t **list, size_t *count)
{
    return read_list(store, "select verdicts_to_judge()", list, count);
}

enum store_error store_flags_judged(struct store *store)
{
    return store_run(store, "select flags_judged()", NULL, false, NULL);
}

enum store_error store_verdict_withdraw(struct store *store, uint64_t experiment, const char *reason,
                                        bool *written)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, reason);
    enum store_error error = store_run(store, "select verdict_withdraw($1, $2)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *written = store_cell_bool(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a verdict gave no clear answer") : STORE_OK;
}

enum store_error store_verdict_is_withdrawn(struct store *store, uint64_t experiment, bool *withdrawn)
{
    struct store_parameters parameters = {0};
    uint64_t answer = 0;
    store_add_u64(&parameters, experiment);
    enum store_error error =
        read_number(store, "select verdict_is_withdrawn($1)::integer", &parameters, &answer);
    *withdrawn = answer == 1;
    return error;
}

enum store_error store_experiment_reopen(struct store *store, uint64_t experiment, const char *by,
                                         uint64_t *games)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, by);
    return read_number(store, "select experiment_reopen($1, $2)", &parameters, games);
}

enum store_error store_worker_results(struct store *store, uint64_t experiment, uint64_t first, uint64_t end,
                                      struct store_worker_results **list, size_t *count)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    *list = NULL;
    *count = 0;
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, first);
    store_add_u64(&parameters, end);
    enum store_error error =
        store_run(store, "select peer, name, won, lost, equal from worker_results($1, $2, $3)", &parameters,
                  false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    bool bad = false;
    struct store_worker_results *found = calloc(rows ? rows : 1, sizeof *found);
    for (size_t row = 0; row < rows && found; row++) {
        store_cell_text(result, (int)row, 0, found[row].peer, sizeof found[row].peer, &bad);
        store_cell_text(result, (int)row, 1, found[row].name, sizeof found[row].name, &bad);
        found[row].won = store_cell_u64(result, (int)row, 2, &bad);
        found[row].lost = store_cell_u64(result, (int)row, 3, &bad);
        found[row].equal = store_cell_u64(result, (int)row, 4, &bad);
    }
    PQclear(result);
    if (!found || bad) {
        free(found);
        return store_fail(store, found ? STORE_ERROR_DATA : STORE_ERROR_MEMORY,
                          "the workers' results cannot be read");
    }
    *list = found;
    *count = rows;
    return STORE_OK;
}
