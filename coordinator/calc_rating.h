/* The calculator's `rating`: names and counts in, ratings out; README.md has its fields. Pure; any thread. */
#ifndef KROO_COORDINATOR_CALC_RATING_H
#define KROO_COORDINATOR_CALC_RATING_H

#include <jansson.h>
#include <stddef.h>

#include "coordinator/rating.h"

/* Fills `answer`, or `error` with a complaint. */
void calc_rating(const json_t *request, json_t *answer, char *error, size_t error_size);

/* The fields of an answer for a table whose players have these names. */
void calc_rating_put(json_t *answer, const struct rating_table *table, const char *const *names);

#endif
