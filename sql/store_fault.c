/* What players' programs did wrong. */
#include "sql/store_connection.h"

#include <stdio.h>
#include <string.h>

enum store_error store_fault_put(struct store *store, const struct store_fault *fault)
{
    char why[2 * STORE_TEXT], side[2] = {fault->side, '\0'};
    struct store_parameters parameters = {0};
    store_clean_text(why, sizeof why, fault->why);
    store_add_u64(&parameters, fault->experiment);
    store_add_u64(&parameters, fault->session);
    store_add_text(&parameters, fault->kind);
    store_add_text(&parameters, fault->side != '\0' ? side : NULL);
    store_add_text(&parameters, why);
    store_add_text(&parameters, fault->moves != NULL ? fault->moves : "");
    store_add_text(&parameters, fault->has_game ? "t" : "f");
    store_add_u64(&parameters, fault->pair);
    store_add_u64(&parameters, fault->leg);
    store_add_u64(&parameters, fault->attempt);
    return store_run(
        store,
        "insert into fault (experiment_id, session_id, kind, side, why, moves, pair_no, leg, attempt) "
        "select $1, $2, $3, $4, $5, $6, case when $7::boolean then $8::bigint end, "
        "case when $7::boolean then $9::smallint end, case when $7::boolean then $10::integer end "
        "on conflict do nothing",
        &parameters, false, NULL);
}

static bool is_fault(const char *reason)
{
    static const char *const reasons[] = {"crash", "illegal-move", "deadline"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reason, reasons[i]) == 0)
            return true;
    return false;
}

enum store_error store_faults_of_games(struct store *store, const struct store_game *games, size_t count)
{
    enum store_error error = STORE_OK;
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        const struct store_game *game = &games[i];
        if (!game->claimed || game->fault == NULL || !is_fault(game->reason))
            continue;
        struct store_fault fault = {.experiment = game->experiment,
                                    .session = game->session,
                                    .side = game->a_half_points == 0 ? 'a' : 'b',
                                    .has_game = true,
                                    .pair = game->pair,
                                    .leg = game->leg,
                                    .attempt = game->attempt,
                                    .moves = game->moves};
        snprintf(fault.kind, sizeof fault.kind, "%s", game->reason);
        snprintf(fault.why, sizeof fault.why, "%s", game->fault);
        error = store_fault_put(store, &fault);
    }
    return error;
}
