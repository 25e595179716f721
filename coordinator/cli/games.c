/* `kroo games ID`: the stored games of an experiment, streamed, every record complete in itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/output.h"
#include "coordinator/export.h"
#include "coordinator/record.h"
#include "engine/game.h"
#include "proto/artifact.h"

enum { OPTION_FORMAT = 0x3000, OPTION_PAIRS, OPTION_OUT, OPTION_FORCE, OPTION_COUNTED };

enum games_format { GAMES_TEXT, GAMES_JSON, GAMES_MOVES };

struct games {
    struct args_common common;
    uint64_t id, first, last;
    enum games_format format;
    const char *out;
    bool force, counted;
    struct record record;
    char hash_a[ARTIFACT_HEX], hash_b[ARTIFACT_HEX];
    struct export_game_frame frame;
    struct store_repeat *repeats; /* owned; the frame's */
    struct output output;
    uint64_t written;
    uint8_t scores[2 * GAME_PLIES_MAX];
};

static enum games_format parse_format(struct argp_state *state, const char *text)
{
    if (strcmp(text, "json") == 0)
        return GAMES_JSON;
    if (strcmp(text, "moves") == 0)
        return GAMES_MOVES;
    if (strcmp(text, "text") != 0)
        argp_error(state, "--format is text, json or moves, not \"%.40s\"", text);
    return GAMES_TEXT;
}

static error_t games_parse(int key, char *text, struct argp_state *state)
{
    struct games *games = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &games->common;
        return 0;
    case OPTION_FORMAT:
        games->format = parse_format(state, text);
        return 0;
    case OPTION_PAIRS:
        args_range(state, "--pairs", text, &games->first, &games->last);
        return 0;
    case OPTION_OUT:
        games->out = text;
        return 0;
    case OPTION_FORCE:
        games->force = true;
        return 0;
    case OPTION_COUNTED:
        games->counted = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        games->id = args_id(state, text);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which experiment? `kroo ls` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum games_column {
    PAIR,
    LEG,
    ATTEMPT,
    MOVES,
    PLIES,
    RESULT,
    REASON,
    SOUTH,
    NORTH,
    POINTS,
    CLAIMED,
    NODES,
    TIME,
    SCORES,
    WEIGHTS_A, /* from here on of tunes only */
    WEIGHTS_B,
    OPTIONS_A,
    OPTIONS_B,
};

static const char games_sql[] =
    "select pair_no, leg, attempt, moves, plies, result, reason, south, north, a_half_points, claimed, nodes,"
    " time_ms, encode(scores, 'hex') from kroo.game "
    "where experiment_id = $1::bigint and pair_no between $2::bigint and $3::bigint order by pair_no, leg";

/* Each batch of a tune has players of its own. */
static const char tune_games_sql[] =
    "select g.pair_no, g.leg, g.attempt, g.moves, g.plies, g.result, g.reason, g.south, g.north, "
    "g.a_half_points, g.claimed, g.nodes, g.time_ms, encode(g.scores, 'hex'), encode(b.weights_a, 'hex'), "
    "encode(b.weights_b, 'hex'), b.options_a, b.options_b from kroo.game g join kroo.tune t on "
    "t.experiment_id "
    "= g.experiment_id join kroo.tune_batch b on b.experiment_id = g.experiment_id and b.batch_no = "
    "g.pair_no / "
    "t.batch_pairs where g.experiment_id = $1::bigint and g.pair_no between $2::bigint and $3::bigint "
    "order by g.pair_no, g.leg";

static void seat_players(struct games *games, const struct store_table *row)
{
    struct store_experiment *experiment = &games->record.experiment;
    snprintf(games->hash_a, sizeof games->hash_a, "%s", store_cell(row, 0, WEIGHTS_A));
    snprintf(games->hash_b, sizeof games->hash_b, "%s", store_cell(row, 0, WEIGHTS_B));
    snprintf(experiment->a.options, sizeof experiment->a.options, "%s", store_cell(row, 0, OPTIONS_A));
    snprintf(experiment->b.options, sizeof experiment->b.options, "%s", store_cell(row, 0, OPTIONS_B));
}

static uint64_t number(const struct store_table *row, size_t column)
{
    return strtoull(store_cell(row, 0, column), NULL, 10);
}

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) & 15;
}

