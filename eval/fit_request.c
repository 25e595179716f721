#include "eval/fit_request.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval/shards.h"

enum {
    KEY_PARENT = 256,
    KEY_NAME,
    KEY_LAMBDA,
    KEY_RIDGE,
    KEY_SEED,
    KEY_THREADS,
    KEY_VALIDATION,
    KEY_SAMPLE,
    KEY_MIN_POSITIONS,
    KEY_ITERATIONS,
    KEY_KERNEL,
    KEY_COUNT_CAP,
    KEY_CAPTURES,
    KEY_OPENING,
    KEY_DECIDED,
    KEY_REPEATS,
    KEY_MEMORY,
    KEY_FORCE,
    KEY_JSON,
    KEY_DRY_RUN,
    KEY_OUTPUT,
    KEY_CALIBRATION,
    KEY_DATABASE,
    KEY_CONFIG,
    KEY_KIND,
    KEY_QUIET_ONLY,
    KEY_EPOCHS,
    KEY_BATCH,
    KEY_RATE,
    KEY_CHECKPOINT,
    KEY_SCRATCH,
    KEY_REPORT,
    KEY_NO_STORE,
    KEY_AGAINST,
    KEY_TABLES,
    KEY_ALL,
    MEMORY_DEFAULT_MIB = 1024,
    MEMORY_MAX_MIB = 1 << 20,
    NAME_LONGEST = STORE_NAME - 1,
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Data:", 1},
    {"games", 'g', "RANGES", 0,
     "Experiments `ID` or ranges of pairs `ID:FIRST-LAST`, comma separated; an ID alone means all of its "
     "pairs that count",
     0},
    {"validation-share", KEY_VALIDATION, "X", 0,
     "Share of pairs set aside, by a hash that is never drawn again (0.1)", 0},
    {"sample", KEY_SAMPLE, "X", 0, "Read only this share of the pairs, drawn by --seed (1)", 0},
    {"seed", KEY_SEED, "S", 0, "Seed of --sample, and of a net's first weights and batches (1)", 0},
    {"with-captures", KEY_CAPTURES, NULL, 0,
     "Keep positions where the mover can capture (only a table leaves them out)", 0},
    {"quiet-only", KEY_QUIET_ONLY, NULL, 0, "Leave them out for the other kinds too", 0},
    {"with-opening", KEY_OPENING, NULL, 0, "Keep the random plies of the opening", 0},
    {"with-decided", KEY_DECIDED, NULL, 0, "Keep positions whose search proved the outcome", 0},
    {"with-repeats", KEY_REPEATS, NULL, 0, "Keep games whose moves were read before", 0},
    {"min-positions", KEY_MIN_POSITIONS, "N", 0, "Refuse to train on fewer positions (2000)", 0},
    {"memory-mib", KEY_MEMORY, "N", 0, "Memory for positions, 16 bytes each (1024)", 0},
    {"scratch", KEY_SCRATCH, "FOLDER", 0,
     "Keep the positions in a file there, as many as it holds, and leave the memory to the system", 0},
    {NULL, 0, NULL, 0, "Fit:", 2},
    {"kind", KEY_KIND, "KIND", 0, "`table`, `net` or `features` (table)", 0},
    {"parent", KEY_PARENT, "WEIGHTS", 0,
     "Weights to beat: number, hash, name, `champion` or `starting` (the champion, else player a of the "
     "first experiment)",
     0},
    {"lambda", KEY_LAMBDA, "X", 0, "Share of the result in the target, the rest is the search score (0.4)",
     0},
    {"ridge", KEY_RIDGE, "X", 0, "table, features: ridge, against the mean loss (1e-6); more for few games",
     0},
    {"iterations", KEY_ITERATIONS, "N", 0, "table, features: Newton steps (6)", 0},
    {"epochs", KEY_EPOCHS, "N", 0, "net: times through the positions (24); the best one is kept", 0},
    {"batch", KEY_BATCH, "N", 0, "net: positions a step, a multiple of 8 (256 to 2048, as suits the data)",
     0},
    {"rate", KEY_RATE, "X", 0,
     "net: first learning rate, a third from half of the epochs on, and less (0.004)", 0},
    {"checkpoint", KEY_CHECKPOINT, "FILE", 0,
     "net: write the state here after each epoch, and go on from it when it is there", 0},
    {"tables", KEY_TABLES, "FILE", 0,
     "Endgame tables: where they decide the outcome it is the target, with a tenth of the weight at most", 0},
    {"count-cap", KEY_COUNT_CAP, "N", 0, "Most weight of one position (0, no cap)", 0},
    {"kernel", KEY_KERNEL, "K", 0, "`sparse` or `dense` sums (sparse)", 0},
    {"threads", KEY_THREADS, "T", 0, "Threads; any number gives the same file (processors)", 0},
    {"force", KEY_FORCE, NULL, 0, "Keep weights that judge worse than their parent", 0},
    {NULL, 0, NULL, 0, "Output:", 3},
    {"name", KEY_NAME, "N", 0, "Name of the new weights", 0},
    {"output", KEY_OUTPUT, "FILE", 0, "Write the weights file here too", 0},
    {"report", KEY_REPORT, "FOLDER", 0, "Write report.md, report.json and plots (SVG) there", 0},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "Read and say what data it would use and how much; fit nothing", 0},
    {"no-store", KEY_NO_STORE, NULL, 0, "Fit, but store nothing in the database", 0},
    {"calibration", KEY_CALIBRATION, NULL, 0, "Show the calibration in 20 bins by phase", 0},
    {"json", KEY_JSON, NULL, 0, "Report as one JSON object", 0},
    {"quiet", 'q', NULL, 0, "No progress", 0},
    {NULL, 0, NULL, 0, "Connection:", 4},
    {"database", KEY_DATABASE, "CONNINFO", 0, "Database, as libpq takes it", 0},
    {"config", KEY_CONFIG, "FILE", 0, "Settings file (KROO_CONFIG, else var/kroo.conf)", 0},
    {0},
};

