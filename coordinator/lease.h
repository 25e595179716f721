/* Who plays which pairs (DESIGN section 5): contiguous ranges of an experiment's pairs are leased to
 * sessions, renewed by progress alone, and go out again with the next attempt number when they lapse. One
 * book holds all leases of one coordinator. Pure: time comes in as now_ms (monotonic, never going back); the
 * book is what the rows of table `lease` say, and a restart rebuilds it from them. One thread.
 *
 * Every pair of an experiment at or beyond its prefix is fresh, leased, lost or done:
 *
 *     fresh --grant--> leased --lease_done--> done
 *                      leased --expire, release--> lost --grant (next attempt)--> leased
 *                      lost --lease_done (a late result)--> done
 *                      done --lease_reissue (dispute, quarantine)--> lost
 *
 * The last pairs of an experiment may be leased twice (lease_twin): the second lease shares them with the
 * first, a result of either finishes them for both, and when one lapses the other holds them alone.
 *
 * Cost: a grant, progress report or result is O(1) and O(pairs of the range); nothing scans an experiment.
 * Memory: 8 bytes for each pair between the prefix and the furthest leased pair, at most the window
 * (or what is stored, where the prefix fell back); one record for each open lease and each session. */
#ifndef KROO_COORDINATOR_LEASE_H
#define KROO_COORDINATOR_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEASE_PAIRS_MAX = 65536, /* of one lease */
    LEASE_WINDOW_MAX = 1 << 24,
    LEASE_ATTEMPT_MAX = 65535,
    LEASE_TWINS = 2, /* leases that may hold a pair at once */
};

struct lease_policy {
    int64_t term_ms;             /* a lease without progress lapses after this */
    int64_t target_ms;           /* a lease should take a session about this long */
    uint32_t pairs_first;        /* size for a session whose speed is not known */
    uint32_t pairs_max;          /* <= LEASE_PAIRS_MAX */
    uint32_t leases_per_session; /* open at once */
    uint32_t sessions_max;
    int64_t twin_after_ms; /* a last range goes out again when its lease is this old */
};
/* 120 s, 8 s, 4, 4096, 64, 65536, 2 s. */
struct lease_policy lease_policy_default(void);

enum lease_status {
    LEASE_OK = 0,
    LEASE_UNKNOWN = -1,   /* no such experiment, session, lease, or not this session's */
    LEASE_NO_PAIRS = -2,  /* everything is leased, done or beyond the window: wait for results */
    LEASE_NO_CREDIT = -3, /* the session asked for no pairs */
    LEASE_TOO_MANY = -4,  /* the session's leases, or the book's sessions, are at their limit */
    LEASE_CLOSED = -5,    /* the experiment takes no more leases */
    LEASE_STALE = -6,     /* progress that is none */
    LEASE_OVERLAP = -7,   /* a restored lease holds pairs of another, or lies far outside the window */
    LEASE_MEMORY = -8,
    LEASE_EXISTS = -9,
    LEASE_BAD = -10,    /* an argument out of its range */
    LEASE_CAPPED = -11, /* as many cores play for the experiment as may */
};
const char *lease_status_text(enum lease_status status);

/* A lease as the outside sees it. */
struct lease {
    uint64_t id;
    uint64_t experiment;
    uint64_t session;
    uint64_t first; /* pairs [first, first + count) */
    uint32_t count;
    uint32_t left;     /* pairs of it that are not done */
    uint32_t attempt;  /* 1 the first time */
    uint64_t progress; /* highest reported */
    int64_t granted_ms;
    int64_t deadline_ms; /* lapses at this moment */
};

struct lease_book;
/* first_id: the next lease's number, above every number in the table. NULL on a bad policy or without memory.
 */
struct lease_book *lease_book_create(const struct lease_policy *policy, uint64_t first_id);
void lease_book_destroy(struct lease_book *book);

/* --- experiments --- */
/* A running experiment of `planned` pairs, of which [0, prefix) are counted. No pair at prefix + window or
 * above is leased, unless lease_restore or lease_done told of one further on (the prefix fell back). OK,
 * EXISTS, BAD or MEMORY. */
