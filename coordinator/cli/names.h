/* The names that people can write: of weights, engines, books, ... For completion, and for who mistypes one.
 * One thread. */
#ifndef KROO_COORDINATOR_CLI_NAMES_H
#define KROO_COORDINATOR_CLI_NAMES_H

#include "sql/store.h"

enum names_kind {
    NAMES_WEIGHTS,
    NAMES_ENGINES,
    NAMES_BOOKS,
    NAMES_TABLES,
    NAMES_PRESETS,
    NAMES_POOLS,
    NAMES_TOURNAMENTS,
    NAMES_LOOPS,
    NAMES_EXPERIMENTS,
    NAMES_RUNNING,
    NAMES_WORKERS,
    NAMES_KEYS,
    NAMES_QUERIES, /* shipped ones: no database is asked */
    NAMES_KINDS,
};
enum { NAMES_HINT = 112 };

/* `; did you mean "NAME"?` when there is a name near to `text`, else "". */
const char *names_hint(struct store *store, enum names_kind kind, const char *text, char hint[NAMES_HINT]);
/* Refuses a name that there is not, with the nearest that there is: COMMAND_REFUSED. */
int names_refuse(struct store *store, enum names_kind kind, const char *text);
/* The same of weights after store_weights_find has refused them: its reason says more. */
int names_refuse_weights(struct store *store, const char *text);
/* Refuses an experiment that there is not, with the last that there is: COMMAND_REFUSED. */
int names_refuse_experiment(struct store *store, uint64_t experiment);

#endif
