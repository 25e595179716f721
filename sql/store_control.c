/* What is done to an experiment that is there: see coordinator/control.h for what may be done when. */
#include "sql/store_connection.h"

#include <inttypes.h>

enum store_error store_experiment_lock(struct store *store, uint64_t experiment, char submitter[STORE_NAME])
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    PGresult *result;
    enum store_error error = store_run(store, "select submitter from experiment where id = $1 for update",
                                       &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    if (PQntuples(result) == 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "there is no experiment %" PRIu64, experiment);
    else
        store_cell_text(result, 0, 0, submitter, STORE_NAME, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the submitter of experiment %" PRIu64 " cannot be read",
                            experiment)
               : error;
}

/* One row of `experiment` must change. */
static enum store_error change_one(struct store *store, const char *sql,
                                   const struct store_parameters *parameters, uint64_t experiment)
{
    PGresult *result;
    enum store_error error = store_run(store, sql, parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (store_affected(result) != 1)
        error = store_fail(store, STORE_ERROR_REFUSED, "there is no experiment %" PRIu64, experiment);
    PQclear(result);
    return error;
}

enum store_error store_experiment_pend(struct store *store, uint64_t experiment, const char *submitter)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, submitter);
    return change_one(
        store,
        "update experiment set state = 'pending', submitter = $2, state_reason = 'waits for approval' "
        "where id = $1 and state = 'running'",
        &parameters, experiment);
}

enum store_error store_experiments_pending(struct store *store, const char *submitter, uint64_t *count)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, submitter);
    PGresult *result;
    enum store_error error =
        store_run(store, "select count(*) from experiment where state = 'pending' and submitter = $1",
                  &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    *count = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a number was expected") : STORE_OK;
}

enum store_error store_experiment_prioritize(struct store *store, uint64_t experiment, int32_t priority)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_i64(&parameters, priority);
    return change_one(store, "update experiment set priority = $2 where id = $1", &parameters, experiment);
}

enum store_error store_experiment_annotate(struct store *store, uint64_t experiment, const char *note)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, note);
    return change_one(store, "update experiment set note = $2 where id = $1", &parameters, experiment);
}

enum store_error store_disputes_restart(struct store *store, uint64_t experiment)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    return store_run(
        store,
        "update dispute d set runs_before = l.runs from (select dispute_id, max(runs) as runs from "
        "dispute_leg where experiment_id = $1 group by dispute_id) l "
        "where l.dispute_id = d.id and d.experiment_id = $1 and d.state = 'open'",
        &parameters, false, NULL);
}

enum store_error store_experiment_delete(struct store *store, uint64_t experiment, const char *by,
                                         const char *reason, uint64_t *games)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, by);
    store_add_text(&parameters, reason);
    PGresult *result;
    enum store_error error =
        store_run(store, "select experiment_delete($1, $2, $3)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    *games = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a number was expected") : STORE_OK;
}

enum store_error store_experiment_was_deleted(struct store *store, uint64_t experiment, bool *deleted)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    PGresult *result;
    enum store_error error =
        store_run(store, "select from deleted_experiment where id = $1", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *deleted = PQntuples(result) > 0;
    PQclear(result);
    return STORE_OK;
}
