#include "engine/perfect.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/search.h"

enum { NODES = 1000, POSITIONS = 1000, SEED = 1, SEEDS_LOWEST = 3, KEY_TABLES = 't', KEY_POSITIONS = 'p' };

struct request {
    const char *tables, *weights;
    int nodes, positions, seed;
    bool json;
};

static const struct argp_option option_list[] = {
    {"tables", KEY_TABLES, "FILE", 0, "Endgame tables: what is true (and the rules)", 0},
    {"weights", 'w', "FILE", 0, "Weights file of the player (default the built-in starting weights)", 0},
    {"nodes", 'n', "N", 0, "Nodes a move (default 1000)", 0},
    {"positions", KEY_POSITIONS, "K", 0, "Positions, spread evenly over 3 seeds and more (default 1000)", 0},
    {"seed", 's', "S", 0, "Another sample (default 1)", 0},
    {"json", 'j', NULL, 0, "One JSON object", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case KEY_TABLES:
        request->tables = value;
        return 0;
    case 'w':
        request->weights = value;
        return 0;
    case 'n':
        request->nodes = options_read_number(state, value, "--nodes", 1, 1000000000);
        return 0;
    case KEY_POSITIONS:
        request->positions = options_read_number(state, value, "--positions", 1, 10000000);
        return 0;
    case 's':
        request->seed = options_read_number(state, value, "--seed", 0, 2147483647);
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case ARGP_KEY_END:
        if (request->tables == NULL)
            argp_error(state, "--tables is missing; make a file with `kroo-engine tables build`");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse_option,
    .doc =
        "How near the player is to perfect play. It moves, without tables of its own, in positions whose "
        "value the tables know exactly: LO = UP for the board and after each of its moves, two of which at "
        "least differ. Each begins a game, with stores such that perfect play draws or wins by the least, in "
        "turn. kept: moves that keep the value; outcome: moves that keep the draw or the win; given: value "
        "lost, seeds a position. Each with its standard error. The same tables, weights and options give "
        "the same figures on every machine.",
};

struct player {
    const struct tables *tables;
    const struct weights *weights;
    struct search *search;
    struct game *game;
};

static int choose(const struct player *player, const struct perfect_position *position, int nodes)
{
    struct search_limits limits = {.nodes = (uint64_t)nodes};
    struct search_info info;
    game_reset(player->game, &position->position);
    search_new_game(player->search);
    return search_run(player->search, player->game, player->weights, &limits, NULL, NULL, NULL, &info);
}

static void show_progress(int done, int all)
{
    if (isatty(STDERR_FILENO) && (done % 64 == 0 || done == all))
        fprintf(stderr, "\r%d of %d%s", done, all, done == all ? "\r\033[K" : "");
}

/* Position i of the sample has layer i of those from SEEDS_LOWEST up, in turn; layers run out of telling
 * boards only where there are none. */
static void measure(const struct player *player, const struct request *request, struct perfect_tally *layers)
{
    int count = player->tables->seeds - SEEDS_LOWEST + 1;
    for (int i = 0; i < request->positions; i++) {
        struct perfect_position position;
        int seeds = SEEDS_LOWEST + i % count;
        if (perfect_draw(player->tables, (uint64_t)request->seed, seeds, (uint64_t)(i / count), &position))
            perfect_count(&layers[seeds], &position, choose(player, &position, request->nodes));
        show_progress(i + 1, request->positions);
    }
}

static json_t *describe(const struct perfect_tally *tally)
{
    struct perfect_mean kept = perfect_share(tally->kept, tally->positions);
    struct perfect_mean outcome = perfect_share(tally->outcome, tally->positions);
    struct perfect_mean given = perfect_given(tally);
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "positions", (json_int_t)tally->positions, "kept",
                     kept.mean, "kept_error", kept.error, "outcome", outcome.mean, "outcome_error",
                     outcome.error, "given", given.mean, "given_error", given.error);
}

