/* How games begin and end, as the user of `kroo selfplay` and `kroo match` names it: an opening book. One
 * thread. */
#ifndef KROO_COORDINATOR_CLI_TERMS_OPTIONS_H
#define KROO_COORDINATOR_CLI_TERMS_OPTIONS_H

#include "coordinator/cli/args.h"
#include "proto/message.h"
#include "sql/store.h"

struct terms_options {
    const char *book; /* NULL: not given */
};

/* Its input is a struct terms_options. */
extern const struct argp terms_argp;

/* Fills what the options name into the request, whose rules are set; `has_opening`: the user asked for random
 * plies, too. A book of fewer openings than pairs lowers the pairs, with a warning. COMMAND_DONE, or said why
 * not. */
int terms_fill(struct store *store, const struct terms_options *terms, bool has_opening,
               struct message_create_experiment *create);

/* True when two specifications begin and end their games alike. */
bool terms_same(const struct message_spec *a, const struct message_spec *b);

#endif
