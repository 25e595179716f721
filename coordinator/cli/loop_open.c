/* A loop's row: made once, found again, its specification compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/launch.h"
#include "coordinator/cli/loop.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/terms_options.h"
#include "coordinator/specification.h"
#include "engine/rules.h"
#include "proto/artifact.h"

enum { DEFAULT_GENERATIONS = 4 };

json_t *loop_defaults(void)
{
    return json_pack("{s:i, s:i, s:i, s:f, s:i, s:s, s:f, s:i, s:f, s:f, s:i, s:i, s:i}", "pairs", 2000,
                     "nodes", 1000, "opening_plies", 8, "noise", 2.0, "window", 3, "kind", "table", "lambda",
                     0.4, "gate_nodes", 1000, "elo0", 0.0, "elo1", 10.0, "max_pairs", 4000, "first_pairs",
                     200, "seed", 1);
}

static int fill_rules(struct loop *loop)
{
    struct rules rules;
    char reason[SPECIFICATION_REASON_MAX];
    if (rules_parse(loop->request->rules ? loop->request->rules : "site", &rules, reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    snprintf(loop->rules, sizeof loop->rules, "%s", rules.name);
    return COMMAND_DONE;
}

/* Who plays first: the line's champion, else the starting weights. */
static int fill_first(struct loop *loop)
{
    uint8_t sha256[STORE_HASH];
    uint64_t epoch = 0;
    char champion[LOOP_HEX] = "starting";
    enum store_error error = store_champion(loop->driver.store, loop->line, sha256, &epoch);
    if (error == STORE_OK)
        artifact_hex(sha256, champion);
    else if (error != STORE_ERROR_REFUSED)
        return connect_failed(loop->driver.store, error);
    int status = launch_find_weights(loop->driver.store, champion, loop->rules, sha256);
    if (status == COMMAND_DONE)
        artifact_hex(sha256, loop->first);
    return status;
}

/* A book that the gates could not use is refused before anything is made. */
static int check_book(const struct loop *loop)
{
    const char *book = json_string_value(json_object_get(loop->request->given, "book"));
    struct message_create_experiment create = {0};
    uint32_t openings;
    snprintf(create.spec.rules, sizeof create.spec.rules, "%s", loop->rules);
    return book ? terms_find_book(loop->driver.store, book, &create, &openings) : COMMAND_DONE;
}

static const char find_sql[] =
    "select id, line, rules, state, planned_generations, encode(first_sha256, 'hex') as first,"
    " specification::text as specification from kroo.learning_loop where name = $1";

static int find(struct loop *loop, bool *found)
{
    struct store_table table;
    const char *parameters[] = {loop->name};
    int status = connect_query(loop->driver.store, find_sql, parameters, 1, &table);
    *found = status == COMMAND_DONE && table.rows == 1;
    if (*found) {
        loop->id = table_number(&table, 0, 0);
        loop->planned = table_number(&table, 0, 4);
        snprintf(loop->line, sizeof loop->line, "%s", table_named(&table, 0, "line"));
        snprintf(loop->rules, sizeof loop->rules, "%s", table_named(&table, 0, "rules"));
        snprintf(loop->state, sizeof loop->state, "%s", table_named(&table, 0, "state"));
        snprintf(loop->first, sizeof loop->first, "%s", table_named(&table, 0, "first"));
        loop->specification = json_loads(table_named(&table, 0, "specification"), 0, NULL);
        if (!loop->specification)
            status = args_refuse("loop %s: its specification cannot be read", loop->name);
    }
    if (status == COMMAND_DONE)
        store_table_done(&table);
    return status;
}

static int create(struct loop *loop)
{
    static const char sql[] =
        "insert into kroo.learning_loop (name, line, rules, specification, first_sha256, planned_generations,"
        " created_by) values ($1, $2, $3, $4::jsonb, decode($5, 'hex'), $6::integer, left($7, 63))"
        " on conflict (name) do nothing";
    const struct loop_request *request = loop->request;
    snprintf(loop->line, sizeof loop->line, "%s", request->line ? request->line : STORE_LINE);
    int status = fill_rules(loop);
    if (status == COMMAND_DONE)
        status = check_book(loop);
    if (status == COMMAND_DONE)
        status = fill_first(loop);
    if (status != COMMAND_DONE)
        return status;
    json_t *specification = loop_defaults();
    /* The gate plays as self-play does, unless it is told otherwise. */
    if (json_object_get(request->given, "nodes"))
        json_object_set(specification, "gate_nodes", json_object_get(request->given, "nodes"));
    json_object_update(specification, request->given);
    char *text = json_dumps(specification, JSON_SORT_KEYS | JSON_REAL_PRECISION(15)), planned[24];
    json_decref(specification);
    snprintf(planned, sizeof planned, "%llu",
             (unsigned long long)(request->has_generations ? request->generations : DEFAULT_GENERATIONS));
    const char *parameters[] = {loop->name,  loop->line, loop->rules,     text,
                                loop->first, planned,    connect_caller()};
    struct store_table table;
    status =
        text ? connect_query(loop->driver.store, sql, parameters, 7, &table) : args_refuse("out of memory");
    if (status == COMMAND_DONE)
        store_table_done(&table);
    free(text);
    return status;
}

/* What was given must be what is there. */
static int compare(const struct loop *loop)
{
    const struct loop_request *request = loop->request;
    const char *key;
    json_t *value;
    struct rules rules;
    char reason[SPECIFICATION_REASON_MAX];
    if (request->line && strcmp(request->line, loop->line) != 0)
        return args_refuse("loop %s is of the line %s: another line is another loop", loop->name, loop->line);
    if (request->rules && (rules_parse(request->rules, &rules, reason, sizeof reason) != 0 ||
                           strcmp(rules.name, loop->rules) != 0))
        return args_refuse("loop %s plays %s: other rules are another loop", loop->name, loop->rules);
    json_object_foreach(request->given, key, value)
    {
        json_t *there = json_object_get(loop->specification, key);
        bool equal = json_is_number(value) && json_is_number(there)
                         ? json_number_value(value) == json_number_value(there)
                         : json_equal(value, there);
        char *text = equal ? NULL : json_dumps(there, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        if (!equal) {
            int status =
                args_refuse("loop %s has %s = %s; what a loop does is never changed: leave the option "
                            "out to go on with it, or give another name",
                            loop->name, key, text ? text : "nothing");
            free(text);
            return status;
        }
    }
    return COMMAND_DONE;
}

int loop_open(struct loop *loop)
{
    bool found = false;
    int status;
    snprintf(loop->name, sizeof loop->name, "%s", loop->request->name);
    status = driver_open(&loop->driver, &loop->request->common, "kroo_trainer");
    if (status != COMMAND_DONE)
        return status;
    status = find(loop, &found);
    if (status == COMMAND_DONE && !found) {
        status = create(loop);
        if (status == COMMAND_DONE)
            status = find(loop, &found);
    }
    uint8_t sha256[STORE_HASH];
    if (status == COMMAND_DONE)
        status = launch_find_weights(loop->driver.store, "starting", loop->rules, sha256);
    if (status == COMMAND_DONE)
        artifact_hex(sha256, loop->starting);
    return status == COMMAND_DONE ? compare(loop) : status;
}

void loop_done(struct loop *loop)
{
    json_decref(loop->specification);
    driver_close(&loop->driver);
}
