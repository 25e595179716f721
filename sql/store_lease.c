/* Leases, sessions and the event log. */
#include "sql/store_connection.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const lease_words[] = {[STORE_LEASE_OPEN] = "open",
                                          [STORE_LEASE_DONE] = "done",
                                          [STORE_LEASE_EXPIRED] = "expired",
                                          [STORE_LEASE_RELEASED] = "released"};

/* --- leases --- */

struct wide_lease {
    uint64_t id, experiment, first_pair, pair_count, attempt, session, scale_ppm;
};
enum { LEASE_ARRAYS = 7 };

static bool lease_arrays(const struct store_lease *leases, size_t count, char *arrays[LEASE_ARRAYS])
{
    struct wide_lease *wide = malloc(count * sizeof *wide);
    if (wide == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        wide[i] = (struct wide_lease){leases[i].id,         leases[i].experiment, leases[i].first_pair,
                                      leases[i].pair_count, leases[i].attempt,    leases[i].session,
                                      leases[i].scale_ppm};
    bool whole = true;
    const uint64_t *const columns[LEASE_ARRAYS] = {&wide->id,         &wide->experiment, &wide->first_pair,
                                                   &wide->pair_count, &wide->attempt,    &wide->session,
                                                   &wide->scale_ppm};
    for (int i = 0; i < LEASE_ARRAYS; i++) {
        arrays[i] = store_array_text(columns[i], sizeof *wide, count);
        whole = whole && arrays[i] != NULL;
    }
    free(wide);
    return whole;
}

#define LEASE_ROWS                                                                                           \
    "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], "            \
    "$7::bigint[]) as l (id, experiment_id, first_pair, pair_count, attempt, session_id, scale)"

/* Rows that are there already must be the same ones, sent again. */
static enum store_error insert_leases(struct store *store, const struct store_parameters *parameters,
                                      size_t count)
{
    PGresult *result;
    enum store_error error = store_run(
        store,
        "insert into lease (id, experiment_id, first_pair, pair_count, attempt, session_id, scale_ppm) "
        "select id, experiment_id, first_pair, pair_count, attempt, session_id, "
        "nullif(scale, 0) from " LEASE_ROWS " on conflict (id) do nothing",
        parameters, false, &result);
    if (error != STORE_OK)
        return error;
    uint64_t inserted = store_affected(result);
    PQclear(result);
    if (inserted == count)
        return STORE_OK;
    error = store_run(store,
                      "select count(*) from lease join " LEASE_ROWS
                      " using (id, experiment_id, first_pair, pair_count, attempt, session_id)",
                      parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    uint64_t same = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    if (bad || same != count)
        return store_fail(store, STORE_ERROR_UNIQUE,
                          "a lease of this number is there already, and it is another");
    return STORE_OK;
}

enum store_error store_lease_insert(struct store *store, const struct store_lease *leases, size_t count)
{
    if (count == 0)
        return STORE_OK;
    char *arrays[LEASE_ARRAYS] = {NULL};
    struct store_parameters parameters = {0};
    enum store_error error;
    if (lease_arrays(leases, count, arrays)) {
        for (int i = 0; i < LEASE_ARRAYS; i++)
            store_add_text(&parameters, arrays[i]);
        error = insert_leases(store, &parameters, count);
    } else {
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu leases", count);
    }
    for (int i = 0; i < LEASE_ARRAYS; i++)
        free(arrays[i]);
    return error;
}

enum store_error store_lease_end(struct store *store, const uint64_t *ids, size_t count,
                                 enum store_lease_state state)
{
    assert(state > STORE_LEASE_OPEN && state <= STORE_LEASE_RELEASED);
    if (count == 0)
        return STORE_OK;
    char *array = store_array_text(ids, sizeof *ids, count);
    if (array == NULL)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu leases", count);
    struct store_parameters parameters = {0};
    store_add_text(&parameters, array);
    store_add_text(&parameters, lease_words[state]);
    enum store_error error = store_run(store,
                                       "update lease set state = $2, ended_at = now() "
                                       "where id = any($1::bigint[]) and state = 'open'",
                                       &parameters, false, NULL);
    free(array);
    return error;
}

static bool read_lease(const PGresult *result, int row, struct store_lease *out)
{
    bool bad = false;
    out->id = store_cell_u64(result, row, 0, &bad);
    out->experiment = store_cell_u64(result, row, 1, &bad);
    out->first_pair = store_cell_u64(result, row, 2, &bad);
    out->pair_count = (uint32_t)store_cell_u64(result, row, 3, &bad);
    out->attempt = (uint32_t)store_cell_u64(result, row, 4, &bad);
    out->session = store_cell_u64(result, row, 5, &bad);
    out->ended = store_cell_bool(result, row, 6, &bad);
    return !bad;
}

enum store_error store_leases_live(struct store *store, struct store_lease **list, size_t *count)
{
    *list = NULL;
    *count = 0;
    PGresult *result;
    enum store_error error =
        store_run(store,
                  "select l.id, l.experiment_id, l.first_pair, l.pair_count, l.attempt, l.session_id, "
                  "l.state <> 'open' from lease l join experiment e on e.id = l.experiment_id "
                  "join experiment_counter c on c.experiment_id = e.id "
                  "where e.state in ('running', 'blocked', 'pending', 'paused') "
                  "and not l.again and (l.state = 'open' or l.first_pair + l.pair_count > c.prefix_pairs) "
                  "order by l.id",
                  NULL, false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    struct store_lease *found = calloc(rows > 0 ? rows : 1, sizeof *found);
    if (found == NULL)
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu leases", rows);
    for (size_t row = 0; row < rows && error == STORE_OK; row++)
        if (!read_lease(result, (int)row, &found[row]))
            error = store_fail(store, STORE_ERROR_DATA, "lease %s cannot be read",
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

enum store_error store_lease_numbers(struct store *store, uint64_t count, uint64_t *first)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, count);
    PGresult *result;
    enum store_error error =
        store_run(store,
                  "update lease_number set reserved = greatest(reserved, (select coalesce(max(id), 0) + 1 "
                  "from lease)) + $1::bigint returning reserved - $1::bigint",
                  &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = PQntuples(result) != 1;
    if (!bad)
        *first = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the reserved lease numbers cannot be read") : STORE_OK;
}

/* --- sessions --- */

/* Its clean texts, while a statement that names them runs. */
struct session_texts {
    char peer[STORE_NAME], name[STORE_NAME], build[STORE_NAME], confinement[STORE_CONFINEMENT],
        tags[STORE_TAGS], architecture[STORE_NAME], compiler[STORE_NAME];
};

static void add_session(struct store_parameters *parameters, const struct store_session *session,
                        struct session_texts *texts)
{
    store_clean_text(texts->peer, sizeof texts->peer, session->peer);
    store_clean_text(texts->name, sizeof texts->name, session->name);
    store_clean_text(texts->build, sizeof texts->build, session->engine_build);
    store_clean_text(texts->confinement, sizeof texts->confinement, session->confinement);
    store_clean_text(texts->tags, sizeof texts->tags, session->tags);
    store_clean_text(texts->architecture, sizeof texts->architecture, session->architecture);
    store_clean_text(texts->compiler, sizeof texts->compiler, session->compiler);
    store_add_u64(parameters, session->id);
    store_add_text(parameters, texts->peer);
    store_add_text(parameters, texts->name);
    store_add_text(parameters, texts->build);
    store_add_u64(parameters, session->slots);
    store_add_text(parameters, texts->confinement);
    store_add_text(parameters, texts->tags);
    store_add_u64(parameters, session->speed);
    store_add_u64(parameters, session->spread_ppm);
    store_add_u64(parameters, session->load_ppm);
    store_add_u64(parameters, session->scale_ppm ? session->scale_ppm : STORE_SCALE_USUAL);
    store_add_u64(parameters, session->measured_ms);
    store_add_text(parameters, texts->architecture);
    store_add_text(parameters, texts->compiler);
}

#define MEASURED_AT(speed, ago_ms)                                                                           \
    "case when " speed "::bigint > 0 then now() - " ago_ms "::bigint * interval '1 millisecond' end"

enum store_error store_session_insert(struct store *store, const struct store_session *session)
{
    struct session_texts texts;
    struct store_parameters parameters = {0};
    add_session(&parameters, session, &texts);
    PGresult *result;
    /* A process that says HELLO again is the same session, by the bench and at the scale of now. */
    enum store_error error = store_run(
        store,
        "insert into session as s (id, peer, name, engine_build, slots, confinement, tags, speed, "
        "spread_ppm, load_ppm, scale_ppm, measured_at, architecture, compiler) values ($1, $2, $3, $4, $5, "
        "$6, $7, $8, $9, "
        "$10, $11, " MEASURED_AT(
            "$8", "$12") ", $13, $14) on conflict (id) do update set speed = excluded.speed, spread_ppm = "
                         "excluded.spread_ppm, load_ppm = excluded.load_ppm, scale_ppm = "
                         "excluded.scale_ppm, measured_at = "
                         "excluded.measured_at where s.peer = $2 and s.name = $3 and "
                         "s.engine_build = $4 and s.slots = $5 "
                         "and s.confinement = $6 and s.tags = $7",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (store_affected(result) != 1)
        error = store_fail(store, STORE_ERROR_UNIQUE,
                           "session %" PRIu64 " is there already, and it is another", session->id);
    PQclear(result);
    return error;
}

enum store_error store_session_measured(struct store *store, const struct store_session *session)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, session->id);
    store_add_u64(&parameters, session->speed);
    store_add_u64(&parameters, session->spread_ppm);
    store_add_u64(&parameters, session->load_ppm);
    store_add_u64(&parameters, session->scale_ppm ? session->scale_ppm : STORE_SCALE_USUAL);
    store_add_u64(&parameters, session->measured_ms);
    return store_run(store,
                     "update session set speed = $2, spread_ppm = $3, load_ppm = $4, scale_ppm = $5, "
                     "measured_at = " MEASURED_AT("$2", "$6") " where id = $1",
                     &parameters, false, NULL);
}

enum store_error store_reference_put(struct store *store, uint32_t nodes_per_second)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, nodes_per_second);
    return store_run(
        store,
        "insert into reference_speed (nodes_per_second) select $1::bigint where $1::bigint is "
        "distinct from (select nodes_per_second from reference_speed order by version desc limit 1)",
        &parameters, false, NULL);
}

enum store_error store_session_end(struct store *store, uint64_t session)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, session);
    return store_run(store, "update session set ended_at = now() where id = $1 and ended_at is null",
                     &parameters, false, NULL);
}

/* --- events --- */

enum store_error store_event(struct store *store, const char *kind, uint64_t experiment, uint64_t session,
                             const char *text)
{
    char clean_kind[STORE_NAME], clean_text[2 * STORE_TEXT];
    store_clean_text(clean_kind, sizeof clean_kind, kind);
    store_clean_text(clean_text, sizeof clean_text, text);
    struct store_parameters parameters = {0};
    store_add_text(&parameters, clean_kind);
    store_add_id(&parameters, experiment);
    store_add_id(&parameters, session);
    store_add_text(&parameters, clean_text);
    return store_run(store,
                     "insert into event (kind, experiment_id, session_id, text) values ($1, $2, $3, $4)",
                     &parameters, false, NULL);
}
