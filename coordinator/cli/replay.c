/* `kroo replay ID PAIR LEG`: a stored game played once more by the engine in this program, or by the programs
 * that played it (DESIGN section 12). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/replay.h"
#include "coordinator/tune_history.h"
#include "engine/build.h"

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

int replay_load(struct replay *replay, struct store *store)
{
    char reason[STORE_TEXT];
    const struct store_experiment *experiment = &replay->record.experiment;
    enum store_error error = record_load(store, replay->id, &replay->record);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse_experiment(store, replay->id);
    if (error != STORE_OK)
        return connect_failed(store, error);
    error = terms_load(store, experiment, &replay->terms, reason);
    if (error == STORE_ERROR_REFUSED)
        return args_refuse("%s", reason);
    if (error != STORE_OK)
        return connect_failed(store, error);
    struct store_player a = experiment->a, b = experiment->b;
    if (experiment->kind == STORE_TUNE &&
        tune_history_seat(store, experiment, replay->pair, &a, &b, reason) != STORE_OK)
        return args_refuse("%s", reason);
    int status = stand_in_load(&replay->players[0], store, &a, replay->terms->setup.rules);
    if (status == COMMAND_DONE)
        status = stand_in_load(&replay->players[1], store, &b, replay->terms->setup.rules);
    return status;
}

enum play_status replay_play(struct replay *replay)
{
    struct play_seats *seats = play_seats_create();
    if (!seats)
        return PLAY_MEMORY;
    for (unsigned seat = 0; seat < 2; seat++)
        play_seats_use(seats, seat, stand_in_mover(&replay->players[seat]));
    enum play_status status =
        play_game(seats, &replay->terms->setup, &replay->players[0].side, &replay->players[1].side,
                  replay->pair, (unsigned)replay->leg, NULL, NULL, &replay->again);
    play_seats_destroy(seats);
    return status;
}

static int play(struct replay *replay)
{
    enum play_status status = replay_play(replay);
    if (status == PLAY_DONE)
        return COMMAND_DONE;
    if (status == PLAY_FAILED)
        return args_refuse("the game cannot be played again: a program fails before its first move%s%s%s%s",
                           *replay->players[0].reason ? "; A: " : "", replay->players[0].reason,
                           *replay->players[1].reason ? "; B: " : "", replay->players[1].reason);
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

void replay_warn(const struct replay *replay)
{
    struct message_create_experiment create;
    record_specification(&replay->record, &create);
    if (!specification_reproducible(&create.spec))
        args_warn("limits of time are not reproducible: the games may differ");
    if (strcmp(replay->record.experiment.a.engine_build, engine_build()) != 0)
        args_warn("played by %s; this program has %s and may play otherwise",
                  replay->record.experiment.a.engine_build, engine_build());
}

void replay_done(struct replay *replay)
{
    play_record_done(&replay->again);
    store_table_done(&replay->stored);
    stand_in_done(&replay->players[0]);
    stand_in_done(&replay->players[1]);
    terms_destroy(replay->terms);
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
    parse_line(&argp, argc, argv, &replay);
    signal(SIGPIPE, SIG_IGN);
    int status;
    struct store *store = connect_reader(&replay.common, &status);
    if (!store)
        return status;
    status = replay_load(&replay, store);
    if (status == COMMAND_DONE)
        status = load_game(&replay, store);
    store_close(store);
    if (status == COMMAND_DONE) {
        replay_warn(&replay);
        status = play(&replay);
    }
    if (status == COMMAND_DONE)
        status = report(&replay);
    replay_done(&replay);
    return status;
}
