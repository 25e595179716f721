#include "engine/tables.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/certified.h"
#include "engine/cli/lines.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/tables_build.h"
#include "engine/tables_check.h"
#include "engine/team.h"

enum {
    THREADS_DEFAULT = 2,
    COUNT_DEFAULT = 200,
    DEPTH_DEFAULT = 5,
    POSITIONS_LAYERS = 4,
    DRAWS_MAX = 1000,
    AGAIN = 1 << 20
};

struct request {
    struct rules rules;
    bool rules_given, json;
    int seeds; /* -1 until given */
    int threads;
    const char *path;       /* NULL until given */
    int count, depth, seed; /* of `positions` */
};

enum {
    KEY_RULES = 'r',
    KEY_SEEDS = 'n',
    KEY_OUT = 'o',
    KEY_THREADS = 't',
    KEY_JSON = 'j',
    KEY_COUNT = 'c',
    KEY_DEPTH = 'd',
    KEY_SEED = 's',
};

static const struct argp_option rules_option = {
    "rules",
    KEY_RULES,
    "RULES",
    0,
    "Rule set: a preset with optional overrides (build: default site; else: "
    "refuse tables that do not serve these rules)",
    0};
static const struct argp_option threads_option = {"threads", KEY_THREADS, "T", 0, "Threads (default 2)", 0};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case KEY_RULES:
        options_read_rules(state, value, &request->rules);
        request->rules_given = true;
        return 0;
    case KEY_SEEDS:
        request->seeds = options_read_number(state, value, "--seeds", 0, TABLES_SEEDS_MAX);
        return 0;
    case KEY_THREADS:
        request->threads = options_read_number(state, value, "--threads", 1, TEAM_MAX);
        return 0;
    case KEY_OUT:
        request->path = value;
        return 0;
    case KEY_JSON:
        request->json = true;
        return 0;
    case KEY_COUNT:
        request->count = options_read_number(state, value, "--count", 1, 1000000);
        return 0;
    case KEY_DEPTH:
        request->depth = options_read_number(state, value, "--depth", 2, CERTIFIED_DEPTH_MAX);
        return 0;
    case KEY_SEED:
        request->seed = options_read_number(state, value, "--seed", 0, 2147483647);
        return 0;
    case ARGP_KEY_ARG:
        if (request->path != NULL)
            argp_error(state, "one FILE is enough; '%s' is left over", value);
        request->path = value;
        return 0;
    case ARGP_KEY_END:
        if (request->path == NULL)
            argp_error(state, "the file is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static struct request read_request(int argc, char **argv, const struct argp_option *options,
                                   const char *arguments, const char *doc)
{
    struct argp argp = {.options = options, .parser = parse_option, .args_doc = arguments, .doc = doc};
    struct request request = {.rules = options_default_rules(),
                              .seeds = -1,
                              .threads = THREADS_DEFAULT,
                              .count = COUNT_DEFAULT,
                              .depth = DEPTH_DEFAULT,
                              .seed = 1};
    options_parse(&argp, argc, argv, &request);
    return request;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int refuse(const char *tool, const char *path, enum tables_error error)
{
    fprintf(stderr, "%s: %s: %s\n", tool, path, tables_error_text(error));
    return TOOL_REFUSED;
}

static struct tables *open_tables(const char *tool, const struct request *request)
{
    struct tables *tables = NULL;
    enum tables_error error =
        tables_open(request->path, request->rules_given ? &request->rules : NULL, &tables);
    if (error != TABLES_OK)
        refuse(tool, request->path, error);
    return tables;
}

/* --- build --- */

struct report {
    double start, last, layer_start; /* seconds */
};

/* A line for each layer that took long enough to read it, for the last, and every two seconds within a layer.
 */
static void report_progress(void *context, const struct tables_progress *progress)
{
    struct report *report = context;
    double now = now_seconds();
    bool finished = progress->share >= 1;
    bool quick = now - report->layer_start < 0.2 && progress->boards < progress->total;
    if (finished && quick)
        report->layer_start = now;
    if (finished ? quick : now - report->last < 2)
        return;
    double elapsed = now - report->start;
    double rate = progress->boards / (elapsed > 1e-6 ? elapsed : 1e-6);
    if (finished)
        fprintf(stderr, "%2d seeds: %" PRIu64 " boards in %.2f s; ", progress->seeds,
                index_layer_size(progress->seeds), now - report->layer_start);
    else
        fprintf(stderr, "%2d seeds: %.0f %%; ", progress->seeds, 100 * progress->share);
    fprintf(stderr, "%.2f million boards a second, about %.0f s left\n", rate / 1e6,
            (progress->total - progress->boards) / (rate > 1 ? rate : 1));
    report->last = now;
    if (finished)
        report->layer_start = now;
}

static int build_main(int argc, char **argv)
{
    const struct argp_option options[] = {
        rules_option,
        {"seeds", KEY_SEEDS, "N", 0, "All boards of up to N seeds, 0 to 24", 0},
        {"out", KEY_OUT, "FILE", 0, "The file to write; it is replaced whole or not at all", 0},
        threads_option,
        {0},
    };
    struct request request =
        read_request(argc, argv, options, "",
                     "Builds endgame tables, with progress on standard error. The file is the same for any "
                     "number of threads.");
    if (request.seeds < 0) {
        fprintf(stderr, "%s: --seeds is missing\n", argv[0]);
        return TOOL_USAGE;
    }
    double now = now_seconds();
    struct report report = {now, now, now};
    enum tables_error error =
        tables_build(&request.rules, request.seeds, request.threads, request.path, report_progress, &report);
    return error == TABLES_OK ? TOOL_DONE : refuse(argv[0], request.path, error);
}

/* --- stat --- */

static json_t *describe_histogram(const uint64_t *counts, int entries, int bias)
{
    json_t *object = json_object();
    for (int i = 0; i < entries; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i - bias);
        if (counts[i] != 0)
            json_object_set_new(object, value, json_integer((json_int_t)counts[i]));
    }
    return object;
}

