/* A program run to its end for what it prints. One thread. */
#ifndef KROO_COORDINATOR_CLI_CHILD_H
#define KROO_COORDINATOR_CLI_CHILD_H

#include <stddef.h>

enum { CHILD_OUTPUT_MAX = 1 << 20, CHILD_ARGUMENTS_MAX = 48 };

/* Runs `command` (NULL-terminated), its standard output into `*output` (NUL-terminated, malloc'ed, cut at
 * CHILD_OUTPUT_MAX), its errors to ours. It dies with us. Returns its exit status, 128 + signal when one
 * killed it, 127 when it could not be started; *output is NULL only without memory. */
int child_run(const char *const *command, char **output);

#endif
