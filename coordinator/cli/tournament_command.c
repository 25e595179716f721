/* `kroo gauntlet`, `kroo roundrobin`, `kroo tournament`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/ratings.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/tournament.h"
#include "coordinator/cli/tournament_show.h"
#include "coordinator/specification.h"
#include "proto/artifact.h"

enum { OPTION_ANCHOR = 0x3000, OPTION_WAIT };

struct request {
    struct args_common common;
    struct tournament_options options;
    struct tournament tournament;
    const char *anchor;
    bool has_versus;
};

static const struct argp_option own_options[] = {
    {"anchor", OPTION_ANCHOR, "PLAYER[=ELO]", 0, "This player has this rating (default 0, without: sum zero)",
     7},
    {0},
};

static const struct argp_child children[] = {
    {&tournament_options_argp, 0, NULL, 50}, {&args_common_argp, 0, NULL, 90}, {0}};

static bool is_gauntlet(const struct request *request)
{
    return strcmp(request->tournament.kind, "gauntlet") == 0;
}

/* `A vs B C`, or `A B C`: the first meets all the others. */
static error_t take_player(struct request *request, struct argp_state *state, const char *text)
{
    if (!is_gauntlet(request) || strcmp(text, "vs") != 0) {
        tournament_add_player(state, &request->tournament, text);
        return 0;
    }
    if (request->has_versus || request->tournament.players != 1)
        argp_error(state, "one player stands before \"vs\", the others behind it: kroo gauntlet A vs B C D");
    request->has_versus = true;
    return 0;
}

