/* What leaves Kroo: weights with proof (promise 6) and games as records that stand alone. Pure but for the
 * stream written to; any thread. README.md of this folder describes the formats field by field. */
#ifndef KROO_COORDINATOR_EXPORT_H
#define KROO_COORDINATOR_EXPORT_H

#include <jansson.h>
#include <stdio.h>

#include "engine/weights.h"
#include "sql/store_repeat.h"

/* --- weights --- */

enum export_format { EXPORT_BIN, EXPORT_JSON, EXPORT_C, EXPORT_MD };
/* "bin", "json", "c", "md"; -1 for another. */
int export_format_parse(const char *text);

struct export_weights {
    const struct weights *weights;
    const void *bytes; /* the file */
    size_t size;
    const char *sha256; /* hex */
    uint64_t number;
    const char *name;
    const json_t *lineage;  /* array of objects, itself first; columns of view weights_lineage */
    const json_t *training; /* the training_run, or null */
    const json_t *proof;    /* array: promotions with the verdicts that promoted it */
};

/* Writes the whole; 0, or -1 when the stream or memory fails. `md` is a page for people, `c` a header that
 * compiles by itself and can check itself. */
int export_weights(const struct export_weights *what, enum export_format format, FILE *out);
/* The JSON of the same, with its 64 test positions. NULL without memory. */
json_t *export_weights_json(const struct export_weights *what);

/* --- games --- */

/* What every game of an experiment shares. */
struct export_game_frame {
    const struct store_experiment *experiment;
    const char *sha256_a, *sha256_b;    /* hex */
    uint64_t counted_pairs;             /* pairs below this count, */
    const struct store_repeat *repeats; /* but for these, in pair order; borrowed */
    size_t repeat_count;
};
/* What a pair repeats; NULL for one that does not. */
const struct store_repeat *export_repeat(const struct export_game_frame *frame, uint64_t pair);

/* One line that needs no other: key=value words, the moves last. */
int export_game_text(const struct export_game_frame *frame, const struct store_game *game, FILE *out);
/* One JSON object on a line; scores as an array (null for plies without one) when there are any. */
int export_game_json(const struct export_game_frame *frame, const struct store_game *game, FILE *out);

#endif
