#include "coordinator/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/tags.h"

enum {
    RETRY_DRAINING_MS = 10000,
    RETRY_NO_WORK_MS = 2000,
    RETRY_WAIT_MS = 1000,
    RETRY_BATCH_MS = 100, /* a tune's next batch comes with the results of the one before */
    RETRY_CREDIT_MS = 250,
    RETRY_MIN_MS = 50
};

/* What keeps a session from an experiment. */
enum hindrance { HINDRANCE_NONE, HINDRANCE_OUT, HINDRANCE_CAP, HINDRANCE_TAGS, HINDRANCE_TIMED, HINDRANCES };

struct entry {
    uint64_t experiment;
    double charged; /* core milliseconds */
    double share;
    int32_t priority;
    bool timed;
    char *tags; /* owned; NULL: none */
    /* of the pick under way */
    double level; /* what it has had and what is out for it, by share; the least goes first */
    bool counts;  /* it has pairs and cores for somebody */
    enum hindrance hindrance;
    bool joins; /* it starts level with the least served, the next time that levels are known */
};

struct schedule {
    struct entry *entries; /* owned */
    size_t count, capacity;
};

struct schedule *schedule_create(void)
{
    return calloc(1, sizeof(struct schedule));
}

void schedule_destroy(struct schedule *schedule)
{
    if (!schedule)
        return;
    for (size_t i = 0; i < schedule->count; i++)
        free(schedule->entries[i].tags);
    free(schedule->entries);
    free(schedule);
}

static struct entry *entry_find(const struct schedule *schedule, uint64_t experiment)
{
    for (size_t i = 0; i < schedule->count; i++)
        if (schedule->entries[i].experiment == experiment)
            return &schedule->entries[i];
    return NULL;
}

int schedule_add(struct schedule *schedule, uint64_t experiment, int32_t priority)
{
    if (entry_find(schedule, experiment) || schedule->count == SCHEDULE_EXPERIMENTS_MAX)
        return -1;
    if (schedule->count == schedule->capacity) {
        size_t capacity = schedule->capacity ? 2 * schedule->capacity : 16;
        struct entry *entries = realloc(schedule->entries, capacity * sizeof *entries);
        if (!entries)
            return -1;
        schedule->entries = entries;
        schedule->capacity = capacity;
    }
    schedule->entries[schedule->count++] = (struct entry){
        .experiment = experiment, .share = SCHEDULE_SHARE, .priority = priority, .joins = true};
    return 0;
}

bool schedule_remove(struct schedule *schedule, uint64_t experiment)
{
    struct entry *entry = entry_find(schedule, experiment);
    if (!entry)
        return false;
    free(entry->tags);
    *entry = schedule->entries[--schedule->count];
    return true;
}

bool schedule_set_priority(struct schedule *schedule, uint64_t experiment, int32_t priority)
{
    struct entry *entry = entry_find(schedule, experiment);
    if (!entry)
        return false;
    if (entry->priority != priority)
        entry->joins = true;
    entry->priority = priority;
    return true;
}

bool schedule_set_share(struct schedule *schedule, uint64_t experiment, uint32_t share)
{
    struct entry *entry = entry_find(schedule, experiment);
    if (!entry)
        return false;
    double wanted = share > 0 ? share : 1;
    entry->charged *= wanted / entry->share;
    entry->share = wanted;
    return true;
}

bool schedule_set_needs(struct schedule *schedule, uint64_t experiment, const char *tags, bool timed)
{
    struct entry *entry = entry_find(schedule, experiment);
    char *copy = entry && tags[0] ? strdup(tags) : NULL;
    if (!entry || (tags[0] && !copy))
        return false;
    free(entry->tags);
    entry->tags = copy;
    entry->timed = timed;
    return true;
}

void schedule_charge(struct schedule *schedule, uint64_t experiment, double core_ms)
{
    struct entry *entry = entry_find(schedule, experiment);
    if (entry && core_ms > 0)
        entry->charged += core_ms;
}

size_t schedule_count(const struct schedule *schedule)
{
    return schedule->count;
}

/* Higher priority, then less served, then older: a total order, so that a rerun picks alike. */
static bool goes_before(const struct entry *one, const struct entry *other)
{
    if (one->priority != other->priority)
        return one->priority > other->priority;
    if (one->level != other->level)
        return one->level < other->level;
    return one->experiment < other->experiment;
}

