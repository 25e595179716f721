/* `kroo book`: opening books that experiments can use. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/launch.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/upload.h"
#include "engine/book_make.h"
#include "engine/team.h"
#include "proto/artifact.h"
#include "proto/progress.h"

enum { NODES_MAX = 1000000000, VALUE_MAX = 4800, MEASURE_PAIRS = 200, MEASURE_NODES = 400, SHOWN = 20 };

enum {
    OPTION_RULES = 0x3800,
    OPTION_WEIGHTS,
    OPTION_OPENINGS,
    OPTION_PLIES,
    OPTION_RANDOM,
    OPTION_SELFPLAY,
    OPTION_NOISE,
    OPTION_BOUND,
    OPTION_NODES,
    OPTION_TRIES,
    OPTION_SEED,
    OPTION_THREADS,
    OPTION_MEASURE,
    OPTION_PAIRS,
    OPTION_COUNT,
    OPTION_NAME,
    OPTION_NOTE,
};

struct book_request {
    struct upload upload; /* FILE, --name, --note, the cluster */
    struct book_plan plan;
    const char *rules, *weights;
    uint32_t pairs; /* to measure; 0 = none */
    uint64_t nodes; /* of a move in those */
    uint32_t count; /* openings shown */
    struct progress progress;
};

/* What is made, read or measured here. */
struct volume {
    struct book *book;
    struct weights *weights;
    struct book_counts counts;
    struct book_measure measure;
    struct store_book row;
    void *bytes;
    size_t size;
    bool existed;
};

static void volume_done(struct volume *volume)
{
    book_destroy(volume->book);
    weights_destroy(volume->weights);
    free(volume->bytes);
}

/* --- into the database --- */

static const char *opening_of(const void *context, uint32_t index, size_t *plies)
{
    unsigned length;
    const char *moves = book_opening(context, index, &length);
    *plies = length;
    return moves;
}

static void fill_row(const struct upload *upload, struct volume *volume)
{
    struct store_book *row = &volume->row;
    const struct book *book = volume->book;
    artifact_hash(volume->bytes, volume->size, row->sha256);
    snprintf(row->name, sizeof row->name, "%s", upload->name);
    snprintf(row->note, sizeof row->note, "%s", upload->note ? upload->note : "");
    snprintf(row->rules, sizeof row->rules, "%s", book->rules.name);
    snprintf(row->made, sizeof row->made, "%s", book->made);
    row->openings = book->count;
    row->plies_min = book->plies_min;
    row->plies_max = book->plies_max;
}

static enum store_error note_measure(struct store *store, const struct book_request *request,
                                     const struct volume *volume)
{
    char how[STORE_TEXT];
    const uint64_t *n = volume->measure.classes;
    if (volume->measure.pairs == 0)
        return STORE_OK;
    snprintf(
        how, sizeof how,
        "weights %.60s, %llu against %llu nodes a move, seed %llu: LL %llu, LD %llu, DD %llu, WL %llu, DW "
        "%llu, WW %llu",
        request->weights, (unsigned long long)(request->nodes + request->nodes / 4),
        (unsigned long long)request->nodes, (unsigned long long)request->plan.seed, (unsigned long long)n[0],
        (unsigned long long)n[1], (unsigned long long)n[2], (unsigned long long)n[3],
        (unsigned long long)n[4], (unsigned long long)n[5]);
    return store_book_measured(store, volume->row.sha256, volume->measure.pairs, n[BOOK_CLASS_WL], how);
}

static int store_volume(const struct book_request *request, struct volume *volume)
{
    int status;
    struct store *store = connect_as(&request->upload.common, "kroo_coordinator", &status);
    if (!store)
        return status;
    enum store_error error = store_begin(store);
    if (error == STORE_OK && volume->bytes)
        error = store_book_put(store, &volume->row, volume->bytes, volume->size, opening_of, volume->book,
                               connect_caller(), &volume->existed);
    if (error == STORE_OK)
        error = note_measure(store, request, volume);
    if (error == STORE_OK)
        error = store_commit(store);
    status = connect_failed(store, error);
    store_close(store);
    return status;
}

