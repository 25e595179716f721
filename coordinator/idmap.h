/* A hash table from 64-bit numbers to slots of an array: open addressing, at most half full, deletion by
 * shifting back. Embedded; one thread. */
#ifndef KROO_COORDINATOR_IDMAP_H
#define KROO_COORDINATOR_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IDMAP_NONE = 0xffffffff };

struct idmap_entry {
    uint64_t id;
    uint32_t slot; /* IDMAP_NONE: empty */
};

struct idmap {
    struct idmap_entry *entries; /* owned */
    size_t capacity;             /* 0 or a power of two */
    size_t count;
};

void idmap_init(struct idmap *map);
void idmap_done(struct idmap *map);
/* Room for one more idmap_put. False without memory, and then without effect. */
bool idmap_reserve(struct idmap *map);
/* After idmap_reserve; `id` must not be there. Cannot fail. */
void idmap_put(struct idmap *map, uint64_t id, uint32_t slot);
/* The slot, or IDMAP_NONE. */
uint32_t idmap_get(const struct idmap *map, uint64_t id);
void idmap_remove(struct idmap *map, uint64_t id);

#endif
