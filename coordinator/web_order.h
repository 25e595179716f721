/* What operators order on the web page, on its way to the event loop, and the answers on their way back. A
 * few at once; whoever orders waits for a bounded time. */
#ifndef KROO_COORDINATOR_WEB_ORDER_H
#define KROO_COORDINATOR_WEB_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/message.h"

enum {
    WEB_ORDERS = 8,
    WEB_ORDER_MS = 10000, /* how long an answer is waited for */
};

struct web_order {
    uint64_t ticket; /* names it in web_orders_answer */
    uint64_t experiment;
    enum message_verb verb;
    char by[MESSAGE_NAME_MAX], text[MESSAGE_TEXT_MAX];
};

enum web_order_outcome {
    WEB_ORDER_DONE = 0,
    WEB_ORDER_REFUSED = -1, /* the text says why */
    WEB_ORDER_FULL = -2,    /* too many wait: nothing was ordered */
    WEB_ORDER_LATE = -3,    /* no answer in time: it may be done all the same */
};

struct web_orders;

/* `wake` is rung when something is ordered. NULL without memory. */
struct web_orders *web_orders_create(int wake);
/* Takes NULL. */
void web_orders_destroy(struct web_orders *orders);
/* Any thread: orders it and waits; answer gets what became of it in words. */
enum web_order_outcome web_orders_give(struct web_orders *orders, const struct web_order *order,
                                       char answer[MESSAGE_TEXT_MAX]);
/* Whoever waits is told that it is late, and nobody waits any more: before the threads end. */
void web_orders_stop(struct web_orders *orders);

/* The event loop: the next that is not taken yet; false when there is none. */
bool web_orders_take(struct web_orders *orders, struct web_order *out);
/* What became of it; one that nobody waits for any more is forgotten. */
void web_orders_answer(struct web_orders *orders, uint64_t ticket, bool is_done, const char *text);

#endif