/* --- telling --- */

static json_t *volume_json(const struct volume *volume)
{
    char hex[ARTIFACT_HEX];
    const struct book_measure *m = &volume->measure;
    const uint64_t *n = m->classes;
    artifact_hex(volume->row.sha256, hex);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:s, s:b}", "name", volume->row.name, "sha256", hex,
                  "rules", volume->row.rules, "openings", (json_int_t)volume->row.openings, "plies_min",
                  (int)volume->row.plies_min, "plies_max", (int)volume->row.plies_max, "made",
                  volume->row.made, "existed", volume->existed);
    if (volume->counts.tried > 0)
        json_object_set_new(object, "candidates",
                            json_pack("{s:I, s:I, s:I, s:I, s:I}", "tried", (json_int_t)volume->counts.tried,
                                      "kept", (json_int_t)volume->counts.kept, "duplicates",
                                      (json_int_t)volume->counts.duplicates, "unbalanced",
                                      (json_int_t)volume->counts.unbalanced, "ended",
                                      (json_int_t)volume->counts.ended));
    if (m->pairs > 0)
        json_object_set_new(object, "measured",
                            json_pack("{s:I, s:[I,I,I,I,I,I], s:s, s:f}", "pairs", (json_int_t)m->pairs,
                                      "counts", (json_int_t)n[0], (json_int_t)n[1], (json_int_t)n[2],
                                      (json_int_t)n[3], (json_int_t)n[4], (json_int_t)n[5], "count_order",
                                      "LL,LD,DD,WL,DW,WW", "decided_by_opening",
                                      (double)n[BOOK_CLASS_WL] / (double)m->pairs));
    return object;
}

static int tell(const struct book_request *request, const struct volume *volume)
{
    char hex[ARTIFACT_HEX];
    const struct book_measure *m = &volume->measure;
    if (request->upload.common.json)
        return table_json_print(volume_json(volume));
    artifact_hex(volume->row.sha256, hex);
    printf("%s %s\n", volume->row.name, hex);
    args_note("%u openings for %s%s", volume->row.openings, volume->row.rules,
              volume->existed ? ", there already" : "");
    if (volume->counts.tried > 0)
        args_note("kept %llu of %llu tried: %llu duplicates, %llu unbalanced, %llu ended",
                  (unsigned long long)volume->counts.kept, (unsigned long long)volume->counts.tried,
                  (unsigned long long)volume->counts.duplicates,
                  (unsigned long long)volume->counts.unbalanced, (unsigned long long)volume->counts.ended);
    if (m->pairs > 0)
        args_note("of %llu pairs the opening decided %llu (WL): %.1f %%", (unsigned long long)m->pairs,
                  (unsigned long long)m->classes[BOOK_CLASS_WL],
                  100.0 * (double)m->classes[BOOK_CLASS_WL] / (double)m->pairs);
    return COMMAND_DONE;
}

/* --- making and measuring --- */

static int load_weights(const struct book_request *request, const struct rules *rules, struct volume *volume)
{
    uint8_t sha256[MESSAGE_HASH];
    void *bytes = NULL;
    size_t size = 0;
    int status;
    if (strcmp(request->weights, "starting") == 0) {
        volume->weights = weights_create_starting(rules->name);
        return volume->weights ? COMMAND_DONE : args_refuse("out of memory");
    }
    struct store *store = connect_reader(&request->upload.common, &status);
    if (!store)
        return status;
    status = launch_find_weights(store, request->weights, rules->name, sha256);
    if (status == COMMAND_DONE)
        status = connect_artifact(store, "weights", sha256, &bytes, &size);
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    enum weights_error bad = weights_parse(bytes, size, rules->name, &volume->weights);
    free(bytes);
    return bad == WEIGHTS_OK ? COMMAND_DONE : args_refuse("weights: %s", weights_error_text(bad));
}

