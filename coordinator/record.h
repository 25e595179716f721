/* One experiment as it stands in the database: specification, state, counters, verdict and who works on it;
 * what `kroo show`, `watch`, `games`, `verify` and `replay` start from. Plain data; the store's thread. */
#ifndef KROO_COORDINATOR_RECORD_H
#define KROO_COORDINATOR_RECORD_H

#include "coordinator/specification.h"
#include "coordinator/sprt.h"
#include "sql/store.h"

enum { RECORD_TIME = 32 };

struct record {
    struct store_experiment experiment;
    /* everything below is of one moment */
    enum store_state state;
    char state_reason[STORE_TEXT];
    char created_at[RECORD_TIME], ended_at[RECORD_TIME];     /* "" while it runs */
    double seconds;                                          /* from creation to its end or now */
    char label_a[STORE_NAME + 24], label_b[STORE_NAME + 24]; /* number and name of the weights */
    char engine_a[STORE_NAME], engine_b[STORE_NAME];         /* names; "" for the built-in one */
    char tables_a[STORE_NAME], tables_b[STORE_NAME];         /* names; "" for none */
    char book[STORE_NAME];                                   /* its name; "" for none */
    uint32_t book_openings;
    char adjudication[STORE_NAME]; /* of the tables that end games; "" for none */
    struct store_counters counters;
    bool has_verdict;
    struct store_verdict verdict;
    char verdict_at[RECORD_TIME];
    uint64_t open_leases, active_sessions, open_disputes;
    uint64_t able_workers;                 /* sessions that are open with the engine build that must play */
    uint64_t other_workers;                /* open with another */
    bool has_left;                         /* it has not ended: */
    uint64_t pairs_left;                   /* to play still */
    bool is_expected;                      /* of a sequential test, by the difference seen so far */
    double pairs_per_minute, seconds_left; /* measured; 0 and negative when not known */
};

/* REFUSED when there is no such experiment. */
enum store_error record_load(struct store *store, uint64_t id, struct record *out);

/* It can still come to an end by itself: running, or waiting for a person. */
bool record_is_open(const struct record *record);
/* Why nobody plays an experiment at this moment, with what to do; false when somebody does. */
bool record_is_idle(const struct record *record, char why[SPECIFICATION_REASON_MAX]);
/* The counters that count: those of the verdict once there is one. */
const struct store_counters *record_counters(const struct record *record);
/* The six counts in their order. */
void record_counts(const struct store_counters *counters, int64_t counts[STATISTICS_PAIR_COUNTS]);
/* The sequential test; false when it has none or one that this program does not know. */
bool record_test(const struct record *record, struct sprt_test *test);
/* The specification as it was sent. */
void record_specification(const struct record *record, struct message_create_experiment *out);

/* The time left in words, `unknown` included; "" once it has ended. */
enum { RECORD_LEFT = 96 };
void record_left(const struct record *record, char text[RECORD_LEFT]);
/* Its outcome in a word: the verdict of a match or an abort; else its state (a self-play that has run its
 * course is finished, not `undecided`). */
const char *record_outcome(const struct record *record);
const char *record_kind_name(enum store_kind kind);
const char *record_state_name(enum store_state state);

#endif
