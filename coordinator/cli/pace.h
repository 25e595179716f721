/* How fast this cluster would play an experiment, from what its workers have measured under comparable
 * limits. One thread. */
#ifndef KROO_COORDINATOR_CLI_PACE_H
#define KROO_COORDINATOR_CLI_PACE_H

#include "proto/message.h"
#include "sql/store.h"

/* Pairs a minute on so many slots (live_slots): the time of the last games of the same programs under limits
 * of the same kind (nodes or time a move, or a clock, within a factor of four, scaled to these; depth: the
 * same). 0: nothing comparable was played, no worker is there, or the database cannot be asked. */
double pace_pairs_per_minute(struct store *store, const struct message_spec *spec, uint64_t slots);
/* `3 min`, `2.5 h`, `4 days`; "an unknown time" for a pace of 0. */
void pace_text(double pairs, double pairs_per_minute, char *text, size_t size);

#endif