static const char documentation[] =
    "Fits weights to stored games and stores them with a training_run row that says how to repeat it.\v"
    "Examples:\n"
    "  kroo-train fit --games 3                      all counted pairs of experiment 3\n"
    "  kroo-train fit --games 3,5:0-999 --name gen2  two experiments, the second in part\n"
    "  kroo-train fit --games 3 --kind net --checkpoint net.state --report report\n"
    "  kroo-train fit --games 3 --dry-run            what data is there\n"
    "  kroo-train fit --games 3 --parent starting --json\n"
    "\n"
    "Exit status: 0 done, 1 refused (the reason is told and recorded), 2 wrong usage, 3 no connection.\n";

/* --- numbers --- */

static bool read_whole(const char *text, uint64_t high, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text < '0' || *text > '9' || value > high)
        return false;
    *out = value;
    return true;
}

static bool read_real(const char *text, double low, double high, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < low || value > high)
        return false;
    *out = value;
    return true;
}

/* --- ranges --- */

static bool read_range(char *text, struct fit_range *range)
{
    char *colon = strchr(text, ':');
    *range = (struct fit_range){.all = !colon, .last = INT64_MAX};
    if (colon) {
        char *dash = strchr(colon, '-');
        if (!dash)
            return false;
        *colon = *dash = '\0';
        if (!read_whole(colon + 1, INT64_MAX - 1, &range->first) ||
            !read_whole(dash + 1, INT64_MAX - 1, &range->last))
            return false;
    }
    return read_whole(text, INT64_MAX, &range->experiment) && range->experiment > 0 &&
           range->first <= range->last;
}

static bool overlaps(const struct fit_request *request, const struct fit_range *range)
{
    for (size_t i = 0; i < request->range_count; i++) {
        const struct fit_range *other = &request->ranges[i];
        if (other->experiment == range->experiment && other->first <= range->last &&
            range->first <= other->last)
            return true;
    }
    return false;
}

