/* `kroo selfplay` and `kroo match`: their own options; the rest is launch.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/launch.h"
#include "coordinator/cli/preset.h"
#include "coordinator/specification.h"
#include "engine/play.h"
#include "engine/search.h"

enum { DEFAULT_MAX_PAIRS = 100000 };

enum {
    OPTION_WEIGHTS = 0x3000,
    OPTION_NOISE,
    OPTION_SCORES,
    OPTION_SPRT,
    OPTION_ELO0,
    OPTION_ELO1,
    OPTION_MODEL,
    OPTION_ALPHA,
    OPTION_BETA,
    OPTION_BATCH,
    OPTION_MAX_PAIRS,
    OPTION_NODES_A,
    OPTION_NODES_B,
    OPTION_DEPTH_A,
    OPTION_DEPTH_B,
    OPTION_TIME_A,
    OPTION_TIME_B,
    OPTION_CLOCK_A,
    OPTION_CLOCK_B,
    OPTION_ENGINE_A,
    OPTION_ENGINE_B,
    OPTION_TABLES_A,
    OPTION_TABLES_B,
    OPTION_OPTION_A,
    OPTION_OPTION_B,
    OPTION_PRESET,
};

static const struct argp_child launch_children[] = {
    {&launch_argp, 0, NULL, 50}, {&args_common_argp, 0, NULL, 90}, {0}};

static void hand_on(struct launch *launch, struct argp_state *state)
{
    state->child_inputs[0] = launch;
    state->child_inputs[1] = &launch->common;
}

/* --- selfplay --- */

static const struct argp_option selfplay_options[] = {
    {"weights", OPTION_WEIGHTS, "W", 0,
     "Who plays: number, hash prefix, name, champion, starting (default: the champion, else starting)", 1},
    {"noise", OPTION_NOISE, "PERCENT", 0, "Share of moves played at random after the opening (default 2)", 4},
    {"no-scores", OPTION_SCORES, NULL, 0, "Do not store the search score of each ply", 4},
    {0},
};

static const char selfplay_doc[] =
    "Let one set of weights play itself, for the trainer. Prints the experiment's number.\v"
    "Examples:\n"
    "  kroo selfplay --pairs 2000\n"
    "  kroo selfplay --weights champion --pairs 10k --nodes 2000 --noise 3 --wait\n"
    "  kroo selfplay --pairs 500 --rules ghana --seed 7 --key nightly-2026-11-30\n"
    "\n"
    "The same specification and seed give the same games, on any number of workers.";

