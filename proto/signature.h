/* What an engine answers to fixed positions under a limit of nodes (move, score and nodes of each): equal on
 * every machine for an engine that is what it was where it was added. Played under the rules `site` with the
 * engine's own weights. One thread a dialect. */
#ifndef KROO_PROTO_SIGNATURE_H
#define KROO_PROTO_SIGNATURE_H

#include "proto/dialect.h"

enum {
    SIGNATURE_TEXT = 17, /* sixteen hexadecimal letters and a NUL */
    SIGNATURE_POSITIONS = 12,
    SIGNATURE_NODES = 2000, /* for each */
};

/* Moves to position `index` (below SIGNATURE_POSITIONS) from the start; written to `moves`,
 * SIGNATURE_MOVES_MAX bytes. */
enum { SIGNATURE_MOVES_MAX = 128 };
void signature_position(unsigned index, char moves[SIGNATURE_MOVES_MAX]);

/* Asks a program that was opened and nothing else. `answers` (may be NULL) counts its moves as they come. */
enum dialect_error signature_ask(struct dialect *dialect, char signature[SIGNATURE_TEXT],
                                 atomic_uint *answers, char *reason, size_t reason_size);

#endif
