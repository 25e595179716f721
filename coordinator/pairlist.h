/* A set of pair numbers, kept in order: those of an experiment that are played again. Embedded; one thread.
 */
#ifndef KROO_COORDINATOR_PAIRLIST_H
#define KROO_COORDINATOR_PAIRLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pairlist {
    uint64_t *pairs; /* owned, ascending */
    size_t count, room;
};

void pairlist_done(struct pairlist *list);
/* Adding what is there is no error. False without memory, and then without effect. */
bool pairlist_add(struct pairlist *list, uint64_t pair);
/* True when it was there. */
bool pairlist_remove(struct pairlist *list, uint64_t pair);
bool pairlist_has(const struct pairlist *list, uint64_t pair);
/* How many are below `end`. */
size_t pairlist_below(const struct pairlist *list, uint64_t end);
/* Copies into an empty list. False without memory. */
bool pairlist_copy(struct pairlist *copy, const struct pairlist *list);

#endif
