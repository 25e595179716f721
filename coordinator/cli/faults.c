/* `kroo faults [ID]` and `kroo replay-fault FAULT`: what players' programs did wrong, and whether they do it
 * again with the same engine, limits, opening and seed (DESIGN section 7). */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/replay.h"
#include "coordinator/specification.h"
#include "engine/position.h"

enum { OPTION_LIMIT = 0x3000, OPTION_MOVE_MS, OPTION_GAME_MS };
enum { GAME_MS = 600000, LIMIT_MAX = 1000000, MOVE_MS_LOW = 100, MOVE_MS_HIGH = 24 * 3600 * 1000 };

/* --- kroo faults --- */

struct faults {
    struct args_common common;
    uint64_t id, limit;
};

static error_t faults_parse(int key, char *text, struct argp_state *state)
{
    struct faults *faults = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &faults->common;
        return 0;
    case OPTION_LIMIT:
        faults->limit = args_number(state, "--limit", text, 1, LIMIT_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        faults->id = args_id(state, text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int faults_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"limit", OPTION_LIMIT, "N", 0, "The newest N (default 50)", 1}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = faults_parse,
        .args_doc = "[ID]",
        .doc = "List what players' programs did wrong, of one experiment or of all: before their first move "
               "(start: no game), that a game did not end (overtime), or how they lost a game (illegal-move, "
               "deadline, crash); which worker saw "
               "it, and after how many moves. `kroo faults --json` adds moves and seed.\v"
               "Examples:\n  kroo faults 12\n  kroo replay-fault 3",
        .children = args_common_children};
    static const char people[] =
        "select id, experiment_id as experiment, pair_no as pair, leg, kind, side || ': ' || engine as "
        "player, ply, worker, to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as at, why from "
        "kroo.fault_report where $1::bigint = 0 or experiment_id = $1::bigint order by id desc limit "
        "$2::bigint";
    static const char all[] =
        "select id, experiment_id as experiment, pair_no as pair, leg, kind, side, engine, "
        "encode(engine_sha256, 'hex') as engine_sha256, encode(weights_sha256, 'hex') as weights, options, "
        "ply, moves, seed, worker, attempt, "
        "to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as at, why from "
        "kroo.fault_report join kroo.fault_player using (id) where $1::bigint = 0 or experiment_id = "
        "$1::bigint "
        "order by id desc limit $2::bigint";
    struct faults faults = {.limit = 50};
    char id[24], limit[24];
    const char *parameters[] = {id, limit};
    parse_line(&argp, argc, argv, &faults);
    snprintf(id, sizeof id, "%llu", (unsigned long long)faults.id);
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)faults.limit);
    int status;
    struct store *store = connect_reader(&faults.common, &status);
    if (!store)
        return status;
    status = connect_print(store, faults.common.json, faults.common.json ? all : people, parameters, 2,
                           "no faults");
    store_close(store);
    return status;
}

/* --- kroo replay-fault --- */

struct fault {
    struct replay replay;
    uint64_t id, move_ms, game_ms;
    struct store_table row; /* experiment, pair, leg, kind, side, moves, why, scale */
};

