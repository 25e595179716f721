/* `kroo query NAME`: the shipped queries (sql/queries.h), each in one snapshot whose time is told, within a
 * time that is bounded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/suggest.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "sql/queries.h"

enum { OPTION_LIST = 0x5000, OPTION_FORMAT, OPTION_TIMEOUT };
enum { PARAMETERS_MAX = 4, TIMEOUT_S = 10, TIMEOUT_MAX_S = 3600 };

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

struct query_request {
    struct args_common common;
    bool list;
    enum query_format format;
    uint64_t timeout_s;
    const struct query *query;
    size_t count; /* of the parameters given */
    const char *parameters[PARAMETERS_MAX];
    char weights[24];
};

static const struct query *find_query(const char *name)
{
    for (const struct query *query = queries; query->name; query++)
        if (strcmp(query->name, name) == 0)
            return query;
    return NULL;
}

static void refuse_name(struct argp_state *state, const char *text)
{
    const char *names[64];
    size_t count = 0;
    for (const struct query *query = queries; query->name && count < 64; query++)
        names[count++] = query->name;
    const char *near = suggest_nearest(text, names, count);
    argp_error(state, "there is no query \"%.40s\"%s%s%s: `kroo query --list` lists them", text,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum query_format parse_format(struct argp_state *state, const char *text)
{
    if (strcmp(text, "json") == 0)
        return QUERY_JSON;
    if (strcmp(text, "csv") == 0)
        return QUERY_CSV;
    if (strcmp(text, "table") != 0)
        argp_error(state, "--format is table, csv or json, not \"%.40s\"", text);
    return QUERY_TABLE;
}

/* --- parameters --- */

/* The `place`-th word of the query's parameters, without brackets, into `word`; false when there are fewer.
 */
static bool parameter_word(const struct query *query, size_t place, char word[32], bool *optional)
{
    const char *at = query->parameters;
    for (size_t i = 0;; i++) {
        at += strspn(at, " ");
        size_t length = strcspn(at, " ");
        if (length == 0)
            return false;
        if (i == place) {
            *optional = *at == '[';
            snprintf(word, 32, "%.*s", (int)(length - 2 * *optional), at + *optional);
            return true;
        }
        at += length;
    }
}

/* Moves in turn, South's letters and North's. */
static bool are_moves(const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        char first = i % 2 == 0 ? 'A' : 'a';
        if (text[i] < first || text[i] > first + 5)
            return false;
    }
    return true;
}

static void check_parameter(struct argp_state *state, const struct query *query, size_t place,
                            const char *text)
{
    char word[32];
    bool optional;
    uint64_t number;
    if (!parameter_word(query, place, word, &optional))
        argp_error(state, "query %s takes %s%s", query->name, *query->parameters ? "only " : "no parameters",
                   query->parameters);
    if (strcmp(word, "ID") == 0)
        args_id(state, text);
    else if (strcmp(word, "PREFIX") == 0 && !are_moves(text))
        argp_error(state, "PREFIX is moves such as FcE, South's A..F and North's a..f in turn, not \"%.40s\"",
                   text);
    else if ((strcmp(word, "BIN") == 0 || strcmp(word, "PAIRS") == 0 || strcmp(word, "PLY") == 0) &&
             args_parse_number(text, strcmp(word, "PLY") == 0 ? 0 : 1, 1000000, &number) != 0)
        argp_error(state, "%s is a whole number, at most a million, not \"%.40s\"", word, text);
}

static void check_complete(struct argp_state *state, const struct query_request *request)
{
    char word[32];
    bool optional;
    if (!request->query)
        argp_error(state, "which query? `kroo query --list` lists them");
    else if (parameter_word(request->query, request->count, word, &optional) && !optional)
        argp_error(state, "query %s takes %s", request->query->name, request->query->parameters);
}

static error_t query_parse(int key, char *text, struct argp_state *state)
{
    struct query_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_LIST:
        request->list = true;
        return 0;
    case OPTION_FORMAT:
        request->format = parse_format(state, text);
        return 0;
    case OPTION_TIMEOUT:
        request->timeout_s = args_number(state, "--timeout", text, 1, TIMEOUT_MAX_S);
        return 0;
    case ARGP_KEY_ARG:
        if (!request->query) {
            request->query = find_query(text);
            if (!request->query)
                refuse_name(state, text);
            return 0;
        }
        check_parameter(state, request->query, request->count, text);
        request->parameters[request->count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (!request->list)
            check_complete(state, request);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- the list --- */

static int list_queries(const struct query_request *request)
{
    if (request->format == QUERY_JSON) {
        json_t *array = json_array();
        for (const struct query *query = queries; query->name; query++)
            json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s}", "name", query->name, "parameters",
                                                   query->parameters, "answers", query->summary, "needs",
                                                   query->extension));
        return table_json_print(array);
    }
    for (const struct query *query = queries; query->name; query++) {
        char call[64];
        snprintf(call, sizeof call, "%s %s", query->name, query->parameters);
        printf("%-28s %s%s%s%s\n", call, query->summary, *query->extension ? " (needs " : "",
               query->extension, *query->extension ? ")" : "");
    }
    return COMMAND_DONE;
}

/* --- the answer --- */

static void print_csv_cell(const char *text, bool last)
{
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';
    if (!quoted) {
        fputs(text, stdout);
    } else {
        putchar('"');
        for (; *text; text++) {
            if (*text == '"')
                putchar('"');
            putchar(*text);
        }
        putchar('"');
    }
    fputs(last ? "\r\n" : ",", stdout);
}

