/* Parameters into statements, cells out of results: declared in store_connection.h. */
#include "sql/store_connection.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct store_parameters *parameters, const char *value, size_t size, int format)
{
    assert(parameters->count < STORE_PARAMETERS);
    assert(size <= INT32_MAX);
    parameters->values[parameters->count] = value;
    parameters->lengths[parameters->count] = (int)size;
    parameters->formats[parameters->count] = format;
    parameters->count++;
}

void store_add_text(struct store_parameters *parameters, const char *text)
{
    add(parameters, text, 0, 0);
}

void store_add_name(struct store_parameters *parameters, const char *text)
{
    add(parameters, text != NULL && text[0] != '\0' ? text : NULL, 0, 0);
}

void store_add_bytes(struct store_parameters *parameters, const void *bytes, size_t size)
{
    add(parameters, bytes, size, 1);
}

static char *number_space(struct store_parameters *parameters)
{
    assert(parameters->count < STORE_PARAMETERS);
    return parameters->numbers[parameters->count];
}

void store_add_u64(struct store_parameters *parameters, uint64_t number)
{
    char *text = number_space(parameters);
    snprintf(text, sizeof parameters->numbers[0], "%" PRIu64, number);
    add(parameters, text, 0, 0);
}

void store_add_id(struct store_parameters *parameters, uint64_t number)
{
    if (number == 0)
        store_add_text(parameters, NULL);
    else
        store_add_u64(parameters, number);
}

void store_add_i64(struct store_parameters *parameters, int64_t number)
{
    char *text = number_space(parameters);
    snprintf(text, sizeof parameters->numbers[0], "%" PRId64, number);
    add(parameters, text, 0, 0);
}

void store_add_double(struct store_parameters *parameters, double number)
{
    if (!isfinite(number)) {
        store_add_text(parameters, NULL);
        return;
    }
    char *text = number_space(parameters);
    snprintf(text, sizeof parameters->numbers[0], "%.17g", number);
    add(parameters, text, 0, 0);
}

void store_add_bool(struct store_parameters *parameters, bool value)
{
    store_add_text(parameters, value ? "t" : "f");
}

static const char *cell(const PGresult *result, int row, int column, bool *bad)
{
    if (row >= PQntuples(result) || column >= PQnfields(result) || PQgetisnull(result, row, column)) {
        *bad = true;
        return "";
    }
    return PQgetvalue(result, row, column);
}

uint64_t store_cell_u64(const PGresult *result, int row, int column, bool *bad)
{
    const char *text = cell(result, row, column, bad);
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || text[0] == '-')
        *bad = true;
    return number;
}

int64_t store_cell_i64(const PGresult *result, int row, int column, bool *bad)
{
    const char *text = cell(result, row, column, bad);
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        *bad = true;
    return number;
}

double store_cell_double(const PGresult *result, int row, int column, bool *bad)
{
    const char *text = cell(result, row, column, bad);
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0')
        *bad = true;
    return number;
}

bool store_cell_bool(const PGresult *result, int row, int column, bool *bad)
{
    const char *text = cell(result, row, column, bad);
    if (strcmp(text, "t") != 0 && strcmp(text, "f") != 0)
        *bad = true;
    return text[0] == 't';
}

void store_cell_text(const PGresult *result, int row, int column, char *out, size_t size, bool *bad)
{
    const char *text = cell(result, row, column, bad);
    if (strlen(text) >= size)
        *bad = true;
    snprintf(out, size, "%s", text);
}

static int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* A bytea in text form: `\x` and 64 digits. */
void store_cell_hash(const PGresult *result, int row, int column, uint8_t out[STORE_HASH], bool *bad)
{
    const char *text = cell(result, row, column, bad);
    memset(out, 0, STORE_HASH);
    if (strlen(text) != 2 + 2 * STORE_HASH || text[0] != '\\' || text[1] != 'x') {
        *bad = true;
        return;
    }
    for (size_t i = 0; i < STORE_HASH; i++) {
        int high = hex_digit(text[2 + 2 * i]), low = hex_digit(text[3 + 2 * i]);
        if (high < 0 || low < 0) {
            *bad = true;
            return;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
}

void store_clean_text(char *out, size_t size, const char *text)
{
    size_t used = 0;
    for (; *text != '\0' && used + 1 < size; text++)
        out[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
    out[used] = '\0';
}

char *store_array_text(const uint64_t *first, size_t stride, size_t count)
{
    enum { DIGITS = 21 };
    char *text = malloc(count * DIGITS + 3);
    if (text == NULL)
        return NULL;
    size_t used = 0;
    text[used++] = '{';
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        memcpy(&number, (const char *)first + i * stride, sizeof number);
        used += (size_t)snprintf(text + used, DIGITS + 1, "%s%" PRIu64, i > 0 ? "," : "", number);
    }
    memcpy(text + used, "}", 2);
    return text;
}

enum store_error store_read_numbers(struct store *store, PGresult *result, uint64_t **list, size_t *count)
{
    bool bad = false;
    size_t rows = (size_t)PQntuples(result);
    *count = 0;
    *list = malloc((rows ? rows : 1) * sizeof **list);
    for (size_t row = 0; row < rows && *list; row++)
        (*list)[(*count)++] = store_cell_u64(result, (int)row, 0, &bad);
    if (!*list)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu numbers", rows);
    if (!bad)
        return STORE_OK;
    free(*list);
    *list = NULL;
    *count = 0;
    return store_fail(store, STORE_ERROR_DATA, "numbers cannot be read");
}
