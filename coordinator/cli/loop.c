/* `kroo loop`: learning that runs by itself. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/loop.h"
#include "coordinator/specification.h"
#include "engine/play.h"
#include "proto/text.h"

enum { GENERATIONS_MAX = 10000, WINDOW_MAX = 1000, HOURS_MAX = 10000 };

enum {
    OPTION_GENERATIONS = 0x3000,
    OPTION_HOURS,
    OPTION_PAIRS,
    OPTION_NODES,
    OPTION_NOISE,
    OPTION_OPENING,
    OPTION_WINDOW,
    OPTION_KIND,
    OPTION_LAMBDA,
    OPTION_GATE_NODES,
    OPTION_ELO0,
    OPTION_ELO1,
    OPTION_MAX_PAIRS,
    OPTION_FIRST_PAIRS,
    OPTION_SEED,
    OPTION_RULES,
    OPTION_LINE,
    OPTION_BOOK,
};

static const struct argp_option run_options[] = {
    {"generations", OPTION_GENERATIONS, "N", 0, "How many in all (default 4); more later go on", 1},
    {"hours", OPTION_HOURS, "H", 0, "Rest after the step during which so many hours are over", 1},
    {"rules", OPTION_RULES, "RULES", 0, "Rule set (default site)", 2},
    {"line", OPTION_LINE, "LINE", 0, "Training line whose champion plays and is replaced (default main)", 2},
    {"seed", OPTION_SEED, "S", 0, "Everything random derives from it (default 1)", 2},
    {"pairs", OPTION_PAIRS, "N", 0, "Pairs of self-play a generation (default 2000)", 3},
    {"nodes", OPTION_NODES, "N", 0, "Nodes a move of self-play (default 1000)", 3},
    {"noise", OPTION_NOISE, "PERCENT", 0, "Share of moves played at random (default 2)", 3},
    {"opening-plies", OPTION_OPENING, "K", 0, "Random plies before the players think (default 8)", 3},
    {"window", OPTION_WINDOW, "G", 0, "Generations whose games a fit sees (default 3)", 4},
    {"kind", OPTION_KIND, "KIND", 0, "Weights to fit: table (default), net or features", 4},
    {"lambda", OPTION_LAMBDA, "X", 0, "Share of the result in the target (default 0.4)", 4},
    {"gate-nodes", OPTION_GATE_NODES, "N", 0, "Nodes a move of the matches (default as --nodes)", 5},
    {"elo0", OPTION_ELO0, "X", 0, "Lower bound of the gate's SPRT, normalized model (default 0)", 5},
    {"elo1", OPTION_ELO1, "X", 0, "Upper bound (default 10)", 5},
    {"max-pairs", OPTION_MAX_PAIRS, "N", 0,
     "The gate's most pairs; undecided keeps the champion (default 4000)", 5},
    {"first-pairs", OPTION_FIRST_PAIRS, "N", 0,
     "Pairs of each candidate against the loop's first champion; 0 for none (default 200)", 5},
    {"book", OPTION_BOOK, "B", 0,
     "Openings of the matches: a book of `kroo book ls`, in place of 8 random plies", 5},
    {0},
};

static const char run_doc[] =
    "Run a learning loop, or go on with it: self-play with the champion, a fit to the games of the last "
    "generations, a match of the new weights against the champion under SPRT, and their promotion when it "
    "accepts. Begins from the line's champion, or from nothing: the starting weights.\v"
    "Examples:\n"
    "  kroo loop run night --generations 20 --hours 9\n"
    "  kroo loop run nets --kind net --pairs 5k --window 4\n"
    "  kroo loop run night\n"
    "\n"
    "Each step is an experiment or a fit of its own, made once. Ctrl-C, a killed terminal or a restarted "
    "cluster lose nothing: the same command goes on. What a loop does is never changed; only --generations "
    "may "
    "grow. The same seed, options and first champion give the same generations.";

/* An option that is a number of the specification. */
struct setting {
    int option;
    const char *name, *key;
    double low, high;
    bool is_decimal;
};

