/* Experiments, players, counters and verdicts. */
#include "sql/store_connection.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_words[] = {
    [STORE_SELFPLAY] = "selfplay", [STORE_MATCH] = "match", [STORE_TUNE] = "tune"};
static const char *const state_words[] = {
    [STORE_RUNNING] = "running", [STORE_FINISHED] = "finished", [STORE_STOPPED] = "stopped",
    [STORE_BLOCKED] = "blocked", [STORE_PENDING] = "pending",   [STORE_PAUSED] = "paused"};
enum { KINDS = sizeof kind_words / sizeof *kind_words, STATES = sizeof state_words / sizeof *state_words };

static int word_index(const char *const *words, int count, const char *word, bool *bad)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    *bad = true;
    return 0;
}

/* The one row and cell of a result that must be a number. Clears the result. */
static enum store_error take_number(struct store *store, PGresult *result, uint64_t *out)
{
    bool bad = false;
    *out = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a number was expected") : STORE_OK;
}

/* --- creating --- */

/* From $3 on. What is not there is left out, so that a player of the built-in engine is written as ever. */
#define PLAYER_OPTIONS                                                                                       \
    "jsonb_strip_nulls(jsonb_build_object('nodes', $3::bigint, 'depth', $4::bigint, 'time_ms', $5::bigint, " \
    "'hash_kib', $6::bigint, 'engine', encode($7::bytea, 'hex'), 'tables', encode($8::bytea, 'hex'), "       \
    "'set', to_jsonb(string_to_array($9::text, E'\\n')), 'clock_ms', nullif($10::bigint, 0), "               \
    "'increment_ms', nullif($11::bigint, 0)))"

static bool is_none(const uint8_t hash[STORE_HASH])
{
    static const uint8_t none[STORE_HASH];
    return memcmp(hash, none, STORE_HASH) == 0;
}

static void add_some_hash(struct store_parameters *parameters, const uint8_t hash[STORE_HASH])
{
    bool none = is_none(hash);
    store_add_bytes(parameters, none ? NULL : hash, none ? 0 : STORE_HASH);
}

static void add_options(struct store_parameters *parameters, const struct store_player *player)
{
    store_add_u64(parameters, player->limits.nodes);
    store_add_u64(parameters, player->limits.depth);
    store_add_u64(parameters, player->limits.time_ms);
    store_add_u64(parameters, player->limits.hash_kib);
    add_some_hash(parameters, player->engine);
    add_some_hash(parameters, player->tables);
    store_add_name(parameters, player->options);
    store_add_u64(parameters, player->limits.clock_ms);
    store_add_u64(parameters, player->limits.increment_ms);
}

/* The player's number, known or new. */
static enum store_error put_player(struct store *store, const struct store_player *player, uint64_t *id)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, player->engine_build);
    enum store_error error =
        store_run(store, "insert into engine_build (name) values ($1) on conflict do nothing", &parameters,
                  false, NULL);
    if (error != STORE_OK)
        return error;
    store_add_bytes(&parameters, player->weights, STORE_HASH);
    add_options(&parameters, player);
    error = store_run(store,
                      "insert into player (engine_build, weights_sha256, options) "
                      "values ($1, $2, " PLAYER_OPTIONS ") on conflict do nothing",
                      &parameters, false, NULL);
    if (error != STORE_OK)
        return error;
    PGresult *result;
    error = store_run(store,
                      "select id from player where engine_build = $1 and weights_sha256 = $2 "
                      "and options = " PLAYER_OPTIONS,
                      &parameters, false, &result);
    return error == STORE_OK ? take_number(store, result, id) : error;
}

