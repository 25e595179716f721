#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/options.h"
#include "engine/cli/thinker.h"
#include "engine/cli/tools.h"

enum { HASH_MIB = 64, HASH_MIB_MAX = 16384, TIME_MS = 5000, NUMBER_MAX = 1000000000 };

struct request {
    struct rules rules;
    struct position position;
    const char *weights, *tables, *moves;
    struct search_limits limits;
    int hash_mib, threads;
    bool all, json;
};

static const struct argp_option option_list[] = {
    {"rules", 'r', "RULES", 0, "Rule set: a preset with optional overrides (default site)", 0},
    {"position", 'p', "POSITION", 0, "Where to start (default the usual start)", 0},
    {"moves", 'm', "LETTERS", 0, "Moves played from there: they count for repetition", 0},
    {"tables", 'E', "FILE", 0, "Endgame tables of the same family of rules", 0},
    {"weights", 'w', "FILE", 0, "Weights file (default the built-in starting weights)", 0},
    {"depth", 'd', "D", 0, "Plies to look ahead", 0},
    {"nodes", 'n', "N", 0, "Nodes to search", 0},
    {"time", 't', "MS", 0, "Milliseconds to think (default 5000 without any limit)", 0},
    {"multipv", 'k', "K", 0, "Lines to show, from 1 to 6 (default 3)", 0},
    {"hash", 'H', "MIB", 0, "Table (default 64)", 0},
    {"threads", 'T', "N", 0, "Threads (default 1; more make the answer irreproducible)", 0},
    {"full-width", 'f', NULL, 0, "No reductions and no cuts: the minimax value of the depth", 0},
    {"all", 'a', NULL, 0, "Every depth, not only the last", 0},
    {"json", 'j', NULL, 0, "A JSON object a line", 0},
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
    case 'm':
        request->moves = value;
        return 0;
    case 'E':
        request->tables = value;
        return 0;
    case 'w':
        request->weights = value;
        return 0;
    case 'd':
        request->limits.depth = options_read_number(state, value, "D", 1, SEARCH_DEPTH_MAX);
        return 0;
    case 'n':
        request->limits.nodes = (uint64_t)options_read_number(state, value, "N", 1, NUMBER_MAX);
        return 0;
    case 't':
        request->limits.time_ms = options_read_number(state, value, "MS", 1, NUMBER_MAX);
        return 0;
    case 'k':
        request->limits.lines = options_read_number(state, value, "K", 1, SEARCH_LINES_MAX);
        return 0;
    case 'H':
        request->hash_mib = options_read_number(state, value, "MIB", 1, HASH_MIB_MAX);
        return 0;
    case 'T':
        request->threads = options_read_number(state, value, "N", 1, THINKER_THREADS_MAX);
        return 0;
    case 'f':
        request->limits.full_width = true;
        return 0;
    case 'a':
        request->all = true;
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
        "Prints the best moves of a position, each with its score in seeds for the side to move and the line "
        "behind it. \"wins in 7\" and \"loses in 8\" are proven, in plies; \"wins\" and \"loses\" by tables.",
};

/* What is kept of the reports: the lines of the deepest iteration. */
struct answer {
    const struct request *request;
    struct search_info lines[SEARCH_LINES_MAX];
    int count;
};

static void print_line(const struct request *request, const struct search_info *info)
{
    char pv[SEARCH_PV_MAX + 1], score[32];
    for (int i = 0; i < info->pv_length; i++)
        pv[i] = position_house_letter(info->pv[i]);
    pv[info->pv_length] = '\0';
    if (request->json) {
        printf("{\"line\":%d,\"depth\":%d,\"move\":\"%c\",\"score\":%" PRId32 ",\"nodes\":%" PRIu64
               ",\"time_ms\":%" PRId64 ",\"pv\":\"%s\"}\n",
               info->line + 1, info->depth, pv[0], info->score, info->nodes, info->time_ms, pv);
        return;
    }
    if (info->score > SEARCH_WIN_BOUND && info->score <= SEARCH_TABLE_WIN)
        snprintf(score, sizeof score, "wins");
    else if (info->score < -SEARCH_WIN_BOUND && info->score >= -SEARCH_TABLE_WIN)
        snprintf(score, sizeof score, "loses");
    else if (info->score > SEARCH_WIN_BOUND)
        snprintf(score, sizeof score, "wins in %d", SEARCH_WIN - info->score);
    else if (info->score < -SEARCH_WIN_BOUND)
        snprintf(score, sizeof score, "loses in %d", SEARCH_WIN + info->score);
    else
        snprintf(score, sizeof score, "%+.2f", info->score / 100.0);
    printf("%5d  %d. %c  %-12s  %12" PRIu64 "  %8" PRId64 "  %s\n", info->depth, info->line + 1, pv[0], score,
           info->nodes, info->time_ms, pv);
}

