/* `kroo ls`, `kroo events`: one query, one table each. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/suggest.h"

enum { OPTION_LIMIT = 0x3000, OPTION_STATE, OPTION_KIND };
enum { LIMIT_MAX = 1000000 };

struct list {
    struct args_common common;
    uint64_t limit;
    const char *state, *kind, *id;
};

static const char *take_state(struct argp_state *state, const char *text)
{
    static const char *const states[] = {"pending", "running", "paused", "blocked", "finished", "stopped"};
    size_t count = sizeof states / sizeof *states;
    for (size_t i = 0; i < count; i++)
        if (strcmp(states[i], text) == 0)
            return text;
    const char *nearest = suggest_nearest(text, states, count);
    argp_error(state,
               "--state is pending, running, paused, blocked, finished or stopped, not \"%.40s\"%s%s%s", text,
               nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return text;
}

static error_t list_parse(int key, char *text, struct argp_state *state)
{
    struct list *list = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &list->common;
        return 0;
    case OPTION_LIMIT:
        list->limit = args_number(state, "--limit", text, 1, LIMIT_MAX);
        return 0;
    case OPTION_STATE:
        list->state = take_state(state, text);
        return 0;
    case OPTION_KIND:
        list->kind = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run_list(const struct list *list, const char *sql, const char *const *parameters, size_t count,
                    const char *empty)
{
    int status;
    struct store *store = connect_reader(&list->common, &status);
    if (!store)
        return status;
    status = connect_print(store, list->common.json, sql, parameters, count, empty);
    store_close(store);
    return status;
}

int ls_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"limit", OPTION_LIMIT, "N", 0, "The newest N (default 50)", 1},
        {"state", OPTION_STATE, "STATE", 0,
         "Only pending, running, paused, blocked, finished or stopped ones", 1},
        {"kind", OPTION_KIND, "KIND", 0, "Only selfplay, match or tune", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = list_parse,
        .doc =
            "List the experiments, newest last. Wins, draws and losses are games of the counted pairs, from "
            "player A's view; time left comes from the measured speed, `about` where a sequential test may "
            "end "
            "sooner or later than its difference seen so far lets expect.\v"
            "Examples:\n  kroo ls\n  kroo ls --state running --json",
        .children = args_common_children};
    static const char sql[] =
        "select * from (select p.id, p.kind, case when p.kind <> 'match' and p.verdict = 'undecided' then "
        "p.state else "
        "coalesce(p.verdict, p.state) end as state,"
        " concat_ws(' ', '#' || weights_a, nullif(weights_a_name, ''), 'by ' || engine_a, 'with ' || "
        "tables_a) as a,"
        " concat_ws(' ', '#' || weights_b, nullif(weights_b_name, ''), 'by ' || engine_b, 'with ' || "
        "tables_b) as b,"
        " p.rules,"
        " coalesce(p.counted_pairs, p.prefix_pairs) as pairs, p.planned_pairs as planned,"
        " case when p.kind = 'match' then p.wins end as won, case when p.kind = 'match' then p.draws end as "
        "drawn,"
        " case when p.kind = 'match' then p.losses end as lost,"
        " case when p.sprt_model is not null then round(p.llr::numeric, 3) end as llr,"
        " case when p.state <> 'running' then null when r.seconds_left is null or r.seconds_left > 3e8 then "
        "'unknown'"
        " else concat(case when r.is_expected then 'about ' end, justify_interval(make_interval(secs =>"
        " round(r.seconds_left)))) end as time_left,"
        " to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as created, p.note"
        " from kroo.experiment_progress p left join kroo.experiment_rate r on r.experiment_id = p.id"
        " where ($2::text is null or p.state = $2) and ($3::text is null or p.kind = $3)"
        " order by p.id desc limit $1::bigint) newest order by id";
    struct list list = {.limit = 50};
    parse_line(&argp, argc, argv, &list);
    char limit[24];
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)list.limit);
    const char *parameters[] = {limit, list.state, list.kind};
    return run_list(&list, sql, parameters, 3, "no experiments: `kroo selfplay --pairs 100` makes one");
}

static error_t events_parse(int key, char *text, struct argp_state *state)
{
    struct list *list = state->input;
    if (key != ARGP_KEY_ARG)
        return list_parse(key, text, state);
    if (state->arg_num > 0)
        return ARGP_ERR_UNKNOWN;
    args_id(state, text);
    list->id = text;
    return 0;
}

int events_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"limit", OPTION_LIMIT, "N", 0, "The newest N (default 50)", 1},
        {"kind", OPTION_KIND, "KIND", 0, "Only this kind of event", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = events_parse,
        .args_doc = "[ID]",
        .doc = "The event log, newest last; with ID, the events of one experiment.\v"
               "Examples:\n  kroo events\n  kroo events 12 --limit 500 --json",
        .children = args_common_children};
    static const char sql[] =
        "select * from (select e.id, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as at, e.kind,"
        " e.experiment_id as experiment, e.session_id as session, e.text from kroo.event e"
        " where ($2::bigint is null or e.experiment_id = $2) and ($3::text is null or e.kind = $3)"
        " order by e.id desc limit $1::bigint) newest order by id";
    struct list list = {.limit = 50};
    parse_line(&argp, argc, argv, &list);
    char limit[24];
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)list.limit);
    const char *parameters[] = {limit, list.id, list.kind};
    return run_list(&list, sql, parameters, 3, "no events");
}
