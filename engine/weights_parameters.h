/* Every parameter of weights by number and by name, for whoever changes them one by one (`kroo tune`). A name
 * has its parts between dots; phases are 0 (36 seeds and more on the board) to 3 (fewer than 12):
 *
 *     table     bias.PHASE, store.PHASE, house.HOUSE.COUNT.PHASE with HOUSE A..F of the mover and a..f, COUNT
 * 0..12 features  TRAIT.PHASE, the traits as traits.h names them net       house.HOUSE.COUNT.UNIT with COUNT
 * 0..15, store.DIFFERENCE.UNIT with DIFFERENCE -25..25, bias.UNIT, output.UNIT with UNIT 0..31, output_bias
 *
 * Numbers are part of stored tunes and never change their meaning. Pure; any thread. */
#ifndef KROO_ENGINE_WEIGHTS_PARAMETERS_H
#define KROO_ENGINE_WEIGHTS_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/weights.h"

enum { WEIGHTS_PARAMETER_NAME = 40, WEIGHTS_PARAMETERS_MAX = WEIGHTS_NET_PARAMETERS };

size_t weights_parameter_count(const struct weights *weights);
void weights_parameter_name(const struct weights *weights, size_t number, char name[WEIGHTS_PARAMETER_NAME]);
int32_t weights_parameter_get(const struct weights *weights, size_t number);
/* The same weights with other parameters, `values` of all of them in their order. RANGE when one leaves its
 * type or the sums do. The caller owns the result. */
enum weights_error weights_create_changed(const struct weights *weights, const int32_t *values,
                                          const char *provenance, struct weights **out);
/* Does a name fit a pattern, in which `*` stands for any part of a name, dots included? */
bool weights_parameter_matches(const char *pattern, const char *name);

#endif