static void add_sprt(struct store_parameters *parameters, const struct store_experiment *experiment)
{
    if (!experiment->has_sprt) {
        for (int i = 0; i < 6; i++)
            store_add_text(parameters, NULL);
        return;
    }
    const struct store_sprt *sprt = &experiment->sprt;
    store_add_text(parameters, sprt->model);
    store_add_double(parameters, sprt->elo0);
    store_add_double(parameters, sprt->elo1);
    store_add_double(parameters, sprt->alpha);
    store_add_double(parameters, sprt->beta);
    store_add_u64(parameters, sprt->batch);
}

static bool is_timed(const struct store_player *player)
{
    return player->limits.time_ms > 0 || player->limits.clock_ms > 0;
}

static void add_extras(struct store_parameters *parameters, const struct store_experiment *experiment)
{
    add_some_hash(parameters, experiment->book);
    add_some_hash(parameters, experiment->adjudication);
    store_add_u64(parameters, experiment->resign_score);
    store_add_u64(parameters, experiment->resign_plies);
    store_add_u64(parameters, experiment->resign_playout_ppm);
    add_some_hash(parameters, experiment->tune);
    store_add_u64(parameters, experiment->audit_ppm);
    store_add_u64(parameters, experiment->share ? experiment->share : STORE_SHARE_USUAL);
    store_add_u64(parameters, experiment->core_cap);
    store_add_text(parameters, experiment->tags);
    store_add_text(parameters, experiment->on_finish);
    store_add_text(parameters, state_words[experiment->state]);
    if (experiment->has_reference)
        store_add_u64(parameters, experiment->reference_speed);
    else
        store_add_text(parameters, NULL);
    store_add_bool(parameters, is_timed(&experiment->a) || is_timed(&experiment->b));
    store_add_u64(parameters, experiment->repeat_rule);
}

/* Inserts the row; no row comes back when the idempotency key is known. */
static enum store_error insert_experiment(struct store *store, const struct store_experiment *experiment,
                                          uint64_t player_a, uint64_t player_b, PGresult **out)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, kind_words[experiment->kind]);
    store_add_text(&parameters, experiment->rules);
    store_add_u64(&parameters, experiment->seed);
    store_add_u64(&parameters, experiment->opening_plies);
    store_add_u64(&parameters, experiment->noise_ppm);
    store_add_u64(&parameters, player_a);
    store_add_u64(&parameters, player_b);
    store_add_u64(&parameters, experiment->planned_pairs);
    add_sprt(&parameters, experiment);
    store_add_bool(&parameters, experiment->with_scores);
    store_add_i64(&parameters, experiment->priority);
    store_add_name(&parameters, experiment->idempotency_key);
    store_add_text(&parameters, experiment->note);
    store_add_text(&parameters, experiment->created_by);
    add_extras(&parameters, experiment);
    return store_run(
        store,
        "insert into experiment (kind, rules, seed, opening_plies, noise_ppm, player_a, player_b, "
        "planned_pairs, sprt_model, elo0, elo1, alpha, beta, batch, with_scores, priority, "
        "idempotency_key, note, created_by, book_sha256, adjudication_sha256, resign_score, resign_plies, "
        "resign_playout_ppm, tune_sha256, audit_ppm, share, core_cap, tags, on_finish, state, "
        "reference_speed, repeat_rule) "
        "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, "
        "$21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, "
        "case when $33 then coalesce($32::bigint, (select nodes_per_second from reference_speed order by "
        "version "
        "desc limit 1)) end, $34) on conflict (idempotency_key) do nothing returning id, reference_speed is "
        "not "
        "null, "
        "coalesce(reference_speed, 0)",
        &parameters, false, out);
}

static enum store_error find_by_key(struct store *store, const char *key, uint64_t *id)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, key);
    PGresult *result;
    enum store_error error =
        store_run(store, "select id from experiment where idempotency_key = $1", &parameters, false, &result);
    return error == STORE_OK ? take_number(store, result, id) : error;
}

