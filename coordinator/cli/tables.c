/* `kroo tables`: endgame tables that players can use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/upload.h"
#include "engine/tables.h"
#include "proto/artifact.h"

/* Maps and checks the file, and tells of it what the database keeps. */
static int look_at(const struct upload *upload, struct store_tables *row)
{
    struct tables *tables = NULL;
    char reason[512];
    enum tables_error error = tables_open(upload->file, NULL, &tables);
    if (error != TABLES_OK)
        return args_refuse("%s: %s", upload->file, tables_error_text(error));
    snprintf(row->name, sizeof row->name, "%s", upload->name);
    snprintf(row->note, sizeof row->note, "%s", upload->note ? upload->note : "");
    snprintf(row->rules, sizeof row->rules, "%s", tables->rules.name);
    snprintf(row->convention, sizeof row->convention, "%s", tables_convention_text(tables->convention));
    row->seeds = (unsigned)tables->seeds;
    tables_close(tables);
    if (artifact_hash_file(upload->file, row->sha256, &row->size, reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    row->travels = row->size <= UPLOAD_BYTES_MAX;
    return COMMAND_DONE;
}

static int tell(const struct upload *upload, const struct store_tables *row, bool existed)
{
    char hex[ARTIFACT_HEX];
    artifact_hex(row->sha256, hex);
    if (upload->common.json)
        return table_json_print(json_pack("{s:s, s:s, s:s, s:i, s:I, s:b, s:b}", "name", row->name, "sha256",
                                          hex, "rules", row->rules, "seeds", (int)row->seeds, "size",
                                          (json_int_t)row->size, "travels", row->travels, "existed",
                                          existed));
    printf("%s %s\n", row->name, hex);
    if (!row->travels)
        args_note("larger than 64 MiB: registered, not stored; give each worker the file itself, "
                  "`kroo-worker --tables FILE`");
    return COMMAND_DONE;
}

/* Stores what travels, after checking that it is still what was looked at. */
static int store_tables_row(const struct upload *upload, const struct store_tables *row)
{
    void *bytes = NULL;
    size_t size = 0;
    uint8_t again[ARTIFACT_HASH];
    bool existed = false;
    int status = row->travels ? upload_read(upload->file, &bytes, &size) : COMMAND_DONE;
    if (status != COMMAND_DONE)
        return status;
    if (bytes)
        artifact_hash(bytes, size, again);
    if (bytes && memcmp(again, row->sha256, sizeof again) != 0) {
        free(bytes);
        return args_refuse("%s has changed just now: try again", upload->file);
    }
    struct store *store = connect_as(&upload->common, "kroo_coordinator", &status);
    if (store) {
        enum store_error error = store_begin(store);
        if (error == STORE_OK)
            error = store_tables_put(store, row, bytes, connect_caller(), &existed);
        if (error == STORE_OK)
            error = store_commit(store);
        status = connect_failed(store, error);
        store_close(store);
    }
    free(bytes);
    return status == COMMAND_DONE ? tell(upload, row, existed) : status;
}

static int tables_add(int argc, char **argv)
{
    static const struct argp argp = {.options = upload_options,
                                     .parser = upload_parse,
                                     .args_doc = "FILE",
                                     .doc = "Add endgame tables (`kroo-engine tables build` makes them). Up "
                                            "to 64 MiB they are stored by their "
                                            "sha256 and fetched by the workers; larger ones are registered, "
                                            "and each worker is given the file: "
                                            "`kroo-worker --tables FILE`.\v"
                                            "Examples:\n  kroo tables add site-12.tables --name site-12\n"
                                            "  kroo match starting starting --tables-a site-12 --pairs 100",
                                     .children = args_common_children};
    struct upload upload = {.wanted = true};
    struct store_tables row = {.note = ""};
    parse_line(&argp, argc, argv, &upload);
    int status = upload_check(&upload);
    if (status == COMMAND_DONE)
        status = look_at(&upload, &row);
    return status == COMMAND_DONE ? store_tables_row(&upload, &row) : status;
}

static int tables_ls(int argc, char **argv)
{
    static const struct argp argp = {.parser = upload_parse,
                                     .doc = "List the endgame tables that players can use.",
                                     .children = args_common_children};
    static const char sql[] =
        "select t.name, left(encode(t.sha256, 'hex'), $1::integer) as sha256, t.rules, t.seeds, t.size,"
        " case when t.artifact_sha256 is null then 'on each worker' else 'fetched' end as comes,"
        " t.added_by, to_char(t.added_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as added, t.note"
        " from kroo.endgame_table t order by t.added_at, t.name";
    struct upload request = {0};
    parse_line(&argp, argc, argv, &request);
    return upload_list(&request.common, sql, "no endgame tables: `kroo tables add FILE --name N`");
}

int tables_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"add", tables_add, "add a file of tables", true},
        {"ls", tables_ls, "list them", true},
        {0},
    };
    return dispatch(commands, "Endgame tables that players can use.", "ls", argc, argv);
}
