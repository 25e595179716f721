#include "web/engine/bridge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/game.h"
#include "engine/level.h"
#include "engine/perft.h"
#include "engine/search.h"
#include "engine/weights.h"

#define EXPORT __attribute__((used, visibility("default")))

/* A line of GAME_PLIES_MAX plies takes some 2 MB. */
enum { TEXT_FIRST = 4096, TEXT_MOST = 16 << 20, REASON_MAX = 512, PERFT_MOST = 16 };

struct text {
    char *bytes; /* owned, NUL-terminated */
    size_t length, capacity;
    bool failed; /* memory was short: nothing more is added */
};

struct kroo_player {
    struct rules rules;
    struct game *game;
    struct weights *weights;
    bool built_in; /* the weights are those of no file */
    struct search *search;
    struct text text;
};

/* --- text --- */

static bool text_reserve(struct text *text, size_t more)
{
    size_t capacity = text->capacity;
    while (capacity - text->length <= more)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    char *bytes = capacity <= TEXT_MOST ? realloc(text->bytes, capacity) : NULL;
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (!text->failed && length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    } else {
        text->failed = true;
    }
    va_end(again);
    va_end(arguments);
}

static void begin(struct kroo_player *player)
{
    player->text.length = 0;
    player->text.failed = false;
    player->text.bytes[0] = '\0';
}

static int finish(struct kroo_player *player)
{
    if (!player->text.failed)
        return 0;
    snprintf(player->text.bytes, player->text.capacity, "memory is short; close other pages and try again");
    return -1;
}

static int __attribute__((format(printf, 2, 3))) refuse(struct kroo_player *player, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(player->text.bytes, player->text.capacity, format, arguments);
    va_end(arguments);
    return -1;
}

/* --- life --- */

EXPORT struct kroo_player *kroo_create(unsigned hash_kib)
{
    struct kroo_player *player = calloc(1, sizeof *player);
    char reason[REASON_MAX];
    if (!player)
        return NULL;
    player->text.capacity = TEXT_FIRST;
    player->text.bytes = calloc(1, TEXT_FIRST);
    player->search = search_create(hash_kib);
    player->built_in = true;
    if (rules_parse("site", &player->rules, reason, sizeof reason) == 0) {
        player->game = game_create(&player->rules, NULL);
        player->weights = weights_create_starting(player->rules.name);
    }
    if (player->text.bytes && player->search && player->game && player->weights)
        return player;
    kroo_destroy(player);
    return NULL;
}

EXPORT void kroo_destroy(struct kroo_player *player)
{
    if (!player)
        return;
    search_destroy(player->search);
    game_destroy(player->game);
    weights_destroy(player->weights);
    free(player->text.bytes);
    free(player);
}

EXPORT const char *kroo_answer(const struct kroo_player *player)
{
    return player->text.bytes;
}

EXPORT void *kroo_alloc(size_t size)
{
    return malloc(size);
}

EXPORT void kroo_free(void *bytes)
{
    free(bytes);
}

/* --- the game --- */

static void add_counts(struct text *text, const uint8_t *counts, int count)
{
    for (int i = 0; i < count; i++)
        add(text, "%c%u", i == 0 ? '[' : ',', counts[i]);
    add(text, "]");
}

/* The board as it stands, before leftovers are taken. */
static struct position standing(const struct game *game)
{
    struct position position = game_position(game);
    struct game_history history = game_history(game);
    struct board board = history.boards[history.count - 1];
    uint64_t south = position.side == SIDE_SOUTH ? board.own : board.other;
    uint64_t north = position.side == SIDE_SOUTH ? board.other : board.own;
    for (int house = 0; house < BOARD_HOUSES; house++) {
        position.houses[house] = (uint8_t)board_house(south, house);
        position.houses[house + BOARD_HOUSES] = (uint8_t)board_house(north, house);
    }
    position.stores[SIDE_SOUTH] = (uint8_t)board_store(south);
    position.stores[SIDE_NORTH] = (uint8_t)board_store(north);
    return position;
}

static void add_ply(struct text *text, const struct game *game, bool slam)
{
    struct position position = standing(game);
    struct game_history history = game_history(game);
    add(text, "%s[", game_plies(game) == 0 ? "" : ",");
    add_counts(text, position.houses, 12);
    add(text, ",");
    add_counts(text, position.stores, 2);
    add(text, ",%u,%u,%zu,%u,%d]", position.side, game_legal(game), game_quiet_plies(game),
        history.occurrences[history.count - 1], slam);
}

static void add_ending(struct text *text, const struct game *game)
{
    struct position position = game_position(game);
    add(text, "],\"result\":\"%s\",\"reason\":\"%s\",\"houses\":", game_result_text(game_result(game)),
        game_reason_text(game_reason(game)));
    add_counts(text, position.houses, 12);
    add(text, ",\"stores\":");
    add_counts(text, position.stores, 2);
    add(text, "}");
}

