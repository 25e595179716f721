/* Sorting in place: American flag sort, most significant digit first, of items of RADIX_ITEM bytes, with an
 * insertion sort for what is small (McIlroy, Bostic, McIlroy, "Engineering Radix Sort", 1993). It needs no
 * memory but its stack, so fifty million positions are sorted where they lie. Inlined where it is used, so
 * that `digit` and `compare` are. Any thread. */
#ifndef KROO_EVAL_RADIX_H
#define KROO_EVAL_RADIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RADIX_ITEM = 16, RADIX_DIGITS = 256, RADIX_LEVELS_MAX = 16, RADIX_SMALL = 24, RADIX_AHEAD = 128 };

/* The digit of an item at `level`, 0 the most significant. */
typedef unsigned radix_digit(const void *item, unsigned level);
typedef int radix_compare(const void *left, const void *right);

struct radix_run {
    size_t first, count;
    unsigned level;
};

#define RADIX_INLINE static inline __attribute__((always_inline))

RADIX_INLINE void radix_insert(unsigned char *items, size_t count, radix_compare *compare)
{
    unsigned char moved[RADIX_ITEM];
    for (size_t i = 1; i < count; i++) {
        size_t to = i;
        if (compare(items + (i - 1) * RADIX_ITEM, items + i * RADIX_ITEM) <= 0)
            continue;
        memcpy(moved, items + i * RADIX_ITEM, RADIX_ITEM);
        for (; to > 0 && compare(items + (to - 1) * RADIX_ITEM, moved) > 0; to--)
            memcpy(items + to * RADIX_ITEM, items + (to - 1) * RADIX_ITEM, RADIX_ITEM);
        memcpy(items + to * RADIX_ITEM, moved, RADIX_ITEM);
    }
}

/* Puts every item into the run of its digit; `first` gets RADIX_DIGITS + 1 borders. */
RADIX_INLINE void radix_part(unsigned char *items, size_t count, unsigned level, radix_digit *digit,
                             size_t first[RADIX_DIGITS + 1])
{
    size_t next[RADIX_DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        next[digit(items + i * RADIX_ITEM, level)]++;
    size_t sum = 0;
    for (unsigned value = 0; value < RADIX_DIGITS; value++) {
        first[value] = sum;
        sum += next[value];
        next[value] = first[value];
    }
    first[RADIX_DIGITS] = sum;
    for (unsigned value = 0; value < RADIX_DIGITS; value++)
        while (next[value] < first[value + 1]) {
            unsigned char held[RADIX_ITEM], other[RADIX_ITEM];
            memcpy(held, items + next[value] * RADIX_ITEM, RADIX_ITEM);
            for (unsigned own = digit(held, level); own != value; own = digit(held, level)) {
                unsigned char *place = items + next[own]++ * RADIX_ITEM;
                __builtin_prefetch(place + RADIX_AHEAD,
                                   1); /* 256 streams are too many for the processor's own */
                memcpy(other, place, RADIX_ITEM);
                memcpy(place, held, RADIX_ITEM);
                memcpy(held, other, RADIX_ITEM);
            }
            memcpy(items + next[value]++ * RADIX_ITEM, held, RADIX_ITEM);
        }
}

/* Sorts by digits 0 .. levels-1; `compare` is the same order. */
RADIX_INLINE void radix_sort(void *items, size_t count, unsigned levels, radix_digit *digit,
                             radix_compare *compare)
{
    struct radix_run stack[RADIX_LEVELS_MAX * RADIX_DIGITS];
    size_t depth = 0;
    stack[depth++] = (struct radix_run){0, count, 0};
    while (depth > 0) {
        struct radix_run run = stack[--depth];
        unsigned char *part = (unsigned char *)items + run.first * RADIX_ITEM;
        if (run.count <= RADIX_SMALL) {
            radix_insert(part, run.count, compare);
            continue;
        }
        size_t first[RADIX_DIGITS + 1];
        radix_part(part, run.count, run.level, digit, first);
        for (unsigned value = 0; value < RADIX_DIGITS && run.level + 1 < levels; value++)
            if (first[value + 1] - first[value] > 1)
                stack[depth++] = (struct radix_run){run.first + first[value], first[value + 1] - first[value],
                                                    run.level + 1};
    }
}

#endif
