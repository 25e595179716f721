/* `kroo tune SPEC`: reads the file of a tune, submits it; `kroo tune show ID` is tune_show.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/launch.h"
#include "coordinator/cli/upload.h"
#include "coordinator/specification.h"
#include "coordinator/tuning.h"
#include "coordinator/wire.h"
#include "engine/play.h"
#include "proto/artifact.h"
#include "sql/store_tune.h"

enum { OPENING_PLIES_UNSET = INT32_MAX, OPENING_PLIES_USUAL = 8, OPTION_WEIGHTS = 0x3000 };

struct tune_request {
    struct launch launch; /* first: launch.complete gets a pointer to it */
    const char *file;
    json_t *root; /* of the file; texts of the launch point into it */
    char *own;    /* the tune's own part, as it is stored */
};

/* --- the file --- */

static json_int_t field_number(struct argp_state *state, const json_t *root, const char *key, json_int_t low,
                               json_int_t high)
{
    const json_t *value = json_object_get(root, key);
    if (!json_is_integer(value) || json_integer_value(value) < low || json_integer_value(value) > high)
        argp_failure(state, COMMAND_REFUSED, 0,
                     "\"%s\" is a whole number from %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT, key,
                     low, high);
    return json_integer_value(value);
}

static const char *field_text(struct argp_state *state, const json_t *root, const char *key)
{
    const json_t *value = json_object_get(root, key);
    if (value && !json_is_string(value))
        argp_failure(state, COMMAND_REFUSED, 0, "\"%s\" is a text", key);
    return json_string_value(value);
}

static void take_limits(struct argp_state *state, const json_t *root, struct launch_limits *limits)
{
    if (!limits->has_nodes && !limits->has_depth && !limits->has_time && !limits->has_clock) {
        const char *clock = field_text(state, root, "clock");
        if (clock)
            launch_take_clock(state, "\"clock\"", clock, limits);
        if ((limits->has_nodes = json_object_get(root, "nodes") != NULL))
            limits->nodes = (uint64_t)field_number(state, root, "nodes", 1, INT64_MAX);
        if ((limits->has_depth = json_object_get(root, "depth") != NULL))
            limits->depth = (uint32_t)field_number(state, root, "depth", 1, SEARCH_DEPTH_MAX);
        if ((limits->has_time = json_object_get(root, "time") != NULL))
            limits->time_ms = (uint32_t)field_number(state, root, "time", 1, SPECIFICATION_TIME_MAX_MS);
    }
    if (limits->hash_kib == 0 && json_object_get(root, "hash"))
        limits->hash_kib = (uint32_t)field_number(state, root, "hash", SPECIFICATION_HASH_MIN_KIB,
                                                  SPECIFICATION_HASH_MAX_KIB);
}

static void take_options(struct argp_state *state, const json_t *root, struct outfit *outfit)
{
    const json_t *lines = json_object_get(root, "options"), *line;
    size_t i;
    if (!lines || outfit->options[0])
        return;
    if (!json_is_array(lines))
        argp_failure(state, COMMAND_REFUSED, 0, "\"options\" is an array of \"Name=Value\"");
    json_array_foreach((json_t *)(uintptr_t)lines, i, line)
        outfit_add_option(state, outfit, "options", json_string_value(line) ? json_string_value(line) : "");
}

/* What the command line left open. */
static void take_experiment(struct argp_state *state, struct tune_request *request)
{
    struct launch *launch = &request->launch;
    const json_t *root = request->root;
    struct message_spec *spec = &launch->create.spec;
    const char *rules = field_text(state, root, "rules"), *weights = field_text(state, root, "weights");
    if (rules)
        launch->rules = rules;
    if (!launch->weights[0])
        launch->weights[0] = weights;
    if (!launch->has_pairs && json_object_get(root, "pairs")) {
        launch->create.pairs = (uint64_t)field_number(state, root, "pairs", 0, INT64_MAX);
        launch->has_pairs = true;
    }
    if (!launch->has_seed && json_object_get(root, "seed")) {
        spec->seed = (uint64_t)field_number(state, root, "seed", 0, INT64_MAX);
        launch->has_seed = true;
    }
    if (spec->opening_plies == OPENING_PLIES_UNSET)
        spec->opening_plies = json_object_get(root, "opening_plies")
                                  ? (uint32_t)field_number(state, root, "opening_plies", 0, PLAY_OPENING_MAX)
                                  : OPENING_PLIES_USUAL;
    if (!launch->outfits[0].engine)
        launch->outfits[0].engine = field_text(state, root, "engine");
    if (!launch->outfits[0].tables)
        launch->outfits[0].tables = field_text(state, root, "tables");
    take_limits(state, root, &launch->limits[0]);
    take_options(state, root, &launch->outfits[0]);
}