static bool show_counts(void *context, const struct book_counts *counts)
{
    struct book_request *request = context;
    char note[64];
    snprintf(note, sizeof note, "%llu tried", (unsigned long long)counts->tried);
    progress_show(&request->progress, counts->kept, note);
    return true;
}

static bool show_pairs(void *context, uint64_t pairs)
{
    struct book_request *request = context;
    progress_show(&request->progress, pairs, NULL);
    return true;
}

static int make_volume(struct book_request *request, struct volume *volume)
{
    struct book_plan *plan = &request->plan;
    char reason[256];
    if (rules_parse(request->rules, &plan->rules, reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    int status = load_weights(request, &plan->rules, volume);
    if (status != COMMAND_DONE)
        return status;
    plan->weights = volume->weights;
    snprintf(plan->weights_name, sizeof plan->weights_name, "%s", request->weights);
    if (plan->tries == 0)
        plan->tries = book_plan_tries(plan->openings);
    progress_init(&request->progress, "openings", "openings", plan->openings, request->upload.common.json);
    enum book_error error = book_make(plan, show_counts, request, &volume->counts, &volume->book);
    progress_end(&request->progress, volume->counts.kept, NULL);
    if (error == BOOK_ERROR_COUNT)
        return args_refuse("of %llu candidates none qualifies: give a wider --bound, more --tries or other "
                           "--plies",
                           (unsigned long long)volume->counts.tried);
    if (error != BOOK_OK)
        return args_refuse("%s", book_error_text(error));
    if (volume->counts.kept < plan->openings)
        args_warn("%llu tries gave only %llu openings: this is all there is",
                  (unsigned long long)volume->counts.tried, (unsigned long long)volume->counts.kept);
    error = book_serialize(volume->book, &volume->bytes, &volume->size);
    return error == BOOK_OK ? COMMAND_DONE : args_refuse("%s", book_error_text(error));
}

static int measure_volume(struct book_request *request, struct volume *volume)
{
    const struct book *book = volume->book;
    struct play_setup setup = {.rules = &book->rules, .seed = request->plan.seed, .book = book};
    struct book_trial trial = {.setup = &setup,
                               .weights = volume->weights,
                               .nodes = request->nodes,
                               .pairs = request->pairs < book->count ? request->pairs : book->count,
                               .threads = request->plan.threads};
    if (trial.pairs == 0)
        return COMMAND_DONE;
    progress_init(&request->progress, "measuring", "pairs", trial.pairs, request->upload.common.json);
    bool done = book_try(&trial, show_pairs, request, &volume->measure);
    progress_end(&request->progress, volume->measure.pairs, NULL);
    return done ? COMMAND_DONE
                : args_refuse("a game has no end under %s, or memory is short", book->rules.name);
}

static int load_volume(const struct book_request *request, struct volume *volume)
{
    int status;
    const char *name = request->upload.name;
    void *bytes = NULL;
    size_t size = 0;
    struct store *store = connect_reader(&request->upload.common, &status);
    if (!store)
        return status;
    enum store_error error = store_book_find(store, name, NULL, &volume->row);
    status =
        error == STORE_ERROR_REFUSED ? names_refuse(store, NAMES_BOOKS, name) : connect_failed(store, error);
    if (status == COMMAND_DONE)
        status = connect_artifact(store, "book", volume->row.sha256, &bytes, &size);
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    enum book_error bad = book_parse(bytes, size, NULL, &volume->book, NULL);
    free(bytes);
    return bad == BOOK_OK ? COMMAND_DONE : args_refuse("%s", book_error_text(bad));
}

/* --- options --- */

static error_t parse_plan(int key, char *text, struct argp_state *state, struct book_plan *plan)
{
    double percent;
    switch (key) {
    case OPTION_OPENINGS:
        plan->openings = (uint32_t)args_number(state, "--openings", text, 1, BOOK_OPENINGS_MAX);
        return 0;
    case OPTION_PLIES:
        plan->plies = (unsigned)args_number(state, "--plies", text, 1, BOOK_PLIES_MAX);
        return 0;
    case OPTION_RANDOM:
        plan->selfplay = false;
        return 0;
    case OPTION_SELFPLAY:
        plan->selfplay = true;
        plan->selfplay_nodes = args_number(state, "--selfplay", text, 1, NODES_MAX);
        return 0;
    case OPTION_NOISE:
        percent = args_decimal(state, "--noise", text);
        if (!(percent >= 0 && percent <= 100))
            argp_error(state, "--noise is a percentage: 0 to 100");
        plan->noise_ppm = (uint32_t)lround(percent / 100 * PLAY_NOISE_UNIT);
        return 0;
    case OPTION_BOUND:
        plan->bound = (int)args_number(state, "--bound", text, 0, VALUE_MAX);
        return 0;
    case OPTION_TRIES:
        plan->tries = (uint32_t)args_number(state, "--tries", text, 1, BOOK_TRIES_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t book_parse_option(int key, char *text, struct argp_state *state)
{
    struct book_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->upload.common;
        return 0;
    case OPTION_RULES:
        request->rules = text;
        return 0;
    case OPTION_WEIGHTS:
        request->weights = text;
        return 0;
    case OPTION_NODES:
        request->plan.nodes = request->nodes = args_number(state, "--nodes", text, 1, NODES_MAX);
        return 0;
    case OPTION_SEED:
        request->plan.seed = args_number(state, "--seed", text, 0, INT64_MAX);
        return 0;
    case OPTION_THREADS:
        request->plan.threads = (int)args_number(state, "--threads", text, 1, TEAM_MAX);
        return 0;
    case OPTION_MEASURE:
    case OPTION_PAIRS:
        request->pairs = (uint32_t)args_number(state, "pairs", text, 0, BOOK_OPENINGS_MAX);
        return 0;
    case OPTION_COUNT:
        request->count = (uint32_t)args_number(state, "--count", text, 1, BOOK_OPENINGS_MAX);
        return 0;
    case OPTION_NAME:
        request->upload.name = text;
        return 0;
    case OPTION_NOTE:
        request->upload.note = text;
        return 0;
    default:
        return parse_plan(key, text, state, &request->plan);
    }
}

static struct book_request request_default(void)
{
    return (struct book_request){.plan = book_plan_default(),
                                 .rules = "site",
                                 .weights = "starting",
                                 .pairs = MEASURE_PAIRS,
                                 .nodes = MEASURE_NODES,
                                 .count = SHOWN};
}

/* --- commands --- */

static error_t make_parse(int key, char *text, struct argp_state *state)
{
    struct book_request *request = state->input;
    if (key == OPTION_NODES) { /* measuring has its own */
        request->plan.nodes = args_number(state, "--nodes", text, 1, NODES_MAX);
        return 0;
    }
    if (key == ARGP_KEY_END && !request->upload.name)
        argp_error(state, "what shall it be called? give --name N");
    return book_parse_option(key, text, state);
}

static int book_make_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"name", OPTION_NAME, "N", 0, "What it is called here: 1 to 63 of A-Z a-z 0-9 . _ -", 1},
        {"note", OPTION_NOTE, "TEXT", 0, "A note for people", 1},
        {"rules", OPTION_RULES, "RULES", 0, "Rule set (default site)", 2},
        {"openings", OPTION_OPENINGS, "N", 0, "How many (default 1000)", 2},
        {"plies", OPTION_PLIES, "K", 0, "Of each opening (default 10)", 2},
        {"random", OPTION_RANDOM, NULL, 0, "All plies are random (the default)", 2},
        {"selfplay", OPTION_SELFPLAY, "NODES", 0,
         "The plies are searched with so many nodes, but for the noise", 2},
        {"noise", OPTION_NOISE, "PERCENT", 0, "With --selfplay: plies played at random (default 30)", 2},
        {"tries", OPTION_TRIES, "N", 0, "Candidates at most (default 100 for each opening)", 2},
        {"seed", OPTION_SEED, "S", 0, "Another book (default 1)", 2},
        {"weights", OPTION_WEIGHTS, "W", 0,
         "Who values: number, hash prefix, name, champion (default starting)", 3},
        {"nodes", OPTION_NODES, "N", 0, "Of the search that values a candidate (default 5000)", 3},
        {"bound", OPTION_BOUND, "B", 0, "Keep |value| <= B hundredths of a seed (default 100)", 3},
        {"measure", OPTION_MEASURE, "PAIRS", 0, "Pairs played to measure it (default 200, 0 none)", 4},
        {"threads", OPTION_THREADS, "T", 0, "Threads (default 2)", 5},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = make_parse,
        .doc =
            "Make an opening book here and add it: positions after K random or self-played plies, each once "
            "(a position and its colour-swapped twin are one), near zero by search; then play some of them "
            "as pairs to see how often the opening decides. The same options make the same book; "
            "`kroo-engine book make` makes it as a file.\v"
            "Examples:\n  kroo book make --name site-10 --openings 500\n"
            "  kroo book make --name near --weights champion --selfplay 300 --plies 14 --bound 30\n"
            "  kroo match 2 champion --book site-10 --pairs 500",
        .children = args_common_children};
    struct book_request request = request_default();
    struct volume volume = {.book = NULL};
    parse_line(&argp, argc, argv, &request);
    int status = upload_check(&request.upload);
    if (status == COMMAND_DONE)
        status = make_volume(&request, &volume);
    if (status == COMMAND_DONE)
        status = measure_volume(&request, &volume);
    if (status == COMMAND_DONE) {
        fill_row(&request.upload, &volume);
        status = store_volume(&request, &volume);
    }
    if (status == COMMAND_DONE)
        status = tell(&request, &volume);
    volume_done(&volume);
    return status;
}

static int book_add_command(int argc, char **argv)
{
    static const struct argp argp = {.options = upload_options,
                                     .parser = upload_parse,
                                     .args_doc = "FILE",
                                     .doc = "Add an opening book (`kroo-engine book make` makes them). Every "
                                            "opening is checked.\v"
                                            "Example:\n  kroo book add site.book --name site-10",
                                     .children = args_common_children};
    struct book_request request = request_default();
    struct volume volume = {.book = NULL};
    uint32_t line = 0;
    request.upload.wanted = true;
    parse_line(&argp, argc, argv, &request.upload);
    int status = upload_check(&request.upload);
    if (status == COMMAND_DONE)
        status = upload_read(request.upload.file, &volume.bytes, &volume.size);
    if (status == COMMAND_DONE) {
        enum book_error error = book_parse(volume.bytes, volume.size, NULL, &volume.book, &line);
        if (error != BOOK_OK && line > 0)
            status = args_refuse("%s, line %u: %s", request.upload.file, line, book_error_text(error));
        else if (error != BOOK_OK)
            status = args_refuse("%s: %s", request.upload.file, book_error_text(error));
    }
    if (status == COMMAND_DONE) {
        fill_row(&request.upload, &volume);
        status = store_volume(&request, &volume);
    }
    if (status == COMMAND_DONE)
        status = tell(&request, &volume);
    volume_done(&volume);
    return status;
}

static int book_ls_command(int argc, char **argv)
{
    static const struct argp argp = {.parser = upload_parse,
                                     .doc =
                                         "List the opening books that experiments can use. decided: share of "
                                         "the measured pairs in which each side won once (WL).",
                                     .children = args_common_children};
    static const char sql[] =
        "select b.name, left(encode(b.sha256, 'hex'), $1::integer) as sha256, b.rules, b.openings,"
        " case when b.plies_min = b.plies_max then b.plies_min::text"
        "  else b.plies_min || '-' || b.plies_max end as plies,"
        " round(100.0 * b.measured_wl / b.measured_pairs, 1) as decided, b.measured_pairs as of_pairs,"
        " (select count(*) from kroo.experiment e where e.book_sha256 = b.sha256) as experiments, b.added_by,"
        " to_char(b.added_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as added, b.note"
        " from kroo.book b order by b.added_at, b.name";
    struct upload request = {.wanted = false};
    parse_line(&argp, argc, argv, &request);
    return upload_list(&request.common, sql, "no opening books: `kroo book make --name N`");
}

static error_t named_parse(int key, char *text, struct argp_state *state)
{
    struct book_request *request = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->upload.name = text;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 1)
            argp_error(state, "which book? `kroo book ls` lists them");
        return 0;
    default:
        return book_parse_option(key, text, state);
    }
}