static error_t fault_parse(int key, char *text, struct argp_state *state)
{
    struct fault *fault = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &fault->replay.common;
        return 0;
    case OPTION_MOVE_MS:
        fault->move_ms = args_number(state, "--move-ms", text, MOVE_MS_LOW, MOVE_MS_HIGH);
        return 0;
    case OPTION_GAME_MS:
        fault->game_ms = args_number(state, "--game-ms", text, MOVE_MS_LOW, MOVE_MS_HIGH);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        fault->id = args_number(state, "FAULT", text, 1, INT64_MAX);
        return 0;
    case ARGP_KEY_END:
        if (fault->id == 0)
            argp_error(state, "it needs the number of a fault: `kroo faults` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int load_fault(struct fault *fault, struct store *store)
{
    int status =
        connect_query_of(store,
                         "select experiment_id, pair_no, leg, kind, coalesce(side, ''), moves, why, "
                         "coalesce((select l.scale_ppm "
                         "from kroo.lease l where l.experiment_id = f.experiment_id and l.session_id = "
                         "f.session_id and l.attempt "
                         "= f.attempt and f.pair_no between l.first_pair and l.first_pair + "
                         "l.pair_count - 1 limit 1), 1000000) "
                         "from kroo.fault_report f where id = $1::bigint",
                         fault->id, &fault->row);
    if (status != COMMAND_DONE)
        return status;
    if (fault->row.rows != 1)
        return args_refuse("there is no fault %llu: `kroo faults` lists them", (unsigned long long)fault->id);
    if (!store_cell(&fault->row, 0, 1)[0])
        return args_refuse("fault %llu is no game's (%s: %s)", (unsigned long long)fault->id,
                           store_cell(&fault->row, 0, 3), store_cell(&fault->row, 0, 6));
    struct replay *replay = &fault->replay;
    if (args_parse_number(store_cell(&fault->row, 0, 0), 1, INT64_MAX, &replay->id) != 0 ||
        args_parse_number(store_cell(&fault->row, 0, 1), 0, INT64_MAX, &replay->pair) != 0 ||
        args_parse_number(store_cell(&fault->row, 0, 2), 0, 1, &replay->leg) != 0)
        return args_refuse("fault %llu cannot be read", (unsigned long long)fault->id);
    replay->players[0].move_ms = replay->players[1].move_ms = (int)fault->move_ms;
    return replay_load(replay, store);
}

/* How the game went this time: the kind of its fault, or how else it ended. */
static const char *ended_by(const struct fault *fault, enum play_status status)
{
    return status == PLAY_FAILED     ? "start"
           : status == PLAY_OVERTIME ? "overtime"
           : status == PLAY_DONE     ? game_reason_text(fault->replay.again.reason)
                                     : "";
}

static const char *said(const struct fault *fault)
{
    const struct stand_in *players = fault->replay.players;
    return players[0].reason[0] ? players[0].reason : players[1].reason;
}

static int report_fault(const struct fault *fault, enum play_status status)
{
    const char *moves = store_cell(&fault->row, 0, 5), *kind = store_cell(&fault->row, 0, 3);
    const char *again = fault->replay.again.moves ? fault->replay.again.moves : "";
    const char *ended = ended_by(fault, status);
    /* How far a game came in its time is the machine's matter. */
    bool same = strcmp(kind, ended) == 0 && (status == PLAY_OVERTIME || strcmp(moves, again) == 0);
    if (fault->replay.common.json)
        table_json_print(json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:b}", "fault",
                                   (json_int_t)fault->id, "experiment", (json_int_t)fault->replay.id, "pair",
                                   (json_int_t)fault->replay.pair, "leg", (json_int_t)fault->replay.leg,
                                   "kind", kind, "moves", moves, "again", ended, "again_moves", again, "said",
                                   said(fault), "same", same));
    else
        printf("recorded  %s after %zu plies  %s\n          %s\nagain     %s after %zu plies  %s\n          "
               "%s\n",
               kind, strlen(moves), moves, store_cell(&fault->row, 0, 6), ended, strlen(again), again,
               said(fault));
    if (same && !fault->replay.common.json)
        printf("the fault came again\n");
    return same ? COMMAND_DONE : args_refuse("the fault did not come again");
}

/* --- under limits of time --- */

static bool is_timed(const struct fault *fault)
{
    struct message_create_experiment create;
    record_specification(&fault->replay.record, &create);
    return !specification_reproducible(&create.spec);
}

static int64_t scaled(int64_t ms, const struct fault *fault)
{
    return (int64_t)llround((double)ms * strtod(store_cell(&fault->row, 0, 7), NULL) / 1e6);
}

/* One of its answers: what is wrong with it, or NULL and the house. */
static const char *ask_once(struct stand_in *in, const struct game *game, const struct play_move *clocks,
                            int *house)
{
    struct play_move move = *clocks;
    const struct play_mover *mover = stand_in_mover(in);
    unsigned side = game_position(game).side;
    enum play_answer came = mover->choose(mover->context, game, NULL, &move);
    *house = move.house;
    if (came == PLAY_ANSWER_DEADLINE ||
        (came == PLAY_ANSWER_MOVE && move.clock_ms[side] > 0 && move.time_ms > move.clock_ms[side]))
        return "deadline";
    if (came != PLAY_ANSWER_MOVE)
        return "crash";
    int own = move.house - 6 * (int)side;
    return own < 0 || own >= 6 || !(game_legal(game) >> own & 1) ? "illegal-move" : NULL;
}

/* The recorded moves are played whatever it answers, and it is asked at each of its turns, as it was then.
 * How that ended, and its answer to the last, which was at fault. */
static const char *ask_again(struct stand_in *in, struct game *game, const char *moves, size_t opening,
                             const struct play_move *clocks, char *answer)
{
    const struct play_mover *mover = stand_in_mover(in);
    size_t length = strlen(moves), played;
    *answer = '\0';
    if (mover->begin(mover->context, NULL) != PLAY_ANSWER_MOVE)
        return "start";
    for (size_t ply = 0; ply <= length; ply++) {
        int house = -1;
        bool own_turn = (length - ply) % 2 == 0;
        const char *wrong = own_turn && ply >= opening ? ask_once(in, game, clocks, &house) : NULL;
        if (wrong)
            return wrong;
        if (ply == length)
            *answer = position_house_letter(house);
        else if (game_play_text(game, moves + ply, 1, &played) != GAME_OK || game_over(game))
            return "nothing: the recorded moves cannot be played";
    }
    return "a legal move";
}

