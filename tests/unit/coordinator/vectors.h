/* Reads tests/vectors/stats/NAME.json; the tests run from the root of the tree. */
#ifndef KROO_TESTS_COORDINATOR_VECTORS_H
#define KROO_TESTS_COORDINATOR_VECTORS_H

#include <jansson.h>
#include <stdio.h>

#include "tests/unit/check.h"

static inline json_t *vectors_load(const char *name)
{
    char path[256];
    json_error_t error;
    snprintf(path, sizeof path, "tests/vectors/stats/%s.json", name);
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s: %s (line %d)", path, error.text, error.line);
    return root;
}

static inline double vectors_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("no number %s in the vectors", key);
    return json_number_value(value);
}

static inline double vectors_item(const json_t *array, size_t index)
{
    return json_number_value(json_array_get(array, index));
}

static inline size_t vectors_counts(const json_t *array, int64_t *counts, size_t max)
{
    size_t length = json_array_size(array);
    assert_true(length <= max);
    for (size_t i = 0; i < length; i++)
        counts[i] = (int64_t)json_integer_value(json_array_get(array, i));
    return length;
}

#endif
