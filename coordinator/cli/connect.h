/* How a command reaches the cluster: its settings, the database as a given role, the coordinator for one
 * request. Whatever fails is told on standard error with what to do. One thread. */
#ifndef KROO_COORDINATOR_CLI_CONNECT_H
#define KROO_COORDINATOR_CLI_CONNECT_H

#include "coordinator/cli/args.h"
#include "proto/message.h"
#include "proto/settings.h"
#include "sql/store.h"

enum { CONNECT_HELLO_MS = 6000, CONNECT_TRY_MS = 1500, CONNECT_REQUEST_MS = 60000 };

/* NULL after saying why; *status is then the exit status: COMMAND_NO_CONNECTION when the folder of `--dir`
 * holds no cluster, else COMMAND_USAGE. */
struct settings *connect_settings(const struct args_common *common, int *status);

/* The database as `role` with its schema checked; NULL after saying why (COMMAND_NO_CONNECTION). */
struct store *connect_store(const struct settings *settings, const char *role);
/* Settings and database in one: *status is the exit status when NULL comes back. */
struct store *connect_as(const struct args_common *common, const char *role, int *status);
/* The same for a command that only reads. */
struct store *connect_reader(const struct args_common *common, int *status);
/* The setting `trust` of the settings that the database was opened by: public signing keys, comma separated.
 */
const char *connect_trust(void);
/* Who asks, for the record. */
const char *connect_caller(void);

/* Runs a query; on failure says why and returns COMMAND_NO_CONNECTION or COMMAND_REFUSED, else COMMAND_DONE.
 */
int connect_query(struct store *store, const char *sql, const char *const *parameters, size_t count,
                  struct store_table *out);
/* The same of one number, the query's only parameter. */
int connect_query_of(struct store *store, const char *sql, uint64_t number, struct store_table *out);
/* The same mapping for an error of another store_ call. */
int connect_failed(struct store *store, enum store_error error);
/* Runs a query and prints its rows: a table, or with `json` an array. `empty` stands for a table without
 * rows. */
int connect_print(struct store *store, bool json, const char *sql, const char *const *parameters,
                  size_t count, const char *empty);
/* A whole command that lists: it has no options of its own and prints the rows of `sql`. */
int connect_list(int argc, char **argv, const char *doc, const char *sql, const char *empty);
/* The content of an artifact, checked against its name; malloc'ed. `what` names its kind when it is wrong. */
int connect_artifact(struct store *store, const char *what, const uint8_t sha256[STORE_HASH], void **bytes,
                     size_t *size);

/* The same of weights that play in a batch of a tune, too, which are made again. */
int connect_weights(struct store *store, const uint8_t sha256[STORE_HASH], void **bytes, size_t *size);

struct coordinator_link;
/* HELLO to the coordinator and WELCOME back, within CONNECT_HELLO_MS. NULL: *status is set. */
struct coordinator_link *link_open(const struct settings *settings, int *status);
/* The same for who cannot wait so long, neither for the greeting nor for any answer. */
struct coordinator_link *link_open_within(const struct settings *settings, int patience_ms, int *status);
void link_close(struct coordinator_link *link);
/* The engine build of the coordinator. */
const char *link_engine_build(const struct coordinator_link *link);
/* Sends `request` (its number is set here) and waits for its answer within CONNECT_REQUEST_MS
 * (or the patience it was opened with); comes back as
 * often as a busy coordinator asks for. COMMAND_DONE: `reply` is of kind `expected` and message_done is the
 * caller's. */
int link_ask(struct coordinator_link *link, struct message *request, enum message_kind expected,
             struct message *reply);

#endif
