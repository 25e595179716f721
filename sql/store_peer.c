/* The allow-list. Every change also leaves an event. */
#include "sql/store_connection.h"

#include <stdlib.h>
#include <string.h>

enum store_error store_peers(struct store *store, struct store_peer **list, size_t *count)
{
    *list = NULL;
    *count = 0;
    PGresult *result;
    enum store_error error = store_run(
        store, "select public_key, name, role from peer where revoked_at is null order by name, public_key",
        NULL, false, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    struct store_peer *found = calloc(rows > 0 ? rows : 1, sizeof *found);
    bool bad = false;
    if (found == NULL)
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu peers", rows);
    for (size_t i = 0; i < rows && found != NULL; i++) {
        store_cell_text(result, (int)i, 0, found[i].public_key, sizeof found[i].public_key, &bad);
        store_cell_text(result, (int)i, 1, found[i].name, sizeof found[i].name, &bad);
        store_cell_text(result, (int)i, 2, found[i].role, sizeof found[i].role, &bad);
    }
    PQclear(result);
    if (bad)
        error = store_fail(store, STORE_ERROR_DATA, "the allow-list cannot be read");
    if (error != STORE_OK) {
        free(found);
        return error;
    }
    *list = found;
    *count = rows;
    return STORE_OK;
}

enum store_error store_peer_allow(struct store *store, const struct store_peer *peer, const char *by)
{
    char name[STORE_NAME];
    store_clean_text(name, sizeof name, peer->name);
    struct store_parameters parameters = {0};
    store_add_text(&parameters, peer->public_key);
    store_add_text(&parameters, name);
    store_add_text(&parameters, peer->role);
    store_add_text(&parameters, by);
    return store_run(
        store,
        "with allowed as (insert into peer (public_key, name, role, allowed_by) values ($1, $2, $3, $4) "
        "on conflict (public_key) do update set name = excluded.name, role = excluded.role, "
        "allowed_at = now(), allowed_by = excluded.allowed_by, revoked_at = null, revoked_by = null "
        "returning public_key, name, role, allowed_by) "
        "insert into event (kind, text) select 'peer-allowed', format('%s %s as %s by %s', public_key, "
        "name, role, allowed_by) from allowed",
        &parameters, false, NULL);
}

enum store_error store_peer_revoke(struct store *store, const char *public_key, const char *by)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, public_key);
    store_add_text(&parameters, by);
    PGresult *result;
    enum store_error error = store_run(
        store,
        "with revoked as (update peer set revoked_at = now(), revoked_by = $2 where public_key = $1 and "
        "revoked_at is null returning public_key, name, revoked_by) "
        "insert into event (kind, text) select 'peer-revoked', format('%s %s by %s', public_key, name, "
        "revoked_by) from revoked",
        &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool revoked = store_affected(result) == 1;
    PQclear(result);
    if (revoked)
        return STORE_OK;
    parameters.count = 1;
    error = store_run(store, "select from peer where public_key = $1", &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) == 0)
        error = store_fail(store, STORE_ERROR_REFUSED, "the allow-list has no key %.40s", public_key);
    PQclear(result);
    return error;
}
