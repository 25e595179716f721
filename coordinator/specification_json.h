/* A specification as a JSON document: what `kroo spec` prints and `kroo run` reads, and what two requests are
 * compared by. One table names every field (specification_json.c), so that what is written, what may be read
 * and what is compared are the same. Pure; any thread. */
#ifndef KROO_COORDINATOR_SPECIFICATION_JSON_H
#define KROO_COORDINATOR_SPECIFICATION_JSON_H

#include <jansson.h>

#include "coordinator/specification.h"

enum {
    SPECIFICATION_JSON_VERSION = 1,
    SPECIFICATION_JSON_BYTES_MAX = 64 * 1024, /* of a document */
};

/* Names where a hash may stand, for whoever has the database; "" where there was a hash or nothing. */
struct specification_names {
    struct specification_player_names {
        char weights[MESSAGE_NAME_MAX], engine[MESSAGE_NAME_MAX], tables[MESSAGE_NAME_MAX];
    } a, b;
    char book[MESSAGE_NAME_MAX], adjudication[MESSAGE_NAME_MAX], tune[MESSAGE_NAME_MAX];
};

/* Every field, in one order, files by their hash; without experiment number and idempotency key. NULL without
 * memory. */
json_t *specification_json_write(const struct message_create_experiment *create);

/* Fills `out`, which holds the defaults, and `names`; *has_seed tells whether it names a seed. Fields that
 * are absent keep their default; an unknown one, a wrong type or a number out of its bounds is refused by
 * name in `reason`. What is sensible is for specification_check. */
bool specification_json_read(const json_t *document, struct message_create_experiment *out,
                             struct specification_names *names, bool *has_seed,
                             char reason[SPECIFICATION_REASON_MAX]);

/* What two requests for one key differ in, of all that games, counts and verdict depend on: `pairs is 20
 * there, 30 here`. False when nothing does. Priority, share, cap, tags, note and the engine build are not
 * compared. */
bool specification_json_differ(const struct message_create_experiment *there,
                               const struct message_create_experiment *here, char *text, size_t size);

#endif
