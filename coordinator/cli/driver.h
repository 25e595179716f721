/* What a command needs that drives many experiments and outlives the absence of the cluster: queries and
 * commands of ours that are tried again for ten minutes, and a lock so that there is one driver. One thread.
 */
#ifndef KROO_COORDINATOR_CLI_DRIVER_H
#define KROO_COORDINATOR_CLI_DRIVER_H

#include <jansson.h>
#include <stdbool.h>

#include "coordinator/cli/args.h"
#include "proto/settings.h"
#include "sql/store.h"

enum { DRIVER_WORDS_MAX = 160, DRIVER_WORD_MAX = 512, DRIVER_NUMBER = 24 };

/* The driver ends for now without having failed: an interrupt. */
enum { DRIVER_PAUSED = -1 };

struct driver {
    const struct args_common *common;
    const char *role, *lock_group, *lock_name; /* lock_name NULL: no lock is held */
    struct settings *settings;
    struct store *store;
    json_t *warned; /* warnings told already */
};

/* Settings and database; driver_close is due in any case. */
int driver_open(struct driver *driver, const struct args_common *common, const char *role);
void driver_close(struct driver *driver);
/* Refused when another process holds the same lock; kept until driver_close, taken again after a reconnect.
 */
int driver_lock(struct driver *driver, const char *group, const char *name);

/* A query; a database that is away is waited for. */
int driver_ask(struct driver *driver, const char *sql, const char *const *parameters, size_t count,
               struct store_table *table);
/* The same of one number, the query's only parameter. */
int driver_ask_of(struct driver *driver, const char *sql, uint64_t number, struct store_table *table);
/* A query without an answer. */
int driver_tell(struct driver *driver, const char *sql, const char *const *parameters, size_t count);

/* A command line of ours. */
struct driver_words {
    const char *word[DRIVER_WORDS_MAX];
    char text[DRIVER_WORDS_MAX][DRIVER_WORD_MAX];
    size_t count;
    bool is_too_long;
};
/* `PROGRAM COMMAND` with --config as given, and --dir where the program is `kroo`. */
void driver_words_begin(struct driver_words *words, const struct driver *driver, const char *program,
                        const char *command);
/* One word as it is, of any length; it must outlive the words. */
void driver_words_keep(struct driver_words *words, const char *word);
/* One word, printed; too many or too long are told by driver_run. */
void driver_words_add(struct driver_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Runs it until it is done or refused, waiting for a cluster that is away; its JSON answer, in either case,
 * is the caller's. DRIVER_PAUSED when a signal ended it. */
int driver_run(struct driver_words *words, json_t **answer);
/* Tells the `warnings` of an answer, each once. */
void driver_warn(struct driver *driver, const json_t *answer);

/* Waits until none of the experiments that `sql` lists (with `parameters`: rows of id, state, counted pairs,
 * planned pairs) is going on; a bar tells of all of them. Refused when one is blocked or was stopped,
 * DRIVER_PAUSED on an interrupt. */
int driver_follow(struct driver *driver, const char *what, const char *sql, const char *const *parameters,
                  size_t count);

#endif
