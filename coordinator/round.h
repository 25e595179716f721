/* One transaction of the writer: everything a list of jobs asks for, written together and committed once
 * (DESIGN section 5), with the ledgers drafted meanwhile and kept only when COMMIT has returned. Used by the
 * writer's thread alone. */
#ifndef KROO_COORDINATOR_ROUND_H
#define KROO_COORDINATOR_ROUND_H

#include "coordinator/job.h"
#include "coordinator/ledger.h"

struct round {
    struct store *store;
    struct ledger_book *book;
    uint8_t secret[AUDIT_SECRET]; /* chooses the audited pairs */
    struct job *reports; /* JOB_REPORT for each experiment that moved; taken by the caller after success */
};

/* The report on an experiment in the list above, made if there is none; NULL without memory. */
struct job_report *round_report(struct round *round, uint64_t experiment);

/* Writes and commits `jobs` (those that may be grouped). On STORE_OK outcomes are filled in and
 * round->reports stands. On an error nothing is committed (CONNECTION: perhaps), no ledger has changed and
 * every job is as before. */
enum store_error round_commit(struct round *round, struct job *jobs);

/* Does one job that has a transaction of its own (create, control, promote, artifact, lookup). job->error and
 * job->text say how it went; returns STORE_ERROR_CONNECTION or STORE_ERROR_SPACE when it should be tried
 * again. round->reports are the caller's then, too. */
enum store_error round_single(struct round *round, struct job *job);

/* The report about an experiment that moved; NULL without memory. */
struct job_report *round_report(struct round *round, uint64_t experiment);
/* Counters of what has a draft, and the verdict of what is decided. */
enum store_error round_put_counters(struct round *round);
/* Counts an experiment's stored games anew, into the draft: games of counted pairs have changed. */
enum store_error round_recount(struct round *round, struct ledger *ledger);

/* Reads an experiment's stored games into a new ledger of the book; of a tune there is a report afterwards.
 * REFUSED with a reason in `text` when the
 * rows cannot be counted. */
enum store_error round_load(struct round *round, const struct store_experiment *experiment,
                            char text[STORE_TEXT]);

#endif
