/* What a player's engine consists of on this machine: the file itself, or of a set the binary for this
 * architecture, else the sources to build it from. The main thread's. */
#ifndef KROO_WORKER_PARTS_H
#define KROO_WORKER_PARTS_H

#include "proto/engine_set.h"
#include "worker/files.h"

struct parts {
    bool is_known;                 /* the rest was read */
    bool is_set;                   /* otherwise the file itself runs */
    bool from_source;              /* `sha256` is a source archive */
    uint8_t sha256[ARTIFACT_HASH]; /* of the part that is needed here */
    struct engine_set set;
};

/* Reads an engine's file. 0, or -1 with the reason: no set, or nothing in it for this machine. */
int parts_read(const struct held_file *engine, struct parts *out, char *reason, size_t reason_size);

#endif
