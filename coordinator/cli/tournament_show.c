#include "coordinator/cli/tournament_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"

struct show {
    struct args_common common;
    const char *name;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct show *show = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &show->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        show->name = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which tournament? `kroo tournament ls` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- what the coordinator says of running experiments --- */

/* Appends a reply's worth; *next is where to go on, 0 at the end. */
static int ask_waits(struct coordinator_link *link, json_t *all, uint64_t *next)
{
    struct message request = {.kind = MESSAGE_STATUS_REQUEST, .status_request = {.waits_from = *next}}, reply;
    int status = link_ask(link, &request, MESSAGE_STATUS_REPLY, &reply);
    if (status != COMMAND_DONE)
        return status;
    json_error_t error;
    json_t *state = json_loads(reply.status_reply.json, 0, &error);
    message_done(&reply);
    json_t *waits = json_object_get(state, "waits"), *wait;
    size_t i;
    char key[24];
    *next = 0;
    json_array_foreach(waits, i, wait)
    {
        json_int_t experiment = json_integer_value(json_object_get(wait, "experiment"));
        snprintf(key, sizeof key, "%lld", (long long)experiment);
        json_object_set(all, key, json_object_get(wait, "why"));
        *next = (uint64_t)experiment + 1;
    }
    json_decref(state);
    return waits ? COMMAND_DONE : args_refuse("the coordinator tells of no waits: is it of this release?");
}

/* By experiment number; what is not known stays empty when no coordinator answers, with a remark. */
static json_t *find_waits(const struct args_common *common)
{
    int status;
    uint64_t next = 1;
    json_t *all = json_object();
    struct settings *settings = connect_settings(common, &status);
    struct coordinator_link *link = settings ? link_open(settings, &status) : NULL;
    settings_destroy(settings);
    while (link && next > 0 && ask_waits(link, all, &next) == COMMAND_DONE)
        ;
    if (!link)
        args_warn("no coordinator answers: why running matches wait is not known");
    link_close(link);
    return all;
}

/* --- the table --- */

static const char head_sql[] = "select name, kind, state, state_reason, note, coalesce(priority::text, '') "
                               "as priority from kroo.tournament"
                               " where id = (select id from kroo.tournament where name = $1 or id::text = $1 "
                               "order by (name = $1) desc limit 1)";
static const char matches_sql[] =
    "select p.experiment_id as id, p.round, a.name as a, b.name as b, coalesce(e.state, 'not made') as state,"
    " coalesce(c.counted_pairs, 0) as pairs, p.pairs as planned, e.priority,"
    " case when e.state in ('paused', 'blocked', 'pending') then e.state || ' ' || e.state_reason"
    " when e.id is null then 'no match yet: `kroo tournament run` makes it' end as waits"
    " from kroo.tournament_pairing p join kroo.tournament t on t.id = p.tournament_id"
    " join kroo.tournament_player a on a.tournament_id = t.id and a.number = p.a"
    " join kroo.tournament_player b on b.tournament_id = t.id and b.number = p.b"
    " left join kroo.experiment e on e.id = p.experiment_id"
    " left join kroo.experiment_counted c on c.experiment_id = e.id"
    " where t.name = $1 order by p.round, p.a, p.b";

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *describe(const struct store_table *table, size_t row, const json_t *waits)
{
    const char *id = store_cell(table, row, 0), *why = store_cell(table, row, 8);
    const char *live = json_string_value(json_object_get(waits, id));
    if (strcmp(store_cell(table, row, 4), "running") == 0)
        why = live ? live : "";
    return json_pack("{s:o, s:I, s:s, s:s, s:s, s:I, s:I, s:o}", "experiment",
                     *id ? json_integer((json_int_t)table_number(table, row, 0)) : json_null(), "round",
                     (json_int_t)table_number(table, row, 1), "a", store_cell(table, row, 2), "b",
                     store_cell(table, row, 3), "state", store_cell(table, row, 4), "pairs",
                     (json_int_t)table_number(table, row, 5), "planned",
                     (json_int_t)table_number(table, row, 6), "why", text_or_null(why));
}

static bool is_running(const struct store_table *table)
{
    for (size_t i = 0; i < table->rows; i++)
        if (strcmp(store_cell(table, i, 4), "running") == 0)
            return true;
    return false;
}

static void print_text(const struct store_table *head, const json_t *matches)
{
    const json_t *match;
    size_t i;
    printf("%s %s, %s%s%s%s%s\n", store_cell(head, 0, 1), store_cell(head, 0, 0), store_cell(head, 0, 2),
           *store_cell(head, 0, 3) ? " " : "", store_cell(head, 0, 3),
           *store_cell(head, 0, 5) ? ", priority " : "", store_cell(head, 0, 5));
    if (*store_cell(head, 0, 4))
        printf("%s\n", store_cell(head, 0, 4));
    json_array_foreach(matches, i, match)
    {
        const char *why = json_string_value(json_object_get(match, "why"));
        json_int_t id = json_integer_value(json_object_get(match, "experiment"));
        char number[24] = "-";
        if (id > 0)
            snprintf(number, sizeof number, "%lld", (long long)id);
        printf("%6s  round %lld  %s against %s: %s, %lld of %lld pairs%s%s\n", number,
               (long long)json_integer_value(json_object_get(match, "round")),
               json_string_value(json_object_get(match, "a")), json_string_value(json_object_get(match, "b")),
               json_string_value(json_object_get(match, "state")),
               (long long)json_integer_value(json_object_get(match, "pairs")),
               (long long)json_integer_value(json_object_get(match, "planned")), why ? "; it " : "",
               why ? why : "");
    }
}

static int print(const struct show *show, const struct store_table *head, const struct store_table *table)
{
    json_t *waits = is_running(table) ? find_waits(&show->common) : json_object();
    json_t *matches = json_array();
    for (size_t i = 0; i < table->rows; i++)
        json_array_append_new(matches, describe(table, i, waits));
    json_decref(waits);
    if (!show->common.json) {
        print_text(head, matches);
        json_decref(matches);
        return COMMAND_DONE;
    }
    return table_json_print(json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name", store_cell(head, 0, 0),
                                      "kind", store_cell(head, 0, 1), "state", store_cell(head, 0, 2),
                                      "state_reason", store_cell(head, 0, 3), "note", store_cell(head, 0, 4),
                                      "matches", matches));
}

int tournament_show(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse,
        .args_doc = "NAME|ID",
        .doc = "Show each match of a tournament: its state, its pairs, and why it waits (paused, its cap, no "
               "worker with its tags, something of a higher priority).\v"
               "Examples:\n  kroo tournament show week\n  kroo tournament show week --json",
        .children = args_common_children};
    struct show show = {0};
    struct store_table head, table;
    int status;
    parse_line(&argp, argc, argv, &show);
    struct store *store = connect_reader(&show.common, &status);
    if (!store)
        return status;
    status = connect_query(store, head_sql, &show.name, 1, &head);
    if (status == COMMAND_DONE && head.rows == 0) {
        store_table_done(&head);
        status = names_refuse(store, NAMES_TOURNAMENTS, show.name);
    } else if (status == COMMAND_DONE) {
        const char *name = store_cell(&head, 0, 0);
        status = connect_query(store, matches_sql, &name, 1, &table);
        if (status == COMMAND_DONE) {
            status = print(&show, &head, &table);
            store_table_done(&table);
        }
        store_table_done(&head);
    }
    store_close(store);
    return status;
}
