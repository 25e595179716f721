/* `kroo pool`: a standing pool of promoted weights and named anchors. */
#include "coordinator/cli/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/ratings.h"
#include "coordinator/cli/table.h"
#include "coordinator/specification.h"

enum { DEFAULT_PAIRS = 20, DEFAULT_BATCH = 4, DEFAULT_LAG = 2, DEFAULT_ROUNDS = 10 };

enum { OPTION_ROUNDS = 0x3000, OPTION_BATCH, OPTION_LAG, OPTION_ANCHOR };

struct request {
    struct args_common common;
    struct tournament_options options;
    struct tournament named; /* the players of the command line */
    struct tournament pool;
    const char *name, *anchor;
    uint64_t rounds, batch, lag; /* 0: not given */
    bool takes_players, takes_options;
};

static const struct argp_option run_options[] = {
    {"rounds", OPTION_ROUNDS, "N", 0, "How many in all (default 10); more later go on", 1},
    {"batch", OPTION_BATCH, "N", 0, "Pairings a round (default 4)", 1},
    {"lag", OPTION_LAG, "N", 0,
     "A round is decided by the results of the rounds up to so many before (default 2)", 1},
    {"anchor", OPTION_ANCHOR, "PLAYER[=ELO]", 0, "This named player has this rating (default 0)", 7},
    {0},
};
static const struct argp_option add_options[] = {
    {"anchor", OPTION_ANCHOR, "PLAYER[=ELO]", 0, "This named player has this rating (default 0)", 7},
    {0},
};
static const struct argp_child run_children[] = {
    {&tournament_options_argp, 0, NULL, 50}, {&args_common_argp, 0, NULL, 90}, {0}};