static void take_report(void *context, const struct search_info *info)
{
    struct answer *answer = context;
    answer->lines[info->line] = *info;
    answer->count = info->line + 1;
    if (answer->request->all)
        print_line(answer->request, info);
}

/* Where not even one depth was finished, the move found is still an answer. */
static void take_answer(void *context, const struct search_info *info)
{
    struct answer *answer = context;
    if (answer->count == 0)
        take_report(context, info);
}

static struct game *read_game(const struct request *request, const char *title)
{
    struct game *game = game_create(&request->rules, &request->position);
    size_t played = 0;
    if (!game) {
        fprintf(stderr, "%s: memory is short; close other programs and try again\n", title);
        return NULL;
    }
    const char *moves = request->moves ? request->moves : "";
    enum game_error error = game_play_text(game, moves, strlen(moves), &played);
    if (error == GAME_OK)
        return game;
    fprintf(stderr, "%s: move %zu, '%.1s', is refused: %s\n", title, played + 1, moves + played,
            error == GAME_ERROR_OVER ? "the game is over" : "it is not legal");
    game_destroy(game);
    return NULL;
}

static int think(const struct request *request, const struct game *game, const struct weights *weights,
                 const char *title)
{
    struct answer answer = {.request = request};
    struct thinker_task task = {.game = game,
                                .weights = weights,
                                .limits = request->limits,
                                .report = take_report,
                                .answer = take_answer,
                                .context = &answer};
    struct thinker *thinker = thinker_create((unsigned)request->hash_mib * 1024);
    bool thought = thinker && thinker_set_threads(thinker, request->threads) && thinker_start(thinker, &task);
    if (thought)
        thinker_wait(thinker);
    thinker_destroy(thinker);
    if (!thought) {
        fprintf(stderr, "%s: memory or threads are short; close other programs and try again\n", title);
        return TOOL_REFUSED;
    }
    for (int i = 0; i < answer.count && !request->all; i++)
        print_line(request, &answer.lines[i]);
    return TOOL_DONE;
}

static void print_over(const struct request *request, const struct game *game)
{
    const char *result = game_result_text(game_result(game)), *reason = game_reason_text(game_reason(game));
    if (request->json)
        printf("{\"over\":true,\"result\":\"%s\",\"reason\":\"%s\"}\n", result, reason);
    else
        printf("The game is over: %s, %s.\n", result, reason);
}

int analyse_main(int argc, char **argv)
{
    struct request request = {.rules = options_default_rules(),
                              .position = position_start(),
                              .limits = {.lines = 3},
                              .hash_mib = HASH_MIB,
                              .threads = 1};
    options_parse(&argp, argc, argv, &request);
    if (request.limits.depth == 0 && request.limits.nodes == 0 && request.limits.time_ms == 0)
        request.limits.time_ms = TIME_MS;
    struct weights *weights = options_load_weights(request.weights, request.rules.name, argv[0]);
    struct tables *tables = NULL;
    bool ready = weights && options_load_tables(request.tables, &request.rules, argv[0], &tables);
    struct game *game = ready ? read_game(&request, argv[0]) : NULL;
    request.limits.tables = tables;
    int status = game ? TOOL_DONE : TOOL_REFUSED;
    if (game && game_over(game))
        print_over(&request, game);
    else if (game) {
        if (!request.json)
            printf("depth  move  score            nodes        ms  line\n");
        status = think(&request, game, weights, argv[0]);
    }
    game_destroy(game);
    weights_destroy(weights);
    tables_close(tables);
    int written = options_finish_output(argv[0]);
    return status == TOOL_DONE ? written : status;
}
