/* Captures by ply, rolled up by segment of an experiment (migration 021). Counting takes a replay, so the
 * caller counts; this only carries lists in and moves out. All within the caller's transaction. */
#ifndef KROO_SQL_STORE_CAPTURE_H
#define KROO_SQL_STORE_CAPTURE_H

#include "sql/store.h"

/* rollup_segment_pairs() of the schema. */
enum { STORE_SEGMENT_PAIRS = 32768 };

/* Of games of one segment; element n of each list is about ply n + 1. */
struct store_captures {
    uint64_t experiment, segment;
    size_t plies;                       /* elements of each list: plies of the longest game */
    uint32_t *games, *captures, *seeds; /* that have this ply; of them, that capture; what they capture */
};

/* Adds games that were just stored. */
enum store_error store_captures_add(struct store *store, const struct store_captures *captures);
/* The segment is to be counted anew: its games are not what they were. */
enum store_error store_captures_forget(struct store *store, uint64_t experiment, uint64_t segment);

/* The next segment that is to be counted anew, locked until the transaction ends; *found false: none is. */
struct store_captures_due {
    uint64_t experiment, segment;
    char rules[STORE_RULES];
};
enum store_error store_captures_due(struct store *store, struct store_captures_due *due, bool *found);
/* The moves of every game of that segment. A callback's non-zero return ends it: STORE_ERROR_MEMORY. */
typedef int store_capture_moves(void *context, const char *moves, size_t plies);
enum store_error store_captures_read(struct store *store, const struct store_captures_due *due,
                                     store_capture_moves *take, void *context);
/* Sets its counts; it is due no longer. */
enum store_error store_captures_put(struct store *store, const struct store_captures *captures);

#endif
