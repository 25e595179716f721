/* What the commands of kroo-train share: exit statuses, stopping by signal, the connection, the end of the
 * output. One thread. */
#ifndef KROO_EVAL_COMMAND_H
#define KROO_EVAL_COMMAND_H

#include <signal.h>

#include <jansson.h>

#include "eval/archive.h"

enum {
    COMMAND_DONE = 0,
    COMMAND_REFUSED = 1,
    COMMAND_USAGE = 2,
    COMMAND_CONNECTION = 3,
};

/* Set by SIGINT and SIGTERM after command_catch_signals. */
extern volatile sig_atomic_t command_stop;
void command_catch_signals(void);

/* Opens the archive of `database` (libpq) or of the settings. A failure is in archive->reason. */
enum archive_status command_connect(struct archive *archive, const char *config, const char *database);

/* Opens endgame tables for the rules of the games, into train->tables. NULL: none, and all is well. */
enum archive_status command_open_tables(struct archive *archive, struct train *train, const char *path);

/* Prints an object and lets it go. */
void command_print_json(json_t *object);
/* Tells on standard error, or as an object with `state` and `reason`; returns the exit status. */
int command_refuse(enum archive_status status, bool json, const char *reason);
/* Flushes standard output; `what` says what holds although the output was lost. */
int command_end(const char *what);

#endif