enum store_error store_experiment_create(struct store *store, struct store_experiment *experiment,
                                         bool *existed)
{
    *existed = false;
    uint64_t player_a, player_b;
    enum store_error error = put_player(store, &experiment->a, &player_a);
    if (error == STORE_OK)
        error = put_player(store, &experiment->b, &player_b);
    if (error != STORE_OK)
        return error;
    PGresult *result;
    error = insert_experiment(store, experiment, player_a, player_b, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) == 0) {
        PQclear(result);
        *existed = true;
        return find_by_key(store, experiment->idempotency_key, &experiment->id);
    }
    bool bad = false;
    experiment->has_reference = store_cell_bool(result, 0, 1, &bad);
    experiment->reference_speed = (uint32_t)store_cell_u64(result, 0, 2, &bad);
    error = take_number(store, result, &experiment->id);
    if (error != STORE_OK)
        return error;
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment->id);
    error = store_run(store, "insert into experiment_counter (experiment_id) values ($1)", &parameters, false,
                      NULL);
    if (error == STORE_OK)
        error = store_run(store, "select game_partition_create($1)", &parameters, false, NULL);
    return error;
}

/* --- reading --- */

/* PLAYER_COLUMN_COUNT of them. */
#define PLAYER_COLUMNS(p)                                                                                    \
    p ".weights_sha256, " p ".engine_build, coalesce(" p ".options->>'nodes', '0'), coalesce(" p             \
      ".options->>'depth', '0'), coalesce(" p ".options->>'time_ms', '0'), coalesce(" p                      \
      ".options->>'hash_kib', '0'), coalesce(" p ".engine_sha256, zero), coalesce(" p                        \
      ".tables_sha256, zero), coalesce((select string_agg(o, E'\\n' order by n) from "                       \
      "jsonb_array_elements_text(" p ".options->'set') with ordinality t (o, n)), ''), coalesce(" p          \
      ".options->>'clock_ms', '0'), coalesce(" p                                                             \
      ".options->>'increment_ms', '0'), coalesce((select g.signature "                                       \
      "from engine g where g.sha256 = " p ".engine_sha256), '')"
enum { PLAYER_COLUMN_COUNT = 12 };

#define EXPERIMENT_SELECT                                                                                    \
    "select e.id, e.kind, e.state, e.rules, e.seed, e.opening_plies, e.noise_ppm, e.planned_pairs, "         \
    "e.with_scores, e.priority, coalesce(e.idempotency_key, ''), e.note, e.created_by, e.sprt_model is not " \
    "null, "                                                                                                 \
    "coalesce(e.sprt_model, ''), coalesce(e.elo0, 0), coalesce(e.elo1, 0), coalesce(e.alpha, 0), "           \
    "coalesce(e.beta, 0), coalesce(e.batch, 0), coalesce(e.book_sha256, zero), "                             \
    "coalesce(e.adjudication_sha256, zero), "                                                                \
    "e.resign_score, e.resign_plies, e.resign_playout_ppm, coalesce(e.tune_sha256, zero), e.audit_ppm, "     \
    "e.share, "                                                                                              \
    "e.core_cap, e.tags, e.on_finish, e.reference_speed is not null, coalesce(e.reference_speed, "           \
    "0), e.repeat_rule, " PLAYER_COLUMNS("a") ", " PLAYER_COLUMNS(                                           \
        "b") " "                                                                                             \
             "from experiment e join player a on a.id = e.player_a join player b on b.id = e.player_b "      \
             "cross join (select decode(repeat('00', 32), 'hex') as zero) z "

static uint32_t cell_u32(const PGresult *result, int row, int column, bool *bad)
{
    uint64_t number = store_cell_u64(result, row, column, bad);
    if (number > UINT32_MAX)
        *bad = true;
    return (uint32_t)number;
}