static void print_json(const struct request *request, const struct tables *tables,
                       const struct perfect_tally *layers, const struct perfect_tally *total)
{
    json_t *rows = json_array(), *root = json_object();
    for (int seeds = SEEDS_LOWEST; seeds <= tables->seeds; seeds++) {
        json_t *row = json_pack("{s:i}", "seeds", seeds), *figures = describe(&layers[seeds]);
        json_object_update(row, figures);
        json_decref(figures);
        json_array_append_new(rows, row);
    }
    json_object_set_new(root, "rules", json_string(tables->rules.name));
    json_object_set_new(root, "seeds", json_integer(tables->seeds));
    json_object_set_new(root, "nodes", json_integer(request->nodes));
    json_object_set_new(root, "seed", json_integer(request->seed));
    json_t *figures = describe(total);
    json_object_update(root, figures);
    json_decref(figures);
    json_object_set_new(root, "layers", rows);
    json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(root);
}

static void print_row(const char *name, const struct perfect_tally *tally)
{
    struct perfect_mean kept = perfect_share(tally->kept, tally->positions);
    struct perfect_mean outcome = perfect_share(tally->outcome, tally->positions);
    struct perfect_mean given = perfect_given(tally);
    printf("%5s %9" PRIu64 "  %6.2f %% +- %.2f  %6.2f %% +- %.2f  %7.4f +- %.4f\n", name, tally->positions,
           100 * kept.mean, 100 * kept.error, 100 * outcome.mean, 100 * outcome.error, given.mean,
           given.error);
}

static void print_table(const struct tables *tables, const struct perfect_tally *layers,
                        const struct perfect_tally *total)
{
    printf("%5s %9s  %-16s  %-16s  %s\n", "seeds", "positions", "    kept", " outcome", "  given");
    for (int seeds = SEEDS_LOWEST; seeds <= tables->seeds; seeds++) {
        char name[16];
        snprintf(name, sizeof name, "%d", seeds);
        print_row(name, &layers[seeds]);
    }
    print_row("all", total);
}

static int run(const struct request *request, const struct player *player, const char *tool)
{
    struct perfect_tally layers[TABLES_SEEDS_MAX + 1] = {0}, total = {0};
    measure(player, request, layers);
    for (int seeds = 0; seeds <= TABLES_SEEDS_MAX; seeds++)
        perfect_add(&total, &layers[seeds]);
    if (total.positions == 0) {
        fprintf(stderr, "%s: %s: no position qualifies; build tables for more seeds\n", tool,
                request->tables);
        return TOOL_REFUSED;
    }
    if (request->json)
        print_json(request, player->tables, layers, &total);
    else
        print_table(player->tables, layers, &total);
    return options_finish_output(tool);
}

int perfect_main(int argc, char **argv)
{
    struct request request = {.nodes = NODES, .positions = POSITIONS, .seed = SEED};
    options_parse(&argp, argc, argv, &request);
    struct tables *tables;
    if (!options_load_tables(request.tables, NULL, argv[0], &tables))
        return TOOL_REFUSED;
    struct weights *weights = options_load_weights(request.weights, tables->rules.name, argv[0]);
    struct player player = {tables, weights, search_create(SEARCH_HASH_KIB),
                            game_create(&tables->rules, NULL)};
    int status = TOOL_REFUSED;
    if (player.search == NULL || player.game == NULL)
        fprintf(stderr, "%s: memory is short\n", argv[0]);
    else if (tables->seeds < SEEDS_LOWEST)
        fprintf(stderr, "%s: %s: tables of %d seeds are too small; build them for more\n", argv[0],
                request.tables, tables->seeds);
    else if (weights != NULL)
        status = run(&request, &player, argv[0]);
    game_destroy(player.game);
    search_destroy(player.search);
    weights_destroy(weights);
    tables_close(tables);
    return status;
}
