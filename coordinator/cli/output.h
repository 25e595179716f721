/* A file that appears whole or not at all: written under a temporary name beside its place, synced, renamed;
 * nothing is overwritten unless asked for. NULL as path is standard output. One thread. */
#ifndef KROO_COORDINATOR_CLI_OUTPUT_H
#define KROO_COORDINATOR_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    const char *path; /* borrowed */
    bool force;
    char temporary[4096];
};

/* COMMAND_DONE, or said why (it is there already, no such folder, ...). */
int output_open(struct output *output, const char *path, bool force);
/* Puts it in place; on failure nothing is left behind. */
int output_commit(struct output *output);
void output_abandon(struct output *output);

#endif