static void read_player(const PGresult *result, int row, int column, struct store_player *out, bool *bad)
{
    store_cell_hash(result, row, column, out->weights, bad);
    store_cell_text(result, row, column + 1, out->engine_build, sizeof out->engine_build, bad);
    out->limits.nodes = store_cell_u64(result, row, column + 2, bad);
    out->limits.depth = cell_u32(result, row, column + 3, bad);
    out->limits.time_ms = cell_u32(result, row, column + 4, bad);
    out->limits.hash_kib = cell_u32(result, row, column + 5, bad);
    store_cell_hash(result, row, column + 6, out->engine, bad);
    store_cell_hash(result, row, column + 7, out->tables, bad);
    store_cell_text(result, row, column + 8, out->options, sizeof out->options, bad);
    out->limits.clock_ms = cell_u32(result, row, column + 9, bad);
    out->limits.increment_ms = cell_u32(result, row, column + 10, bad);
    store_cell_text(result, row, column + 11, out->signature, sizeof out->signature, bad);
}

enum { EXTRA_COLUMN_COUNT = 14 };
static void read_extras(const PGresult *result, int row, int column, struct store_experiment *out, bool *bad)
{
    store_cell_hash(result, row, column, out->book, bad);
    store_cell_hash(result, row, column + 1, out->adjudication, bad);
    out->resign_score = cell_u32(result, row, column + 2, bad);
    out->resign_plies = cell_u32(result, row, column + 3, bad);
    out->resign_playout_ppm = cell_u32(result, row, column + 4, bad);
    store_cell_hash(result, row, column + 5, out->tune, bad);
    out->audit_ppm = cell_u32(result, row, column + 6, bad);
    out->share = cell_u32(result, row, column + 7, bad);
    out->core_cap = cell_u32(result, row, column + 8, bad);
    store_cell_text(result, row, column + 9, out->tags, sizeof out->tags, bad);
    store_cell_text(result, row, column + 10, out->on_finish, sizeof out->on_finish, bad);
    out->has_reference = store_cell_bool(result, row, column + 11, bad);
    out->reference_speed = cell_u32(result, row, column + 12, bad);
    out->repeat_rule = cell_u32(result, row, column + 13, bad);
}

/* False when the row is not what the schema promises. */
static bool read_experiment(const PGresult *result, int row, struct store_experiment *out)
{
    bool bad = false;
    memset(out, 0, sizeof *out);
    out->id = store_cell_u64(result, row, 0, &bad);
    out->kind = (enum store_kind)word_index(kind_words, KINDS, PQgetvalue(result, row, 1), &bad);
    out->state = (enum store_state)word_index(state_words, STATES, PQgetvalue(result, row, 2), &bad);
    store_cell_text(result, row, 3, out->rules, sizeof out->rules, &bad);
    out->seed = store_cell_u64(result, row, 4, &bad);
    out->opening_plies = cell_u32(result, row, 5, &bad);
    out->noise_ppm = cell_u32(result, row, 6, &bad);
    out->planned_pairs = store_cell_u64(result, row, 7, &bad);
    out->with_scores = store_cell_bool(result, row, 8, &bad);
    out->priority = (int32_t)store_cell_i64(result, row, 9, &bad);
    store_cell_text(result, row, 10, out->idempotency_key, sizeof out->idempotency_key, &bad);
    store_cell_text(result, row, 11, out->note, sizeof out->note, &bad);
    store_cell_text(result, row, 12, out->created_by, sizeof out->created_by, &bad);
    out->has_sprt = store_cell_bool(result, row, 13, &bad);
    store_cell_text(result, row, 14, out->sprt.model, sizeof out->sprt.model, &bad);
    out->sprt.elo0 = store_cell_double(result, row, 15, &bad);
    out->sprt.elo1 = store_cell_double(result, row, 16, &bad);
    out->sprt.alpha = store_cell_double(result, row, 17, &bad);
    out->sprt.beta = store_cell_double(result, row, 18, &bad);
    out->sprt.batch = cell_u32(result, row, 19, &bad);
    read_extras(result, row, 20, out, &bad);
    read_player(result, row, 20 + EXTRA_COLUMN_COUNT, &out->a, &bad);
    read_player(result, row, 20 + EXTRA_COLUMN_COUNT + PLAYER_COLUMN_COUNT, &out->b, &bad);
    return !bad;
}