static int print_openings(const struct book_request *request, const struct volume *volume)
{
    const struct book *book = volume->book;
    uint32_t shown = request->count < book->count ? request->count : book->count;
    printf("book      %s\nrules     %s\nmade      %s\nopenings  %u of %u to %u plies\n\n", volume->row.name,
           book->rules.name, book->made, book->count, book->plies_min, book->plies_max);
    for (uint32_t i = 0; i < shown; i++) {
        unsigned plies;
        const char *moves = book_opening(book, i, &plies);
        printf("%6u  %.*s\n", i, (int)plies, moves);
    }
    if (shown < book->count)
        printf("... %u more; --count N shows more\n", book->count - shown);
    return COMMAND_DONE;
}

static int book_show_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"count", OPTION_COUNT, "N", 0, "So many openings (default 20)", 1}, {0}};
    static const struct argp argp = {.options = options,
                                     .parser = named_parse,
                                     .args_doc = "NAME",
                                     .doc = "Show a book and its first openings.\v"
                                            "Example:\n  kroo book show site-10 --count 5",
                                     .children = args_common_children};
    struct book_request request = request_default();
    struct volume volume = {.book = NULL};
    parse_line(&argp, argc, argv, &request);
    int status = load_volume(&request, &volume);
    if (status == COMMAND_DONE)
        status = request.upload.common.json ? table_json_print(volume_json(&volume))
                                            : print_openings(&request, &volume);
    volume_done(&volume);
    return status;
}

