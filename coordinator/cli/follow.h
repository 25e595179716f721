/* Following an experiment to its end: a bar on a terminal, lines otherwise; for `--wait` and `kroo watch`. */
#ifndef KROO_COORDINATOR_CLI_FOLLOW_H
#define KROO_COORDINATOR_CLI_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/settings.h"

/* Looks at the database a few times a second until the experiment ends; a database that goes away is waited
 * for up to a minute. Ends with one line on how it ended (`json`: a line of JSON a look that shows something
 * new, the last one with the verdict). COMMAND_DONE when it finished, COMMAND_REFUSED when it was stopped or
 * is blocked. An interrupt leaves the experiment as it is and says so. */
int follow_experiment(const struct settings *settings, uint64_t experiment, bool json);
/* Is there such an experiment? COMMAND_DONE, or said why not. */
int follow_check(const struct settings *settings, uint64_t experiment);
/* How it ended, as follow_experiment tells it; or that it goes on. */
int follow_conclude(const struct settings *settings, uint64_t experiment);

#endif
