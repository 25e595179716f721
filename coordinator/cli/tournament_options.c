/* What a tournament is asked for: options that its matches share, players, anchor. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/tournament.h"
#include "proto/text.h"

/* What a player may have of its own: `kroo match` has each as `--KEY-a` and `--KEY-b`. */
static const char *const setting_keys[] = {"nodes", "depth", "time", "clock", "engine", "tables", "option"};

/* --- options of `kroo match`, kept as words --- */

void tournament_options_init(struct tournament_options *options)
{
    *options = (struct tournament_options){.words = json_array()};
    launch_init(&options->launch, MESSAGE_MATCH);
}

void tournament_options_done(struct tournament_options *options)
{
    json_decref(options->words);
}

static const struct argp_option *option_of(int key)
{
    for (const struct argp_option *option = launch_options; option->name; option++)
        if (option->key == key)
            return option;
    return NULL;
}

/* Options that are about the one experiment and not about all matches. */
static bool take_own(struct tournament_options *options, const char *name, const char *text)
{
    if (strcmp(name, "key") == 0)
        options->key = text;
    else if (strcmp(name, "wait") == 0)
        options->wait = true;
    else
        return false;
    return true;
}

static error_t options_parse(int key, char *text, struct argp_state *state)
{
    struct tournament_options *options = state->input;
    const struct argp_option *option = option_of(key);
    if (!option)
        return ARGP_ERR_UNKNOWN;
    if (strcmp(option->name, "dry-run") == 0)
        argp_error(state, "a tournament has no --dry-run; `kroo match --dry-run` checks one of its matches");
    if (take_own(options, option->name, text))
        return 0;
    state->input = &options->launch;
    error_t error = launch_argp.parser(key, text, state);
    state->input = options;
    /* How many pairs is part of each pairing. */
    if (error != 0 || strcmp(option->name, "pairs") == 0 || strcmp(option->name, "games") == 0)
        return error;
    char word[DRIVER_WORD_MAX];
    snprintf(word, sizeof word, text ? "--%s=%s" : "--%s", option->name, text);
    json_array_append_new(options->words, json_string(word));
    return 0;
}

const struct argp tournament_options_argp = {.options = launch_options, .parser = options_parse};

/* --- players --- */

void tournament_check_name(struct argp_state *state, const char *option, const char *name)
{
    if (!text_is_name(name) || strlen(name) >= TOURNAMENT_NAME_MAX || strchr("_-.", *name))
        argp_error(
            state,
            "%s: a tournament's name has up to %d letters, digits, . _ and -, and begins with a letter "
            "or digit",
            option, TOURNAMENT_NAME_MAX - 1);
}

bool tournament_put_player(struct tournament *tournament, const char *name, const char *weights_hex,
                           json_t *settings)
{
    if (tournament->players == tournament->room) {
        size_t room = tournament->room ? 2 * tournament->room : 16;
        struct contestant *player = realloc(tournament->player, room * sizeof *player);
        if (!player || tournament->players >= TOURNAMENT_PLAYERS_MAX)
            return false;
        tournament->player = player;
        tournament->room = room;
    }
    struct contestant *player = &tournament->player[tournament->players++];
    *player = (struct contestant){.settings = json_incref(settings), .since_round = 1};
    snprintf(player->name, sizeof player->name, "%s", name);
    snprintf(player->weights, sizeof player->weights, "%s", weights_hex);
    return true;
}

/* `key=value`, its key one of those that a player may have. */
static void add_setting(struct argp_state *state, const char *player, json_t *settings, const char *word)
{
    size_t count = sizeof setting_keys / sizeof *setting_keys, length = strcspn(word, "=");
    for (size_t i = 0; i < count; i++)
        if (strlen(setting_keys[i]) == length && strncmp(word, setting_keys[i], length) == 0 &&
            word[length] == '=' && word[length + 1]) {
            json_array_append_new(settings, json_string(word));
            return;
        }
    argp_error(state,
               "player \"%.60s\": \"%.60s\" is no setting; a player is [NAME=]WEIGHTS[,key=value]... with "
               "nodes, depth, time, clock, engine, tables or option as key",
               player, word);
}

void tournament_add_player(struct argp_state *state, struct tournament *tournament, const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    char *head = copy ? strtok_r(copy, ",", &rest) : NULL;
    json_t *settings = json_array();
    if (!head || *text == ',')
        argp_error(state, "\"%.60s\" is no player: [NAME=]WEIGHTS[,key=value]...", text);
    char *weights = strchr(head, '=');
    for (char *word = strtok_r(NULL, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        add_setting(state, text, settings, word);
    const char *name = weights ? head : text;
    if (weights)
        *weights++ = '\0';
    else
        weights = head;
    if (!*weights || !*name || strlen(name) >= STORE_NAME)
        argp_error(state, "player \"%.60s\": name and weights have 1 to %d letters", text, STORE_NAME - 1);
    for (size_t i = 0; i < tournament->players; i++)
        if (strcmp(tournament->player[i].name, name) == 0)
            argp_error(state, "two players are called \"%.60s\": name them, as in first=%.60s", name, text);
    if (!tournament_put_player(tournament, name, "", settings))
        argp_error(state, "more than %d players", TOURNAMENT_PLAYERS_MAX);
    tournament->player[tournament->players - 1].weights_text = strdup(weights);
    json_decref(settings);
    free(copy);
}

/* An anchor that nobody is must not be passed over in silence. */
void tournament_set_anchor(struct argp_state *state, struct tournament *tournament, const char *text)
{
    for (size_t i = 0; i < tournament->players; i++) {
        struct contestant *player = &tournament->player[i];
        size_t length = strlen(player->name);
        if (strncmp(text, player->name, length) != 0 || (text[length] != '\0' && text[length] != '='))
            continue;
        player->is_anchor = true;
        if (text[length])
            player->anchor_elo = args_decimal(state, "--anchor", text + length + 1);
        if (player->anchor_elo < -100000 || player->anchor_elo > 100000)
            argp_error(state, "--anchor: a rating lies within -100000 and 100000");
        return;
    }
    argp_error(state, "--anchor: no player is called \"%.60s\"; give PLAYER or PLAYER=ELO", text);
}
