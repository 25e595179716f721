#include "engine/book.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/book_make.h"
#include "engine/cli/options.h"
#include "engine/cli/tools.h"
#include "engine/team.h"

enum { NODES_MAX = 1000000000, VALUE_MAX = 4800 };

struct request {
    struct book_plan plan;
    const char *path, *weights; /* NULL until given */
    uint64_t measure_nodes;
    uint32_t measure_pairs;
    int count; /* openings shown; 0 = all */
    bool rules_given, json;
    bool without;       /* measure random openings of plan.plies */
    double start, last; /* seconds */
};

enum {
    KEY_RULES = 'r',
    KEY_OUT = 'o',
    KEY_WEIGHTS = 'w',
    KEY_OPENINGS = 'n',
    KEY_PLIES = 'k',
    KEY_BOUND = 'b',
    KEY_NODES = 'N',
    KEY_SEED = 's',
    KEY_THREADS = 't',
    KEY_JSON = 'j',
    KEY_COUNT = 'c',
    KEY_TRIES = 0x100,
    KEY_RANDOM,
    KEY_SELFPLAY,
    KEY_NOISE,
    KEY_PAIRS,
    KEY_WITHOUT,
};

static error_t parse_plan(int key, char *value, struct argp_state *state, struct book_plan *plan)
{
    switch (key) {
    case KEY_OPENINGS:
        plan->openings = (uint32_t)options_read_number(state, value, "--openings", 1, BOOK_OPENINGS_MAX);
        return 0;
    case KEY_PLIES:
        plan->plies = (unsigned)options_read_number(state, value, "--plies", 1, BOOK_PLIES_MAX);
        return 0;
    case KEY_TRIES:
        plan->tries = (uint32_t)options_read_number(state, value, "--tries", 1, BOOK_TRIES_MAX);
        return 0;
    case KEY_RANDOM:
        plan->selfplay = false;
        return 0;
    case KEY_SELFPLAY:
        plan->selfplay = true;
        plan->selfplay_nodes = (uint64_t)options_read_number(state, value, "--selfplay", 1, NODES_MAX);
        return 0;
    case KEY_NOISE:
        plan->noise_ppm = 10000 * (uint32_t)options_read_number(state, value, "--noise", 0, 100);
        return 0;
    case KEY_BOUND:
        plan->bound = options_read_number(state, value, "--bound", 0, VALUE_MAX);
        return 0;
    case KEY_SEED:
        plan->seed = (uint64_t)options_read_number(state, value, "--seed", 0, 2147483647);
        return 0;
    case KEY_THREADS:
        plan->threads = options_read_number(state, value, "--threads", 1, TEAM_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case KEY_RULES:
        options_read_rules(state, value, &request->plan.rules);
        request->rules_given = true;
        return 0;
    case KEY_OUT:
        request->path = value;
        return 0;
    case KEY_WEIGHTS:
        request->weights = value;
        return 0;
    case KEY_NODES:
        request->plan.nodes = request->measure_nodes =
            (uint64_t)options_read_number(state, value, "--nodes", 1, NODES_MAX);
        return 0;
    case KEY_PAIRS:
        request->measure_pairs = (uint32_t)options_read_number(state, value, "--pairs", 1, BOOK_OPENINGS_MAX);
        return 0;
    case KEY_COUNT:
        request->count = options_read_number(state, value, "--count", 1, BOOK_OPENINGS_MAX);
        return 0;
    case KEY_JSON:
        request->json = true;
        return 0;
    case KEY_WITHOUT:
        request->without = true;
        request->plan.plies =
            (unsigned)options_read_number(state, value, "--without-book", 0, PLAY_OPENING_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (request->path != NULL)
            argp_error(state, "one FILE is enough; '%s' is left over", value);
        request->path = value;
        return 0;
    case ARGP_KEY_END:
        if (request->path == NULL && !request->without)
            argp_error(state, "the file is missing");
        if (request->path != NULL && request->without)
            argp_error(state, "--without-book takes no FILE");
        return 0;
    default:
        return parse_plan(key, value, state, &request->plan);
    }
}

static struct request read_request(int argc, char **argv, const struct argp_option *options,
                                   const char *arguments, const char *doc)
{
    struct argp argp = {.options = options, .parser = parse_option, .args_doc = arguments, .doc = doc};
    struct request request = {.plan = book_plan_default(), .measure_nodes = 400, .measure_pairs = 200};
    options_parse(&argp, argc, argv, &request);
    if (request.plan.tries == 0)
        request.plan.tries = book_plan_tries(request.plan.openings);
    return request;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int refuse(const char *tool, const char *path, enum book_error error, uint32_t line)
{
    if (line > 0)
        fprintf(stderr, "%s: %s, line %" PRIu32 ": %s\n", tool, path, line, book_error_text(error));
    else
        fprintf(stderr, "%s: %s: %s\n", tool, path, book_error_text(error));
    return TOOL_REFUSED;
}

static struct book *open_book(const char *tool, const struct request *request)
{
    struct book *book = NULL;
    uint32_t line;
    enum book_error error =
        book_open(request->path, request->rules_given ? &request->plan.rules : NULL, &book, &line);
    if (error != BOOK_OK)
        refuse(tool, request->path, error, line);
    return book;
}

/* --- make --- */

static bool is_due(struct request *request)
{
    double now = now_seconds();
    if (now - request->last < 1)
        return false;
    request->last = now;
    return true;
}

static bool tell_making(void *context, const struct book_counts *counts)
{
    struct request *request = context;
    if (is_due(request))
        fprintf(stderr, "%" PRIu64 " of %" PRIu32 " openings, %" PRIu64 " tried, %.0f s\n", counts->kept,
                request->plan.openings, counts->tried, request->last - request->start);
    return true;
}

static int write_book(const char *tool, const char *path, const struct book *book)
{
    void *bytes = NULL;
    size_t size = 0;
    char temporary[4096];
    enum book_error error = book_serialize(book, &bytes, &size);
    if (error != BOOK_OK)
        return refuse(tool, path, error, 0);
    int length = snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = length > 0 && (size_t)length < sizeof temporary ? fopen(temporary, "wbxe") : NULL;
    bool written =
        file != NULL && fwrite(bytes, 1, size, file) == size && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL)
        written = fclose(file) == 0 && written;
    free(bytes);
    if (written && rename(temporary, path) == 0)
        return TOOL_DONE;
    if (file != NULL)
        unlink(temporary);
    fprintf(stderr,
            "%s: %s: the book cannot be written; check the folder, its permissions and the free space\n",
            tool, path);
    return TOOL_REFUSED;
}

static int print_counts(const struct book_counts *counts, bool json)
{
    if (!json) {
        printf("kept %" PRIu64 " of %" PRIu64 " tried: %" PRIu64 " duplicates, %" PRIu64
               " unbalanced, %" PRIu64 " ended\n",
               counts->kept, counts->tried, counts->duplicates, counts->unbalanced, counts->ended);
        return TOOL_DONE;
    }
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "kept", (json_int_t)counts->kept, "tried",
                  (json_int_t)counts->tried, "duplicates", (json_int_t)counts->duplicates, "unbalanced",
                  (json_int_t)counts->unbalanced, "ended", (json_int_t)counts->ended);
    json_dumpf(object, stdout, 0);
    putchar('\n');
    json_decref(object);
    return TOOL_DONE;
}

static int make(const char *tool, struct request *request, struct weights *weights)
{
    struct book_counts counts;
    struct book *book = NULL;
    request->plan.weights = weights;
    snprintf(request->plan.weights_name, sizeof request->plan.weights_name, "%.63s",
             request->weights != NULL ? request->weights : "starting");
    request->start = request->last = now_seconds();
    enum book_error error = book_make(&request->plan, tell_making, request, &counts, &book);
    if (error != BOOK_OK) {
        print_counts(&counts, request->json);
        if (error == BOOK_ERROR_COUNT)
            fprintf(stderr,
                    "%s: no candidate qualifies: give a wider --bound, more --tries or other --plies\n",
                    tool);
        return error == BOOK_ERROR_COUNT ? TOOL_REFUSED : refuse(tool, request->path, error, 0);
    }
    if (counts.kept < request->plan.openings)
        fprintf(stderr, "%s: %" PRIu64 " tries gave only %" PRIu64 " openings: this is all there is\n", tool,
                counts.tried, counts.kept);
    int status = write_book(tool, request->path, book);
    print_counts(&counts, request->json);
    book_destroy(book);
    return status;
}

static const struct argp_option rules_option = {
    "rules",
    KEY_RULES,
    "RULES",
    0,
    "Rule set: a preset with optional overrides (make: default site; else: refuse books of other rules)",
    0};
static const struct argp_option weights_option = {
    "weights", KEY_WEIGHTS, "FILE", 0, "Weights file (default the built-in starting weights)", 0};
static const struct argp_option threads_option = {"threads", KEY_THREADS, "T", 0, "Threads (default 2)", 0};

static int make_main(int argc, char **argv)
{
    const struct argp_option options[] = {
        rules_option,
        weights_option,
        threads_option,
        {"out", KEY_OUT, "FILE", 0, "The book to write", 0},
        {"openings", KEY_OPENINGS, "N", 0, "How many (default 1000)", 0},
        {"plies", KEY_PLIES, "K", 0, "Of each opening (default 10)", 0},
        {"random", KEY_RANDOM, NULL, 0, "All plies are random (the default)", 0},
        {"selfplay", KEY_SELFPLAY, "NODES", 0, "The plies are searched with so many nodes, but for the noise",
         0},
        {"noise", KEY_NOISE, "PERCENT", 0, "With --selfplay: plies played at random (default 30)", 0},
        {"bound", KEY_BOUND, "B", 0, "Keep |value| <= B hundredths of a seed (default 100)", 0},
        {"nodes", KEY_NODES, "N", 0, "Of the search that values a candidate (default 5000)", 0},
        {"tries", KEY_TRIES, "N", 0, "Candidates at most (default 100 for each opening)", 0},
        {"seed", KEY_SEED, "S", 0, "Another book (default 1)", 0},
        {"json", KEY_JSON, NULL, 0, "The counts as JSON", 0},
        {0}};
    struct request request = read_request(
        argc, argv, options, "",
        "Makes an opening book: positions after K random or self-played plies, each once (a position and its "
        "colour-swapped twin are one), near zero by search. The same options make the same file.\v"
        "Example:\n  kroo-engine book make --out site.book --openings 500 --plies 10 --bound 50");
    struct weights *weights = options_load_weights(request.weights, request.plan.rules.name, argv[0]);
    if (weights == NULL)
        return TOOL_REFUSED;
    int status = make(argv[0], &request, weights);
    weights_destroy(weights);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}

/* --- show and check --- */

static void print_opening(const struct book *book, uint32_t index, struct game *game)
{
    unsigned plies;
    size_t played;
    char text[POSITION_TEXT_MAX];
    const char *moves = book_opening(book, index, &plies);
    game_reset(game, NULL);
    game_play_text(game, moves, plies, &played);
    struct position position = game_position(game);
    position_format(&position, text);
    printf("%-*.*s  %s\n", (int)book->plies_max, (int)plies, moves, text);
}

static int show_main(int argc, char **argv)
{
    const struct argp_option options[] = {
        rules_option, {"count", KEY_COUNT, "N", 0, "So many openings (default all)", 0}, {0}};
    struct request request =
        read_request(argc, argv, options, "FILE",
                     "Prints what a book says of itself, then each opening and the position it leads to.");
    struct book *book = open_book(argv[0], &request);
    struct game *game = book != NULL ? game_create(&book->rules, NULL) : NULL;
    if (game != NULL) {
        uint32_t shown = request.count > 0 && (uint32_t)request.count < book->count ? (uint32_t)request.count
                                                                                    : book->count;
        printf("rules     %s\nmade      %s\nopenings  %" PRIu32 " of %u to %u plies\n\n", book->rules.name,
               book->made, book->count, book->plies_min, book->plies_max);
        for (uint32_t i = 0; i < shown; i++)
            print_opening(book, i, game);
    }
    int status = game != NULL ? TOOL_DONE : TOOL_REFUSED;
    game_destroy(game);
    book_destroy(book);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}

static int check_main(int argc, char **argv)
{
    const struct argp_option options[] = {rules_option, {0}};
    struct request request = read_request(
        argc, argv, options, "FILE",
        "Checks a book: checksum, order, every opening legal and unfinished, no position twice.");
    struct book *book = open_book(argv[0], &request);
    if (book != NULL)
        printf("%s: %" PRIu32 " openings of different positions for %s\n", request.path, book->count,
               book->rules.name);
    int status = book != NULL ? TOOL_DONE : TOOL_REFUSED;
    book_destroy(book);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}

/* --- measure --- */

static bool tell_measuring(void *context, uint64_t pairs)
{
    struct request *request = context;
    if (is_due(request))
        fprintf(stderr, "%" PRIu64 " pairs, %.0f s\n", pairs, request->last - request->start);
    return true;
}

static void print_measure(const struct book_measure *measure, bool json)
{
    const uint64_t *n = measure->classes;
    double share = (double)n[BOOK_CLASS_WL] / (double)measure->pairs;
    if (!json) {
        printf("pairs %" PRIu64 ": LL %" PRIu64 ", LD %" PRIu64 ", DD %" PRIu64 ", WL %" PRIu64
               ", DW %" PRIu64 ", WW %" PRIu64 "\ndecided by the opening (WL): %.1f %%\n",
               measure->pairs, n[0], n[1], n[2], n[3], n[4], n[5], 100 * share);
        return;
    }
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "pairs", (json_int_t)measure->pairs, "ll",
                  (json_int_t)n[0], "ld", (json_int_t)n[1], "dd", (json_int_t)n[2], "wl", (json_int_t)n[3],
                  "dw", (json_int_t)n[4], "ww", (json_int_t)n[5], "decided_by_opening", share);
    json_dumpf(object, stdout, 0);
    putchar('\n');
    json_decref(object);
}

