#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/cli/bench_positions.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/mix.h"
#include "engine/play.h"
#include "engine/search.h"

/* Enough for a second or two; every position is a game of its own, so that the table starts empty. */
enum {
    BENCH_POSITIONS = 50,
    BENCH_NODES = 200000,
    BENCH_PLIES_MAX = 60,
    BENCH_HASH_KIB = 16384,
    SELFPLAY_NODES = 1000,
    SELFPLAY_OPENING = 8,
    POSITIONS_NODES = 100000,
    DEPTH_FIRST = 11,
    DEPTH_STEP = 2,
    DEPTH_LAST = 31,
    DEPTHS = (DEPTH_LAST - DEPTH_FIRST) / DEPTH_STEP + 1,
};

static const uint64_t bench_seed = UINT64_C(0x62656e6368); /* "bench" */

struct request {
    struct rules rules;
    const char *weights;
    int nodes; /* 0 until given */
    int games; /* 0: searches */
    int depth; /* 0: none asked for */
    const char *positions, *tables;
    bool json;
};

static const struct argp_option option_list[] = {
    {"rules", 'r', "RULES", 0,
     "Rule set: a preset with optional overrides, like site,repetitions=2 (default site)", 0},
    {"weights", 'w', "FILE", 0, "Weights file (default the built-in starting weights)", 0},
    {"nodes", 'n', "N", 0, "Nodes a search (default 200000; 1000 with --games, 100000 with --positions)", 0},
    {"games", 'g', "N", 0, "Play N games of self-play instead, an even number", 0},
    {"depth", 'd', "D", 0, "Search to depth D instead, 11 to 31; time to depths 11, 13, ... D", 0},
    {"positions", 'p', "FILE", 0,
     "Search positions whose best move is known instead, as `tables positions` prints them: solved at 1000, "
     "10000, ... N nodes, and nodes and time until the move is found and kept",
     0},
    {"tables", 't', "FILE", 0, "Endgame tables for --positions (default none)", 0},
    {"json", 'j', NULL, 0, "One JSON object", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'r':
        options_read_rules(state, value, &request->rules);
        return 0;
    case 'w':
        request->weights = value;
        return 0;
    case 'n':
        request->nodes = options_read_number(state, value, "N", 1, 1000000000);
        return 0;
    case 'g':
        request->games = options_read_number(state, value, "N", 2, 1000000);
        if (request->games % 2 != 0)
            argp_error(state, "games come in pairs: N must be even");
        return 0;
    case 'd':
        request->depth = options_read_number(state, value, "D", DEPTH_FIRST, DEPTH_LAST);
        return 0;
    case 'p':
        request->positions = value;
        return 0;
    case 't':
        request->tables = value;
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case ARGP_KEY_END:
        if ((request->games != 0) + (request->depth != 0) + (request->positions != NULL) > 1)
            argp_error(state, "--games, --depth and --positions exclude one another");
        if (request->tables != NULL && request->positions == NULL)
            argp_error(state, "--tables goes with --positions");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse_option,
    .doc = "Searches a fixed set of 50 positions on one core, or plays games as a worker does. The signature "
           "is mixed from every move, score, depth and node count: it depends on rules, weights and --nodes, "
           "and on nothing of the machine. Two builds that play alike have the same.",
};

/* Position `index` of the set: random legal plies from the start, drawn again if they end the game. */
static void bench_position(struct game *game, int index)
{
    for (uint64_t draw = 0;; draw++) {
        uint64_t seed = mix(mix(bench_seed, (uint64_t)index), draw);
        int plies = index * BENCH_PLIES_MAX / BENCH_POSITIONS, ply = 0;
        game_reset(game, NULL);
        for (; ply < plies && !game_over(game); ply++) {
            unsigned legal = game_legal(game);
            uint32_t skip = mix_below(mix(seed, (uint64_t)ply), (uint32_t)__builtin_popcount(legal));
            for (; skip > 0; skip--)
                legal &= legal - 1;
            game_play(game, __builtin_ctz(legal) + 6 * game_position(game).side);
        }
        if (!game_over(game))
            return;
    }
}

struct totals {
    uint64_t nodes, signature;
    int depths;
    double seconds;
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct totals run(const struct request *request, struct search *search, struct game *game,
                         const struct weights *weights)
{
    struct search_limits limits = {.nodes = (uint64_t)request->nodes};
    struct totals totals = {0};
    for (int index = 0; index < BENCH_POSITIONS; index++) {
        struct search_info info;
        bench_position(game, index);
        search_new_game(search);
        double start = now_seconds();
        int house = search_run(search, game, weights, &limits, NULL, NULL, NULL, &info);
        totals.seconds += now_seconds() - start;
        totals.nodes += info.nodes;
        totals.depths += info.depth;
        totals.signature = mix(totals.signature, info.nodes);
        totals.signature = mix(totals.signature, (uint64_t)(info.score + 65536) << 16 |
                                                     (uint64_t)info.depth << 8 | (uint64_t)house);
    }
    return totals;
}

static void print(const struct request *request, const struct totals *totals)
{
    double rate = totals->seconds > 0 ? (double)totals->nodes / totals->seconds : 0;
    double depth = (double)totals->depths / BENCH_POSITIONS;
    if (request->json)
        printf("{\"rules\":\"%s\",\"positions\":%d,\"nodes\":%" PRIu64 ",\"signature\":\"%016" PRIx64
               "\",\"depth\":%.2f,\"seconds\":%.6f,\"nodes_per_second\":%.0f}\n",
               request->rules.name, BENCH_POSITIONS, totals->nodes, totals->signature, depth, totals->seconds,
               rate);
    else
        printf("rules            %s\npositions        %d\nnodes            %" PRIu64
               "\nsignature        %016" PRIx64
               "\nmean depth       %.2f\nseconds          %.3f\nnodes per second %.0f\n",
               request->rules.name, BENCH_POSITIONS, totals->nodes, totals->signature, depth, totals->seconds,
               rate);
}

/* Both legs of the first pairs, on one core, as a worker plays them. */
static int run_games(const struct request *request, const struct weights *weights)
{
    struct play_setup setup = {
        .rules = &request->rules, .seed = bench_seed, .opening_plies = SELFPLAY_OPENING};
    struct play_side side = {
        .weights = weights, .limits = {.nodes = (uint64_t)request->nodes}, .hash_kib = SEARCH_HASH_KIB};
    struct play_seats *seats = play_seats_create();
    uint64_t plies = 0, nodes = 0, signature = 0;
    int played = 0;
    double start = now_seconds();
    for (; seats && played < request->games; played++) {
        struct play_record record;
        if (play_game(seats, &setup, &side, &side, (uint64_t)played / 2, (unsigned)played % 2, NULL, NULL,
                      &record) != PLAY_DONE)
            break;
        plies += record.plies;
        nodes += record.nodes;
        signature = mix(mix(signature, record.nodes), (uint64_t)record.result << 32 | record.plies);
        play_record_done(&record);
    }
    double seconds = now_seconds() - start;
    play_seats_destroy(seats);
    if (played < request->games)
        return -1;
    double rate = seconds > 0 ? played / seconds : 0, length = (double)plies / played;
    if (request->json)
        printf("{\"rules\":\"%s\",\"games\":%d,\"nodes\":%" PRIu64 ",\"signature\":\"%016" PRIx64
               "\",\"plies\":%.2f,\"seconds\":%.6f,\"games_per_second\":%.1f}\n",
               request->rules.name, played, nodes, signature, length, seconds, rate);
    else
        printf("rules            %s\ngames            %d\nnodes            %" PRIu64
               "\nsignature        %016" PRIx64
               "\nplies a game     %.2f\nseconds          %.3f\ngames per second %.1f\n",
               request->rules.name, played, nodes, signature, length, seconds, rate);
    return 0;
}

static int run_searches(const struct request *request, const struct weights *weights)
{
    struct search *search = search_create(BENCH_HASH_KIB);
    struct game *game = game_create(&request->rules, NULL);
    int status = -1;
    if (search && game) {
        struct totals totals = run(request, search, game, weights);
        print(request, &totals);
        status = 0;
    }
    game_destroy(game);
    search_destroy(search);
    return status;
}

/* --- time to depth --- */

struct clocked {
    double start;
    double reached[DEPTHS][BENCH_POSITIONS]; /* seconds */
    int index;                               /* of the position at hand */
};

static void clock_depth(void *context, const struct search_info *info)
{
    struct clocked *clocked = context;
    int past = info->depth - DEPTH_FIRST;
    if (past >= 0 && past % DEPTH_STEP == 0 && past / DEPTH_STEP < DEPTHS)
        clocked->reached[past / DEPTH_STEP][clocked->index] = now_seconds() - clocked->start;
}

/* A search that ends early, its outcome decided, is as good as at every greater depth. */
static void fill_depths(struct clocked *clocked)
{
    double last = now_seconds() - clocked->start;
    for (int i = 0; i < DEPTHS; i++)
        if (clocked->reached[i][clocked->index] < 0)
            clocked->reached[i][clocked->index] = last;
}

static int compare_seconds(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void print_depths(const struct request *request, struct clocked *clocked)
{
    if (request->json)
        printf("{\"rules\":\"%s\",\"positions\":%d,\"depths\":[", request->rules.name, BENCH_POSITIONS);
    for (int depth = DEPTH_FIRST; depth <= request->depth; depth += DEPTH_STEP) {
        double *seconds = clocked->reached[(depth - DEPTH_FIRST) / DEPTH_STEP], total = 0;
        for (int i = 0; i < BENCH_POSITIONS; i++)
            total += seconds[i];
        qsort(seconds, BENCH_POSITIONS, sizeof *seconds, compare_seconds);
        double median = (seconds[(BENCH_POSITIONS - 1) / 2] + seconds[BENCH_POSITIONS / 2]) / 2;
        if (request->json)
            printf("%s{\"depth\":%d,\"median_seconds\":%.6f,\"total_seconds\":%.6f}",
                   depth == DEPTH_FIRST ? "" : ",", depth, median, total);
        else
            printf("depth %2d  median %.6f s  total %.3f s\n", depth, median, total);
    }
    if (request->json)
        puts("]}");
}

static int run_depths(const struct request *request, const struct weights *weights)
{
    struct search *search = search_create(BENCH_HASH_KIB);
    struct game *game = game_create(&request->rules, NULL);
    struct clocked clocked;
    bool created = search && game;
    for (int i = 0; i < BENCH_POSITIONS && created; i++) {
        struct search_limits limits = {.depth = request->depth};
        struct search_info info;
        bench_position(game, i);
        search_new_game(search);
        for (int depth = 0; depth < DEPTHS; depth++)
            clocked.reached[depth][i] = -1;
        clocked.index = i;
        clocked.start = now_seconds();
        search_run(search, game, weights, &limits, NULL, clock_depth, &clocked, &info);
        fill_depths(&clocked);
    }
    if (created)
        print_depths(request, &clocked);
    game_destroy(game);
    search_destroy(search);
    return created ? 0 : -1;
}

/* --- the tool --- */

static int default_nodes(const struct request *request)
{
    return request->games != 0 ? SELFPLAY_NODES : request->positions != NULL ? POSITIONS_NODES : BENCH_NODES;
}

static int run_positions(const struct request *request, const struct weights *weights, const char *tool)
{
    struct bench_positions positions = {request->positions, request->tables, &request->rules, weights,
                                        request->nodes,     request->json};
    int status = bench_positions_run(&positions, tool);
    int written = options_finish_output(tool);
    return status == TOOL_DONE ? written : status;
}

int bench_main(int argc, char **argv)
{
    struct request request = {.rules = options_default_rules()};
    options_parse(&argp, argc, argv, &request);
    if (request.nodes == 0)
        request.nodes = default_nodes(&request);
    struct weights *weights = options_load_weights(request.weights, request.rules.name, argv[0]);
    if (weights == NULL)
        return TOOL_REFUSED;
    int status;
    if (request.positions != NULL) {
        status = run_positions(&request, weights, argv[0]);
        weights_destroy(weights);
        return status;
    }
    status = request.games != 0   ? run_games(&request, weights)
             : request.depth != 0 ? run_depths(&request, weights)
                                  : run_searches(&request, weights);
    if (status != 0)
        fprintf(stderr, "%s: memory is short, or the rules let a game go on for ever\n", argv[0]);
    weights_destroy(weights);
    int written = options_finish_output(argv[0]);
    return status == 0 ? written : TOOL_REFUSED;
}
