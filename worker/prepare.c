#include "worker/prepare.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/build.h"
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
    atomic_int move_ms;
    int wake_fd;
    char engines[PATH_MAX]; /* absolute */
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

/* --- building: ENGINES/HEX.built holds the hash of what was built from the set HEX --- */

static void beside(const struct prepare *prepare, const uint8_t sha256[ARTIFACT_HASH], const char *ending,
                   char path[FOLDER_PATH_MAX])
{
    char hex[ARTIFACT_HEX];
    artifact_hex(sha256, hex);
    snprintf(path, FOLDER_PATH_MAX, "%.*s/%s%s", FOLDER_PATH_MAX - ARTIFACT_HEX - 16, prepare->engines, hex,
             ending);
}

/* What was built before, verified; false when it is not there. */
static bool find_built(struct prepare *prepare, const struct prepare_order *order, char path[FOLDER_PATH_MAX])
{
    char hex[ARTIFACT_HEX] = "", reason[256];
    uint8_t built[ARTIFACT_HASH];
    void *bytes = NULL;
    size_t size;
    beside(prepare, order->engine, ".built", path);
    FILE *file = fopen(path, "re");
    bool known = file != NULL && fread(hex, 1, sizeof hex - 1, file) == sizeof hex - 1 &&
                 artifact_parse_hex(hex, built) == 0;
    if (file != NULL)
        fclose(file);
    known =
        known && artifact_read(prepare->engines, built, &bytes, &size, reason, sizeof reason) == ARTIFACT_OK;
    free(bytes);
    if (known)
        beside(prepare, built, "", path);
    return known && chmod(path, 0555) == 0;
}

/* Keeps what was built; true when it is where find_built finds it. */
static bool keep_built(struct prepare *prepare, const struct prepare_order *order, const void *bytes,
                       size_t size, char *reason, size_t reason_size)
{
    char path[FOLDER_PATH_MAX], hex[ARTIFACT_HEX];
    uint8_t built[ARTIFACT_HASH];
    if (artifact_write(prepare->engines, bytes, size, built, reason, reason_size) != ARTIFACT_OK)
        return false;
    artifact_hex(built, hex);
    beside(prepare, order->engine, ".built", path);
    FILE *file = fopen(path, "we");
    bool good = file != NULL && fputs(hex, file) >= 0;
    good = file != NULL && fclose(file) == 0 && good;
    if (!good)
        snprintf(reason, reason_size, "%.300s: %s", path, strerror(errno));
    return good;
}

/* Finds it built, or builds it; false with what went wrong. */
static bool build(struct prepare *prepare, const struct prepare_order *order, struct prepare_answer *answer)
{
    char log[FOLDER_PATH_MAX], reason[BUILD_REASON_MAX] = "";
    void *bytes;
    size_t size;
    if (find_built(prepare, order, answer->path))
        return true;
    beside(prepare, order->engine, ".log", log);
    struct build_request request = {.archive = order->path,
                                    .set = &order->set,
                                    .scratch = prepare->engines,
                                    .log = log,
                                    .build_ms = BUILD_MS,
                                    .stop = &prepare->stop,
                                    .steps = &prepare->steps};
    log_line(LOG_LEVEL_INFO, "engine-build", "recipe=\"%s\" log=%s", order->set.recipe, log);
    answer->fault = MESSAGE_FAULT_BUILD;
    if (build_program(&request, &bytes, &size, reason) != 0) {
        snprintf(answer->why, sizeof answer->why, "it cannot be built: %.400s", reason);
        return false;
    }
    bool kept = keep_built(prepare, order, bytes, size, reason, sizeof reason) &&
                find_built(prepare, order, answer->path);
    free(bytes);
    answer->fault = 0;
    if (!kept)
        snprintf(answer->why, sizeof answer->why, "what was built cannot be kept: %.400s", reason);
    return kept;
}

/* --- testing --- */

/* Asks it what it was asked where it was added. */
static void self_test(struct prepare *prepare, const struct prepare_order *order,
                      struct prepare_answer *answer)
{
    char reason[DIALECT_REASON_MAX] = "", found[SIGNATURE_TEXT] = "";
    struct dialect *dialect = dialect_open(answer->path, NULL, atomic_load(&prepare->move_ms), &prepare->stop,
                                           reason, sizeof reason);
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

/* The program's path into the answer, built where it comes as sources. */
static bool make(struct prepare *prepare, const struct prepare_order *order, struct prepare_answer *answer)
{
    if (order->from_source)
        return build(prepare, order, answer);
    memcpy(answer->path, order->path, sizeof answer->path);
    return true;
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

static void tell(const struct prepare_order *order, const struct prepare_answer *answer, bool made)
{
    char hex[ARTIFACT_HEX];
    artifact_hex(order->engine, hex);
    if (made && answer->fault == 0)
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
        bool made = make(prepare, &order, &answer);
        if (made && order.signature[0] != '\0')
            self_test(prepare, &order, &answer);
        if (!atomic_load(&prepare->stop))
            tell(&order, &answer, made);
        pthread_mutex_lock(&prepare->mutex);
        entry->answer = answer;
        entry->state = made && answer.fault == 0 ? PREPARE_READY : PREPARE_FAILED;
        wake_ring(prepare->wake_fd);
    }
    pthread_mutex_unlock(&prepare->mutex);
    return NULL;
}

/* --- the main thread --- */

struct prepare *prepare_create(const char *engines, int move_ms, int wake_fd)
{
    struct prepare *prepare = calloc(1, sizeof *prepare);
    if (prepare == NULL)
        return NULL;
    prepare->move_ms = move_ms;
    prepare->wake_fd = wake_fd;
    if (realpath(engines, prepare->engines) == NULL) {
        free(prepare);
        return NULL;
    }
    pthread_mutex_init(&prepare->mutex, NULL);
    pthread_cond_init(&prepare->asked, NULL);
    if (pthread_create(&prepare->thread, NULL, prepare_thread, prepare) == 0)
        return prepare;
    pthread_cond_destroy(&prepare->asked);
    pthread_mutex_destroy(&prepare->mutex);
    free(prepare);
    return NULL;
}

void prepare_bound(struct prepare *prepare, int move_ms)
{
    atomic_store(&prepare->move_ms, move_ms);
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
    /* Old files of a folder go: what was built may have gone, too. */
    if (entry != NULL && entry->state == PREPARE_READY && access(entry->answer.path, X_OK) != 0)
        entry->state = PREPARE_ABSENT;
    if (entry != NULL) {
        state = entry->state;
        *answer = entry->answer;
        if (state == PREPARE_FAILED)
            entry->state = PREPARE_ABSENT;
    }
    pthread_mutex_unlock(&prepare->mutex);
    return state;
}

bool prepare_is_busy(struct prepare *prepare)
{
    pthread_mutex_lock(&prepare->mutex);
    bool busy = entry_next(prepare) != NULL;
    pthread_mutex_unlock(&prepare->mutex);
    return busy;
}

unsigned prepare_steps(struct prepare *prepare)
{
    return atomic_exchange(&prepare->steps, 0);
}