static size_t unhex(const char *hex, uint8_t *out, size_t room)
{
    size_t size = 0;
    for (; hex[0] && hex[1] && size < room; hex += 2)
        out[size++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
    return size;
}

static void read_game(struct games *games, const struct store_table *row, struct store_game *game)
{
    *game = (struct store_game){
        .experiment = games->id,
        .pair = number(row, PAIR),
        .leg = (uint8_t)number(row, LEG),
        .attempt = (uint32_t)number(row, ATTEMPT),
        .moves = store_cell(row, 0, MOVES),
        .plies = number(row, PLIES),
        .south = (uint8_t)number(row, SOUTH),
        .north = (uint8_t)number(row, NORTH),
        .a_half_points = (uint8_t)number(row, POINTS),
        .claimed = *store_cell(row, 0, CLAIMED) == 't',
        .nodes = number(row, NODES),
        .time_ms = (uint32_t)number(row, TIME),
    };
    snprintf(game->result, sizeof game->result, "%s", store_cell(row, 0, RESULT));
    snprintf(game->reason, sizeof game->reason, "%s", store_cell(row, 0, REASON));
    game->scores_size = unhex(store_cell(row, 0, SCORES), games->scores, sizeof games->scores);
    game->scores = game->scores_size ? games->scores : NULL;
}

static int write_row(void *context, const struct store_table *row)
{
    struct games *games = context;
    struct store_game game;
    read_game(games, row, &game);
    if (games->counted && export_repeat(&games->frame, game.pair))
        return 0;
    if (games->record.experiment.kind == STORE_TUNE)
        seat_players(games, row);
    games->written++;
    switch (games->format) {
    case GAMES_TEXT:
        return export_game_text(&games->frame, &game, games->output.file) != 0;
    case GAMES_JSON:
        return export_game_json(&games->frame, &game, games->output.file) != 0;
    case GAMES_MOVES:
        return fprintf(games->output.file, "%s\n", game.moves) < 0;
    }
    return 1;
}

static int stream(struct games *games, struct store *store)
{
    char id[24], first[24], last[24];
    const char *parameters[] = {id, first, last};
    uint64_t end = games->last;
    if (games->counted && games->frame.counted_pairs == 0)
        return COMMAND_DONE;
    if (games->counted && end >= games->frame.counted_pairs)
        end = games->frame.counted_pairs - 1;
    snprintf(id, sizeof id, "%llu", (unsigned long long)games->id);
    snprintf(first, sizeof first, "%llu", (unsigned long long)games->first);
    snprintf(last, sizeof last, "%llu", (unsigned long long)end);
    bool is_tune = games->record.experiment.kind == STORE_TUNE;
    int outcome = store_stream(store, is_tune ? tune_games_sql : games_sql, parameters, 3, write_row, games);
    if (outcome > 0)
        return args_refuse("the output cannot be written");
    return connect_failed(store, (enum store_error)outcome);
}

static int prepare(struct games *games, struct store *store)
{
    enum store_error error = record_load(store, games->id, &games->record);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse_experiment(store, games->id);
    if (error != STORE_OK)
        return connect_failed(store, error);
    artifact_hex(games->record.experiment.a.weights, games->hash_a);
    artifact_hex(games->record.experiment.b.weights, games->hash_b);
    games->frame = (struct export_game_frame){.experiment = &games->record.experiment,
                                              .sha256_a = games->hash_a,
                                              .sha256_b = games->hash_b,
                                              .counted_pairs = record_counters(&games->record)->prefix_pairs};
    error = store_repeats(store, games->id, &games->repeats, &games->frame.repeat_count);
    if (error != STORE_OK)
        return connect_failed(store, error);
    games->frame.repeats = games->repeats;
    return output_open(&games->output, games->out, games->force);
}

static int run(struct games *games)
{
    int status;
    struct store *store = connect_reader(&games->common, &status);
    if (!store)
        return status;
    status = prepare(games, store);
    if (status == COMMAND_DONE) {
        status = stream(games, store);
        if (status == COMMAND_DONE)
            status = output_commit(&games->output);
        else
            output_abandon(&games->output);
        if (status == COMMAND_DONE && games->out)
            args_note("%llu games written to %s", (unsigned long long)games->written, games->out);
    }
    store_close(store);
    return status;
}

int games_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"format", OPTION_FORMAT, "FORMAT", 0,
         "text (a line of key=value words, the default), json (an object a line; also --json) or moves "
         "(letters only)",
         1},
        {"pairs", OPTION_PAIRS, "A-B", 0, "Only pairs A to B", 1},
        {"counted", OPTION_COUNTED, NULL, 0, "Only pairs that count, repeated ones left out", 1},
        {"out", OPTION_OUT, "FILE", 0, "Where to (default: standard output)", 2},
        {"force", OPTION_FORCE, NULL, 0, "Replace FILE if it is there", 2},
        {0}};
    static const struct argp argp = {.options = options,
                                     .parser = games_parse,
                                     .args_doc = "ID",
                                     .doc = "Export the stored games of an experiment in pair order, of any "
                                            "size. Every record is complete in itself: "
                                            "experiment, pair, leg, rules, both players with weights and "
                                            "limits, result, reason, stores, moves.\v"
                                            "Examples:\n"
                                            "  kroo games 12 --format json --out games.jsonl\n"
                                            "  kroo games 12 --pairs 0-9\n"
                                            "  kroo games 12 --format moves | kroo-engine replay",
                                     .children = args_common_children};
    struct games *games = calloc(1, sizeof *games);
    if (!games)
        return args_refuse("out of memory");
    games->last = INT64_MAX;
    parse_line(&argp, argc, argv, games);
    if (games->common.json)
        games->format = GAMES_JSON;
    int status = run(games);
    free(games->repeats);
    free(games);
    return status;
}
