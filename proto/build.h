/* A program made from a source archive by a recipe, confined: without network, in a folder of its own, within
 * a deadline, with a log. One thread a build; SIGPIPE must be ignored. */
#ifndef KROO_PROTO_BUILD_H
#define KROO_PROTO_BUILD_H

#include "proto/engine_set.h"
#include "proto/program.h"

enum {
    BUILD_MS = 15 * 60 * 1000,   /* the most it may take */
    BUILD_LOG_MAX = 1024 * 1024, /* bytes of its log; the rest is left out */
    BUILD_REASON_MAX = 512,
    BUILD_FILES_MAX = 100000, /* files and folders it may make */
};

#define BUILD_DISK_MAX  (UINT64_C(2) << 30)  /* bytes of disk they may take */
#define BUILD_DISK_LEFT (UINT64_C(64) << 20) /* and it must leave on that disk */

struct build_request {
    const char *archive;          /* absolute; a tar archive, compressed or not */
    const struct engine_set *set; /* recipe and product */
    const char *scratch;          /* absolute: the folder in which it makes its own, and removes it */
    const char *log;              /* absolute: what it said is written there; NULL: nowhere */
    int build_ms;                 /* BUILD_MS, or less */
    uint64_t disk_max;            /* BUILD_DISK_MAX, or less; 0: that */
    uint32_t files_max;           /* BUILD_FILES_MAX, or less; 0: that */
    atomic_bool *stop;            /* may be NULL */
    atomic_uint *steps;           /* grows each second and each line; may be NULL */
};

/* The recipe runs in the archive's only folder, or where it has several things at its top. The program's
 * bytes are malloc'ed. 0, or -1 with the reason, the build's last words included. */
int build_program(const struct build_request *request, void **bytes, size_t *size,
                  char reason[BUILD_REASON_MAX]);

#endif
