/* What the two halves of the weights share: weights.c makes and checks them, weights_file.c reads and writes
 * them. Internal to engine/. */
#ifndef KROO_ENGINE_WEIGHTS_PARTS_H
#define KROO_ENGINE_WEIGHTS_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/rules.h"
#include "engine/weights.h"

/* What weights of every kind have. All borrowed. */
struct weights_frame {
    const struct rules *rules;
    uint8_t shift;
    int32_t per_logit;
    const char *provenance; /* need not end in a NUL */
    size_t provenance_length;
};

/* As weights_create_table and its like. */
enum weights_error weights_make_table(const struct weights_frame *frame,
                                      const struct weights_phase phases[WEIGHTS_PHASES],
                                      struct weights **out);
enum weights_error weights_make_net(const struct weights_frame *frame, const struct weights_net *net,
                                    struct weights **out);
enum weights_error weights_make_features(const struct weights_frame *frame,
                                         const struct weights_features *features, struct weights **out);
bool weights_parse_rules(const char *name, struct rules *out);

#endif