enum lease_status lease_experiment_add(struct lease_book *book, uint64_t experiment, uint64_t planned,
                                       uint64_t window, uint64_t prefix);
/* The prefix grew: pairs below it are done for good. Never backwards (ignored). Leases it completes are ended
 * silently: call lease_done for each pair first to hear of them. */
void lease_experiment_advance(struct lease_book *book, uint64_t experiment, uint64_t prefix);
/* No lease holds pairs of two blocks, and none a pair at or above `limit` until a later call raises it
 * (tunes: block = a batch). 0 and UINT64_MAX, as at first: no such bounds. */
void lease_experiment_bound(struct lease_book *book, uint64_t experiment, uint64_t block, uint64_t limit);
/* Does an open experiment wait for its limit to be raised? That may come with the next result. */
bool lease_book_waits(const struct lease_book *book);
/* Decided, stopped or paused: no more grants; open leases live on so that their results are expected. */
void lease_experiment_close(struct lease_book *book, uint64_t experiment);
void lease_experiment_reopen(struct lease_book *book, uint64_t experiment);
/* Forgets it and its leases; their number. */
size_t lease_experiment_remove(struct lease_book *book, uint64_t experiment);
/* Pairs that could be leased now; 0 when closed or unknown. */
uint64_t lease_experiment_available(const struct lease_book *book, uint64_t experiment);
/* Whether some of them are for this session: a disputed pair is not for the one that played it last. */
bool lease_experiment_has_for(const struct lease_book *book, uint64_t experiment, uint64_t session);
/* core_cap: at most so many games of it at once (0: any number), counted by what its leases let the sessions
 * play. twins: its last ranges may go out twice; never where two runs of a pair may differ. */
void lease_experiment_terms(struct lease_book *book, uint64_t experiment, uint32_t core_cap, bool twins);
/* Games of it that go on beside this book: they count towards its cap. */
void lease_experiment_elsewhere(struct lease_book *book, uint64_t experiment, uint32_t cores);
/* Games of it took the session's play threads core_ms together: what a pair of it costs, and how fast the
 * session is. Nothing else tells the speed: the time from grant to result has the waiting in it. */
void lease_experiment_cost(struct lease_book *book, uint64_t experiment, uint64_t session, uint64_t games,
                           double core_ms);

struct lease_experiment_view {
    bool has_pairs; /* for somebody */
    bool has_for;   /* for this session */
    bool capped;    /* its cap leaves this session nothing */
    uint64_t out;   /* pairs leased and not done */
    uint64_t cores; /* games its leases let the sessions play at once */
    double pair_ms; /* core time of a pair; 0 = not measured */
};
/* False when there is none. */
bool lease_experiment_look(const struct lease_book *book, uint64_t experiment, uint64_t session,
                           uint32_t slots, struct lease_experiment_view *view);

/* --- after a restart, between lease_experiment_add and the first grant --- */
/* A row of the table. open: it is held by `session` still and gets a full fresh term from now; otherwise only
 * its attempt number matters, so that its unfinished pairs go out with the next one. Rows in any order, the
 * open ones before the lease_done calls for what is stored beyond the prefix (those then end the leases they
 * complete). Pairs below the prefix are done. STALE: an open row of which nothing is left, OVERLAP: one that
 * shares pairs with another (a second lease of last pairs, or rows that contradict each other); close it, its
 * attempt number is taken. */
enum lease_status lease_restore(struct lease_book *book, const struct lease *row, bool open, int64_t now_ms);

/* --- the life of a lease --- */
/* Who asks, and for how much. */
struct lease_ask {
    uint64_t session;
    uint32_t credit;  /* pairs it will take */
    uint32_t slots;   /* games it plays at once; 0 = not known */
    uint32_t work_ms; /* it wants about so much work; 0: the policy's target */
    uint32_t
        pairs_per_minute; /* its own measurement, of whatever it played, 0 = not known; for its first lease */
};
/* Leases the next range to a session: lost pairs first, lowest first, then fresh ones. Sized by the session's
 * speed in this very experiment; before that is known, by the experiment's core time and the session's slots.
 * The answer is a copy. */
