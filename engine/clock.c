#include "engine/clock.h"

#include <time.h>

void clock_share(int64_t left_ms, int64_t increment_ms, int64_t moves, int64_t *soft_ms, int64_t *hard_ms)
{
    if (moves < 1 || moves > CLOCK_MOVES_LEFT)
        moves = CLOCK_MOVES_LEFT;
    int64_t share = left_ms / moves + (increment_ms > 0 ? increment_ms * 3 / 4 : 0);
    int64_t most = left_ms - CLOCK_RESERVE_MS > left_ms / 2 ? left_ms - CLOCK_RESERVE_MS : left_ms / 2;
    *hard_ms = 3 * share < most ? 3 * share : most;
    *hard_ms = *hard_ms > 1 ? *hard_ms : 1;
    *soft_ms = share / 2 < *hard_ms ? share / 2 : *hard_ms;
    *soft_ms = *soft_ms > 1 ? *soft_ms : 1;
}

int64_t clock_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
