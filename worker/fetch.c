#include "worker/fetch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void fetch_init(struct fetch *fetch, size_t bytes_max)
{
    memset(fetch, 0, sizeof *fetch);
    fetch->bytes_max = bytes_max;
}

void fetch_done(struct fetch *fetch)
{
    if (fetch->under_way)
        artifact_download_done(&fetch->download);
    fetch->under_way = false;
    fetch->count = 0;
}

int fetch_want(struct fetch *fetch, const uint8_t sha256[ARTIFACT_HASH], bool soon)
{
    for (size_t i = 0; i < fetch->count; i++)
        if (memcmp(fetch->wanted[i], sha256, ARTIFACT_HASH) == 0)
            return 0;
    if (fetch->count == FETCH_WANTED_MAX)
        return -1;
    size_t at = soon ? (fetch->under_way ? 1 : 0) : fetch->count;
    memmove(fetch->wanted[at + 1], fetch->wanted[at], (fetch->count - at) * ARTIFACT_HASH);
    memcpy(fetch->wanted[at], sha256, ARTIFACT_HASH);
    fetch->count++;
    return 0;
}

bool fetch_request(struct fetch *fetch, struct message_artifact_request *request)
{
    if (fetch->count == 0)
        return false;
    if (!fetch->under_way) {
        artifact_download_init(&fetch->download, fetch->wanted[0]);
        fetch->under_way = true;
    }
    *request =
        (struct message_artifact_request){.offset = fetch->download.offset, .length = MESSAGE_CHUNK_MAX};
    memcpy(request->sha256, fetch->wanted[0], ARTIFACT_HASH);
    return true;
}

enum fetch_outcome fetch_chunk(struct fetch *fetch, const struct message_artifact_chunk *chunk, char *reason,
                               size_t reason_size)
{
    if (!fetch->under_way || memcmp(chunk->sha256, fetch->wanted[0], ARTIFACT_HASH) != 0)
        return FETCH_MORE; /* the answer to an earlier wish */
    if (chunk->size == 0 || chunk->size > fetch->bytes_max) {
        snprintf(reason, reason_size, "it has %" PRIu64 " bytes, %zu are allowed", chunk->size,
                 fetch->bytes_max);
        return FETCH_FAILED;
    }
    uint64_t before = fetch->download.offset;
    int took = artifact_download_chunk(&fetch->download, chunk->offset, chunk->size, chunk->content,
                                       chunk->content_size);
    if (took < 0) {
        snprintf(reason, reason_size, "%s",
                 took == ARTIFACT_ERROR_CORRUPT ? "its bytes do not hash to its name"
                                                : "its chunks do not fit");
        return FETCH_FAILED;
    }
    if (took == 0 && fetch->download.offset == before && chunk->offset == before) {
        snprintf(reason, reason_size, "an empty chunk at byte %" PRIu64, before);
        return FETCH_FAILED;
    }
    return took == 1 ? FETCH_COMPLETE : FETCH_MORE;
}

void fetch_end(struct fetch *fetch)
{
    if (!fetch->under_way)
        return;
    artifact_download_done(&fetch->download);
    fetch->under_way = false;
    fetch->count--;
    memmove(fetch->wanted[0], fetch->wanted[1], fetch->count * ARTIFACT_HASH);
}
