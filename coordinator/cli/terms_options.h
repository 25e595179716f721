/* How games begin and end, as the user of `kroo selfplay` and `kroo match` names it: an opening book,
 * endgame tables that adjudicate, resignation. One thread. */
#ifndef KROO_COORDINATOR_CLI_TERMS_OPTIONS_H
#define KROO_COORDINATOR_CLI_TERMS_OPTIONS_H

#include "coordinator/cli/args.h"
#include "proto/message.h"
#include "sql/store.h"

struct terms_options {
    const char *book, *adjudicate; /* NULL: not given */
    bool resigns;
    uint32_t resign_score, resign_plies, resign_playout_ppm;
};

/* Keys of the options, which launch.c lists. */
enum { TERMS_OPTION_BOOK = 0x4000, TERMS_OPTION_ADJUDICATE, TERMS_OPTION_RESIGN };
/* ARGP_ERR_UNKNOWN for other keys. */
error_t terms_parse(int key, char *text, struct argp_state *state, struct terms_options *terms);

/* Fills what the options name into the request, whose rules are set; `has_opening`: the user asked for random
 * plies, too. A book of fewer openings than pairs lowers the pairs, with a warning. COMMAND_DONE, or said why
 * not. */
int terms_fill(struct store *store, const struct terms_options *terms, bool has_opening,
               struct message_create_experiment *create);

/* The hash of a book for the rules of `create`, by name. COMMAND_DONE, or said why not. */
int terms_find_book(struct store *store, const char *name, struct message_create_experiment *create,
                    uint32_t *openings);

#endif
