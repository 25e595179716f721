#include "coordinator/cli/glance.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/condition.h"
#include "proto/progress.h"
#include "sql/store.h"

/* One statement, one snapshot, bounded lists. */
static const char glance_sql[] =
    "select jsonb_build_object("
    "'games', (select coalesce(sum(games_stored), 0) from kroo.experiment_counter),"
    "'states', (select coalesce(jsonb_object_agg(state, n), '{}') from (select state, count(*) as n from"
    " kroo.experiment group by state) s),"
    "'open', (select coalesce(jsonb_agg(to_jsonb(o) order by o.id), '[]') from (select p.id, p.kind, p.state,"
    " p.state_reason as reason, case when p.kind = 'match' then coalesce(nullif(p.weights_a_name, ''), '#' ||"
    " p.weights_a) || coalesce(' by ' || p.engine_a, '') || ' v ' || coalesce(nullif(p.weights_b_name, ''),"
    " '#' || p.weights_b) || coalesce(' by ' || p.engine_b, '') else coalesce(nullif(p.weights_a_name, ''),"
    " '#' || p.weights_a) || coalesce(' by ' || p.engine_a, '') end as players, p.prefix_pairs as pairs,"
    " p.planned_pairs as planned, p.wins, p.draws, p.losses, p.sprt_model is not null as has_sprt,"
    " round(p.llr::numeric, 2) as llr, round(ln(p.beta / (1 - p.alpha))::numeric, 2) as lower,"
    " round(ln((1 - p.beta) / p.alpha)::numeric, 2) as upper, p.open_leases as leases, p.open_disputes as"
    " disputes, p.priority, p.note, r.pairs_per_minute, r.seconds_left, r.is_expected"
    " from kroo.experiment_progress p left join kroo.experiment_rate r on r.experiment_id = p.id"
    " where p.state in ('running', 'paused', 'blocked', 'pending') order by p.priority desc, p.id limit 20) "
    "o),"
    "'verdicts', (select coalesce(jsonb_agg(to_jsonb(v) order by v.id desc), '[]') from (select"
    " v.experiment_id as id, v.kind, v.verdict, v.counted_pairs - v.repeated_pairs as pairs,"
    " round(v.elo::numeric, 1) as elo, round(v.elo_lo::numeric, 1) as elo_lo, round(v.elo_hi::numeric, 1) as"
    " elo_hi, round(v.llr::numeric, 2) as llr, case when v.kind = 'match' then coalesce(nullif(wa.name, ''),"
    " '#' || wa.number) || ' v ' || coalesce(nullif(wb.name, ''), '#' || wb.number) else"
    " coalesce(nullif(wa.name, ''), '#' || wa.number) end as players, wa.number as weights,"
    " coalesce(nullif(wa.name, ''), wa.number::text) as name,"
    " exists (select from kroo.promotion p where p.weights_sha256 = wa.sha256) as is_promoted,"
    " to_char(v.written_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as at from kroo.experiment_verdict v "
    "join"
    " kroo.experiment e on e.id = v.experiment_id join kroo.player a on a.id = e.player_a join kroo.weights "
    "wa"
    " on wa.sha256 = a.weights_sha256 join kroo.player b on b.id = e.player_b join kroo.weights wb on"
    " wb.sha256 = b.weights_sha256 order by v.written_at desc limit 5) v),"
    "'champions', (select coalesce(jsonb_agg(to_jsonb(c) order by c.line), '[]') from (select line, weights,"
    " name, experiment_id as experiment, to_char(promoted_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as "
    "since"
    " from kroo.champion order by line limit 20) c),"
    "'sessions', (select count(*) from kroo.session where slots > 0 and ended_at is null),"
    "'loops', (select coalesce(jsonb_agg(jsonb_build_object('name', name, 'state', state) order by id), '[]')"
    " from (select id, name, state from kroo.learning_loop where state in ('running', 'stopping') order by id"
    " limit 20) l),"
    "'events', (select coalesce(jsonb_agg(to_jsonb(e) order by e.id), '[]') from (select id, to_char(at at "
    "time"
    " zone 'UTC', 'HH24:MI:SS') as at, kind, experiment_id as experiment, text from kroo.event where "
    "$1::bigint = 0 or experiment_id = $1 order by id desc limit 12) e))::text";

struct side {
    struct glance_source *source;
    struct glance_side now;
    int64_t told_ms;
    bool answered;
};

struct glance_source {
    pthread_mutex_t mutex;
    pthread_cond_t changed, stopped;
    const struct settings *settings;
    uint64_t experiment;
    int every_ms, patience_ms;
    bool stopping, has_record;
    struct record record;
    struct side database, coordinator;
};

/* Never freed: a thread that waits for an answer still looks at it when the program ends. */
static struct glance_source only = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Takes `told` (NULL: it is away, for `reason`), then waits for the next look; false when there is none. */
static bool tell(struct side *side, json_t *told, const char *reason)
{
    struct glance_source *source = side->source;
    pthread_mutex_lock(&source->mutex);
    if (told) {
        json_decref(side->now.told);
        side->now.told = told;
        side->told_ms = progress_now_ms();
    }
    side->now.is_up = told != NULL;
    snprintf(side->now.reason, sizeof side->now.reason, "%s", told ? "" : reason);
    side->answered = true;
    pthread_cond_broadcast(&source->changed);
    struct timespec until = condition_until(source->every_ms);
    while (!source->stopping && pthread_cond_timedwait(&source->stopped, &source->mutex, &until) == 0)
        ;
    bool goes_on = !source->stopping;
    pthread_mutex_unlock(&source->mutex);
    return goes_on;
}

