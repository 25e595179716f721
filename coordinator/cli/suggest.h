/* The nearest known word to a mistyped one: commands, options, names of all kinds. Pure. */
#ifndef KROO_COORDINATOR_CLI_SUGGEST_H
#define KROO_COORDINATOR_CLI_SUGGEST_H

#include <stddef.h>

enum { SUGGEST_LENGTH_MAX = 63 };

/* Letters to put in, leave out, change or swap with their neighbour until `a` is `b` (optimal string
 * alignment; Damerau 1964). Both have at most SUGGEST_LENGTH_MAX letters. */
size_t suggest_distance(const char *a, const char *b);
/* Of `count` names the nearest to `text`; NULL when none is near: nearer than a third of the longer of the
 * two, or than two letters, or with three letters in common at the beginning of a short one. */
const char *suggest_nearest(const char *text, const char *const *names, size_t count);

#endif
