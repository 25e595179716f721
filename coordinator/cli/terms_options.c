#include "coordinator/cli/terms_options.h"

#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"

enum { OPTION_BOOK = 0x4000 };

static const struct argp_option options[] = {
    {"book", OPTION_BOOK, "B", 0, "Openings: a book of `kroo book ls`, in place of random plies", 4}, {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct terms_options *terms = state->input;
    switch (key) {
    case OPTION_BOOK:
        terms->book = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp terms_argp = {.options = options, .parser = parse};

static int fill_book(struct store *store, const char *name, bool has_opening,
                     struct message_create_experiment *create)
{
    struct store_book book;
    enum store_error error = store_book_find(store, name, NULL, &book);
    if (error == STORE_ERROR_REFUSED)
        return args_refuse("no book is called \"%.80s\": `kroo book ls` lists them", name);
    if (error != STORE_OK)
        return connect_failed(store, error);
    if (strcmp(book.rules, create->spec.rules) != 0)
        return args_refuse("the book %s is for the rules %s, this experiment plays %s: give --rules %s, or "
                           "make a book for these",
                           book.name, book.rules, create->spec.rules, book.rules);
    if (has_opening)
        return args_refuse("a book gives the openings: leave --opening-plies out, or --book");
    memcpy(create->spec.book, book.sha256, sizeof create->spec.book);
    create->spec.opening_plies = 0;
    if (create->pairs > book.openings) {
        args_warn("the book has %u openings: the experiment ends undecided after %u pairs if nothing decides "
                  "it before, not after %llu",
                  book.openings, book.openings, (unsigned long long)create->pairs);
        create->pairs = book.openings;
    }
    return COMMAND_DONE;
}

int terms_fill(struct store *store, const struct terms_options *terms, bool has_opening,
               struct message_create_experiment *create)
{
    return terms->book ? fill_book(store, terms->book, has_opening, create) : COMMAND_DONE;
}

bool terms_same(const struct message_spec *a, const struct message_spec *b)
{
    return memcmp(a->book, b->book, MESSAGE_HASH) == 0 &&
           memcmp(a->adjudication, b->adjudication, MESSAGE_HASH) == 0 &&
           a->resign_score == b->resign_score && a->resign_plies == b->resign_plies &&
           a->resign_playout_ppm == b->resign_playout_ppm;
}
