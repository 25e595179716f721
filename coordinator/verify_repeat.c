#include "coordinator/verify_repeat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"

enum { NODES_FIRST = 1024, DIFFERENCES_TOLD = 3, TEXT_MAX = POSITION_TEXT_MAX + 64 + GAME_PLIES_MAX };

struct seen {
    uint8_t sha256[ARTIFACT_HASH];
    uint64_t pair;
};

/* An open hash table of pairs by the first bytes of their hash; `pair` UINT64_MAX: free. */
struct verify_repeat {
    struct game *game;
    uint8_t legs[2][ARTIFACT_HASH];
    struct seen *seen;
    uint64_t count, room;
    struct store_repeat *found;
    size_t found_count, found_room;
    uint64_t run;
    char text[TEXT_MAX];
};

static struct seen *table_create(uint64_t room)
{
    struct seen *table = malloc((size_t)room * sizeof *table);
    for (uint64_t i = 0; table && i < room; i++)
        table[i].pair = UINT64_MAX;
    return table;
}

struct verify_repeat *verify_repeat_create(const struct rules *rules)
{
    struct verify_repeat *repeats = calloc(1, sizeof *repeats);
    if (!repeats)
        return NULL;
    repeats->game = game_create(rules, NULL);
    repeats->seen = table_create(NODES_FIRST);
    repeats->room = NODES_FIRST;
    if (repeats->game && repeats->seen)
        return repeats;
    verify_repeat_destroy(repeats);
    return NULL;
}

void verify_repeat_destroy(struct verify_repeat *repeats)
{
    if (!repeats)
        return;
    game_destroy(repeats->game);
    free(repeats->seen);
    free(repeats->found);
    free(repeats);
}

void verify_repeat_game(struct verify_repeat *repeats, const struct store_game *game, size_t opening)
{
    char position[POSITION_TEXT_MAX];
    size_t length = strlen(game->moves), played = 0;
    game_reset(repeats->game, NULL);
    (void)game_play_text(repeats->game, game->moves, opening < length ? opening : length, &played);
    struct position start = game_position(repeats->game);
    position_format(&start, position);
    int used = snprintf(repeats->text, sizeof repeats->text, "%s %s %s %s", position, game->moves + played,
                        game->result, game->reason);
    artifact_hash(repeats->text, (size_t)used, repeats->legs[game->leg]);
}

static struct seen *place_of(struct seen *table, uint64_t room, const uint8_t sha256[ARTIFACT_HASH])
{
    uint64_t at;
    memcpy(&at, sha256, sizeof at);
    for (at %= room; table[at].pair != UINT64_MAX; at = at + 1 == room ? 0 : at + 1)
        if (memcmp(table[at].sha256, sha256, ARTIFACT_HASH) == 0)
            break;
    return &table[at];
}

static bool grow(struct verify_repeat *repeats)
{
    uint64_t room = 2 * repeats->room;
    struct seen *larger = table_create(room);
    if (!larger)
        return false;
    for (uint64_t i = 0; i < repeats->room; i++)
        if (repeats->seen[i].pair != UINT64_MAX)
            *place_of(larger, room, repeats->seen[i].sha256) = repeats->seen[i];
    free(repeats->seen);
    repeats->seen = larger;
    repeats->room = room;
    return true;
}

static bool note(struct verify_repeat *repeats, uint64_t pair, uint64_t first)
{
    if (repeats->found_count == repeats->found_room) {
        size_t room = repeats->found_room ? 2 * repeats->found_room : 64;
        struct store_repeat *larger = realloc(repeats->found, room * sizeof *larger);
        if (!larger)
            return false;
        repeats->found = larger;
        repeats->found_room = room;
    }
    repeats->found[repeats->found_count++] = (struct store_repeat){pair, first};
    return true;
}

int verify_repeat_pair(struct verify_repeat *repeats, uint64_t pair)
{
    uint8_t sha256[ARTIFACT_HASH];
    if (2 * repeats->count >= repeats->room && !grow(repeats))
        return -1;
    artifact_hash(repeats->legs, sizeof repeats->legs, sha256);
    struct seen *place = place_of(repeats->seen, repeats->room, sha256);
    if (place->pair != UINT64_MAX) {
        repeats->run++;
        return note(repeats, pair, place->pair) ? 1 : -1;
    }
    repeats->run = 0;
    if (repeats->count < REPEAT_KEYS_MAX) {
        memcpy(place->sha256, sha256, sizeof sha256);
        place->pair = pair;
        repeats->count++;
    }
    return 0;
}

bool verify_repeat_is_over(const struct verify_repeat *repeats)
{
    return repeats->run >= repeat_limit(repeats->count);
}

uint64_t verify_repeat_count(const struct verify_repeat *repeats)
{
    return repeats->found_count;
}

enum store_error verify_repeat_check(const struct verify_repeat *repeats, struct store *store,
                                     uint64_t experiment, void (*differ)(void *context, const char *text),
                                     void *context)
{
    struct store_repeat *stored;
    size_t count, told = 0;
    char text[160];
    enum store_error error = store_repeats(store, experiment, &stored, &count);
    if (error != STORE_OK)
        return error;
    for (size_t s = 0, f = 0; (s < count || f < repeats->found_count) && told < DIFFERENCES_TOLD;) {
        bool missing = s == count || (f < repeats->found_count && repeats->found[f].pair < stored[s].pair);
        bool surplus = !missing && (f == repeats->found_count || stored[s].pair < repeats->found[f].pair);
        if (missing)
            snprintf(text, sizeof text, " pair %llu: it repeats pair %llu, which pair_repeat does not say",
                     (unsigned long long)repeats->found[f].pair, (unsigned long long)repeats->found[f].first);
        else if (surplus || stored[s].first != repeats->found[f].first)
            snprintf(text, sizeof text,
                     " pair %llu: pair_repeat says it repeats pair %llu, which it does not",
                     (unsigned long long)stored[s].pair, (unsigned long long)stored[s].first);
        else
            text[0] = '\0';
        if (text[0]) {
            differ(context, text);
            told++;
        }
        s += !missing;
        f += !surplus;
    }
    free(stored);
    return STORE_OK;
}
