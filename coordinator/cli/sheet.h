/* A table that is computed here and printed like those of the database. One thread. */
#ifndef KROO_COORDINATOR_CLI_SHEET_H
#define KROO_COORDINATOR_CLI_SHEET_H

#include "sql/store.h"

/* An empty table with these columns; a name that begins with '#' (left out when printed) is of numbers, to
 * the right. False without memory. sheet_done is due. */
bool sheet_init(struct store_table *table, size_t rows, size_t columns, const char *const *names);
/* One cell, printed; without memory it stays empty. */
void sheet_set(struct store_table *table, size_t row, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void sheet_done(struct store_table *table);

#endif
