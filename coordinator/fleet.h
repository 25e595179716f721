/* Which worker's results differ from everybody else's (STATISTICS, "Workers"): a chi-square of each worker's
 * (won, lost, equal) pairs against all others together. Statistics can blame, never prove: with exact replay
 * (audit) a difference needs none. Pure. */
#ifndef KROO_COORDINATOR_FLEET_H
#define KROO_COORDINATOR_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLEET_CLASSES = 3, FLEET_WORKERS_MIN = 3 };

struct fleet_worker {
    uint64_t pairs[FLEET_CLASSES]; /* player a's: won, lost, equal; any order that is everybody's */
    /* out */
    bool tested; /* not set aside, and every expected cell is above 5 */
    double chi2; /* of its 2 x 3 table, 2 degrees of freedom */
    double z;    /* the same as the upper tail of a standard normal; never below 0 */
    bool blamed; /* fleet_blame: stands out */
    /* in: not looked at, as if it had played nothing */
    bool set_aside;
};

struct fleet_figures {
    size_t tested;     /* workers; below 2 nothing else has a value (NaN, 0) */
    double chi2;       /* of the whole table */
    unsigned freedom;  /* its degrees of freedom */
    double p;          /* its upper tail */
    double z_95, z_99; /* of `tested` equal workers, the largest z is above these 5 and 1 times in 100 */
};

/* Fills in `tested`, `chi2` and `z` of each worker. */
struct fleet_figures fleet_test(struct fleet_worker *workers, size_t count);

/* Blames one worker at a time: the one with the largest z, if a fleet of equals would show as large a one
 * with a probability below FLEET_P after correction for the number tested; without it the rest is tested
 * anew. With fewer than three workers nobody can tell who is wrong, and nobody is blamed. The number blamed;
 * figures are those of the last test. */
#define FLEET_P 0.001
size_t fleet_blame(struct fleet_worker *workers, size_t count);

/* A fleet is looked at when it has played FLEET_PAIRS_FIRST pairs, and whenever they are four times as many:
 * each look is another try for chance, and eight of them reach two million pairs. The number of pairs of the
 * next look after `pairs`. */
#define FLEET_PAIRS_FIRST UINT64_C(128)
uint64_t fleet_next_look(uint64_t pairs);

/* z of a chi-square with 2 degrees of freedom, exact however large; never below 0. */
double fleet_z(double chi2);
/* z that a standard normal exceeds with probability p in (0, 1/2]. */
double fleet_quantile(double p);

#endif
