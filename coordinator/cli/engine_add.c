/* `kroo engine add`: one program, one for each of some architectures, or sources and the recipe that makes
 * one. */
#include "coordinator/cli/engine_add.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/engine_program.h"
#include "coordinator/cli/sealing.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/upload.h"
#include "proto/artifact.h"
#include "proto/dialect.h"
#include "proto/signature.h"

enum { OPTION_SOURCE = 0x3100, OPTION_RECIPE, OPTION_BINARY, OPTION_SIGN };

/* What is stored besides the engine itself. */
struct part {
    const char *kind; /* engine, source */
    uint8_t sha256[STORE_HASH];
    void *bytes;
    size_t size;
};

struct addition {
    struct upload upload; /* --name and --note */
    const char *files[ENGINE_SET_BINARIES_MAX];
    size_t file_count;
    const char *source, *recipe, *binary, *sign;
    struct seal_key key;
    bool has_key;
    struct part parts[ENGINE_SET_BINARIES_MAX + 1];
    size_t part_count;
    struct engine_set set;
    struct store_engine engine;
};

/* --- is it an engine? --- */

enum { MOVE_MS = 10000 };

/* A greeting, a game and a move: enough to know that it speaks the dialect. */
static int try_move(struct dialect *dialect, const char *file)
{
    const struct dialect_limits limits = {.depth = 1};
    struct dialect_answer answer = {.move = '\0'};
    char reason[DIALECT_REASON_MAX] = "";
    enum dialect_error error = dialect_new_game(dialect, reason, sizeof reason);
    if (error == DIALECT_OK)
        error = dialect_ready(dialect, reason, sizeof reason);
    if (error == DIALECT_OK)
        error = dialect_think(dialect, "", &limits, &answer, reason, sizeof reason);
    if (error != DIALECT_OK)
        return args_refuse("%s is no engine: %s", file, reason);
    if (answer.move < 'A' || answer.move > 'F')
        return args_refuse("%s is no engine for oware: its first move is not one of A to F", file);
    return COMMAND_DONE;
}

/* Asks it fixed positions, twice and afresh: what repeats itself is recorded, and each worker asks again
 * before it plays. */
static void take_signature(const char *file, const char *path, struct store_engine *engine)
{
    char signatures[2][SIGNATURE_TEXT] = {"", ""}, reason[DIALECT_REASON_MAX] = "";
    enum dialect_error error = DIALECT_OK;
    for (int time = 0; time < 2 && error == DIALECT_OK; time++) {
        struct dialect *dialect = dialect_open(path, NULL, MOVE_MS, NULL, reason, sizeof reason);
        error = dialect ? signature_ask(dialect, signatures[time], NULL, reason, sizeof reason)
                        : DIALECT_ERROR_START;
        dialect_close(dialect);
    }
    if (error != DIALECT_OK)
        args_warn("%s has no signature, so workers cannot test it: fixed positions at %d nodes: %s", file,
                  SIGNATURE_NODES, reason);
    else if (strcmp(signatures[0], signatures[1]) != 0)
        args_warn(
            "%s has no signature, so workers cannot test it: asked the same positions twice at %d nodes, "
            "it answers otherwise",
            file, SIGNATURE_NODES);
    else
        snprintf(engine->signature, sizeof engine->signature, "%s", signatures[0]);
}

/* Runs a private copy once and asks it who it is. */
static int ask_engine(const char *file, const void *bytes, size_t size, struct store_engine *engine)
{
    struct private_file copy;
    char reason[DIALECT_REASON_MAX];
    int status = private_file_create(&copy, bytes, size);
    if (status != COMMAND_DONE)
        return status;
    struct dialect *dialect = dialect_open(copy.path, NULL, MOVE_MS, NULL, reason, sizeof reason);
    if (!dialect)
        status = args_refuse("%s is no engine: %s", file, reason);
    else
        status = try_move(dialect, file);
    if (status == COMMAND_DONE) {
        snprintf(engine->program, sizeof engine->program, "%s", dialect_name(dialect));
        snprintf(engine->options, sizeof engine->options, "%s", dialect_options(dialect));
    }
    dialect_close(dialect);
    if (status == COMMAND_DONE)
        take_signature(file, copy.path, engine);
    private_file_remove(&copy);
    return status;
}

