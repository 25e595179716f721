#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/cli/lines.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/replay.h"

static const struct argp_option option_list[] = {
    {"rules", 'r', "RULES", 0,
     "Rule set: a preset with optional overrides, like site,repetitions=2 (default site)", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    if (key != 'r')
        return ARGP_ERR_UNKNOWN;
    options_read_rules(state, value, state->input);
    return 0;
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse_option,
    .doc =
        "Replays games from standard input, one string of letters a line (an empty line is a game without "
        "moves), and answers each with a JSON line: plies, result, reason, stores, houses; or error, ply and "
        "move. Ends with status 1 if any game was refused.",
};

static void print_game(const struct replay_outcome *outcome)
{
    const struct game_ending *ending = &outcome->ending;
    printf("{\"plies\":%zu,\"result\":\"%s\",\"reason\":\"%s\",\"stores\":[%d,%d],\"houses\":[",
           outcome->plies, game_result_text(ending->result), game_reason_text(ending->reason),
           ending->position.stores[0], ending->position.stores[1]);
    for (int house = 0; house < 12; house++)
        printf("%s%d", house == 0 ? "" : ",", ending->position.houses[house]);
    printf("]}\n");
}

/* The refused byte as JSON text; what is not printable ASCII is shown as \xNN. */
static void print_refusal(enum game_error error, size_t ply, char move)
{
    char text[8];
    unsigned byte = (unsigned char)move;
    snprintf(text, sizeof text, byte >= ' ' && byte <= '~' ? "%c" : "\\x%02x", byte);
    const char *name = error == GAME_ERROR_LENGTH ? "too-long" : "illegal-move";
    json_t *line = json_pack("{s:s, s:I, s:s}", "error", name, "ply", (json_int_t)ply, "move", text);
    json_dumpf(line, stdout, JSON_COMPACT);
    json_decref(line);
    putchar('\n');
}

/* Answers one line; 0, or 1 when the game was refused. */
static int replay_line(struct replayer *replayer, const char *moves, size_t length)
{
    struct replay_game game = {.moves = moves, .length = length};
    struct replay_outcome outcome;
    replay_games(replayer, &game, 1, &outcome);
    if (outcome.error == GAME_OK) {
        print_game(&outcome);
        return TOOL_DONE;
    }
    print_refusal(outcome.error, outcome.plies + 1, moves[outcome.plies]);
    return TOOL_REFUSED;
}

static int replay_lines(struct replayer *replayer, struct lines *lines, const char *tool)
{
    int status = TOOL_DONE;
    enum lines_status read;
    while ((read = lines_read(lines)) != LINES_END) {
        if (read == LINES_ERROR) {
            fprintf(stderr, "%s: standard input could not be read\n", tool);
            return TOOL_REFUSED;
        }
        if (read == LINES_LONG) {
            printf("{\"error\":\"line-too-long\",\"bytes_max\":%d}\n", LINES_MAX);
            status = TOOL_REFUSED;
        } else if (replay_line(replayer, lines->text, lines->length) != TOOL_DONE) {
            status = TOOL_REFUSED;
        }
    }
    return status;
}

int replay_main(int argc, char **argv)
{
    struct rules rules = options_default_rules();
    options_parse(&argp, argc, argv, &rules);
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct replayer *replayer = replayer_create(&rules);
    struct lines *lines = malloc(sizeof *lines);
    int status = TOOL_REFUSED;
    if (replayer == NULL || lines == NULL) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
    } else {
        lines_init(lines, stdin);
        status = replay_lines(replayer, lines, argv[0]);
    }
    free(lines);
    replayer_destroy(replayer);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}
