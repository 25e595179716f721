/* A set of small numbers with a fast "first at or after": a bitmap under summaries of 64 each, so that a
 * search is at most four steps up and down. Embedded; one thread. */
#ifndef KROO_COORDINATOR_PAIRSET_H
#define KROO_COORDINATOR_PAIRSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIRSET_LEVELS = 4, PAIRSET_CAPACITY_MAX = 1 << 24 };
#define PAIRSET_NONE UINT64_MAX

struct pairset {
    uint64_t *level[PAIRSET_LEVELS]; /* level[0] owned, one block; a bit above says "some bit below" */
    size_t words[PAIRSET_LEVELS];
    unsigned levels;
};

/* The empty set of numbers below `capacity` (1..PAIRSET_CAPACITY_MAX). False without memory. */
bool pairset_init(struct pairset *set, uint64_t capacity);
void pairset_done(struct pairset *set);
void pairset_add(struct pairset *set, uint64_t number);
void pairset_remove(struct pairset *set, uint64_t number);
/* The least member at or above `from`, or PAIRSET_NONE. */
uint64_t pairset_next(const struct pairset *set, uint64_t from);

#endif
