#include "engine/cli/bench_positions.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/cli/lines.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/search.h"

enum { HASH_KIB = 16384, LIMITS_MAX = 8, FIRST_LIMIT = 1000, POSITIONS_MAX = 100000 };

struct puzzle {
    struct position position;
    int house; /* absolute */
};

struct run {
    const struct bench_positions *request;
    const char *tool;
    struct puzzle *puzzles;
    size_t count;
    struct tables *tables;
    struct search *search;
    struct game *game;
    int limits[LIMITS_MAX], limit_count;
    int solved[LIMITS_MAX];
    double *nodes, *seconds; /* to the move at the largest limit, of the positions solved there */
};

/* What the search said of one position: since when it has been right. */
struct watch {
    int house;
    bool right;
    uint64_t nodes;
    double start, seconds;
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- the file --- */

static bool read_puzzle(const struct lines *lines, const struct rules *rules, struct puzzle *out,
                        char *reason, size_t size)
{
    json_error_t error;
    json_t *row = json_loadb(lines->text, lines->length, 0, &error);
    const char *position = json_string_value(json_object_get(row, "position"));
    const char *best = json_string_value(json_object_get(row, "best"));
    bool read = false;
    snprintf(reason, size, "no object with \"position\" and \"best\"");
    if (position && best && strlen(best) == 1 &&
        position_parse(position, &out->position, reason, size) == 0) {
        struct board board = board_from_position(&out->position);
        unsigned legal = board_legal(rules, board);
        out->house = position_letter_house(best[0]);
        int own = out->house - (out->position.side == SIDE_NORTH ? BOARD_HOUSES : 0);
        read = own >= 0 && own < BOARD_HOUSES && (legal >> own & 1) != 0 &&
               board_end(board, legal) == BOARD_GOES_ON;
        if (!read)
            snprintf(reason, size, "%s is no move there", best);
    }
    json_decref(row);
    return read;
}

static bool read_puzzles(struct run *run, struct lines *lines)
{
    const char *path = run->request->path;
    enum lines_status status;
    while ((status = lines_read(lines)) != LINES_END) {
        char reason[256] = "the line is too long";
        struct puzzle *puzzle = &run->puzzles[run->count];
        if (run->count == POSITIONS_MAX)
            snprintf(reason, sizeof reason, "more than %d positions", POSITIONS_MAX);
        else if (status == LINES_LINE &&
                 read_puzzle(lines, run->request->rules, puzzle, reason, sizeof reason)) {
            run->count++;
            continue;
        } else if (status == LINES_ERROR)
            snprintf(reason, sizeof reason, "it cannot be read");
        fprintf(stderr, "%s: %s, line %zu: %s\n", run->tool, path, run->count + 1, reason);
        return false;
    }
    if (run->count == 0)
        fprintf(stderr, "%s: %s: no positions\n", run->tool, path);
    return run->count > 0;
}

static bool read_file(struct run *run)
{
    FILE *file = fopen(run->request->path, "r");
    if (file == NULL) {
        fprintf(stderr, "%s: %s: the file cannot be read; check the path and its permissions\n", run->tool,
                run->request->path);
        return false;
    }
    struct lines *lines = malloc(sizeof *lines);
    run->puzzles = malloc((POSITIONS_MAX + 1) * sizeof *run->puzzles);
    bool read = lines != NULL && run->puzzles != NULL;
    if (read) {
        lines_init(lines, file);
        read = read_puzzles(run, lines);
    } else {
        fprintf(stderr, "%s: memory is short\n", run->tool);
    }
    free(lines);
    fclose(file);
    return read;
}

/* --- searching --- */

static void watch(struct watch *watch, int house, uint64_t nodes)
{
    bool right = house == watch->house;
    if (right && !watch->right) {
        watch->nodes = nodes;
        watch->seconds = now_seconds() - watch->start;
    }
    watch->right = right;
}

static void watch_report(void *context, const struct search_info *info)
{
    watch(context, info->pv[0], info->nodes);
}

/* Whether the move of this search is right; `seen` says since when. */
static bool solve(struct run *run, const struct puzzle *puzzle, int nodes, struct watch *seen)
{
    struct search_limits limits = {.nodes = (uint64_t)nodes, .tables = run->tables};
    struct search_info info;
    game_reset(run->game, &puzzle->position);
    search_new_game(run->search);
    *seen = (struct watch){.house = puzzle->house, .start = now_seconds()};
    int house =
        search_run(run->search, run->game, run->request->weights, &limits, NULL, watch_report, seen, &info);
    watch(seen, house, info.nodes);
    return seen->right;
}

static void solve_all(struct run *run)
{
    int last = run->limit_count - 1;
    for (size_t i = 0; i < run->count; i++)
        for (int limit = 0; limit <= last; limit++) {
            struct watch seen;
            if (!solve(run, &run->puzzles[i], run->limits[limit], &seen))
                continue;
            if (limit == last) {
                run->nodes[run->solved[last]] = (double)seen.nodes;
                run->seconds[run->solved[last]] = seen.seconds;
            }
            run->solved[limit]++;
        }
}

/* --- figures --- */

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Of all positions, those not solved counting as the largest: NaN-free, or -1 where half are not solved. */
static double median(double *values, int solved, size_t count)
{
    qsort(values, (size_t)solved, sizeof *values, compare);
    size_t middle = (count - 1) / 2;
    return middle < (size_t)solved ? values[middle] : -1;
}

static json_t *number_or_null(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static void print(const struct run *run, double nodes, double seconds)
{
    double count = (double)run->count;
    if (!run->request->json) {
        printf("positions       %zu\n", run->count);
        for (int i = 0; i < run->limit_count; i++)
            printf("solved          %5.1f %% at %d nodes\n", 100 * run->solved[i] / count, run->limits[i]);
        if (nodes >= 0)
            printf("median nodes    %.0f\nmedian seconds  %.6f\n", nodes, seconds);
        else
            printf("median nodes    beyond the limit\n");
        return;
    }
    json_t *solved = json_array();
    for (int i = 0; i < run->limit_count; i++)
        json_array_append_new(solved,
                              json_pack("{s:i, s:i}", "nodes", run->limits[i], "positions", run->solved[i]));
    json_t *root =
        json_pack("{s:s, s:i, s:b, s:o, s:o, s:o}", "rules", run->request->rules->name, "positions",
                  (int)run->count, "tables", run->tables != NULL, "solved", solved, "median_nodes",
                  number_or_null(nodes), "median_seconds", number_or_null(seconds));
    json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(root);
}

static void set_limits(struct run *run)
{
    for (int limit = FIRST_LIMIT; limit < run->request->nodes && run->limit_count < LIMITS_MAX - 1;
         limit *= 10)
        run->limits[run->limit_count++] = limit;
    run->limits[run->limit_count++] = run->request->nodes;
}

static int measure(struct run *run)
{
    run->search = search_create(HASH_KIB);
    run->game = game_create(run->request->rules, NULL);
    run->nodes = malloc(run->count * sizeof *run->nodes);
    run->seconds = malloc(run->count * sizeof *run->seconds);
    if (!run->search || !run->game || !run->nodes || !run->seconds) {
        fprintf(stderr, "%s: memory is short\n", run->tool);
        return TOOL_REFUSED;
    }
    set_limits(run);
    solve_all(run);
    int solved = run->solved[run->limit_count - 1];
    print(run, median(run->nodes, solved, run->count), median(run->seconds, solved, run->count));
    return TOOL_DONE;
}

int bench_positions_run(const struct bench_positions *request, const char *tool)
{
    struct run run = {.request = request, .tool = tool};
    int status = TOOL_REFUSED;
    if (options_load_tables(request->tables, request->rules, tool, &run.tables) && read_file(&run))
        status = measure(&run);
    tables_close(run.tables);
    game_destroy(run.game);
    search_destroy(run.search);
    free(run.puzzles);
    free(run.nodes);
    free(run.seconds);
    return status;
}
