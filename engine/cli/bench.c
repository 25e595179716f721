#include <inttypes.h>
#include <stdio.h>
#include <time.h>

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
};

static const uint64_t bench_seed = UINT64_C(0x62656e6368); /* "bench" */

struct request {
    struct rules rules;
    const char *weights;
    int nodes; /* 0 until given */
    int games; /* 0: searches */
    bool json;
};

static const struct argp_option option_list[] = {
    {"rules", 'r', "RULES", 0,
     "Rule set: a preset with optional overrides, like site,repetitions=2 (default site)", 0},
    {"weights", 'w', "FILE", 0, "Weights file (default the built-in starting weights)", 0},
    {"nodes", 'n', "N", 0, "Nodes a search (default 200000, or 1000 with --games)", 0},
    {"games", 'g', "N", 0, "Play N games of self-play instead, an even number", 0},
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
    case 'j':
        request->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse_option,
    .doc = "Searches a fixed set of 50 positions on one core, or plays games as a worker does. The signature "
           "is mixed from every move, score, "
           "depth "
           "and node count: it depends on rules, weights and --nodes, and on nothing of the machine. Two "
           "builds that "
           "play alike have the same.",
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
    struct play_side side = {weights, {.nodes = (uint64_t)request->nodes}, SEARCH_HASH_KIB};
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

int bench_main(int argc, char **argv)
{
    struct request request = {.rules = options_default_rules()};
    options_parse(&argp, argc, argv, &request);
    if (request.nodes == 0)
        request.nodes = request.games != 0 ? SELFPLAY_NODES : BENCH_NODES;
    struct weights *weights = NULL;
    enum weights_error error = WEIGHTS_ERROR_MEMORY;
    if (request.weights)
        error = weights_load(request.weights, request.rules.name, &weights);
    else
        weights = weights_create_starting(request.rules.name);
    int status = -1;
    if (!weights)
        fprintf(stderr, "%s: %s\n", argv[0], weights_error_text(error));
    else if ((status = request.games != 0 ? run_games(&request, weights) : run_searches(&request, weights)) !=
             0)
        fprintf(stderr, "%s: memory is short, or the rules let a game go on for ever\n", argv[0]);
    weights_destroy(weights);
    int written = options_finish_output(argv[0]);
    return status == 0 ? written : TOOL_REFUSED;
}
