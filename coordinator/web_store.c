#include "coordinator/web_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/condition.h"
#include "proto/log.h"
#include "proto/progress.h"
#include "sql/store_page.h"

enum { AT_ONCE_MS = 1000 };

struct web_store {
    char *conninfo;
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    bool is_away; /* the database was, when last asked */
    struct web_connection {
        struct store *store; /* NULL: not open */
        bool busy;
    } connections[WEB_STORES];
};

struct web_store *web_store_create(const char *conninfo)
{
    struct web_store *stores = calloc(1, sizeof *stores);
    if (!stores || !(stores->conninfo = strdup(conninfo))) {
        free(stores);
        return NULL;
    }
    pthread_mutex_init(&stores->mutex, NULL);
    condition_init(&stores->freed);
    return stores;
}

void web_store_destroy(struct web_store *stores)
{
    if (!stores)
        return;
    for (int i = 0; i < WEB_STORES; i++)
        store_close(stores->connections[i].store);
    pthread_cond_destroy(&stores->freed);
    pthread_mutex_destroy(&stores->mutex);
    free(stores->conninfo);
    free(stores);
}

/* --- one connection --- */

/* An open one is the better one. */
static struct web_connection *pick(struct web_store *stores)
{
    struct web_connection *found = NULL;
    for (int i = 0; i < WEB_STORES; i++) {
        struct web_connection *one = &stores->connections[i];
        if (!one->busy && (!found || (!found->store && one->store)))
            found = one;
    }
    return found;
}

static struct web_connection *take(struct web_store *stores)
{
    struct timespec until = condition_until(WEB_QUEUE_MS);
    pthread_mutex_lock(&stores->mutex);
    struct web_connection *one = pick(stores);
    while (!one && pthread_cond_timedwait(&stores->freed, &stores->mutex, &until) != ETIMEDOUT)
        one = pick(stores);
    if (one)
        one->busy = true;
    pthread_mutex_unlock(&stores->mutex);
    return one;
}

/* True when what went wrong is news: an outage is told once. */
static bool give_back(struct web_store *stores, struct web_connection *one, enum store_error error)
{
    pthread_mutex_lock(&stores->mutex);
    one->busy = false;
    bool was_away = stores->is_away;
    stores->is_away = error == STORE_ERROR_CONNECTION;
    pthread_cond_signal(&stores->freed);
    pthread_mutex_unlock(&stores->mutex);
    return error != STORE_OK && !(was_away && error == STORE_ERROR_CONNECTION);
}

/* Runs it; a connection that turns out broken at once, because it broke while nobody used it, is opened once
 * more. */
static enum store_error run(struct web_store *stores, struct web_connection *one, const struct web_call *call,
                            const char *const *parameters, struct store_table *rows, char reason[STORE_TEXT])
{
    size_t count = 0;
    while (call->parameters[count].name)
        count++;
    for (int attempt = 0;; attempt++) {
        bool is_old = one->store != NULL;
        int64_t begun_ms = progress_now_ms();
        if (!is_old && !(one->store = store_open_page(stores->conninfo, "kroo web", WEB_STATEMENT_MS, reason,
                                                      STORE_TEXT)))
            return STORE_ERROR_CONNECTION;
        enum store_error error = store_query(one->store, call->sql, parameters, count, rows);
        if (error != STORE_OK)
            snprintf(reason, STORE_TEXT, "%s", store_reason(one->store));
        if (error != STORE_ERROR_CONNECTION)
            return error;
        bool is_slow = progress_now_ms() - begun_ms > AT_ONCE_MS;
        store_close(one->store);
        one->store = NULL;
        if (is_slow || !is_old || attempt > 0)
            return error;
    }
}

/* --- the answer --- */

static void take_cell(struct web_answer *answer, struct store_table *rows)
{
    if (rows->rows == 0 || rows->columns == 0 || !rows->cells[0]) {
        web_answer_error(answer, 404, "there is no such thing here");
        return;
    }
    answer->text = rows->cells[0];
    answer->size = strlen(answer->text);
    rows->cells[0] = NULL;
}

void web_store_ask(struct web_store *stores, const struct web_call *call, const char *const *parameters,
                   struct web_answer *answer)
{
    char reason[STORE_TEXT] = "";
    struct store_table rows = {0};
    memset(answer, 0, sizeof *answer);
    answer->status = 200;
    struct web_connection *one = take(stores);
    if (!one) {
        web_answer_error(answer, 503, "the database is busy with other pages: try again");
        return;
    }
    enum store_error error = run(stores, one, call, parameters, &rows, reason);
    bool is_news = give_back(stores, one, error);
    if (is_news)
        log_line(LOG_LEVEL_WARNING, "web-refused", "path=%s reason=\"%s\"", call->path, reason);
    if (error != STORE_OK) {
        web_answer_error(answer, error == STORE_ERROR_CONNECTION ? 503 : 500, "%s", reason);
        return;
    }
    if (call->finish)
        call->finish(answer, &rows);
    else
        take_cell(answer, &rows);
    store_table_done(&rows);
    if (!answer->text)
        web_answer_error(answer, 503, "no memory for the answer");
    else if (answer->size > WEB_ANSWER_MAX)
        web_answer_error(answer, 500, "the answer has more than %d bytes", WEB_ANSWER_MAX);
}
