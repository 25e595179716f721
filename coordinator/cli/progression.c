/* `kroo progression LINE --against W`: every release of a line against a fixed player, as a series. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/tournament.h"
#include "coordinator/specification.h"
#include "proto/artifact.h"

enum { OPTION_AGAINST = 0x3000 };

struct request {
    struct args_common common;
    struct tournament_options options;
    struct tournament tournament; /* its player 0 is the fixed one */
    const char *line, *against;
};

static const struct argp_option own_options[] = {
    {"against", OPTION_AGAINST, "W", 0, "The fixed player: [NAME=]WEIGHTS[,key=value]... (default starting)",
     1},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->options;
        state->child_inputs[1] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        if (!*text || strlen(text) >= STORE_NAME)
            argp_error(state, "a line has 1 to %d letters", STORE_NAME - 1);
        request->line = text;
        return 0;
    case OPTION_AGAINST:
        request->against = text;
        return 0;
    case ARGP_KEY_END:
        if (!request->line)
            argp_error(state, "of which line? kroo progression LINE --against W");
        if (!request->options.launch.has_pairs)
            argp_error(state, "how long? give --pairs N: so many for each release");
        if (request->options.key)
            tournament_check_name(state, "--key", request->options.key);
        tournament_add_player(state, &request->tournament, request->against ? request->against : "starting");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The series must be found again when a release has been added: without --seed it is 1, and the name follows
 * from line, fixed player and options. */
static int fill(struct request *request)
{
    struct tournament *tournament = &request->tournament;
    struct tournament_options *options = &request->options;
    uint8_t sha256[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX];
    if (options->launch.create.pairs == 0 || options->launch.create.pairs > SPECIFICATION_PAIRS_MAX)
        return args_refuse("a match has 1 to %llu pairs", (unsigned long long)SPECIFICATION_PAIRS_MAX);
    if (!options->launch.has_seed)
        json_array_append_new(options->words, json_string("--seed=1"));
    json_object_set(tournament->specification, "match", options->words);
    json_object_set_new(tournament->specification, "pairs",
                        json_integer((json_int_t)options->launch.create.pairs));
    json_object_set_new(tournament->specification, "line", json_string(request->line));
    int status = tournament_resolve(tournament, options->launch.rules);
    if (status != COMMAND_DONE)
        return status;
    const struct contestant *fixed = &tournament->player[0];
    json_t *all = json_pack("{s:O, s:s, s:O, s:s}", "specification", tournament->specification, "weights",
                            fixed->weights, "settings", fixed->settings, "rules", tournament->rules);
    char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    artifact_hash(text ? text : "", text ? strlen(text) : 0, sha256);
    artifact_hex(sha256, hex);
    free(text);
    json_decref(all);
    if (options->key)
        snprintf(tournament->name, sizeof tournament->name, "%s", options->key);
    else
        snprintf(tournament->name, sizeof tournament->name, "progression-%.10s", hex);
    return COMMAND_DONE;
}

/* The fixed player and what matches share; releases come and go on their own. */
static int compare(const struct tournament *asked, struct tournament *there)
{
    size_t players = there->players;
    there->players = there->players > 0 ? 1 : 0;
    int status = tournament_compare(asked, there, false);
    there->players = players;
    return status;
}

static int open_series(struct request *request)
{
    struct tournament *asked = &request->tournament, there;
    tournament_init(&there, asked->driver, "");
    int status = tournament_insert(asked, NULL, 0);
    if (status == COMMAND_DONE)
        status = tournament_need(&there, asked->name);
    if (status == COMMAND_DONE)
        status = compare(asked, &there);
    if (status != COMMAND_DONE) {
        tournament_done(&there);
        return status;
    }
    tournament_done(asked);
    *asked = there;
    return COMMAND_DONE;
}

/* Every weights that were ever promoted on the line, in order of their first promotion, each as a player and
 * a pairing. */
static int add_releases(struct request *request)
{
    static const char sql[] =
        "select w.number, w.name, encode(w.sha256, 'hex') as sha256 from kroo.promotion p"
        " join kroo.weights w on w.sha256 = p.weights_sha256 where p.line = $1 and w.rules = $2"
        " group by w.number, w.name, w.sha256 order by min(p.id)";
    struct tournament *tournament = &request->tournament;
    struct tournament_pairing pairing = {.pairs = request->options.launch.create.pairs};
    struct store_table table;
    const char *parameters[] = {request->line, tournament->rules};
    int status = driver_ask(tournament->driver, sql, parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    for (size_t i = 0; i < table.rows && status == COMMAND_DONE; i++) {
        struct contestant release = {.settings = json_array()};
        const char *name = store_cell(&table, i, 1);
        snprintf(release.name, sizeof release.name, "%s%s%.40s", store_cell(&table, i, 0), *name ? " " : "",
                 name);
        snprintf(release.weights, sizeof release.weights, "%s", store_cell(&table, i, 2));
        status = tournament_join(tournament, &release, 1);
        json_decref(release.settings);
    }
    store_table_done(&table);
    for (unsigned i = 1; i < tournament->players && status == COMMAND_DONE; i++) {
        pairing.a = i;
        status = tournament_plan(tournament, 1, &pairing, 1);
    }
    return status;
}

/* Before anything is made. */
static int check_line(struct request *request)
{
    static const char sql[] =
        "select 1 from kroo.promotion p join kroo.weights w on w.sha256 = p.weights_sha256"
        " where p.line = $1 and w.rules = $2 limit 1";
    struct store_table table;
    const char *parameters[] = {request->line, request->tournament.rules};
    int status = driver_ask(request->tournament.driver, sql, parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    if (table.rows == 0)
        status = args_refuse("line %s has no release under the rules %s: `kroo weights promote` makes some",
                             request->line, request->tournament.rules);
    store_table_done(&table);
    return status;
}

static int print_series(struct request *request)
{
    static const char people[] =
        "select release, name, against, experiment_id as experiment, state, pairs, round(elo::numeric, 1) as "
        "elo,"
        " format('[%s, %s]', round(elo_lo::numeric, 1), round(elo_hi::numeric, 1)) as interval,"
        " round(100 * los::numeric, 1) as los from kroo.progression where progression = $1 order by release";
    static const char all[] = "select * from kroo.progression where progression = $1 order by release";
    const char *parameters[] = {request->tournament.name};
    return connect_print(request->tournament.driver->store, request->common.json,
                         request->common.json ? all : people, parameters, 1, "no release yet");
}

int progression_command(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&tournament_options_argp, 0, NULL, 50}, {&args_common_argp, 0, NULL, 90}, {0}};
    static const struct argp argp = {
        .options = own_options,
        .parser = parse,
        .args_doc = "LINE",
        .doc = "Let every release of a line (its promoted weights, in their order) meet one fixed player, "
               "and show the "
               "series. Each match is made once: after a further promotion the same command adds the new "
               "release.\v"
               "Examples:\n  kroo progression main --against starting --pairs 500 --wait\n"
               "  kroo progression main --against 1,nodes=4000 --nodes 1000 --pairs 200 --key strong",
        .children = children};
    struct request request = {0};
    struct driver driver = {0};
    char how[96];
    tournament_options_init(&request.options);
    tournament_init(&request.tournament, &driver, "progression");
    parse_line(&argp, argc, argv, &request);
    int status = driver_open(&driver, &request.common, "kroo_coordinator");
    if (status == COMMAND_DONE)
        status = fill(&request);
    if (status == COMMAND_DONE)
        status = check_line(&request);
    if (status == COMMAND_DONE)
        status = driver_lock(&driver, "tournament", request.tournament.name);
    if (status == COMMAND_DONE)
        status = open_series(&request);
    if (status == COMMAND_DONE)
        status = add_releases(&request);
    if (status == COMMAND_DONE)
        status = tournament_make(&request.tournament);
    snprintf(how, sizeof how, "the same command goes on, as does `kroo tournament run %s`",
             request.tournament.name);
    if (status == COMMAND_DONE && request.options.wait)
        status = tournament_follow(&request.tournament, 0, how);
    if (status == COMMAND_DONE || status == DRIVER_PAUSED)
        status = print_series(&request);
    tournament_done(&request.tournament);
    tournament_options_done(&request.options);
    driver_close(&driver);
    return status;
}