int fit_request_add_games(struct fit_request *request, const char *text, char reason[FIT_REQUEST_REASON])
{
    char part[80];
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        struct fit_range range;
        snprintf(part, sizeof part, "%.*s", length < sizeof part ? (int)length : (int)sizeof part - 1, at);
        if (length >= sizeof part || !read_range(part, &range)) {
            snprintf(reason, FIT_REQUEST_REASON, "`%.60s` is no range of games: write ID or ID:FIRST-LAST",
                     at);
            return -1;
        }
        if (overlaps(request, &range)) {
            snprintf(reason, FIT_REQUEST_REASON,
                     "experiment %" PRIu64 " is asked for twice: ranges must not overlap", range.experiment);
            return -1;
        }
        if (request->range_count == READER_SOURCES_MAX) {
            snprintf(reason, FIT_REQUEST_REASON, "more than %d ranges of games", READER_SOURCES_MAX);
            return -1;
        }
        request->ranges[request->range_count++] = range;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

/* --- argp --- */

static void take_whole(const struct argp_state *state, const char *name, const char *text, uint64_t low,
                       uint64_t high, uint64_t *out)
{
    if (!read_whole(text, high, out) || *out < low)
        argp_error(state, "--%s: `%s` is no whole number from %" PRIu64 " to %" PRIu64, name, text, low,
                   high);
}

static void take_real(const struct argp_state *state, const char *name, const char *text, double low,
                      double high, double *out)
{
    if (!read_real(text, low, high, out))
        argp_error(state, "--%s: `%s` is no number from %g to %g", name, text, low, high);
}

static void take_share(const struct argp_state *state, const char *name, const char *text, uint32_t *ppm)
{
    double share = 0.0;
    take_real(state, name, text, 0.0, 1.0, &share);
    *ppm = (uint32_t)nearbyint(share * READER_UNIT);
}

static void take_games(const struct argp_state *state, const char *text)
{
    char reason[FIT_REQUEST_REASON];
    if (fit_request_add_games(state->input, text, reason) != 0)
        argp_error(state, "%s", reason);
}

static void take_kind(const struct argp_state *state, const char *text, enum weights_kind *kind)
{
    *kind = weights_kind_parse(text);
    if (*kind == 0)
        argp_error(state, "--kind: `%s` is none of `table`, `net`, `features`", text);
}

static void take_kernel(const struct argp_state *state, const char *text, enum fit_kernel *kernel)
{
    if (strcmp(text, "sparse") != 0 && strcmp(text, "dense") != 0)
        argp_error(state, "--kernel: `%s` is neither `sparse` nor `dense`", text);
    *kernel = strcmp(text, "dense") == 0 ? FIT_DENSE : FIT_SPARSE;
}

static void take_name(const struct argp_state *state, const char *text, const char **name)
{
    if (*text == '\0' || strlen(text) > NAME_LONGEST)
        argp_error(state, "--name: 1 to %d bytes", NAME_LONGEST);
    *name = text;
}

/* Options of the data and the output; false when `key` is none of them. */
static bool take_data_option(int key, char *text, struct argp_state *state)
{
    struct fit_request *request = state->input;
    struct reader_filters *filters = &request->filters;
    uint64_t whole = 0;
    switch (key) {
    case 'g':
    case ARGP_KEY_ARG:
        take_games(state, text);
        return true;
    case KEY_VALIDATION:
        take_share(state, "validation-share", text, &filters->validation_ppm);
        return true;
    case KEY_SAMPLE:
        take_share(state, "sample", text, &filters->sample_ppm);
        return true;
    case KEY_SEED:
        take_whole(state, "seed", text, 0, INT64_MAX, &filters->seed);
        return true;
    case KEY_CAPTURES:
        request->captures = FIT_CAPTURES_WITH;
        return true;
    case KEY_QUIET_ONLY:
        request->captures = FIT_CAPTURES_WITHOUT;
        return true;
    case KEY_SCRATCH:
        request->scratch = text;
        return true;
    case KEY_OPENING:
        filters->with_opening = true;
        return true;
    case KEY_DECIDED:
        filters->with_decided = true;
        return true;
    case KEY_REPEATS:
        filters->with_repeats = true;
        return true;
    case KEY_MEMORY:
        take_whole(state, "memory-mib", text, 1, MEMORY_MAX_MIB, &whole);
        request->memory_mib = (unsigned)whole;
        return true;
    default:
        return false;
    }
}

static bool take_net_option(int key, char *text, struct argp_state *state)
{
    struct train_options *chosen = &((struct fit_request *)state->input)->options;
    uint64_t whole = 0;
    switch (key) {
    case KEY_EPOCHS:
        take_whole(state, "epochs", text, 1, NET_EPOCHS_MAX, &whole);
        chosen->epochs = (unsigned)whole;
        return true;
    case KEY_BATCH:
        take_whole(state, "batch", text, NET_PARTS, NET_BATCH_MAX, &whole);
        if (whole % NET_PARTS != 0)
            argp_error(state, "--batch: `%s` is no multiple of %d", text, NET_PARTS);
        chosen->batch = (unsigned)whole;
        return true;
    case KEY_RATE:
        take_real(state, "rate", text, 1e-9, 1.0, &chosen->rate);
        return true;
    case KEY_CHECKPOINT:
        chosen->checkpoint = text;
        return true;
    default:
        return false;
    }
}

static bool take_fit_option(int key, char *text, struct argp_state *state)
{
    struct train_options *chosen = &((struct fit_request *)state->input)->options;
    uint64_t whole = 0;
    switch (key) {
    case KEY_MIN_POSITIONS:
        take_whole(state, "min-positions", text, 1, INT64_MAX, &chosen->min_positions);
        return true;
    case KEY_LAMBDA:
        take_real(state, "lambda", text, 0.0, 1.0, &chosen->lambda);
        return true;
    case KEY_RIDGE:
        take_real(state, "ridge", text, 0.0, 1e6, &chosen->ridge);
        return true;
    case KEY_ITERATIONS:
        take_whole(state, "iterations", text, 1, FIT_ITERATIONS_MAX, &whole);
        chosen->iterations = (unsigned)whole;
        return true;
    case KEY_COUNT_CAP:
        take_real(state, "count-cap", text, 0.0, 1e9, &chosen->count_cap);
        return true;
    case KEY_KERNEL:
        take_kernel(state, text, &chosen->kernel);
        return true;
    case KEY_THREADS:
        take_whole(state, "threads", text, 1, SHARDS_THREADS_MAX, &whole);
        chosen->threads = (unsigned)whole;
        return true;
    case KEY_FORCE:
        chosen->force = true;
        return true;
    case KEY_KIND:
        take_kind(state, text, &chosen->kind);
        return true;
    default:
        return take_net_option(key, text, state);
    }
}

/* Where things go. */
static bool take_output_option(int key, char *text, struct argp_state *state)
{
    struct fit_request *request = state->input;
    switch (key) {
    case KEY_NAME:
        take_name(state, text, &request->name);
        return true;
    case KEY_OUTPUT:
        request->output = text;
        return true;
    case KEY_REPORT:
        request->report = text;
        return true;
    case KEY_DRY_RUN:
        request->dry_run = true;
        return true;
    case KEY_NO_STORE:
        request->no_store = true;
        return true;
    case KEY_CALIBRATION:
        request->calibration = true;
        return true;
    case KEY_JSON:
        request->json = true;
        return true;
    case 'q':
        request->quiet = true;
        return true;
    default:
        return false;
    }
}

static void check_request(struct argp_state *state)
{
    struct fit_request *request = state->input;
    if (request->range_count == 0)
        argp_error(state, "which games? give --games ID (`kroo ls` lists the experiments)");
    if (request->options.checkpoint && request->options.kind != WEIGHTS_NET)
        argp_error(state, "--checkpoint is for --kind net: the other kinds are fitted in seconds");
    request->filters.with_captures = request->captures == FIT_CAPTURES_BY_KIND
                                         ? request->options.kind != WEIGHTS_TABLE
                                         : request->captures == FIT_CAPTURES_WITH;
}

static error_t take_option(int key, char *text, struct argp_state *state)
{
    struct fit_request *request = state->input;
    if (take_data_option(key, text, state) || take_fit_option(key, text, state) ||
        take_output_option(key, text, state))
        return 0;
    switch (key) {
    case KEY_PARENT:
        request->parent = text;
        return 0;
    case KEY_TABLES:
        request->tables = text;
        return 0;
    case KEY_DATABASE:
        request->database = text;
        return 0;
    case KEY_CONFIG:
        request->config = text;
        return 0;
    case ARGP_KEY_END:
        check_request(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- kroo-train eval --- */

static const struct argp_option eval_options[] = {
    {"games", 'g', "RANGES", 0, "As `kroo-train fit` takes them", 1},
    {"against", KEY_AGAINST, "WEIGHTS", 0,
     "Compare with these (the champion, else player a of the first experiment)", 1},
    {"tables", KEY_TABLES, "FILE", 0, "Endgame tables to hold the moves against (`kroo-engine tables build`)",
     1},
    {"all", KEY_ALL, NULL, 0,
     "Judge by all pairs, those that weights were fitted to included (the ones set aside)", 1},
    {"validation-share", KEY_VALIDATION, "X", 0, "Share of pairs set aside (0.1)", 1},
    {"sample", KEY_SAMPLE, "X", 0, "Read only this share of the pairs, drawn by --seed (1)", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of --sample (1)", 1},
    {"quiet-only", KEY_QUIET_ONLY, NULL, 0, "Leave out positions where the mover can capture", 1},
    {"with-opening", KEY_OPENING, NULL, 0, "Keep the random plies of the opening", 1},
    {"with-decided", KEY_DECIDED, NULL, 0, "Keep positions whose search proved the outcome", 1},
    {"lambda", KEY_LAMBDA, "X", 0, "Share of the result in the target (0.4)", 1},
    {"memory-mib", KEY_MEMORY, "N", 0, "Memory for positions, 16 bytes each (1024)", 1},
    {"scratch", KEY_SCRATCH, "FOLDER", 0, "Keep the positions in a file there", 1},
    {"calibration", KEY_CALIBRATION, NULL, 0, "Show the calibration in 20 bins by phase", 2},
    {"report", KEY_REPORT, "FOLDER", 0, "Write report.md, report.json and plots (SVG) there", 2},
    {"json", KEY_JSON, NULL, 0, "Report as one JSON object", 2},
    {"quiet", 'q', NULL, 0, "No progress", 2},
    {"database", KEY_DATABASE, "CONNINFO", 0, "Database, as libpq takes it", 3},
    {"config", KEY_CONFIG, "FILE", 0, "Settings file (KROO_CONFIG, else var/kroo.conf)", 3},
    {0},
};

static const char eval_documentation[] =
    "Judges weights of any kind by stored games: loss against other weights, calibration, agreement with "
    "endgame tables. WEIGHTS is a number, hash, name, `champion`, `starting`, or a path with a slash in it.\v"
    "Examples:\n"
    "  kroo-train eval champion --games 3\n"
    "  kroo-train eval ./gen2.bin --games 3 --against starting --calibration\n"
    "  kroo-train eval 5 --games 3 --tables var/site-12.tables --report report\n"
    "\n"
    "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no connection.\n";

static error_t take_eval_option(int key, char *text, struct argp_state *state)
{
    struct fit_request *request = state->input;
    switch (key) {
    case KEY_AGAINST:
        request->parent = text;
        return 0;
    case KEY_ALL:
        request->filters.validation_ppm = READER_UNIT;
        return 0;
    case ARGP_KEY_ARG:
        if (request->weights)
            argp_error(state, "one WEIGHTS at a time; `--against` takes the other ones");
        request->weights = text;
        return 0;
    case ARGP_KEY_END:
        if (!request->weights)
            argp_error(state, "which weights? `kroo weights` lists them");
        return take_option(key, text, state);
    default:
        return take_option(key, text, state);
    }
}

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > SHARDS_THREADS_MAX ? SHARDS_THREADS_MAX : (unsigned)count;
}

static void set_defaults(struct fit_request *out)
{
    *out = (struct fit_request){
        .options = {.kind = WEIGHTS_TABLE,
                    .epochs = NET_EPOCHS,
                    .rate = NET_RATE,
                    .lambda = 0.4,
                    .ridge = 1e-6,
                    .iterations = FIT_ITERATIONS,
                    .threads = processors(),
                    .kernel = FIT_SPARSE,
                    .min_positions = TRAIN_MIN_POSITIONS},
        .filters = {.validation_ppm = READER_UNIT / 10, .sample_ppm = READER_UNIT, .seed = 1},
        .memory_mib = MEMORY_DEFAULT_MIB,
        .name = "",
    };
}

void fit_request_parse(int argc, char **argv, struct fit_request *out)
{
    static const struct argp argp = {options, take_option, "[RANGES...]", documentation, NULL, NULL, NULL};
    set_defaults(out);
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, out);
}

void fit_request_parse_eval(int argc, char **argv, struct fit_request *out)
{
    static const struct argp argp = {
        eval_options, take_eval_option, "WEIGHTS", eval_documentation, NULL, NULL, NULL};
    set_defaults(out);
    out->captures = FIT_CAPTURES_WITH;
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, out);
}
