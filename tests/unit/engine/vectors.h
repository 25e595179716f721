/* Reference vectors for the tests of engine/: files under tests/vectors/, read from the root of the tree. */
#ifndef KROO_TESTS_ENGINE_VECTORS_H
#define KROO_TESTS_ENGINE_VECTORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "engine/rules.h"
#include "tests/unit/check.h"

#define VECTORS_RULES "tests/vectors/rules/"

typedef void vectors_row(json_t *row, void *context);

/* Calls `each` with every line of a file of JSON lines; returns their number. */
static inline size_t vectors_each_line(const char *path, vectors_row *each, void *context)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be opened; run the tests from the root of the tree", path);
    char *line = NULL;
    size_t room = 0, rows = 0;
    while (getline(&line, &room, file) > 0) {
        json_error_t error;
        json_t *row = json_loads(line, 0, &error);
        if (row == NULL)
            fail_msg("%s, row %zu: %s", path, rows + 1, error.text);
        each(row, context);
        json_decref(row);
        rows++;
    }
    free(line);
    fclose(file);
    return rows;
}

static inline json_t *vectors_load(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL)
        fail_msg("%s: %s", path, error.text);
    return root;
}

static inline const char *vectors_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    if (text == NULL)
        fail_msg("the row has no text '%s'", key);
    return text;
}

static inline long long vectors_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (!json_is_integer(value))
        fail_msg("the row has no number '%s'", key);
    return json_integer_value(value);
}

static inline int vectors_item(const json_t *array, size_t index)
{
    const json_t *value = json_array_get(array, index);
    if (!json_is_integer(value))
        fail_msg("item %zu is no number", index);
    return (int)json_integer_value(value);
}

static inline struct rules vectors_rules(const char *text)
{
    struct rules rules;
    char error[640];
    if (rules_parse(text, &rules, error, sizeof error) != 0)
        fail_msg("%s", error);
    return rules;
}

#endif
