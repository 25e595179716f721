/* Signing of engines with an operator's key, and the check before one of them runs here. One thread. */
#ifndef KROO_COORDINATOR_CLI_SEALING_H
#define KROO_COORDINATOR_CLI_SEALING_H

#include "coordinator/cli/args.h"
#include "proto/seal.h"
#include "sql/store_seal.h"

/* The signing key: the file of `option`, else of the setting `sign`; *has is false where there is neither.
 * Programs that are tried from now on do not see the file. COMMAND_DONE, or said what is wrong. */
int sealing_key(const struct args_common *common, const char *option, struct seal_key *key, bool *has);
/* Signs one artifact under a name, in the caller's transaction. */
enum store_error sealing_put(struct store *store, const struct seal_key *key, const char *name,
                             const uint8_t sha256[STORE_HASH], const void *bytes, size_t size,
                             bool is_source);
/* Signs an engine of the database with all its parts; NULL: every engine. The number signed. */
int sealing_engines(struct store *store, const struct seal_key *key, const char *name, size_t *count);
/* Before a program from the database runs here: COMMAND_DONE when one of the keys of the setting `trust` has
 * signed it, or none is set; else said why not. */
int sealing_check(struct store *store, const uint8_t sha256[STORE_HASH], const void *bytes, size_t size,
                  bool is_source);

/* `kroo engine sign`. */
int engine_sign_command(int argc, char **argv);

#endif
