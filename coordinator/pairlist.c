#include "coordinator/pairlist.h"

#include <stdlib.h>
#include <string.h>

void pairlist_done(struct pairlist *list)
{
    free(list->pairs);
    *list = (struct pairlist){0};
}

size_t pairlist_below(const struct pairlist *list, uint64_t end)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->pairs[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pairlist_has(const struct pairlist *list, uint64_t pair)
{
    size_t place = pairlist_below(list, pair);
    return place < list->count && list->pairs[place] == pair;
}

bool pairlist_add(struct pairlist *list, uint64_t pair)
{
    size_t place = pairlist_below(list, pair);
    if (place < list->count && list->pairs[place] == pair)
        return true;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        uint64_t *larger = realloc(list->pairs, room * sizeof *larger);
        if (!larger)
            return false;
        list->pairs = larger;
        list->room = room;
    }
    memmove(list->pairs + place + 1, list->pairs + place, (list->count - place) * sizeof *list->pairs);
    list->pairs[place] = pair;
    list->count++;
    return true;
}

bool pairlist_remove(struct pairlist *list, uint64_t pair)
{
    size_t place = pairlist_below(list, pair);
    if (place == list->count || list->pairs[place] != pair)
        return false;
    list->count--;
    memmove(list->pairs + place, list->pairs + place + 1, (list->count - place) * sizeof *list->pairs);
    return true;
}

bool pairlist_copy(struct pairlist *copy, const struct pairlist *list)
{
    *copy = (struct pairlist){0};
    if (list->count == 0)
        return true;
    copy->pairs = malloc(list->count * sizeof *copy->pairs);
    if (!copy->pairs)
        return false;
    memcpy(copy->pairs, list->pairs, list->count * sizeof *copy->pairs);
    copy->count = copy->room = list->count;
    return true;
}
