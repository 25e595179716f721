#include "coordinator/web_live.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/condition.h"

struct web_live {
    struct web_store *stores;
    const struct web_call *call;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    char *text;       /* the latest event as it is sent; NULL: none yet */
    uint64_t version; /* counts the events */
    unsigned listeners;
    bool stopping;
};

struct listener {
    struct web_live *live;
    uint64_t seen;
    char *text; /* being sent, from `at` on */
    size_t at;
};

/* --- the pulse --- */

/* JSON of one line as an event. NULL without memory. */
static char *as_event(const struct web_answer *answer, uint64_t version)
{
    size_t room = answer->size + 80;
    char *text = malloc(room);
    if (!text)
        return NULL;
    int head = snprintf(text, room, "id: %llu\nevent: %s\ndata: ", (unsigned long long)version,
                        answer->status == 200 ? "pulse" : "trouble");
    for (size_t i = 0; i < answer->size; i++)
        text[(size_t)head + i] = answer->text[i] == '\n' ? ' ' : answer->text[i];
    memcpy(text + (size_t)head + answer->size, "\n\n", 3);
    return text;
}

static void publish(struct web_live *live)
{
    static const char *const none[WEB_PARAMETERS];
    struct web_answer answer;
    web_store_ask(live->stores, live->call, none, &answer);
    pthread_mutex_lock(&live->mutex);
    free(live->text);
    live->text = answer.text ? as_event(&answer, live->version + 1) : NULL;
    if (live->text) {
        live->version++;
        pthread_cond_broadcast(&live->changed);
    }
    pthread_mutex_unlock(&live->mutex);
    free(answer.text);
}

static void *beat(void *context)
{
    struct web_live *live = context;
    pthread_mutex_lock(&live->mutex);
    while (!live->stopping) {
        if (live->listeners == 0) {
            pthread_cond_wait(&live->changed, &live->mutex);
            continue;
        }
        pthread_mutex_unlock(&live->mutex);
        publish(live);
        pthread_mutex_lock(&live->mutex);
        struct timespec until = condition_until(WEB_PULSE_MS);
        while (!live->stopping && pthread_cond_timedwait(&live->changed, &live->mutex, &until) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&live->mutex);
    return NULL;
}

/* --- listeners --- */

/* Waits for the next event and takes a copy of it; a comment when there is none for long. False: the end. */
static bool next_event(struct listener *listener)
{
    struct web_live *live = listener->live;
    struct timespec until = condition_until(WEB_QUIET_MS);
    free(listener->text);
    listener->text = NULL;
    listener->at = 0;
    pthread_mutex_lock(&live->mutex);
    while (!live->stopping && (!live->text || live->version == listener->seen))
        if (pthread_cond_timedwait(&live->changed, &live->mutex, &until) == ETIMEDOUT)
            break;
    if (!live->stopping) {
        bool is_new = live->text && live->version != listener->seen;
        listener->text = strdup(is_new ? live->text : ": still here\n\n");
        listener->seen = is_new ? live->version : listener->seen;
    }
    pthread_mutex_unlock(&live->mutex);
    return listener->text != NULL;
}

static ssize_t read_events(void *context, uint64_t position, char *out, size_t room)
{
    struct listener *listener = context;
    (void)position;
    if ((!listener->text || listener->text[listener->at] == '\0') && !next_event(listener))
        return MHD_CONTENT_READER_END_OF_STREAM;
    size_t size = strlen(listener->text + listener->at);
    if (size > room)
        size = room;
    memcpy(out, listener->text + listener->at, size);
    listener->at += size;
    return (ssize_t)size;
}

static void forget_listener(void *context)
{
    struct listener *listener = context;
    pthread_mutex_lock(&listener->live->mutex);
    listener->live->listeners--;
    pthread_mutex_unlock(&listener->live->mutex);
    free(listener->text);
    free(listener);
}

struct MHD_Response *web_live_follow(struct web_live *live)
{
    struct listener *listener = calloc(1, sizeof *listener);
    pthread_mutex_lock(&live->mutex);
    bool room = listener && !live->stopping && live->listeners < WEB_LISTENERS;
    if (room && live->listeners++ == 0) { /* what was heard long ago is no news */
        free(live->text);
        live->text = NULL;
        pthread_cond_broadcast(&live->changed);
    }
    pthread_mutex_unlock(&live->mutex);
    if (!room) {
        free(listener);
        return NULL;
    }
    listener->live = live;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, read_events, listener, forget_listener);
    if (!response)
        forget_listener(listener);
    return response;
}

/* --- start and end --- */

struct web_live *web_live_create(struct web_store *stores, const struct web_call *call)
{
    struct web_live *live = calloc(1, sizeof *live);
    if (!live)
        return NULL;
    live->stores = stores;
    live->call = call;
    pthread_mutex_init(&live->mutex, NULL);
    condition_init(&live->changed);
    if (pthread_create(&live->thread, NULL, beat, live) == 0)
        return live;
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->mutex);
    free(live);
    return NULL;
}

void web_live_stop(struct web_live *live)
{
    pthread_mutex_lock(&live->mutex);
    live->stopping = true;
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->mutex);
    pthread_join(live->thread, NULL);
}

void web_live_destroy(struct web_live *live)
{
    if (!live)
        return;
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->mutex);
    free(live->text);
    free(live);
}
