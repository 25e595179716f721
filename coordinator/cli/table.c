#include "coordinator/cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/layout.h"
#include "coordinator/cli/terminal.h"

/* Columns that are the first to be left out when a table is too wide, the very first first; of others the
 * rightmost. --json has them all. */
static const char *const dispensable[] = {
    "note",        "added",       "added_by",    "stored",      "created",      "signed_by", "architectures",
    "signature",   "engine",      "peer",        "measured_s",  "ended",        "started",   "tags",
    "lost_leases", "done_leases", "nodes/s",     "bench",       "session",      "faults",    "timed",
    "rules",       "run",         "loss_before", "open_leases", "agreed_pairs", "size",      "experiments",
    "drawn",       "parent",      "loss_after",  "won",         "lost",         "games",     "done_pairs",
    "plays",       "planned",     "sha256",      "hash",
};

/* Of these a part says something, too. */
static bool is_prose(const char *name)
{
    return strcmp(name, "note") == 0 || strcmp(name, "tags") == 0 || strcmp(name, "architectures") == 0;
}

static unsigned how_dispensable(const struct store_table *table, size_t column)
{
    size_t known = sizeof dispensable / sizeof *dispensable;
    bool is_empty = true;
    for (size_t r = 0; r < table->rows && is_empty; r++)
        is_empty = *store_cell(table, r, column) == '\0';
    if (is_empty)
        return LAYOUT_EMPTY;
    for (size_t i = 0; i < known; i++)
        if (strcmp(dispensable[i], table->names[column]) == 0)
            return (unsigned)(known - i);
    return 0;
}

/* A name or a note comes from people: no letter of it may steer the terminal. */
static void put_text(FILE *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc(c == '\n' || c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : c, out);
    }
}

static void print_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
    size_t shown = terminal_width(text);
    int pad = (int)(shown < width ? width - shown : 0);
    if (right)
        fprintf(out, "%*s", pad, "");
    put_text(out, text, shown > width ? terminal_prefix(text, width - 1) : strlen(text));
    if (shown > width)
        fputc('~', out);
    if (!right && !last)
        fprintf(out, "%*s", pad, "");
    if (!last)
        fputs("  ", out);
}

static size_t fit_columns(FILE *out, const struct store_table *table, struct layout_column *columns)
{
    for (size_t c = 0; c < table->columns; c++) {
        columns[c].natural = terminal_width(table->names[c]);
        for (size_t r = 0; r < table->rows; r++) {
            size_t width = terminal_width(store_cell(table, r, c));
            columns[c].natural = width > columns[c].natural ? width : columns[c].natural;
        }
        columns[c].gives_up = how_dispensable(table, c);
        columns[c].may_be_cut = !table->numeric[c] && (columns[c].gives_up == 0 || is_prose(table->names[c]));
    }
    return layout_fit(columns, table->columns, terminal_columns(out));
}

/* One line of the table; `row` beyond the rows: the names. */
static void print_line(FILE *out, const struct store_table *table, const struct layout_column *columns,
                       size_t row)
{
    size_t last = table->columns;
    while (last > 1 && columns[last - 1].width == 0)
        last--;
    for (size_t c = 0; c < last; c++) {
        const char *text = row < table->rows ? store_cell(table, row, c) : table->names[c];
        enum terminal_paint paint = row < table->rows ? terminal_paint_of(text) : TERMINAL_STRONG;
        if (columns[c].width == 0)
            continue;
        if (paint != TERMINAL_PLAIN)
            fputs(terminal_begin(out, paint), out);
        print_cell(out, text, columns[c].width, table->numeric[c], c + 1 == last);
        if (paint != TERMINAL_PLAIN)
            fputs(terminal_end(out), out);
    }
    fputc('\n', out);
}

static void tell_hidden(FILE *out, const struct store_table *table, const struct layout_column *columns,
                        size_t hidden)
{
    const char *comma = "";
    for (size_t c = 0; c < table->columns; c++)
        hidden -= columns[c].gives_up == LAYOUT_EMPTY && columns[c].width == 0;
    if (hidden == 0) /* what is left out has no content */
        return;
    fprintf(out, "%stoo narrow for: ", terminal_begin(out, TERMINAL_FAINT));
    for (size_t c = 0; c < table->columns; c++) {
        if (columns[c].width > 0 || columns[c].gives_up == LAYOUT_EMPTY)
            continue;
        fprintf(out, "%s%s", comma, table->names[c]);
        comma = ", ";
    }
    fprintf(out, "; --json has all%s\n", terminal_end(out));
}

void table_print(FILE *out, const struct store_table *table, const char *empty)
{
    if (table->rows == 0) {
        fprintf(out, "%s\n", empty);
        return;
    }
    struct layout_column *columns = calloc(table->columns + 1, sizeof *columns);
    if (!columns)
        return;
    size_t hidden = fit_columns(out, table, columns);
    print_line(out, table, columns, table->rows);
    for (size_t r = 0; r < table->rows; r++)
        print_line(out, table, columns, r);
    tell_hidden(out, table, columns, hidden);
    free(columns);
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
