#include "worker/prepare.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/log.h"
#include "proto/signature.h"
#include "proto/socket.h"

struct entry {
    enum prepare_state state;
    struct prepare_order order;
    struct prepare_answer answer;
    uint64_t turn; /* when it was asked for */
};

struct prepare {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    struct entry entries[PREPARE_KEPT]; /* the mutex's; so is all above `stop` */
    uint64_t turns;
    bool over;
    atomic_bool stop;
    atomic_uint steps;
    int move_ms, wake_fd;
};

static struct entry *entry_find(struct prepare *prepare, const uint8_t engine[ARTIFACT_HASH])
{
    for (size_t i = 0; i < PREPARE_KEPT; i++) {
        struct entry *entry = &prepare->entries[i];
        if (entry->state != PREPARE_ABSENT && memcmp(entry->order.engine, engine, ARTIFACT_HASH) == 0)
            return entry;
    }
    return NULL;
}

/* --- the thread --- */

/* Asks it what it was asked where it was added. */
static void self_test(struct prepare *prepare, const struct prepare_order *order,
                      struct prepare_answer *answer)
{
    char reason[DIALECT_REASON_MAX] = "", found[SIGNATURE_TEXT] = "";
    struct dialect *dialect =
        dialect_open(order->path, NULL, prepare->move_ms, &prepare->stop, reason, sizeof reason);
    enum dialect_error error = dialect != NULL
                                   ? signature_ask(dialect, found, &prepare->steps, reason, sizeof reason)
                                   : DIALECT_ERROR_START;
    dialect_close(dialect);
    answer->fault = MESSAGE_FAULT_SELF_TEST;
    if (error != DIALECT_OK)
        snprintf(answer->why, sizeof answer->why, "it failed its self-test: %.400s", reason);
    else if (strcmp(found, order->signature) != 0)
        snprintf(answer->why, sizeof answer->why,
                 "its self-test gives the signature %s on this machine, expected is %s as where it was added",
                 found, order->signature);
    else
        answer->fault = 0;
}

/* The oldest order that waits; NULL: none. */
static struct entry *entry_next(struct prepare *prepare)
{
    struct entry *next = NULL;
    for (size_t i = 0; i < PREPARE_KEPT; i++) {
        struct entry *entry = &prepare->entries[i];
        if (entry->state == PREPARE_UNDER_WAY && (next == NULL || entry->turn < next->turn))
            next = entry;
    }
    return next;
}

static void tell(const struct prepare_order *order, const struct prepare_answer *answer)
{
    char hex[ARTIFACT_HEX];
    artifact_hex(order->engine, hex);
    if (answer->fault == 0)
        log_line(LOG_LEVEL_INFO, "engine-tested", "engine=%s signature=%s", hex, order->signature);
    else
        log_line(LOG_LEVEL_ERROR, "engine-refused", "engine=%s why=\"%s\" next=\"its leases go back\"", hex,
                 answer->why);
}

static void *prepare_thread(void *context)
{
    struct prepare *prepare = context;
    pthread_mutex_lock(&prepare->mutex);
    while (!prepare->over) {
        struct entry *entry = entry_next(prepare);
        if (entry == NULL) {
            pthread_cond_wait(&prepare->asked, &prepare->mutex);
            continue;
        }
        struct prepare_order order = entry->order;
        struct prepare_answer answer = {.why = ""};
        pthread_mutex_unlock(&prepare->mutex);
        self_test(prepare, &order, &answer);
        if (!atomic_load(&prepare->stop))
            tell(&order, &answer);
        pthread_mutex_lock(&prepare->mutex);
        entry->answer = answer;
        entry->state = answer.fault == 0 ? PREPARE_READY : PREPARE_FAILED;
        wake_ring(prepare->wake_fd);
    }
    pthread_mutex_unlock(&prepare->mutex);
    return NULL;
}

/* --- the main thread --- */

struct prepare *prepare_create(int move_ms, int wake_fd)
{
    struct prepare *prepare = calloc(1, sizeof *prepare);
    if (prepare == NULL)
        return NULL;
    prepare->move_ms = move_ms;
    prepare->wake_fd = wake_fd;
    pthread_mutex_init(&prepare->mutex, NULL);
    pthread_cond_init(&prepare->asked, NULL);
    if (pthread_create(&prepare->thread, NULL, prepare_thread, prepare) == 0)
        return prepare;
    pthread_cond_destroy(&prepare->asked);
    pthread_mutex_destroy(&prepare->mutex);
    free(prepare);
    return NULL;
}

void prepare_destroy(struct prepare *prepare)
{
    if (prepare == NULL)
        return;
    atomic_store(&prepare->stop, true);
    pthread_mutex_lock(&prepare->mutex);
    prepare->over = true;
    pthread_cond_signal(&prepare->asked);
    pthread_mutex_unlock(&prepare->mutex);
    pthread_join(prepare->thread, NULL);
    pthread_cond_destroy(&prepare->asked);
    pthread_mutex_destroy(&prepare->mutex);
    free(prepare);
}

/* A free place, or that of the engine that has been ready longest. */
static struct entry *entry_place(struct prepare *prepare)
{
    struct entry *place = NULL;
    for (size_t i = 0; i < PREPARE_KEPT; i++) {
        struct entry *entry = &prepare->entries[i];
        if (entry->state == PREPARE_ABSENT)
            return entry;
        if (entry->state != PREPARE_UNDER_WAY && (place == NULL || entry->turn < place->turn))
            place = entry;
    }
    return place;
}

int prepare_ask(struct prepare *prepare, const struct prepare_order *order)
{
    int result = 0;
    pthread_mutex_lock(&prepare->mutex);
    if (entry_find(prepare, order->engine) == NULL) {
        struct entry *entry = entry_place(prepare);
        if (entry != NULL)
            *entry = (struct entry){.state = PREPARE_UNDER_WAY, .order = *order, .turn = ++prepare->turns};
        else
            result = -1;
        pthread_cond_signal(&prepare->asked);
    }
    pthread_mutex_unlock(&prepare->mutex);
    return result;
}

enum prepare_state prepare_look(struct prepare *prepare, const uint8_t engine[ARTIFACT_HASH],
                                struct prepare_answer *answer)
{
    enum prepare_state state = PREPARE_ABSENT;
    pthread_mutex_lock(&prepare->mutex);
    struct entry *entry = entry_find(prepare, engine);
    if (entry != NULL) {
        state = entry->state;
        *answer = entry->answer;
        if (state == PREPARE_FAILED)
            entry->state = PREPARE_ABSENT;
    }
    pthread_mutex_unlock(&prepare->mutex);
    return state;
}

unsigned prepare_steps(struct prepare *prepare)
{
    return atomic_exchange(&prepare->steps, 0);
}
