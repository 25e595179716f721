/* What a program's lines mean in the UCI dialect: pure text, apart from dialect.c so that any bytes can be
 * tried on it. Private to proto/dialect.c and its tests. */
#ifndef KROO_PROTO_DIALECT_LINE_H
#define KROO_PROTO_DIALECT_LINE_H

#include "proto/dialect.h"

/* What a greeting tells. */
struct dialect_listing {
    char name[DIALECT_NAME_MAX];
    char options[DIALECT_LIST_MAX]; /* `option ...` lines, each ended by a line feed */
    size_t count, filled;
};

/* Whether a line begins with a whole word; *rest is what follows it. */
bool dialect_line_begins(const char *line, const char *word, const char **rest);
/* Takes a line of the greeting; true for its last, `uciok`. Beyond the bounds, options are overlooked: they
 * cannot be set then. */
bool dialect_line_greeting(const char *line, struct dialect_listing *listing);
bool dialect_line_has_option(const struct dialect_listing *listing, const char *name);
/* Takes a line of an answer to `go`; true for its last, `bestmove`. `answer` begins without score. */
bool dialect_line_answer(const char *line, struct dialect_answer *answer);

#endif
