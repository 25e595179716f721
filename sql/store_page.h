/* The connection of a page that people look at: reads only, and not for long. */
#ifndef KROO_SQL_STORE_PAGE_H
#define KROO_SQL_STORE_PAGE_H

#include "sql/store.h"

/* As store_open, of the role kroo_reader; each statement is a read-only transaction of at most
 * statement_ms. */
struct store *store_open_page(const char *conninfo, const char *application, int statement_ms, char *reason,
                              size_t reason_size);

#endif
