/* What the simulation's files share: the world, its dice and its network. */
#ifndef KROO_TESTS_FAULT_SIMULATION_PARTS_H
#define KROO_TESTS_FAULT_SIMULATION_PARTS_H

#include <setjmp.h>

#include "coordinator/audit.h"
#include "coordinator/lease.h"
#include "coordinator/schedule.h"
#include "coordinator/tally.h"
#include "tests/fault/simulation.h"

enum {
    EXPERIMENTS_MAX = 6,
    SPOOL = 64,
    HANDS = 3, /* leases a worker works through */
    SLOTS = 2,
    RUNS = 5, /* of a game, by different workers */
    TERM_MS = 20000,
    COMMIT_MS = 500,           /* before a lease that is told has its row */
    LIVENESS_MS = 3600 * 1000, /* all must be over so long after the last fault */
    CHARGES = 3,               /* and a worker is set aside */
    LIE_PERCENT = 30,          /* of a liar's games */
};

/* How sick everything is; of a hundred, or as named. */
struct faults {
    unsigned lost, repeated, commit_fails, liars;
    uint32_t delay_ms, slow_one_in; /* one message in so many takes a minute */
    uint32_t hang_one_in, die_one_in;
    int64_t until_ms, restart_ms;
};

struct experiment {
    uint64_t pairs, window;
    uint64_t furthest; /* the largest prefix + window that there was */
    int32_t priority;
    unsigned win, draw; /* percent, player a */
    bool tested;
    struct sprt_test test;
    uint32_t core_cap, audit_ppm;
    struct tally *tally;
    struct game *games; /* 2 * pairs: what a database would hold */
    uint16_t *attempts; /* of a pair, highest seen */
    bool *disputed, *audited;
    bool running; /* in the schedule */
    bool over;    /* its verdict is written */
    uint64_t open_disputes;
};

/* Contents are 1 + the score: 0 is no game. */
struct run {
    uint32_t worker;
    uint8_t content;
};
struct game {
    uint8_t stored, commits;
    uint8_t run_count;
    struct run runs[RUNS];
};

enum event_kind { TICK, REVIVE, RESTART, ASK, RESULT, REPORT, GOODBYE, GRANTED, ACK, DROPPED };

struct event {
    int64_t at;
    uint64_t order; /* among equals */
    uint64_t session, lease, progress, pair;
    enum event_kind kind;
    uint32_t worker, experiment, leg, count;
};

struct hand {
    uint64_t lease, first, played;
    uint32_t experiment, count;
};

struct worker {
    uint64_t session;
    bool alive, hung, liar, aside;
    unsigned charges;
    int64_t leg_ms;
    struct hand hands[HANDS];
    unsigned hand_count, spooled;
    struct event spool[SPOOL];
};

struct row {
    struct lease lease;
    bool open, again;
    int64_t told_ms;
    bool lost; /* told, and never written: the coordinator died in between */
};

struct world {
    uint64_t seed, dice;
    int64_t now;
    struct faults faults;
    struct simulation_report *report;
    jmp_buf out;
    struct event *heap;
    size_t events, room;
    uint64_t next_order, next_session;
    struct worker *workers;
    uint32_t worker_count;
    bool restarts;
    struct row *rows;
    size_t row_count, row_room;
    struct experiment experiments[EXPERIMENTS_MAX];
    uint32_t experiment_count, running;
    struct lease_book *book;
    struct schedule *schedule;
    struct audit_book *audits;
    uint8_t secret[AUDIT_SECRET];
    bool charged; /* somebody, in this commit */
};

#define must(w, condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            broken(w, #condition, __LINE__);                                                                 \
    } while (0)

_Noreturn void broken(struct world *w, const char *what, int line);
/* Zeroed memory, or the end. */
void *blank(struct world *w, size_t count, size_t size);
void *enlarge(struct world *w, void *array, size_t size);

/* --- dice and the network --- */
uint32_t roll(struct world *w, uint32_t sides);
/* Do faults still happen? */
bool sick(const struct world *w);
bool percent(struct world *w, unsigned share);
void push(struct world *w, struct event event, int64_t delay_ms);
struct event pop(struct world *w);
/* A message through the sick network. */
void post(struct world *w, struct event message);

/* --- games --- */
uint8_t truth(const struct world *w, uint32_t x, uint64_t pair, unsigned leg);
struct game *game_of(struct experiment *e, uint64_t pair, unsigned leg);
/* The content that two independent workers gave; 0 for none. */
uint8_t agreed(const struct game *game);

/* --- the coordinator --- */
struct tally *tally_new(struct world *w, const struct experiment *e);
/* From the rows alone; what was in memory must have said the same. */
void coordinator_start(struct world *w);
void lapse(struct world *w);
void on_ask(struct world *w, const struct event *e);
void on_result(struct world *w, const struct event *e);
void on_report(struct world *w, const struct event *e);
void on_goodbye(struct world *w, const struct event *e);

#endif
