/* A heap of things that come in an order, for events by their moments. */
#ifndef KROO_FAULT_HEAP_H
#define KROO_FAULT_HEAP_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct heap {
    size_t size; /* of a thing */
    bool (*earlier)(const void *one, const void *other);
    char *things;
    size_t count, room;
};

static inline char *heap_at(const struct heap *heap, size_t place)
{
    return heap->things + place * heap->size;
}

/* False without memory. */
static inline bool heap_push(struct heap *heap, const void *thing)
{
    if (heap->count == heap->room) {
        size_t room = heap->room ? 2 * heap->room : 4096;
        char *things = realloc(heap->things, room * heap->size);
        if (!things)
            return false;
        heap->things = things;
        heap->room = room;
    }
    size_t place = heap->count++;
    for (; place > 0 && heap->earlier(thing, heap_at(heap, (place - 1) / 2)); place = (place - 1) / 2)
        memcpy(heap_at(heap, place), heap_at(heap, (place - 1) / 2), heap->size);
    memcpy(heap_at(heap, place), thing, heap->size);
    return true;
}

/* Takes the earliest of one or more. */
static inline void heap_pop(struct heap *heap, void *first)
{
    memcpy(first, heap->things, heap->size);
    const char *last = heap_at(heap, --heap->count);
    size_t place = 0;
    for (size_t child; (child = 2 * place + 1) < heap->count; place = child) {
        if (child + 1 < heap->count && heap->earlier(heap_at(heap, child + 1), heap_at(heap, child)))
            child++;
        if (!heap->earlier(heap_at(heap, child), last))
            break;
        memcpy(heap_at(heap, place), heap_at(heap, child), heap->size);
    }
    if (heap->count > 0)
        memmove(heap_at(heap, place), last, heap->size);
}

#endif
