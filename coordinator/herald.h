/* Hears of changes of the allow-list at once, on a connection and in a thread of its own, and tells the
 * database when the event loop goes by them: `kroo key` waits for that. Without it (no connection) the
 * writer's reading every second or two stands in. Made, asked and ended by the event loop's thread. */
#ifndef KROO_COORDINATOR_HERALD_H
#define KROO_COORDINATOR_HERALD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sql/store.h"

struct herald;

/* `wake` is rung when a list is there. NULL when the thread cannot be had. */
struct herald *herald_create(const char *conninfo, int wake);
void herald_destroy(struct herald *herald); /* takes NULL */
/* The newest list that was not taken; *peers is the caller's. */
bool herald_take(struct herald *herald, struct store_peer **peers, size_t *count, uint64_t *version);
/* From now on every message is judged by that version. */
void herald_in_force(struct herald *herald, uint64_t version);

#endif
