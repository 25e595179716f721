#include "coordinator/cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"

/* Letters on the screen: UTF-8 continuation bytes take no place. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Bytes of the first `width` letters. */
static size_t text_prefix(const char *text, size_t width)
{
    size_t at = 0;
    for (; text[at]; at++)
        if (((unsigned char)text[at] & 0xc0) != 0x80 && width-- == 0)
            break;
    return at;
}

static size_t terminal_width(FILE *out)
{
    struct winsize size;
    int fd = fileno(out);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
        return 0;
    return size.ws_col;
}

static void print_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
    size_t shown = text_width(text);
    size_t pad = shown < width ? width - shown : 0;
    if (right)
        fprintf(out, "%*s%s", (int)pad, "", text);
    else if (shown > width)
        fprintf(out, "%.*s~", (int)text_prefix(text, width - 1), text);
    else
        fprintf(out, "%s%*s", text, last ? 0 : (int)pad, "");
    fputs(last ? "\n" : "  ", out);
}

/* Widths of all columns; on a terminal the last text column gives way. */
static void fit_columns(FILE *out, const struct store_table *table, size_t *widths)
{
    size_t total = 0, victim = table->columns;
    for (size_t c = 0; c < table->columns; c++) {
        widths[c] = text_width(table->names[c]);
        for (size_t r = 0; r < table->rows; r++) {
            size_t width = text_width(store_cell(table, r, c));
            widths[c] = width > widths[c] ? width : widths[c];
        }
        total += widths[c] + (c > 0 ? 2 : 0);
        if (!table->numeric[c])
            victim = c;
    }
    size_t room = terminal_width(out);
    if (room > 0 && total > room && victim < table->columns) {
        size_t over = total - room;
        widths[victim] = widths[victim] > over + 8 ? widths[victim] - over : 8;
    }
}

void table_print(FILE *out, const struct store_table *table, const char *empty)
{
    if (table->rows == 0) {
        fprintf(out, "%s\n", empty);
        return;
    }
    size_t *widths = calloc(table->columns, sizeof *widths);
    if (!widths)
        return;
    fit_columns(out, table, widths);
    for (size_t c = 0; c < table->columns; c++)
        print_cell(out, table->names[c], widths[c], table->numeric[c], c + 1 == table->columns);
    for (size_t r = 0; r < table->rows; r++)
        for (size_t c = 0; c < table->columns; c++)
            print_cell(out, store_cell(table, r, c), widths[c], table->numeric[c], c + 1 == table->columns);
    free(widths);
}

void table_print_fields(FILE *out, const struct store_table *table, size_t row)
{
    size_t width = 0;
    for (size_t c = 0; c < table->columns; c++)
        if (*store_cell(table, row, c) && text_width(table->names[c]) > width)
            width = text_width(table->names[c]);
    for (size_t c = 0; c < table->columns; c++)
        if (*store_cell(table, row, c))
            fprintf(out, "  %-*s  %s\n", (int)width, table->names[c], store_cell(table, row, c));
}

static json_t *cell_json(const struct store_table *table, size_t row, size_t column)
{
    const char *text = table->cells[row * table->columns + column];
    if (!text)
        return json_null();
    if (strncmp(table->names[column], "is_", 3) == 0 && (strcmp(text, "t") == 0 || strcmp(text, "f") == 0))
        return json_boolean(*text == 't');
    if (!table->numeric[column])
        return json_string(text);
    char *end = NULL;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0)
        return json_integer(whole);
    double value = strtod(text, &end);
    json_t *real = *end == '\0' ? json_real(value) : NULL;
    return real ? real : json_string(text); /* NaN and infinity are no JSON */
}

json_t *table_json_row(const struct store_table *table, size_t row)
{
    json_t *object = json_object();
    for (size_t c = 0; object && c < table->columns; c++)
        if (json_object_set_new(object, table->names[c], cell_json(table, row, c)) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

json_t *table_json(const struct store_table *table)
{
    json_t *array = json_array();
    for (size_t r = 0; array && r < table->rows; r++)
        if (json_array_append_new(array, table_json_row(table, r)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

int table_json_print(json_t *value)
{
    if (!value)
        return args_refuse("out of memory");
    int failed = json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    json_decref(value);
    fputc('\n', stdout);
    fflush(stdout); /* whoever follows sees each line; what fails is told once, at the program's end */
    return failed != 0 && !ferror(stdout) ? args_refuse("the answer cannot be put into JSON") : COMMAND_DONE;
}

uint64_t table_number(const struct store_table *table, size_t row, size_t column)
{
    return strtoull(store_cell(table, row, column), NULL, 10);
}

double table_decimal(const struct store_table *table, size_t row, size_t column)
{
    return strtod(store_cell(table, row, column), NULL);
}

const char *table_named(const struct store_table *table, size_t row, const char *name)
{
    for (size_t c = 0; c < table->columns; c++)
        if (strcmp(table->names[c], name) == 0)
            return store_cell(table, row, c);
    return "";
}