static void check_end(struct request *request, struct argp_state *state)
{
    if (request->tournament.players < 2)
        argp_error(state, "%s",
                   is_gauntlet(request) ? "a gauntlet needs two players or more: kroo gauntlet A vs B C"
                                        : "a round robin needs two players or more");
    if (!request->options.launch.has_pairs)
        argp_error(state, "how long? give --pairs N: so many for each pairing");
    if (request->anchor)
        tournament_set_anchor(state, &request->tournament, request->anchor);
    if (request->options.key)
        tournament_check_name(state, "--key", request->options.key);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->options;
        state->child_inputs[1] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        return take_player(request, state, text);
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

/* --- making it --- */

/* What all matches share. Without --seed one is drawn, below 2^53 as everywhere. */
static int fill_specification(struct request *request)
{
    struct tournament_options *options = &request->options;
    uint64_t bits;
    char word[48];
    if (!options->launch.has_seed) {
        if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
            return args_refuse("no random numbers from the system");
        snprintf(word, sizeof word, "--seed=%llu", (unsigned long long)(bits >> 11));
        json_array_append_new(options->words, json_string(word));
    }
    json_object_set(request->tournament.specification, "match", options->words);
    json_object_set_new(request->tournament.specification, "pairs",
                        json_integer((json_int_t)options->launch.create.pairs));
    return COMMAND_DONE;
}

/* Without --key the name follows from what was asked for. */
static void fill_name(struct request *request)
{
    struct tournament *tournament = &request->tournament;
    uint8_t sha256[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX];
    if (request->options.key) {
        snprintf(tournament->name, sizeof tournament->name, "%s", request->options.key);
        return;
    }
    json_t *players = json_array();
    for (size_t i = 0; i < tournament->players; i++)
        json_array_append_new(players, json_pack("{s:s, s:s, s:O}", "name", tournament->player[i].name,
                                                 "weights", tournament->player[i].weights, "settings",
                                                 tournament->player[i].settings));
    json_t *all = json_pack("{s:O, s:o, s:s}", "specification", tournament->specification, "players", players,
                            "rules", tournament->rules);
    char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    artifact_hash(text ? text : "", text ? strlen(text) : 0, sha256);
    artifact_hex(sha256, hex);
    snprintf(tournament->name, sizeof tournament->name, "%s-%.10s", tournament->kind, hex);
    free(text);
    json_decref(all);
}

static size_t fill_pairings(const struct tournament *tournament, bool gauntlet, uint64_t pairs,
                            struct tournament_pairing *pairings)
{
    size_t count = 0;
    for (unsigned a = 0; a < tournament->players && (a == 0 || !gauntlet); a++)
        for (unsigned b = a + 1; b < tournament->players && count < TOURNAMENT_PAIRINGS_MAX; b++)
            pairings[count++] = (struct tournament_pairing){.a = a, .b = b, .pairs = pairs};
    return count;
}

static int check_size(const struct request *request)
{
    size_t n = request->tournament.players, pairings = is_gauntlet(request) ? n - 1 : n * (n - 1) / 2;
    uint64_t pairs = request->options.launch.create.pairs;
    if (pairs == 0 || pairs > SPECIFICATION_PAIRS_MAX)
        return args_refuse("a pairing has 1 to %llu pairs", (unsigned long long)SPECIFICATION_PAIRS_MAX);
    if (pairings > TOURNAMENT_PAIRINGS_MAX)
        return args_refuse("%zu pairings are more than the %d of a tournament: take fewer players", pairings,
                           TOURNAMENT_PAIRINGS_MAX);
    return COMMAND_DONE;
}

/* The rows, all or none; then what is there is compared with what was asked for and loaded. */
static int settle(struct request *request)
{
    struct tournament *asked = &request->tournament, there;
    struct tournament_pairing *pairings = calloc(TOURNAMENT_PAIRINGS_MAX, sizeof *pairings);
    size_t count =
        pairings ? fill_pairings(asked, is_gauntlet(request), request->options.launch.create.pairs, pairings)
                 : 0;
    tournament_init(&there, asked->driver, "");
    int status = pairings ? tournament_insert(asked, pairings, count) : args_refuse("out of memory");
    free(pairings);
    if (status == COMMAND_DONE)
        status = tournament_need(&there, asked->name);
    if (status == COMMAND_DONE)
        status = tournament_compare(asked, &there, !request->options.launch.has_seed);
    if (status != COMMAND_DONE) {
        tournament_done(&there);
        return status;
    }
    tournament_done(asked);
    *asked = there;
    return COMMAND_DONE;
}

static int prepare(struct request *request)
{
    struct tournament *tournament = &request->tournament;
    int status = check_size(request);
    if (status == COMMAND_DONE)
        status = fill_specification(request);
    if (status == COMMAND_DONE)
        status = tournament_resolve(tournament, request->options.launch.rules);
    if (status != COMMAND_DONE)
        return status;
    fill_name(request);
    return tournament_try(tournament, request->options.launch.create.pairs);
}

static int finish(struct tournament *tournament, bool wait, bool json)
{
    char how[128];
    int status = tournament_make(tournament);
    snprintf(how, sizeof how, "`kroo tournament run %s --wait` goes on", tournament->name);
    if (status == COMMAND_DONE && wait) {
        status = tournament_follow(tournament, 0, how);
        if (status == DRIVER_PAUSED)
            return COMMAND_DONE;
    }
    if (status == DRIVER_PAUSED)
        return args_refuse("interrupted; %s", how);
    if (status != COMMAND_DONE)
        return status;
    if (wait || json)
        return ratings_print(tournament, 1, json);
    printf("%s\n", tournament->name);
    return COMMAND_DONE;
}

static void say_plan(const struct request *request)
{
    const struct tournament *tournament = &request->tournament;
    size_t n = tournament->players, pairings = is_gauntlet(request) ? n - 1 : n * (n - 1) / 2;
    unsigned long long pairs = request->options.launch.create.pairs;
    args_note("%s %s: %zu pairings of %llu pairs, %llu games; `kroo ratings %s` shows how it stands",
              tournament->kind, tournament->name, pairings, pairs, 2 * pairs * pairings, tournament->name);
}

static int run(const struct argp *argp, const char *kind, int argc, char **argv)
{
    struct request request = {0};
    struct driver driver = {0};
    tournament_options_init(&request.options);
    tournament_init(&request.tournament, &driver, kind);
    parse_line(argp, argc, argv, &request);
    int status = driver_open(&driver, &request.common, "kroo_coordinator");
    if (status == COMMAND_DONE)
        status = prepare(&request);
    if (status == COMMAND_DONE)
        status = driver_lock(&driver, "tournament", request.tournament.name);
    if (status == COMMAND_DONE) {
        say_plan(&request);
        status = settle(&request);
    }
    if (status == COMMAND_DONE)
        status = finish(&request.tournament, request.options.wait, request.common.json);
    tournament_done(&request.tournament);
    tournament_options_done(&request.options);
    driver_close(&driver);
    return status;
}

#define PLAYERS_DOC                                                                                          \
    "A player is [NAME=]WEIGHTS[,key=value]...: weights as `kroo match` takes them, and what it has of its " \
    "own "                                                                                                   \
    "as nodes, depth, time, clock, engine, tables or option (given again for more), as in\n"                 \
    "  quick=champion,nodes=200\n"                                                                           \
    "  old=champion,engine=release-1,option=Level=Apprentice\n"                                              \
    "The other options are common to all. Every pairing is a match of its own with the same seed, so all "   \
    "meet "                                                                                                  \
    "the same openings. The same command, or `kroo tournament run NAME`, goes on where it was cut off."

int gauntlet_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = own_options,
        .parser = parse,
        .args_doc = "A vs B...",
        .doc = "Let one player meet each of several others, and rate all of them jointly.\v"
               "Examples:\n"
               "  kroo gauntlet champion vs 1 2 3 --pairs 200 --wait\n"
               "  kroo gauntlet new=5 vs starting old=4 --pairs 1k --key gate-5 --anchor "
               "starting=1000\n\n" PLAYERS_DOC,
        .children = children};
    return run(&argp, "gauntlet", argc, argv);
}

