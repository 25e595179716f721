/* What games capture at each ply, by experiment and segment: counted by replaying them, whose legality the
 * referee has proved, and written to the roll-up of migration 021 in the transaction that stores them. The
 * list is pure; one thread. */
#ifndef KROO_COORDINATOR_CAPTURES_H
#define KROO_COORDINATOR_CAPTURES_H

#include "engine/rules.h"
#include "sql/store_capture.h"

struct captures {
    struct store_captures *segments;
    size_t count;
};

/* Adds a game. 0, or -1 without memory. */
int captures_count(struct captures *captures, uint64_t experiment, uint64_t segment,
                   const struct rules *rules, const char *moves, size_t plies);
void captures_done(struct captures *captures);

/* Within the caller's transaction: counts anew every segment that is due. */
enum store_error captures_settle(struct store *store);

/* The same, each segment in a transaction of its own; how many there were. */
enum store_error captures_catch_up(struct store *store, uint64_t *segments);

#endif
