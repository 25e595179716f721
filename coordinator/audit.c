#include "coordinator/audit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "proto/artifact.h"

/* A task waits (lease 0) or is out. */
struct task {
    uint64_t experiment;
    struct audit_pair pair;
    uint64_t lease, session, progress;
    uint32_t attempt; /* of the last lease */
    uint32_t cores;   /* games of it that are played at once while it is out */
    int64_t deadline_ms;
};

/* What waits of an experiment, so that no request looks through tasks that are not for it. */
struct load {
    uint64_t experiment;
    size_t tasks, waiting;
    int32_t rank; /* within audit_take */
};

/* Tasks side by side, those that are out before those that wait. Chains of places by hash find them. */
struct audit_book {
    int64_t term_ms;
    struct task *tasks;
    uint32_t *next; /* of the same chain */
    size_t out, count, room;
    uint32_t *chains; /* heads, `chain_count` of them, a power of two */
    size_t chain_count;
    size_t cursor; /* where audit_take looks next */
    struct load *loads;
    size_t load_count, load_room;
};

enum { ROOM_FIRST = 64 };
#define NONE UINT32_MAX

static void put_number(uint8_t *out, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(number >> (56 - 8 * i));
}

bool audit_is_due(const uint8_t secret[AUDIT_SECRET], uint64_t experiment, uint64_t pair, uint64_t request,
                  uint32_t ppm)
{
    uint8_t text[AUDIT_SECRET + 24], hash[ARTIFACT_HASH];
    uint64_t first = 0;
    if (ppm == 0)
        return false;
    memcpy(text, secret, AUDIT_SECRET);
    put_number(text + AUDIT_SECRET, experiment);
    put_number(text + AUDIT_SECRET + 8, pair);
    put_number(text + AUDIT_SECRET + 16, request);
    artifact_hash(text, sizeof text, hash);
    for (int i = 0; i < 8; i++)
        first = first << 8 | hash[i];
    return ppm >= AUDIT_PPM || first < UINT64_MAX / AUDIT_PPM * ppm;
}

uint64_t audit_worker(const char *peer, const char *name)
{
    uint64_t hash = 0;
    for (; *peer; peer++)
        hash = mix(hash, (uint8_t)*peer);
    hash = mix(hash, 256);
    for (; *name; name++)
        hash = mix(hash, (uint8_t)*name);
    return hash ? hash : 1;
}

static bool has_played(const struct audit_pair *pair, uint64_t worker)
{
    for (uint32_t i = 0; i < pair->played_count; i++)
        if (pair->played[i] == worker)
            return true;
    return false;
}

void audit_pair_add(struct audit_pair *pair, uint64_t worker)
{
    if (!has_played(pair, worker) && pair->played_count < AUDIT_PLAYED_MAX)
        pair->played[pair->played_count++] = worker;
}

struct audit_book *audit_book_create(int64_t term_ms)
{
    struct audit_book *book = term_ms > 0 ? calloc(1, sizeof *book) : NULL;
    if (book)
        book->term_ms = term_ms;
    return book;
}

void audit_book_destroy(struct audit_book *book)
{
    if (!book)
        return;
    free(book->tasks);
    free(book->next);
    free(book->chains);
    free(book->loads);
    free(book);
}

/* --- loads --- */

static struct load *load_find(const struct audit_book *book, uint64_t experiment)
{
    for (size_t i = 0; i < book->load_count; i++)
        if (book->loads[i].experiment == experiment)
            return &book->loads[i];
    return NULL;
}

/* NULL without memory. */
static struct load *load_need(struct audit_book *book, uint64_t experiment)
{
    struct load *load = load_find(book, experiment);
    if (load)
        return load;
    if (book->load_count == book->load_room) {
        size_t room = book->load_room ? 2 * book->load_room : ROOM_FIRST;
        struct load *larger = realloc(book->loads, room * sizeof *larger);
        if (!larger)
            return NULL;
        book->loads = larger;
        book->load_room = room;
    }
    load = &book->loads[book->load_count++];
    *load = (struct load){.experiment = experiment};
    return load;
}

static void load_release(struct audit_book *book, struct load *load)
{
    load->waiting--;
    if (--load->tasks == 0)
        *load = book->loads[--book->load_count];
}

/* --- places --- */

static size_t chain_of(const struct audit_book *book, uint64_t experiment, uint64_t pair)
{
    return mix(experiment, pair) & (book->chain_count - 1);
}

static uint32_t place_of(const struct audit_book *book, uint64_t experiment, uint64_t pair)
{
    if (book->count == 0)
        return NONE;
    uint32_t place = book->chains[chain_of(book, experiment, pair)];
    while (place != NONE &&
           (book->tasks[place].experiment != experiment || book->tasks[place].pair.pair != pair))
        place = book->next[place];
    return place;
}

