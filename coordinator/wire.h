/* One specification in its two forms: as it travels (proto/message.h) and as it is stored (sql/store.h).
 * Every field is carried here and nowhere else, by the list in specification_fields.c. Pure; any thread. */
#ifndef KROO_COORDINATOR_WIRE_H
#define KROO_COORDINATOR_WIRE_H

#include "proto/message.h"
#include "sql/store.h"

/* The row to store for a request of the user `by`: running, played by this program's engine build. */
void wire_store_experiment(const struct message_create_experiment *create, const char *by,
                           struct store_experiment *experiment);
/* What a worker is told. */
void wire_spec(const struct store_experiment *experiment, struct message_spec *spec);
/* The request that would make the same experiment. */
void wire_create(const struct store_experiment *experiment, struct message_create_experiment *create);

#endif