static int tell(const struct upload *upload, const struct store_engine *engine, bool existed)
{
    char hex[ARTIFACT_HEX];
    artifact_hex(engine->sha256, hex);
    if (upload->common.json)
        return table_json_print(json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", engine->name, "sha256", hex,
                                          "program", engine->program, "signature", engine->signature,
                                          "existed", existed));
    const char *why;
    enum confine_level level = confine_level(&why);
    printf("%s %s\n", engine->name, hex);
    if (level == CONFINE_LIMITS)
        args_warn("it was tried with %s, without a root and a network of its own: %s",
                  confine_level_text(level), why);
    args_note("%s%s; play with it by `kroo match A B --engine-a %s`", engine->program,
              existed ? ", there already" : "", engine->name);
    return COMMAND_DONE;
}

/* --- a set --- */

static int read_program(const char *file, void **bytes, size_t *size)
{
    int status = upload_read(file, bytes, size);
    if (status != COMMAND_DONE || access(file, X_OK) == 0)
        return status;
    free(*bytes);
    *bytes = NULL;
    return args_refuse("%s is not executable: chmod +x it if it is a program", file);
}

static struct part *add_part(struct addition *addition, const char *kind, void *bytes, size_t size)
{
    struct part *part = &addition->parts[addition->part_count++];
    *part = (struct part){.kind = kind, .bytes = bytes, .size = size};
    artifact_hash(bytes, size, part->sha256);
    return part;
}

/* Reads a binary; one for this machine is asked, and must answer as another of the set does. */
static int take_binary(struct addition *addition, const char *file)
{
    struct engine_set *set = &addition->set;
    struct engine_set_binary *binary = &set->binaries[set->count];
    void *bytes;
    size_t size;
    int status = read_program(file, &bytes, &size);
    if (status != COMMAND_DONE)
        return status;
    memcpy(binary->sha256, add_part(addition, "engine", bytes, size)->sha256, STORE_HASH);
    if (!engine_set_arch_of(bytes, size, binary->arch))
        return args_refuse("%s is no ELF executable of a known architecture: a script is added alone", file);
    if (engine_set_find(set, binary->arch))
        return args_refuse("%s is a second binary for %s", file, binary->arch);
    set->count++;
    if (strcmp(binary->arch, engine_set_arch()) == 0)
        return ask_engine(file, bytes, size, &addition->engine);
    args_warn("%s is for %s: it was not tried on this machine (%s)", file, binary->arch, engine_set_arch());
    return COMMAND_DONE;
}

static int compare_signatures(const struct store_engine *binary, const struct store_engine *built)
{
    if (!binary->program[0] || strcmp(binary->signature, built->signature) == 0)
        return COMMAND_DONE;
    return args_refuse("the binary and what the sources make answer otherwise: signatures %s and %s",
                       *binary->signature ? binary->signature : "(none)",
                       *built->signature ? built->signature : "(none)");
}

