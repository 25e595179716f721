/* Counting one experiment's games in pair order (DESIGN section 5): results come in any order, but only the
 * contiguous prefix of finished pairs counts, and the sequential test sees it batch by batch. So the state
 * after a set of results depends on the set alone, never on the order of arrival.
 *
 * One thread at a time. The writer clones a tally, adds a transaction's results to the clone, and puts the
 * clone in the original's place only after COMMIT (tally_swap). A rebuild after a restart is tally_add for
 * every stored game, in pair order or in any other that keeps within the window.
 *
 * Where repeats are told (tally_tell_repeats), a pair whose two games are those of an earlier pair is passed
 * over: it belongs to the prefix, and neither counts nor test see it. Which pairs those are depends on the
 * games in pair order alone.
 *
 * Memory: the window beyond the prefix takes one byte a pair (17 where repeats are told), grown in powers of
 * two, never beyond the `window` of tally_create rounded up; pairs at prefix + window and above are refused
 * unless tally_reach says that they are stored.
 * What counted is remembered as repeat.h says. */
#ifndef KROO_COORDINATOR_TALLY_H
#define KROO_COORDINATOR_TALLY_H

#include "coordinator/repeat.h"
#include "coordinator/sprt.h"

enum { TALLY_WINDOW_MAX = 1 << 24 };
/* Planned pairs are below this, so that games stay exact in every formula. */
#define TALLY_PAIRS_MAX (UINT64_C(1) << 48)

enum tally_decision {
    TALLY_NONE = 0,      /* goes on */
    TALLY_ACCEPTED = 1,  /* by the sequential test */
    TALLY_REJECTED = 2,  /* by the sequential test */
    TALLY_UNDECIDED = 3, /* all planned pairs played, or the openings of a test used up (tally_is_used_up) */
};
/* "", "accepted", "rejected", "undecided". */
const char *tally_decision_name(enum tally_decision decision);

/* What the prefix adds up to, from player a's view; plain data. */
struct tally_totals {
    uint64_t pairs;                          /* the length of the prefix */
    uint64_t repeated;                       /* of these, repeats; the others are in everything below */
    uint64_t counts[STATISTICS_PAIR_COUNTS]; /* LL, LD, DD, WL, DW, WW */
    uint64_t wins, draws, losses;            /* games */
};

enum tally_answer {
    TALLY_ADDED = 0,         /* new, and a later call may be needed for the prefix to move */
    TALLY_COUNTED = 1,       /* new, and the prefix moved (perhaps over many pairs), perhaps to a decision */
    TALLY_LATE = 2,          /* new, kept, but beyond the deciding pair: never counted */
    TALLY_DUPLICATE = 3,     /* this leg is there already (its content is for the database to compare) */
    TALLY_OUT_OF_RANGE = -1, /* pair beyond the planned ones, leg above 1 or score above 2 */
    TALLY_BEYOND = -2,       /* at prefix + window or above, and beyond tally_reach */
    TALLY_MEMORY = -3,       /* no effect */
};

struct tally;

/* planned: number of pairs, 1..TALLY_PAIRS_MAX. window: 1..TALLY_WINDOW_MAX pairs. test: NULL for none
 * (self-play, fixed length), else copied; must be valid. NULL on bad arguments or without memory. */
struct tally *tally_create(uint64_t planned, uint64_t window, const struct sprt_test *test);
/* NULL without memory. */
struct tally *tally_clone(const struct tally *tally);
/* Exchanges the contents: the clone becomes the truth. Cannot fail. */
void tally_swap(struct tally *one, struct tally *other);
/* Takes NULL. */
void tally_destroy(struct tally *tally);

/* From now on repeats are told; before the first result. */
void tally_tell_repeats(struct tally *tally);

/* What the database holds of a pair is counted however far beyond the window it lies: the prefix falls back
 * when games are set aside or a dispute is settled otherwise. The pairs up to this one are taken and held
 * from now on; a byte each. 0, or -1 without memory. */
int tally_reach(struct tally *tally, uint64_t pair);

/* A game's score for player a in half points: 0 lost, 1 drawn, 2 won. Negative answers have had no effect. */
enum tally_answer tally_add(struct tally *tally, uint64_t pair, unsigned leg, unsigned score);
/* The same with the key of what was played (repeat_game.h); NULL: not known, and the pair is like no other.
 * Ignored where repeats are not told. */
enum tally_answer tally_add_game(struct tally *tally, uint64_t pair, unsigned leg, unsigned score,
                                 const struct repeat_key *key);
const char *tally_answer_text(enum tally_answer answer);

/* Disputes. A held pair keeps the prefix waiting, whatever it holds. 0; -1 when the pair is counted already
 * (a verdict stands), or out of the window; -2 without memory. Holding twice is the same as once. */
int tally_hold(struct tally *tally, uint64_t pair);
/* Ends the hold; the prefix may move. With `keep_results` false both legs are forgotten first, for a pair
 * that is to be played again. 1 when the pair was held, 0 when not; -1 without memory: no effect. */
int tally_settle(struct tally *tally, uint64_t pair, bool keep_results);
bool tally_is_held(const struct tally *tally, uint64_t pair);

/* Both legs are there (counted or not). */
bool tally_pair_complete(const struct tally *tally, uint64_t pair);
bool tally_has(const struct tally *tally, uint64_t pair, unsigned leg);

const struct tally_totals *tally_totals(const struct tally *tally);
/* NULL without a test. Its counts stand at the last whole batch. */
const struct sprt_state *tally_sprt(const struct tally *tally);
const struct sprt_test *tally_test(const struct tally *tally);
uint64_t tally_planned(const struct tally *tally);
uint64_t tally_prefix(const struct tally *tally);
enum tally_decision tally_decision(const struct tally *tally);
/* The number of the deciding pair, the last that counts; only with a decision. */
uint64_t tally_decided_at(const struct tally *tally);
/* Undecided because repeats went on for repeat_limit() pairs. */
bool tally_is_used_up(const struct tally *tally);
/* Repeats in a row up to the end of the prefix. */
uint64_t tally_run(const struct tally *tally);

/* A pair that was passed over, and the first one with its games. */
struct tally_repeat {
    uint64_t pair, first;
};
/* Those passed over since the tally was created or cloned, in pair order; valid until it changes. */
const struct tally_repeat *tally_repeats(const struct tally *tally, size_t *count);
/* Games beyond the prefix: pending, or late once decided. */
uint64_t tally_beyond(const struct tally *tally);
/* The first pair that the prefix waits for, and whether because it is held. */
bool tally_waits_for_dispute(const struct tally *tally);

/* Equal in everything that later calls could show. */
bool tally_equal(const struct tally *one, const struct tally *other);

#endif