/* Of those passed over in a pick: how many, the one that would have come first, and what it lacks. */
struct passed {
    unsigned count[HINDRANCES];
    const struct entry *first[HINDRANCES];
    char tag[TAGS_NAME];
};

static bool tags_fit(const struct entry *entry, const struct schedule_asker *asker, char missing[TAGS_NAME])
{
    return !entry->tags || tags_cover(asker->tags ? asker->tags : "", entry->tags, missing);
}

/* Sets what the pick needs to know of the entry; the core time that is out for it. */
static double look(struct entry *entry, const struct lease_book *book, const struct schedule_asker *asker,
                   char missing[TAGS_NAME])
{
    struct lease_experiment_view view = {0};
    bool there = lease_experiment_look(book, entry->experiment, asker->session, asker->slots, &view);
    double out_ms = (double)view.out * (view.pair_ms > 0 ? view.pair_ms : SCHEDULE_PAIR_MS);
    entry->level = (entry->charged + out_ms) / entry->share;
    entry->counts = view.has_pairs && !view.capped;
    entry->hindrance = !there                             ? HINDRANCE_OUT
                       : !tags_fit(entry, asker, missing) ? HINDRANCE_TAGS
                       : entry->timed && asker->unfit     ? HINDRANCE_TIMED
                       : !view.has_for                    ? HINDRANCE_OUT
                       : view.capped                      ? HINDRANCE_CAP
                                                          : HINDRANCE_NONE;
    return out_ms;
}

/* A newcomer starts level with the least served of its priority. */
static void join(struct schedule *schedule, struct entry *newcomer)
{
    const struct entry *least = NULL;
    for (size_t i = 0; i < schedule->count; i++) {
        const struct entry *entry = &schedule->entries[i];
        if (!entry->joins && entry->priority == newcomer->priority && (!least || entry->level < least->level))
            least = entry;
    }
    newcomer->joins = false;
    if (!least)
        return;
    newcomer->charged += (least->level - newcomer->level) * newcomer->share;
    newcomer->level = least->level;
}

/* Nobody saves up: see the header. */
static void move_along(struct schedule *schedule, const struct entry *best, double out_ms)
{
    for (size_t i = 0; i < schedule->count; i++) {
        struct entry *entry = &schedule->entries[i];
        if (entry->priority != best->priority || entry->level >= best->level)
            continue;
        double lag = entry->counts ? SCHEDULE_LAG * out_ms / entry->share : 0;
        if (best->level - entry->level > lag)
            entry->charged += (best->level - entry->level - lag) * entry->share;
    }
}

static void pass_over(struct passed *passed, const struct entry *entry, const char *missing)
{
    const struct entry **first = &passed->first[entry->hindrance];
    passed->count[entry->hindrance]++;
    if (*first && !goes_before(entry, *first))
        return;
    *first = entry;
    if (entry->hindrance == HINDRANCE_TAGS)
        snprintf(passed->tag, sizeof passed->tag, "%s", missing);
}

static const struct entry *entry_best(struct schedule *schedule, const struct lease_book *book,
                                      const struct schedule_asker *asker, struct passed *passed)
{
    const struct entry *best = NULL;
    double out_ms = 0;
    for (size_t i = 0; i < schedule->count; i++) {
        char missing[TAGS_NAME] = "";
        out_ms += look(&schedule->entries[i], book, asker, missing);
        if (schedule->entries[i].hindrance != HINDRANCE_NONE)
            pass_over(passed, &schedule->entries[i], missing);
    }
    for (size_t i = 0; i < schedule->count; i++) {
        struct entry *entry = &schedule->entries[i];
        if (entry->joins)
            join(schedule, entry);
        if (entry->hindrance == HINDRANCE_NONE && (!best || goes_before(entry, best)))
            best = entry;
    }
    if (best)
        move_along(schedule, best, out_ms);
    return best;
}

/* Of what is leased out to the last pair, the first that this session can help with. */
static const struct entry *entry_twin(const struct schedule *schedule, const struct lease_book *book,
                                      const struct schedule_asker *asker, int64_t now_ms)
{
    const struct entry *best = NULL;
    char missing[TAGS_NAME];
    for (size_t i = 0; i < schedule->count; i++) {
        const struct entry *entry = &schedule->entries[i];
        if ((!best || goes_before(entry, best)) && !(entry->timed && asker->unfit) &&
            tags_fit(entry, asker, missing) &&
            lease_has_twin(book, entry->experiment, asker->session, now_ms))
            best = entry;
    }
    return best;
}

