#include "coordinator/cli/suggest.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t suggest_distance(const char *a, const char *b)
{
    /* Three rows are enough: a swap looks two back. */
    size_t rows[3][SUGGEST_LENGTH_MAX + 1];
    size_t length = strlen(b);
    assert(strlen(a) <= SUGGEST_LENGTH_MAX && length <= SUGGEST_LENGTH_MAX);
    for (size_t j = 0; j <= length; j++)
        rows[0][j] = j;
    size_t i = 0;
    for (; a[i] != '\0'; i++) {
        const size_t *above = rows[i % 3], *higher = rows[(i + 2) % 3];
        size_t *row = rows[(i + 1) % 3];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            row[j + 1] = least(above[j] + (a[i] != b[j]), least(above[j + 1], row[j]) + 1);
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[j + 1] = least(row[j + 1], higher[j - 1] + 1);
        }
    }
    return rows[i % 3][length];
}

static bool begins_alike(const char *text, const char *name)
{
    return strlen(name) > 3 && strlen(text) >= 3 && strncmp(text, name, 3) == 0;
}

const char *suggest_nearest(const char *text, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = SUGGEST_LENGTH_MAX, written = strlen(text);
    if (written == 0 || written > SUGGEST_LENGTH_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (length == 0 || length > SUGGEST_LENGTH_MAX)
            continue;
        size_t longer = length > written ? length : written;
        size_t allowed = longer / 3 > 2 ? longer / 3 : 2;
        size_t distance = suggest_distance(text, names[i]);
        if (begins_alike(text, names[i]) && longer <= 16)
            distance = least(distance, 2);
        if (distance <= allowed && distance < length && distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
