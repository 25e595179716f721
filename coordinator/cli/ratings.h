/* The joint ratings of a tournament, for people and as JSON. One thread. */
#ifndef KROO_COORDINATOR_CLI_RATINGS_H
#define KROO_COORDINATOR_CLI_RATINGS_H

#include "coordinator/cli/tournament.h"
#include "coordinator/rating.h"

/* Everything counted so far, rated with the tournament's anchor. `*table` is for rating_destroy. */
int ratings_compute(struct tournament *tournament, double prior, struct rating_table **table);
/* The same printed: lists, gaps, first move, likelihood of superiority. */
int ratings_print(struct tournament *tournament, double prior, bool json);

#endif
