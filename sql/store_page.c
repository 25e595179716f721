#include "sql/store_page.h"

#include <stdio.h>

#include "sql/store_connection.h"

/* A server that has not even said by then that it was too slow hangs; somebody waits for the page. */
enum { PAGE_SLACK_MS = 2000 };

struct store *store_open_page(const char *conninfo, const char *application, int statement_ms, char *reason,
                              size_t reason_size)
{
    struct store *store = store_open(conninfo, "kroo_reader", application, reason, reason_size);
    if (store && store_exec(store, "set default_transaction_read_only = on", NULL) == STORE_OK &&
        store_set_limit(store, statement_ms) == STORE_OK) {
        store->patience_ms = statement_ms + PAGE_SLACK_MS;
        return store;
    }
    if (store)
        snprintf(reason, reason_size, "%s", store_reason(store));
    store_close(store);
    return NULL;
}
