/* What cmocka 1.1.5 lacks: one checked comparison of doubles. */
#ifndef KROO_TESTS_CHECK_H
#define KROO_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Fails unless |actual - expected| <= tolerance * max(1, |expected|); NaN and infinity fail. */
#define assert_close(actual, expected, tolerance)                                                            \
    do {                                                                                                     \
        double check_actual = (actual);                                                                      \
        double check_expected = (expected);                                                                  \
        double check_bound = (tolerance)*fmax(1.0, fabs(check_expected));                                    \
        if (!(fabs(check_actual - check_expected) <= check_bound))                                           \
            fail_msg("%s:%d: %s is %.15g, expected %.15g within %.3g", __FILE__, __LINE__, #actual,          \
                     check_actual, check_expected, check_bound);                                             \
    } while (0)

#endif
