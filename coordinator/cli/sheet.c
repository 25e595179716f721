#include "coordinator/cli/sheet.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sheet_init(struct store_table *table, size_t rows, size_t columns, const char *const *names)
{
    *table = (struct store_table){.rows = rows, .columns = columns};
    table->names = calloc(columns + 1, sizeof *table->names);
    table->cells = calloc(rows * columns + 1, sizeof *table->cells);
    table->numeric = calloc(columns + 1, sizeof *table->numeric);
    bool good = table->names && table->cells && table->numeric;
    for (size_t i = 0; i < columns && good; i++) {
        table->numeric[i] = names[i][0] == '#';
        table->names[i] = strdup(names[i] + table->numeric[i]);
        good = table->names[i] != NULL;
    }
    if (!good)
        sheet_done(table);
    return good;
}

void sheet_set(struct store_table *table, size_t row, size_t column, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    assert(row < table->rows && column < table->columns);
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    free(table->cells[row * table->columns + column]);
    table->cells[row * table->columns + column] = text;
}

void sheet_done(struct store_table *table)
{
    for (size_t i = 0; table->names && i < table->columns; i++)
        free(table->names[i]);
    for (size_t i = 0; table->cells && i < table->rows * table->columns; i++)
        free(table->cells[i]);
    free(table->names);
    free(table->cells);
    free(table->numeric);
    *table = (struct store_table){0};
}
