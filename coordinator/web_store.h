/* The web page's connections to the database: a few, of the role kroo_reader, in read-only transactions with
 * a short time limit, opened when first needed. Any thread may ask; who finds all of them busy waits, for a
 * bounded time. */
#ifndef KROO_COORDINATOR_WEB_STORE_H
#define KROO_COORDINATOR_WEB_STORE_H

#include "coordinator/web_call.h"

enum {
    WEB_STORES = 3,
    WEB_STATEMENT_MS = 4000, /* a statement's limit */
    WEB_QUEUE_MS = 4000      /* how long one waits for a connection */
};

struct web_store;

/* Connects to nothing yet. NULL without memory. */
struct web_store *web_store_create(const char *conninfo);
/* Nobody asks any more. Takes NULL. */
void web_store_destroy(struct web_store *stores);
/* Fills the answer: 200, 404 when the statement finds nothing, 503 without a database or in time. */
void web_store_ask(struct web_store *stores, const struct web_call *call, const char *const *parameters,
                   struct web_answer *answer);

#endif
