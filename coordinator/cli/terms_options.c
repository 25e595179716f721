#include "coordinator/cli/terms_options.h"

#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"

error_t terms_parse(int key, char *text, struct argp_state *state, struct terms_options *terms)
{
    (void)state;
    switch (key) {
    case TERMS_OPTION_BOOK:
        terms->book = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int terms_find_book(struct store *store, const char *name, struct message_create_experiment *create,
                    uint32_t *openings)
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
    memcpy(create->spec.book, book.sha256, sizeof create->spec.book);
    *openings = book.openings;
    return COMMAND_DONE;
}

static int fill_book(struct store *store, const char *name, bool has_opening,
                     struct message_create_experiment *create)
{
    uint32_t openings;
    if (has_opening)
        return args_refuse("a book gives the openings: leave --opening-plies out, or --book");
    int status = terms_find_book(store, name, create, &openings);
    if (status != COMMAND_DONE)
        return status;
    create->spec.opening_plies = 0;
    if (create->pairs > openings) {
        args_warn("the book has %u openings: the experiment ends undecided after %u pairs if nothing decides "
                  "it before, not after %llu",
                  openings, openings, (unsigned long long)create->pairs);
        create->pairs = openings;
    }
    return COMMAND_DONE;
}

int terms_fill(struct store *store, const struct terms_options *terms, bool has_opening,
               struct message_create_experiment *create)
{
    return terms->book ? fill_book(store, terms->book, has_opening, create) : COMMAND_DONE;
}
