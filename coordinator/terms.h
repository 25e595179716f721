/* What the games of an experiment begin and end by: its rules, its opening book and the endgame tables that
 * adjudicate. Books and tables are kept once in the process, by content, for as long as some terms hold them:
 * the writer, which has the database, loads the terms of what runs, and the referees of the event loop hold
 * the same. What is kept is immutable; any thread may hold and destroy terms, each by one thread. */
#ifndef KROO_COORDINATOR_TERMS_H
#define KROO_COORDINATOR_TERMS_H

#include "engine/play.h"
#include "sql/store.h"

enum terms_kind { TERMS_BOOK, TERMS_TABLES };

struct terms {
    struct rules rules;
    struct play_setup setup; /* points at the rules above and at what is kept */
    struct kept *kept[2];    /* by enum terms_kind; NULL: none */
};

/* Terms of what is kept already, no database asked. STORE_OK and *out is the caller's; REFUSED with the
 * reason in `text` for a book or tables that are missing, damaged, of other rules or too large to travel. */
enum store_error terms_hold(const struct store_experiment *experiment, struct terms **out,
                            char text[STORE_TEXT]);
/* The same; what is not kept is read from the database, whose errors are handed through. */
enum store_error terms_load(struct store *store, const struct store_experiment *experiment,
                            struct terms **out, char text[STORE_TEXT]);
void terms_destroy(struct terms *terms); /* takes NULL */

/* Opens content (malloc'ed, taken) and keeps it until terms_drop; NULL with the reason when it is not what it
 * should be. */
struct kept *terms_keep(enum terms_kind kind, void *bytes, size_t size, char text[STORE_TEXT]);
void terms_drop(struct kept *kept); /* takes NULL */

#endif
