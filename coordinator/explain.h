/* What a worker does, or why it does nothing, in one word and one sentence: from what the coordinator knows
 * of it. Pure. */
#ifndef KROO_COORDINATOR_EXPLAIN_H
#define KROO_COORDINATOR_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

enum { EXPLAIN_TEXT = 512, EXPLAIN_EXPERIMENTS = 8 };

enum explain_state {
    EXPLAIN_PLAYING,   /* it holds leases */
    EXPLAIN_WAITING,   /* it asked, and was told why there is nothing for it */
    EXPLAIN_IDLE,      /* it has not asked */
    EXPLAIN_SET_ASIDE, /* it gets nothing, because its results are in doubt */
    EXPLAIN_GONE,      /* nothing was heard of it for longer than it may be silent */
};
const char *explain_state_name(enum explain_state state);

struct explain_facts {
    int64_t silent_ms, silent_most_ms; /* since it was heard; how long it may be silent */
    uint32_t term_ms;                  /* its leases lapse after this */
    uint32_t leases;
    uint64_t pairs_out;
    const uint64_t *experiments; /* it has leases of, at most EXPLAIN_EXPERIMENTS are named */
    size_t experiment_count;
    double games_per_minute; /* 0 = not known */
    const char *told;      /* why it got nothing when it asked last; "": it got something, or has not asked */
    int64_t told_ms;       /* ago */
    const char *set_aside; /* why; NULL: it is not */
    const char *unfit;     /* why it gets no timed play; NULL: it may */
    uint32_t speed;        /* by its bench; 0: not measured */
    int64_t measured_ms;   /* ago */
};

/* The sentence is always terminated. */
enum explain_state explain(const struct explain_facts *facts, char sentence[EXPLAIN_TEXT]);

#endif
