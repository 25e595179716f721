#include "coordinator/herald.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/log.h"
#include "proto/progress.h"
#include "proto/socket.h"
#include "sql/store_notice.h"

enum {
    LOOK_MS = 5000,   /* the list is read so often unasked: a lost connection shows by it */
    RETRY_MS = 1000,  /* between attempts to connect */
    TOLD_MS = 600000, /* the same trouble in the log */
    END_S = 1,
};

struct herald {
    pthread_t thread;
    char conninfo[1024];
    int wake, own_wake; /* the event loop's, the thread's */
    atomic_bool stop;
    atomic_int left; /* of the thread and its owner */
    atomic_uint_least64_t in_force;
    pthread_mutex_t mutex;
    /* The mutex's: */
    struct store_peer *peers; /* NULL: taken */
    size_t count;
    uint64_t version;
    /* The thread's: */
    struct store *store;
    uint64_t read, told; /* versions */
    int64_t read_ms, trouble_ms;
};

/* --- the thread --- */

static void hand_over(struct herald *herald, struct store_peer *peers, size_t count, uint64_t version)
{
    pthread_mutex_lock(&herald->mutex);
    free(herald->peers);
    herald->peers = peers;
    herald->count = count;
    herald->version = version;
    pthread_mutex_unlock(&herald->mutex);
    wake_ring(herald->wake);
}

static enum store_error read_list(struct herald *herald)
{
    struct store_peer *peers;
    size_t count;
    uint64_t version;
    enum store_error error = store_peers_versioned(herald->store, &peers, &count, &version);
    if (error != STORE_OK)
        return error;
    herald->read_ms = progress_now_ms();
    if (version != herald->read)
        hand_over(herald, peers, count, version);
    else
        free(peers);
    herald->read = version;
    return STORE_OK;
}

static enum store_error tell(struct herald *herald)
{
    uint64_t in_force = atomic_load(&herald->in_force);
    if (in_force == herald->told)
        return STORE_OK;
    enum store_error error = store_peers_in_force(herald->store, in_force);
    if (error == STORE_OK)
        herald->told = in_force;
    return error;
}

/* What it knew may be of another server now: all of it is read and told again. */
static enum store_error connect_again(struct herald *herald, char *reason, size_t reason_size)
{
    herald->read = herald->told = 0;
    herald->store =
        store_open(herald->conninfo, "kroo_coordinator", "kroo-coordinator-keys", reason, reason_size);
    if (herald->store == NULL)
        return STORE_ERROR_CONNECTION;
    enum store_error error = store_notice_listen(herald->store);
    return error == STORE_OK ? read_list(herald) : error;
}

static enum store_error turn(struct herald *herald)
{
    bool heard;
    int64_t left_ms = LOOK_MS - (progress_now_ms() - herald->read_ms);
    enum store_error error =
        store_notice_wait(herald->store, herald->own_wake, left_ms > 0 ? (int)left_ms : 0, &heard);
    wake_clear(herald->own_wake);
    if (error == STORE_OK && (heard || progress_now_ms() - herald->read_ms >= LOOK_MS))
        error = read_list(herald);
    return error == STORE_OK ? tell(herald) : error;
}

static void say_trouble(struct herald *herald, const char *reason)
{
    int64_t now_ms = progress_now_ms();
    if (herald->trouble_ms != 0 && now_ms - herald->trouble_ms < TOLD_MS)
        return;
    herald->trouble_ms = now_ms;
    log_line(
        LOG_LEVEL_WARNING, "keys-unheard",
        "why=\"%s\" next=\"tried again each second; changed keys are seen within two seconds meanwhile\"",
        reason);
}

static void pause_ms(struct herald *herald, int ms)
{
    struct pollfd fd = {.fd = herald->own_wake, .events = POLLIN};
    poll(&fd, 1, ms);
}

/* The thread and its owner both call this at their end; the later one clears up. */
static void leave(struct herald *herald)
{
    if (atomic_fetch_add(&herald->left, 1) == 0)
        return;
    close(herald->own_wake);
    pthread_mutex_destroy(&herald->mutex);
    free(herald->peers);
    free(herald);
}

static void *run(void *context)
{
    struct herald *herald = context;
    char reason[STORE_TEXT] = "";
    while (!atomic_load(&herald->stop)) {
        enum store_error error =
            herald->store != NULL ? turn(herald) : connect_again(herald, reason, sizeof reason);
        if (error == STORE_OK)
            continue;
        say_trouble(herald, herald->store != NULL ? store_reason(herald->store) : reason);
        store_close(herald->store);
        herald->store = NULL;
        if (!atomic_load(&herald->stop))
            pause_ms(herald, RETRY_MS);
    }
    store_close(herald->store);
    leave(herald);
    return NULL;
}

/* --- the event loop's side --- */

struct herald *herald_create(const char *conninfo, int wake)
{
    struct herald *herald = calloc(1, sizeof *herald);
    if (herald == NULL || strlen(conninfo) >= sizeof herald->conninfo) {
        free(herald);
        return NULL;
    }
    memcpy(herald->conninfo, conninfo, strlen(conninfo) + 1);
    herald->wake = wake;
    herald->own_wake = wake_create();
    pthread_mutex_init(&herald->mutex, NULL);
    if (herald->own_wake >= 0 && pthread_create(&herald->thread, NULL, run, herald) == 0)
        return herald;
    if (herald->own_wake >= 0)
        close(herald->own_wake);
    pthread_mutex_destroy(&herald->mutex);
    free(herald);
    return NULL;
}

void herald_destroy(struct herald *herald)
{
    if (herald == NULL)
        return;
    struct timespec until;
    atomic_store(&herald->stop, true);
    wake_ring(herald->own_wake);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += END_S;
    /* A database that does not answer keeps it longer than anybody wants to wait: it ends by itself then. */
    if (pthread_clockjoin_np(herald->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
        pthread_detach(herald->thread);
    leave(herald);
}

bool herald_take(struct herald *herald, struct store_peer **peers, size_t *count, uint64_t *version)
{
    pthread_mutex_lock(&herald->mutex);
    *peers = herald->peers;
    *count = herald->count;
    *version = herald->version;
    herald->peers = NULL;
    pthread_mutex_unlock(&herald->mutex);
    return *peers != NULL;
}

void herald_in_force(struct herald *herald, uint64_t version)
{
    atomic_store(&herald->in_force, version);
    wake_ring(herald->own_wake);
}
