#include "worker/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/bounds.h"

/* Of the search in this process; programs are sent theirs. */
static int check_options(const struct message_player *player, const char *which, char *reason,
                         size_t reason_size)
{
    struct search_parameters parameters;
    char why[200];
    if (!message_hash_is_none(player->engine) ||
        search_parameters_parse(player->options, &parameters, why, sizeof why))
        return 0;
    snprintf(reason, reason_size, "player %s: %s", which, why);
    return -1;
}

static int check_player(const struct message_player *player, const char *which, char *reason,
                        size_t reason_size)
{
    if (player->node_limit == 0 && player->depth_limit == 0 && player->time_ms == 0 &&
        player->clock_ms == 0) {
        snprintf(reason, reason_size, "player %s has no limit", which);
        return -1;
    }
    if (player->depth_limit > SEARCH_DEPTH_MAX) {
        snprintf(reason, reason_size, "player %s: depth %u is beyond %d", which, player->depth_limit,
                 SEARCH_DEPTH_MAX);
        return -1;
    }
    if (player->hash_kib > LEASE_HASH_KIB_MAX) {
        snprintf(reason, reason_size, "player %s: a transposition table of %u KiB is beyond %d", which,
                 player->hash_kib, LEASE_HASH_KIB_MAX);
        return -1;
    }
    return check_options(player, which, reason, reason_size);
}

static struct play_side side_of(const struct message_player *player)
{
    return (struct play_side){
        .limits = {.nodes = player->node_limit,
                   .depth = (int)player->depth_limit,
                   .time_ms = player->time_ms},
        .clock_ms = player->clock_ms,
        .increment_ms = player->increment_ms,
        .hash_kib = player->hash_kib != 0 ? player->hash_kib : SEARCH_HASH_KIB,
    };
}

static int check_grant(const struct message_lease_grant *grant, const char *engine_build, struct rules *rules,
                       char *reason, size_t reason_size)
{
    const struct message_spec *spec = &grant->spec;
    if (spec->engine_build[0] != '\0' && strcmp(spec->engine_build, engine_build) != 0) {
        snprintf(reason, reason_size,
                 "experiment %" PRIu64 " asks for engine build `%s`, this worker has `%s`", spec->experiment,
                 spec->engine_build, engine_build);
        return -1;
    }
    if (grant->pair_count == 0 || grant->pair_count > LEASE_PAIRS_MAX) {
        snprintf(reason, reason_size, "a lease of %u pairs", grant->pair_count);
        return -1;
    }
    if (spec->opening_plies > PLAY_OPENING_MAX || spec->noise_ppm > PLAY_NOISE_UNIT) {
        snprintf(reason, reason_size, "opening of %u plies or noise of %u ppm is out of bounds",
                 spec->opening_plies, spec->noise_ppm);
        return -1;
    }
    if (spec->resign_score > LEASE_RESIGN_MAX || spec->resign_playout_ppm > PLAY_NOISE_UNIT) {
        snprintf(reason, reason_size, "a resignation at %u or a share of %u ppm is out of bounds",
                 spec->resign_score, spec->resign_playout_ppm);
        return -1;
    }
    if (rules_parse(spec->rules, rules, reason, reason_size) != 0)
        return -1;
    if (check_player(&spec->a, "a", reason, reason_size) != 0)
        return -1;
    return check_player(&spec->b, "b", reason, reason_size);
}

struct lease *lease_create(const struct message_lease_grant *grant, const char *engine_build, char *reason,
                           size_t reason_size)
{
    struct rules rules;
    if (check_grant(grant, engine_build, &rules, reason, reason_size) != 0)
        return NULL;
    struct lease *lease = calloc(1, sizeof *lease);
    struct lease_pair *pairs = calloc(grant->pair_count, sizeof *pairs);
    if (lease == NULL || pairs == NULL) {
        free(lease);
        free(pairs);
        snprintf(reason, reason_size, "not enough memory for a lease of %u pairs", grant->pair_count);
        return NULL;
    }
    lease->id = grant->lease;
    lease->attempt = grant->attempt;
    lease->term_ms = grant->term_ms;
    lease->first_pair = grant->first_pair;
    lease->pair_count = lease->left = grant->pair_count;
    lease->spec = grant->spec;
    lease->rules = rules;
    lease->setup = (struct play_setup){.rules = &lease->rules,
                                       .seed = grant->spec.seed,
                                       .opening_plies = grant->spec.opening_plies,
                                       .noise_ppm = grant->spec.noise_ppm,
                                       .resign_score = (int)grant->spec.resign_score,
                                       .resign_plies = grant->spec.resign_plies,
                                       .resign_playout_ppm = grant->spec.resign_playout_ppm};
    lease->sides[0] = side_of(&grant->spec.a);
    lease->sides[1] = side_of(&grant->spec.b);
    for (int side = 0; side < 2; side++) {
        char why[200];
        const struct message_player *player = lease_player(lease, side);
        if (message_hash_is_none(player->engine) && /* check_grant saw that they can be read */
            search_parameters_parse(player->options, &lease->parameters[side], why, sizeof why))
            lease->sides[side].limits.parameters = &lease->parameters[side];
    }
    lease->pairs = pairs;
    for (size_t i = 0; i < grant->skip_count; i++) {
        uint64_t index = grant->skip[i] - grant->first_pair; /* wraps below first_pair: out of range */
        if (index < grant->pair_count && !pairs[index].skipped) {
            pairs[index].skipped = true;
            lease->left--;
        }
    }
    return lease;
}