static void add_rules(struct text *text, const struct rules *rules)
{
    add(text, "{\"rules\":\"%s\",\"terms\":{\"slam\":\"%s\",\"feeding\":\"%s\",\"leftovers\":\"%s\",",
        rules->name, rules_slam_text(rules->slam), rules_feeding_text(rules->feeding),
        rules_leftovers_text(rules->leftovers));
    add(text, "\"stop_leftovers\":\"%s\",\"repetitions\":%d,\"quiet_limit\":%d},",
        rules_leftovers_text(rules->stop_leftovers), rules->repetitions, rules->quiet_limit);
}

/* Plays `moves` on a game at its start and writes each ply; -1 after a refusal. */
static int play_moves(struct kroo_player *player, struct game *game, const char *moves)
{
    add_rules(&player->text, game_rules(game));
    add(&player->text, "\"plies\":[");
    add_ply(&player->text, game, false);
    for (const char *move = moves; *move != '\0'; move++) {
        struct game_history history = game_history(game);
        struct board before = history.boards[history.count - 1];
        enum game_error error = game_play_letter(game, *move);
        if (error != GAME_OK)
            return refuse(player, "move %zu, '%c', is refused: %s", game_plies(game) + 1,
                          *move >= ' ' && *move <= '~' ? *move : '?',
                          error == GAME_ERROR_OVER      ? "the game is over"
                          : error == GAME_ERROR_ILLEGAL ? "it is not legal here"
                          : error == GAME_ERROR_LENGTH  ? "the game is too long"
                                                        : "memory is short");
        add_ply(&player->text, game, board_is_slam(before, position_letter_house(*move) % BOARD_HOUSES));
    }
    add_ending(&player->text, game);
    return finish(player);
}

/* Weights that suit the rules: the player's own, or the built-in ones anew. NULL after a refusal. */
static struct weights *suit_weights(struct kroo_player *player, const struct rules *rules)
{
    struct rules own;
    char reason[REASON_MAX];
    if (rules_parse(player->weights->rules, &own, reason, sizeof reason) == 0 && rules_equal(&own, rules))
        return player->weights;
    if (!player->built_in) {
        refuse(player, "these weights were made for the rules '%s', not for '%s'; choose others first",
               player->weights->rules, rules->name);
        return NULL;
    }
    struct weights *weights = weights_create_starting(rules->name);
    if (!weights)
        refuse(player, "memory is short; close other pages and try again");
    return weights;
}

EXPORT int kroo_play(struct kroo_player *player, const char *rules_text, const char *start, const char *moves)
{
    struct rules rules;
    struct position position = position_start();
    char reason[REASON_MAX];
    begin(player);
    if (rules_parse(rules_text, &rules, reason, sizeof reason) != 0)
        return refuse(player, "the rules are refused: %s", reason);
    if (start[0] != '\0' && position_parse(start, &position, reason, sizeof reason) != 0)
        return refuse(player, "the position is refused: %s", reason);
    struct weights *weights = suit_weights(player, &rules);
    if (!weights)
        return -1;
    struct game *game = game_create(&rules, &position);
    int played = game ? play_moves(player, game, moves) : refuse(player, "memory is short");
    if (played != 0) {
        game_destroy(game);
        if (weights != player->weights)
            weights_destroy(weights);
        return -1;
    }
    if (weights != player->weights)
        weights_destroy(player->weights);
    game_destroy(player->game);
    player->game = game;
    player->rules = rules;
    player->weights = weights;
    return 0;
}

/* --- weights --- */

/* Takes the weights, with a game by their rules; -1 after a refusal. */
static int take_weights(struct kroo_player *player, struct weights *weights)
{
    struct rules rules;
    char reason[REASON_MAX];
    if (rules_parse(weights->rules, &rules, reason, sizeof reason) != 0)
        return refuse(player, "the weights are refused: %s", reason);
    if (!rules_equal(&rules, &player->rules)) {
        struct game *game = game_create(&rules, NULL);
        if (!game)
            return refuse(player, "memory is short; close other pages and try again");
        game_destroy(player->game);
        player->game = game;
        player->rules = rules;
    }
    weights_destroy(player->weights);
    player->weights = weights;
    search_new_game(player->search);
    return 0;
}

