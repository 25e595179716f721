#include "coordinator/terms.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"
#include "proto/message.h"

/* A book or tables in use. */
struct kept {
    struct kept *next;
    uint8_t sha256[STORE_HASH];
    unsigned holders;
    struct book *book;     /* or */
    struct tables *tables; /* over */
    void *bytes;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* for the list and the holders */
static struct kept *kept_list;

static void kept_destroy(struct kept *kept)
{
    if (kept == NULL)
        return;
    book_destroy(kept->book);
    tables_close(kept->tables);
    free(kept->bytes);
    free(kept);
}

static struct kept *kept_find(const uint8_t sha256[STORE_HASH])
{
    pthread_mutex_lock(&mutex);
    struct kept *kept = kept_list;
    while (kept != NULL && memcmp(kept->sha256, sha256, STORE_HASH) != 0)
        kept = kept->next;
    if (kept != NULL)
        kept->holders++;
    pthread_mutex_unlock(&mutex);
    return kept;
}

/* Two threads may have opened the same content: both are right, and the list may hold it twice. */
static void kept_enter(struct kept *kept)
{
    pthread_mutex_lock(&mutex);
    kept->holders = 1;
    kept->next = kept_list;
    kept_list = kept;
    pthread_mutex_unlock(&mutex);
}

void terms_drop(struct kept *kept)
{
    if (kept == NULL)
        return;
    pthread_mutex_lock(&mutex);
    bool last = --kept->holders == 0;
    for (struct kept **at = &kept_list; last && *at != NULL; at = &(*at)->next)
        if (*at == kept) {
            *at = kept->next;
            break;
        }
    pthread_mutex_unlock(&mutex);
    if (last)
        kept_destroy(kept);
}

/* --- opening --- */

static const char *open_book(struct kept *kept, size_t size)
{
    enum book_error error = book_parse(kept->bytes, size, NULL, &kept->book, NULL);
    free(kept->bytes); /* the book has its own copy */
    kept->bytes = NULL;
    return error == BOOK_OK ? NULL : book_error_text(error);
}

static const char *open_tables(struct kept *kept, size_t size)
{
    enum tables_error error = tables_parse(kept->bytes, size, NULL, &kept->tables);
    return error == TABLES_OK ? NULL : tables_error_text(error);
}

struct kept *terms_keep(enum terms_kind kind, void *bytes, size_t size, char text[STORE_TEXT])
{
    struct kept *kept = calloc(1, sizeof *kept);
    if (kept == NULL) {
        free(bytes);
        snprintf(text, STORE_TEXT, "out of memory");
        return NULL;
    }
    kept->bytes = bytes;
    artifact_hash(bytes, size, kept->sha256);
    const char *why = kind == TERMS_BOOK ? open_book(kept, size) : open_tables(kept, size);
    if (why == NULL) {
        kept_enter(kept);
        return kept;
    }
    char hex[ARTIFACT_HEX];
    artifact_hex(kept->sha256, hex);
    snprintf(text, STORE_TEXT, "%.12s: %s", hex, why);
    kept_destroy(kept);
    return NULL;
}

static enum store_error refuse_absent(enum terms_kind kind, const uint8_t sha256[STORE_HASH],
                                      char text[STORE_TEXT])
{
    char hex[ARTIFACT_HEX];
    artifact_hex(sha256, hex);
    snprintf(text, STORE_TEXT, "%s %.12s: %s", kind == TERMS_BOOK ? "opening book" : "endgame tables", hex,
             kind == TERMS_BOOK
                 ? "it is not in the database: add it with `kroo book add`"
                 : "their file is not in the database: tables above 64 MiB do not travel, so they cannot "
                   "end games; take smaller ones (`kroo tables ls`)");
    return STORE_ERROR_REFUSED;
}

/* With a store, what is not kept is read from it. */
static enum store_error hold(struct store *store, const uint8_t sha256[STORE_HASH], enum terms_kind kind,
                             struct kept **out, char text[STORE_TEXT])
{
    void *bytes = NULL;
    size_t size = 0;
    if (message_hash_is_none(sha256) || (*out = kept_find(sha256)) != NULL)
        return STORE_OK;
    enum store_error error =
        store != NULL ? store_artifact_get(store, sha256, &bytes, &size) : STORE_ERROR_REFUSED;
    if (error == STORE_ERROR_REFUSED)
        return refuse_absent(kind, sha256, text);
    if (error != STORE_OK) {
        snprintf(text, STORE_TEXT, "%s", store_reason(store));
        return error;
    }
    *out = terms_keep(kind, bytes, size, text);
    return *out != NULL ? STORE_OK : STORE_ERROR_REFUSED;
}

/* --- terms --- */

/* What is held must be for these rules. */
static enum store_error fit(struct terms *terms, const struct store_experiment *experiment,
                            char text[STORE_TEXT])
{
    const struct kept *book = terms->kept[TERMS_BOOK];
    if (book != NULL && !rules_equal(&book->book->rules, &terms->rules)) {
        snprintf(text, STORE_TEXT,
                 "the book is for the rules %s, this experiment plays %s: make one for these",
                 book->book->rules.name, experiment->rules);
        return STORE_ERROR_REFUSED;
    }
    const struct kept *tables = terms->kept[TERMS_TABLES];
    if (tables != NULL && !tables_same_family(&tables->tables->rules, &terms->rules)) {
        snprintf(text, STORE_TEXT,
                 "the endgame tables that end games are for the rules %s, this experiment plays %s: take "
                 "others (`kroo tables ls`)",
                 tables->tables->rules.name, experiment->rules);
        return STORE_ERROR_REFUSED;
    }
    terms->setup = (struct play_setup){.rules = &terms->rules,
                                       .seed = experiment->seed,
                                       .opening_plies = experiment->opening_plies,
                                       .noise_ppm = experiment->noise_ppm,
                                       .book = book != NULL ? book->book : NULL,
                                       .adjudication = tables != NULL ? tables->tables : NULL,
                                       .resign_score = (int)experiment->resign_score,
                                       .resign_plies = experiment->resign_plies,
                                       .resign_playout_ppm = experiment->resign_playout_ppm};
    return STORE_OK;
}

static enum store_error make(struct store *store, const struct store_experiment *experiment,
                             struct terms **out, char text[STORE_TEXT])
{
    struct terms *terms = calloc(1, sizeof *terms);
    if (terms == NULL) {
        snprintf(text, STORE_TEXT, "out of memory");
        return STORE_ERROR_MEMORY;
    }
    enum store_error error = STORE_OK;
    if (rules_parse(experiment->rules, &terms->rules, text, STORE_TEXT) != 0)
        error = STORE_ERROR_REFUSED;
    if (error == STORE_OK)
        error = hold(store, experiment->book, TERMS_BOOK, &terms->kept[TERMS_BOOK], text);
    if (error == STORE_OK)
        error = hold(store, experiment->adjudication, TERMS_TABLES, &terms->kept[TERMS_TABLES], text);
    if (error == STORE_OK)
        error = fit(terms, experiment, text);
    if (error == STORE_OK)
        *out = terms;
    else
        terms_destroy(terms);
    return error;
}

enum store_error terms_hold(const struct store_experiment *experiment, struct terms **out,
                            char text[STORE_TEXT])
{
    return make(NULL, experiment, out, text);
}

enum store_error terms_load(struct store *store, const struct store_experiment *experiment,
                            struct terms **out, char text[STORE_TEXT])
{
    return make(store, experiment, out, text);
}

void terms_destroy(struct terms *terms)
{
    if (terms == NULL)
        return;
    terms_drop(terms->kept[TERMS_BOOK]);
    terms_drop(terms->kept[TERMS_TABLES]);
    free(terms);
}
