/* Weights by hash: files in an artifact store, verified before use (length and hash by proto/artifact, magic,
 * checksum, ranges and test vectors by weights_parse), and the last few kept loaded. One thread; the weights
 * handed out may be read by any while they are held. */
#ifndef KROO_WORKER_CACHE_H
#define KROO_WORKER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/weights.h"
#include "proto/artifact.h"

enum {
    CACHE_LOADED = 16, /* kept loaded beyond those in use */
    CACHE_FILES = 256, /* kept on disk; the oldest go first */
};

enum cache_error {
    CACHE_OK = 0,
    CACHE_ERROR_ABSENT = -1,  /* not on this disk: fetch it */
    CACHE_ERROR_WEIGHTS = -2, /* the content is what the hash says, but no weights for these rules */
    CACHE_ERROR_FILE = -3,    /* no space, no permission, no memory */
};

struct cache;

/* `directory` exists. NULL when memory is short. */
struct cache *cache_create(const char *directory);
void cache_destroy(struct cache *cache);

/* Weights for a player under `rules`; give them back with cache_release. A corrupt file is set aside and
 * counts as absent. */
enum cache_error cache_hold(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH], const char *rules,
                            const struct weights **weights, char *reason, size_t reason_size);
void cache_release(struct cache *cache, const struct weights *weights);

/* True when the file is there and verified. */
bool cache_has(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH]);
/* Keeps fetched content; the caller has verified that it hashes to `sha256`. */
enum cache_error cache_store(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH], const void *bytes,
                             size_t size, char *reason, size_t reason_size);

#endif
