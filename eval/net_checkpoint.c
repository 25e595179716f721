#include "eval/net_checkpoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/crc32c.h"

/* Written and read by the same build on the same kind of machine, which the identity makes sure of. */
static const char magic[16] = "KROO net state 1";

static enum net_error refuse(const char *path, const char *why, char *reason, size_t size)
{
    snprintf(reason, size, "the checkpoint %s %s; remove it, or give another --checkpoint", path, why);
    return NET_ERROR_CHECKPOINT;
}

static enum net_error take(const char *path, FILE *stream, struct net_state *read, struct net_state *state,
                           char *reason, size_t size)
{
    char name[sizeof magic];
    uint32_t sum = 0;
    if (fread(name, sizeof name, 1, stream) != 1 || memcmp(name, magic, sizeof name) != 0)
        return refuse(path, "is none", reason, size);
    if (fread(read, sizeof *read, 1, stream) != 1 || fread(&sum, sizeof sum, 1, stream) != 1 ||
        fgetc(stream) != EOF || crc32c(0, read, sizeof *read) != sum || read->epochs > NET_EPOCHS_MAX)
        return refuse(path, "is damaged", reason, size);
    if (memcmp(read->identity, state->identity, sizeof read->identity) != 0)
        return refuse(path, "belongs to a run with other games, options or builds", reason, size);
    *state = *read;
    return NET_OK;
}

enum net_error net_checkpoint_read(const char *path, struct net_state *state, char *reason, size_t size)
{
    if (!path)
        return NET_OK;
    FILE *stream = fopen(path, "rb");
    if (!stream && errno == ENOENT)
        return NET_OK;
    if (!stream)
        return refuse(path, "cannot be read", reason, size);
    struct net_state *read = aligned_alloc(64, sizeof *read);
    enum net_error error = NET_ERROR_MEMORY;
    if (read)
        error = take(path, stream, read, state, reason, size);
    else
        snprintf(reason, size, "memory is short");
    free(read);
    fclose(stream);
    return error;
}

static bool put(const char *path, const struct net_state *state)
{
    uint32_t sum = crc32c(0, state, sizeof *state);
    FILE *stream = fopen(path, "wb");
    if (!stream)
        return false;
    bool written = fwrite(magic, sizeof magic, 1, stream) == 1 &&
                   fwrite(state, sizeof *state, 1, stream) == 1 && fwrite(&sum, sizeof sum, 1, stream) == 1 &&
                   fflush(stream) == 0 && fsync(fileno(stream)) == 0;
    return fclose(stream) == 0 && written;
}

bool net_checkpoint_write(const char *path, const struct net_state *state, char *reason, size_t size)
{
    char beside[PATH_MAX];
    if ((size_t)snprintf(beside, sizeof beside, "%s.new", path) < sizeof beside && put(beside, state) &&
        rename(beside, path) == 0)
        return true;
    snprintf(reason, size, "the checkpoint %s cannot be written: %s", path, strerror(errno));
    unlink(beside);
    return false;
}