int roundrobin_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = own_options,
        .parser = parse,
        .args_doc = "A B...",
        .doc = "Let several players meet each other, each against each, and rate them jointly.\v"
               "Examples:\n"
               "  kroo roundrobin 1 2 3 champion --pairs 200 --wait\n"
               "  kroo roundrobin n100=champion,nodes=100 n400=champion,nodes=400 starting --pairs 100 "
               "--seed 7\n\n" PLAYERS_DOC,
        .children = children};
    return run(&argp, "roundrobin", argc, argv);
}

/* --- kroo tournament --- */

struct named {
    struct args_common common;
    const char *name;
    bool wait;
};

static const struct argp_option named_options[] = {
    {"wait", OPTION_WAIT, NULL, 0, "Follow it to its end, then show the ratings", 1},
    {0},
};

static error_t named_parse(int key, char *text, struct argp_state *state)
{
    struct named *named = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &named->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        named->name = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which tournament? `kroo tournament ls` lists them");
        return 0;
    case OPTION_WAIT:
        named->wait = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int tournament_run(int argc, char **argv)
{
    static const struct argp argp = {
        .options = named_options,
        .parser = named_parse,
        .args_doc = "NAME",
        .doc = "Make the matches that a gauntlet, round robin or progression still lacks; with --wait follow "
               "all of "
               "them and show the ratings.\vExamples:\n  kroo tournament run week --wait",
        .children = args_common_children};
    struct named named = {0};
    struct driver driver;
    struct tournament tournament;
    parse_line(&argp, argc, argv, &named);
    int status = driver_open(&driver, &named.common, "kroo_coordinator");
    tournament_init(&tournament, &driver, "");
    if (status == COMMAND_DONE)
        status = tournament_need(&tournament, named.name);
    if (status == COMMAND_DONE)
        status = driver_lock(&driver, "tournament", tournament.name);
    if (status == COMMAND_DONE)
        status = finish(&tournament, named.wait, named.common.json);
    tournament_done(&tournament);
    driver_close(&driver);
    return status;
}

static int tournament_ls(int argc, char **argv)
{
    static const char sql[] = "select name, kind, state, rules, players, pairings, finished, running, "
                              "paused, stopped, counted_pairs "
                              "as pairs,"
                              " planned_pairs as planned, created_by as by,"
                              " to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as created, note"
                              " from kroo.tournament_progress order by id";
    return connect_list(argc, argv, "List gauntlets, round robins, pools and progressions.", sql,
                        "no tournaments yet: `kroo gauntlet` and `kroo roundrobin` make some");
}

int tournament_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"ls", tournament_ls, "list them", true},
        {"show", tournament_show, "the matches of one, and why they wait", true},
        {"run", tournament_run, "make the matches that are lacking, follow them", true},
        {"pause", tournament_pause, "hand out no more pairs of its matches for a while", true},
        {"resume", tournament_resume, "go on", true},
        {"stop", tournament_stop, "end its matches for good", true},
        {"priority", tournament_priority, "move its matches before or behind others", true},
        {"note", tournament_note, "write its note", true},
        {0},
    };
    return dispatch(commands, "Gauntlets, round robins, pools and progressions.", "ls", argc, argv);
}
