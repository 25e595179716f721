#include "coordinator/cli/terms_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/connect.h"
#include "coordinator/specification.h"
#include "engine/play.h"

enum { DEFAULT_RESIGN_PLIES = 3, DEFAULT_PLAYOUT_PPM = 100000 };

/* SCORE[,PLIES[,PERCENT]]. */
static void parse_resign(struct argp_state *state, const char *text, struct terms_options *terms)
{
    char score[32] = "", plies[32] = "", percent[32] = "", rest;
    int fields = sscanf(text, "%31[^,],%31[^,],%31[^,]%c", score, plies, percent, &rest);
    size_t commas = 0;
    for (const char *at = text; *at; at++)
        commas += *at == ',';
    if (fields < 1 || (size_t)fields != commas + 1)
        argp_error(state, "--resign takes SCORE[,PLIES[,PERCENT]]: 900, or 900,4,5; not \"%.40s\"", text);
    terms->resigns = true;
    terms->resign_score = (uint32_t)args_number(state, "--resign", score, 1, SPECIFICATION_RESIGN_MAX);
    terms->resign_plies = fields > 1 ? (uint32_t)args_number(state, "--resign, its plies,", plies, 1,
                                                             SPECIFICATION_RESIGN_PLIES_MAX)
                                     : DEFAULT_RESIGN_PLIES;
    double share = fields > 2 ? args_decimal(state, "--resign, its share,", percent) : 0;
    if (!(share >= 0 && share <= 100))
        argp_error(state, "--resign: the share of games played out is a percentage: 0 to 100");
    terms->resign_playout_ppm =
        fields > 2 ? (uint32_t)lround(share / 100 * PLAY_NOISE_UNIT) : DEFAULT_PLAYOUT_PPM;
}

error_t terms_parse(int key, char *text, struct argp_state *state, struct terms_options *terms)
{
    switch (key) {
    case TERMS_OPTION_BOOK:
        terms->book = text;
        return 0;
    case TERMS_OPTION_ADJUDICATE:
        terms->adjudicate = text;
        return 0;
    case TERMS_OPTION_RESIGN:
        parse_resign(state, text, terms);
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
        return names_refuse(store, NAMES_BOOKS, name);
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

static int fill_adjudication(struct store *store, const char *name, struct message_create_experiment *create)
{
    struct store_tables tables;
    enum store_error error = store_tables_find(store, name, NULL, &tables);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse(store, NAMES_TABLES, name);
    if (error != STORE_OK)
        return connect_failed(store, error);
    if (!tables.travels)
        return args_refuse("the endgame tables %s are larger than 64 MiB: the coordinator cannot check with "
                           "them where a game ends; take smaller ones",
                           tables.name);
    memcpy(create->spec.adjudication, tables.sha256, sizeof create->spec.adjudication);
    return COMMAND_DONE;
}

int terms_fill(struct store *store, const struct terms_options *terms, bool has_opening,
               struct message_create_experiment *create)
{
    int status = COMMAND_DONE;
    if (terms->resigns) {
        create->spec.resign_score = terms->resign_score;
        create->spec.resign_plies = terms->resign_plies;
        create->spec.resign_playout_ppm = terms->resign_playout_ppm;
        create->spec.with_scores = create->spec.with_scores || create->spec.kind != MESSAGE_SELFPLAY;
    }
    if (terms->adjudicate)
        status = fill_adjudication(store, terms->adjudicate, create);
    return status == COMMAND_DONE && terms->book ? fill_book(store, terms->book, has_opening, create)
                                                 : status;
}
