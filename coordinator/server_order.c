/* What operators order on the web page: the same job as by `kroo pause` and its like. */
#include <stdio.h>

#include "coordinator/server_parts.h"
#include "coordinator/web_order.h"

static struct job *order_job(const struct web_order *order)
{
    struct job *job = job_create(JOB_CONTROL);
    if (!job)
        return NULL;
    job->request = order->ticket; /* and no peer: see server_order_answer */
    job->control.experiment = order->experiment;
    job->control.verb = order->verb;
    snprintf(job->control.by, sizeof job->control.by, "%s", order->by);
    snprintf(job->control.user, sizeof job->control.user, "web");
    snprintf(job->control.text, sizeof job->control.text, "%s", order->text);
    return job;
}

void server_orders(struct server *server)
{
    struct web_orders *orders = server->options.orders;
    struct web_order order;
    while (orders && web_orders_take(orders, &order)) {
        if (order.verb == MESSAGE_VERB_RESUME && schedule_count(server->schedule) >= SCHEDULE_EXPERIMENTS_MAX)
            web_orders_answer(orders, order.ticket, false, "too many experiments run already: stop one");
        else if (!server_submit(server, order_job(&order)))
            web_orders_answer(orders, order.ticket, false, "the writer's queue is full: try again");
    }
}

bool server_order_answer(struct server *server, const struct message *message)
{
    if (!server->options.orders)
        return false;
    if (message->kind == MESSAGE_CONTROL_DONE)
        web_orders_answer(server->options.orders, message->request, true, message->control_done.text);
    else if (message->kind == MESSAGE_REFUSED)
        web_orders_answer(server->options.orders, message->request, false, message->refused.text);
    return true;
}
