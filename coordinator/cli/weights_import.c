/* `kroo weights import`: weights made elsewhere, as JSON or as a weights file, checked and stored. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "proto/artifact.h"
#include "proto/weights_json.h"

enum { OPTION_NAME = 0x3100, OPTION_RULES };

struct import_request {
    struct args_common common;
    const char *path, *name, *rules;
    bool dry_run;
};

static error_t import_parse_option(int key, char *text, struct argp_state *state)
{
    struct import_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_NAME:
        if (!*text || strlen(text) >= STORE_NAME)
            argp_error(state, "--name: 1 to %d bytes", STORE_NAME - 1);
        request->name = text;
        return 0;
    case OPTION_RULES:
        request->rules = text;
        return 0;
    case 'n':
        request->dry_run = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->path = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which file?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The weights and the file made of them, which is the same for the same weights wherever it is made. */
struct imported {
    struct weights *weights;
    void *bytes;
    size_t size;
    uint8_t sha256[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX];
};

static void imported_done(struct imported *imported)
{
    weights_destroy(imported->weights);
    free(imported->bytes);
}

/* The whole file, at most WEIGHTS_JSON_MAX bytes. The caller frees *text. */
static int read_whole(const char *path, char **text, size_t *size)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!stream)
        return args_refuse("%s: %s", path, strerror(errno));
    *text = malloc(WEIGHTS_JSON_MAX + 1);
    *size = *text ? fread(*text, 1, WEIGHTS_JSON_MAX + 1, stream) : 0;
    bool failed = ferror(stream) != 0;
    if (stream != stdin)
        fclose(stream);
    if (!*text)
        return args_refuse("out of memory");
    if (failed)
        return args_refuse("%s: cannot be read", path);
    if (*size > WEIGHTS_JSON_MAX)
        return args_refuse("%s: larger than %d bytes, so no weights", path, WEIGHTS_JSON_MAX);
    return COMMAND_DONE;
}

/* An export that was changed on its way no longer makes the file that it names. */
static int check_named(const char *path, const char *text, size_t size, const struct imported *imported)
{
    char named[ARTIFACT_HEX];
    if (!weights_json_sha256(text, size, named) || strcmp(named, imported->hex) == 0)
        return COMMAND_DONE;
    return args_refuse("%s: sha256: the weights in it make a file named %.12s..., not %.12s...; they were "
                       "changed (take sha256 and vectors out to import them as new ones)",
                       path, imported->hex, named);
}

static int parse_text(const struct import_request *request, const char *text, size_t size,
                      struct imported *imported)
{
    char reason[WEIGHTS_JSON_REASON];
    bool is_file = size >= 5 && memcmp(text, "KROOW", 5) == 0;
    enum weights_error error = WEIGHTS_OK;
    if (is_file)
        error = weights_parse(text, size, request->rules, &imported->weights);
    else
        imported->weights = weights_json_parse(text, size, request->rules, reason);
    if (error != WEIGHTS_OK)
        return args_refuse("%s: %s", request->path, weights_error_text(error));
    if (!imported->weights)
        return args_refuse("%s: %s", request->path, reason);
    error = weights_serialize(imported->weights, &imported->bytes, &imported->size);
    if (error != WEIGHTS_OK)
        return args_refuse("%s: %s", request->path, weights_error_text(error));
    artifact_hash(imported->bytes, imported->size, imported->sha256);
    artifact_hex(imported->sha256, imported->hex);
    return is_file ? COMMAND_DONE : check_named(request->path, text, size, imported);
}

static int read_weights(const struct import_request *request, struct imported *imported)
{
    char *text = NULL;
    size_t size = 0;
    int status = read_whole(request->path, &text, &size);
    if (status == COMMAND_DONE)
        status = parse_text(request, text, size, imported);
    free(text);
    return status;
}

/* Only the trainer's role may add weights: an import does what a fit does at its end. */
static int put(const struct import_request *request, const struct imported *imported,
               struct store_weights *stored, uint64_t *number)
{
    int status;
    struct store_weights row = {.has_parent = false};
    struct store *store = connect_as(&request->common, "kroo_trainer", &status);
    if (!store)
        return status;
    memcpy(row.sha256, imported->sha256, sizeof row.sha256);
    snprintf(row.rules, sizeof row.rules, "%s", imported->weights->rules);
    snprintf(row.kind, sizeof row.kind, "%s", weights_kind_name(imported->weights->kind));
    snprintf(row.name, sizeof row.name, "%s", request->name ? request->name : "");
    enum store_error error = store_weights_put(store, &row, imported->bytes, imported->size);
    if (error == STORE_OK)
        error = store_weights_find(store, imported->hex, stored, number);
    status = connect_failed(store, error);
    store_close(store);
    return status;
}

static int tell(const struct import_request *request, const struct imported *imported, const char *name,
                uint64_t number)
{
    const char *kind = weights_kind_name(imported->weights->kind);
    if (request->common.json)
        return table_json_print(json_pack("{s:o, s:s, s:s, s:s, s:s, s:I}", "number",
                                          number ? json_integer((json_int_t)number) : json_null(), "name",
                                          name, "sha256", imported->hex, "kind", kind, "rules",
                                          imported->weights->rules, "size", (json_int_t)imported->size));
    if (number)
        printf("%llu\n", (unsigned long long)number);
    args_note("%s for %s, %zu bytes, sha256 %s%s%s%s", kind, imported->weights->rules, imported->size,
              imported->hex, *name ? ", named " : "", name, number ? "" : ": sound, and not stored");
    return COMMAND_DONE;
}

int weights_import_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"name", OPTION_NAME, "NAME", 0, "Name to know them by", 1},
        {"rules", OPTION_RULES, "RULES", 0, "Refuse weights made for other rules than these", 1},
        {"dry-run", 'n', NULL, 0, "Check the file and say what it holds; store nothing", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = import_parse_option,
        .args_doc = "FILE",
        .doc =
            "Bring in weights made elsewhere: a JSON as `kroo weights export --format json` writes it, or a "
            "weights file; `-` reads standard input. Shapes, ranges, rules, the sha256 and the test "
            "positions where given are "
            "checked, and a fault is told with its field. They get a number, and no training run.\v"
            "Examples:\n  kroo weights import mine.json --name mine\n  kroo weights import mine.json "
            "--dry-run",
        .children = args_common_children};
    struct import_request request = {0};
    struct imported imported = {0};
    struct store_weights stored = {.has_parent = false};
    uint64_t number = 0;
    parse_line(&argp, argc, argv, &request);
    int status = read_weights(&request, &imported);
    if (status == COMMAND_DONE && !request.dry_run)
        status = put(&request, &imported, &stored, &number);
    if (status == COMMAND_DONE)
        status =
            tell(&request, &imported, request.dry_run && request.name ? request.name : stored.name, number);
    imported_done(&imported);
    return status;
}
