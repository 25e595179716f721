#include "coordinator/repeat_game.h"

#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"
#include "proto/message.h"

enum { WORD_MAX = 16, HEAD = 1 + 12 + 2 + 1 + 2 * WORD_MAX };

struct repeat_game {
    const struct play_setup *setup;
    struct game *game;
    uint8_t bytes[HEAD + GAME_PLIES_MAX];
};

static bool is_deterministic(const struct store_player *player)
{
    return player->limits.time_ms == 0 && player->limits.clock_ms == 0 &&
           (message_hash_is_none(player->engine) || player->signature[0] != '\0');
}

uint32_t repeat_game_rule(const struct store_experiment *experiment)
{
    bool holds = experiment->kind == STORE_MATCH && experiment->noise_ppm == 0 &&
                 is_deterministic(&experiment->a) && is_deterministic(&experiment->b);
    return holds ? REPEAT_RULE_BY_GAMES : REPEAT_RULE_NONE;
}

struct repeat_game *repeat_game_create(const struct rules *rules, const struct play_setup *setup)
{
    struct repeat_game *games = calloc(1, sizeof *games);
    if (!games)
        return NULL;
    games->setup = setup;
    games->game = game_create(rules, NULL);
    if (!games->game) {
        free(games);
        return NULL;
    }
    return games;
}

void repeat_game_destroy(struct repeat_game *games)
{
    if (!games)
        return;
    game_destroy(games->game);
    free(games);
}

/* A stored game begins with its opening: the referee has seen to that. */
static size_t play_start(struct repeat_game *games, uint64_t pair, const char *moves, size_t plies,
                         struct position *start)
{
    size_t length = games->setup ? play_opening_plies(games->setup, pair) : 0, played = 0;
    game_reset(games->game, NULL);
    (void)game_play_text(games->game, moves, length < plies ? length : plies, &played);
    *start = game_position(games->game);
    return played;
}

struct repeat_key repeat_game_key(struct repeat_game *games, uint64_t pair, unsigned leg, const char *moves,
                                  const char *result, const char *reason)
{
    struct position start;
    struct repeat_key key;
    size_t plies = strnlen(moves, GAME_PLIES_MAX);
    size_t opening = play_start(games, pair, moves, plies, &start), used = 0;
    uint8_t *bytes = games->bytes, sha256[ARTIFACT_HASH];
    bytes[used++] = (uint8_t)leg;
    memcpy(bytes + used, start.houses, sizeof start.houses);
    used += sizeof start.houses;
    memcpy(bytes + used, start.stores, sizeof start.stores);
    used += sizeof start.stores;
    bytes[used++] = start.side;
    memset(bytes + used, 0, 2 * WORD_MAX);
    memcpy(bytes + used, result, strnlen(result, WORD_MAX));
    memcpy(bytes + used + WORD_MAX, reason, strnlen(reason, WORD_MAX));
    used += 2 * WORD_MAX;
    memcpy(bytes + used, moves + opening, plies - opening);
    artifact_hash(bytes, used + plies - opening, sha256);
    memcpy(&key, sha256, sizeof key);
    return key;
}
