#include "eval/inspect_command.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval/command.h"
#include "eval/contrast.h"
#include "proto/artifact.h"
#include "proto/weights_json.h"
#include "proto/weights_text.h"

static const char *const phase_names[WEIGHTS_PHASES] = {"36 and more", "24 to 35", "12 to 23", "under 12"};

struct look {
    const char *names[2];
    int wanted, given; /* weights */
    const char *output, *format, *database, *config;
    bool json;
    struct archive archive;
    struct train_parent found[2];
};

enum { KEY_JSON = 256, KEY_DATABASE, KEY_CONFIG, KEY_FORMAT };

static error_t take_option(int key, char *text, struct argp_state *state)
{
    struct look *look = state->input;
    switch (key) {
    case 'o':
        look->output = text;
        return 0;
    case KEY_FORMAT:
        look->format = text;
        if (strcmp(text, "bin") != 0 && strcmp(text, "json") != 0 && strcmp(text, "c") != 0 &&
            strcmp(text, "md") != 0)
            argp_error(state, "--format: `%s` is none of `bin`, `json`, `c`, `md`", text);
        return 0;
    case KEY_JSON:
        look->json = true;
        return 0;
    case KEY_DATABASE:
        look->database = text;
        return 0;
    case KEY_CONFIG:
        look->config = text;
        return 0;
    case ARGP_KEY_ARG:
        if (look->given == look->wanted)
            argp_error(state, "no more than %d weights", look->wanted);
        look->names[look->given++] = text;
        return 0;
    case ARGP_KEY_END:
        if (look->given < look->wanted)
            argp_error(state,
                       "which weights? a number, hash, name, `champion`, `starting`, or a path with a slash");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool needs_database(const struct look *look)
{
    for (int i = 0; i < look->given; i++)
        if (!strchr(look->names[i], '/') && strcmp(look->names[i], "starting") != 0)
            return true;
    return false;
}

static enum archive_status find(struct look *look)
{
    enum archive_status status = ARCHIVE_OK;
    if (needs_database(look))
        status = command_connect(&look->archive, look->config, look->database);
    for (int i = 0; i < look->given && status == ARCHIVE_OK; i++) {
        const char *rules = i > 0 ? look->found[0].weights->rules : NULL;
        status = archive_find_weights(&look->archive, look->names[i], rules, &look->found[i]);
        struct train_parent *found = &look->found[i];
        void *bytes;
        size_t size;
        if (status != ARCHIVE_OK || weights_serialize(found->weights, &bytes, &size) != WEIGHTS_OK)
            continue;
        artifact_hash(bytes, size, found->sha256);
        free(bytes);
    }
    return status;
}

/* Parses, looks up, shows, cleans up. */
static int run(int argc, char **argv, const struct argp *argp, int wanted, int (*show)(struct look *look))
{
    struct look *look = calloc(1, sizeof *look);
    if (!look) {
        fprintf(stderr, "kroo-train: memory is short\n");
        return COMMAND_REFUSED;
    }
    look->wanted = wanted;
    look->format = "bin";
    argp_err_exit_status = COMMAND_USAGE;
    argp_parse(argp, argc, argv, 0, NULL, look);
    enum archive_status status = find(look);
    int code = status == ARCHIVE_OK ? show(look) : command_refuse(status, look->json, look->archive.reason);
    for (int i = 0; i < 2; i++)
        weights_destroy(look->found[i].weights);
    archive_close(&look->archive);
    free(look);
    return code;
}

#define CONNECTION_OPTIONS                                                                                   \
    {"json", KEY_JSON, NULL, 0, "One JSON object", 0},                                                       \
        {"database", KEY_DATABASE, "CONNINFO", 0, "Database, as libpq takes it", 0},                         \
        {"config", KEY_CONFIG, "FILE", 0, "Settings file (KROO_CONFIG, else var/kroo.conf)", 0},             \
    {                                                                                                        \
        0                                                                                                    \
    }

static const char after_all[] =
    "\vWEIGHTS is a number, hash, name, `champion`, `starting`, or a path with a slash in it, for which no "
    "database is needed.\n\nExit status: 0 done, 1 refused, 2 wrong usage, 3 no connection.\n";

/* --- inspect --- */

static double start_score(const struct weights *weights)
{
    struct position start = position_start();
    return weights_evaluate(weights, &start);
}

static void print_provenance(const struct weights *weights)
{
    json_t *object = json_loads(weights->provenance, 0, NULL);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        printf("  %-18s %s\n", key, text ? text : "");
        free(text);
    }
    json_decref(object);
}

static int show_weights(struct look *look)
{
    const struct weights *weights = look->found[0].weights;
    char hash[ARTIFACT_HEX];
    artifact_hex(look->found[0].sha256, hash);
    if (look->json) {
        json_t *object = weights_json(weights);
        json_object_set_new(object, "sha256", json_string(hash));
        json_object_set_new(object, "start_score", json_real(start_score(weights)));
        command_print_json(object);
        return command_end("");
    }
    printf("kind         %s\nrules        %s\nsha256       %s\n", weights_kind_name(weights->kind),
           weights->rules, hash);
    printf("scale        %d hundredths of a seed in a log odd%s, shift %d\n", weights->per_logit,
           weights->per_logit > 0 ? "" : " (not known)", weights->shift);
    printf("start        %.0f hundredths for the side to move\nprovenance\n", start_score(weights));
    print_provenance(weights);
    printf("\n");
    fflush(stdout);
    weights_text_md(weights, stdout);
    return command_end("");
}

int inspect_command(int argc, char **argv)
{
    static const struct argp_option options[] = {CONNECTION_OPTIONS};
    static char documentation[512];
    snprintf(documentation, sizeof documentation,
             "What weights are made of: provenance and every parameter.%s", after_all);
    const struct argp argp = {options, take_option, "WEIGHTS", documentation, NULL, NULL, NULL};
    return run(argc, argv, &argp, 1, show_weights);
}

/* --- diff --- */

static json_t *contrast_json(const struct contrast *contrast)
{
    json_t *list = json_array();
    for (int i = 0; i < WEIGHTS_PHASES; i++) {
        const struct contrast_phase *phase = &contrast->phases[i];
        json_array_append_new(list, json_pack("{s:i, s:f, s:f, s:f, s:f}", "positions", (int)phase->positions,
                                              "mean", phase->mean, "largest", phase->largest, "correlation",
                                              phase->correlation, "signs", phase->signs));
    }
    return list;
}

/* Keys of the provenance whose values differ: [key, of a, of b]. */
static json_t *provenance_difference(const struct weights *a, const struct weights *b)
{
    json_t *one = json_loads(a->provenance, 0, NULL), *other = json_loads(b->provenance, 0, NULL);
    json_t *list = json_array(), *all = json_copy(one);
    const char *key;
    json_t *value;
    json_object_update_missing(all, other);
    json_object_foreach(all, key, value)
    {
        json_t *x = json_object_get(one, key), *y = json_object_get(other, key);
        if (!x || !y || !json_equal(x, y))
            json_array_append_new(list,
                                  json_pack("[s, O, O]", key, x ? x : json_null(), y ? y : json_null()));
    }
    json_decref(one);
    json_decref(other);
    json_decref(all);
    return list;
}

static void print_difference(const json_t *provenance, const struct contrast *contrast)
{
    size_t index;
    json_t *entry;
    json_array_foreach(provenance, index, entry)
    {
        char *x = json_dumps(json_array_get(entry, 1), JSON_ENCODE_ANY | JSON_COMPACT);
        char *y = json_dumps(json_array_get(entry, 2), JSON_ENCODE_ANY | JSON_COMPACT);
        printf("  %-18s %s\n  %-18s %s\n", json_string_value(json_array_get(entry, 0)), x ? x : "", "",
               y ? y : "");
        free(x);
        free(y);
    }
    printf("what they say of positions of random games, in %s\n",
           contrast->log_odds ? "log odds" : "hundredths of a seed");
    for (int i = 0; i < WEIGHTS_PHASES; i++) {
        const struct contrast_phase *phase = &contrast->phases[i];
        printf("  %-12s seeds: %6u positions, apart by %.3f (at most %.3f), correlation %.3f, same side "
               "ahead in "
               "%.1f %%\n",
               phase_names[i], phase->positions, phase->mean, phase->largest, phase->correlation,
               100.0 * phase->signs);
    }
}

static int show_difference(struct look *look)
{
    const struct weights *a = look->found[0].weights, *b = look->found[1].weights;
    struct contrast contrast;
    char hashes[2][ARTIFACT_HEX];
    if (strcmp(a->rules, b->rules) != 0)
        return command_refuse(ARCHIVE_REFUSED, look->json, "the weights were made for different rules");
    if (!contrast_run(a, b, &contrast))
        return command_refuse(ARCHIVE_FAILED, look->json, "memory is short");
    json_t *provenance = provenance_difference(a, b);
    for (int i = 0; i < 2; i++)
        artifact_hex(look->found[i].sha256, hashes[i]);
    if (look->json) {
        command_print_json(json_pack("{s:[s,s], s:[s,s], s:b, s:o, s:b, s:o}", "sha256", hashes[0], hashes[1],
                                     "kinds", weights_kind_name(a->kind), weights_kind_name(b->kind), "same",
                                     strcmp(hashes[0], hashes[1]) == 0, "provenance", provenance, "log_odds",
                                     contrast.log_odds, "phases", contrast_json(&contrast)));
        return command_end("");
    }
    printf("a            %s %s\nb            %s %s\n", weights_kind_name(a->kind), hashes[0],
           weights_kind_name(b->kind), hashes[1]);
    if (strcmp(hashes[0], hashes[1]) == 0)
        printf("the same file\n");
    print_difference(provenance, &contrast);
    json_decref(provenance);
    return command_end("");
}

int diff_command(int argc, char **argv)
{
    static const struct argp_option options[] = {CONNECTION_OPTIONS};
    static char documentation[512];
    snprintf(documentation, sizeof documentation,
             "How two weights of any kinds differ: in their provenance, and in what they say of positions.%s",
             after_all);
    const struct argp argp = {options, take_option, "WEIGHTS WEIGHTS", documentation, NULL, NULL, NULL};
    return run(argc, argv, &argp, 2, show_difference);
}

/* --- export --- */

static bool write_format(const struct look *look, FILE *stream)
{
    const struct weights *weights = look->found[0].weights;
    char hash[ARTIFACT_HEX];
    artifact_hex(look->found[0].sha256, hash);
    if (strcmp(look->format, "md") == 0)
        return fprintf(stream, "# Weights %s\n\n", hash) > 0 && weights_text_md(weights, stream) == 0;
    if (strcmp(look->format, "c") == 0)
        return weights_text_c(&(struct weights_text){weights, look->names[0], hash, "not told here"},
                              stream) == 0;
    if (strcmp(look->format, "json") == 0) {
        json_t *object = weights_json(weights);
        bool written = object && json_object_set_new(object, "sha256", json_string(hash)) == 0 &&
                       json_dumpf(object, stream, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 &&
                       fputc('\n', stream) != EOF;
        json_decref(object);
        return written;
    }
    void *bytes;
    size_t size;
    if (weights_serialize(weights, &bytes, &size) != WEIGHTS_OK)
        return false;
    bool written = fwrite(bytes, 1, size, stream) == size;
    free(bytes);
    return written;
}

static int write_weights(struct look *look)
{
    if (!look->output)
        return write_format(look, stdout)
                   ? command_end("")
                   : command_refuse(ARCHIVE_FAILED, look->json, "the weights cannot be written");
    char reason[512];
    FILE *stream = fopen(look->output, "wb");
    bool written = stream && write_format(look, stream);
    if (stream && fclose(stream) != 0)
        written = false;
    if (written)
        return COMMAND_DONE;
    snprintf(reason, sizeof reason, "%.300s cannot be written: %s", look->output, strerror(errno));
    if (stream)
        unlink(look->output); /* a cut file must not be taken for weights */
    return command_refuse(ARCHIVE_FAILED, look->json, reason);
}

int export_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FILE", 0, "Write here (standard output)", 0},
        {"format", KEY_FORMAT, "F", 0, "`bin`, `json`, `c` or `md` (bin)", 0},
        CONNECTION_OPTIONS};
    static char documentation[512];
    snprintf(
        documentation, sizeof documentation,
        "Writes weights in a format of eval/README.md; `kroo weights export` adds lineage and matches.%s",
        after_all);
    const struct argp argp = {options, take_option, "WEIGHTS", documentation, NULL, NULL, NULL};
    return run(argc, argv, &argp, 1, write_weights);
}
