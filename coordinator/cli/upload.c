#include "coordinator/cli/upload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "proto/artifact.h"
#include "proto/text.h"

enum { OPTION_NAME = 0x3000, OPTION_NOTE };

const struct argp_option upload_options[] = {
    {"name", OPTION_NAME, "N", 0, "What it is called here: 1 to 63 of A-Z a-z 0-9 . _ -", 1},
    {"note", OPTION_NOTE, "TEXT", 0, "A note for people", 1},
    {0}};

error_t upload_parse(int key, char *text, struct argp_state *state)
{
    struct upload *upload = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &upload->common;
        return 0;
    case OPTION_NAME:
        upload->name = text;
        return 0;
    case OPTION_NOTE:
        upload->note = text;
        return 0;
    case ARGP_KEY_ARG:
        if (!upload->wanted || state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        upload->file = text;
        return 0;
    case ARGP_KEY_END:
        if (upload->wanted && (!upload->file || !upload->name))
            argp_error(state, "it needs a file and what to call it: add FILE --name N");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int upload_check(const struct upload *upload)
{
    if (!text_is_name(upload->name))
        return args_refuse("\"%.80s\" is no name: 1 to 63 of A-Z a-z 0-9 . _ - and no dot in front",
                           upload->name);
    if (strcmp(upload->name, "built-in") == 0)
        return args_refuse("the name built-in is the engine's own inside every worker: give another");
    if (upload->note && strlen(upload->note) >= STORE_TEXT)
        return args_refuse("--note takes at most %d bytes", STORE_TEXT - 1);
    if (upload->note && !text_is_utf8(upload->note, strlen(upload->note), false))
        return args_refuse("--note is one line of UTF-8 text");
    return COMMAND_DONE;
}

int upload_read(const char *path, void **bytes, size_t *size)
{
    struct stat status;
    *bytes = NULL;
    FILE *file = fopen(path, "rbe");
    if (!file || fstat(fileno(file), &status) != 0) {
        int refused = args_refuse("%s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return refused;
    }
    const char *why = NULL;
    if (!S_ISREG(status.st_mode))
        why = "not a regular file";
    else if (status.st_size == 0)
        why = "it is empty";
    else if (status.st_size > UPLOAD_BYTES_MAX)
        why = "it is larger than 64 MiB, the most that travels";
    else if ((*bytes = malloc((size_t)status.st_size)) == NULL)
        why = "no memory for it";
    else if ((*size = fread(*bytes, 1, (size_t)status.st_size, file)) != (size_t)status.st_size)
        why = "it cannot be read whole";
    fclose(file);
    if (!why)
        return COMMAND_DONE;
    free(*bytes);
    *bytes = NULL;
    return args_refuse("%s: %s", path, why);
}

int upload_list(const struct args_common *common, const char *sql, const char *empty)
{
    const char *parameters[] = {common->json ? "64" : "12"};
    int status;
    struct store *store = connect_reader(common, &status);
    if (!store)
        return status;
    status = connect_print(store, common->json, sql, parameters, 1, empty);
    store_close(store);
    return status;
}

/* --- a private copy --- */

int private_file_create(struct private_file *copy, const void *bytes, size_t size)
{
    const char *root = getenv("TMPDIR");
    char hex[ARTIFACT_HEX], reason[512];
    uint8_t sha256[ARTIFACT_HASH];
    root = root && root[0] == '/' ? root : "/tmp";
    copy->path[0] = '\0';
    int length = snprintf(copy->folder, sizeof copy->folder, "%s/kroo-XXXXXX", root);
    if (length < 0 || (size_t)length >= sizeof copy->folder || !mkdtemp(copy->folder)) {
        copy->folder[0] = '\0';
        return args_refuse("no private folder can be made in %.200s: %s", root, strerror(errno));
    }
    int status = COMMAND_DONE;
    if (artifact_write(copy->folder, bytes, size, sha256, reason, sizeof reason) != ARTIFACT_OK) {
        status = args_refuse("%s", reason);
    } else {
        artifact_hex(sha256, hex);
        snprintf(copy->path, sizeof copy->path, "%s/%s", copy->folder, hex);
        if (chmod(copy->path, 0555) != 0)
            status = args_refuse("%.400s: %s", copy->path, strerror(errno));
    }
    if (status != COMMAND_DONE)
        private_file_remove(copy);
    return status;
}

void private_file_remove(struct private_file *copy)
{
    if (copy->path[0])
        unlink(copy->path);
    if (copy->folder[0])
        rmdir(copy->folder);
    copy->path[0] = copy->folder[0] = '\0';
}