EXPORT int kroo_use_weights(struct kroo_player *player, const uint8_t *bytes, size_t size)
{
    struct weights *weights = NULL;
    begin(player);
    enum weights_error error = WEIGHTS_OK;
    if (bytes)
        error = weights_parse(bytes, size, NULL, &weights);
    else if (!(weights = weights_create_starting(player->rules.name)))
        error = WEIGHTS_ERROR_MEMORY;
    if (error != WEIGHTS_OK)
        return refuse(player, "the weights are refused: %s", weights_error_text(error));
    if (take_weights(player, weights) != 0) {
        weights_destroy(weights);
        return -1;
    }
    player->built_in = !bytes;
    add(&player->text, "{\"kind\":\"%s\",\"rules\":\"%s\",\"provenance\":%s}",
        weights_kind_name(weights->kind), weights->rules, weights->provenance);
    return finish(player);
}

EXPORT int kroo_evaluate(struct kroo_player *player)
{
    struct position position = standing(player->game);
    begin(player);
    add(&player->text, "%" PRId32, weights_evaluate(player->weights, &position));
    return finish(player);
}

/* --- searching --- */

static void add_info(struct text *text, const struct search_info *info)
{
    add(text,
        "\"depth\":%d,\"line\":%d,\"score\":%" PRId32 ",\"nodes\":%" PRIu64 ",\"time_ms\":%" PRId64
        ",\"hashfull\":%d,\"pv\":\"",
        info->depth, info->line, info->score, info->nodes, info->time_ms, info->hashfull);
    for (int i = 0; i < info->pv_length; i++)
        add(text, "%c", position_house_letter(info->pv[i]));
    add(text, "\"");
}

static void report(void *context, const struct search_info *info)
{
    struct kroo_player *player = context;
    begin(player);
    add(&player->text, "{");
    add_info(&player->text, info);
    add(&player->text, "}");
    if (finish(player) == 0)
        kroo_report(player->text.bytes);
}

static int search(struct kroo_player *player, const struct search_limits *limits)
{
    struct search_info info;
    int house =
        search_run(player->search, player->game, player->weights, limits, NULL, report, player, &info);
    begin(player);
    add(&player->text, "{\"move\":\"%c\",\"random\":false,", position_house_letter(house));
    add_info(&player->text, &info);
    add(&player->text, "}");
    return finish(player);
}

EXPORT void kroo_forget(struct kroo_player *player)
{
    search_new_game(player->search);
}

EXPORT int kroo_search(struct kroo_player *player, double nodes, int depth, int time_ms, int lines)
{
    begin(player);
    if (game_over(player->game))
        return refuse(player, "the game is over");
    /* A double holds every integer up to here. */
    if (!(nodes >= 0 && nodes <= 9007199254740992.0) || depth < 0 || time_ms < 0 || lines < 1 ||
        lines > SEARCH_LINES_MAX)
        return refuse(player, "nodes, depth and time are numbers from 0, lines one from 1 to %d",
                      SEARCH_LINES_MAX);
    if (nodes < 1 && depth == 0 && time_ms == 0)
        return refuse(player, "a search needs a limit of nodes, depth or time");
    const struct search_limits limits = {
        .nodes = (uint64_t)nodes, .depth = depth, .time_ms = time_ms, .lines = lines};
    return search(player, &limits);
}

EXPORT int kroo_choose(struct kroo_player *player, int number, double seed)
{
    const struct level *level = number >= 1 ? level_at((size_t)number - 1) : NULL;
    begin(player);
    if (game_over(player->game))
        return refuse(player, "the game is over");
    if (!level || !(seed >= 0 && seed <= 9007199254740992.0))
        return refuse(player, "a level is a number from 1 to %d, a seed one from 0", level_count());
    int house = level_noise(level, player->game, (uint64_t)seed);
    if (house < 0) {
        const struct search_limits limits = {.nodes = level->nodes};
        search_new_game(player->search);
        return search(player, &limits);
    }
    add(&player->text, "{\"move\":\"%c\",\"random\":true}", position_house_letter(house));
    return finish(player);
}

static void add_name(struct text *text, const char *name)
{
    if (name)
        add(text, "\"%s\"", name);
    else
        add(text, "null");
}

EXPORT int kroo_levels(struct kroo_player *player)
{
    const struct level *level;
    begin(player);
    add(&player->text, "[");
    for (size_t i = 0; (level = level_at(i)) != NULL; i++) {
        add(&player->text, "%s{\"number\":%d,\"name\":", i == 0 ? "" : ",", level->number);
        add_name(&player->text, level->name);
        add(&player->text, ",\"nodes\":%" PRIu64 ",\"noise_ppm\":%" PRIu32 "}", level->nodes,
            level->noise_ppm);
    }
    add(&player->text, "]");
    return finish(player);
}

EXPORT int kroo_perft(struct kroo_player *player, int depth)
{
    struct position position = game_position(player->game);
    begin(player);
    if (depth < 1 || depth > PERFT_MOST)
        return refuse(player, "perft counts 1 to %d plies", PERFT_MOST);
    add(&player->text, "%" PRIu64, perft_nodes(&player->rules, &position, depth));
    return finish(player);
}