static void check_end(struct request *request, struct argp_state *state)
{
    if (!request->name)
        argp_error(state, "which pool? give it a name; `kroo pool ls` lists them");
    tournament_check_name(state, "a pool", request->name);
    if (request->anchor)
        tournament_set_anchor(state, &request->named, request->anchor);
    if (request->options.key)
        argp_error(state, "a pool's name is its key; leave --key out");
    if (request->options.wait)
        argp_error(state, "a pool is followed as it runs; leave --wait out");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = request->takes_options ? (void *)&request->options : &request->common;
        if (request->takes_options)
            state->child_inputs[1] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0 && !request->takes_players)
            return ARGP_ERR_UNKNOWN;
        if (state->arg_num > 0)
            tournament_add_player(state, &request->named, text);
        else
            request->name = text;
        return 0;
    case OPTION_ROUNDS:
        request->rounds = args_number(state, "--rounds", text, 1, POOL_ROUNDS_MAX);
        return 0;
    case OPTION_BATCH:
        request->batch = args_number(state, "--batch", text, 1, POOL_BATCH_MAX);
        return 0;
    case OPTION_LAG:
        request->lag = args_number(state, "--lag", text, 1, POOL_LAG_MAX);
        return 0;
    case OPTION_ANCHOR:
        request->anchor = text;
        return 0;
    case ARGP_KEY_END:
        check_end(request, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void begin(struct request *request, struct driver *driver, bool takes_players, bool takes_options)
{
    *request = (struct request){.takes_players = takes_players, .takes_options = takes_options};
    *driver = (struct driver){0};
    tournament_options_init(&request->options);
    tournament_init(&request->named, driver, "pool");
    tournament_init(&request->pool, driver, "pool");
}

static void end(struct request *request, struct driver *driver)
{
    tournament_done(&request->named);
    tournament_done(&request->pool);
    tournament_options_done(&request->options);
    driver_close(driver);
}

/* The pool of that name, which must be one. */
static int need_pool(struct request *request)
{
    int status = tournament_need(&request->pool, request->name);
    if (status == COMMAND_DONE && strcmp(request->pool.kind, "pool") != 0)
        return args_refuse("%s is a %s, no pool", request->name, request->pool.kind);
    return status;
}

/* --- making one, finding it again --- */

static void set_number(json_t *specification, const char *key, uint64_t given, uint64_t usual)
{
    json_object_set_new(specification, key, json_integer((json_int_t)(given ? given : usual)));
}

/* The seed is the pool's own and not part of what all matches share: each round has openings of its own. */
static void drop_seed(json_t *words)
{
    for (size_t i = json_array_size(words); i-- > 0;)
        if (strncmp(json_string_value(json_array_get(words, i)), "--seed=", 7) == 0)
            json_array_remove(words, i);
}

/* One player is no pool, and none was made before there are two. */
static int check_players(struct request *request)
{
    static const char sql[] = "select count(distinct w.sha256) from kroo.promotion p"
                              " join kroo.weights w on w.sha256 = p.weights_sha256 where w.rules = $1";
    const char *parameters[] = {request->named.rules};
    struct store_table table;
    int status = driver_ask(request->named.driver, sql, parameters, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    uint64_t players = request->named.players + table_number(&table, 0, 0);
    store_table_done(&table);
    return players >= 2
               ? COMMAND_DONE
               : args_refuse("a pool needs two players, and %s has %llu: promote weights, or name players",
                             request->name, (unsigned long long)players);
}

static int create(struct request *request)
{
    struct tournament *named = &request->named;
    const struct launch *launch = &request->options.launch;
    snprintf(named->name, sizeof named->name, "%s", request->name);
    named->planned_rounds = (unsigned)(request->rounds ? request->rounds : DEFAULT_ROUNDS);
    json_object_set(named->specification, "match", request->options.words);
    set_number(named->specification, "pairs", launch->create.pairs, DEFAULT_PAIRS);
    set_number(named->specification, "batch", request->batch, DEFAULT_BATCH);
    set_number(named->specification, "lag", request->lag, DEFAULT_LAG);
    set_number(named->specification, "seed", launch->has_seed ? launch->create.spec.seed : 1, 1);
    if (launch->has_pairs && (launch->create.pairs == 0 || launch->create.pairs > SPECIFICATION_PAIRS_MAX))
        return args_refuse("a pairing has 1 to %llu pairs", (unsigned long long)SPECIFICATION_PAIRS_MAX);
    int status = tournament_resolve(named, launch->rules);
    if (status == COMMAND_DONE)
        status = check_players(request);
    if (status == COMMAND_DONE)
        status = tournament_try(named, pool_number(named, "pairs"));
    return status == COMMAND_DONE ? tournament_insert(named, NULL, 0) : status;
}

static int compare_number(const struct tournament *pool, const char *key, bool is_given, uint64_t given)
{
    if (!is_given || pool_number(pool, key) == given)
        return COMMAND_DONE;
    return args_refuse(
        "pool %s has %s = %llu; what a pool does is never changed: leave the option out to go on with "
        "it, or give another name",
        pool->name, key, (unsigned long long)pool_number(pool, key));
}

/* What was given must be what is there. */
static int compare(const struct request *request)
{
    const struct launch *launch = &request->options.launch;
    const json_t *there = json_object_get(request->pool.specification, "match"), *word, *other;
    size_t i, j;
    json_array_foreach(request->options.words, i, word)
    {
        bool found = false;
        json_array_foreach(there, j, other)
        {
            found |= json_equal(word, other) == 1;
        }
        if (!found)
            return args_refuse("pool %s was made without %s: what a pool does is never changed",
                               request->pool.name, json_string_value(word));
    }
    int status = compare_number(&request->pool, "pairs", launch->has_pairs, launch->create.pairs);
    if (status == COMMAND_DONE)
        status = compare_number(&request->pool, "batch", request->batch != 0, request->batch);
    if (status == COMMAND_DONE)
        status = compare_number(&request->pool, "lag", request->lag != 0, request->lag);
    if (status == COMMAND_DONE)
        status = compare_number(&request->pool, "seed", launch->has_seed, launch->create.spec.seed);
    return status;
}

static bool is_there(const struct tournament *pool, const struct contestant *player)
{
    for (size_t i = 0; i < pool->players; i++)
        if (strcmp(pool->player[i].name, player->name) == 0)
            return strcmp(pool->player[i].weights, player->weights) == 0 &&
                   json_equal(pool->player[i].settings, player->settings);
    return false;
}

/* The players of the command line that the pool lacks; a name or player that is another there is refused. */
static int join_named(struct request *request, unsigned since_round)
{
    struct tournament *named = &request->named;
    int status = tournament_resolve(named, request->pool.rules);
    for (size_t i = 0; i < named->players && status == COMMAND_DONE; i++) {
        if (is_there(&request->pool, &named->player[i]))
            continue;
        status = tournament_join(&request->pool, &named->player[i], since_round);
        if (status == COMMAND_DONE && !is_there(&request->pool, &named->player[i]))
            status =
                args_refuse("pool %s has another player called %s, or the same player under another name",
                            request->pool.name, named->player[i].name);
    }
    return status;
}

static int raise_rounds(struct request *request)
{
    static const char sql[] = "update kroo.tournament set planned_rounds = $2::integer where id = $1::bigint";
    char id[DRIVER_NUMBER], rounds[DRIVER_NUMBER];
    const char *parameters[] = {id, rounds};
    if (request->rounds <= request->pool.planned_rounds)
        return COMMAND_DONE;
    snprintf(id, sizeof id, "%llu", (unsigned long long)request->pool.id);
    snprintf(rounds, sizeof rounds, "%llu", (unsigned long long)request->rounds);
    request->pool.planned_rounds = (unsigned)request->rounds;
    return driver_tell(request->pool.driver, sql, parameters, 2);
}

static int open_pool(struct request *request)
{
    bool found = false;
    unsigned last = 0;
    drop_seed(request->options.words);
    int status = tournament_load(&request->pool, request->name, &found);
    if (status == COMMAND_DONE && !found) {
        status = create(request);
        if (status == COMMAND_DONE)
            status = need_pool(request);
    } else if (status == COMMAND_DONE) {
        status = need_pool(request);
        if (status == COMMAND_DONE)
            status = compare(request);
        if (status == COMMAND_DONE)
            status = pool_last_round(&request->pool, &last);
        if (status == COMMAND_DONE)
            status = join_named(request, last + 1);
    }
    return status == COMMAND_DONE ? raise_rounds(request) : status;
}

/* --- commands --- */

static int pool_run(int argc, char **argv)
{
    static const struct argp argp = {
        .options = run_options,
        .parser = parse,
        .args_doc = "NAME [PLAYER...]",
        .doc = "Run a pool, or go on with it: every weights that were ever promoted, and the players named "
               "here, meet in "
               "rounds whose pairings are chosen where they shorten the errors of the ratings most.\v"
               "Examples:\n"
               "  kroo pool run ladder starting --anchor starting=1000 --rounds 50 --nodes 500\n"
               "  kroo pool run ladder --rounds 100\n\n"
               "A player is [NAME=]WEIGHTS[,key=value]... as for `kroo roundrobin`; --pairs (default 20) is "
               "for each "
               "pairing. Which pairings a round has is a function of the pool's seed and of the results of "
               "the rounds "
               "up to --lag before, so the same pool makes the same choices. Ctrl-C, a killed terminal, a "
               "restarted "
               "cluster lose nothing: the same command goes on. What a pool does is never changed; only "
               "--rounds may "
               "grow, and players may come.",
        .children = run_children};
    struct request request;
    struct driver driver;
    begin(&request, &driver, true, true);
    parse_line(&argp, argc, argv, &request);
    int status = driver_open(&driver, &request.common, "kroo_coordinator");
    if (status == COMMAND_DONE)
        status = driver_lock(&driver, "tournament", request.name);
    if (status == COMMAND_DONE)
        status = open_pool(&request);
    if (status == COMMAND_DONE)
        status = pool_drive(&request.pool);
    if (status == COMMAND_DONE)
        status = ratings_print(&request.pool, 1, request.common.json);
    else if (status == DRIVER_PAUSED)
        status = COMMAND_DONE;
    end(&request, &driver);
    return status;
}

static int pool_add(int argc, char **argv)
{
    static const struct argp argp = {.options = add_options,
                                     .parser = parse,
                                     .args_doc = "NAME PLAYER...",
                                     .doc = "Add players to a pool, also while it runs: they are paired from "
                                            "the next round but one on. Promoted "
                                            "weights come by themselves.\v"
                                            "Examples:\n  kroo pool add ladder quick=champion,nodes=100\n"
                                            "  kroo pool add ladder old=3 --anchor old=1200",
                                     .children = args_common_children};
    struct request request;
    struct driver driver;
    begin(&request, &driver, true, false);
    parse_line(&argp, argc, argv, &request);
    int status = request.named.players ? driver_open(&driver, &request.common, "kroo_coordinator")
                                       : args_refuse("whom? kroo pool add NAME PLAYER...");
    if (status == COMMAND_DONE)
        status = need_pool(&request);
    if (status == COMMAND_DONE)
        status = join_named(&request, 0);
    if (status == COMMAND_DONE)
        printf("pool %s has %zu players\n", request.pool.name, request.pool.players);
    end(&request, &driver);
    return status;
}

static int show_or_check(const struct argp *argp, int argc, char **argv, bool check)
{
    struct request request;
    struct driver driver;
    begin(&request, &driver, false, false);
    parse_line(argp, argc, argv, &request);
    int status = driver_open(&driver, &request.common, "kroo_reader");
    if (status == COMMAND_DONE)
        status = need_pool(&request);
    if (status == COMMAND_DONE)
        status = check ? pool_check(&request.pool) : ratings_print(&request.pool, 1, request.common.json);
    end(&request, &driver);
    return status;
}

static int pool_show(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse,
        .args_doc = "NAME",
        .doc = "The ratings of a pool, as `kroo ratings`; in JSON with the pairings of all rounds.\v"
               "Examples:\n  kroo pool show ladder\n  kroo pool show ladder --json | jq '.pairings[] | "
               "{round, a, b}'",
        .children = args_common_children};
    return show_or_check(&argp, argc, argv, false);
}

static int pool_check_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse,
        .args_doc = "NAME",
        .doc = "Decide every round of a pool again, from the seed and the stored results that it was decided "
               "by, and "
               "compare with the pairings that were played. Exit status 1 when some differ.",
        .children = args_common_children};
    return show_or_check(&argp, argc, argv, true);
}

static int pool_ls(int argc, char **argv)
{
    static const char sql[] =
        "select name, rules, players, coalesce(round, 0) as rounds, planned_rounds as planned, finished as "
        "matches,"
        " counted_pairs as pairs, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as created"
        " from kroo.tournament_progress where kind = 'pool' order by id";
    return connect_list(argc, argv, "List the pools.", sql, "no pools yet: `kroo pool run NAME` begins one");
}

int pool_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"run", pool_run, "run a pool, or go on with it", true},
        {"add", pool_add, "add players to one", true},
        {"show", pool_show, "its ratings", true},
        {"check", pool_check_command, "decide every round again and compare", true},
        {"ls", pool_ls, "list the pools", true},
        {0},
    };
    return dispatch(commands, "Standing pools: rounds where they tell most about all ratings.", "ls", argc,
                    argv);
}