enum store_error store_experiments_running(struct store *store, struct store_experiment **list, size_t *count)
{
    *list = NULL;
    *count = 0;
    PGresult *result;
    enum store_error error = store_run(
        store, EXPERIMENT_SELECT "where e.state in ('running', 'blocked', 'pending', 'paused') order by e.id",
        NULL, false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    struct store_experiment *found = calloc(rows > 0 ? rows : 1, sizeof *found);
    if (found == NULL) {
        PQclear(result);
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu experiments", rows);
    }
    for (size_t row = 0; row < rows && error == STORE_OK; row++)
        if (!read_experiment(result, (int)row, &found[row]))
            error = store_fail(store, STORE_ERROR_DATA, "experiment %s cannot be read",
                               PQgetvalue(result, (int)row, 0));
    PQclear(result);
    if (error != STORE_OK) {
        free(found);
        return error;
    }
    *list = found;
    *count = rows;
    return STORE_OK;
}

enum store_error store_experiment_get(struct store *store, uint64_t id, struct store_experiment *out)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, id);
    PGresult *result;
    enum store_error error =
        store_run(store, EXPERIMENT_SELECT "where e.id = $1", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) == 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "there is no experiment %" PRIu64, id);
    else if (!read_experiment(result, 0, out))
        error = store_fail(store, STORE_ERROR_DATA, "experiment %" PRIu64 " cannot be read", id);
    PQclear(result);
    return error;
}

/* --- state and counters --- */

static enum store_error refuse_state(struct store *store, uint64_t experiment, enum store_state state)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    PGresult *result;
    enum store_error error =
        store_run(store, "select state from experiment where id = $1", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) == 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "there is no experiment %" PRIu64, experiment);
    else if (strcmp(PQgetvalue(result, 0, 0), state_words[state]) != 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "experiment %" PRIu64 " is %s and cannot become %s",
                           experiment, PQgetvalue(result, 0, 0), state_words[state]);
    PQclear(result);
    return error;
}

enum store_error store_experiment_set_state(struct store *store, uint64_t experiment, enum store_state state,
                                            const char *reason)
{
    assert(state >= STORE_RUNNING && (int)state < STATES);
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    store_add_text(&parameters, state_words[state]);
    store_add_text(&parameters, reason != NULL ? reason : "");
    PGresult *result;
    enum store_error error = store_run(
        store,
        "update experiment set state = $2, state_reason = $3, ended_at = case when $2 in ('finished', "
        "'stopped') then now() end where id = $1 and state not in ('finished', 'stopped')",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool changed = store_affected(result) == 1;
    PQclear(result);
    return changed ? STORE_OK : refuse_state(store, experiment, state);
}

static void add_counts(struct store_parameters *parameters, const struct store_counters *counters)
{
    store_add_u64(parameters, counters->games_stored);
    store_add_u64(parameters, counters->prefix_pairs);
    store_add_u64(parameters, counters->ll);
    store_add_u64(parameters, counters->ld);
    store_add_u64(parameters, counters->dd);
    store_add_u64(parameters, counters->wl);
    store_add_u64(parameters, counters->dw);
    store_add_u64(parameters, counters->ww);
    store_add_u64(parameters, counters->wins);
    store_add_u64(parameters, counters->draws);
    store_add_u64(parameters, counters->losses);
    store_add_double(parameters, counters->llr);
    store_add_u64(parameters, counters->repeated_pairs);
}

/* What is kept of the rate's games and seconds since the last update. */
#define RATE_KEPT                                                                                            \
    "exp(-least(greatest(extract(epoch from now() - rate_at), 0), 30000) / 300)::double precision"

enum store_error store_counters_update(struct store *store, uint64_t experiment,
                                       const struct store_counters *counters)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    add_counts(&parameters, counters);
    PGresult *result;
    enum store_error error =
        store_run(store,
                  "update experiment_counter set games_stored = $2, prefix_pairs = $3, ll = $4, ld = $5, dd "
                  "= $6, wl = $7, "
                  "dw = $8, ww = $9, wins = $10, draws = $11, losses = $12, llr = $13, repeated_pairs = $14, "
                  "updated_at = now(), "
                  /* What came before the first look came in a time that nobody knows. */
                  "rate_games = case when rate_at is null then 0 else rate_games * " RATE_KEPT
                  " + $2::bigint - games_stored end, "
                  "rate_seconds = case when rate_at is null then 0 else rate_seconds * " RATE_KEPT
                  " + 300 * (1 - " RATE_KEPT ") end, "
                  "rate_at = case when $2::bigint > games_stored or rate_at is not null then now() end "
                  "where experiment_id = $1",
                  &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (store_affected(result) != 1)
        error = store_fail(store, STORE_ERROR_REFUSED, "there is no experiment %" PRIu64, experiment);
    PQclear(result);
    return error;
}

/* --- verdicts --- */

/* Nothing was inserted: the verdict is there already, or the experiment is not. */
static enum store_error why_not_written(struct store *store, uint64_t experiment)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, experiment);
    PGresult *result;
    enum store_error error =
        store_run(store, "select from experiment where id = $1", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) == 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "there is no experiment %" PRIu64, experiment);
    PQclear(result);
    return error;
}