/* The rest is the tune's own: fields that nobody knows are refused where it is read. */
static bool is_experiments(const char *key)
{
    static const char *const keys[] = {"rules",  "weights", "pairs", "seed", "opening_plies",
                                       "engine", "nodes",   "depth", "time", "options",
                                       "tables", "hash",    "clock"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void take_file(struct argp_state *state, struct tune_request *request)
{
    void *bytes = NULL;
    size_t size = 0;
    json_error_t error;
    const char *key;
    json_t *value;
    if (upload_read(request->file, &bytes, &size) != COMMAND_DONE)
        exit(COMMAND_REFUSED);
    request->root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    free(bytes);
    if (!request->root)
        argp_failure(state, COMMAND_REFUSED, 0, "%s, line %d: %s", request->file, error.line, error.text);
    if (!json_is_object(request->root))
        argp_failure(state, COMMAND_REFUSED, 0, "%s: the file of a tune is a JSON object", request->file);
    take_experiment(state, request);
    json_t *own = json_object();
    json_object_foreach(request->root, key, value)
    {
        if (!is_experiments(key))
            json_object_set(own, key, value);
    }
    request->own = json_dumps(own, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(own);
    if (!request->own)
        argp_failure(state, COMMAND_REFUSED, 0, "no memory");
}

/* --- completing the request --- */

/* The file of the weights that are tuned: an artifact, or the starting ones, which need not be there yet. */
static int base_weights(struct store *store, const struct message_spec *spec, void **bytes, size_t *size)
{
    uint8_t sha256[ARTIFACT_HASH];
    struct weights *starting = weights_create_starting(spec->rules);
    enum weights_error error = starting ? weights_serialize(starting, bytes, size) : WEIGHTS_ERROR_MEMORY;
    weights_destroy(starting);
    if (error != WEIGHTS_OK)
        return args_refuse("starting weights: %s", weights_error_text(error));
    artifact_hash(*bytes, *size, sha256);
    if (memcmp(sha256, spec->a.weights, sizeof sha256) == 0)
        return COMMAND_DONE;
    free(*bytes);
    return connect_artifact(store, "weights", spec->a.weights, bytes, size);
}

static void say(const struct tuning *tuning)
{
    fprintf(stderr,
            "%zu parameter%s; %llu batches of %u pairs, each made of what the batches up to %u before "
            "it have given",
            tuning->count, tuning->count == 1 ? "" : "s", (unsigned long long)spsa_batches(&tuning->plan),
            tuning->plan.batch, tuning->plan.lag);
    if (tuning->match_pairs)
        fprintf(stderr, "; then %llu pairs of tuned against start\n",
                (unsigned long long)tuning->match_pairs);
    else
        fprintf(stderr, "\n");
}

static int check(struct tune_request *request, struct store *store)
{
    struct message_create_experiment *create = &request->launch.create;
    struct store_experiment row;
    char reason[TUNING_REASON];
    void *weights = NULL;
    size_t size = 0;
    int status = base_weights(store, &create->spec, &weights, &size);
    if (status != COMMAND_DONE)
        return status;
    wire_store_experiment(create, "", &row);
    struct tuning_ground ground = {.player = &row.a,
                                   .weights = weights,
                                   .weights_size = size,
                                   .rules = create->spec.rules,
                                   .pairs = create->pairs,
                                   .seed = create->spec.seed};
    struct tuning *tuning = tuning_create(request->own, strlen(request->own), &ground, reason);
    free(weights);
    if (!tuning)
        return args_refuse("%s: %s", request->file, reason);
    artifact_hash(request->own, strlen(request->own), create->tune);
    if (!request->launch.common.json)
        say(tuning);
    tuning_destroy(tuning);
    return COMMAND_DONE;
}

static int complete(struct launch *launch, const struct settings *settings)
{
    struct tune_request *request = (struct tune_request *)launch;
    struct store *store = connect_store(settings, "kroo_coordinator");
    if (!store)
        return COMMAND_NO_CONNECTION;
    int status = check(request, store);
    if (status == COMMAND_DONE && !launch->dry_run)
        status = connect_failed(
            store, store_tune_file_put(store, launch->create.tune, request->own, strlen(request->own)));
    store_close(store);
    return status;
}

/* --- the command --- */

static error_t tune_parse(int key, char *text, struct argp_state *state)
{
    struct tune_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->launch;
        state->child_inputs[1] = &request->launch.common;
        return 0;
    case OPTION_WEIGHTS:
        request->launch.weights[0] = text;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->file = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which file? `kroo tune --help` shows one");
        return 0;
    case ARGP_KEY_END:
        take_file(state, request);
        if (!request->launch.has_pairs)
            argp_failure(state, COMMAND_REFUSED, 0, "how many pairs? Give \"pairs\" in %s, or --pairs",
                         request->file);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int tune_submit(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"weights", OPTION_WEIGHTS, "W", 0,
         "Who is tuned: number, hash prefix, name, champion, starting (default: as the file says, else the "
         "champion, else starting)",
         1},
        {0}};
    static const struct argp_child children[] = {
        {&launch_argp, 0, NULL, 50}, {&args_common_argp, 0, NULL, 90}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = tune_parse,
        .args_doc = "SPEC\nshow ID",
        .doc =
            "Tune parameters of the evaluation and of the search by SPSA: batches of pairs, parameters plus "
            "against parameters minus, move them towards what wins. SPEC is a JSON file; options here go "
            "before "
            "what it says. `kroo tune show ID` shows how far it is. At its end the tuned weights are stored "
            "and "
            "meet those it started from.\v"
            "A file:\n"
            "  {\"weights\": \"champion\", \"pairs\": 20000, \"batch\": 16, \"lag\": 2, \"nodes\": 500,\n"
            "   \"parameters\": [\n"
            "     {\"weights\": \"store.*\", \"span\": 400, \"c_end\": 40, \"r_end\": 0.002},\n"
            "     {\"weights\": \"house.*.1.*\", \"together\": true, \"span\": 100, \"c_end\": 10, "
            "\"r_end\": "
            "0.002},\n"
            "     {\"option\": \"CutMargin\", \"min\": 20, \"max\": 120, \"c_end\": 10, \"r_end\": 0.002}]}\n"
            "coordinator/README.md describes every field.",
        .children = children};
    struct tune_request *request = calloc(1, sizeof *request);
    if (!request)
        return args_refuse("out of memory");
    launch_init(&request->launch, MESSAGE_TUNE);
    request->launch.create.spec.opening_plies = OPENING_PLIES_UNSET;
    request->launch.complete = complete;
    parse_line(&argp, argc, argv, request);
    signal(SIGPIPE, SIG_IGN);
    int status = launch_run(&request->launch);
    json_decref(request->root);
    free(request->own);
    free(request);
    return status;
}

int tune_command(int argc, char **argv)
{
    static char name[] = "kroo tune show";
    int at = 1;
    while (at < argc && argv[at][0] == '-')
        at += strcmp(argv[at], "--dir") == 0 || strcmp(argv[at], "--config") == 0 ? 2 : 1;
    if (at >= argc || strcmp(argv[at], "show") != 0)
        return tune_submit(argc, argv);
    for (; at < argc - 1; at++)
        argv[at] = argv[at + 1];
    argv[0] = name;
    return tune_show_command(argc - 1, argv);
}