static json_t *describe_layer(const struct tables *tables, int seeds)
{
    struct tables_counts counts;
    tables_count(tables, seeds, &counts);
    const struct tables_layer *layer = &tables->layers[seeds];
    double boards = (double)layer->boards;
    json_t *row =
        json_pack("{s:i, s:I, s:I, s:I, s:I, s:f, s:o, s:i, s:i}", "seeds", seeds, "positions",
                  (json_int_t)layer->boards, "win", (json_int_t)counts.win, "draw", (json_int_t)counts.draw,
                  "loss", (json_int_t)counts.loss, "average", (counts.lo_sum + counts.up_sum) / (2 * boards),
                  "values", describe_histogram(counts.values, TABLES_VALUES, TABLES_BIAS), "plies",
                  (int)layer->plies, "line", (int)layer->line);
    if (tables->convention == TABLES_OWN_ROWS) {
        json_t *bracket =
            json_pack("{s:I, s:I, s:I, s:f, s:f, s:o, s:o, s:o}", "exact", (json_int_t)counts.exact,
                      "exact_before_certification", (json_int_t)layer->exact, "certificate_failed",
                      (json_int_t)layer->failed, "average_lo", counts.lo_sum / boards, "average_up",
                      counts.up_sum / boards, "lo", describe_histogram(counts.lo, TABLES_VALUES, TABLES_BIAS),
                      "up", describe_histogram(counts.up, TABLES_VALUES, TABLES_BIAS), "widths",
                      describe_histogram(counts.widths, 2 * TABLES_VALUES, 0));
        json_object_update(row, bracket);
        json_decref(bracket);
    }
    return row;
}

