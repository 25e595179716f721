/* The constants of the search that a player may set for itself (`Name=Value`, the same names as options of
 * kroo-engine) and that a tune may look for. The defaults are what was measured (engine/README.md); whatever
 * they are, a search stays a function of its input, and a full-width one asks none of them but the window.
 * Pure; any thread. */
#ifndef KROO_ENGINE_SEARCH_PARAMETERS_H
#define KROO_ENGINE_SEARCH_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct search_parameters {
    int32_t aspiration_window; /* hundredths of a seed to either side of the score of the iteration before */
    /* Plies left up to which the evaluation cuts, and the hundredths of a seed it must be above the window
       for each ply left, or below it. */
    int32_t cut_depth, cut_margin;
    int32_t hopeless_depth, hopeless_margin;
    int32_t capture_margin; /* what a capture can be worth beyond its seeds */
    int32_t unknown_depth;  /* from here on a board the table knows no move of is searched a ply less deep */
    int32_t reduce_depth;   /* from here on later moves are searched a ply less deep at first */
    int32_t reduce_from;    /* moves tried before */
};

struct search_parameter {
    const char *name;
    int32_t low, high, usual;
};

/* NULL beyond the last. */
const struct search_parameter *search_parameter_at(size_t index);
/* By name in any case; NULL when there is none. */
const struct search_parameter *search_parameter_find(const char *name);

struct search_parameters search_parameters_default(void);
int32_t search_parameters_get(const struct search_parameters *parameters,
                              const struct search_parameter *which);
/* False when the value is outside; nothing changes then. */
bool search_parameters_set(struct search_parameters *parameters, const struct search_parameter *which,
                           int32_t value);

/* From lines of `Name=Value` (a player's options; "" gives the defaults). False with a sentence that says
 * what to do when one is unknown, no whole number, outside, or there twice. */
bool search_parameters_parse(const char *options, struct search_parameters *out, char *reason,
                             size_t reason_size);

#endif
