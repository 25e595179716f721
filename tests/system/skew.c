/* Stands in front of the C library: the clock of a machine that is SKEW_MS ahead. Its monotonic clock is
 * right. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now);

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    const char *skew = getenv("SKEW_MS");
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (failed == 0 && clock == CLOCK_REALTIME && skew)
        now->tv_sec += atol(skew) / 1000;
    return failed;
}
