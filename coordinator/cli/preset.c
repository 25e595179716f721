/* `kroo preset`, and what `kroo match --preset` makes of it. */
#include "coordinator/cli/preset.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/child.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/driver.h"
#include "coordinator/cli/table.h"

enum { OPTION_SUMMARY = 0x3000, WORDS_MAX = 64, NAME_MAX_LENGTH = 32 };

/* The value of `--name VALUE` or `--name=VALUE`, the last one; NULL without. */
static const char *option_value(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    const char *value = NULL;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], name, length) == 0) {
            if (argv[i][length] == '=')
                value = argv[i] + length + 1;
            else if (argv[i][length] == '\0' && i + 1 < argc)
                value = argv[++i];
        }
    return value;
}

/* The options of a preset, an array that the caller drops; `version` NULL is the latest. */
static int find(struct store *store, const char *name, const char *version, json_t **words, char found[24])
{
    static const char sql[] = "select options::text, version from kroo.preset where name = $1"
                              " and ($2::integer is null or version = $2::integer)"
                              " order by version desc limit 1";
    struct store_table table;
    const char *parameters[] = {name, version};
    *words = NULL;
    int status = connect_query(store, sql, parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    if (table.rows == 0) {
        status = version
                     ? args_refuse("there is no preset %.40s of version %.20s: `kroo preset ls` lists them",
                                   name, version)
                     : names_refuse(store, NAMES_PRESETS, name);
    } else {
        *words = json_loads(store_cell(&table, 0, 0), 0, NULL);
        snprintf(found, 24, "%s", store_cell(&table, 0, 1));
        if (json_array_size(*words) > WORDS_MAX)
            status = args_refuse("preset %s has more than %d options", name, WORDS_MAX);
    }
    store_table_done(&table);
    return status;
}

/* `name` or `name@version` taken apart. */
static int split(const char *text, char name[NAME_MAX_LENGTH + 1], const char **version)
{
    uint64_t number;
    const char *at = strchr(text, '@');
    size_t length = at ? (size_t)(at - text) : strlen(text);
    *version = at ? at + 1 : NULL;
    if (length == 0 || length > NAME_MAX_LENGTH ||
        (at && args_parse_number(at + 1, 1, INT32_MAX, &number) != 0))
        return args_refuse("--preset takes a name of `kroo preset ls`, or NAME@VERSION, not \"%.60s\"", text);
    snprintf(name, NAME_MAX_LENGTH + 1, "%.*s", (int)length, text);
    return COMMAND_DONE;
}

int preset_expand(int *argc, char ***argv)
{
    const char *text = option_value(*argc, *argv, "--preset"), *version;
    char name[NAME_MAX_LENGTH + 1], found[24];
    json_t *words;
    int status;
    if (!text)
        return COMMAND_DONE;
    status = split(text, name, &version);
    if (status != COMMAND_DONE)
        return status;
    struct args_common common = {.config = option_value(*argc, *argv, "--config"),
                                 .dir = option_value(*argc, *argv, "--dir")};
    struct store *store = connect_reader(&common, &status);
    if (!store)
        return status;
    status = find(store, name, version, &words, found);
    store_close(store);
    size_t count = json_array_size(words), at = 0;
    char **all = calloc(count + (size_t)*argc + 2, sizeof *all);
    if (status == COMMAND_DONE && all) {
        all[at++] = (*argv)[0];
        for (size_t i = 0; i < count; i++)
            all[at++] = strdup(json_string_value(json_array_get(words, i)));
        if (asprintf(&all[at++], "--note=preset %s, version %s", name, found) < 0)
            at--;
        for (int i = 1; i < *argc; i++)
            all[at++] = (*argv)[i];
        *argc = (int)at;
        *argv = all;
    } else {
        free(all);
    }
    json_decref(words);
    return status;
}

/* --- kroo preset --- */

struct request {
    struct args_common common;
    const char *name, *summary;
    json_t *words;
};

static const struct argp_option add_options[] = {
    {"summary", OPTION_SUMMARY, "TEXT", 0, "What it is for", 1},
    {0},
};

/* As the table demands. */
static bool is_preset_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t length = strspn(text, letters);
    return length > 0 && length <= NAME_MAX_LENGTH && text[length] == '\0' && text[0] != '-';
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_SUMMARY:
        request->summary = text;
        return 0;
    case ARGP_KEY_ARG:
        if (!request->words)
            return ARGP_ERR_UNKNOWN;
        if (!request->name) {
            if (!is_preset_name(text))
                argp_error(state, "a preset's name has up to %d small letters, digits and -, not \"%.60s\"",
                           NAME_MAX_LENGTH, text);
            request->name = text;
        } else if (strncmp(text, "--", 2) != 0)
            argp_error(state, "\"%.60s\" is no option of `kroo match`: each is one word, as --nodes=500",
                       text);
        else
            json_array_append_new(request->words, json_string(text));
        return 0;
    case ARGP_KEY_END:
        if (request->words && (!request->name || !request->summary || json_array_size(request->words) == 0))
            argp_error(state,
                       "a preset has a name, a summary and options: kroo preset add NAME --summary TEXT "
                       "-- --nodes=500 ...");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Would a match take them? */
static int try_out(struct driver *driver, const json_t *options)
{
    struct driver_words *words = malloc(sizeof *words);
    const json_t *option;
    json_t *answer = NULL;
    size_t i;
    if (!words)
        return args_refuse("out of memory");
    driver_words_begin(words, driver, "kroo", "match");
    driver_words_add(words, "starting");
    driver_words_add(words, "starting");
    json_array_foreach(options, i, option)
    {
        driver_words_add(words, "%s", json_string_value(option));
    }
    driver_words_add(words, "--nodes-a=1");
    driver_words_add(words, "--nodes-b=2");
    driver_words_add(words, "--dry-run");
    driver_words_add(words, "--json");
    int status = driver_run(words, &answer);
    json_decref(answer);
    free(words);
    return status == COMMAND_DONE ? status : args_refuse("a match would not take these options");
}

static int insert(struct driver *driver, const struct request *request)
{
    static const char sql[] = "insert into kroo.preset (name, version, summary, options, added_by)"
                              " select $1, coalesce(max(version), 0) + 1, $2, $3::jsonb, left($4, 63) from "
                              "kroo.preset where name = $1"
                              " returning version";
    char *options = json_dumps(request->words, JSON_COMPACT);
    struct store_table table;
    const char *parameters[] = {request->name, request->summary, options, connect_caller()};
    int status = connect_query(driver->store, sql, parameters, 4, &table);
    free(options);
    if (status != COMMAND_DONE)
        return status;
    if (request->common.json)
        status = table_json_print(json_pack("{s:s, s:I}", "name", request->name, "version",
                                            (json_int_t)table_number(&table, 0, 0)));
    else
        printf("preset %s, version %s\n", request->name, store_cell(&table, 0, 0));
    store_table_done(&table);
    return status;
}

static int preset_add(int argc, char **argv)
{
    static const struct argp argp = {
        .options = add_options,
        .parser = parse,
        .args_doc = "NAME -- OPTION...",
        .doc = "Add a preset, or the next version of one: options of `kroo match`, each one word.\v"
               "Examples:\n  kroo preset add short --summary 'a first look' -- --nodes=300 --sprt --elo1=15",
        .children = args_common_children};
    struct request request = {.words = json_array()};
    struct driver driver;
    parse_line(&argp, argc, argv, &request);
    int status = driver_open(&driver, &request.common, "kroo_coordinator");
    if (status == COMMAND_DONE)
        status = try_out(&driver, request.words);
    if (status == COMMAND_DONE)
        status = insert(&driver, &request);
    driver_close(&driver);
    json_decref(request.words);
    return status;
}

static int preset_ls(int argc, char **argv)
{
    static const struct argp argp = {.parser = parse,
                                     .doc = "List the presets of `kroo match --preset`, all versions.",
                                     .children = args_common_children};
    static const char people[] = "select name, version, (select string_agg(w, ' ') from "
                                 "jsonb_array_elements_text(options) w) as options,"
                                 " summary from kroo.preset order by name, version";
    static const char all[] = "select name, version, summary, options::text as options, added_by, added_at"
                              " from kroo.preset order by name, version";
    struct request request = {0};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status =
        connect_print(store, request.common.json, request.common.json ? all : people, NULL, 0, "no presets");
    store_close(store);
    return status;
}

int preset_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"ls", preset_ls, "list them", true},
        {"add", preset_add, "add one, or the next version of one", true},
        {0},
    };
    return dispatch(commands, "Named, versioned sets of options for `kroo match`.", "ls", argc, argv);
}
