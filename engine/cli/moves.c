#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/lines.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/game.h"

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
        "Lists the legal moves of positions from standard input, one a line, and answers each with a JSON "
        "line: "
        "legal, over, reason, and for each move captured, grand_slam (the capture covers every seed of the "
        "opponent, whatever the rules make of it) and the position after it, before leftovers are taken. "
        "Positions have no history. Ends with status 1 if any line was refused.",
};

static json_t *describe_move(const struct rules *rules, const struct position *position, int house)
{
    struct board board = board_from_position(position);
    struct board next = board_make(rules, board, house);
    bool north = position->side == SIDE_NORTH;
    char move[2] = {position_house_letter(house + (north ? BOARD_HOUSES : 0)), '\0'};
    struct position after = board_to_position(next, north ? SIDE_SOUTH : SIDE_NORTH);
    char text[POSITION_TEXT_MAX];
    position_format(&after, text);
    return json_pack("{s:s, s:i, s:b, s:s}", "move", move, "captured", (int)board_captured(board, next),
                     "grand_slam", (int)board_is_slam(board, house), "position", text);
}

static json_t *describe(struct game *game, const struct position *position)
{
    game_reset(game, position);
    unsigned legal = game_legal(game);
    char letters[BOARD_HOUSES + 1];
    size_t count = 0;
    json_t *moves = json_array();
    for (int house = 0; house < BOARD_HOUSES; house++) {
        if ((legal >> house & 1) == 0)
            continue;
        letters[count++] = position_house_letter(house + (position->side == SIDE_NORTH ? BOARD_HOUSES : 0));
        json_array_append_new(moves, describe_move(game_rules(game), position, house));
    }
    letters[count] = '\0';
    return json_pack("{s:s, s:b, s:s, s:o}", "legal", letters, "over", (int)game_over(game), "reason",
                     game_reason_text(game_reason(game)), "moves", moves);
}

static int answer_line(struct game *game, const struct lines *lines)
{
    char reason[256] = "a position holds no NUL byte";
    struct position position;
    bool good = strlen(lines->text) == lines->length &&
                position_parse(lines->text, &position, reason, sizeof reason) == 0;
    json_t *answer = good ? describe(game, &position) : json_pack("{s:s}", "error", reason);
    int written = answer != NULL ? json_dumpf(answer, stdout, JSON_COMPACT) : -1;
    json_decref(answer);
    if (written != 0)
        printf("{\"error\":\"out of memory\"}");
    putchar('\n');
    return good && written == 0 ? TOOL_DONE : TOOL_REFUSED;
}

static int answer_lines(struct game *game, struct lines *lines, const char *tool)
{
    int status = TOOL_DONE;
    enum lines_status read;
    while ((read = lines_read(lines)) != LINES_END) {
        if (read == LINES_ERROR) {
            fprintf(stderr, "%s: standard input could not be read\n", tool);
            return TOOL_REFUSED;
        }
        if (read == LINES_LONG) {
            printf("{\"error\":\"the line is longer than %d bytes\"}\n", LINES_MAX);
            status = TOOL_REFUSED;
        } else if (answer_line(game, lines) != TOOL_DONE) {
            status = TOOL_REFUSED;
        }
    }
    return status;
}

int moves_main(int argc, char **argv)
{
    struct rules rules = options_default_rules();
    options_parse(&argp, argc, argv, &rules);
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct game *game = game_create(&rules, NULL);
    struct lines *lines = malloc(sizeof *lines);
    int status = TOOL_REFUSED;
    if (game == NULL || lines == NULL) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
    } else {
        lines_init(lines, stdin);
        status = answer_lines(game, lines, argv[0]);
    }
    free(lines);
    game_destroy(game);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}
