/* `kroo run` and `kroo spec`: specifications as files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/launch.h"
#include "coordinator/cli/table.h"
#include "coordinator/record.h"
#include "coordinator/specification_json.h"
#include "engine/rules.h"
#include "engine/search.h"
#include "proto/artifact.h"

enum { OPTION_KEY = 0x3000, OPTION_SEED, OPTION_WAIT, OPTION_DRY_RUN };

struct run {
    struct launch launch;
    struct specification_names names;
    const char *path, *key;
    uint64_t seed;
    bool has_seed;
};

static error_t run_parse(int key, char *text, struct argp_state *state)
{
    struct run *run = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &run->launch.common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        run->path = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which file? - is standard input");
        return 0;
    case OPTION_KEY:
        run->key = text;
        return 0;
    case OPTION_SEED:
        run->seed = args_number(state, "--seed", text, 0, SPECIFICATION_SEED_MAX);
        run->has_seed = true;
        return 0;
    case OPTION_WAIT:
        run->launch.wait = true;
        return 0;
    case OPTION_DRY_RUN:
        run->launch.dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* NULL after saying why. */
static json_t *load_document(const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    char *text = malloc(SPECIFICATION_JSON_BYTES_MAX + 1);
    json_error_t error;
    json_t *document = NULL;
    if (!file || !text) {
        args_refuse(file ? "no memory" : "%s: cannot be opened", path);
    } else {
        size_t size = fread(text, 1, SPECIFICATION_JSON_BYTES_MAX + 1, file);
        if (size > SPECIFICATION_JSON_BYTES_MAX)
            args_refuse("%s: a specification has at most %d bytes", path, SPECIFICATION_JSON_BYTES_MAX);
        else if ((document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error)) == NULL)
            args_refuse("%s: no JSON, line %d: %s", is_input ? "standard input" : path, error.line,
                        error.text);
    }
    free(text);
    if (file && !is_input)
        fclose(file);
    return document;
}

static enum message_experiment_kind kind_of(const json_t *document)
{
    const char *kind = json_string_value(json_object_get(document, "kind"));
    return kind && strcmp(kind, "selfplay") == 0 ? MESSAGE_SELFPLAY : MESSAGE_MATCH;
}

