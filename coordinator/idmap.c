#include "coordinator/idmap.h"

#include <stdlib.h>

#include "engine/mix.h"

enum { CAPACITY_FIRST = 16 };

void idmap_init(struct idmap *map)
{
    *map = (struct idmap){0};
}

void idmap_done(struct idmap *map)
{
    free(map->entries);
    idmap_init(map);
}

static size_t home(const struct idmap *map, uint64_t id)
{
    return (size_t)mix_finish(id + 1) & (map->capacity - 1);
}

/* Where `id` is, or the empty place where it would go. */
static size_t place(const struct idmap *map, uint64_t id)
{
    size_t at = home(map, id);
    while (map->entries[at].slot != IDMAP_NONE && map->entries[at].id != id)
        at = (at + 1) & (map->capacity - 1);
    return at;
}

bool idmap_reserve(struct idmap *map)
{
    if (2 * (map->count + 1) <= map->capacity)
        return true;
    struct idmap grown = {.capacity = map->capacity ? 2 * map->capacity : CAPACITY_FIRST,
                          .count = map->count};
    grown.entries = malloc(grown.capacity * sizeof *grown.entries);
    if (!grown.entries)
        return false;
    for (size_t i = 0; i < grown.capacity; i++)
        grown.entries[i].slot = IDMAP_NONE;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].slot != IDMAP_NONE)
            grown.entries[place(&grown, map->entries[i].id)] = map->entries[i];
    free(map->entries);
    *map = grown;
    return true;
}

void idmap_put(struct idmap *map, uint64_t id, uint32_t slot)
{
    map->entries[place(map, id)] = (struct idmap_entry){id, slot};
    map->count++;
}

uint32_t idmap_get(const struct idmap *map, uint64_t id)
{
    return map->capacity ? map->entries[place(map, id)].slot : (uint32_t)IDMAP_NONE;
}

void idmap_remove(struct idmap *map, uint64_t id)
{
    if (idmap_get(map, id) == IDMAP_NONE)
        return;
    size_t mask = map->capacity - 1, hole = place(map, id);
    map->count--;
    for (size_t at = (hole + 1) & mask; map->entries[at].slot != IDMAP_NONE; at = (at + 1) & mask) {
        /* An entry may move back into the hole unless its home lies after the hole. */
        size_t from_home = (at - home(map, map->entries[at].id)) & mask;
        if (from_home >= ((at - hole) & mask)) {
            map->entries[hole] = map->entries[at];
            hole = at;
        }
    }
    map->entries[hole].slot = IDMAP_NONE;
}
