#include "sql/store_page.h"

#include <stdio.h>
#include <string.h>

#include "sql/store_connection.h"

struct store *store_open_page(const char *conninfo, const char *application, int statement_ms, char *reason,
                              size_t reason_size)
{
    struct store *store = store_open(conninfo, "kroo_reader", application, reason, reason_size);
    if (store && store_exec(store, "set default_transaction_read_only = on", NULL) == STORE_OK &&
        store_set_limit(store, statement_ms) == STORE_OK)
        return store;
    if (store)
        snprintf(reason, reason_size, "%s", store_reason(store));
    store_close(store);
    return NULL;
}

bool store_was_slow(const struct store *store)
{
    return strstr(store_reason(store), "SQLSTATE 57014") != NULL;
}
