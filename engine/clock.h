/* How long to think on a clock for the whole game: one rule for the player in this process and for the one
 * that speaks the UCI dialect. Pure, but for clock_now_us; any thread. */
#ifndef KROO_ENGINE_CLOCK_H
#define KROO_ENGINE_CLOCK_H

#include <stdint.h>

enum {
    CLOCK_MOVES_LEFT = 25, /* moves of one's own that the clock must still last for, where nobody says */
    CLOCK_RESERVE_MS = 30, /* kept for what lies between the players */
};

/* Of `left_ms`, with `increment_ms` to come after the move and `moves` to the next control (0: not known): no
 * iteration of the search starts after `*soft_ms`, and it ends at `*hard_ms`, both at least 1. An even share
 * of the clock and most of the increment: half of it to start iterations in, three times as much to finish
 * the last one, never more than the clock holds. */
void clock_share(int64_t left_ms, int64_t increment_ms, int64_t moves, int64_t *soft_ms, int64_t *hard_ms);

/* Monotonic microseconds. */
int64_t clock_now_us(void);

#endif
