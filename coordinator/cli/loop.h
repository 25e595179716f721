/* A learning loop: its specification, its rows, and the driver that takes it from step to step (`kroo loop`).
 * Everything done is in the database before the next step begins, and every step is idempotent by key, so a
 * loop goes on wherever it was cut off. One thread. */
#ifndef KROO_COORDINATOR_CLI_LOOP_H
#define KROO_COORDINATOR_CLI_LOOP_H

#include <jansson.h>

#include "coordinator/cli/driver.h"
#include "sql/store.h"

enum { LOOP_NAME_MAX = 33, LOOP_HEX = 2 * STORE_HASH + 1 };

/* What `kroo loop run` was asked for. */
struct loop_request {
    struct args_common common;
    const char *name, *line, *rules;
    json_t *given; /* the options of the specification that were named, key to value */
    uint64_t generations;
    bool has_generations;
    double hours; /* 0: no bound */
};

struct loop {
    const struct loop_request *request;
    struct driver driver; /* as kroo_trainer */
    uint64_t id;
    char name[LOOP_NAME_MAX], line[STORE_NAME], rules[STORE_RULES], state[16], first[LOOP_HEX],
        starting[LOOP_HEX];
    json_t *specification;
    uint64_t planned;
};

/* Every key of a specification with its default. A new object. */
json_t *loop_defaults(void);
/* The loop of that name, made when there is none; options that contradict an existing one are refused. */
int loop_open(struct loop *loop);
void loop_done(struct loop *loop);
/* Generation after generation until the planned number, the hours, `kroo loop stop` or an interrupt. */
int loop_drive(struct loop *loop);

#endif
