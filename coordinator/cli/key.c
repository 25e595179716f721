/* `kroo key`: key pairs in files, and the allow-list in the database. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "proto/keys.h"
#include "proto/progress.h"
#include "proto/seal.h"
#include "sql/store_notice.h"

enum { OPTION_OUT = 0x3000, OPTION_ROLE, OPTION_SIGNING };

struct key_request {
    struct args_common common;
    const char *out, *role;
    const char *words[2];
    unsigned wanted; /* words that must be there */
    bool signing;
};

static error_t key_parse(int key, char *text, struct argp_state *state)
{
    struct key_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_OUT:
        request->out = text;
        return 0;
    case OPTION_SIGNING:
        request->signing = true;
        return 0;
    case OPTION_ROLE:
        if (strcmp(text, "worker") != 0 && strcmp(text, "operator") != 0 && strcmp(text, "viewer") != 0 &&
            strcmp(text, "submitter") != 0)
            argp_error(state, "--role is worker, operator, submitter or viewer, not \"%.40s\"", text);
        request->role = text;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= request->wanted)
            return ARGP_ERR_UNKNOWN;
        request->words[state->arg_num] = text;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < request->wanted)
            argp_error(state, "it needs %s", request->wanted == 2 ? "a name and a public key" : "a name");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int check_name(const char *name)
{
    size_t length = strlen(name);
    size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (length == 0 || length >= STORE_NAME || good != length || name[0] == '.' || name[0] == '-')
        return args_refuse(
            "\"%.80s\" is no name: 1 to %d of the letters A-Z a-z 0-9 . _ -, not starting with . "
            "or -",
            name, STORE_NAME - 1);
    return COMMAND_DONE;
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return args_refuse("folder %s: %s", path, strerror(errno));
    return COMMAND_DONE;
}

/* The new pair's public half as text; COMMAND_DONE, or said why not. */
static int make_pair(const struct key_request *request, char *public_key, size_t size)
{
    char reason[512];
    struct keys keys;
    struct seal_key seal;
    enum keys_error error =
        request->signing ? seal_key_generate(request->out, request->words[0], &seal, reason, sizeof reason)
                         : keys_generate(request->out, request->words[0], &keys, reason, sizeof reason);
    if (error != KEYS_OK)
        return args_refuse("%s", reason);
    if (request->signing) {
        seal_key_text(seal.key, public_key);
        seal_key_wipe(&seal);
    } else {
        snprintf(public_key, size, "%s", keys.public_key);
        keys_wipe(&keys);
    }
    return COMMAND_DONE;
}

static int key_new(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"out", OPTION_OUT, "DIR", 0, "Folder for the files (default .)", 1},
        {"signing", OPTION_SIGNING, NULL, 0,
         "A key that signs engines (NAME.sign.key and NAME.sign.pub), not one to connect with", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = key_parse,
        .args_doc = "NAME",
        .doc =
            "Make a key pair: NAME.key is the secret and stays where it is (mode 0600); NAME.pub is public. "
            "Nothing is overwritten.\v"
            "Examples:\n  kroo key new node7 --out keys\n  kroo key allow node7 keys/node7.pub --role "
            "worker\n"
            "  kroo key new release --signing --out keys\n"
            "  kroo engine add kroo-engine --name release-1 --sign keys/release.sign.key",
        .children = args_common_children};
    struct key_request request = {.out = ".", .wanted = 1};
    parse_line(&argp, argc, argv, &request);
    char public_key[SEAL_KEY_TEXT + KEYS_TEXT], path[1200];
    const char *name = request.words[0];
    if (check_name(name) != COMMAND_DONE || make_folder(request.out) != COMMAND_DONE ||
        make_pair(&request, public_key, sizeof public_key) != COMMAND_DONE)
        return COMMAND_REFUSED;
    snprintf(path, sizeof path, "%.1000s/%.63s%s", request.out, name, request.signing ? ".sign" : "");
    if (request.common.json)
        return table_json_print(json_pack("{s:s, s:s, s:o, s:o}", "name", name, "public_key", public_key,
                                          "secret_file", json_sprintf("%s.key", path), "public_file",
                                          json_sprintf("%s.pub", path)));
    printf("%s\n", public_key);
    if (request.signing)
        args_note("secret in %s.key, public in %s.pub; sign by `kroo engine add ... --sign %s.key`, give "
                  "workers --trust %s.pub",
                  path, path, path, path);
    else
        args_note("secret in %s.key, public in %s.pub; allow it with `kroo key allow %s %s.pub`", path, path,
                  name, path);
    return COMMAND_DONE;
}

/* The allow-list is the coordinator's table, so its role writes it. */
static int tell(const struct key_request *request, const struct store_peer *peer, const char *what)
{
    if (request->common.json)
        return table_json_print(json_pack("{s:s, s:s, s:s, s:s}", "name", peer->name, "public_key",
                                          peer->public_key, "role", peer->role, "done", what));
    printf("%s %s (%s) as %s\n", what, peer->name, peer->public_key, peer->role);
    return COMMAND_DONE;
}

/* The leading coordinator goes by the changed list before we return; without one there is nobody to wait for.
 */
