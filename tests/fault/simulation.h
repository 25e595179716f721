/* A whole cluster as numbers: the coordinator's pure modules (tally, lease, schedule, audit) between up to
 * ten thousand virtual workers and a network. No thread, socket, database or clock, so a seed says
 * everything: which experiments run, how sick network and workers are, and every event.
 *
 * Safety phase: messages are lost, repeated, delayed and reordered, workers die, hang and lie, transactions
 * fail, the coordinator is killed and rebuilt from its rows, the last of which it never wrote. Liveness
 * phase: nothing new breaks (the dead stay dead, the hung stay hung), and everything must come to its end
 * within a bound.
 *
 * What must hold: a game is stored once; a counter and a verdict are those of the stored games in pair order,
 * whoever played them when; what is contradicted is settled by two independent workers before it is decided
 * upon; of an experiment that is audited in full every verdict is the truth, unless two liars told the same
 * lie; what restarts rebuild equals what was in memory. */
#ifndef KROO_TESTS_FAULT_SIMULATION_H
#define KROO_TESTS_FAULT_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIMULATION_WORKERS_MAX = 10000, SIMULATION_TEXT = 240 };

struct simulation_plan {
    uint64_t seed;
    uint32_t workers; /* 20..SIMULATION_WORKERS_MAX */
    bool restarts;    /* a restart reads everything anew and would cure a pair that a book has forgotten */
};

struct simulation_report {
    bool failed;
    char failure[SIMULATION_TEXT];  /* what did not hold, and where */
    uint64_t events, games;         /* handled; committed */
    int64_t simulated_ms, ended_ms; /* when the last experiment ended, after the faults had stopped */
    uint64_t leases, lapses, restarts, deaths, hangs, lost, repeated, failures, rows_lost;
    uint64_t duplicates, late, twins, lies, disputes, replaced, audits, reopened, set_aside;
};

/* The same plan gives the same report, to the last event. */
void simulate(const struct simulation_plan *plan, struct simulation_report *report);

#endif