static void print_json(const struct tables *tables)
{
    json_t *layers = json_array();
    for (int seeds = 0; seeds <= tables->seeds; seeds++)
        json_array_append_new(layers, describe_layer(tables, seeds));
    json_t *root = json_pack("{s:s, s:s, s:i, s:i, s:I, s:o}", "rules", tables->rules.name, "convention",
                             tables_convention_text(tables->convention), "seeds", tables->seeds, "plies",
                             tables->plies, "bytes", (json_int_t)tables->size, "layers", layers);
    json_dumpf(root, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(root);
}

static void print_table(const struct tables *tables)
{
    printf("rules %s, convention %s, up to %d seeds, %zu bytes, at most %d plies\n", tables->rules.name,
           tables_convention_text(tables->convention), tables->seeds, tables->size, tables->plies);
    printf("%5s %10s %10s %10s %10s %10s %10s %9s %9s %5s %5s\n", "seeds", "positions", "win", "draw", "loss",
           "exact", "before", "failed", "average", "plies", "line");
    for (int seeds = 0; seeds <= tables->seeds; seeds++) {
        struct tables_counts counts;
        tables_count(tables, seeds, &counts);
        const struct tables_layer *layer = &tables->layers[seeds];
        printf("%5d %10" PRIu32 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu32
               " %9" PRIu32 " %9.4f %5d %5d\n",
               seeds, layer->boards, counts.win, counts.draw, counts.loss, counts.exact, layer->exact,
               layer->failed, (counts.lo_sum + counts.up_sum) / (2.0 * layer->boards), layer->plies,
               layer->line);
    }
}

static int stat_main(int argc, char **argv)
{
    const struct argp_option options[] = {
        rules_option, {"json", KEY_JSON, NULL, 0, "One JSON object", 0}, {0}};
    struct request request =
        read_request(argc, argv, options, "FILE",
                     "Counts what the tables say, by seeds. win: LO > 0, draw: LO = UP = 0, loss: UP < 0. "
                     "exact: boards with LO = UP; before: the same before certification; failed: states "
                     "(board and side) whose value certification widened; plies: quiet plies that LO and UP "
                     "need; line: quiet plies that following the stored moves takes.");
    struct tables *tables = open_tables(argv[0], &request);
    if (tables == NULL)
        return TOOL_REFUSED;
    if (request.json)
        print_json(tables);
    else
        print_table(tables);
    tables_close(tables);
    return options_finish_output(argv[0]);
}

/* --- probe --- */

static json_t *probe(const struct tables *tables, const struct lines *lines)
{
    char reason[256] = "a position holds no NUL byte";
    struct position position;
    if (strlen(lines->text) != lines->length ||
        position_parse(lines->text, &position, reason, sizeof reason) != 0)
        return json_pack("{s:s}", "error", reason);
    struct board board = board_from_position(&position);
    struct tables_value value;
    if (!tables_probe(tables, &board, &value)) {
        snprintf(reason, sizeof reason, "the board has %u seeds, the tables go up to %d", board_seeds(board),
                 tables->seeds);
        return json_pack("{s:s}", "error", reason);
    }
    char move[2] = "";
    if (value.move >= 0)
        move[0] = position_house_letter(value.move + (position.side == SIDE_NORTH ? BOARD_HOUSES : 0));
    return json_pack("{s:i, s:i, s:s}", "lo", (int)value.lo, "up", (int)value.up, "move", move);
}

static int probe_lines(const struct tables *tables, struct lines *lines, const char *tool)
{
    int status = TOOL_DONE;
    enum lines_status read;
    while ((read = lines_read(lines)) != LINES_END) {
        if (read == LINES_ERROR) {
            fprintf(stderr, "%s: standard input could not be read\n", tool);
            return TOOL_REFUSED;
        }
        json_t *answer =
            read == LINES_LONG ? json_pack("{s:s}", "error", "the line is too long") : probe(tables, lines);
        if (answer == NULL || json_object_get(answer, "error") != NULL)
            status = TOOL_REFUSED;
        if (answer == NULL || json_dumpf(answer, stdout, JSON_COMPACT) != 0)
            printf("{\"error\":\"out of memory\"}");
        putchar('\n');
        json_decref(answer);
    }
    return status;
}

static int probe_main(int argc, char **argv)
{
    const struct argp_option options[] = {rules_option, {0}};
    struct request request =
        read_request(argc, argv, options, "FILE",
                     "Answers each position from standard input with a JSON line: lo and up, the net seeds "
                     "still to come to the side to move, and a move that keeps lo (empty where there is "
                     "none). Stores play no part. Ends with status 1 if any line was refused.");
    struct tables *tables = open_tables(argv[0], &request);
    struct lines *lines = malloc(sizeof *lines);
    int status = TOOL_REFUSED;
    if (tables != NULL && lines != NULL) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        lines_init(lines, stdin);
        status = probe_lines(tables, lines, argv[0]);
    }
    free(lines);
    tables_close(tables);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}

/* --- check --- */

static int check_main(int argc, char **argv)
{
    const struct argp_option options[] = {rules_option, threads_option, {0}};
    struct request request = read_request(
        argc, argv, options, "FILE",
        "Checks the file's sizes and checksums, and every entry against those its moves lead to.");
    struct tables *tables = open_tables(argv[0], &request);
    if (tables == NULL)
        return TOOL_REFUSED;
    struct tables_fault fault;
    int status = TOOL_DONE;
    if (tables_check(tables, request.threads, &fault)) {
        printf("%s: %" PRIu64 " entries agree\n", request.path,
               (tables_file_size(tables->seeds) - TABLES_HEADER_SIZE) / 2);
    } else if (fault.what == NULL) {
        status = refuse(argv[0], request.path, TABLES_ERROR_MEMORY);
    } else {
        struct position position = board_to_position(index_unrank(fault.seeds, fault.number), SIDE_SOUTH);
        char text[POSITION_TEXT_MAX];
        position_format(&position, text);
        fprintf(stderr, "%s: %s: %s at %s (board %" PRIu64 " of %d seeds)\n", argv[0], request.path,
                fault.what, text, fault.number, fault.seeds);
        status = TOOL_REFUSED;
    }
    tables_close(tables);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}

