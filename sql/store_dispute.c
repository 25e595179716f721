/* Settling what two machines played differently. */
#include "sql/store_connection.h"

#include <string.h>

static enum store_error parse_settlement(struct store *store, const char *word,
                                         enum store_settlement *settlement)
{
    static const char *const words[] = {
        [STORE_DISPUTE_KEPT] = "kept",         [STORE_DISPUTE_REPLACED] = "replaced",
        [STORE_DISPUTE_OPEN] = "open",         [STORE_DISPUTE_BLOCKED] = "blocked",
        [STORE_DISPUTE_OUTVOTED] = "outvoted", [STORE_DISPUTE_DIVERGENT] = "divergent",
        [STORE_DISPUTE_NONE] = "none"};
    for (int i = 0; i < (int)(sizeof words / sizeof words[0]); i++)
        if (strcmp(words[i], word) == 0) {
            *settlement = (enum store_settlement)i;
            return STORE_OK;
        }
    return store_fail(store, STORE_ERROR_DATA, "a dispute was settled as \"%.40s\"", word);
}

enum store_error store_dispute_settle(struct store *store, uint64_t experiment, uint64_t pair,
                                      enum store_settlement *settlement, int points[2])
{
    struct store_parameters parameters = {0};
    PGresult *result;
    store_add_u64(&parameters, experiment);
    store_add_u64(&parameters, pair);
    enum store_error error = store_run(store, "select dispute_settle($1, $2)", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    error = parse_settlement(store, PQgetvalue(result, 0, 0), settlement);
    PQclear(result);
    points[0] = points[1] = -1;
    if (error != STORE_OK || *settlement != STORE_DISPUTE_REPLACED)
        return error;
    error = store_run(store, "select leg, a_half_points from game where experiment_id = $1 and pair_no = $2",
                      &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    for (int row = 0; row < PQntuples(result); row++) {
        uint64_t leg = store_cell_u64(result, row, 0, &bad);
        uint64_t half_points = store_cell_u64(result, row, 1, &bad);
        bad = bad || leg > 1 || half_points > 2;
        if (!bad)
            points[leg] = (int)half_points;
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a settled pair cannot be read") : STORE_OK;
}
