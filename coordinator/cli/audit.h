/* How far an experiment's audits have come, for `kroo show`. One thread. */
#ifndef KROO_COORDINATOR_CLI_AUDIT_H
#define KROO_COORDINATOR_CLI_AUDIT_H

#include "coordinator/cli/table.h"

/* COMMAND_DONE, or said why. */
int audit_read(struct store *store, uint64_t experiment, struct store_table *progress);
void audit_print_lines(const struct store_table *progress);

#endif
