/* Which artifacts to fetch next, one at a time in chunks (DESIGN section 6). Says what to ask and takes what
 * comes; the asking is the conversation's. One thread. */
#ifndef KROO_WORKER_FETCH_H
#define KROO_WORKER_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/artifact.h"
#include "proto/message.h"

enum { FETCH_WANTED_MAX = 64 };

struct fetch {
    uint8_t wanted[FETCH_WANTED_MAX][ARTIFACT_HASH]; /* [0] is under way */
    size_t count;
    size_t bytes_max; /* a larger artifact is refused at its first chunk */
    bool under_way;
    struct artifact_download download;
};

enum fetch_outcome {
    FETCH_MORE = 0,     /* go on asking */
    FETCH_COMPLETE = 1, /* fetch->download.bytes holds it, verified; end with fetch_end */
    FETCH_FAILED = -1,  /* it will not come; the reason says why; end with fetch_end */
};

void fetch_init(struct fetch *fetch, size_t bytes_max);
void fetch_done(struct fetch *fetch);

/* Adds a hash unless it is on the list; `soon` puts it before those that are not under way. Returns -1 when
 * the list is full. */
int fetch_want(struct fetch *fetch, const uint8_t sha256[ARTIFACT_HASH], bool soon);
/* The next request; false when nothing is wanted. */
bool fetch_request(struct fetch *fetch, struct message_artifact_request *request);
enum fetch_outcome fetch_chunk(struct fetch *fetch, const struct message_artifact_chunk *chunk, char *reason,
                               size_t reason_size);
/* Strikes the one under way from the list. */
void fetch_end(struct fetch *fetch);

#endif
