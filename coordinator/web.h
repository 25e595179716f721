/* The web page: files that are compiled in, questions to the database as JSON (web_call.h), and live events
 * (web_live.h), over HTTP. It has threads of its own, one for each connection, and a few database connections
 * of its own that may only read; the event loop is not involved. What strangers may take is bounded:
 * connections, bytes of a request, listeners, time.
 *
 * Whoever reaches the page may read everything in it. Beyond the loopback address it is therefore only served
 * under names that the operator has given (`hosts`). */
#ifndef KROO_COORDINATOR_WEB_H
#define KROO_COORDINATOR_WEB_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/web_order.h"

enum {
    WEB_CONNECTIONS = 96,
    WEB_SILENT_S = 15, /* a connection that says nothing for so long is closed */
    WEB_REQUEST_BYTES = 16384,
    WEB_REOPEN_MS = 1000, /* how often an address is tried that something else listens on */
};

struct web_options {
    const char *address; /* as in listen.h; port 0: any */
    const char *hosts;   /* names it is served under besides the loopback ones, comma separated; NULL: none */
    const char *conninfo;
    const char *tokens; /* file of the operators' tokens (web_operator.h); NULL: nobody orders anything */
    int wake;           /* rung when somebody does */
};

struct web;

/* Starts serving. An address that is taken is tried again until it is free: of several coordinators on one
 * machine one serves the page. NULL with the reason on anything else. */
struct web *web_create(const struct web_options *options, char *reason, size_t reason_size);
/* Ends its threads. Takes NULL. */
void web_destroy(struct web *web);
/* What operators order; NULL when nobody may. */
struct web_orders *web_orders_of(struct web *web);
/* The port it listens on; 0: not yet. */
unsigned web_port(struct web *web);

#endif
