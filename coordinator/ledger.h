/* The writer's memory of experiments: each one's specification and tally, and the draft that a transaction
 * works on. A draft becomes the truth by ledger_keep, after COMMIT, or is thrown away by ledger_discard. No
 * socket and no clock; one thread. */
#ifndef KROO_COORDINATOR_LEDGER_H
#define KROO_COORDINATOR_LEDGER_H

#include "coordinator/course.h"
#include "coordinator/pairlist.h"
#include "coordinator/repeat_game.h"
#include "coordinator/tally.h"
#include "coordinator/terms.h"
#include "sql/store_flag.h"

struct ledger {
    struct store_experiment experiment;
    struct tally *tally;
    struct terms *terms;   /* owned: keeps book and tables for the referees; NULL: they could not be opened */
    struct course *course; /* owned; of a tune, else NULL */
    struct repeat_game *games; /* owned; tells games apart where repeated pairs do not count, else NULL */
    uint64_t games_stored;
    bool ended; /* a verdict is written: nothing counts any more */
    /* Pairs that are played again: open audits, and open disputes of counted pairs. */
    struct pairlist again;
    uint64_t fleet_next; /* counted pairs at which its workers are compared again; 0: not set */
    struct store_worker_results *fleet; /* owned; of the first fleet_pairs pairs, by peer and name */
    size_t fleet_count;
    uint64_t fleet_pairs;
    /* of the transaction under way; NULL when it has not touched this experiment */
    struct tally *draft;
    uint64_t draft_games_stored;
    bool draft_ended;
    bool recounted;     /* the draft was counted anew: what is stored of repeats may be others */
    bool again_drafted; /* draft_again is what `again` becomes */
    struct pairlist draft_again;
    struct pairlist told; /* pairs that the event loop hears of, to have them played again */
};

/* Where repeats do not count: they are told from now on, once `terms` stand and before anything is counted.
 * 0, or -1 without memory. */
int ledger_tell_repeats(struct ledger *ledger);
/* What tells a game from others, by pair, leg, moves, result and reason; zeros where every pair counts. */
struct repeat_key ledger_key(const struct ledger *ledger, const struct store_game *game);
/* Adds a game to a tally of this experiment, by pair, leg, half points, moves, result and reason, however far
 * its pair lies beyond the prefix, which falls back when games are set aside. */
enum tally_answer ledger_add_game(const struct ledger *ledger, struct tally *tally,
                                  const struct store_game *game);
/* Holds a pair, likewise; a pair that is counted already stays so. 0, or -1 without memory. */
int ledger_hold(struct tally *tally, uint64_t pair);
/* Stores the repeats that the draft has found; before its counters. */
enum store_error ledger_put_repeats(const struct ledger *ledger, struct store *store);

/* After games of `pair` were stored that agree or disagree with a disputed one: settles it if independent
 * workers agree, within the transaction of `store` and into the draft. *blocked: five runs did not. *again:
 * it must be played once more. */
enum store_error ledger_settle(struct ledger *ledger, struct store *store, uint64_t pair, bool *again,
                               bool *blocked);

/* It goes on no further, for a dispute that was settled as blocked or divergent. */
enum store_error ledger_block(const struct ledger *ledger, struct store *store,
                              enum store_settlement settlement);

/* NULL without memory, or when the experiment's plan cannot be counted (its bounds are checked where it is
 * made). */
struct ledger *ledger_create(const struct store_experiment *experiment);
void ledger_destroy(struct ledger *ledger);

/* Begins a draft unless there is one. 0, or -1 without memory. */
int ledger_draft(struct ledger *ledger);
void ledger_keep(struct ledger *ledger);
void ledger_discard(struct ledger *ledger);

/* The pairs that are played again, the draft's if it has touched them. */
const struct pairlist *ledger_again(const struct ledger *ledger);
/* The same, to be changed; begins a draft. NULL without memory. */
struct pairlist *ledger_change_again(struct ledger *ledger);
/* Of the pairs that a decided experiment counts, how many keep its verdict back. */
uint64_t ledger_awaiting(const struct ledger *ledger);

/* Has it a verdict, the one that the draft is about to write included? */
bool ledger_has_ended(const struct ledger *ledger);
/* The counters to store: of the draft if there is one. */
struct store_counters ledger_counters(const struct ledger *ledger);
/* The verdict row of a decided draft; with `by` (a user's name) the row of an abort. */
struct store_verdict ledger_verdict(const struct ledger *ledger, const char *by, const char *reason);

/* Ledgers by experiment number. */
struct ledger_book {
    struct ledger **ledgers;
    size_t count, room;
};
void ledger_book_done(struct ledger_book *book);
struct ledger *ledger_book_find(const struct ledger_book *book, uint64_t experiment);
/* Takes the ledger. 0, or -1 without memory (the ledger stays the caller's). */
int ledger_book_add(struct ledger_book *book, struct ledger *ledger);
/* Destroys the ledger of an experiment that was deleted. */
void ledger_book_remove(struct ledger_book *book, uint64_t experiment);

/* The test of an experiment as the tally wants it; false when the experiment has none. */
bool ledger_test(const struct store_experiment *experiment, struct sprt_test *test);

#endif
