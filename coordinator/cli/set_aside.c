/* `kroo workers set-aside` and `restore`: a worker gets no more leases, or may work again. Like the
 * allow-list this is the coordinator's table, which takes notice within a second or two. */
#include "coordinator/cli/set_aside.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "sql/store_flag.h"

enum { OPTION_REASON = 0x3000 };

struct set_aside {
    struct args_common common;
    const char *who, *reason;
};

static error_t set_aside_parse(int key, char *text, struct argp_state *state)
{
    struct set_aside *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_REASON:
        if (strlen(text) >= STORE_TEXT)
            argp_error(state, "--reason: at most %d letters", STORE_TEXT - 1);
        request->reason = text;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->who = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which worker? `kroo workers` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A worker's own name, a key, or a key's name in the allow-list. */
static int find(struct store *store, const char *who, const char **peer, const char **name,
                char found[STORE_NAME])
{
    const char *parameters[] = {who};
    struct store_table row;
    int status =
        connect_query(store,
                      "select (select min(s.name) from kroo.session s where s.name = $1 and s.slots > 0),"
                      " coalesce((select min(s.peer) from kroo.session s where s.peer = $1 and s.slots > 0),"
                      " (select p.public_key from kroo.peer p where $1 in (p.public_key, p.name)"
                      "  order by p.revoked_at nulls first limit 1))",
                      parameters, 1, &row);
    if (status != COMMAND_DONE)
        return status;
    bool by_name = *store_cell(&row, 0, 0) != '\0';
    snprintf(found, STORE_NAME, "%s", store_cell(&row, 0, by_name ? 0 : 1));
    store_table_done(&row);
    *name = by_name ? found : "";
    *peer = by_name ? "" : found;
    return *found ? COMMAND_DONE : names_refuse(store, NAMES_WORKERS, who);
}

static int answer(const struct set_aside *request, const char *done, const char *remark)
{
    if (request->common.json)
        return table_json_print(json_pack("{s:s, s:s}", "worker", request->who, "done", done));
    printf("%s %s%s\n", request->who, done, remark);
    return COMMAND_DONE;
}

static int set_aside(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"reason", OPTION_REASON, "TEXT", 0, "Why: it is told so, and it is kept", 1}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = set_aside_parse,
        .args_doc = "NAME|KEY",
        .doc = "Set a worker aside, by the name it gives itself, or every worker with a key. It gets no "
               "leases and is "
               "told why. Its games in experiments that still run are kept apart and their pairs go out "
               "again to "
               "others; a written verdict stands, and is marked as withdrawn where it would change without "
               "them. What "
               "is learned from now on leaves its games out.\v"
               "Example:\n  kroo workers set-aside node7 --reason 'memory errors in its log'",
        .children = args_common_children};
    struct set_aside request = {0};
    const char *peer, *name;
    char found[STORE_NAME];
    int status;
    parse_line(&argp, argc, argv, &request);
    if (!request.reason || !*request.reason)
        return args_refuse("say why: --reason TEXT");
    struct store *store = connect_as(&request.common, "kroo_coordinator", &status);
    if (!store)
        return status;
    status = find(store, request.who, &peer, &name, found);
    bool is_new = false;
    if (status == COMMAND_DONE)
        status = connect_failed(store, store_worker_put_aside(store, peer, name, "hand", request.reason,
                                                              connect_caller(), &is_new));
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    return is_new ? answer(&request, "set aside", "") : args_refuse("%s is set aside already", request.who);
}

static int restore(int argc, char **argv)
{
    static const struct argp argp = {.parser = set_aside_parse,
                                     .args_doc = "NAME|KEY",
                                     .doc = "Let a worker that was set aside work again. What was played "
                                            "anew meanwhile stays; a withdrawn verdict "
                                            "stays withdrawn until `kroo resume`.\v"
                                            "Example:\n  kroo workers restore node7",
                                     .children = args_common_children};
    struct set_aside request = {0};
    const char *peer, *name;
    char found[STORE_NAME];
    uint64_t restored = 0;
    int status;
    parse_line(&argp, argc, argv, &request);
    struct store *store = connect_as(&request.common, "kroo_coordinator", &status);
    if (!store)
        return status;
    status = find(store, request.who, &peer, &name, found);
    if (status == COMMAND_DONE)
        status = connect_failed(store, store_worker_restore(store, peer, name, connect_caller(), &restored));
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    return restored ? answer(&request, "restored", "") : args_refuse("%s is not set aside", request.who);
}

static error_t list_parse(int key, char *text, struct argp_state *state)
{
    return key == ARGP_KEY_ARG || key == ARGP_KEY_NO_ARGS ? ARGP_ERR_UNKNOWN
                                                          : set_aside_parse(key, text, state);
}

static int list(int argc, char **argv)
{
    static const struct argp argp = {.parser = list_parse,
                                     .doc = "Who is or was set aside, why, and by whom.",
                                     .children = args_common_children};
    struct set_aside request = {0};
    int status;
    parse_line(&argp, argc, argv, &request);
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status = connect_print(
        store, request.common.json,
        "select coalesce(name, '(any)') as worker, coalesce(peer_name, peer, '(any)') as peer, kind,"
        " set_aside_by as by, to_char(set_aside_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as since,"
        " to_char(restored_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as restored, restored_by, reason"
        " from kroo.worker_set_aside order by id",
        NULL, 0, "no worker is or was set aside");
    store_close(store);
    return status;
}

bool set_aside_command(int argc, char **argv, int *status)
{
    static const struct {
        const char *word;
        int (*run)(int argc, char **argv);
    } words[] = {{"set-aside", set_aside}, {"restore", restore}, {"flags", list}};
    for (int i = 1; i < argc; i++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            bool is_value =
                i > 1 && (strcmp(argv[i - 1], "--dir") == 0 || strcmp(argv[i - 1], "--config") == 0);
            if (is_value || strcmp(argv[i], words[w].word) != 0)
                continue;
            for (int k = i; k + 1 < argc; k++)
                argv[k] = argv[k + 1];
            argv[argc - 1] = NULL;
            *status = words[w].run(argc - 1, argv);
            return true;
        }
    return false;
}
