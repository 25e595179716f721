/* Iterative-deepening principal variation search with a transposition table. A struct search owns its table
 * and scratch, allocates in search_create only, and is used by one thread; another thread may set `stop` and
 * the clock. Under a node limit the outcome is a function of (game, weights, limits, table size) and of the
 * searches since search_new_game alone, unless the table is shared; the limit is never exceeded by a node.
 * A node is a board reached by a move. */
#ifndef KROO_ENGINE_SEARCH_H
#define KROO_ENGINE_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/game.h"
#include "engine/search_parameters.h"
#include "engine/tables.h"
#include "engine/weights.h"

enum { SEARCH_DEPTH_MAX = 96, SEARCH_PV_MAX = 96, SEARCH_HASH_KIB = 1024, SEARCH_LINES_MAX = 6 };
/* Scores beyond this are proven outcomes: SEARCH_WIN minus the plies to it. */
enum { SEARCH_WIN = 31000, SEARCH_WIN_BOUND = 30000 };
/* Up to this, the proof is an endgame table's, and the plies to the end are not known. */
enum { SEARCH_TABLE_WIN = 30500 };

/* Moments on the monotonic clock, in microseconds, 0 for none; any thread may set them at any time. */
struct search_clock {
    atomic_int_least64_t soft_us; /* no iteration starts after it, unless the best move has just changed */
    atomic_int_least64_t hard_us; /* the search ends */
};

struct search_limits {
    uint64_t nodes;  /* 0 = no limit */
    int depth;       /* 0 = SEARCH_DEPTH_MAX */
    int64_t time_ms; /* 0 = no limit; makes the outcome irreproducible */
    int lines;       /* best moves to find, each with its line; 0 = 1 */
    bool full_width; /* no reductions and no cuts by the evaluation: the minimax value of each depth */
    const struct search_clock *clock;           /* NULL = none; belongs to the caller */
    const struct search_parameters *parameters; /* NULL = the defaults; belongs to the caller */
    /* NULL = none; used where they are of the game's family, and only where their brackets hold; the caller's
     */
    const struct tables *tables;
    /* NULL = none; grows while the search goes on, every thousand nodes, for a thread that watches; the
     * caller's. */
    atomic_uint *pulse;
};

struct search_info {
    int depth;
    int line;      /* 0 for the best move, 1 for the second best, ... */
    int32_t score; /* hundredths of a seed, mover's view */
    uint64_t nodes;
    int64_t time_ms;
    int hashfull; /* permille */
    int pv_length;
    int8_t pv[SEARCH_PV_MAX]; /* houses 0..11, absolute */
};

typedef void search_report(void *context, const struct search_info *info);

struct search;

struct search *search_create(unsigned hash_kib);
/* A search without a table of its own, for one more thread. */
struct search *search_create_helper(void);
/* Before each search of both: the helper will use the table of `owner` as the owner's next search will. */
void search_share(struct search *helper, const struct search *owner);
void search_destroy(struct search *search);
/* Empties the table: the start of every game (DESIGN section 12). */
void search_new_game(struct search *search);

/* Nodes of the running search so far, for another thread; a thousand late. */
uint64_t search_nodes(const struct search *search);

/* From now: a soft limit and a hard one; 0 = none. */
void search_clock_set(struct search_clock *clock, int64_t soft_ms, int64_t hard_ms);

/* Best move of an unfinished game: house 0..11 absolute, with the last finished iteration in `*info`; where
 * the unfinished one has found a better move, its score and line stand there. info->pv[0] is the move
 * returned. `report` (may be NULL) is called for each line of each iteration. `stop` (may be NULL) ends the
 * search early; the best move so far is returned. Returns -1 when the game is over. */
int search_run(struct search *search, const struct game *game, const struct weights *weights,
               const struct search_limits *limits, const atomic_bool *stop, search_report *report,
               void *context, struct search_info *info);

#endif