/* --- positions --- */

static void print_certified(const struct certified *found, int seeds)
{
    char text[POSITION_TEXT_MAX];
    position_format(&found->position, text);
    printf("{\"position\":\"%s\",\"best\":\"%c\",\"seeds\":%d,\"lo\":%d,\"others_up\":%d}\n", text,
           position_house_letter(found->house), seeds, found->lo, found->others_up);
}

/* Position `index` of a layer may have been drawn before: then another of the same outcome is. */
static bool draw_another(const struct tables *tables, const struct request *request, int seeds,
                         uint64_t index, struct certified *drawn, int count)
{
    for (int attempt = 0; attempt < DRAWS_MAX; attempt++, index += AGAIN) {
        struct certified *found = &drawn[count];
        if (!certified_draw(tables, (uint64_t)request->seed, seeds, index, request->depth, found))
            return false;
        int same = 0;
        while (memcmp(&drawn[same].position, &found->position, sizeof found->position) != 0)
            same++;
        if (same == count)
            return true;
    }
    return false;
}

static int print_positions(const struct tables *tables, const struct request *request, const char *tool)
{
    struct certified *drawn = malloc((size_t)request->count * sizeof *drawn);
    int layers = tables->seeds < POSITIONS_LAYERS ? tables->seeds + 1 : POSITIONS_LAYERS, status = TOOL_DONE;
    if (drawn == NULL)
        return refuse(tool, request->path, TABLES_ERROR_MEMORY);
    for (int i = 0; i < request->count && status == TOOL_DONE; i++) {
        int seeds = tables->seeds - i % layers;
        if (draw_another(tables, request, seeds, (uint64_t)(i / layers), drawn, i)) {
            print_certified(&drawn[i], seeds);
        } else {
            fprintf(
                stderr,
                "%s: %s: too few boards of %d seeds qualify; ask for fewer or less deep, or build tables for "
                "more\n",
                tool, request->path, seeds);
            status = TOOL_REFUSED;
        }
    }
    free(drawn);
    return status;
}

static int positions_main(int argc, char **argv)
{
    const struct argp_option options[] = {
        {"count", KEY_COUNT, "N", 0, "Positions, in turn of the four largest numbers of seeds (default 200)",
         0},
        {"depth", KEY_DEPTH, "D", 0, "Plies of the minimax that must go wrong, 2 to 11 (default 5)", 0},
        {"seed", KEY_SEED, "S", 0, "Another sample (default 1)", 0},
        {0}};
    struct request request = read_request(
        argc, argv, options, "FILE",
        "Prints positions whose best move the tables certify, as JSON lines: the LO of the move (lo) exceeds "
        "the UP of every other (others_up), and it alone keeps a draw, or the win, in turn. They are hard: "
        "minimax of D and of D - 1 plies, stores compared at the leaves, prefers another move. The same "
        "tables and options print the same. `kroo-engine bench --positions` measures a player by them.");
    struct tables *tables = open_tables(argv[0], &request);
    if (tables == NULL)
        return TOOL_REFUSED;
    int status = print_positions(tables, &request, argv[0]);
    tables_close(tables);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}

/* --- the tool --- */

static const struct options_command commands[] = {{"build", build_main},
                                                  {"stat", stat_main},
                                                  {"probe", probe_main},
                                                  {"check", check_main},
                                                  {"positions", positions_main}};

static const char usage[] =
    "Usage: kroo-engine tables build --rules R --seeds N --out FILE [--threads T]\n"
    "       kroo-engine tables stat FILE [--json]\n"
    "       kroo-engine tables probe FILE       positions on standard input, brackets as JSON lines\n"
    "       kroo-engine tables check FILE [--threads T]\n"
    "       kroo-engine tables positions FILE [--count N] [--depth D] [--seed S]\n"
    "Each has its own --help.\n";

int tables_main(int argc, char **argv)
{
    return options_run_command(commands, sizeof commands / sizeof commands[0], usage, argc, argv);
}