static struct schedule_pick nothing(enum schedule_outcome outcome, const char *because, uint32_t retry_ms)
{
    struct schedule_pick pick = {.outcome = outcome, .retry_ms = retry_ms};
    snprintf(pick.because, sizeof pick.because, "%s", because);
    return pick;
}

/* Work may come back at the next deadline; results may make room sooner. */
static uint32_t retry_all_out(const struct lease_book *book, int64_t now_ms)
{
    int64_t deadline = lease_next_deadline(book);
    uint32_t wait_ms = lease_book_waits(book) ? RETRY_BATCH_MS : RETRY_WAIT_MS;
    if (deadline == INT64_MAX || deadline - now_ms > wait_ms)
        return wait_ms;
    return deadline - now_ms < RETRY_MIN_MS ? RETRY_MIN_MS : (uint32_t)(deadline - now_ms);
}

/* Why none of the running experiments is for this session: what concerns it most is told of the first that it
 * concerns. Tags and fitness last for long, caps and what is out for a moment. */
static struct schedule_pick nothing_for(const struct passed *passed, const struct schedule_asker *asker,
                                        const struct lease_book *book, int64_t now_ms)
{
    char text[SCHEDULE_TEXT];
    unsigned others;
    if (passed->count[HINDRANCE_OUT] > 0)
        return nothing(SCHEDULE_ALL_OUT, "every pair is leased out: waiting for results",
                       retry_all_out(book, now_ms));
    if (passed->count[HINDRANCE_CAP] > 0) {
        snprintf(text, sizeof text,
                 "experiment %llu has all the cores that its cap allows: waiting for one to come free",
                 (unsigned long long)passed->first[HINDRANCE_CAP]->experiment);
        return nothing(SCHEDULE_CAPPED, text, RETRY_WAIT_MS);
    }
    if (passed->count[HINDRANCE_TAGS] > 0) {
        others = passed->count[HINDRANCE_TAGS] + passed->count[HINDRANCE_TIMED] - 1;
        snprintf(
            text, sizeof text,
            "experiment %llu needs the tag %s, which this worker has not (`--tags`); %u others are not for "
            "it either",
            (unsigned long long)passed->first[HINDRANCE_TAGS]->experiment, passed->tag, others);
        return nothing(SCHEDULE_NO_TAGS, text, RETRY_NO_WORK_MS);
    }
    snprintf(text, sizeof text, "experiment %llu has limits of time, and this worker gets no timed play: %s",
             (unsigned long long)passed->first[HINDRANCE_TIMED]->experiment, asker->unfit);
    return nothing(SCHEDULE_UNFIT, text, RETRY_NO_WORK_MS);
}

struct schedule_pick schedule_pick(struct schedule *schedule, const struct lease_book *book,
                                   const struct schedule_asker *asker, bool draining, int64_t now_ms)
{
    struct passed passed = {{0}, {NULL}, ""};
    if (draining)
        return nothing(SCHEDULE_DRAINING, "the coordinator is shutting down", RETRY_DRAINING_MS);
    if (schedule->count == 0)
        return nothing(SCHEDULE_NO_WORK, "no experiment is running", RETRY_NO_WORK_MS);
    if (asker->credit == 0)
        return nothing(SCHEDULE_NO_CREDIT,
                       "this worker holds as many pairs as it takes: waiting for its results",
                       RETRY_CREDIT_MS);
    if (!lease_session_has_room(book, asker->session))
        return nothing(SCHEDULE_TOO_MANY,
                       "this worker holds as many leases as it may: waiting for its results",
                       RETRY_CREDIT_MS);
    const struct entry *best = entry_best(schedule, book, asker, &passed);
    struct schedule_pick pick = {.outcome = SCHEDULE_PICKED};
    if (!best) {
        best = entry_twin(schedule, book, asker, now_ms);
        pick.twin = best != NULL;
    }
    if (best)
        pick.experiment = best->experiment;
    else
        pick = nothing_for(&passed, asker, book, now_ms);
    pick.passed_timed = passed.count[HINDRANCE_TIMED] > 0;
    return pick;
}

/* --- why an experiment waits --- */

