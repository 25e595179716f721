/* The part of `kroo verify` that is about captures by ply: what the replayed games capture must be what is
 * rolled up. One thread. */
#ifndef KROO_COORDINATOR_VERIFY_CAPTURES_H
#define KROO_COORDINATOR_VERIFY_CAPTURES_H

#include "coordinator/captures.h"

/* Calls `differ` with a sentence for each segment that differs. `counted` holds this experiment alone. */
enum store_error verify_captures(struct store *store, uint64_t experiment, const struct captures *counted,
                                 void (*differ)(void *context, const char *text), void *context);

#endif
