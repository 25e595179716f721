#include "coordinator/cli/outfit.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/connect.h"
#include "proto/artifact.h"

static int append(char out[MESSAGE_OPTIONS_MAX], const char *lines)
{
    size_t used = strlen(out), more = strlen(lines);
    if (more == 0)
        return 0;
    if (used + more + 2 > MESSAGE_OPTIONS_MAX)
        return -1;
    snprintf(out + used, MESSAGE_OPTIONS_MAX - used, "%s%s", used ? "\n" : "", lines);
    return 0;
}

void outfit_add_option(struct argp_state *state, struct outfit *outfit, const char *option, const char *text)
{
    char reason[160] = "it is too long";
    if (strchr(text, '\n') || text[0] == '\0' || strlen(text) >= MESSAGE_OPTION_MAX ||
        append(outfit->options, text) != 0 || !message_options_check(outfit->options, reason, sizeof reason))
        argp_error(state, "%s takes Name=Value: %s", option, reason);
}

int outfit_find_engine(struct store *store, const char *name, struct message_player *player)
{
    struct store_engine engine;
    if (!name || strcmp(name, "built-in") == 0)
        return COMMAND_DONE;
    enum store_error error = store_engine_find(store, name, NULL, &engine);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse(store, NAMES_ENGINES, name);
    memcpy(player->engine, engine.sha256, sizeof player->engine);
    return connect_failed(store, error);
}

int outfit_find_tables(struct store *store, const char *name, uint8_t sha256[MESSAGE_HASH])
{
    struct store_tables tables;
    if (!name || strcmp(name, "none") == 0)
        return COMMAND_DONE;
    enum store_error error = store_tables_find(store, name, NULL, &tables);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse(store, NAMES_TABLES, name);
    memcpy(sha256, tables.sha256, MESSAGE_HASH);
    return connect_failed(store, error);
}

int outfit_fill(struct store *store, const struct outfit *both, const struct outfit *own,
                struct message_player *player)
{
    int status = outfit_find_engine(store, own->engine ? own->engine : both->engine, player);
    if (status == COMMAND_DONE)
        status = outfit_find_tables(store, own->tables ? own->tables : both->tables, player->tables);
    if (status != COMMAND_DONE)
        return status;
    if (append(player->options, both->options) != 0 || append(player->options, own->options) != 0)
        return args_refuse("the options of a player have more than %d bytes together",
                           MESSAGE_OPTIONS_MAX - 1);
    return COMMAND_DONE;
}

static void add_file(json_t *object, const char *key, const char *hash_key, const uint8_t sha256[STORE_HASH],
                     const char *name)
{
    char hex[ARTIFACT_HEX];
    if (message_hash_is_none(sha256))
        return;
    artifact_hex(sha256, hex);
    json_object_set_new(object, key, json_string(name));
    json_object_set_new(object, hash_key, json_string(hex));
}

void outfit_add_json(json_t *object, const struct store_player *player, const char *engine,
                     const char *tables)
{
    add_file(object, "engine", "engine_sha256", player->engine, engine);
    add_file(object, "tables", "tables_sha256", player->tables, tables);
    if (player->limits.clock_ms > 0) {
        json_object_set_new(object, "clock_ms", json_integer(player->limits.clock_ms));
        json_object_set_new(object, "increment_ms", json_integer(player->limits.increment_ms));
    }
    if (player->options[0] == '\0')
        return;
    json_t *array = json_array();
    for (const char *line = player->options; line && *line;) {
        size_t size = strcspn(line, "\n");
        json_array_append_new(array, json_stringn(line, size));
        line = line[size] ? line + size + 1 : NULL;
    }
    json_object_set_new(object, "options", array);
}
