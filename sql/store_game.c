/* Games into the database: the COPY that usually does, and the way through a temporary table that compares.
 */
#include "sql/store_copy.h"
#include "sql/store_flag.h"
#include "sql/store_rollup.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAME_COLUMNS                                                                                         \
    "experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, scores, result, reason, "     \
    "south, north, a_half_points, claimed, nodes, time_ms, resign_ply"
enum { GAME_FIELDS = 18 };

static void put_game(struct store_copy *copy, const struct store_game *game)
{
    /* Numbers beyond the columns' range wrap to negative ones, which the CHECK constraints refuse. */
    store_copy_i64(copy, (int64_t)game->experiment);
    store_copy_i64(copy, (int64_t)game->pair);
    store_copy_i16(copy, game->leg);
    store_copy_i32(copy, (int32_t)game->attempt);
    store_copy_i64(copy, (int64_t)game->lease);
    store_copy_i64(copy, (int64_t)game->session);
    store_copy_bytes(copy, game->moves, game->plies);
    store_copy_i32(copy, (int32_t)game->plies);
    store_copy_bytes(copy, game->scores, game->scores_size);
    store_copy_bytes(copy, game->result, strnlen(game->result, sizeof game->result));
    store_copy_bytes(copy, game->reason, strnlen(game->reason, sizeof game->reason));
    store_copy_i16(copy, game->south);
    store_copy_i16(copy, game->north);
    store_copy_i16(copy, game->a_half_points);
    store_copy_bool(copy, game->claimed);
    store_copy_i64(copy, (int64_t)game->nodes);
    store_copy_i32(copy, (int32_t)game->time_ms);
    if (game->resign_ply > 0)
        store_copy_i32(copy, (int32_t)game->resign_ply);
    else
        store_copy_bytes(copy, NULL, 0);
}

/* --- keys twice in a batch --- */

static int compare_keys(const struct store_game *one, const struct store_game *other)
{
    if (one->experiment != other->experiment)
        return one->experiment < other->experiment ? -1 : 1;
    if (one->pair != other->pair)
        return one->pair < other->pair ? -1 : 1;
    return (int)one->leg - (int)other->leg;
}

/* By key, then by place in the batch. */
static int compare_places(const void *one, const void *other)
{
    const struct store_game *a = *(const struct store_game *const *)one;
    const struct store_game *b = *(const struct store_game *const *)other;
    int order = compare_keys(a, b);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Games in key order: locality for the index, and equal keys side by side. NULL without memory. */
static const struct store_game **sort_games(const struct store_game *games, size_t count)
{
    const struct store_game **order = malloc(count * sizeof *order);
    if (order == NULL)
        return NULL;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        order[i] = &games[i];
        sorted = sorted && (i == 0 || compare_keys(&games[i - 1], &games[i]) <= 0);
    }
    if (!sorted)
        qsort(order, count, sizeof *order, compare_places);
    return order;
}

static bool is_first(const struct store_game *const *order, size_t place)
{
    return place == 0 || compare_keys(order[place - 1], order[place]) != 0;
}

/* --- the usual way --- */

static enum store_error copy_games(struct store *store, const struct store_game *const *order, size_t count,
                                   const struct store_beside *beside)
{
    struct store_copy copy;
    store_copy_begin(&copy, store, "copy game (" GAME_COLUMNS ") from stdin (format binary)");
    for (size_t i = 0; i < count && copy.error == STORE_OK; i++) {
        store_copy_row(&copy, GAME_FIELDS);
        put_game(&copy, order[i]);
    }
    store_copy_send(&copy);
    if (beside)
        beside->work(beside->context);
    return copy.error == STORE_OK ? store_finish(store) : copy.error;
}

/* --- the way that compares --- */

/* `place` is the game's index in the caller's batch; `first` marks the first of each key. */
static enum store_error copy_incoming(struct store *store, const struct store_game *games,
                                      const struct store_game *const *order, size_t count)
{
    enum store_error error = store_exec(
        store,
        "create temporary table if not exists game_incoming on commit delete rows as "
        "select 0 as place, false as first, " GAME_COLUMNS ", 0::smallint as outcome from game with no data; "
        "delete from pg_temp.game_incoming",
        NULL);
    if (error != STORE_OK)
        return error;
    struct store_copy copy;
    store_copy_begin(&copy, store,
                     "copy pg_temp.game_incoming (place, first, " GAME_COLUMNS
                     ") from stdin (format binary)");
    for (size_t i = 0; i < count && copy.error == STORE_OK; i++) {
        store_copy_row(&copy, GAME_FIELDS + 2);
        store_copy_i32(&copy, (int32_t)(order[i] - games));
        store_copy_bool(&copy, is_first(order, i));
        put_game(&copy, order[i]);
    }
    return store_copy_end(&copy);
}

