#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/evaluate.h"
#include "engine/mix.h"
#include "engine/perft.h"
#include "engine/play.h"
#include "engine/replay.h"

enum {
    DEPTH = 10,
    ROUNDS = 5,
    ROUNDS_MAX = 1000,
    RANDOM_GAMES = 10000, /* a million plies: no branch predictor learns them by heart */
    RANDOM_PLIES_MAX = 1000,
    MAKE_MOVES = 20000, /* those of every 201st ply of these games: more than a branch predictor learns */
    MAKE_STRIDE = 201,
    MAKE_PASSES = 400,
    EVALUATE_PASSES = 400,
    PLAYED_PAIRS = 150,
    PLAYED_NODES = 50,
    PLAYED_OPENING = 8,
};

static const uint64_t speed_seed = UINT64_C(0x7370656564); /* "speed" */

struct request {
    struct rules rules;
    bool one; /* only `rules`, else every preset */
    int depth, rounds;
    bool json;
};

static const struct argp_option option_list[] = {
    {"rules", 'r', "RULES", 0, "One rule set instead of every preset", 0},
    {"depth", 'd', "N", 0, "Depth of the trees (default 10)", 0},
    {"rounds", 'n', "N", 0, "Runs of each measure; the median counts (default 5)", 0},
    {"json", 'j', NULL, 0, "One JSON object a line", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'r':
        options_read_rules(state, value, &request->rules);
        request->one = true;
        return 0;
    case 'd':
        request->depth = options_read_number(state, value, "N", 2, PERFT_DEPTH_MAX);
        return 0;
    case 'n':
        request->rounds = options_read_number(state, value, "N", 1, ROUNDS_MAX);
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
    .doc =
        "Measures the rules on one core, in the processor time of the thread: perft (the last ply counted "
        "without being played), make (the legal moves of boards of random games, each made on a copy and the "
        "board that results consumed), the evaluation of these boards by made-up weights of each kind, and "
        "the replay of random and of played games from their letters. The "
        "checksum is mixed from all that was computed: builds that agree on the rules have the same.",
};

/* --- what is measured --- */

struct games {
    struct replay_game *games;
    struct replay_outcome *outcomes;
    size_t count;
};

struct move {
    struct board board;
    int house; /* a legal one */
};

/* Each measure looks at its own part. */
struct subject {
    const struct rules *rules;
    int depth;
    const struct move *moves;
    size_t move_count;
    const struct weights *weights;
    struct replayer *replayer;
    const struct games *games;
};

struct tally {
    uint64_t count, checksum;
};

typedef struct tally measure(const struct subject *subject);

static struct tally measure_perft(const struct subject *subject)
{
    struct position start = position_start();
    uint64_t nodes = perft_nodes(subject->rules, &start, subject->depth);
    return (struct tally){nodes, nodes};
}

/* Makes the moves on copies of their boards. `slam` is meant to be constant where speed counts. */
BOARD_INLINE uint64_t make_moves_as(const struct subject *subject, enum rules_slam slam)
{
    uint64_t checksum = 0;
    for (size_t i = 0; i < subject->move_count; i++) {
        struct board next = board_make_as(subject->moves[i].board, subject->moves[i].house, slam);
        checksum = (checksum + next.own) ^ next.other;
    }
    return checksum;
}

static uint64_t make_moves(const struct subject *subject)
{
    if (subject->rules->slam == RULES_SLAM_CAPTURES_NOTHING)
        return make_moves_as(subject, RULES_SLAM_CAPTURES_NOTHING);
    return make_moves_as(subject, subject->rules->slam);
}

static struct tally measure_make(const struct subject *subject)
{
    struct tally tally = {0};
    for (int pass = 0; pass < MAKE_PASSES; pass++) {
        tally.count += subject->move_count;
        tally.checksum = mix(tally.checksum, make_moves(subject));
    }
    return tally;
}

static struct tally measure_evaluate(const struct subject *subject)
{
    struct tally tally = {0};
    for (int pass = 0; pass < EVALUATE_PASSES; pass++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < subject->move_count; i++)
            sum = sum * 3 + (uint64_t)evaluate_board(subject->weights, subject->moves[i].board);
        tally.count += subject->move_count;
        tally.checksum = mix(tally.checksum, sum);
    }
    return tally;
}

static struct tally measure_replay(const struct subject *subject)
{
    const struct games *games = subject->games;
    struct tally tally = {0};
    replay_games(subject->replayer, games->games, games->count, games->outcomes);
    for (size_t i = 0; i < games->count; i++) {
        const struct replay_outcome *outcome = &games->outcomes[i];
        const struct position *position = &outcome->ending.position;
        tally.count += outcome->plies;
        tally.checksum = mix(tally.checksum, (uint64_t)outcome->ending.result << 24 |
                                                 (uint64_t)outcome->ending.reason << 16 |
                                                 (uint64_t)position->stores[0] << 8 | position->stores[1]);
    }
    return tally;
}

