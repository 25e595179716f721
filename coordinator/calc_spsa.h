/* The calculator's `spsa`: the gains, the two players and the step of one batch; README.md has its fields.
 * Pure; any thread. */
#ifndef KROO_COORDINATOR_CALC_SPSA_H
#define KROO_COORDINATOR_CALC_SPSA_H

#include <jansson.h>
#include <stddef.h>

/* Fills `answer`, or `error` with a complaint. */
void calc_spsa(const json_t *request, json_t *answer, char *error, size_t error_size);

#endif
