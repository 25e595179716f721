/* `kroo workers set-aside|restore|flags`. One thread. */
#ifndef KROO_COORDINATOR_CLI_SET_ASIDE_H
#define KROO_COORDINATOR_CLI_SET_ASIDE_H

#include <stdbool.h>

/* False when the words are not one of these; otherwise done, with the exit status. May move argv. */
bool set_aside_command(int argc, char **argv, int *status);

#endif
