/* `kroo workers` and `kroo why`: who plays, who does not, and why. What has been is in the database; what is
 * at this moment, the coordinator tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/set_aside.h"
#include "coordinator/cli/table.h"

enum { OPTION_LIMIT = 0x3000, OPTION_ALL };
enum { LIMIT_MAX = 1000000 };

struct workers {
    struct args_common common;
    uint64_t limit;
    bool all;
    const char *worker;
};

/* One reply's worth of workers, appended to `all`; COMMAND_DONE, or what went wrong. */
static int ask_workers(struct coordinator_link *link, const char *worker, json_t *all)
{
    struct message request = {.kind = MESSAGE_STATUS_REQUEST, .status_request = {.worker = ""}}, reply;
    snprintf(request.status_request.worker, sizeof request.status_request.worker, "%s", worker);
    request.status_request.skip = (uint32_t)json_array_size(all);
    int status = link_ask(link, &request, MESSAGE_STATUS_REPLY, &reply);
    if (status != COMMAND_DONE)
        return status;
    json_error_t error;
    json_t *state = json_loads(reply.status_reply.json, 0, &error);
    message_done(&reply);
    json_t *workers = json_object_get(state, "workers");
    if (!workers)
        status = args_refuse("the coordinator's answer tells of no workers: is it of this release?");
    else
        json_array_extend(all, workers);
    json_decref(state);
    return status;
}

/* All workers, or those asked for, as the coordinator sees them now; NULL after saying why they are not
 * known. */
static json_t *live_workers(const struct settings *settings, const char *worker, int *status)
{
    struct coordinator_link *link = link_open(settings, status);
    json_t *all = link ? json_array() : NULL;
    size_t before;
    do {
        before = json_array_size(all);
        *status = link ? ask_workers(link, worker, all) : *status;
    } while (*status == COMMAND_DONE && json_array_size(all) > before);
    link_close(link);
    if (*status == COMMAND_DONE)
        return all;
    json_decref(all);
    return NULL;
}

static const char workers_sql[] =
    "select * from (select s.id as session, s.name, coalesce(s.peer_name, s.peer) as peer,"
    " case when s.ended_at is not null then 'ended' else coalesce(l.state, case when $4::boolean then 'gone' "
    "else"
    " 'unknown' end) end as state, s.slots,"
    " nullif(round(l.games_per_minute::numeric, 1), 0) as \"games/min\","
    " nullif(round(l.nodes_per_second::numeric), 0) as \"nodes/s\", nullif(l.bench, 0) as bench,"
    " l.measured_s, case when l.bench > 0 then case when l.unfit = '' then 'fit' else 'unfit' end end as "
    "timed,"
    " (select string_agg(x, ',') from jsonb_array_elements_text(l.plays) x) as plays,"
    " s.open_leases, s.done_leases, s.lost_leases, s.done_pairs,"
    " (select count(*) from kroo.fault f where f.session_id = s.id) as faults,"
    " to_char(s.started_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as started,"
    " to_char(s.ended_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as ended, s.engine_build as engine,"
    " r.tags, l.why"
    " from kroo.worker_session s join kroo.session r on r.id = s.id"
    " left join jsonb_to_recordset($3::jsonb) as l (session bigint, state text, why text, plays jsonb,"
    " games_per_minute float8, nodes_per_second float8, bench bigint, measured_s bigint, unfit text) on "
    "l.session = s.id"
    " where s.slots > 0 and ($2::boolean or s.ended_at is null)"
    " order by s.started_at desc, s.id limit $1::bigint) newest order by started, session";

static error_t workers_parse(int key, char *text, struct argp_state *state)
{
    struct workers *workers = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &workers->common;
        return 0;
    case OPTION_LIMIT:
        workers->limit = args_number(state, "--limit", text, 1, LIMIT_MAX);
        return 0;
    case OPTION_ALL:
        workers->all = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int list_workers(const struct workers *workers, const struct settings *settings)
{
    int status, live_status;
    char limit[24];
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)workers->limit);
    struct store *store = connect_store(settings, "kroo_reader");
    if (!store)
        return COMMAND_NO_CONNECTION;
    json_t *live = live_workers(settings, "", &live_status);
    if (!live)
        args_warn("without the coordinator their state at this moment is not known");
    char *text = live ? json_dumps(live, JSON_COMPACT) : NULL;
    const char *parameters[] = {limit, workers->all ? "true" : "false", text ? text : "[]",
                                text ? "true" : "false"};
    status = connect_print(store, workers->common.json, workers_sql, parameters, 4, "no worker is connected");
    free(text);
    json_decref(live);
    store_close(store);
    return status;
}

