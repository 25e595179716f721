/* Opening books that experiments can use. */
#include "sql/store_copy.h"

#include <stdlib.h>
#include <string.h>

static enum store_error find_same(struct store *store, const struct store_book *book, bool *existed)
{
    struct store_book found;
    *existed = false;
    if (store_book_find(store, NULL, book->sha256, &found) == STORE_OK) {
        *existed = strcmp(found.name, book->name) == 0;
        return *existed ? STORE_OK
                        : store_fail(store, STORE_ERROR_REFUSED,
                                     "this file is there already, under the name %s", found.name);
    }
    enum store_error error = store_book_find(store, book->name, NULL, &found);
    if (error == STORE_OK)
        return store_fail(store, STORE_ERROR_REFUSED,
                          "the name %s is taken by another book: give another name", book->name);
    return error == STORE_ERROR_REFUSED ? STORE_OK : error;
}

static enum store_error put_artifact(struct store *store, const struct store_book *book, const void *content,
                                     size_t size)
{
    struct store_parameters parameters = {0};
    store_add_bytes(&parameters, book->sha256, STORE_HASH);
    store_add_u64(&parameters, size);
    store_add_bytes(&parameters, content, size);
    return store_run(store,
                     "insert into artifact (sha256, kind, size, content) values ($1, 'book', $2, $3) "
                     "on conflict do nothing",
                     &parameters, false, NULL);
}

static enum store_error put_row(struct store *store, const struct store_book *book, const char *by)
{
    struct store_parameters parameters = {0};
    store_add_text(&parameters, book->name);
    store_add_bytes(&parameters, book->sha256, STORE_HASH);
    store_add_text(&parameters, book->rules);
    store_add_u64(&parameters, book->openings);
    store_add_u64(&parameters, book->plies_min);
    store_add_u64(&parameters, book->plies_max);
    store_add_text(&parameters, book->made);
    store_add_text(&parameters, book->note);
    store_add_text(&parameters, by);
    return store_run(store,
                     "insert into book (name, sha256, rules, openings, plies_min, plies_max, made, note, "
                     "added_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                     &parameters, false, NULL);
}

static enum store_error put_openings(struct store *store, const struct store_book *book,
                                     store_book_opening *opening, const void *context)
{
    struct store_copy *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory to copy openings");
    store_copy_begin(copy, store,
                     "copy book_opening (book_sha256, number, moves) from stdin (format binary)");
    for (uint32_t i = 0; i < book->openings && copy->error == STORE_OK; i++) {
        size_t plies;
        const char *moves = opening(context, i, &plies);
        store_copy_row(copy, 3);
        store_copy_bytes(copy, book->sha256, STORE_HASH);
        store_copy_i32(copy, (int32_t)i);
        store_copy_bytes(copy, moves, plies);
    }
    enum store_error error = store_copy_end(copy);
    free(copy);
    return error;
}

enum store_error store_book_put(struct store *store, const struct store_book *book, const void *content,
                                size_t size, store_book_opening *opening, const void *context, const char *by,
                                bool *existed)
{
    enum store_error error = find_same(store, book, existed);
    if (error != STORE_OK || *existed)
        return error;
    error = put_artifact(store, book, content, size);
    if (error == STORE_OK)
        error = put_row(store, book, by);
    return error == STORE_OK ? put_openings(store, book, opening, context) : error;
}

enum store_error store_book_find(struct store *store, const char *name, const uint8_t *sha256,
                                 struct store_book *out)
{
    struct store_parameters parameters = {0};
    PGresult *result;
    bool bad = false;
    memset(out, 0, sizeof *out);
    store_add_text(&parameters, name);
    store_add_bytes(&parameters, sha256, sha256 != NULL ? STORE_HASH : 0);
    enum store_error error =
        store_run(store,
                  "select name, sha256, rules, openings, plies_min, plies_max, made, note from book "
                  "where name = $1 or sha256 = $2",
                  &parameters, false, &result);
    if (error != STORE_OK)
        return error;
    if (PQntuples(result) != 1) {
        PQclear(result);
        return store_fail(store, STORE_ERROR_REFUSED, "there is no book %s%.80s",
                          name != NULL ? "called " : "of this content", name != NULL ? name : "");
    }
    store_cell_text(result, 0, 0, out->name, sizeof out->name, &bad);
    store_cell_hash(result, 0, 1, out->sha256, &bad);
    store_cell_text(result, 0, 2, out->rules, sizeof out->rules, &bad);
    out->openings = (uint32_t)store_cell_u64(result, 0, 3, &bad);
    out->plies_min = (unsigned)store_cell_u64(result, 0, 4, &bad);
    out->plies_max = (unsigned)store_cell_u64(result, 0, 5, &bad);
    store_cell_text(result, 0, 6, out->made, sizeof out->made, &bad);
    store_cell_text(result, 0, 7, out->note, sizeof out->note, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "a book cannot be read") : STORE_OK;
}

enum store_error store_book_measured(struct store *store, const uint8_t sha256[STORE_HASH], uint64_t pairs,
                                     uint64_t decided, const char *how)
{
    struct store_parameters parameters = {0};
    store_add_bytes(&parameters, sha256, STORE_HASH);
    store_add_u64(&parameters, pairs);
    store_add_u64(&parameters, decided);
    store_add_text(&parameters, how);
    return store_run(store,
                     "update book set measured_pairs = $2, measured_wl = $3, measured_how = $4 "
                     "where sha256 = $1",
                     &parameters, false, NULL);
}