/* RFC 4180; null is an empty field. */
static void print_csv(const struct store_table *table)
{
    for (size_t column = 0; column < table->columns; column++)
        print_csv_cell(table->names[column], column + 1 == table->columns);
    for (size_t row = 0; row < table->rows; row++)
        for (size_t column = 0; column < table->columns; column++)
            print_csv_cell(store_cell(table, row, column), column + 1 == table->columns);
}

static int print_answer(const struct query_request *request, const struct store_table *table,
                        const char *as_of)
{
    switch (request->format) {
    case QUERY_JSON:
        return table_json_print(json_pack("{s:s, s:s, s:o}", "query", request->query->name, "as_of", as_of,
                                          "rows", table_json(table)));
    case QUERY_CSV:
        print_csv(table);
        break;
    case QUERY_TABLE:
        table_print(stdout, table, "nothing");
        printf("as of %s\n", as_of);
        break;
    }
    return COMMAND_DONE;
}

/* What the query is about must be there: an empty answer would say that it is and has nothing. */
static int check_there(struct query_request *request, struct store *store)
{
    char word[32];
    bool optional;
    if (request->count == 0 || !parameter_word(request->query, 0, word, &optional))
        return COMMAND_DONE;
    if (strcmp(word, "WEIGHTS") == 0) {
        struct store_weights weights;
        uint64_t number = 0;
        enum store_error error = store_weights_find(store, request->parameters[0], &weights, &number);
        int status = error == STORE_ERROR_REFUSED ? names_refuse_weights(store, request->parameters[0])
                                                  : connect_failed(store, error);
        snprintf(request->weights, sizeof request->weights, "%llu", (unsigned long long)number);
        request->parameters[0] = request->weights;
        return status;
    }
    if (strcmp(word, "ID") != 0)
        return COMMAND_DONE;
    struct store_table found;
    int status = connect_query(store, "select from kroo.experiment where id = $1::bigint",
                               request->parameters, 1, &found);
    if (status != COMMAND_DONE)
        return status;
    bool there = found.rows > 0;
    store_table_done(&found);
    return there ? COMMAND_DONE : names_refuse_experiment(store, strtoull(request->parameters[0], NULL, 10));
}

static int check_extension(const struct query_request *request, struct store *store)
{
    const char *parameters[] = {request->query->extension};
    struct store_table found;
    if (!*request->query->extension)
        return COMMAND_DONE;
    int status = connect_query(store, "select from pg_extension where extname = $1", parameters, 1, &found);
    if (status != COMMAND_DONE)
        return status;
    bool there = found.rows > 0;
    store_table_done(&found);
    return there ? COMMAND_DONE
                 : args_refuse("query %s needs the server extension %s, which this database does not have: "
                               "`make install-extension` where the database server runs, then `kroo up` or "
                               "`kroo migrate`",
                               request->query->name, request->query->extension);
}

static int failed(const struct query_request *request, struct store *store, enum store_error error)
{
    if (error != STORE_OK && strstr(store_reason(store), "57014"))
        return args_refuse("the answer was not there after %llu s and was given up: ask for less, or allow "
                           "more with --timeout",
                           (unsigned long long)request->timeout_s);
    return connect_failed(store, error);
}

/* One snapshot for all: nothing that is committed meanwhile is seen by half. */
static int begin(const struct query_request *request, struct store *store, char as_of[64])
{
    struct store_table table;
    char limit[80];
    snprintf(limit, sizeof limit, "set local statement_timeout = '%llus'",
             (unsigned long long)request->timeout_s);
    const char *const steps[] = {"begin isolation level repeatable read read only", limit,
                                 "select to_char(now() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') || ' "
                                 "UTC'"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int status = connect_query(store, steps[i], NULL, 0, &table);
        if (status != COMMAND_DONE)
            return status;
        if (table.rows > 0)
            snprintf(as_of, 64, "%s", store_cell(&table, 0, 0));
        store_table_done(&table);
    }
    return COMMAND_DONE;
}

static int answer(struct query_request *request, struct store *store)
{
    char as_of[64] = "";
    struct store_table table;
    size_t count = 0;
    char word[32];
    bool optional;
    while (parameter_word(request->query, count, word, &optional))
        count++;
    int status = begin(request, store, as_of);
    if (status == COMMAND_DONE)
        status = check_extension(request, store);
    if (status == COMMAND_DONE)
        status = check_there(request, store);
    if (status != COMMAND_DONE)
        return status;
    status =
        failed(request, store, store_query(store, request->query->sql, request->parameters, count, &table));
    if (status != COMMAND_DONE)
        return status;
    status = print_answer(request, &table, as_of);
    store_table_done(&table);
    return status;
}

int query_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"list", OPTION_LIST, NULL, 0, "List the queries", 1},
        {"format", OPTION_FORMAT, "FORMAT", 0, "table (default), csv or json", 1},
        {"timeout", OPTION_TIMEOUT, "SECONDS", 0, "Give up after so long (default 10)", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = query_parse,
        .args_doc = "NAME [PARAMETER...]",
        .doc =
            "Run one of the shipped queries (sql/queries/) and print its answer. Each reads one snapshot of "
            "the database and tells its time.\v"
            "Examples:\n  kroo query --list\n  kroo query endings 12\n  kroo query openings 12 FcE\n"
            "  kroo query workers --format csv",
        .children = args_common_children};
    struct query_request request = {.timeout_s = TIMEOUT_S};
    parse_line(&argp, argc, argv, &request);
    if (request.common.json)
        request.format = QUERY_JSON;
    if (request.list)
        return list_queries(&request);
    int status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status = answer(&request, store);
    store_close(store);
    return status;
}
