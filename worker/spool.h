/* Results on disk until the coordinator has committed them (DESIGN section 5): a first-in, first-out list of
 * pairs in append-only segment files. A record holds both games of a pair, so half a pair cannot exist.
 *
 *   segment  `KROOSPL1`, then records; named by a number that only grows, %016x.spool
 *   record   magic `KRPR`, u32 length, u32 CRC-32C of length and payload, payload (little-endian)
 *   payload  u32 size of leg 0, leg 0, leg 1, each as message_game_encode writes it
 *
 * What is read stays until spool_acknowledge; a segment is deleted when all of it is acknowledged. Reading
 * again what was acknowledged in a segment that still stands is harmless: the coordinator knows duplicates.
 * Memory: 8 bytes a pair. One thread. */
#ifndef KROO_WORKER_SPOOL_H
#define KROO_WORKER_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "proto/message.h"

enum { SPOOL_SEGMENT_BYTES = 4 * 1024 * 1024, SPOOL_SEGMENT_MAX = 64 * 1024 * 1024 };

enum spool_error {
    SPOOL_OK = 0,
    SPOOL_ERROR_FILE = -1, /* no space, no permission, ...: nothing was written; try again later */
    SPOOL_ERROR_FULL = -2, /* bytes_max reached */
    SPOOL_ERROR_GAME = -3, /* not a pair, or a game that cannot be encoded */
    SPOOL_ERROR_MEMORY = -4,
};

/* What opening found. */
struct spool_report {
    size_t segments, pairs;
    uint64_t torn_bytes;    /* cut off behind the last whole record of a segment */
    uint64_t damaged_bytes; /* between whole records: a disk fault */
};

struct spool;

/* Opens `directory`, which exists. Torn tails are cut off, damaged records passed over; `report` tells. A new
 * record never goes into a file of an earlier process. `bytes_max` is raised to two segments if smaller. */
struct spool *spool_create(const char *directory, uint64_t bytes_max, uint32_t segment_bytes,
                           struct spool_report *report, char *reason, size_t reason_size);
/* Syncs and closes; what is not acknowledged stays on disk. */
void spool_destroy(struct spool *spool);

/* Appends legs 0 and 1 of one pair. A failure has had no effect. */
enum spool_error spool_append(struct spool *spool, const struct message_game *leg0,
                              const struct message_game *leg1, char *reason, size_t reason_size);
/* Makes every record durable; cheap when nothing is new. */
enum spool_error spool_sync(struct spool *spool, char *reason, size_t reason_size);

uint64_t spool_pairs(const struct spool *spool); /* not acknowledged */
uint64_t spool_bytes(const struct spool *spool); /* on disk */
uint64_t spool_lost(const struct spool *spool);  /* records found damaged while reading, since opening */

struct spool_batch {
    struct message_game *games; /* pair by pair, legs 0 and 1 */
    size_t pairs;
    size_t bytes; /* sum of message_game_bytes */
};

/* Reads the oldest pairs, at most `pairs_max`, whose message_game_bytes stay within `bytes_max` (one pair is
 * always taken), and leaves them in place. An empty batch: nothing to read. */
enum spool_error spool_read(struct spool *spool, size_t pairs_max, size_t bytes_max,
                            struct spool_batch *batch, char *reason, size_t reason_size);
void spool_batch_done(struct spool_batch *batch);
/* The oldest `pairs` are done with. */
void spool_acknowledge(struct spool *spool, size_t pairs);

#endif