static struct store *open_store(const struct settings *settings, char reason[GLANCE_REASON])
{
    const char *conninfo = settings_get(settings, "database", NULL);
    if (!conninfo) {
        snprintf(reason, GLANCE_REASON, "no database is set");
        return NULL;
    }
    struct store *store = store_open(conninfo, "kroo_reader", "kroo", reason, GLANCE_REASON);
    if (store && store_check_schema(store) != STORE_OK) {
        snprintf(reason, GLANCE_REASON, "%s", store_reason(store));
        store_close(store);
        store = NULL;
    }
    return store;
}

/* NULL, with the reason, when the database does not answer. */
static json_t *ask_database(struct glance_source *source, struct store *store, char reason[GLANCE_REASON])
{
    char experiment[24];
    const char *parameters[] = {experiment};
    struct store_table table;
    struct record record;
    snprintf(experiment, sizeof experiment, "%llu", (unsigned long long)source->experiment);
    enum store_error error = store_query(store, glance_sql, parameters, 1, &table);
    if (error != STORE_OK) {
        snprintf(reason, GLANCE_REASON, "%s", store_reason(store));
        return NULL;
    }
    json_t *told = json_loads(store_cell(&table, 0, 0), 0, NULL);
    store_table_done(&table);
    if (source->experiment > 0 && record_load(store, source->experiment, &record) == STORE_OK) {
        pthread_mutex_lock(&source->mutex);
        source->record = record;
        source->has_record = true;
        pthread_mutex_unlock(&source->mutex);
    }
    return told;
}

static void *look_at_database(void *context)
{
    struct side *side = context;
    struct store *store = NULL;
    json_t *told;
    char reason[GLANCE_REASON] = "";
    do {
        if (!store)
            store = open_store(side->source->settings, reason);
        told = store ? ask_database(side->source, store, reason) : NULL;
        if (!told) {
            store_close(store);
            store = NULL;
        }
    } while (tell(side, told, reason));
    store_close(store);
    return NULL;
}

static void *look_at_coordinator(void *context)
{
    struct side *side = context;
    struct glance_source *source = side->source;
    struct coordinator_link *link = NULL;
    json_t *told;
    char reason[GLANCE_REASON];
    args_capture(reason, sizeof reason);
    do {
        struct message request = {.kind = MESSAGE_STATUS_REQUEST}, reply;
        int status = COMMAND_DONE;
        told = NULL;
        reason[0] = '\0';
        if (!link)
            link = link_open_within(source->settings, source->patience_ms, &status);
        if (link && link_ask(link, &request, MESSAGE_STATUS_REPLY, &reply) == COMMAND_DONE) {
            told = json_loads(reply.status_reply.json, 0, NULL);
            message_done(&reply);
        } else if (link) {
            link_close(link);
            link = NULL;
        }
    } while (tell(side, told, reason));
    link_close(link);
    return NULL;
}

static int start(struct side *side, struct glance_source *source, void *(*look)(void *))
{
    pthread_t thread;
    side->source = source;
    if (pthread_create(&thread, NULL, look, side) != 0)
        return -1;
    pthread_detach(thread);
    return 0;
}

struct glance_source *glance_start(const struct settings *settings, uint64_t experiment, int every_ms,
                                   int patience_ms)
{
    condition_init(&only.changed);
    condition_init(&only.stopped);
    only.settings = settings;
    only.experiment = experiment;
    only.every_ms = every_ms;
    only.patience_ms = patience_ms;
    if (start(&only.database, &only, look_at_database) != 0 ||
        start(&only.coordinator, &only, look_at_coordinator) != 0) {
        args_refuse("no thread can be started");
        return NULL;
    }
    return &only;
}

static void copy(const struct side *side, struct glance_side *out)
{
    *out = side->now;
    out->told = json_incref(side->now.told);
    out->age_s = side->now.told ? (double)(progress_now_ms() - side->told_ms) / 1000 : 0;
}

void glance_read(struct glance_source *source, int wait_ms, struct glance *out)
{
    struct timespec until = condition_until(wait_ms);
    pthread_mutex_lock(&source->mutex);
    while ((!source->database.answered || !source->coordinator.answered) &&
           pthread_cond_timedwait(&source->changed, &source->mutex, &until) == 0)
        ;
    copy(&source->database, &out->database);
    copy(&source->coordinator, &out->coordinator);
    out->has_record = source->has_record;
    out->record = source->record;
    pthread_mutex_unlock(&source->mutex);
}

void glance_done(struct glance *glance)
{
    pthread_mutex_lock(&only.mutex); /* the threads count references, too */
    json_decref(glance->database.told);
    json_decref(glance->coordinator.told);
    pthread_mutex_unlock(&only.mutex);
    *glance = (struct glance){0};
}

void glance_stop(struct glance_source *source)
{
    pthread_mutex_lock(&source->mutex);
    source->stopping = true;
    pthread_cond_broadcast(&source->stopped);
    pthread_mutex_unlock(&source->mutex);
}
