/* A file that appears whole or not at all: written under a temporary name beside its place, synced, renamed.
 * A file that is there is replaced only when asked for; what is no ordinary file (a device, a pipe) is never
 * replaced but written into, and a symbolic link is followed. NULL as path is standard output. One thread. */
#ifndef KROO_COORDINATOR_CLI_OUTPUT_H
#define KROO_COORDINATOR_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

enum { OUTPUT_PATH_MAX = 4096 };

struct output {
    FILE *file;
    const char *name; /* as the user gave it; borrowed */
    bool renames;     /* the file waits under `temporary` for its place */
    bool force;
    char path[OUTPUT_PATH_MAX]; /* its place, links followed */
    char temporary[OUTPUT_PATH_MAX + 8];
};

/* COMMAND_DONE, or said why (it is there already, no such folder, ...). */
int output_open(struct output *output, const char *path, bool force);
/* Puts it in place; on failure nothing is left behind. */
int output_commit(struct output *output);
void output_abandon(struct output *output);

#endif