static void chain_link(struct audit_book *book, uint32_t place)
{
    const struct task *task = &book->tasks[place];
    uint32_t *head = &book->chains[chain_of(book, task->experiment, task->pair.pair)];
    book->next[place] = *head;
    *head = place;
}

static void chain_unlink(struct audit_book *book, uint32_t place)
{
    const struct task *task = &book->tasks[place];
    uint32_t *link = &book->chains[chain_of(book, task->experiment, task->pair.pair)];
    while (*link != place)
        link = &book->next[*link];
    *link = book->next[place];
}

/* Room for one more; chains are rebuilt as the room grows. */
static bool reserve(struct audit_book *book)
{
    if (book->count < book->room)
        return true;
    size_t room = book->room ? 2 * book->room : ROOM_FIRST;
    struct task *tasks = realloc(book->tasks, room * sizeof *tasks);
    if (tasks)
        book->tasks = tasks;
    uint32_t *next = realloc(book->next, room * sizeof *next);
    if (next)
        book->next = next;
    uint32_t *chains = malloc(room * sizeof *chains);
    if (!tasks || !next || !chains) {
        free(chains);
        return false;
    }
    free(book->chains);
    book->chains = chains;
    book->chain_count = book->room = room;
    memset(chains, 0xff, room * sizeof *chains);
    for (size_t place = 0; place < book->count; place++)
        chain_link(book, (uint32_t)place);
    return true;
}

static struct audit_lease lease_of(const struct task *task)
{
    return (struct audit_lease){task->experiment, task->pair.pair, task->lease, task->session, task->attempt};
}

static void task_swap(struct audit_book *book, size_t one, size_t other)
{
    if (one == other)
        return;
    chain_unlink(book, (uint32_t)one);
    chain_unlink(book, (uint32_t)other);
    struct task kept = book->tasks[one];
    book->tasks[one] = book->tasks[other];
    book->tasks[other] = kept;
    chain_link(book, (uint32_t)one);
    chain_link(book, (uint32_t)other);
}

/* The one place where a task that waits goes out; its new place. */
static struct task *task_go(struct audit_book *book, size_t place, uint64_t session, uint64_t lease)
{
    task_swap(book, place, book->out);
    struct task *task = &book->tasks[book->out++];
    task->lease = lease;
    task->session = session;
    task->progress = 0;
    task->attempt++;
    load_find(book, task->experiment)->waiting--;
    return task;
}

/* The one place where a task that was out waits again. */
static struct audit_lease task_return(struct audit_book *book, size_t place)
{
    struct audit_lease lease = lease_of(&book->tasks[place]);
    book->tasks[place].lease = book->tasks[place].session = 0;
    load_find(book, lease.experiment)->waiting++;
    task_swap(book, place, --book->out);
    return lease;
}

static void task_remove(struct audit_book *book, size_t place)
{
    if (place < book->out) {
        task_return(book, place);
        place = book->out;
    }
    load_release(book, load_find(book, book->tasks[place].experiment));
    task_swap(book, place, book->count - 1);
    chain_unlink(book, (uint32_t)--book->count);
}

/* --- the life of a task --- */

bool audit_want(struct audit_book *book, uint64_t experiment, const struct audit_pair *pair)
{
    uint32_t place = place_of(book, experiment, pair->pair);
    if (place == NONE) {
        struct load *load = NULL;
        size_t most = pair->held ? AUDIT_TASKS_MAX + AUDIT_HELD_MAX : AUDIT_TASKS_MAX;
        if (book->count >= most || !reserve(book) || !(load = load_need(book, experiment)))
            return false;
        load->tasks++;
        load->waiting++;
        place = (uint32_t)book->count++;
        book->tasks[place] =
            (struct task){.experiment = experiment, .pair = *pair, .attempt = pair->played_count};
        chain_link(book, place);
        return true;
    }
    struct task *task = &book->tasks[place];
    task->pair = *pair;
    /* Who holds it has played it: the next one may have it at once. */
    if (task->lease != 0 && pair->disputed)
        task_return(book, place);
    return true;
}

bool audit_close(struct audit_book *book, uint64_t experiment, uint64_t pair, struct audit_lease *was_out)
{
    uint32_t place = place_of(book, experiment, pair);
    if (place == NONE)
        return false;
    *was_out = lease_of(&book->tasks[place]);
    task_remove(book, place);
    return true;
}

size_t audit_drop(struct audit_book *book, uint64_t experiment)
{
    size_t dropped = 0;
    for (size_t place = book->count; place-- > 0;)
        if (book->tasks[place].experiment == experiment) {
            task_remove(book, place);
            dropped++;
        }
    return dropped;
}

/* Everybody who could play has played already. */
static bool nobody_new(const struct audit_ask *ask, const struct task *task)
{
    const uint64_t *workers;
    size_t count = ask->able(ask->context, task->experiment, &workers);
    for (size_t i = 0; i < count; i++)
        if (!has_played(&task->pair, workers[i]))
            return false;
    return true;
}

