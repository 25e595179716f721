/* What can be said against an experiment before it exists: asked by the `kroo` command, so that the user
 * hears at once, and by the coordinator, which trusts nobody. Pure; any thread. */
#ifndef KROO_COORDINATOR_SPECIFICATION_H
#define KROO_COORDINATOR_SPECIFICATION_H

#include <stdbool.h>

#include "proto/message.h"

enum {
    SPECIFICATION_REASON_MAX = 320,
    SPECIFICATION_WARNINGS_MAX = 4,
    SPECIFICATION_NODES_MIN = 1,
    SPECIFICATION_TIME_MAX_MS = 3600000,
    SPECIFICATION_HASH_MIN_KIB = 64,
    SPECIFICATION_HASH_MAX_KIB = 1024 * 1024,
    SPECIFICATION_PRIORITY_MAX = 1000,
    SPECIFICATION_CLOCK_MAX_MS = 24 * 3600000,
    SPECIFICATION_RESIGN_MAX = 4800,
    SPECIFICATION_RESIGN_PLIES_MAX = 1000,
    SPECIFICATION_SHARE_MAX = 1000000,
};
/* More pairs than any farm plays; keeps every sum exact. */
#define SPECIFICATION_PAIRS_MAX UINT64_C(1000000000)
/* Seeds travel as bigint and through JSON. */
#define SPECIFICATION_SEED_MAX INT64_MAX

/* True when it can be run; otherwise one sentence in `reason` that says what to do. Whether the weights exist
 * and fit the rules is for the database to say. */
bool specification_check(const struct message_create_experiment *create,
                         char reason[SPECIFICATION_REASON_MAX]);

/* What is allowed and yet may surprise: unequal limits, time limits, too few openings, self-play without
 * exploration. Returns how many sentences were written. */
unsigned specification_warnings(const struct message_create_experiment *create,
                                char warnings[SPECIFICATION_WARNINGS_MAX][SPECIFICATION_REASON_MAX]);

/* True when both play with the same weights, engine, options, tables and limits. */
bool specification_same_player(const struct message_player *a, const struct message_player *b);

/* True when every game is a function of the specification: no side is limited by time. */
bool specification_reproducible(const struct message_spec *spec);

#endif