static int report_timed(const struct fault *fault, const char *ended, char answer)
{
    const char *moves = store_cell(&fault->row, 0, 5), *kind = store_cell(&fault->row, 0, 3);
    char text[2] = {answer, '\0'};
    bool same = strcmp(kind, ended) == 0;
    if (fault->replay.common.json)
        table_json_print(json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:b, s:b}", "fault",
                                   (json_int_t)fault->id, "experiment", (json_int_t)fault->replay.id, "pair",
                                   (json_int_t)fault->replay.pair, "leg", (json_int_t)fault->replay.leg,
                                   "kind", kind, "moves", moves, "again", ended, "again_move", text, "said",
                                   said(fault), "clocks_recorded", false, "same", same));
    else
        printf("recorded  %s after %zu plies  %s\n          %s\nagain     %s%s%s\n          %s\n", kind,
               strlen(moves), moves, store_cell(&fault->row, 0, 6), ended, answer ? ": " : "", text,
               said(fault));
    if (same && !fault->replay.common.json)
        printf("the fault came again\n");
    return same ? COMMAND_DONE
                : args_refuse("the fault did not come again; under limits of time it need not");
}

/* Clocks are not recorded move by move, so a game cannot be played again as it was: the recorded moves are
 * put on the board, and the player at fault is asked for its next move, with what it had at the start. */
static int replay_timed(struct fault *fault)
{
    const char *moves = store_cell(&fault->row, 0, 5), *side = store_cell(&fault->row, 0, 4);
    struct replay *replay = &fault->replay;
    unsigned seat = side[0] == 'b';
    struct stand_in *in = &replay->players[seat];
    args_warn(
        "limits of time: what stood on the clocks is not recorded, so the game cannot be played again as "
        "it was; the %zu recorded moves are played, and player %s is asked at each of its turns with its "
        "limit as at the start, on that worker's scale (x %.2f)",
        strlen(moves), side, strtod(store_cell(&fault->row, 0, 7), NULL) / 1e6);
    if (side[0] == '\0' || !stand_in_mover(in))
        return args_refuse(
            "player %s is the built-in engine, which only loses by its clock: there is nothing to "
            "ask it",
            side);
    struct game *game = game_create(replay->terms->setup.rules, NULL);
    if (!game)
        return args_refuse("no memory");
    struct play_move clocks = {.house = -1, .score = PLAY_NO_SCORE};
    for (unsigned color = 0; color < 2; color++) {
        const struct play_side *play = &replay->players[color ^ (unsigned)replay->leg].side;
        clocks.clock_ms[color] = scaled(play->clock_ms, fault);
        clocks.increment_ms[color] = scaled(play->increment_ms, fault);
    }
    in->limits.time_ms = (uint32_t)scaled(in->limits.time_ms, fault);
    char answer;
    size_t opening = play_opening_plies(&replay->terms->setup, replay->pair);
    const char *ended = ask_again(in, game, moves, opening, &clocks, &answer);
    int status = report_timed(fault, ended, answer);
    game_destroy(game);
    return status;
}

static int replay_fault(struct fault *fault)
{
    fault->replay.terms->setup.most_ms = (int64_t)fault->game_ms;
    enum play_status status = replay_play(&fault->replay);
    if (status != PLAY_DONE && status != PLAY_FAILED && status != PLAY_OVERTIME)
        return args_refuse("the game cannot be played again: %s", status == PLAY_TOO_LONG ? "it does not end"
                                                                  : status == PLAY_NO_OPENING
                                                                      ? "there is no opening"
                                                                      : "no memory");
    return report_fault(fault, status);
}

int replay_fault_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"move-ms", OPTION_MOVE_MS, "MS", 0,
         "A program that has not answered by then hangs, as on the worker (default 60000)", 1},
        {"game-ms", OPTION_GAME_MS, "MS", 0,
         "A game that has not ended by then is given up, as on the worker (default 600000)", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = fault_parse,
        .args_doc = "FAULT",
        .doc =
            "Play the game of a fault again, up to the fault, with the same engine, weights, limits, "
            "opening and seed, confined as on a worker; and say whether the fault came again at the same "
            "move. Exit status 1 when it did not. What stood on clocks is not recorded: under limits of time "
            "the recorded moves are played, and the player at fault is asked at each of its turns.\v"
            "Examples:\n  kroo faults 12\n  kroo replay-fault 3",
        .children = args_common_children};
    struct fault fault = {.game_ms = GAME_MS};
    parse_line(&argp, argc, argv, &fault);
    signal(SIGPIPE, SIG_IGN);
    int status;
    struct store *store = connect_reader(&fault.replay.common, &status);
    if (!store)
        return status;
    status = load_fault(&fault, store);
    store_close(store);
    if (status == COMMAND_DONE) {
        if (!is_timed(&fault))
            replay_warn(&fault.replay);
        status = is_timed(&fault) ? replay_timed(&fault) : replay_fault(&fault);
    }
    store_table_done(&fault.row);
    replay_done(&fault.replay);
    return status;
}