/* The document over the defaults of its kind; the canonical name of its rules. */
static int take_document(struct run *run, const json_t *document)
{
    struct launch *launch = &run->launch, before = *launch;
    struct message_create_experiment *create = &launch->create;
    struct rules rules;
    char reason[SPECIFICATION_REASON_MAX];
    launch_init(launch, kind_of(document));
    launch->common = before.common;
    launch->wait = before.wait;
    launch->dry_run = before.dry_run;
    snprintf(create->spec.rules, sizeof create->spec.rules, "%s", launch->rules);
    create->spec.a.hash_kib = create->spec.b.hash_kib = SEARCH_HASH_KIB;
    if (!specification_json_read(document, create, &run->names, &launch->has_seed, reason))
        return args_refuse("%s", reason);
    if (rules_parse(create->spec.rules, &rules, reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    snprintf(create->spec.rules, sizeof create->spec.rules, "%s", rules.name);
    if (run->key && strlen(run->key) >= sizeof create->idempotency_key)
        return args_refuse("--key: at most %zu letters", sizeof create->idempotency_key - 1);
    if (run->key)
        snprintf(create->idempotency_key, sizeof create->idempotency_key, "%s", run->key);
    if (run->has_seed) {
        create->spec.seed = run->seed;
        launch->has_seed = true;
    }
    return COMMAND_DONE;
}

static int find_player(struct store *store, const struct specification_player_names *names, const char *rules,
                       struct message_player *player)
{
    int status = COMMAND_DONE;
    if (names->weights[0])
        status = launch_find_weights(store, names->weights, rules, player->weights);
    if (status == COMMAND_DONE && names->engine[0])
        status = outfit_find_engine(store, names->engine, player);
    if (status == COMMAND_DONE && names->tables[0])
        status = outfit_find_tables(store, names->tables, player->tables);
    return status;
}

/* What a tune tunes is called as its experiment is: by the key that it was made with, or `tune-ID`. */
static int find_tune(struct store *store, const char *name, uint8_t sha256[MESSAGE_HASH])
{
    static const char sql[] = "select encode(tune_sha256, 'hex') from kroo.experiment where kind = 'tune' "
                              "and tune_sha256 is not null"
                              " and (idempotency_key = $1 or 'tune-' || id = $1) order by (idempotency_key = "
                              "$1) desc nulls last limit 1";
    struct store_table table;
    int status = connect_query(store, sql, &name, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    bool found = table.rows == 1 && artifact_parse_hex(store_cell(&table, 0, 0), sha256) == 0;
    store_table_done(&table);
    return found ? COMMAND_DONE
                 : args_refuse("field \"tune\": no tune was made with the key \"%.60s\"; give that, tune-ID "
                               "(`kroo ls --kind tune`), or a sha256",
                               name);
}

/* Names become hashes. */
static int find_names(struct run *run, struct store *store)
{
    const struct specification_names *names = &run->names;
    struct message_spec *spec = &run->launch.create.spec;
    int status = find_player(store, &names->a, spec->rules, &spec->a);
    if (status == COMMAND_DONE)
        status = find_player(store, &names->b, spec->rules, &spec->b);
    if (status == COMMAND_DONE && names->adjudication[0])
        status = outfit_find_tables(store, names->adjudication, spec->adjudication);
    uint32_t openings;
    if (status == COMMAND_DONE && names->book[0])
        status = terms_find_book(store, names->book, &run->launch.create, &openings);
    if (status == COMMAND_DONE && names->tune[0])
        status = find_tune(store, names->tune, run->launch.create.tune);
    return status;
}

static int prepare(struct run *run, const struct settings *settings)
{
    json_t *document = load_document(run->path);
    int status = document ? take_document(run, document) : COMMAND_REFUSED;
    json_decref(document);
    if (status != COMMAND_DONE)
        return status;
    struct store *store = connect_store(settings, "kroo_reader");
    if (!store)
        return COMMAND_NO_CONNECTION;
    status = find_names(run, store);
    if (status == COMMAND_DONE)
        status = launch_fill_random(&run->launch, store);
    store_close(store);
    return status;
}

int run_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"key", OPTION_KEY, "TEXT", 0, "Idempotency key: sent twice, the experiment is made once", 1},
        {"seed", OPTION_SEED, "S", 0, "In place of the file's seed", 1},
        {"wait", OPTION_WAIT, NULL, 0, "Follow it to its end", 2},
        {"dry-run", OPTION_DRY_RUN, NULL, 0, "Check and forecast only; submit nothing", 2},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = run_parse,
        .args_doc = "FILE",
        .doc =
            "Make the experiment that a file specifies, as `kroo spec` prints one; - is standard input. "
            "Weights, "
            "engines, tables and a book may also be named, and a tune by its key or as tune-ID. Fields that "
            "are left out have their default, but "
            "kroo_specification, kind, pairs and the players' weights; an unknown field is refused. The same "
            "specification and seed make the same games.\v"
            "Examples:\n  kroo run spec.json --wait\n  kroo spec 12 | jq '.pairs = 2000' | kroo run - --seed "
            "5",
        .children = args_common_children};
    struct run run = {0};
    parse_line(&argp, argc, argv, &run);
    int status;
    struct settings *settings = connect_settings(&run.launch.common, &status);
    if (!settings)
        return status;
    status = prepare(&run, settings);
    if (status == COMMAND_DONE)
        status = launch_offer(&run.launch, settings);
    settings_destroy(settings);
    return status;
}

int spec_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = args_experiment_parse,
        .args_doc = "ID",
        .doc = "Print the specification of an experiment as JSON, for `kroo run`: every field, files by "
               "their sha256. The "
               "engine build is among them: a cluster of another build refuses it until that field is taken "
               "out.\v"
               "Example:\n  kroo spec 12 >spec.json\n  kroo spec 12 | kroo run - --wait",
        .children = args_common_children};
    struct args_experiment request = {0};
    struct record record;
    struct message_create_experiment create;
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status = connect_failed(store, record_load(store, request.id, &record));
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    record_specification(&record, &create);
    json_t *document = specification_json_write(&create);
    if (!document || json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0)
        status = args_refuse("the specification cannot be written");
    putchar('\n');
    json_decref(document);
    return status;
}
