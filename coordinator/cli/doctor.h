/* `kroo doctor`: what it examines, area by area, and what it found. Every finding is a row: an area, what was
 * looked at, its state, what is the case, and how to mend it. One thread. */
#ifndef KROO_COORDINATOR_CLI_DOCTOR_H
#define KROO_COORDINATOR_CLI_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "coordinator/cli/args.h"
#include "proto/settings.h"
#include "sql/store.h"

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_WARNING, /* works, and may not for long or not well */
    DOCTOR_ERROR,   /* does not work, or a promise does not hold */
};

struct doctor {
    struct args_common common;
    uint64_t disk_mib; /* what a disk should have left */
    struct settings *settings;
    struct store *store; /* NULL: the database does not answer */
    json_t *status;      /* what the coordinator tells of itself; NULL: it does not answer */
    char coordinator_build[64];
    int64_t clock_off_ms; /* its clock against ours, where it tells */
    json_t *findings;     /* objects of area, check, state, found, mend */
    unsigned warnings, errors;
};

/* A finding. `mend` says what to do; "" where there is nothing to do. */
void doctor_add(struct doctor *doctor, enum doctor_state state, const char *area, const char *check,
                const char *mend, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The disk below `path`. */
void doctor_check_disk(struct doctor *doctor, const char *area, const char *check, const char *path);

void doctor_check_machine(struct doctor *doctor);  /* doctor_machine.c: cores, memory, limits, disk */
void doctor_check_settings(struct doctor *doctor); /* doctor_keys.c: the file, endpoints, keys, their modes */
void doctor_check_database(struct doctor *doctor); /* doctor_database.c; leaves the store open */
void doctor_check_cluster(
    struct doctor *doctor);                   /* doctor_cluster.c: coordinator, workers, versions, spools */
void doctor_check_web(struct doctor *doctor); /* doctor_web.c: the page */

#endif