static int wait_until_in_force(struct store *store)
{
    enum { PATIENCE_MS = 5000, LOOK_MS = 10 };
    int64_t until_ms = progress_now_ms() + PATIENCE_MS;
    for (;;) {
        uint64_t lag = 0;
        int status = connect_failed(store, store_peers_lag(store, &lag));
        if (status != COMMAND_DONE || lag == 0)
            return status;
        if (progress_now_ms() >= until_ms)
            break;
        poll(NULL, 0, LOOK_MS);
    }
    fprintf(stderr,
            "the allow-list is changed, but the coordinator has not said within %d s that it goes by it: it "
            "reads "
            "the list every two seconds; `kroo status` shows whether it works\n",
            PATIENCE_MS / 1000);
    return COMMAND_DONE;
}

static int key_allow(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"role", OPTION_ROLE, "ROLE", 0,
         "worker (plays; the default), operator (may change things), submitter (may ask for experiments, "
         "which wait for an operator's `kroo approve`) or viewer (may look)",
         1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = key_parse,
        .args_doc = "NAME PUBLIC",
        .doc =
            "Allow a key to connect. PUBLIC is a NAME.pub file or the 40 letters themselves. The coordinator "
            "goes by it from when this returns.\v"
            "Example:\n  kroo key allow node7 keys/node7.pub --role worker",
        .children = args_common_children};
    struct key_request request = {.role = "worker", .wanted = 2};
    parse_line(&argp, argc, argv, &request);
    struct store_peer peer = {0};
    char reason[512];
    if (check_name(request.words[0]) != COMMAND_DONE)
        return COMMAND_REFUSED;
    if (keys_public(request.words[1], peer.public_key, reason, sizeof reason) != KEYS_OK)
        return args_refuse("%s", reason);
    snprintf(peer.name, sizeof peer.name, "%s", request.words[0]);
    snprintf(peer.role, sizeof peer.role, "%s", request.role);
    int status;
    struct store *store = connect_as(&request.common, "kroo_coordinator", &status);
    if (!store)
        return status;
    status = connect_failed(store, store_peer_allow(store, &peer, connect_caller()));
    if (status == COMMAND_DONE)
        status = wait_until_in_force(store);
    store_close(store);
    return status == COMMAND_DONE ? tell(&request, &peer, "allowed") : status;
}

/* Revokes every key of that name, or the key itself. */
static int revoke_matching(struct store *store, const struct key_request *request)
{
    struct store_peer *list = NULL;
    size_t count = 0, matched = 0;
    int status = connect_failed(store, store_peers(store, &list, &count));
    for (size_t i = 0; i < count && status == COMMAND_DONE; i++) {
        if (strcmp(list[i].name, request->words[0]) != 0 &&
            strcmp(list[i].public_key, request->words[0]) != 0)
            continue;
        matched++;
        status = connect_failed(store, store_peer_revoke(store, list[i].public_key, connect_caller()));
        if (status == COMMAND_DONE)
            status = tell(request, &list[i], "revoked");
    }
    free(list);
    if (status == COMMAND_DONE && matched == 0)
        return names_refuse(store, NAMES_KEYS, request->words[0]);
    return status;
}

static int key_revoke(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = key_parse,
        .args_doc = "NAME",
        .doc =
            "Revoke a key, by its name or its 40 letters: it cannot connect any more, and its next message "
            "over an open connection is refused, from when this returns. Its past results stay.\v"
            "Example:\n  kroo key revoke node7",
        .children = args_common_children};
    struct key_request request = {.wanted = 1};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_as(&request.common, "kroo_coordinator", &status);
    if (!store)
        return status;
    status = revoke_matching(store, &request);
    if (status == COMMAND_DONE)
        status = wait_until_in_force(store);
    store_close(store);
    return status;
}

static int key_ls(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = key_parse, .doc = "List the keys that may connect.", .children = args_common_children};
    struct key_request request = {0};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_as(&request.common, "kroo_coordinator", &status);
    if (!store)
        return status;
    struct store_peer *list = NULL;
    size_t count = 0;
    status = connect_failed(store, store_peers(store, &list, &count));
    store_close(store);
    json_t *array = request.common.json ? json_array() : NULL;
    for (size_t i = 0; i < count && status == COMMAND_DONE; i++) {
        if (array)
            json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "name", list[i].name, "role",
                                                   list[i].role, "public_key", list[i].public_key));
        else
            printf("%-20s  %-9s  %s\n", list[i].name, list[i].role, list[i].public_key);
    }
    if (status == COMMAND_DONE && !array && count == 0)
        printf("no keys: only the local socket may be used\n");
    free(list);
    if (array && status == COMMAND_DONE)
        return table_json_print(array);
    json_decref(array);
    return status;
}

int key_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"new", key_new, "make a key pair", true},
        {"allow", key_allow, "let a public key connect", true},
        {"revoke", key_revoke, "let it connect no more", true},
        {"ls", key_ls, "list the keys that may connect", true},
        {0},
    };
    return dispatch(commands,
                    "CURVE keys of workers and of `kroo` itself. The local socket of a private cluster needs "
                    "none.",
                    "ls", argc, argv);
}
