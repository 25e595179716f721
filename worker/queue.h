/* A bounded queue of plain elements between threads, first in, first out. Elements are copied; what they
 * point to changes hands with them. Any thread. */
#ifndef KROO_WORKER_QUEUE_H
#define KROO_WORKER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

enum queue_error { QUEUE_OK = 0, QUEUE_EMPTY = -1, QUEUE_FULL = -2, QUEUE_CLOSED = -3 };

struct queue;

/* NULL when memory is short. All the room is taken here, none later. */
struct queue *queue_create(size_t element_size, size_t capacity);
/* No thread may be inside; elements left behind are the caller's to take out first. */
void queue_destroy(struct queue *queue);

/* Waits while full. OK, or CLOSED: the element was not taken. */
enum queue_error queue_push(struct queue *queue, const void *element);
/* OK, FULL or CLOSED. */
enum queue_error queue_try_push(struct queue *queue, const void *element);
/* Waits while empty. OK, or CLOSED, also when elements are left. */
enum queue_error queue_pop(struct queue *queue, void *element);
/* OK or EMPTY; works on a closed queue, so that its owner can empty it. */
enum queue_error queue_try_pop(struct queue *queue, void *element);

size_t queue_count(struct queue *queue);
/* Wakes everyone who waits; nothing goes in or waits any more. */
void queue_close(struct queue *queue);

/* Takes out the elements for which `unwanted` says true, asked once each from the oldest on. Returns how
 * many. */
typedef bool queue_unwanted(void *context, const void *element);
size_t queue_remove(struct queue *queue, queue_unwanted *unwanted, void *context);

#endif
