#include "coordinator/cli/engine_program.h"

#include <stdio.h>
#include <stdlib.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/sealing.h"
#include "coordinator/cli/upload.h"
#include "proto/build.h"

int engine_program_build(const void *archive, size_t archive_size, const struct engine_set *set, void **bytes,
                         size_t *size)
{
    struct private_file copy;
    char reason[BUILD_REASON_MAX] = "";
    int status = private_file_create(&copy, archive, archive_size);
    if (status != COMMAND_DONE)
        return status;
    args_note("building: %s", set->recipe);
    struct build_request request = {
        .archive = copy.path, .set = set, .scratch = copy.folder, .build_ms = BUILD_MS};
    if (build_program(&request, bytes, size, reason) != 0)
        status = args_refuse("%s", reason);
    private_file_remove(&copy);
    return status;
}

/* A program is handed on only if it may run here. */
static int checked(struct store *store, const uint8_t sha256[STORE_HASH], void **bytes, size_t size)
{
    int status = sealing_check(store, sha256, *bytes, size, false);
    if (status == COMMAND_DONE)
        return status;
    free(*bytes);
    *bytes = NULL;
    return status;
}

static int load_part(struct store *store, const struct engine_set *set, void **bytes, size_t *size)
{
    const struct engine_set_binary *binary = engine_set_find(set, engine_set_arch());
    if (binary) {
        int loaded = connect_artifact(store, "binary", binary->sha256, bytes, size);
        return loaded == COMMAND_DONE ? checked(store, binary->sha256, bytes, *size) : loaded;
    }
    if (!set->has_source)
        return args_refuse("the engine has no binary for this machine (%s) and no sources",
                           engine_set_arch());
    void *archive = NULL;
    size_t archive_size = 0;
    int status = connect_artifact(store, "sources", set->source, &archive, &archive_size);
    if (status == COMMAND_DONE)
        status = sealing_check(store, set->source, archive, archive_size, true);
    if (status == COMMAND_DONE)
        status = engine_program_build(archive, archive_size, set, bytes, size);
    free(archive);
    return status;
}

int engine_program_load(struct store *store, const uint8_t sha256[STORE_HASH], void **bytes, size_t *size)
{
    struct engine_set set;
    char reason[256];
    int status = connect_artifact(store, "engine", sha256, bytes, size);
    if (status == COMMAND_DONE)
        status = checked(store, sha256, bytes, *size);
    if (status != COMMAND_DONE || !engine_set_is(*bytes, *size))
        return status;
    int bad = engine_set_parse(*bytes, *size, &set, reason, sizeof reason);
    free(*bytes);
    *bytes = NULL;
    return bad == 0 ? load_part(store, &set, bytes, size) : args_refuse("the engine's set: %s", reason);
}
