#include "coordinator/cli/stand_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/engine_program.h"
#include "proto/message.h"
#include "proto/progress.h"

static int load_weights(struct stand_in *in, struct store *store, const struct store_player *player,
                        const struct rules *rules)
{
    void *bytes = NULL;
    size_t size = 0;
    int status = connect_weights(store, player->weights, &bytes, &size);
    if (status != COMMAND_DONE)
        return status;
    enum weights_error bad = weights_parse(bytes, size, rules->name, &in->weights);
    if (bad != WEIGHTS_OK)
        status = args_refuse("weights: %s", weights_error_text(bad));
    else if (!message_hash_is_none(player->engine))
        status = private_file_create(&in->weights_file, bytes, size);
    free(bytes);
    return status;
}

static int load_tables(struct stand_in *in, struct store *store, const struct store_player *player,
                       const struct rules *rules)
{
    struct store_tables row;
    void *bytes = NULL;
    size_t size = 0;
    if (message_hash_is_none(player->tables))
        return COMMAND_DONE;
    int status = connect_failed(store, store_tables_find(store, NULL, player->tables, &row));
    if (status == COMMAND_DONE && !row.travels)
        status = args_refuse("played with the endgame tables %s, which are too large for the database: this "
                             "game cannot be played again here",
                             row.name);
    if (status == COMMAND_DONE)
        status = connect_artifact(store, "tables", player->tables, &bytes, &size);
    if (status == COMMAND_DONE)
        status = private_file_create(&in->tables_file, bytes, size);
    free(bytes);
    if (status != COMMAND_DONE)
        return status;
    enum tables_error bad = tables_open(in->tables_file.path, rules, &in->tables);
    return bad == TABLES_OK ? COMMAND_DONE : args_refuse("tables: %s", tables_error_text(bad));
}

/* --- as a mover --- */

static enum play_answer answer_of(enum dialect_error error)
{
    return error == DIALECT_OK               ? PLAY_ANSWER_MOVE
           : error == DIALECT_ERROR_DEADLINE ? PLAY_ANSWER_DEADLINE
                                             : PLAY_ANSWER_CRASH;
}

/* Started here, as on a worker: what goes wrong then is told as it was there. */
static enum play_answer begin(void *context, atomic_bool *stop)
{
    struct stand_in *in = context;
    int move_ms = in->move_ms > 0 ? in->move_ms : DIALECT_MOVE_MS;
    dialect_close(in->dialect);
    in->dialect =
        dialect_open(in->engine_file.path, &in->setup, move_ms, stop, in->reason, sizeof in->reason);
    enum dialect_error error = in->dialect
                                   ? dialect_configure(in->dialect, &in->setup, in->reason, sizeof in->reason)
                                   : DIALECT_ERROR_START;
    if (error == DIALECT_OK)
        error = dialect_new_game(in->dialect, in->reason, sizeof in->reason);
    if (error == DIALECT_OK)
        error = dialect_ready(in->dialect, in->reason, sizeof in->reason);
    return answer_of(error);
}

static enum play_answer choose(void *context, const struct game *game, atomic_bool *stop,
                               struct play_move *out)
{
    struct stand_in *in = context;
    struct dialect_answer answer = {.score = DIALECT_NO_SCORE};
    struct dialect_limits limits = in->limits;
    int64_t began_ms = progress_now_ms();
    memcpy(limits.clock_ms, out->clock_ms, sizeof limits.clock_ms);
    memcpy(limits.increment_ms, out->increment_ms, sizeof limits.increment_ms);
    limits.own_ms = out->clock_ms[game_position(game).side];
    (void)stop;
    enum dialect_error error =
        dialect_think(in->dialect, game_moves(game), &limits, &answer, in->reason, sizeof in->reason);
    *out = (struct play_move){
        .house = position_letter_house(answer.move),
        .score = answer.score != DIALECT_NO_SCORE ? (int16_t)answer.score : PLAY_NO_SCORE,
        .nodes = answer.nodes,
        .time_ms = progress_now_ms() - began_ms,
    };
    return answer_of(error);
}

static int load_parameters(struct stand_in *in, const struct store_player *player)
{
    char why[200];
    in->parameters = search_parameters_default();
    if (!message_hash_is_none(player->engine) ||
        search_parameters_parse(player->options, &in->parameters, why, sizeof why))
        return COMMAND_DONE;
    return args_refuse("%s", why);
}

static int load_engine(struct stand_in *in, struct store *store, const struct store_player *player,
                       const struct rules *rules)
{
    void *bytes = NULL;
    size_t size = 0;
    if (message_hash_is_none(player->engine))
        return COMMAND_DONE;
    int status = engine_program_load(store, player->engine, &bytes, &size);
    if (status == COMMAND_DONE)
        status = private_file_create(&in->engine_file, bytes, size);
    free(bytes);
    if (status != COMMAND_DONE)
        return status;
    snprintf(in->options, sizeof in->options, "%s", player->options);
    in->setup = (struct dialect_setup){.rules = rules->name,
                                       .hash_kib = player->limits.hash_kib,
                                       .weights = in->weights_file.path,
                                       .tables = in->tables ? in->tables_file.path : NULL,
                                       .options = in->options};
    in->limits = (struct dialect_limits){
        .nodes = player->limits.nodes, .depth = player->limits.depth, .time_ms = player->limits.time_ms};
    in->mover = (struct play_mover){.context = in, .begin = begin, .choose = choose};
    in->is_program = true;
    return COMMAND_DONE;
}

int stand_in_load(struct stand_in *in, struct store *store, const struct store_player *player,
                  const struct rules *rules)
{
    int status = load_weights(in, store, player, rules);
    if (status == COMMAND_DONE)
        status = load_tables(in, store, player, rules);
    if (status == COMMAND_DONE)
        status = load_engine(in, store, player, rules);
    if (status == COMMAND_DONE)
        status = load_parameters(in, player);
    in->side = (struct play_side){.weights = in->weights,
                                  .clock_ms = player->limits.clock_ms,
                                  .increment_ms = player->limits.increment_ms,
                                  .limits = {.nodes = player->limits.nodes,
                                             .depth = (int)player->limits.depth,
                                             .time_ms = player->limits.time_ms,
                                             .tables = in->tables,
                                             .parameters = &in->parameters},
                                  .hash_kib = player->limits.hash_kib};
    return status;
}

const struct play_mover *stand_in_mover(const struct stand_in *in)
{
    return in->is_program ? &in->mover : NULL;
}

void stand_in_done(struct stand_in *in)
{
    dialect_close(in->dialect);
    tables_close(in->tables);
    weights_destroy(in->weights);
    private_file_remove(&in->engine_file);
    private_file_remove(&in->weights_file);
    private_file_remove(&in->tables_file);
}
