/* How long a move and a game may take by the clock on the wall before they are given up (DESIGN section 7):
 * so generous that only what hangs or never ends comes there. Pure. */
#ifndef KROO_WORKER_BOUNDS_H
#define KROO_WORKER_BOUNDS_H

#include "engine/play.h"

enum {
    BOUNDS_MOVES = 1024,             /* of a side in a game; hardly any has more */
    BOUNDS_SPEED = 100000,           /* nodes a second, where none was measured */
    BOUNDS_MOVE_TIMES = 20,          /* what a move's nodes should take */
    BOUNDS_GAME_TIMES = 5,           /* what BOUNDS_MOVES moves should take */
    BOUNDS_GAME_MS = 10 * 60 * 1000, /* and so much for everything else: starting programs, other load */
    BOUNDS_TERM_MS = 60000           /* of a lease, where it was not told */
};
/* Of a side that only has a limit of plies, in a game: hours on a slow machine. */
#define BOUNDS_DEPTH_NODES (UINT64_C(1) << 32)

/* Of a side without limits of time: `usual_ms`, or more where its nodes need it. `speed`: of a play thread,
 * nodes a second; 0: not measured. */
int64_t bounds_move_ms(const struct play_side *side, int64_t usual_ms, uint32_t speed);
/* What stands still for so long under a lease of this term hangs: three quarters of it, so that it is found
 * and dealt with before the lease lapses; `usual_ms` where that is less. `term_ms` 0: BOUNDS_TERM_MS. */
int64_t bounds_still_ms(uint32_t term_ms, int64_t usual_ms);
/* Of a game between both. */
int64_t bounds_game_ms(const struct play_side sides[2], uint32_t speed);

#endif
