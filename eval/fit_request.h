/* What `kroo-train fit` was asked to do: options, ranges, and their limits. One thread. */
#ifndef KROO_EVAL_FIT_REQUEST_H
#define KROO_EVAL_FIT_REQUEST_H

#include "eval/train.h"

enum { FIT_REQUEST_REASON = 256 };

/* One part of --games: `ID` (all pairs that count) or `ID:FIRST-LAST`. */
struct fit_range {
    uint64_t experiment, first, last;
    bool all;
};

/* Whether positions with a capture are kept. */
enum fit_captures { FIT_CAPTURES_BY_KIND, FIT_CAPTURES_WITH, FIT_CAPTURES_WITHOUT };

struct fit_request {
    struct fit_range ranges[READER_SOURCES_MAX];
    size_t range_count;
    const char *parent; /* NULL: the champion, else the weights of the experiment's player a */
    const char *name, *output, *database, *config;
    struct train_options options;
    struct reader_filters filters;
    enum fit_captures captures;
    unsigned memory_mib;
    const char *weights, *tables; /* of kroo-train eval: what is judged, endgame tables or NULL */
    const char *scratch;          /* folder for the positions; NULL = memory */
    const char *report;           /* folder for report.md, report.json and plots; NULL = none */
    bool json, quiet, calibration;
    bool dry_run;  /* read and count, fit nothing */
    bool no_store; /* fit, but store nothing */
};

/* Reads options with argp; --help and wrong usage end the process (status 0 and 2). */
void fit_request_parse(int argc, char **argv, struct fit_request *out);

/* The same for `kroo-train eval WEIGHTS --games RANGES`. */
void fit_request_parse_eval(int argc, char **argv, struct fit_request *out);

/* Adds the comma separated ranges of `text`. 0, or -1 with a reason. Ranges of one experiment must not
 * overlap. */
int fit_request_add_games(struct fit_request *request, const char *text, char reason[FIT_REQUEST_REASON]);

#endif
