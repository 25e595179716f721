/* `kroo replay ID PAIR LEG`: a stored game played once more by the engine in this program (DESIGN section
 * 12).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/record.h"
#include "engine/build.h"
#include "engine/play.h"
#include "proto/artifact.h"

struct replay {
    struct args_common common;
    uint64_t id, pair, leg;
    struct record record;
    struct rules rules;
    struct weights *weights[2];
    struct store_table stored; /* moves, result, reason, south, north */
    struct play_record again;
};

static error_t replay_parse(int key, char *text, struct argp_state *state)
{
    struct replay *replay = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &replay->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            replay->id = args_id(state, text);
        else if (state->arg_num == 1)
            replay->pair = args_number(state, "PAIR", text, 0, INT64_MAX);
        else if (state->arg_num == 2)
            replay->leg = args_number(state, "LEG", text, 0, 1);
        else
            return ARGP_ERR_UNKNOWN;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 3)
            argp_error(state, "it needs an experiment, a pair and a leg: kroo replay 12 0 1");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int load_weights(struct store *store, const uint8_t sha256[STORE_HASH], const char *rules,
                        struct weights **out)
{
    void *bytes = NULL;
    size_t size = 0;
    uint8_t actual[ARTIFACT_HASH];
    enum store_error error = store_artifact_get(store, sha256, &bytes, &size);
    if (error != STORE_OK)
        return connect_failed(store, error);
    artifact_hash(bytes, size, actual);
    enum weights_error bad = memcmp(actual, sha256, sizeof actual) != 0
                                 ? WEIGHTS_ERROR_CHECKSUM
                                 : weights_parse(bytes, size, rules, out);
    free(bytes);
    return bad == WEIGHTS_OK ? COMMAND_DONE : args_refuse("weights: %s", weights_error_text(bad));
}

static int load_game(struct replay *replay, struct store *store)
{
    char id[24], pair[24], leg[4];
    const char *parameters[] = {id, pair, leg};
    snprintf(id, sizeof id, "%llu", (unsigned long long)replay->id);
    snprintf(pair, sizeof pair, "%llu", (unsigned long long)replay->pair);
    snprintf(leg, sizeof leg, "%llu", (unsigned long long)replay->leg);
    int status =
        connect_query(store,
                      "select moves, result, reason, south, north from kroo.game where experiment_id ="
                      " $1::bigint and pair_no = $2::bigint and leg = $3::smallint",
                      parameters, 3, &replay->stored);
    if (status != COMMAND_DONE)
        return status;
    if (replay->stored.rows == 1)
        return COMMAND_DONE;
    return args_refuse("experiment %s has no stored game of pair %s leg %s", id, pair, leg);
}

