#include "sql/store_seal.h"

#include <string.h>

#include "sql/store_connection.h"

enum store_error store_seal_put(struct store *store, const uint8_t sha256[STORE_HASH],
                                const struct store_seal *seal, const char *by)
{
    struct store_parameters parameters = {0};
    store_add_bytes(&parameters, sha256, STORE_HASH);
    store_add_bytes(&parameters, seal->key, STORE_SEAL_KEY);
    store_add_text(&parameters, seal->kind);
    store_add_text(&parameters, seal->architecture);
    store_add_text(&parameters, seal->name);
    store_add_bytes(&parameters, seal->signature, STORE_SEAL_SIGNATURE);
    store_add_text(&parameters, by);
    return store_run(store,
                     "insert into artifact_seal (sha256, public_key, kind, architecture, name, signature, "
                     "signed_by) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
                     &parameters, false, NULL);
}

/* A cell of a binary result. */
static void take_bytes(const PGresult *result, int row, int column, void *out, size_t size, bool *bad)
{
    if ((size_t)PQgetlength(result, row, column) == size)
        memcpy(out, PQgetvalue(result, row, column), size);
    else
        *bad = true;
}

enum store_error store_seals(struct store *store, const uint8_t sha256[STORE_HASH],
                             struct store_seal seals[STORE_SEALS_MAX], size_t *count)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    *count = 0;
    store_add_bytes(&parameters, sha256, STORE_HASH);
    store_add_u64(&parameters, STORE_SEALS_MAX);
    enum store_error error =
        store_run(store,
                  "select name, kind, architecture, public_key, signature from artifact_seal "
                  "where sha256 = $1 order by signed_at desc, public_key limit $2",
                  &parameters, true, &result);
    if (error != STORE_OK)
        return error;
    size_t rows = (size_t)PQntuples(result);
    for (size_t i = 0; i < rows && i < STORE_SEALS_MAX; i++) {
        struct store_seal *seal = &seals[i];
        int row = (int)i;
        store_cell_text(result, row, 0, seal->name, sizeof seal->name, &bad);
        store_cell_text(result, row, 1, seal->kind, sizeof seal->kind, &bad);
        store_cell_text(result, row, 2, seal->architecture, sizeof seal->architecture, &bad);
        take_bytes(result, row, 3, seal->key, sizeof seal->key, &bad);
        take_bytes(result, row, 4, seal->signature, sizeof seal->signature, &bad);
        *count = i + 1;
    }
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "the signatures of an artifact cannot be read")
               : STORE_OK;
}
