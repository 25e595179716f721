/* What a player has besides weights and limits, as the user names it: engine, options, endgame tables; and
 * how that is told again. One thread. */
#ifndef KROO_COORDINATOR_CLI_OUTFIT_H
#define KROO_COORDINATOR_CLI_OUTFIT_H

#include <jansson.h>

#include "coordinator/cli/args.h"
#include "proto/message.h"
#include "sql/store.h"

struct outfit {
    const char *engine, *tables; /* NULL: not given */
    char options[MESSAGE_OPTIONS_MAX];
};

/* Adds a line `Name=Value`; one that is none ends the program. */
void outfit_add_option(struct argp_state *state, struct outfit *outfit, const char *option, const char *text);
/* By name; `built-in`, `none` and NULL leave it as it is. COMMAND_DONE, or said why not. */
int outfit_find_engine(struct store *store, const char *name, struct message_player *player);
int outfit_find_tables(struct store *store, const char *name, uint8_t sha256[MESSAGE_HASH]);
/* Fills engine, tables and options of `player`: its own, else those of both; options of both come first.
 * `built-in` and `none` are names, too. COMMAND_DONE, or said why not. */
int outfit_fill(struct store *store, const struct outfit *both, const struct outfit *own,
                struct message_player *player);

/* Adds what a player of another kind than the usual has to its JSON object: `engine`, `engine_sha256`,
 * `tables`, `tables_sha256`, `options`. The names are those of the files, "" where there are none. */
void outfit_add_json(json_t *object, const struct store_player *player, const char *engine,
                     const char *tables);

#endif
