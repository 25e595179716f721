/* What a fit leaves behind in JSON: the provenance inside the weights file, and the columns of its
 * training_run row. The provenance holds nothing that differs from one repetition to the next (no clock, no
 * run number, no thread count), so that a repeated fit makes the same file. Pure; texts are malloc'ed, NULL
 * when memory is short. */
#ifndef KROO_EVAL_PROVENANCE_H
#define KROO_EVAL_PROVENANCE_H

#include <jansson.h>

struct train;

/* One JSON object for weights_create_table. */
char *provenance_text(const struct train *train);
/* [{"experiment","first_pair","pair_count"}, ...] */
char *provenance_manifest(const struct train *train);
/* Filters and every option that the row has no column for. */
char *provenance_options(const struct train *train);
/* By phase: calibration and, but for a net, the losses step by step. Of a net a last entry with its epochs.
 */
char *provenance_curve(const struct train *train);
json_t *provenance_curve_json(const struct train *train);
/* NULL also where nothing was held against tables. */
char *provenance_perfect(const struct train *train);

#endif
