/* Weights as JSON and back: the form in which they travel between programs that are not Kroo.
 * weights/FORMAT.md describes it field by field. Shared by `kroo` and `kroo-train`, which may use jansson;
 * the engine may not. Pure; any thread. */
#ifndef KROO_PROTO_WEIGHTS_JSON_H
#define KROO_PROTO_WEIGHTS_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/weights.h"

enum {
    WEIGHTS_JSON_MAX = 4 << 20, /* bytes of text; longer is refused before parsing */
    WEIGHTS_JSON_REASON = 256,
};

/* A new object: format, version, kind, rules, unit, scale, parameters by kind, the test positions with
 * scores, and the provenance. NULL without memory. */
json_t *weights_json(const struct weights *weights);
/* Of text from outside: weights that the caller owns, or NULL and a reason that names the field. Fields that
 * describe an export (number, name, size, unit, phase_seeds_min, lineage, training, proof, sha256) are let
 * by; an unknown field is refused, and so are vectors that do not come out. `rules_name` non-NULL demands
 * these rules. */
struct weights *weights_json_parse(const char *text, size_t length, const char *rules_name,
                                   char reason[WEIGHTS_JSON_REASON]);
/* The text's `sha256` where it has one, to compare with the file made of it: 64 hex letters and a NUL. False
 * when there is none, or it is no hash. */
bool weights_json_sha256(const char *text, size_t length, char out[65]);

#endif
