/* The cluster at a glance: what `kroo` alone and `kroo watch` show. Database and coordinator are asked by a
 * thread each, so that neither keeps the other, or the screen, waiting; an absent one is asked again. */
#ifndef KROO_COORDINATOR_CLI_GLANCE_H
#define KROO_COORDINATOR_CLI_GLANCE_H

#include <jansson.h>
#include <stdbool.h>

#include "coordinator/record.h"
#include "proto/settings.h"

enum { GLANCE_REASON = 512 };

/* What one of the two said last. */
struct glance_side {
    json_t *told;               /* NULL: nothing so far; of the last answer otherwise */
    bool is_up;                 /* `told` is of now */
    char reason[GLANCE_REASON]; /* why not, when it is not up; "" before the first answer */
    double age_s;               /* of `told` */
};

struct glance {
    struct glance_side database, coordinator;
    bool has_record; /* of the experiment that is looked at, as old as what the database told */
    struct record record;
};

struct glance_source;
/* Begins to look, every `every_ms`, at one experiment, too, unless it is 0; an answer of the coordinator is
 * waited for `patience_ms`. `settings` must outlive the program. NULL, said why, without threads. */
struct glance_source *glance_start(const struct settings *settings, uint64_t experiment, int every_ms,
                                   int patience_ms);
/* What is known, once both sides have answered or `wait_ms` are over. glance_done is due. */
void glance_read(struct glance_source *source, int wait_ms, struct glance *out);
void glance_done(struct glance *glance);
/* The threads end as soon as they can; nobody waits for them. */
void glance_stop(struct glance_source *source);

#endif