/* --- games to replay --- */

static void games_done(struct games *games)
{
    for (size_t i = 0; games->games && i < games->count; i++)
        free((char *)games->games[i].moves);
    free(games->games);
    free(games->outcomes);
    *games = (struct games){0};
}

static int games_init(struct games *games, size_t capacity)
{
    *games = (struct games){
        .games = calloc(capacity, sizeof *games->games),
        .outcomes = calloc(capacity, sizeof *games->outcomes),
    };
    return games->games && games->outcomes ? 0 : -1;
}

/* Takes `moves`, from malloc; NULL when memory was short. */
static int games_add(struct games *games, char *moves)
{
    if (!moves)
        return -1;
    games->games[games->count++] = (struct replay_game){.moves = moves, .length = strlen(moves)};
    return 0;
}

static int add_random_games(struct games *games, const struct rules *rules)
{
    struct game *game = game_create(rules, NULL);
    int status = game ? 0 : -1;
    for (uint64_t index = 0; status == 0 && index < RANDOM_GAMES; index++) {
        game_reset(game, NULL);
        while (!game_over(game) && game_plies(game) < RANDOM_PLIES_MAX) {
            unsigned legal = game_legal(game);
            uint64_t bits = mix(mix(speed_seed, index), game_plies(game));
            for (uint32_t skip = mix_below(bits, (uint32_t)__builtin_popcount(legal)); skip > 0; skip--)
                legal &= legal - 1;
            if (game_play(game, __builtin_ctz(legal) + 6 * game_position(game).side) != GAME_OK)
                break;
        }
        status = games_add(games, strdup(game_moves(game)));
    }
    game_destroy(game);
    return status;
}

static int add_played_games(struct games *games, const struct rules *rules)
{
    struct play_setup setup = {.rules = rules, .seed = speed_seed, .opening_plies = PLAYED_OPENING};
    struct weights *weights = weights_create_starting(rules->name);
    struct play_side side = {
        .weights = weights, .limits = {.nodes = PLAYED_NODES}, .hash_kib = SEARCH_HASH_KIB};
    struct play_seats *seats = play_seats_create();
    int status = weights && seats ? 0 : -1;
    for (unsigned index = 0; status == 0 && index < 2 * PLAYED_PAIRS; index++) {
        struct play_record record = {0};
        status = play_game(seats, &setup, &side, &side, index / 2, index % 2, NULL, NULL, &record);
        if (status == PLAY_DONE)
            status = games_add(games, strdup(record.moves));
        play_record_done(&record);
    }
    play_seats_destroy(seats);
    weights_destroy(weights);
    return status;
}

/* --- measuring --- */

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(const struct request *request, const char *name, measure *measure_once,
                const struct subject *subject)
{
    double seconds[ROUNDS_MAX];
    struct tally tally = {0};
    for (int round = 0; round < request->rounds; round++) {
        double start = now_seconds();
        tally = measure_once(subject);
        seconds[round] = now_seconds() - start;
    }
    qsort(seconds, (size_t)request->rounds, sizeof *seconds, compare_seconds);
    double median = seconds[request->rounds / 2], count = (double)tally.count;
    double rate = median > 0 ? count / median : 0, best = seconds[0] > 0 ? count / seconds[0] : 0;
    if (request->json)
        printf("{\"measure\":\"%s\",\"rules\":\"%s\",\"count\":%" PRIu64 ",\"checksum\":\"%016" PRIx64
               "\",\"rounds\":%d,\"seconds\":%.6f,\"per_second\":%.0f,\"best_per_second\":%.0f}\n",
               name, subject->rules->name, tally.count, tally.checksum, request->rounds, median, rate, best);
    else
        printf("%-17s %-24s %12" PRIu64 " %10.1f M/s  best %10.1f M/s  %016" PRIx64 "\n", name,
               subject->rules->name, tally.count, rate / 1e6, best / 1e6, tally.checksum);
    fflush(stdout);
}

/* Every legal move of some boards of the games. */
static size_t take_moves(const struct subject *subject, const struct games *games, struct move *moves)
{
    static struct board boards[RANDOM_PLIES_MAX + 1];
    size_t count = 0, ply = 0;
    for (size_t i = 0; i < games->count; i++) {
        struct replay_game game = games->games[i];
        game.boards = boards;
        replay_games(subject->replayer, &game, 1, &games->outcomes[i]);
        for (; ply < game.length && count + BOARD_HOUSES <= MAKE_MOVES; ply += MAKE_STRIDE)
            for (unsigned legal = board_legal(subject->rules, boards[ply]); legal != 0; legal &= legal - 1)
                moves[count++] = (struct move){boards[ply], __builtin_ctz(legal)};
        ply -= ply < game.length ? 0 : game.length;
    }
    return count;
}