static error_t selfplay_parse(int key, char *text, struct argp_state *state)
{
    struct launch *launch = state->input;
    double percent;
    switch (key) {
    case ARGP_KEY_INIT:
        hand_on(launch, state);
        return 0;
    case OPTION_WEIGHTS:
        launch->weights[0] = text;
        return 0;
    case OPTION_NOISE:
        percent = args_decimal(state, "--noise", text);
        if (percent < 0 || percent > 100)
            argp_error(state, "--noise is a percentage: 0 to 100");
        launch->create.spec.noise_ppm = (uint32_t)lround(percent / 100 * PLAY_NOISE_UNIT);
        return 0;
    case OPTION_SCORES:
        launch->create.spec.with_scores = false;
        return 0;
    case ARGP_KEY_END:
        if (!launch->has_pairs)
            argp_error(state, "how many? give --pairs N");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int selfplay_command(int argc, char **argv)
{
    static const struct argp argp = {.options = selfplay_options,
                                     .parser = selfplay_parse,
                                     .doc = selfplay_doc,
                                     .children = launch_children};
    struct launch launch;
    launch_init(&launch, MESSAGE_SELFPLAY);
    parse_line(&argp, argc, argv, &launch);
    return launch_run(&launch);
}

/* --- match --- */

static const struct argp_option match_options[] = {
    {"preset", OPTION_PRESET, "NAME[@VERSION]", 0,
     "Options of `kroo preset ls`; those given here go before them", 1},
    {"sprt", OPTION_SPRT, NULL, 0, "Stop as soon as the sequential test has decided", 2},
    {"elo0", OPTION_ELO0, "X", 0, "Lower bound (default 0)", 2},
    {"elo1", OPTION_ELO1, "X", 0, "Upper bound (default 10)", 2},
    {"model", OPTION_MODEL, "MODEL", 0, "Whose Elo the bounds are: normalized (default) or logistic", 2},
    {"alpha", OPTION_ALPHA, "P", 0, "Chance of accepting at elo0 (default 0.05)", 2},
    {"beta", OPTION_BETA, "P", 0, "Chance of rejecting at elo1 (default 0.05)", 2},
    {"batch", OPTION_BATCH, "N", 0, "Pairs between two looks at the LLR (default 8)", 2},
    {"max-pairs", OPTION_MAX_PAIRS, "N", 0,
     "The most pairs of an SPRT, then it ends undecided (default 100000)", 2},
    {"nodes-a", OPTION_NODES_A, "N", 0, "A's own limits, in place of the common ones", 3},
    {"nodes-b", OPTION_NODES_B, "N", 0, "B's own limits", 3},
    {"depth-a", OPTION_DEPTH_A, "D", 0, "likewise", 3},
    {"depth-b", OPTION_DEPTH_B, "D", 0, "likewise", 3},
    {"time-a", OPTION_TIME_A, "MS", 0, "likewise", 3},
    {"time-b", OPTION_TIME_B, "MS", 0, "likewise", 3},
    {"clock-a", OPTION_CLOCK_A, "TIME+INC", 0, "likewise", 3},
    {"clock-b", OPTION_CLOCK_B, "TIME+INC", 0, "likewise", 3},
    {"engine-a", OPTION_ENGINE_A, "N", 0, "A's own engine, in place of the common one", 3},
    {"engine-b", OPTION_ENGINE_B, "N", 0, "B's own engine", 3},
    {"option-a", OPTION_OPTION_A, "NAME=VALUE", 0, "Sent to A's engine, after the common ones", 3},
    {"option-b", OPTION_OPTION_B, "NAME=VALUE", 0, "Sent to B's engine", 3},
    {"tables-a", OPTION_TABLES_A, "T", 0, "A's own endgame tables", 3},
    {"tables-b", OPTION_TABLES_B, "T", 0, "B's own endgame tables", 3},
    {0},
};

static const char match_doc[] =
    "Let two players meet. A and B are weights: number, hash prefix, name, champion or starting. All figures "
    "are from A's view. Prints the experiment's number.\v"
    "Examples:\n"
    "  kroo match 2 champion --pairs 500 --wait\n"
    "  kroo match 2 champion --sprt --elo0 0 --elo1 10 --max-pairs 20000\n"
    "  kroo match 2 champion --preset short --wait\n"
    "  kroo match starting starting --nodes-a 4000 --nodes-b 1000 --pairs 200\n"
    "  kroo match 2 champion --clock 10s+0.1s --clock-b 5s+0.05s --pairs 200\n"
    "  kroo match champion champion --engine-a today --engine-b release-1 --sprt\n"
    "  kroo match champion champion --tables-a site-12 --pairs 500\n"
    "\n"
    "A pair is two games from one opening with the sides swapped; pairs are counted in their order, never in "
    "order of arrival. An accepted SPRT lets `kroo weights promote` name it as the proof.";

static error_t match_sprt(int key, char *text, struct argp_state *state)
{
    struct launch *launch = state->input;
    struct message_sprt *sprt = &launch->create.sprt;
    switch (key) {
    case OPTION_SPRT:
        break;
    case OPTION_ELO0:
        sprt->elo0 = args_decimal(state, "--elo0", text);
        break;
    case OPTION_ELO1:
        sprt->elo1 = args_decimal(state, "--elo1", text);
        break;
    case OPTION_MODEL:
        if (strcmp(text, "normalized") != 0 && strcmp(text, "logistic") != 0)
            argp_error(state, "--model is normalized or logistic, not \"%.40s\"", text);
        snprintf(sprt->model, sizeof sprt->model, "%s", text);
        break;
    case OPTION_ALPHA:
        sprt->alpha = args_decimal(state, "--alpha", text);
        break;
    case OPTION_BETA:
        sprt->beta = args_decimal(state, "--beta", text);
        break;
    case OPTION_BATCH:
        sprt->batch = (uint32_t)args_number(state, "--batch", text, 1, 1000000);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    launch->create.has_sprt = true;
    return 0;
}

static error_t match_outfit(int key, char *text, struct argp_state *state)
{
    struct launch *launch = state->input;
    struct outfit *a = &launch->outfits[1], *b = &launch->outfits[2];
    switch (key) {
    case OPTION_ENGINE_A:
        a->engine = text;
        return 0;
    case OPTION_ENGINE_B:
        b->engine = text;
        return 0;
    case OPTION_TABLES_A:
        a->tables = text;
        return 0;
    case OPTION_TABLES_B:
        b->tables = text;
        return 0;
    case OPTION_OPTION_A:
        outfit_add_option(state, a, "--option-a", text);
        return 0;
    case OPTION_OPTION_B:
        outfit_add_option(state, b, "--option-b", text);
        return 0;
    default:
        return match_sprt(key, text, state);
    }
}

static error_t match_limit(int key, char *text, struct argp_state *state)
{
    struct launch *launch = state->input;
    struct launch_limits *a = &launch->limits[1], *b = &launch->limits[2];
    struct launch_limits *side =
        key == OPTION_NODES_A || key == OPTION_DEPTH_A || key == OPTION_TIME_A || key == OPTION_CLOCK_A ? a
                                                                                                        : b;
    switch (key) {
    case OPTION_NODES_A:
    case OPTION_NODES_B:
        side->nodes = args_number(state, "--nodes-a and --nodes-b", text, 1, INT64_MAX);
        side->has_nodes = true;
        return 0;
    case OPTION_DEPTH_A:
    case OPTION_DEPTH_B:
        side->depth = (uint32_t)args_number(state, "--depth-a and --depth-b", text, 1, SEARCH_DEPTH_MAX);
        side->has_depth = true;
        return 0;
    case OPTION_TIME_A:
    case OPTION_TIME_B:
        side->time_ms =
            (uint32_t)args_number(state, "--time-a and --time-b", text, 1, SPECIFICATION_TIME_MAX_MS);
        side->has_time = true;
        return 0;
    case OPTION_CLOCK_A:
    case OPTION_CLOCK_B:
        launch_take_clock(state, "--clock-a and --clock-b", text, side);
        return 0;
    default:
        return match_outfit(key, text, state);
    }
}

static error_t match_end(struct argp_state *state, struct launch *launch)
{
    if (state->arg_num < 2)
        argp_error(state, "a match needs two players: kroo match A B");
    if (!launch->has_pairs && launch->create.has_sprt) {
        launch->create.pairs = DEFAULT_MAX_PAIRS;
        launch->has_pairs = true;
    }
    if (!launch->has_pairs)
        argp_error(state, "how long? give --pairs N, or --sprt with --max-pairs N");
    return 0;
}

static error_t match_parse(int key, char *text, struct argp_state *state)
{
    struct launch *launch = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        hand_on(launch, state);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 2)
            argp_error(state, "a match has two players; \"%.40s\" is a third", text);
        launch->weights[state->arg_num] = text;
        return 0;
    case OPTION_PRESET: /* its options stand before this one already */
        return 0;
    case OPTION_MAX_PAIRS:
        launch->create.pairs = args_number(state, "--max-pairs", text, 0, INT64_MAX);
        launch->has_pairs = true;
        return 0;
    case ARGP_KEY_END:
        return match_end(state, launch);
    default:
        return match_limit(key, text, state);
    }
}

int match_command(int argc, char **argv)
{
    static const struct argp argp = {.options = match_options,
                                     .parser = match_parse,
                                     .args_doc = "A B",
                                     .doc = match_doc,
                                     .children = launch_children};
    struct launch launch;
    launch_init(&launch, MESSAGE_MATCH);
    launch.create.sprt = (struct message_sprt){
        .model = "normalized", .elo0 = 0, .elo1 = 10, .alpha = 0.05, .beta = 0.05, .batch = 8};
    int status = preset_expand(&argc, &argv);
    if (status != COMMAND_DONE)
        return status;
    parse_line(&argp, argc, argv, &launch);
    return launch_run(&launch);
}