static int measure(const char *tool, struct request *request, const struct book *book)
{
    const struct rules *rules = book != NULL ? &book->rules : &request->plan.rules;
    struct play_setup setup = {
        .rules = rules, .seed = request->plan.seed, .opening_plies = request->plan.plies, .book = book};
    struct weights *weights = options_load_weights(request->weights, rules->name, tool);
    if (weights == NULL)
        return TOOL_REFUSED;
    struct book_trial trial = {.setup = &setup,
                               .weights = weights,
                               .nodes = request->measure_nodes,
                               .pairs = request->measure_pairs,
                               .threads = request->plan.threads};
    if (book != NULL && trial.pairs > book->count)
        trial.pairs = book->count;
    struct book_measure out;
    request->start = request->last = now_seconds();
    bool done = book_try(&trial, tell_measuring, request, &out);
    weights_destroy(weights);
    if (done)
        print_measure(&out, request->json);
    else
        fprintf(stderr, "%s: memory is short, or these rules leave no such opening or no end\n", tool);
    return done ? TOOL_DONE : TOOL_REFUSED;
}

static int measure_main(int argc, char **argv)
{
    const struct argp_option options[] = {
        rules_option,
        weights_option,
        threads_option,
        {"pairs", KEY_PAIRS, "N", 0, "Openings tried, a keyed sample (default 200, at most the book)", 0},
        {"nodes", KEY_NODES, "N", 0, "A move of one player, the other has a quarter more (default 400)", 0},
        {"seed", KEY_SEED, "S", 0, "Another sample (default 1)", 0},
        {"without-book", KEY_WITHOUT, "K", 0, "K random plies instead of a book, to compare", 0},
        {"json", KEY_JSON, NULL, 0, "As JSON", 0},
        {0}};
    struct request request = read_request(
        argc, argv, options, "[FILE]",
        "Plays openings of a book as pairs, sides swapped, between players of almost equal strength, and "
        "counts "
        "how the pairs end. WL means that the opening decided: such a pair tells nothing of the players.\v"
        "Example:\n  kroo-engine book measure site.book --pairs 100");
    struct book *book = request.without ? NULL : open_book(argv[0], &request);
    int status = book != NULL || request.without ? measure(argv[0], &request, book) : TOOL_REFUSED;
    book_destroy(book);
    return options_finish_output(argv[0]) == TOOL_DONE ? status : TOOL_REFUSED;
}

/* --- the tool --- */

static const struct options_command commands[] = {
    {"make", make_main}, {"show", show_main}, {"check", check_main}, {"measure", measure_main}};

static const char usage[] = "Usage: kroo-engine book make --out FILE [--openings N] [--plies K] [--selfplay "
                            "NODES] [--bound B] [--seed S]\n"
                            "       kroo-engine book show FILE [--count N]\n"
                            "       kroo-engine book check FILE\n"
                            "       kroo-engine book measure FILE [--pairs N] [--nodes N] [--json]\n"
                            "Each has its own --help.\n";

int book_main(int argc, char **argv)
{
    return options_run_command(commands, sizeof commands / sizeof commands[0], usage, argc, argv);
}