/* --- made-up weights: what they say does not matter, that every one is looked up does --- */

static int16_t made_up(uint64_t *at, int bound)
{
    return (int16_t)((int)mix_below(mix(speed_seed, (*at)++), (uint32_t)(2 * bound + 1)) - bound);
}

static struct weights *make_up_table(const char *rules)
{
    static struct weights_phase phases[WEIGHTS_PHASES];
    struct weights *weights = NULL;
    uint64_t at = 0;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        phases[phase].store = 400;
        for (int house = 0; house < WEIGHTS_HOUSES; house++)
            for (int count = 0; count < WEIGHTS_COUNTS; count++)
                phases[phase].house[house][count] = made_up(&at, 900);
    }
    weights_create_table(rules, 2, 0, phases, "{}", &weights);
    return weights;
}

static struct weights *make_up_net(const char *rules)
{
    static struct weights_net net;
    struct weights *weights = NULL;
    uint64_t at = 0;
    for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++) {
        net.output[unit] = made_up(&at, 1000);
        for (int input = 0; input < WEIGHTS_NET_INPUTS; input++)
            net.input[input][unit] = made_up(&at, 2000);
    }
    net.hidden_shift = 6;
    weights_create_net(rules, 6, 0, &net, "{}", &weights);
    return weights;
}

static struct weights *make_up_features(const char *rules)
{
    static struct weights_features features;
    struct weights *weights = NULL;
    uint64_t at = 0;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int trait = 0; trait < TRAITS; trait++)
            features.phases[phase][trait] = made_up(&at, 400);
    weights_create_features(rules, 2, 0, &features, "{}", &weights);
    return weights;
}

static int run_evaluations(const struct request *request, struct subject *subject)
{
    struct weights *(*const make_up[])(const char *rules) = {make_up_table, make_up_net, make_up_features};
    const char *const names[] = {"evaluate-table", "evaluate-net", "evaluate-features"};
    for (int kind = 0; kind < 3; kind++) {
        struct weights *weights = make_up[kind](subject->rules->name);
        if (!weights)
            return -1;
        subject->weights = weights;
        run(request, names[kind], measure_evaluate, subject);
        weights_destroy(weights);
    }
    return 0;
}

static int run_random(const struct request *request, struct subject *subject, struct games *games)
{
    struct move *moves = calloc(MAKE_MOVES, sizeof *moves);
    int status = moves ? add_random_games(games, subject->rules) : -1;
    if (status == 0) {
        subject->moves = moves;
        subject->move_count = take_moves(subject, games, moves);
        run(request, "make", measure_make, subject);
        if (request->one || rules_equal(subject->rules, rules_preset(0)))
            status = run_evaluations(request, subject);
        run(request, "replay-random", measure_replay, subject);
    }
    free(moves);
    return status;
}

static int run_played(const struct request *request, struct subject *subject, struct games *games)
{
    int status = add_played_games(games, subject->rules);
    if (status == 0)
        run(request, "replay-played", measure_replay, subject);
    return status;
}

typedef int run_function(const struct request *request, struct subject *subject, struct games *games);

static int run_games(const struct request *request, const struct rules *rules, size_t capacity,
                     run_function *run_part)
{
    struct games games;
    struct replayer *replayer = replayer_create(rules);
    struct subject subject = {.rules = rules, .replayer = replayer, .games = &games};
    int status = games_init(&games, capacity);
    if (status == 0)
        status = replayer ? run_part(request, &subject, &games) : -1;
    games_done(&games);
    replayer_destroy(replayer);
    return status;
}

/* Games that could go on for ever are not played. */
static int run_rules(const struct request *request, const struct rules *rules)
{
    struct subject subject = {.rules = rules, .depth = request->depth};
    run(request, "perft", measure_perft, &subject);
    if (run_games(request, rules, RANDOM_GAMES, run_random) != 0)
        return -1;
    return rules_bound_games(rules) ? run_games(request, rules, (size_t)2 * PLAYED_PAIRS, run_played) : 0;
}

int speed_main(int argc, char **argv)
{
    struct request request = {.depth = DEPTH, .rounds = ROUNDS};
    options_parse(&argp, argc, argv, &request);
    int status = 0;
    if (request.one)
        status = run_rules(&request, &request.rules);
    for (size_t i = 0; !request.one && status == 0 && rules_preset(i); i++)
        status = run_rules(&request, rules_preset(i));
    if (status != 0)
        fprintf(stderr, "%s: memory is short, or the rules leave no game to replay\n", argv[0]);
    int written = options_finish_output(argv[0]);
    return status == 0 ? written : TOOL_REFUSED;
}