static const char fresh_sql[] =
    "with fresh as (insert into game (" GAME_COLUMNS ") select " GAME_COLUMNS
    " from pg_temp.game_incoming where first order by experiment_id, pair_no, leg "
    "on conflict (experiment_id, pair_no, leg) do nothing returning experiment_id, pair_no, leg) "
    "update pg_temp.game_incoming i set outcome = 0 from fresh f where i.first "
    "and (i.experiment_id, i.pair_no, i.leg) = (f.experiment_id, f.pair_no, f.leg)";

/* The rest is said of one experiment, $1: otherwise it would be planned for the partitions of all.
 *
 * Under a time limit two runs of a game differ by nature: the stored one stands, and the other is no
 * conflict. Scalar subqueries, so that each game is looked up by key whatever the planner thinks of the
 * tables' sizes. */
static const char compare_sql[] =
    "update pg_temp.game_incoming i set outcome = (select case when (g.moves, g.result, g.reason, g.south, "
    "g.north, g.a_half_points, g.claimed) = (i.moves, i.result, i.reason, i.south, i.north, i.a_half_points, "
    "i.claimed) and g.scores is not distinct from i.scores then 1 when exists (select from experiment e "
    "join player p on p.id in (e.player_a, e.player_b) where e.id = i.experiment_id "
    "and ((p.options ->> 'time_ms')::bigint > 0 or (p.options ->> 'clock_ms')::bigint > 0)) then 1 else 2 "
    "end from game g where g.experiment_id = $1 and (g.pair_no, g.leg) = (i.pair_no, i.leg)) "
    "where i.experiment_id = $1 and i.outcome is null";

/* Every run of a disputed game is kept once: the stored one, those that differ, and, as long as the dispute
 * is open, those that agree with the stored one. */
static const char dispute_sql[] =
    "insert into dispute (experiment_id, pair_no, was_counted, reason) "
    "select i.experiment_id, i.pair_no, i.pair_no < (select prefix_pairs from experiment_counter c "
    "where c.experiment_id = i.experiment_id), min(format('leg %s came with other %s', i.leg, "
    "(select case when g.moves <> i.moves then 'moves' when g.scores is distinct from i.scores then 'scores' "
    "else 'result' end from game g where g.experiment_id = $1 and (g.pair_no, g.leg) = (i.pair_no, i.leg)))) "
    "from pg_temp.game_incoming i where i.experiment_id = $1 and i.outcome = 2 "
    "group by i.experiment_id, i.pair_no "
    "order by i.experiment_id, i.pair_no on conflict (experiment_id, pair_no) do update set state = 'open', "
    "settled_at = null, settlement = null, was_counted = excluded.was_counted "
    "where dispute.settlement like 'set aside%'";

static const char dispute_run_sql[] =
    "with run as ("
    "select g.* from (select distinct pair_no, leg from pg_temp.game_incoming where experiment_id = $1 "
    "and outcome = 2) i, "
    "lateral (select " GAME_COLUMNS
    " from game g where g.experiment_id = $1 and (g.pair_no, g.leg) = (i.pair_no, i.leg) limit 1) g "
    "union all select " GAME_COLUMNS
    " from pg_temp.game_incoming where experiment_id = $1 and outcome in (1, 2)) "
    "insert into dispute_run (dispute_id, leg, session_id, attempt, content_sha256, lease_id, moves, scores, "
    "result, reason, south, north, a_half_points, claimed, nodes, time_ms) "
    "select d.id, r.leg, r.session_id, r.attempt, game_content_sha256(r.moves, r.scores, r.result, r.reason, "
    "r.south, r.north, r.claimed), r.lease_id, r.moves, r.scores, r.result, r.reason, r.south, r.north, "
    "r.a_half_points, r.claimed, r.nodes, r.time_ms "
    "from run r join dispute d on d.experiment_id = $1 and d.pair_no = r.pair_no and d.state = 'open' "
    "on conflict do nothing";

/* Of each experiment in the batch, whose games are side by side. */
static enum store_error run_for_each(struct store *store, const char *sql,
                                     const struct store_game *const *order, size_t count)
{
    enum store_error error = STORE_OK;
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        if (i > 0 && order[i - 1]->experiment == order[i]->experiment)
            continue;
        struct store_parameters parameters = {0};
        store_add_u64(&parameters, order[i]->experiment);
        error = store_run(store, sql, &parameters, false, NULL);
    }
    return error;
}