/* Reads the sources, builds them here, and asks what comes of them. */
static int take_source(struct addition *addition)
{
    struct engine_set *set = &addition->set;
    struct store_engine built = {.note = ""};
    void *archive, *bytes = NULL;
    size_t archive_size, size;
    int status = upload_read(addition->source, &archive, &archive_size);
    if (status != COMMAND_DONE)
        return status;
    memcpy(set->source, add_part(addition, "source", archive, archive_size)->sha256, STORE_HASH);
    set->has_source = true;
    if (strlen(addition->recipe) >= sizeof set->recipe || strlen(addition->binary) >= sizeof set->product)
        return args_refuse("--recipe takes at most %d bytes, --binary %d", ENGINE_SET_RECIPE_MAX - 1,
                           ENGINE_SET_PRODUCT_MAX - 1);
    snprintf(set->recipe, sizeof set->recipe, "%s", addition->recipe);
    snprintf(set->product, sizeof set->product, "%s", addition->binary);
    const char *fault = engine_set_fault(set);
    if (fault)
        return args_refuse("%s", fault);
    status = engine_program_build(archive, archive_size, set, &bytes, &size);
    if (status == COMMAND_DONE)
        status = ask_engine(addition->binary, bytes, size, &built);
    free(bytes);
    if (status == COMMAND_DONE)
        status = compare_signatures(&addition->engine, &built);
    if (status == COMMAND_DONE)
        addition->engine = built;
    return status;
}

