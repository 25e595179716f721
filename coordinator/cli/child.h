/* A program run to its end for what it prints. One thread. */
#ifndef KROO_COORDINATOR_CLI_CHILD_H
#define KROO_COORDINATOR_CLI_CHILD_H

#include <stddef.h>

enum { CHILD_OUTPUT_MAX = 1 << 20, CHILD_ARGUMENTS_MAX = 48 };

/* The path of the program `name` that lies beside this one; valid until the next call. */
const char *child_program(const char *name);

/* Runs `command` (NULL-terminated), its standard output into `*output` (NUL-terminated, malloc'ed, cut at
 * CHILD_OUTPUT_MAX), its errors to ours. It dies with us. Returns its exit status, 128 + signal when one
 * killed it, 127 when it could not be started; *output is NULL only without memory. */
int child_run(const char *const *command, char **output);

#endif