int workers_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"all", OPTION_ALL, NULL, 0, "Also sessions that have ended", 1},
        {"limit", OPTION_LIMIT, "N", 0, "At most N sessions, the newest (default 1000)", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = workers_parse,
        .doc = "The workers' sessions: who they are, what they do (playing, "
               "waiting, idle, set aside, gone), how fast "
               "they are lately, what their bench gave, how many seconds ago it was made and whether it "
               "makes them fit "
               "for timed play, which experiments they play, what they hold "
               "and have finished, faults of players' "
               "programs they told of, what they have (tags).\v"
               "`kroo why WORKER` explains one in a sentence; `kroo workers set-aside "
               "NAME --reason TEXT` takes one out of play, `kroo workers restore NAME` "
               "lets it in again, `kroo workers flags` lists those.\n\n"
               "Examples:\n  kroo workers\n  kroo workers --all --json",
        .children = args_common_children};
    struct workers workers = {.limit = 1000};
    int status;
    if (set_aside_command(argc, argv, &status))
        return status;
    parse_line(&argp, argc, argv, &workers);
    struct settings *settings = connect_settings(&workers.common, &status);
    if (!settings)
        return status;
    status = list_workers(&workers, settings);
    settings_destroy(settings);
    return status;
}

/* --- why --- */

static const char ended_sql[] =
    "select id, name, to_char(started_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as started,"
    " to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as ended, lost_leases"
    " from kroo.worker_session where slots > 0 and (name = $1 or id::text = $1) order by started_at desc "
    "limit 1";

static int print_why(const struct workers *workers, const json_t *found)
{
    size_t index;
    json_t *worker;
    if (workers->common.json)
        return table_json_print(json_deep_copy(found));
    json_array_foreach((json_t *)found, index, worker) printf(
        "%s (session %lld, %lld play threads): %s\n", json_string_value(json_object_get(worker, "name")),
        (long long)json_integer_value(json_object_get(worker, "session")),
        (long long)json_integer_value(json_object_get(worker, "slots")),
        json_string_value(json_object_get(worker, "why")));
    return COMMAND_DONE;
}

/* The coordinator does not know it: it has been, or never was. */
static int print_ended(const struct workers *workers, const struct settings *settings)
{
    struct store_table row;
    struct store *store = connect_store(settings, "kroo_reader");
    if (!store)
        return COMMAND_NO_CONNECTION;
    int status = connect_query(store, ended_sql, &workers->worker, 1, &row);
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    if (row.rows == 0) {
        status = args_refuse("there is no worker \"%.63s\": `kroo workers --all` lists all that ever were",
                             workers->worker);
    } else if (workers->common.json) {
        json_t *gone = table_json_row(&row, 0);
        json_object_set_new(gone, "state", json_string("gone"));
        status = table_json_print(json_pack("[o]", gone));
    } else {
        printf("%s (session %s): it is gone: %s%s\n", table_named(&row, 0, "name"),
               table_named(&row, 0, "id"),
               *table_named(&row, 0, "ended") ? "its session ended at "
                                              : "the coordinator does not know it (any more)",
               table_named(&row, 0, "ended"));
    }
    store_table_done(&row);
    return status;
}

static error_t why_parse(int key, char *text, struct argp_state *state)
{
    struct workers *workers = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &workers->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0 || strlen(text) >= MESSAGE_NAME_MAX || *text == '\0')
            argp_error(state, "one worker, by its name or its session's number");
        workers->worker = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which worker? `kroo workers` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int why_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = why_parse,
        .args_doc = "WORKER",
        .doc = "What a worker does at this moment, or why it does nothing, in a sentence: no work, tags it "
               "has not, a "
               "cap that is reached, results that wait to be taken, another engine build, a database that is "
               "away. "
               "WORKER is its name or its session's number. Exit status 1 when there is none, 3 when no "
               "coordinator "
               "answers.\v"
               "Examples:\n  kroo why node8\n  kroo why node8 --json | jq '.[].why'",
        .children = args_common_children};
    struct workers workers = {0};
    parse_line(&argp, argc, argv, &workers);
    int status;
    struct settings *settings = connect_settings(&workers.common, &status);
    if (!settings)
        return status;
    json_t *found = live_workers(settings, workers.worker, &status);
    if (found && json_array_size(found) > 0)
        status = print_why(&workers, found);
    else if (found)
        status = print_ended(&workers, settings);
    json_decref(found);
    settings_destroy(settings);
    return status;
}
