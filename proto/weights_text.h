/* Weights as a C header that checks itself, and as tables for people. Shared by `kroo` and `kroo-train`. Pure
 * but for the stream written to; any thread. */
#ifndef KROO_PROTO_WEIGHTS_TEXT_H
#define KROO_PROTO_WEIGHTS_TEXT_H

#include <stdio.h>

#include "engine/weights.h"

/* What the header's comment says of them; the title may come from anywhere. */
struct weights_text {
    const struct weights *weights;
    const char *title;
    const char *sha256; /* hex, of the file */
    const char *parent; /* hex, or "none" */
};

/* Compiles by itself as C99; with -DKROO_WEIGHTS_MAIN it is a program that checks the test positions. 0, or
 * -1 when the stream or memory fails. */
int weights_text_c(const struct weights_text *what, FILE *out);
/* Sections of Markdown: the parameters in the order a person reads them, then the test positions. */
int weights_text_md(const struct weights *weights, FILE *out);

#endif