/* A limit stays a limit: at least a millisecond, and below what a day has. */
static int64_t scaled(int64_t ms, uint32_t scale_ppm)
{
    int64_t scaled_ms = (ms * scale_ppm + MESSAGE_SCALE_USUAL / 2) / MESSAGE_SCALE_USUAL;
    return ms == 0 ? 0 : scaled_ms < 1 ? 1 : scaled_ms > INT32_MAX ? INT32_MAX : scaled_ms;
}

void lease_scale_time(struct lease *lease, uint32_t scale_ppm)
{
    for (int side = 0; side < 2; side++) {
        struct play_side *play = &lease->sides[side];
        play->limits.time_ms = scaled(play->limits.time_ms, scale_ppm);
        play->clock_ms = scaled(play->clock_ms, scale_ppm);
        play->increment_ms = scaled(play->increment_ms, scale_ppm);
    }
}

void lease_bound_time(struct lease *lease, uint32_t move_ms, uint32_t game_ms, uint32_t speed)
{
    lease->silence_ms = bounds_still_ms(lease->term_ms, move_ms);
    lease->setup.most_ms = game_ms > 0 ? game_ms : bounds_game_ms(lease->sides, speed);
    for (int side = 0; side < 2; side++)
        lease->move_ms[side] = bounds_move_ms(&lease->sides[side], move_ms, speed);
}

void lease_destroy(struct lease *lease)
{
    if (lease == NULL)
        return;
    for (uint32_t index = 0; index < lease->pair_count; index++)
        lease_forget_pair(lease, index);
    free(lease->pairs);
    free(lease);
}

const struct message_player *lease_player(const struct lease *lease, int side)
{
    return side == 0 ? &lease->spec.a : &lease->spec.b;
}

bool lease_has_engine(const struct lease *lease, int side)
{
    return !message_hash_is_none(lease_player(lease, side)->engine);
}

bool lease_has_tables(const struct lease *lease, int side)
{
    return !message_hash_is_none(lease_player(lease, side)->tables);
}

bool lease_has_book(const struct lease *lease)
{
    return !message_hash_is_none(lease->spec.book);
}

void lease_seat_program(struct lease *lease, int side)
{
    const struct message_player *player = lease_player(lease, side);
    struct lease_program *program = &lease->programs[side];
    const struct held_file *tables = lease->tables[side];
    program->setup = (struct dialect_setup){.rules = lease->rules.name,
                                            .hash_kib = lease->sides[side].hash_kib,
                                            .weights = program->weights,
                                            .tables = tables != NULL ? tables->path : NULL,
                                            .options = player->options};
    program->limits = (struct dialect_limits){.nodes = player->node_limit,
                                              .depth = player->depth_limit,
                                              .most_ms = lease->move_ms[side],
                                              .time_ms = (uint32_t)lease->sides[side].limits.time_ms};
}

bool lease_finish(struct lease *lease, uint32_t index, unsigned leg, struct message_game *game)
{
    struct lease_pair *pair = &lease->pairs[index];
    pair->legs[leg] = game;
    if (pair->legs[0] == NULL || pair->legs[1] == NULL)
        return false;
    lease->left--;
    lease->done++;
    return true;
}

void lease_forget_pair(struct lease *lease, uint32_t index)
{
    for (int leg = 0; leg < 2; leg++) {
        struct message_game *game = lease->pairs[index].legs[leg];
        if (game != NULL)
            message_game_done(game);
        free(game);
        lease->pairs[index].legs[leg] = NULL;
    }
}
