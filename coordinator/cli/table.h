/* Answers of the database as people and programs want them: aligned tables, field lists, JSON. One thread. */
#ifndef KROO_COORDINATOR_CLI_TABLE_H
#define KROO_COORDINATOR_CLI_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "sql/store.h"

/* Columns aligned, numbers to the right. On a terminal the table is made to fit (layout.h) and says which
 * columns it left out; otherwise nothing is cut. `empty` is printed in place of a table without rows. */
void table_print(FILE *out, const struct store_table *table, const char *empty);
/* One row as an object: numbers as numbers where exact, `t` and `f` of columns whose name starts with `is_`
 * as booleans, null as null. NULL without memory. */
json_t *table_json_row(const struct store_table *table, size_t row);
/* All rows as an array. */
json_t *table_json(const struct store_table *table);
/* One JSON text and a line end on standard output; takes `value`. COMMAND_DONE or COMMAND_REFUSED. */
int table_json_print(json_t *value);
/* Cell as a number; 0 for null or no number. */
uint64_t table_number(const struct store_table *table, size_t row, size_t column);
double table_decimal(const struct store_table *table, size_t row, size_t column);
/* The cell of the column so named, "" when it is null or absent. */
const char *table_named(const struct store_table *table, size_t row, const char *name);

#endif
