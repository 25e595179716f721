#include "engine/perft.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "engine/board.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"

struct request {
    struct rules rules;
    struct position position;
    int depth; /* 0 until given */
    bool json;
};

static const struct argp_option option_list[] = {
    {"rules", 'r', "RULES", 0,
     "Rule set: a preset with optional overrides, like site,repetitions=2 (default site)", 0},
    {"position", 'p', "POSITION", 0, "Root: A..F a..f, stores South North, side (default the start)", 0},
    {"json", 'j', NULL, 0, "One JSON object a line", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'r':
        options_read_rules(state, value, &request->rules);
        return 0;
    case 'p':
        options_read_position(state, value, &request->position);
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (request->depth != 0)
            argp_error(state, "one DEPTH is enough; '%s' is left over", value);
        request->depth = options_read_number(state, value, "DEPTH", 1, PERFT_DEPTH_MAX);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "DEPTH is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static struct request read_request(int argc, char **argv, const char *doc)
{
    struct argp argp = {.options = option_list, .parser = parse_option, .args_doc = "DEPTH", .doc = doc};
    struct request request = {.rules = options_default_rules(), .position = position_start()};
    options_parse(&argp, argc, argv, &request);
    return request;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_total(const struct request *request, int depth, uint64_t nodes, double seconds)
{
    if (request->json)
        printf("{\"depth\":%d,\"nodes\":%" PRIu64 ",\"seconds\":%.6f}\n", depth, nodes, seconds);
    else
        printf("%5d %20" PRIu64 " nodes %10.3f s %8.1f Mnodes/s\n", depth, nodes, seconds,
               seconds > 0 ? (double)nodes / seconds / 1e6 : 0.0);
    fflush(stdout);
}

int perft_main(int argc, char **argv)
{
    struct request request = read_request(
        argc, argv,
        "Counts the move sequences of each length up to DEPTH. A finished game counts at its own depth; "
        "repetition and the quiet limit are left out.");
    for (int depth = 1; depth <= request.depth; depth++) {
        double start = now_seconds();
        uint64_t nodes = perft_nodes(&request.rules, &request.position, depth);
        print_total(&request, depth, nodes, now_seconds() - start);
    }
    return options_finish_output(argv[0]);
}

/* Nodes below one root move. */
static uint64_t count_below(const struct request *request, struct board board, int house)
{
    if (request->depth == 1)
        return 1;
    enum side side = request->position.side == SIDE_SOUTH ? SIDE_NORTH : SIDE_SOUTH;
    struct position next = board_to_position(board_make(&request->rules, board, house), side);
    return perft_nodes(&request->rules, &next, request->depth - 1);
}

int divide_main(int argc, char **argv)
{
    struct request request = read_request(
        argc, argv, "Counts the move sequences of length DEPTH below each first move, and their total.");
    struct board board = board_from_position(&request.position);
    unsigned legal = board_legal(&request.rules, board);
    if (board_end(board, legal) != BOARD_GOES_ON)
        legal = 0;
    double start = now_seconds();
    uint64_t total = 0;
    for (unsigned mask = legal; mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        uint64_t nodes = count_below(&request, board, house);
        total += nodes;
        char letter = position_house_letter(house + (request.position.side == SIDE_NORTH ? BOARD_HOUSES : 0));
        if (request.json)
            printf("{\"move\":\"%c\",\"nodes\":%" PRIu64 "}\n", letter, nodes);
        else
            printf("%5c %20" PRIu64 " nodes\n", letter, nodes);
    }
    print_total(&request, request.depth, total, now_seconds() - start);
    return options_finish_output(argv[0]);
}
