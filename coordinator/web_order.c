#include "coordinator/web_order.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/condition.h"
#include "proto/socket.h"

struct web_orders {
    int wake;
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    uint64_t tickets;
    bool stopping;
    struct place {
        enum { PLACE_FREE = 0, PLACE_GIVEN, PLACE_TAKEN, PLACE_ANSWERED } state;
        struct web_order order;
        bool is_done;
        char text[MESSAGE_TEXT_MAX];
    } places[WEB_ORDERS];
};

struct web_orders *web_orders_create(int wake)
{
    struct web_orders *orders = calloc(1, sizeof *orders);
    if (!orders)
        return NULL;
    orders->wake = wake;
    pthread_mutex_init(&orders->mutex, NULL);
    condition_init(&orders->answered);
    return orders;
}

void web_orders_destroy(struct web_orders *orders)
{
    if (!orders)
        return;
    pthread_cond_destroy(&orders->answered);
    pthread_mutex_destroy(&orders->mutex);
    free(orders);
}

static struct place *find_free(struct web_orders *orders)
{
    for (int i = 0; i < WEB_ORDERS; i++)
        if (orders->places[i].state == PLACE_FREE)
            return &orders->places[i];
    return NULL;
}

enum web_order_outcome web_orders_give(struct web_orders *orders, const struct web_order *order,
                                       char answer[MESSAGE_TEXT_MAX])
{
    struct timespec until = condition_until(WEB_ORDER_MS);
    enum web_order_outcome outcome = WEB_ORDER_LATE;
    answer[0] = '\0';
    pthread_mutex_lock(&orders->mutex);
    struct place *place = orders->stopping ? NULL : find_free(orders);
    if (!place) {
        pthread_mutex_unlock(&orders->mutex);
        return WEB_ORDER_FULL;
    }
    place->order = *order;
    place->order.ticket = ++orders->tickets;
    place->state = PLACE_GIVEN;
    wake_ring(orders->wake);
    while (place->state != PLACE_ANSWERED && !orders->stopping)
        if (pthread_cond_timedwait(&orders->answered, &orders->mutex, &until) == ETIMEDOUT)
            break;
    if (place->state == PLACE_ANSWERED) {
        outcome = place->is_done ? WEB_ORDER_DONE : WEB_ORDER_REFUSED;
        snprintf(answer, MESSAGE_TEXT_MAX, "%s", place->text);
    }
    place->state = PLACE_FREE;
    pthread_mutex_unlock(&orders->mutex);
    return outcome;
}

void web_orders_stop(struct web_orders *orders)
{
    pthread_mutex_lock(&orders->mutex);
    orders->stopping = true;
    pthread_cond_broadcast(&orders->answered);
    pthread_mutex_unlock(&orders->mutex);
}

bool web_orders_take(struct web_orders *orders, struct web_order *out)
{
    bool found = false;
    pthread_mutex_lock(&orders->mutex);
    for (int i = 0; i < WEB_ORDERS && !found; i++)
        if (orders->places[i].state == PLACE_GIVEN) {
            orders->places[i].state = PLACE_TAKEN;
            *out = orders->places[i].order;
            found = true;
        }
    pthread_mutex_unlock(&orders->mutex);
    return found;
}

void web_orders_answer(struct web_orders *orders, uint64_t ticket, bool is_done, const char *text)
{
    pthread_mutex_lock(&orders->mutex);
    for (int i = 0; i < WEB_ORDERS; i++) {
        struct place *place = &orders->places[i];
        if (place->state != PLACE_TAKEN || place->order.ticket != ticket)
            continue;
        place->state = PLACE_ANSWERED;
        place->is_done = is_done;
        snprintf(place->text, sizeof place->text, "%s", text);
        pthread_cond_broadcast(&orders->answered);
    }
    pthread_mutex_unlock(&orders->mutex);
}
