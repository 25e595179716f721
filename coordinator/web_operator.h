/* Who may order something on the web page: names and their tokens, out of a file that only its owner reads.
 * One line each, `NAME TOKEN`; `#` begins a comment. Only hashes are kept. Read-only after loading; any
 * thread. */
#ifndef KROO_COORDINATOR_WEB_OPERATOR_H
#define KROO_COORDINATOR_WEB_OPERATOR_H

#include <stddef.h>

enum {
    WEB_OPERATORS = 64,
    WEB_OPERATOR_NAME = 32,
    WEB_TOKEN_LEAST = 24, /* letters of a token: nobody guesses it */
    WEB_TOKEN_MOST = 256,
};

struct web_operators;

/* NULL with the reason: it cannot be read, others may read it, or a line is not as above. */
struct web_operators *web_operators_load(const char *path, char *reason, size_t reason_size);
/* Takes NULL. */
void web_operators_destroy(struct web_operators *operators);
/* The name behind the value of an Authorization header, `Bearer TOKEN`; NULL: nobody's. */
const char *web_operators_name(const struct web_operators *operators, const char *authorization);

#endif
