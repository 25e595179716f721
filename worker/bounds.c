#include "worker/bounds.h"

/* A month: beyond it nothing needs to be told apart, and no product overflows. */
#define MOST_MS (INT64_C(31) * 24 * 3600 * 1000)

static int64_t nodes_ms(uint64_t nodes, uint32_t speed, double times)
{
    double ms = 1000.0 * times * (double)nodes / (speed > 0 ? speed : BOUNDS_SPEED);
    return ms < (double)MOST_MS ? (int64_t)ms : MOST_MS;
}

int64_t bounds_move_ms(const struct play_side *side, int64_t usual_ms, uint32_t speed)
{
    int64_t needs_ms = side->limits.nodes > 0 ? nodes_ms(side->limits.nodes, speed, BOUNDS_MOVE_TIMES) : 0;
    return needs_ms > usual_ms ? needs_ms : usual_ms;
}

int64_t bounds_still_ms(uint32_t term_ms, int64_t usual_ms)
{
    int64_t still_ms = (term_ms > 0 ? term_ms : BOUNDS_TERM_MS) * INT64_C(3) / 4;
    return still_ms < usual_ms ? still_ms : usual_ms;
}

static int64_t side_ms(const struct play_side *side, uint32_t speed)
{
    int64_t least_ms = MOST_MS; /* the tightest of its limits ends a move */
    const int64_t sums[] = {
        side->limits.time_ms > 0 ? side->limits.time_ms * BOUNDS_MOVES : 0,
        side->clock_ms > 0 ? side->clock_ms + side->increment_ms * BOUNDS_MOVES : 0,
        side->limits.nodes > 0 ? nodes_ms(side->limits.nodes, speed, BOUNDS_GAME_TIMES * BOUNDS_MOVES) : 0,
        side->limits.depth > 0 ? nodes_ms(BOUNDS_DEPTH_NODES, speed, 1) : 0};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (sums[i] > 0 && sums[i] < least_ms)
            least_ms = sums[i];
    return least_ms;
}

int64_t bounds_game_ms(const struct play_side sides[2], uint32_t speed)
{
    return BOUNDS_GAME_MS + side_ms(&sides[0], speed) + side_ms(&sides[1], speed);
}