static void name_architectures(struct addition *addition)
{
    char *text = addition->engine.architectures;
    size_t room = sizeof addition->engine.architectures, at = 0;
    for (size_t i = 0; i < addition->set.count; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%s", at ? " " : "", addition->set.binaries[i].arch);
    if (addition->set.has_source)
        snprintf(text + at, room - at, "%ssource", at ? " " : "");
}

/* The set's own text becomes the engine. */
static int make_set(struct addition *addition, void **bytes, size_t *size)
{
    int status = COMMAND_DONE;
    for (size_t i = 0; i < addition->file_count && status == COMMAND_DONE; i++)
        status = take_binary(addition, addition->files[i]);
    if (status == COMMAND_DONE && addition->source)
        status = take_source(addition);
    if (status != COMMAND_DONE)
        return status;
    if (!addition->engine.program[0])
        return args_refuse("none of them runs on this machine (%s): add the engine where one of them does",
                           engine_set_arch());
    name_architectures(addition);
    *bytes = malloc(ENGINE_SET_TEXT_MAX);
    if (!*bytes)
        return args_refuse("out of memory");
    *size = engine_set_format(&addition->set, *bytes);
    return COMMAND_DONE;
}

/* One program for whatever machine runs it. */
static int make_single(struct addition *addition, void **bytes, size_t *size)
{
    int status = read_program(addition->files[0], bytes, size);
    if (status == COMMAND_DONE && engine_set_is(*bytes, *size))
        status = args_refuse("%s is the text of a set: give its programs instead", addition->files[0]);
    return status == COMMAND_DONE ? ask_engine(addition->files[0], *bytes, *size, &addition->engine) : status;
}

/* --- storing --- */

static enum store_error sign_all(struct store *store, const struct addition *addition, const void *bytes,
                                 size_t size)
{
    const struct store_engine *engine = &addition->engine;
    enum store_error error =
        sealing_put(store, &addition->key, engine->name, engine->sha256, bytes, size, false);
    for (size_t i = 0; i < addition->part_count && error == STORE_OK; i++) {
        const struct part *part = &addition->parts[i];
        error = sealing_put(store, &addition->key, engine->name, part->sha256, part->bytes, part->size,
                            strcmp(part->kind, "source") == 0);
    }
    return error;
}

static int store_engine(struct addition *addition, const void *bytes, size_t size)
{
    int status;
    bool existed = false;
    struct store *store = connect_as(&addition->upload.common, "kroo_coordinator", &status);
    if (!store)
        return status;
    enum store_error error = store_begin(store);
    for (size_t i = 0; i < addition->part_count && error == STORE_OK; i++) {
        const struct part *part = &addition->parts[i];
        error = store_artifact_put(store, part->kind, part->sha256, part->bytes, part->size);
    }
    if (error == STORE_OK)
        error = store_engine_put(store, &addition->engine, bytes, size, connect_caller(), &existed);
    if (error == STORE_OK && addition->has_key)
        error = sign_all(store, addition, bytes, size);
    if (error == STORE_OK)
        error = store_commit(store);
    status = connect_failed(store, error);
    store_close(store);
    return status == COMMAND_DONE ? tell(&addition->upload, &addition->engine, existed) : status;
}

/* --- the command --- */

static error_t add_parse(int key, char *text, struct argp_state *state)
{
    struct addition *addition = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &addition->upload;
        return 0;
    case OPTION_SOURCE:
        addition->source = text;
        return 0;
    case OPTION_RECIPE:
        addition->recipe = text;
        return 0;
    case OPTION_BINARY:
        addition->binary = text;
        return 0;
    case OPTION_SIGN:
        addition->sign = text;
        return 0;
    case ARGP_KEY_ARG:
        if (addition->file_count == ENGINE_SET_BINARIES_MAX)
            argp_error(state, "at most %d files", ENGINE_SET_BINARIES_MAX);
        addition->files[addition->file_count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (!addition->upload.name || (addition->file_count == 0 && !addition->source))
            argp_error(state, "it needs a file and what to call it: add FILE --name N");
        if (!addition->source != !addition->recipe || !addition->source != !addition->binary)
            argp_error(state, "--source, --recipe and --binary belong together");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int engine_add_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"source", OPTION_SOURCE, "ARCHIVE", 0, "A tar archive that workers build the engine from", 2},
        {"recipe", OPTION_RECIPE, "COMMAND", 0, "How, without network and in at most 15 minutes", 2},
        {"binary", OPTION_BINARY, "PATH", 0, "What the recipe makes, inside the sources", 2},
        {"sign", OPTION_SIGN, "KEYFILE", 0,
         "Sign it and its parts with this secret key (default: the setting `sign`, if there is one)", 2},
        {0}};
    static const struct argp common = {
        .options = upload_options, .parser = upload_parse, .children = args_common_children};
    static const struct argp_child children[] = {{&common, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = add_parse,
        .args_doc = "[FILE...]",
        .doc =
            "Add a program that can play: another build of kroo-engine, or any that speaks its dialect. FILE "
            "is an executable of at most 64 MiB that needs no other files of its own; it is run here, asked "
            "fixed positions, stored by its sha256 and fetched by the workers, each of which asks the same "
            "positions before it plays with it. Several FILEs are one engine for several architectures: each "
            "worker takes its own. With --source, workers that have no binary build one, and what they built "
            "must answer as what was built here.\v"
            "Examples:\n  kroo engine add build/kroo-engine --name today\n"
            "  kroo engine add old/kroo-engine --name release-1 --note 'as shipped'\n"
            "  kroo engine add x86_64/kroo-engine aarch64/kroo-engine --name both\n"
            "  git archive --prefix=kroo/ -o old.tar release-1\n"
            "  kroo engine add --source old.tar --recipe 'make build/kroo-engine' --binary build/kroo-engine "
            "--name release-1\n"
            "  kroo match starting starting --engine-a today --engine-b release-1 --pairs 100",
        .children = children};
    struct addition addition = {.upload = {.wanted = false}};
    void *bytes = NULL;
    size_t size = 0;
    parse_line(&argp, argc, argv, &addition);
    signal(SIGPIPE, SIG_IGN);
    int status = upload_check(&addition.upload);
    if (status == COMMAND_DONE)
        status = sealing_key(&addition.upload.common, addition.sign, &addition.key, &addition.has_key);
    if (status == COMMAND_DONE)
        status = addition.file_count == 1 && !addition.source ? make_single(&addition, &bytes, &size)
                                                              : make_set(&addition, &bytes, &size);
    if (status == COMMAND_DONE) {
        const char *note = addition.upload.note;
        artifact_hash(bytes, size, addition.engine.sha256);
        snprintf(addition.engine.name, sizeof addition.engine.name, "%s", addition.upload.name);
        snprintf(addition.engine.note, sizeof addition.engine.note, "%s", note ? note : "");
        status = store_engine(&addition, bytes, size);
    }
    free(bytes);
    seal_key_wipe(&addition.key);
    for (size_t i = 0; i < addition.part_count; i++)
        free(addition.parts[i].bytes);
    return status;
}
