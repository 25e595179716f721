/* The program of an engine for this machine: the artifact itself, the binary of a set, or what its sources
 * make. One thread. */
#ifndef KROO_COORDINATOR_CLI_ENGINE_PROGRAM_H
#define KROO_COORDINATOR_CLI_ENGINE_PROGRAM_H

#include "proto/engine_set.h"
#include "sql/store.h"

/* Builds sources in a private folder, confined. The program's bytes are malloc'ed. COMMAND_DONE, or said why
 * not. */
int engine_program_build(const void *archive, size_t archive_size, const struct engine_set *set, void **bytes,
                         size_t *size);
/* From the database, by the engine's hash. */
int engine_program_load(struct store *store, const uint8_t sha256[STORE_HASH], void **bytes, size_t *size);

#endif