static int book_measure_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"pairs", OPTION_PAIRS, "N", 0, "Openings tried, a keyed sample (default 200, at most the book)", 1},
        {"nodes", OPTION_NODES, "N", 0, "A move of one player; the other has a quarter more (default 400)",
         1},
        {"weights", OPTION_WEIGHTS, "W", 0, "Who plays (default starting)", 1},
        {"seed", OPTION_SEED, "S", 0, "Another sample (default 1)", 1},
        {"threads", OPTION_THREADS, "T", 0, "Threads (default 2)", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = named_parse,
        .args_doc = "NAME",
        .doc =
            "Play openings of a book here as pairs, sides swapped, between players of almost equal strength, "
            "and note how many the opening decided (WL): such pairs tell nothing of the players.\v"
            "Example:\n  kroo book measure site-10 --pairs 500",
        .children = args_common_children};
    struct book_request request = request_default();
    struct volume volume = {.book = NULL};
    parse_line(&argp, argc, argv, &request);
    if (request.pairs == 0)
        return args_refuse("zero pairs measure nothing: give at least one");
    int status = load_volume(&request, &volume);
    if (status == COMMAND_DONE)
        status = load_weights(&request, &volume.book->rules, &volume);
    if (status == COMMAND_DONE)
        status = measure_volume(&request, &volume);
    if (status == COMMAND_DONE)
        status = store_volume(&request, &volume);
    if (status == COMMAND_DONE)
        status = tell(&request, &volume);
    volume_done(&volume);
    return status;
}

int book_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"make", book_make_command, "make one and add it", true},
        {"add", book_add_command, "add a file", true},
        {"ls", book_ls_command, "list them", true},
        {"show", book_show_command, "show one", true},
        {"measure", book_measure_command, "play some of its openings as pairs", true},
        {0},
    };
    return dispatch(commands, "Opening books that experiments can use.", "ls", argc, argv);
}