static bool may_play(const struct audit_ask *ask, const struct task *task)
{
    const struct audit_pair *pair = &task->pair;
    if (!has_played(pair, ask->worker))
        return true;
    return pair->held && pair->played[pair->played_count - 1] != ask->worker && nobody_new(ask, task);
}

/* The highest rank of what waits. */
static int32_t rank_all(struct audit_book *book, const struct audit_ask *ask)
{
    int32_t best = AUDIT_NOT;
    for (size_t i = 0; i < book->load_count; i++) {
        struct load *load = &book->loads[i];
        load->rank = load->waiting ? ask->rank(ask->context, load->experiment) : AUDIT_NOT;
        best = load->rank > best ? load->rank : best;
    }
    return best;
}

/* A waiting task for the worker, of the highest rank there is; `count` for none. */
static size_t find_task(struct audit_book *book, const struct audit_ask *ask)
{
    size_t waiting = book->count - book->out, found = book->count;
    size_t looks = waiting < AUDIT_LOOKS_MAX ? waiting : AUDIT_LOOKS_MAX;
    int32_t best = rank_all(book, ask), found_rank = AUDIT_NOT;
    for (; looks > 0 && found_rank < best; looks--) {
        if (book->cursor < book->out || book->cursor >= book->count)
            book->cursor = book->out;
        size_t place = book->cursor++;
        const struct task *task = &book->tasks[place];
        int32_t rank = load_find(book, task->experiment)->rank;
        if (rank <= found_rank || !may_play(ask, task))
            continue;
        found = place;
        found_rank = rank;
    }
    return found;
}

bool audit_take(struct audit_book *book, const struct audit_ask *ask, int64_t now_ms,
                struct audit_lease *taken)
{
    size_t place = find_task(book, ask);
    if (place == book->count)
        return false;
    struct task *gone = task_go(book, place, ask->session, ask->lease);
    gone->cores = ask->cores > 0 && ask->cores < 2 ? 1 : 2;
    gone->deadline_ms = now_ms + book->term_ms;
    *taken = lease_of(gone);
    return true;
}

static size_t place_out(const struct audit_book *book, uint64_t lease, uint64_t session)
{
    size_t place = 0;
    while (place < book->out && (book->tasks[place].lease != lease || book->tasks[place].session != session))
        place++;
    return place;
}

enum audit_answer audit_progress(struct audit_book *book, uint64_t lease, uint64_t session, uint64_t progress,
                                 int64_t now_ms)
{
    size_t place = place_out(book, lease, session);
    if (place == book->out)
        return AUDIT_UNKNOWN;
    struct task *task = &book->tasks[place];
    if (progress <= task->progress)
        return AUDIT_STALE;
    task->progress = progress;
    task->deadline_ms = now_ms + book->term_ms;
    return AUDIT_RENEWED;
}

bool audit_holds(const struct audit_book *book, uint64_t lease, uint64_t session)
{
    return place_out(book, lease, session) < book->out;
}

bool audit_release(struct audit_book *book, uint64_t lease, uint64_t session, struct audit_lease *released)
{
    size_t place = place_out(book, lease, session);
    if (place == book->out)
        return false;
    *released = task_return(book, place);
    return true;
}

/* From the last on: a task that returns changes places with one that was seen. */
size_t audit_expire(struct audit_book *book, int64_t now_ms, struct audit_lease *lapsed, size_t max)
{
    size_t count = 0;
    for (size_t place = book->out; place-- > 0 && count < max;)
        if (book->tasks[place].deadline_ms <= now_ms)
            lapsed[count++] = task_return(book, place);
    return count;
}

size_t audit_session_end(struct audit_book *book, uint64_t session, struct audit_lease *released, size_t max)
{
    size_t count = 0;
    for (size_t place = book->out; place-- > 0 && count < max;)
        if (book->tasks[place].session == session)
            released[count++] = task_return(book, place);
    return count;
}

uint32_t audit_cores(const struct audit_book *book, uint64_t experiment)
{
    uint32_t cores = 0;
    for (size_t place = 0; place < book->out; place++)
        if (book->tasks[place].experiment == experiment)
            cores += book->tasks[place].cores;
    return cores;
}

struct audit_outlook audit_look(const struct audit_book *book, uint64_t experiment, const uint64_t *workers,
                                size_t count)
{
    struct audit_outlook outlook = {0};
    for (size_t i = 0; i < book->count; i++) {
        const struct task *task = &book->tasks[i];
        if (task->experiment != experiment)
            continue;
        outlook.tasks++;
        outlook.disputed += task->pair.disputed;
        bool hopeful = task->lease != 0;
        for (size_t w = 0; w < count && !hopeful; w++)
            hopeful = !has_played(&task->pair, workers[w]);
        outlook.hopeful += hopeful && !task->pair.disputed;
    }
    return outlook;
}