static const struct setting settings[] = {
    {OPTION_PAIRS, "--pairs", "pairs", 1, (double)SPECIFICATION_PAIRS_MAX, false},
    {OPTION_NODES, "--nodes", "nodes", 1, INT32_MAX, false},
    {OPTION_NOISE, "--noise", "noise", 0, 100, true},
    {OPTION_OPENING, "--opening-plies", "opening_plies", 0, PLAY_OPENING_MAX, false},
    {OPTION_SEED, "--seed", "seed", 0, INT32_MAX, false},
    {OPTION_WINDOW, "--window", "window", 1, WINDOW_MAX, false},
    {OPTION_LAMBDA, "--lambda", "lambda", 0, 1, true},
    {OPTION_GATE_NODES, "--gate-nodes", "gate_nodes", 1, INT32_MAX, false},
    {OPTION_ELO0, "--elo0", "elo0", -1000, 1000, true},
    {OPTION_ELO1, "--elo1", "elo1", -1000, 1000, true},
    {OPTION_MAX_PAIRS, "--max-pairs", "max_pairs", 1, (double)SPECIFICATION_PAIRS_MAX, false},
    {OPTION_FIRST_PAIRS, "--first-pairs", "first_pairs", 0, (double)SPECIFICATION_PAIRS_MAX, false},
};

static json_t *take_setting(struct argp_state *state, const struct setting *setting, const char *text)
{
    if (!setting->is_decimal)
        return json_integer((json_int_t)args_number(state, setting->name, text, (uint64_t)setting->low,
                                                    (uint64_t)setting->high));
    double value = args_decimal(state, setting->name, text);
    if (value < setting->low || value > setting->high)
        argp_error(state, "%s lies within %g and %g", setting->name, setting->low, setting->high);
    return json_real(value);
}

static error_t parse_setting(int key, char *text, struct argp_state *state)
{
    struct loop_request *request = state->input;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].option == key) {
            json_object_set_new(request->given, settings[i].key, take_setting(state, &settings[i], text));
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

/* As the table demands: it becomes part of keys and of the weights' names. */
static void take_name(struct argp_state *state, struct loop_request *request, const char *text)
{
    if (!text_is_name(text) || strlen(text) >= LOOP_NAME_MAX || strchr("_-", *text))
        argp_error(state,
                   "a loop's name has up to %d letters, digits, . _ and -, and begins with a letter or digit",
                   LOOP_NAME_MAX - 1);
    request->name = text;
}

static error_t loop_parse(int key, char *text, struct argp_state *state)
{
    struct loop_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        take_name(state, request, text);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which loop? give it a name; `kroo loop ls` lists them");
        return 0;
    case OPTION_GENERATIONS:
        request->generations = args_number(state, "--generations", text, 1, GENERATIONS_MAX);
        request->has_generations = true;
        return 0;
    case OPTION_HOURS:
        request->hours = args_decimal(state, "--hours", text);
        if (request->hours <= 0 || request->hours > HOURS_MAX)
            argp_error(state, "--hours lies above 0 and up to %d", HOURS_MAX);
        return 0;
    case OPTION_RULES:
        request->rules = text;
        return 0;
    case OPTION_KIND:
        if (strcmp(text, "table") != 0 && strcmp(text, "net") != 0 && strcmp(text, "features") != 0)
            argp_error(state, "--kind is table, net or features, not \"%.40s\"", text);
        json_object_set_new(request->given, "kind", json_string(text));
        return 0;
    case OPTION_BOOK:
        if (!text_is_name(text) || strlen(text) >= STORE_NAME)
            argp_error(state, "--book: \"%.40s\" is no name; `kroo book ls` lists them", text);
        json_object_set_new(request->given, "book", json_string(text));
        return 0;
    case OPTION_LINE:
        if (!*text || strlen(text) >= STORE_NAME)
            argp_error(state, "--line: 1 to %d letters", STORE_NAME - 1);
        request->line = text;
        return 0;
    default:
        return parse_setting(key, text, state);
    }
}

static int loop_run(int argc, char **argv)
{
    static const struct argp argp = {.options = run_options,
                                     .parser = loop_parse,
                                     .args_doc = "NAME",
                                     .doc = run_doc,
                                     .children = args_common_children};
    struct loop_request request = {.given = json_object()};
    struct loop loop = {.request = &request};
    parse_line(&argp, argc, argv, &request);
    int status = loop_open(&loop);
    if (status == COMMAND_DONE)
        status = loop_drive(&loop);
    loop_done(&loop);
    json_decref(request.given);
    return status;
}

