#include "worker/queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled, emptied;
    size_t element_size, capacity;
    size_t first, count; /* a ring */
    bool closed;
    char *elements;
};

struct queue *queue_create(size_t element_size, size_t capacity)
{
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->elements = calloc(capacity, element_size);
    if (queue->elements == NULL) {
        free(queue);
        return NULL;
    }
    queue->element_size = element_size;
    queue->capacity = capacity;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->filled, NULL);
    pthread_cond_init(&queue->emptied, NULL);
    return queue;
}

void queue_destroy(struct queue *queue)
{
    if (queue == NULL)
        return;
    pthread_cond_destroy(&queue->emptied);
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->mutex);
    free(queue->elements);
    free(queue);
}

static char *place(const struct queue *queue, size_t index)
{
    return queue->elements + (queue->first + index) % queue->capacity * queue->element_size;
}

static void put(struct queue *queue, const void *element)
{
    memcpy(place(queue, queue->count), element, queue->element_size);
    queue->count++;
    pthread_cond_signal(&queue->filled);
}

static void take(struct queue *queue, void *element)
{
    memcpy(element, place(queue, 0), queue->element_size);
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    pthread_cond_signal(&queue->emptied);
}

enum queue_error queue_push(struct queue *queue, const void *element)
{
    enum queue_error error = QUEUE_CLOSED;
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == queue->capacity && !queue->closed)
        pthread_cond_wait(&queue->emptied, &queue->mutex);
    if (!queue->closed) {
        put(queue, element);
        error = QUEUE_OK;
    }
    pthread_mutex_unlock(&queue->mutex);
    return error;
}

enum queue_error queue_try_push(struct queue *queue, const void *element)
{
    enum queue_error error = QUEUE_OK;
    pthread_mutex_lock(&queue->mutex);
    if (queue->closed)
        error = QUEUE_CLOSED;
    else if (queue->count == queue->capacity)
        error = QUEUE_FULL;
    else
        put(queue, element);
    pthread_mutex_unlock(&queue->mutex);
    return error;
}

enum queue_error queue_pop(struct queue *queue, void *element)
{
    enum queue_error error = QUEUE_CLOSED;
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->mutex);
    if (!queue->closed) {
        take(queue, element);
        error = QUEUE_OK;
    }
    pthread_mutex_unlock(&queue->mutex);
    return error;
}

enum queue_error queue_try_pop(struct queue *queue, void *element)
{
    enum queue_error error = QUEUE_EMPTY;
    pthread_mutex_lock(&queue->mutex);
    if (queue->count > 0) {
        take(queue, element);
        error = QUEUE_OK;
    }
    pthread_mutex_unlock(&queue->mutex);
    return error;
}

size_t queue_count(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    size_t count = queue->count;
    pthread_mutex_unlock(&queue->mutex);
    return count;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_cond_broadcast(&queue->emptied);
    pthread_mutex_unlock(&queue->mutex);
}

size_t queue_remove(struct queue *queue, queue_unwanted *unwanted, void *context)
{
    pthread_mutex_lock(&queue->mutex);
    size_t kept = 0, before = queue->count;
    for (size_t index = 0; index < before; index++) {
        char *element = place(queue, index);
        if (unwanted(context, element))
            continue;
        if (kept != index)
            memcpy(place(queue, kept), element, queue->element_size);
        kept++;
    }
    queue->count = kept;
    pthread_cond_broadcast(&queue->emptied);
    pthread_mutex_unlock(&queue->mutex);
    return before - kept;
}
