/* Waits with a deadline by the monotonic clock, which nobody sets. */
#ifndef KROO_COORDINATOR_CONDITION_H
#define KROO_COORDINATOR_CONDITION_H

#include <pthread.h>
#include <time.h>

/* A condition for pthread_cond_timedwait with what condition_until gives. */
void condition_init(pthread_cond_t *condition);
struct timespec condition_until(int wait_ms);

#endif
