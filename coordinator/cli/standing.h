/* How a verdict stands, for `kroo show`: withdrawn, let go on after that, or resting on builds that play
 * differently. */
#ifndef KROO_COORDINATOR_CLI_STANDING_H
#define KROO_COORDINATOR_CLI_STANDING_H

#include "coordinator/cli/table.h"
#include "sql/store.h"

/* A row for each thing to say: what, text, at. A command's exit status; the table is the caller's after
 * COMMAND_DONE. */
int standing_read(struct store *store, uint64_t experiment, struct store_table *standing);
void standing_print_lines(const struct store_table *standing);

#endif
