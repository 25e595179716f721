/* Tags: plain names by which a worker says what it has, and an experiment what it needs. A list is text,
 * comma separated: `avx2,gpu,arch=x86_64`. A name has 1 to 32 of the letters A-Z a-z 0-9 . _ + = - and begins
 * with a letter or digit; there are no expressions. Pure; any thread. */
#ifndef KROO_PROTO_TAGS_H
#define KROO_PROTO_TAGS_H

#include <stdbool.h>
#include <stddef.h>

enum { TAGS_TEXT = 256, TAGS_NAME = 33, TAGS_MAX = 16 };

/* Whether `text` is a list ("" is one), at most TAGS_MAX names and TAGS_TEXT - 1 letters, none twice;
 * otherwise a reason that says what to do. */
bool tags_check(const char *text, char *reason, size_t reason_size);
/* Whether every name of `needed` is in `had`; otherwise the first that is not. */
bool tags_cover(const char *had, const char *needed, char missing[TAGS_NAME]);
/* Adds a name to a list of TAGS_TEXT bytes, unless it is there or there is no room. */
void tags_add(char *list, const char *name);
/* What this machine and build tell of themselves: arch=, os=, and what the processor can (avx2,
 * bmi2, avx512, neon). */
void tags_of_machine(char list[TAGS_TEXT]);

#endif