static enum schedule_wait_kind wait_kind(enum hindrance hindrance)
{
    static const enum schedule_wait_kind kinds[HINDRANCES] = {
        [HINDRANCE_NONE] = SCHEDULE_WAIT_NONE,   [HINDRANCE_OUT] = SCHEDULE_WAIT_OUT,
        [HINDRANCE_CAP] = SCHEDULE_WAIT_CAP,     [HINDRANCE_TAGS] = SCHEDULE_WAIT_TAGS,
        [HINDRANCE_TIMED] = SCHEDULE_WAIT_UNFIT,
    };
    return kinds[hindrance];
}

/* What one worker can do for each: the least hindrance stands. */
static void ask_for(struct schedule *schedule, const struct lease_book *book,
                    const struct schedule_asker *asker, struct schedule_wait *waits)
{
    const struct entry *highest = NULL;
    char missing[TAGS_NAME];
    for (size_t i = 0; i < schedule->count; i++) {
        struct entry *entry = &schedule->entries[i];
        missing[0] = '\0';
        look(entry, book, asker, missing);
        if (entry->hindrance == HINDRANCE_NONE && (!highest || entry->priority > highest->priority))
            highest = entry;
        if (entry->hindrance == HINDRANCE_TAGS && waits[i].kind >= SCHEDULE_WAIT_TAGS)
            snprintf(waits[i].tag, sizeof waits[i].tag, "%s", missing);
    }
    for (size_t i = 0; i < schedule->count; i++) {
        const struct entry *entry = &schedule->entries[i];
        enum schedule_wait_kind kind = wait_kind(entry->hindrance);
        if (kind == SCHEDULE_WAIT_NONE && highest->priority > entry->priority) {
            kind = SCHEDULE_WAIT_BEHIND;
            waits[i].behind = highest->experiment;
            waits[i].behind_priority = highest->priority;
        }
        if (kind < waits[i].kind)
            waits[i].kind = kind;
    }
}

static int by_experiment(const void *one, const void *other)
{
    const struct schedule_wait *a = one, *b = other;
    return (a->experiment > b->experiment) - (a->experiment < b->experiment);
}

void schedule_waits(struct schedule *schedule, const struct lease_book *book,
                    const struct schedule_asker *askers, size_t asker_count, struct schedule_wait *waits)
{
    for (size_t i = 0; i < schedule->count; i++) {
        const struct entry *entry = &schedule->entries[i];
        struct lease_experiment_view view = {0};
        lease_experiment_look(book, entry->experiment, 0, 1, &view);
        waits[i] = (struct schedule_wait){.experiment = entry->experiment,
                                          .kind = SCHEDULE_WAIT_NOBODY,
                                          .out = view.out,
                                          .priority = entry->priority};
    }
    for (size_t i = 0; i < asker_count; i++)
        ask_for(schedule, book, &askers[i], waits);
    qsort(waits, schedule->count, sizeof *waits, by_experiment);
}

void schedule_wait_text(const struct schedule_wait *wait, char text[SCHEDULE_TEXT])
{
    unsigned long long out = (unsigned long long)wait->out;
    const char *s = wait->out == 1 ? "" : "s";
    switch (wait->kind) {
    case SCHEDULE_WAIT_NONE:
        if (wait->out > 0)
            snprintf(text, SCHEDULE_TEXT, "is played: %llu pair%s out", out, s);
        else
            snprintf(text, SCHEDULE_TEXT, "waits for its turn: a worker that asks may get it");
        break;
    case SCHEDULE_WAIT_BEHIND:
        snprintf(text, SCHEDULE_TEXT, "waits: experiment %llu of priority %d goes before its priority %d",
                 (unsigned long long)wait->behind, (int)wait->behind_priority, (int)wait->priority);
        break;
    case SCHEDULE_WAIT_CAP:
        snprintf(text, SCHEDULE_TEXT, "is played, as far as its cap allows: %llu pair%s out", out, s);
        break;
    case SCHEDULE_WAIT_OUT:
        snprintf(text, SCHEDULE_TEXT, "waits for results: %llu pair%s out, and no more to give out", out, s);
        break;
    case SCHEDULE_WAIT_UNFIT:
        snprintf(text, SCHEDULE_TEXT,
                 "waits: it has limits of time, and no worker is fit for timed play (`kroo why WORKER`)");
        break;
    case SCHEDULE_WAIT_TAGS:
        snprintf(text, SCHEDULE_TEXT, "waits: no worker has the tags it needs; the nearest lacks %s",
                 wait->tag);
        break;
    case SCHEDULE_WAIT_NOBODY:
    case SCHEDULE_WAITS:
        snprintf(text, SCHEDULE_TEXT, "waits: no worker is there");
        break;
    }
}