enum lease_status lease_grant(struct lease_book *book, uint64_t experiment, const struct lease_ask *ask,
                              int64_t now_ms, struct lease *granted);
/* Leases the later half of the unfinished pairs of a lease once more: when nothing else is left of an
 * experiment that may have twins, to another session, once at a time, after twin_after_ms. NO_PAIRS when
 * there is none. */
enum lease_status lease_twin(struct lease_book *book, uint64_t experiment, const struct lease_ask *ask,
                             int64_t now_ms, struct lease *granted);
bool lease_has_twin(const struct lease_book *book, uint64_t experiment, uint64_t session, int64_t now_ms);
/* Renews when `progress` (a figure that grows while the worker plays, such as plies) is above all earlier
 * ones; STALE when not, UNKNOWN when the lease is over or another session's: the worker should drop it. */
enum lease_status lease_progress(struct lease_book *book, uint64_t lease, uint64_t session, uint64_t progress,
                                 int64_t now_ms);
/* Both games of the pair are committed, whoever played them. `session` is whose result completed it (0 =
 * nobody's): if it holds a lease of the pair, that lease is renewed. The number of leases that this ended,
 * copied to `finished` (may be NULL). */
size_t lease_done(struct lease_book *book, uint64_t experiment, uint64_t pair, uint64_t session,
                  int64_t now_ms, struct lease finished[LEASE_TWINS]);
/* A done pair at or beyond the prefix must be played again under the next attempt, by another session than
 * `session` (0: by any). OK, UNKNOWN, or BAD when it is not done. */
enum lease_status lease_reissue(struct lease_book *book, uint64_t experiment, uint64_t pair,
                                uint64_t session);
/* Ends up to `max` lapsed leases, copies them, and puts their unfinished pairs up again; their number. Call
 * again while it returns max. */
size_t lease_expire(struct lease_book *book, int64_t now_ms, struct lease *lapsed, size_t max);
/* The moment at which lease_expire has something to do; INT64_MAX for none. */
int64_t lease_next_deadline(const struct lease_book *book);
/* A session gives one lease back (drain), or the database refused its row. OK or UNKNOWN. */
enum lease_status lease_release(struct lease_book *book, uint64_t lease, uint64_t session,
                                struct lease *released);
/* A session says goodbye: all its leases, up to `max` a call, then its record; the number released. */
size_t lease_session_end(struct lease_book *book, uint64_t session, struct lease *released, size_t max);
/* The same worker under a new session number (it said HELLO again): leases and speed move over. */
enum lease_status lease_session_rename(struct lease_book *book, uint64_t from, uint64_t to);

/* The number of the next lease; used by a lease that another book keeps, so that the one after it is next. */
uint64_t lease_number(const struct lease_book *book);
void lease_number_use(struct lease_book *book);

/* --- looking --- */
/* A copy; false when there is none. */
bool lease_find(const struct lease_book *book, uint64_t lease, struct lease *found);
/* The open lease of a pair. */
bool lease_of_pair(const struct lease_book *book, uint64_t experiment, uint64_t pair, struct lease *found);
bool lease_pair_done(const struct lease_book *book, uint64_t experiment, uint64_t pair);
size_t lease_count(const struct lease_book *book);
struct lease_session_view {
    uint32_t leases;
    uint64_t pairs_out; /* leased and not done */
    double pair_ms; /* of the experiment it played last: core time of a pair by its slots; 0 = not known */
};
bool lease_session_find(const struct lease_book *book, uint64_t session, struct lease_session_view *view);
/* Experiments it has leases of, each once, at most `max`; their number. */
size_t lease_session_experiments(const struct lease_book *book, uint64_t session, uint64_t *experiments,
                                 size_t max);
/* May the session have another lease at all (its number of leases)? */
bool lease_session_has_room(const struct lease_book *book, uint64_t session);

#endif
