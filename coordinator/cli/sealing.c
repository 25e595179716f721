#include "coordinator/cli/sealing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "proto/confine.h"
#include "proto/engine_set.h"
#include "proto/text.h"

int sealing_key(const struct args_common *common, const char *option, struct seal_key *key, bool *has)
{
    int status;
    char reason[512];
    struct settings *settings = connect_settings(common, &status);
    if (!settings)
        return status;
    const char *path = option ? option : settings_get(settings, "sign", NULL);
    *has = path != NULL;
    status = COMMAND_DONE;
    if (path && seal_key_load(path, key, reason, sizeof reason) != KEYS_OK)
        status = args_refuse("%s", reason);
    if (path)
        confine_hide(path);
    settings_destroy(settings);
    return status;
}

/* --- signing --- */

enum store_error sealing_put(struct store *store, const struct seal_key *key, const char *name,
                             const uint8_t sha256[STORE_HASH], const void *bytes, size_t size, bool is_source)
{
    struct seal_subject subject;
    struct seal seal;
    struct store_seal row = {.name = ""};
    seal_subject_of(sha256, bytes, size, is_source, &subject);
    seal_make(key, &subject, name, &seal);
    snprintf(row.name, sizeof row.name, "%s", seal.name);
    memcpy(row.kind, subject.kind, sizeof row.kind);
    memcpy(row.architecture, subject.architecture, sizeof row.architecture);
    memcpy(row.key, seal.key, sizeof row.key);
    memcpy(row.signature, seal.signature, sizeof row.signature);
    return store_seal_put(store, sha256, &row, connect_caller());
}

static int sign_artifact(struct store *store, const struct seal_key *key, const char *name,
                         const uint8_t sha256[STORE_HASH], bool is_source, struct engine_set *set)
{
    void *bytes = NULL;
    size_t size = 0;
    char reason[256];
    int status = connect_artifact(store, is_source ? "sources" : "engine", sha256, &bytes, &size);
    if (status != COMMAND_DONE)
        return status;
    status = connect_failed(store, sealing_put(store, key, name, sha256, bytes, size, is_source));
    if (set && status == COMMAND_DONE && engine_set_is(bytes, size) &&
        engine_set_parse(bytes, size, set, reason, sizeof reason) != 0)
        status = args_refuse("the engine's set: %s", reason);
    free(bytes);
    return status;
}

static int sign_engine(struct store *store, const struct seal_key *key, const char *name)
{
    struct store_engine engine;
    struct engine_set set = {.count = 0};
    int status = connect_failed(store, store_engine_find(store, name, NULL, &engine));
    if (status == COMMAND_DONE)
        status = sign_artifact(store, key, name, engine.sha256, false, &set);
    for (size_t i = 0; i < set.count && status == COMMAND_DONE; i++)
        status = sign_artifact(store, key, name, set.binaries[i].sha256, false, NULL);
    if (status == COMMAND_DONE && set.has_source)
        status = sign_artifact(store, key, name, set.source, true, NULL);
    return status;
}

int sealing_engines(struct store *store, const struct seal_key *key, const char *name, size_t *count)
{
    struct store_table table;
    const char *parameters[] = {name};
    *count = 0;
    int status =
        connect_query(store, "select name from kroo.engine where name = $1 or $1 is null order by name",
                      parameters, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    if (table.rows == 0 && name)
        status = names_refuse(store, NAMES_ENGINES, name);
    for (size_t i = 0; i < table.rows && status == COMMAND_DONE; i++) {
        status = sign_engine(store, key, store_cell(&table, i, 0));
        *count += status == COMMAND_DONE;
    }
    store_table_done(&table);
    return status;
}

/* --- checking --- */

int sealing_check(struct store *store, const uint8_t sha256[STORE_HASH], const void *bytes, size_t size,
                  bool is_source)
{
    struct seal_trust trust = {.count = 0};
    struct store_seal rows[STORE_SEALS_MAX];
    struct seal seals[STORE_SEALS_MAX];
    struct seal_subject subject;
    size_t count;
    char reason[512], hex[ARTIFACT_HEX];
    if (seal_trust_add(&trust, connect_trust(), reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    if (trust.count == 0)
        return COMMAND_DONE;
    int status = connect_failed(store, store_seals(store, sha256, rows, &count));
    if (status != COMMAND_DONE)
        return status;
    for (size_t i = 0; i < count; i++) {
        memcpy(seals[i].name, rows[i].name, sizeof seals[i].name);
        memcpy(seals[i].key, rows[i].key, sizeof seals[i].key);
        memcpy(seals[i].signature, rows[i].signature, sizeof seals[i].signature);
    }
    seal_subject_of(sha256, bytes, size, is_source, &subject);
    if (seal_find(&trust, &subject, seals, count, reason))
        return COMMAND_DONE;
    artifact_hex(sha256, hex);
    return args_refuse("%s %.12s is not run here: %s", subject.kind, hex, reason);
}

/* --- the command --- */

struct sign_request {
    struct args_common common;
    const char *key, *name;
    bool all;
};

enum { OPTION_SIGN = 0x3200, OPTION_ALL };

static error_t sign_parse(int key, char *text, struct argp_state *state)
{
    struct sign_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_SIGN:
        request->key = text;
        return 0;
    case OPTION_ALL:
        request->all = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->name = text;
        return 0;
    case ARGP_KEY_END:
        if (!request->name == !request->all)
            argp_error(state, "it needs an engine's name, or --all");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int sign(const struct sign_request *request, const struct seal_key *key)
{
    int status;
    size_t count = 0;
    char text[SEAL_KEY_TEXT];
    struct store *store = connect_as(&request->common, "kroo_coordinator", &status);
    if (!store)
        return status;
    status = sealing_engines(store, key, request->name, &count);
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    seal_key_text(key->key, text);
    if (request->common.json)
        return table_json_print(json_pack("{s:I, s:s}", "signed", (json_int_t)count, "public_key", text));
    printf("signed %zu engine%s by %s\n", count, count == 1 ? "" : "s", text);
    return COMMAND_DONE;
}

int engine_sign_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"sign", OPTION_SIGN, "KEYFILE", 0, "Secret signing key (default: the setting `sign`)", 1},
        {"all", OPTION_ALL, NULL, 0, "Sign every engine of the database", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = sign_parse,
        .args_doc = "NAME",
        .doc = "Sign an engine that is there already, with all its parts. Workers that are given public keys "
               "(kroo-worker --trust) run an engine only if one of them has signed it; those that were "
               "refusing it take it with their next lease.\v"
               "Example:\n  kroo key new release --signing --out keys\n"
               "  kroo engine sign release-1 --sign keys/release.sign.key",
        .children = args_common_children};
    struct sign_request request = {.key = NULL};
    struct seal_key key;
    bool has;
    parse_line(&argp, argc, argv, &request);
    int status = sealing_key(&request.common, request.key, &key, &has);
    if (status == COMMAND_DONE && !has)
        status = args_refuse("no signing key: give --sign KEYFILE, or set `sign`; `kroo key new NAME "
                             "--signing` makes one");
    if (status == COMMAND_DONE)
        status = sign(&request, &key);
    seal_key_wipe(&key);
    return status;
}
