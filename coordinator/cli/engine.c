/* `kroo engine`: programs that can play besides the engine inside every worker. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/upload.h"
#include "proto/artifact.h"
#include "proto/dialect.h"
#include "proto/signature.h"

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
static void take_signature(const struct upload *upload, const char *path, struct store_engine *engine)
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
        args_warn("%s has no signature, so workers cannot test it: fixed positions at %d nodes: %s",
                  upload->file, SIGNATURE_NODES, reason);
    else if (strcmp(signatures[0], signatures[1]) != 0)
        args_warn(
            "%s has no signature, so workers cannot test it: asked the same positions twice at %d nodes, "
            "it answers otherwise",
            upload->file, SIGNATURE_NODES);
    else
        snprintf(engine->signature, sizeof engine->signature, "%s", signatures[0]);
}

/* Runs a private copy once and asks it who it is. */
static int ask_engine(const struct upload *upload, const void *bytes, size_t size,
                      struct store_engine *engine)
{
    struct private_file copy;
    char reason[DIALECT_REASON_MAX];
    int status = private_file_create(&copy, bytes, size);
    if (status != COMMAND_DONE)
        return status;
    struct dialect *dialect = dialect_open(copy.path, NULL, MOVE_MS, NULL, reason, sizeof reason);
    if (!dialect)
        status = args_refuse("%s is no engine: %s", upload->file, reason);
    else
        status = try_move(dialect, upload->file);
    if (status == COMMAND_DONE) {
        snprintf(engine->program, sizeof engine->program, "%s", dialect_name(dialect));
        snprintf(engine->options, sizeof engine->options, "%s", dialect_options(dialect));
    }
    dialect_close(dialect);
    if (status == COMMAND_DONE)
        take_signature(upload, copy.path, engine);
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
    fprintf(stderr, "%s%s; play with it by `kroo match A B --engine-a %s`\n", engine->program,
            existed ? ", there already" : "", engine->name);
    return COMMAND_DONE;
}

static int store_engine(const struct upload *upload, const struct store_engine *engine, const void *bytes,
                        size_t size)
{
    int status;
    bool existed = false;
    struct store *store = connect_as(&upload->common, "kroo_coordinator", &status);
    if (!store)
        return status;
    enum store_error error = store_begin(store);
    if (error == STORE_OK)
        error = store_engine_put(store, engine, bytes, size, connect_caller(), &existed);
    if (error == STORE_OK)
        error = store_commit(store);
    status = connect_failed(store, error);
    store_close(store);
    return status == COMMAND_DONE ? tell(upload, engine, existed) : status;
}

static int engine_add(int argc, char **argv)
{
    static const struct argp argp = {
        .options = upload_options,
        .parser = upload_parse,
        .args_doc = "FILE",
        .doc =
            "Add a program that can play: another build of kroo-engine, or any that speaks its dialect. FILE "
            "is an executable of at most 64 MiB that needs no other files of its own; it is run once, "
            "stored by its sha256 and run by the workers, each of which fetches it.\v"
            "Examples:\n  kroo engine add build/kroo-engine --name today\n"
            "  kroo engine add old/kroo-engine --name release-1 --note 'as shipped'\n"
            "  kroo match starting starting --engine-a today --engine-b release-1 --pairs 100",
        .children = args_common_children};
    struct upload upload = {.wanted = true};
    struct store_engine engine = {.note = ""};
    void *bytes = NULL;
    size_t size = 0;
    argp_parse(&argp, argc, argv, 0, NULL, &upload);
    signal(SIGPIPE, SIG_IGN);
    int status = upload_check(&upload);
    if (status == COMMAND_DONE)
        status = upload_read(upload.file, &bytes, &size);
    if (status == COMMAND_DONE && access(upload.file, X_OK) != 0)
        status = args_refuse("%s is not executable: chmod +x it if it is a program", upload.file);
    if (status == COMMAND_DONE) {
        artifact_hash(bytes, size, engine.sha256);
        snprintf(engine.name, sizeof engine.name, "%s", upload.name);
        snprintf(engine.note, sizeof engine.note, "%s", upload.note ? upload.note : "");
        status = ask_engine(&upload, bytes, size, &engine);
    }
    if (status == COMMAND_DONE)
        status = store_engine(&upload, &engine, bytes, size);
    free(bytes);
    return status;
}

static int engine_ls(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = upload_parse,
        .doc = "List the engines that were added. The engine inside every worker is called built-in.",
        .children = args_common_children};
    static const char sql[] =
        "select e.name, left(encode(e.sha256, 'hex'), $1::integer) as sha256, e.program, e.signature, "
        "p.reproducible, p.agreed_pairs, a.size,"
        " (select count(distinct x.id) from kroo.player p join kroo.experiment x on p.id in (x.player_a, "
        "x.player_b)"
        "  where p.engine_sha256 = e.sha256) as experiments, e.added_by,"
        " to_char(e.added_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as added, e.note"
        " from kroo.engine e join kroo.artifact a on a.sha256 = e.sha256 join kroo.engine_proof p on "
        "p.sha256 = "
        "e.sha256 order by e.added_at, e.name";
    struct upload request = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &request);
    return upload_list(&request.common, sql,
                       "no engines but the built-in one: `kroo engine add FILE --name N`");
}

int engine_command(int argc, char **argv)
{
    static const struct args_command commands[] = {
        {"add", engine_add, "add a program that can play", true},
        {"ls", engine_ls, "list them", true},
        {0},
    };
    return args_dispatch(commands, "Engines: other programs that workers run as players.", argc, argv);
}