static enum store_error read_outcomes(struct store *store, size_t count, enum store_outcome *outcome,
                                      bool *conflict, bool *duplicate)
{
    PGresult *result;
    enum store_error error =
        store_run(store, "select place, outcome from pg_temp.game_incoming", NULL, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = (size_t)PQntuples(result) != count;
    for (int row = 0; row < PQntuples(result) && !bad; row++) {
        uint64_t place = store_cell_u64(result, row, 0, &bad);
        uint64_t value = store_cell_u64(result, row, 1, &bad);
        bad = bad || place >= count || value > STORE_GAME_CONFLICT;
        if (bad)
            break;
        outcome[place] = (enum store_outcome)value;
        *conflict = *conflict || value == STORE_GAME_CONFLICT;
        *duplicate = *duplicate || value == STORE_GAME_DUPLICATE;
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the comparison of games gave no clear outcome")
               : STORE_OK;
}

static enum store_error compare_games(struct store *store, const struct store_game *games,
                                      const struct store_game *const *order, size_t count,
                                      enum store_outcome *outcome)
{
    bool conflict = false, duplicate = false;
    enum store_error error = copy_incoming(store, games, order, count);
    if (error == STORE_OK)
        error = store_exec(store, fresh_sql, NULL);
    if (error == STORE_OK)
        error = run_for_each(store, compare_sql, order, count);
    if (error == STORE_OK)
        error = read_outcomes(store, count, outcome, &conflict, &duplicate);
    /* Agreeing runs of disputed pairs are recorded too, so duplicates alone also go there. */
    if (error == STORE_OK && conflict)
        error = run_for_each(store, dispute_sql, order, count);
    if (error == STORE_OK && (conflict || duplicate))
        error = run_for_each(store, dispute_run_sql, order, count);
    return error;
}

/* --- both --- */

/* Undoes what a failed try did, so that the caller's transaction lives on; keeps the first error and its
 * reason. */
static enum store_error back_to_savepoint(struct store *store, enum store_error error)
{
    char reason[STORE_TEXT];
    if (error == STORE_ERROR_CONNECTION)
        return error;
    memcpy(reason, store->reason, sizeof reason);
    enum store_error undone = store_exec(store, "rollback to savepoint games_put", NULL);
    if (undone != STORE_OK)
        return undone;
    memcpy(store->reason, reason, sizeof reason);
    return error;
}

static enum store_error put_sorted(struct store *store, const struct store_game *games,
                                   const struct store_game *const *order, size_t count,
                                   enum store_outcome *outcome, const struct store_beside *beside)
{
    bool twice = false;
    for (size_t i = 1; i < count && !twice; i++)
        twice = !is_first(order, i);
    enum store_error error = store_exec(store, "savepoint games_put", NULL);
    if (error != STORE_OK)
        return error;
    error = STORE_ERROR_UNIQUE;
    if (!twice) {
        error = copy_games(store, order, count, beside);
        if (error == STORE_OK)
            for (size_t i = 0; i < count; i++)
                outcome[i] = STORE_GAME_INSERTED;
        else
            error = back_to_savepoint(store, error);
    }
    if (error == STORE_ERROR_UNIQUE) {
        error = compare_games(store, games, order, count, outcome);
        if (error != STORE_OK)
            error = back_to_savepoint(store, error);
    }
    if (error == STORE_ERROR_CONNECTION)
        return error;
    enum store_error released =
        error == STORE_OK ? store_exec(store, "release savepoint games_put", NULL) : STORE_OK;
    return error != STORE_OK ? error : released;
}

/* A claimed ending opens a dispute with itself as its first run, unless time limits make every run another
 * one. */
static const char claim_sql[] =
    "insert into dispute (experiment_id, pair_no, was_counted, reason) "
    "select g.experiment_id, g.pair_no, false, format('leg %s is claimed to have ended by %s', g.leg, "
    "g.reason) "
    "from game g where (g.experiment_id, g.pair_no, g.leg) = ($1, $2, $3) and g.claimed "
    "and not exists (select from experiment e join player p on p.id in (e.player_a, e.player_b) "
    "where e.id = g.experiment_id and ((p.options ->> 'time_ms')::bigint > 0 or (p.options ->> "
    "'clock_ms')::bigint > 0)) "
    "on conflict (experiment_id, pair_no) do update set state = 'open', settled_at = null, settlement = "
    "null, "
    "was_counted = false where dispute.settlement like 'set aside%'";

static const char claim_run_sql[] =
    "insert into dispute_run (dispute_id, leg, session_id, attempt, content_sha256, lease_id, moves, scores, "
    "result, reason, south, north, a_half_points, claimed, nodes, time_ms) "
    "select d.id, g.leg, g.session_id, g.attempt, game_content_sha256(g.moves, g.scores, g.result, g.reason, "
    "g.south, g.north, g.claimed), g.lease_id, g.moves, g.scores, g.result, g.reason, g.south, g.north, "
    "g.a_half_points, g.claimed, g.nodes, g.time_ms "
    "from game g join dispute d on d.experiment_id = g.experiment_id and d.pair_no = g.pair_no "
    "and d.state = 'open' where (g.experiment_id, g.pair_no, g.leg) = ($1, $2, $3) and g.claimed "
    "on conflict do nothing";

static enum store_error open_claims(struct store *store, const struct store_game *games, size_t count,
                                    const enum store_outcome *outcome)
{
    enum store_error error = STORE_OK;
    for (size_t i = 0; i < count && error == STORE_OK; i++) {
        /* A resignation follows from the stored scores: the referee has seen that it does. */
        if (!games[i].claimed || outcome[i] != STORE_GAME_INSERTED || strcmp(games[i].reason, "resign") == 0)
            continue;
        struct store_parameters parameters = {0};
        store_add_u64(&parameters, games[i].experiment);
        store_add_u64(&parameters, games[i].pair);
        store_add_u64(&parameters, games[i].leg);
        error = store_run(store, claim_sql, &parameters, false, NULL);
        if (error == STORE_OK)
            error = store_run(store, claim_run_sql, &parameters, false, NULL);
    }
    return error;
}

enum store_error store_games_put(struct store *store, const struct store_game *games, size_t count,
                                 enum store_outcome *outcome)
{
    return store_games_put_beside(store, games, count, outcome, NULL);
}

enum store_error store_games_put_beside(struct store *store, const struct store_game *games, size_t count,
                                        enum store_outcome *outcome, const struct store_beside *beside)
{
    if (count == 0)
        return STORE_OK;
    assert(count <= INT32_MAX);
    const struct store_game **order = sort_games(games, count);
    if (order == NULL)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory to sort %zu games", count);
    enum store_error error = put_sorted(store, games, order, count, outcome, beside);
    free(order);
    if (error == STORE_OK)
        error = store_sessions_count(store, games, count, outcome);
    return error == STORE_OK ? open_claims(store, games, count, outcome) : error;
}

/* --- reading back --- */

struct standings {
    store_standing *row;
    void *context;
    bool bad;
};

static int receive_standing(void *context, const struct store_field *fields)
{
    struct standings *standings = context;
    uint64_t pair = (uint64_t)store_field_integer(&fields[0], &standings->bad);
    unsigned leg = (unsigned)store_field_integer(&fields[1], &standings->bad);
    unsigned points = (unsigned)store_field_integer(&fields[2], &standings->bad);
    if (standings->bad)
        return 1;
    standings->row(standings->context, pair, leg, points);
    return 0;
}

enum store_error store_standings(struct store *store, uint64_t experiment, store_standing *row, void *context)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "copy (select pair_no, leg, a_half_points from kroo.game where experiment_id = %" PRIu64
             " order by pair_no, leg) to stdout (format binary)",
             experiment);
    struct standings standings = {.row = row, .context = context};
    int stopped = 0;
    enum store_error error = store_set_limit(store, STORE_STREAM_MS);
    if (error == STORE_OK)
        error = store_copy_out(store, sql, 3, receive_standing, &standings, &stopped);
    if (error == STORE_OK && standings.bad)
        error = store_fail(store, STORE_ERROR_DATA, "a game of experiment %" PRIu64 " cannot be read",
                           experiment);
    if (error == STORE_OK)
        error = store_set_limit(store, STORE_STATEMENT_MS);
    return error;
}

enum store_error store_disputed_pairs(struct store *store, uint64_t experiment, uint64_t **pairs,
                                      size_t *count)
{
    *pairs = NULL;
    *count = 0;
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    PGresult *result;
    enum store_error error = store_run(
        store,
        "select pair_no from dispute where experiment_id = $1 and state = 'open' and not was_counted "
        "order by pair_no",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    bool bad = false;
    uint64_t *found = malloc((rows > 0 ? rows : 1) * sizeof *found);
    if (found == NULL)
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu pairs", rows);
    for (size_t row = 0; row < rows && found != NULL; row++)
        found[row] = store_cell_u64(result, (int)row, 0, &bad);
    PQclear(result);
    if (bad)
        error = store_fail(store, STORE_ERROR_DATA, "disputes cannot be read");
    if (error != STORE_OK) {
        free(found);
        return error;
    }
    *pairs = found;
    *count = rows;
    return STORE_OK;
}