/* --- show, ls, stop --- */

static int loop_exists(struct store *store, const char *name)
{
    struct store_table table;
    int status = connect_query(store, "select id from kroo.learning_loop where name = $1", &name, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    size_t rows = table.rows;
    store_table_done(&table);
    return rows ? COMMAND_DONE : names_refuse(store, NAMES_LOOPS, name);
}

static int loop_show(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = loop_parse,
        .args_doc = "NAME",
        .doc = "What each generation of a loop cost and gained: games, losses, the gate against the "
               "champion, the "
               "match against the first.\vExamples:\n  kroo loop show night\n  kroo loop show night --json",
        .children = args_common_children};
    static const char people[] =
        "select generation as gen, coalesce(outcome, 'running') as outcome, games, "
        "round(loss_before::numeric, 5) as"
        " loss_before, round(loss_after::numeric, 5) as loss_after, candidate as weights, gate_pairs as "
        "pairs,"
        " round(gate_elo::numeric, 1) as elo, format('[%s, %s]', round(gate_elo_lo::numeric, 1),"
        " round(gate_elo_hi::numeric, 1)) as interval, round(gate_llr::numeric, 2) as llr,"
        " round(first_elo::numeric, 1) as vs_first, format('[%s, %s]', round(first_elo_lo::numeric, 1),"
        " round(first_elo_hi::numeric, 1)) as first_interval, round(hours::numeric, 2) as hours, reason"
        " from kroo.learning_curve where loop = $1 order by generation";
    static const char all[] = "select * from kroo.learning_curve where loop = $1 order by generation";
    struct loop_request request = {0};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status = loop_exists(store, request.name);
    if (status == COMMAND_DONE)
        status = connect_print(store, request.common.json, request.common.json ? all : people, &request.name,
                               1, "no generation yet");
    store_close(store);
    return status;
}

static int loop_ls(int argc, char **argv)
{
    static const char sql[] =
        "select l.name, l.state, l.line, l.rules, l.specification->>'kind' as kind, count(g.outcome) as "
        "generations,"
        " l.planned_generations as planned, count(*) filter (where g.outcome = 'promoted') as promoted,"
        " to_char(l.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as created"
        " from kroo.learning_loop l left join kroo.generation g on g.loop_id = l.id group by l.id order by "
        "l.id";
    return connect_list(argc, argv, "List the learning loops.", sql,
                        "no loops yet: `kroo loop run NAME` begins one");
}

static int loop_stop(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = loop_parse,
        .args_doc = "NAME",
        .doc =
            "Let a loop rest when its step is done; `kroo loop run NAME` goes on. Ctrl-C at the loop itself "
            "stops it at once, and its experiment plays on.",
        .children = args_common_children};
    static const char sql[] = "update kroo.learning_loop set state = 'stopping', updated_at = now()"
                              " where name = $1 and state in ('running', 'stopping') returning id";
    struct loop_request request = {0};
    struct store_table table;
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_as(&request.common, "kroo_trainer", &status);
    if (!store)
        return status;
    status = loop_exists(store, request.name);
    if (status == COMMAND_DONE)
        status = connect_query(store, sql, &request.name, 1, &table);
    if (status == COMMAND_DONE) {
        status = table.rows ? COMMAND_DONE : args_refuse("loop %s does not run", request.name);
        store_table_done(&table);
    }
    store_close(store);
    if (status == COMMAND_DONE)
        printf("loop %s rests after its step\n", request.name);
    return status;
}

int loop_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"run", loop_run, "run a loop, or go on with it", true},
        {"show", loop_show, "what each generation cost and gained", true},
        {"ls", loop_ls, "list the loops", true},
        {"decide", loop_decide_command, "decide by hand where a gate ended undecided", true},
        {"stop", loop_stop, "let one rest after its step", true},
        {0},
    };
    return dispatch(commands, "Learning loops: self-play, fit, gate, promotion, again.", "ls", argc, argv);
}
