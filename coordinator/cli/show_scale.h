/* Part of `kroo show`: what the limits of time of an experiment come to on fast and slow machines. */
#ifndef KROO_COORDINATOR_CLI_SHOW_SCALE_H
#define KROO_COORDINATOR_CLI_SHOW_SCALE_H

#include <jansson.h>

#include "sql/store.h"

/* By what they were multiplied on its workers, the latest first; empty where there is none. Exit status. */
int show_scale_read(struct store *store, const struct store_experiment *experiment, struct store_table *out);
void show_scale_print(const struct store_experiment *experiment, const struct store_table *workers);
/* Into the document of the experiment. */
void show_scale_json(json_t *object, const struct store_experiment *experiment,
                     const struct store_table *workers);

#endif
