/* Who is there at this moment, as the coordinator sees it; the database learns later that a worker is gone.
 * One thread. */
#ifndef KROO_COORDINATOR_CLI_LIVE_H
#define KROO_COORDINATOR_CLI_LIVE_H

#include <stdint.h>

#include "proto/settings.h"

/* Games that the workers which are heard of play at once; those set aside are left out. 0 when no coordinator
 * answers, after saying so. */
uint64_t live_slots(const struct settings *settings);

#endif
