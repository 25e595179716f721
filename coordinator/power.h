/* x to the y by additions, multiplications and divisions alone, which IEEE 754 rounds alike everywhere: the
 * same bits on every machine and with every library, where two libms may differ in the last one. What a
 * tune's parameters become is computed again on other machines (`kroo verify`). Pure; any thread. */
#ifndef KROO_COORDINATOR_POWER_H
#define KROO_COORDINATOR_POWER_H

/* For finite x > 0 and any finite y: computed with 100 bits and rounded once, so that it is the double
 * nearest to the exact value unless that lies within 2^-100 of the middle between two. Overflow is infinite,
 * underflow 0; NaN for anything else. */
double power(double x, double y);

#endif