static int load(struct replay *replay, struct store *store)
{
    char reason[256];
    const struct store_experiment *experiment = &replay->record.experiment;
    enum store_error error = record_load(store, replay->id, &replay->record);
    if (error == STORE_ERROR_REFUSED)
        return args_refuse("there is no experiment %llu: `kroo ls` lists them",
                           (unsigned long long)replay->id);
    if (error != STORE_OK)
        return connect_failed(store, error);
    if (rules_parse(experiment->rules, &replay->rules, reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    int status = load_game(replay, store);
    if (status == COMMAND_DONE)
        status = load_weights(store, experiment->a.weights, experiment->rules, &replay->weights[0]);
    if (status == COMMAND_DONE)
        status = load_weights(store, experiment->b.weights, experiment->rules, &replay->weights[1]);
    return status;
}

static struct play_side side_of(const struct store_player *player, const struct weights *weights)
{
    return (struct play_side){.weights = weights,
                              .limits = {.nodes = player->limits.nodes,
                                         .depth = (int)player->limits.depth,
                                         .time_ms = player->limits.time_ms},
                              .hash_kib = player->limits.hash_kib};
}

static int play(struct replay *replay)
{
    const struct store_experiment *experiment = &replay->record.experiment;
    struct play_setup setup = {.rules = &replay->rules,
                               .seed = experiment->seed,
                               .opening_plies = experiment->opening_plies,
                               .noise_ppm = experiment->noise_ppm};
    struct play_side a = side_of(&experiment->a, replay->weights[0]);
    struct play_side b = side_of(&experiment->b, replay->weights[1]);
    struct play_seats *seats = play_seats_create();
    if (!seats)
        return args_refuse("out of memory");
    enum play_status status =
        play_game(seats, &setup, &a, &b, replay->pair, (unsigned)replay->leg, NULL, NULL, &replay->again);
    play_seats_destroy(seats);
    if (status == PLAY_DONE)
        return COMMAND_DONE;
    return args_refuse("the game cannot be played again: %s", status == PLAY_TOO_LONG ? "it does not end"
                                                              : status == PLAY_NO_OPENING
                                                                  ? "there is no opening"
                                                                  : "no memory");
}

/* Ply (from 1) of the first difference; 0 when both are the same. */
static size_t first_difference(const char *a, const char *b)
{
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    return a[at] == b[at] ? 0 : at + 1;
}

static int report(const struct replay *replay)
{
    const char *stored = store_cell(&replay->stored, 0, 0), *again = replay->again.moves;
    const char *result = game_result_text(replay->again.result),
               *reason = game_reason_text(replay->again.reason);
    size_t ply = first_difference(stored, again);
    bool same = ply == 0 && strcmp(result, store_cell(&replay->stored, 0, 1)) == 0 &&
                strcmp(reason, store_cell(&replay->stored, 0, 2)) == 0;
    if (replay->common.json)
        table_json_print(json_pack("{s:I, s:I, s:I, s:s, s:s, s:b, s:o, s:s, s:s}", "experiment",
                                   (json_int_t)replay->id, "pair", (json_int_t)replay->pair, "leg",
                                   (json_int_t)replay->leg, "stored", stored, "again", again, "same", same,
                                   "first_difference", ply ? json_integer((json_int_t)ply) : json_null(),
                                   "result", result, "reason", reason));
    else
        printf("stored  %s  %s by %s\nagain   %s  %s by %s\n", stored, store_cell(&replay->stored, 0, 1),
               store_cell(&replay->stored, 0, 2), again, result, reason);
    if (same && !replay->common.json)
        printf("the same game, move by move\n");
    if (!same)
        args_refuse("not the same game: they part at ply %zu", ply);
    return same ? COMMAND_DONE : COMMAND_REFUSED;
}

static void warn(const struct replay *replay)
{
    struct message_create_experiment create;
    record_specification(&replay->record, &create);
    if (!specification_reproducible(&create.spec))
        args_warn("limits of time are not reproducible: the games may differ");
    if (strcmp(replay->record.experiment.a.engine_build, engine_build()) != 0)
        args_warn("played by %s; this program has %s and may play otherwise",
                  replay->record.experiment.a.engine_build, engine_build());
}

int replay_command(int argc, char **argv)
{
    static const struct argp argp = {.parser = replay_parse,
                                     .args_doc = "ID PAIR LEG",
                                     .doc = "Play a stored game again with the same weights, limits, opening "
                                            "and seed, and compare it move by move. "
                                            "Leg 0 is the game where player A is South, leg 1 the one where "
                                            "B is. Exit status 1 when they differ.\v"
                                            "Example:\n  kroo replay 12 0 1",
                                     .children = args_common_children};
    struct replay replay = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &replay);
    int status;
    struct store *store = connect_reader(&replay.common, &status);
    if (!store)
        return status;
    status = load(&replay, store);
    store_close(store);
    if (status == COMMAND_DONE) {
        warn(&replay);
        status = play(&replay);
    }
    if (status == COMMAND_DONE) {
        status = report(&replay);
        play_record_done(&replay.again);
    }
    store_table_done(&replay.stored);
    weights_destroy(replay.weights[0]);
    weights_destroy(replay.weights[1]);
    return status;
}
