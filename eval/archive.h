/* What a fit takes from the database and leaves there: experiments and their closed ranges, the parent, the
 * games, and in the end weights and training_run row in one transaction. One thread. */
#ifndef KROO_EVAL_ARCHIVE_H
#define KROO_EVAL_ARCHIVE_H

#include <signal.h>

#include "eval/fit_request.h"

enum archive_status {
    ARCHIVE_OK = 0,
    ARCHIVE_REFUSED = -1,    /* unknown experiment or weights, other rules: the reason says which */
    ARCHIVE_CONNECTION = -2, /* no database */
    ARCHIVE_FAILED = -3,
    ARCHIVE_STOPPED = -4,
};

struct archive {
    struct store *store;
    char conninfo[2048];
    char started_at[64]; /* the database's clock when the run began */
    char reason[TRAIN_TEXT + READER_REASON];
    uint64_t pairs;                    /* of the manifest */
    uint64_t training_run;             /* as stored; 0 = not */
    uint64_t number;                   /* of the stored weights */
    const volatile sig_atomic_t *stop; /* set by a signal; NULL = never */
};

/* Connects as kroo_trainer and checks the schema. */
enum archive_status archive_open(struct archive *archive, const char *conninfo);
void archive_close(struct archive *archive);

/* Looks up the experiments, closes the ranges, starts the reader, and loads the parent. */
enum archive_status archive_prepare(struct archive *archive, const struct fit_request *request,
                                    struct train *train);
/* Weights by number, hash, name, `champion`, `starting` (of `rules`; NULL: site), or a path with a slash in
 * it. On success the parent's weights are the caller's. */
enum archive_status archive_find_weights(struct archive *archive, const char *text, const char *rules,
                                         struct train_parent *out);
/* Streams the games of the manifest through the reader. */
enum archive_status archive_read(struct archive *archive, struct train *train);

/* Stores the run, and with TRAIN_DONE its weights. A database that goes away meanwhile is waited for, up to a
 * minute; a run is never stored twice. */
enum archive_status archive_record(struct archive *archive, const struct fit_request *request,
                                   const struct train *train, enum train_status status);

#endif