enum store_error store_verdict_write(struct store *store, const struct store_verdict *verdict, bool *written)
{
    *written = false;
    struct store_counters counters = verdict->counters;
    if (!verdict->has_sprt)
        counters.llr = (double)NAN;
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, verdict->experiment);
    add_counts(&parameters, &counters);
    store_add_text(&parameters, verdict->verdict);
    store_add_double(&parameters, verdict->has_sprt ? verdict->lower : (double)NAN);
    store_add_double(&parameters, verdict->has_sprt ? verdict->upper : (double)NAN);
    store_add_double(&parameters, verdict->elo);
    store_add_double(&parameters, verdict->elo_lo);
    store_add_double(&parameters, verdict->elo_hi);
    store_add_double(&parameters, verdict->nelo);
    store_add_double(&parameters, verdict->los);
    store_add_i64(&parameters, verdict->formula_version);
    store_add_text(&parameters, verdict->by);
    store_add_text(&parameters, verdict->reason);
    PGresult *result;
    enum store_error error = store_run(
        store,
        "with written as (insert into verdict (experiment_id, games_stored, counted_pairs, ll, ld, dd, wl, "
        "dw, ww, "
        "wins, draws, losses, llr, repeated_pairs, verdict, lower, upper, elo, elo_lo, elo_hi, nelo, los, "
        "formula_version, "
        "by, "
        "reason, sprt_model, elo0, elo1, alpha, beta, batch) "
        "select e.id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, "
        "$21, "
        "$22, $23, $24, $25, e.sprt_model, e.elo0, e.elo1, e.alpha, e.beta, e.batch from experiment e where "
        "e.id "
        "= $1 "
        "on conflict (experiment_id) do nothing returning experiment_id, verdict, reason), "
        "freed as (update lease l set state = 'released', ended_at = now() from written w "
        "where l.experiment_id = w.experiment_id and l.state = 'open') "
        "update experiment e set state = case w.verdict when 'aborted' then 'stopped' else 'finished' end, "
        "state_reason = w.reason, ended_at = coalesce(e.ended_at, now()) from written w where e.id = "
        "w.experiment_id",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    *written = store_affected(result) == 1;
    PQclear(result);
    return *written ? STORE_OK : why_not_written(store, verdict->experiment);
}
