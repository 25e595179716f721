#include "coordinator/cli/names.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/suggest.h"
#include "coordinator/cli/table.h"
#include "sql/queries.h"

enum { HINT_NAMES_MAX = 4096 };

/* The newest first, and no more than anybody would look through. */
static const struct {
    const char *word, *sql, *none, *lists;
} kinds[NAMES_KINDS] = {
    [NAMES_WEIGHTS] = {"weights",
                       "select name from (select name, max(number) as at from kroo.weights where "
                       "name <> '' group by name union all select 'champion', 0 union all select "
                       "'starting', 0) n group by name order by max(at) desc, name limit 4096",
                       "no weights are called", "kroo weights ls"},
    [NAMES_ENGINES] = {"engines",
                       "select name from (select name, added_at from kroo.engine union all select "
                       "'built-in', '-infinity') n order by added_at desc, name limit 4096",
                       "no engine is called", "kroo engine ls"},
    [NAMES_BOOKS] = {"books", "select name from kroo.book order by added_at desc, name limit 4096",
                     "no book is called", "kroo book ls"},
    [NAMES_TABLES] = {"tables", "select name from kroo.endgame_table order by added_at desc, name limit 4096",
                      "no endgame tables are called", "kroo tables ls"},
    [NAMES_PRESETS] = {"presets", "select distinct name from kroo.preset order by name limit 4096",
                       "there is no preset", "kroo preset ls"},
    [NAMES_POOLS] = {"pools",
                     "select name from kroo.tournament where kind = 'pool' order by id desc limit 4096",
                     "there is no pool", "kroo pool ls"},
    [NAMES_TOURNAMENTS] = {"tournaments", "select name from kroo.tournament order by id desc limit 4096",
                           "there is no tournament", "kroo tournament ls"},
    [NAMES_LOOPS] = {"loops", "select name from kroo.learning_loop order by id desc limit 4096",
                     "there is no loop", "kroo loop ls"},
    [NAMES_EXPERIMENTS] = {"experiments",
                           "select id::text as name from kroo.experiment order by id desc limit 200",
                           "there is no experiment", "kroo ls"},
    [NAMES_RUNNING] = {"running",
                       "select id::text as name from kroo.experiment where state in ('running', "
                       "'paused', 'blocked', 'pending') order by id desc limit 200",
                       "there is no experiment", "kroo ls"},
    [NAMES_WORKERS] = {"workers",
                       "select name from kroo.worker_session where slots > 0 group by name order by "
                       "max(started_at) desc limit 4096",
                       "no worker and no key is called", "kroo workers --all"},
    [NAMES_KEYS] = {"keys", "select name from kroo.peer where revoked_at is null order by name limit 4096",
                    "no allowed key is called", "kroo key ls"},
    [NAMES_QUERIES] = {"queries", NULL, "there is no query", "kroo query --list"},
};

const char *names_hint(struct store *store, enum names_kind kind, const char *text, char hint[NAMES_HINT])
{
    const char *names[HINT_NAMES_MAX];
    struct store_table table;
    hint[0] = '\0';
    if (store_query(store, kinds[kind].sql, NULL, 0, &table) != STORE_OK)
        return hint;
    size_t count = table.rows < HINT_NAMES_MAX ? table.rows : HINT_NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = store_cell(&table, i, 0);
    const char *nearest = suggest_nearest(text, names, count);
    if (nearest && strcmp(nearest, text) != 0) /* a word that is known, and stands for nothing yet */
        snprintf(hint, NAMES_HINT, "; did you mean \"%.63s\"?", nearest);
    store_table_done(&table);
    return hint;
}

int names_refuse(struct store *store, enum names_kind kind, const char *text)
{
    char hint[NAMES_HINT];
    return args_refuse("%s \"%.80s\"%s: `%s` lists them", kinds[kind].none, text,
                       names_hint(store, kind, text, hint), kinds[kind].lists);
}

int names_refuse_weights(struct store *store, const char *text)
{
    char hint[NAMES_HINT], reason[STORE_TEXT];
    snprintf(reason, sizeof reason, "%s", store_reason(store));
    return args_refuse("weights \"%.80s\": %s%s (`kroo weights ls` lists them)", text, reason,
                       names_hint(store, NAMES_WEIGHTS, text, hint));
}

int names_refuse_experiment(struct store *store, uint64_t experiment)
{
    struct store_table table;
    char last[64] = "";
    if (store_query(store, "select max(id) from kroo.experiment", NULL, 0, &table) == STORE_OK) {
        if (*store_cell(&table, 0, 0))
            snprintf(last, sizeof last, " (the last one is %.20s)", store_cell(&table, 0, 0));
        store_table_done(&table);
    }
    return args_refuse("there is no experiment %llu%s: `kroo ls` lists them", (unsigned long long)experiment,
                       last);
}

/* --- the command --- */

struct request {
    struct args_common common;
    enum names_kind kind;
};

static void take_kind(struct argp_state *state, const char *text, struct request *request)
{
    const char *words[NAMES_KINDS];
    for (int i = 0; i < NAMES_KINDS; i++) {
        words[i] = kinds[i].word;
        if (strcmp(text, words[i]) == 0) {
            request->kind = (enum names_kind)i;
            return;
        }
    }
    const char *nearest = suggest_nearest(text, words, NAMES_KINDS);
    argp_error(state, "\"%.40s\" is no kind of name%s%s%s (`kroo names --help` lists them)", text,
               nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static error_t names_parse(int key, char *text, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        take_kind(state, text, request);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the names of what? `kroo names --help` lists the kinds");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int add_queries(json_t *names)
{
    for (const struct query *query = queries; query->name; query++)
        json_array_append_new(names, json_string(query->name));
    return COMMAND_DONE;
}

static int add_names(const struct request *request, json_t *names)
{
    struct store_table table;
    int status;
    struct store *store = connect_reader(&request->common, &status);
    if (!store)
        return status;
    status = connect_query(store, kinds[request->kind].sql, NULL, 0, &table);
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    for (size_t i = 0; i < table.rows; i++)
        json_array_append_new(names, json_string(store_cell(&table, i, 0)));
    store_table_done(&table);
    return COMMAND_DONE;
}

int names_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = names_parse,
        .args_doc = "KIND",
        .doc =
            "The names of one kind of thing, the newest first, a line each: for scripts, and what the "
            "shells' "
            "completion asks. KIND is weights, engines, books, tables, presets, pools, tournaments, loops, "
            "experiments, running (experiments that have not ended), workers, keys or queries.\v"
            "Examples:\n  kroo names weights\n  kroo names running --json",
        .children = args_common_children};
    struct request request = {.kind = NAMES_WEIGHTS};
    parse_line(&argp, argc, argv, &request);
    json_t *array = json_array();
    int status = request.kind == NAMES_QUERIES ? add_queries(array) : add_names(&request, array);
    if (status == COMMAND_DONE && request.common.json)
        return table_json_print(array);
    const json_t *name;
    size_t i;
    json_array_foreach(array, i, name)
    {
        puts(json_string_value(name));
    }
    json_decref(array);
    return status;
}
