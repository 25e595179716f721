/* The tree below the root: what search.c iterates over. Internal to the search; the thread that runs it owns
 * everything here but `stop` and the clock, which other threads may set, and a shared table. */
#ifndef KROO_ENGINE_SEARCH_TREE_H
#define KROO_ENGINE_SEARCH_TREE_H

#include "engine/path.h"
#include "engine/search.h"
#include "engine/transposition.h"

enum {
    SCORE_INFINITE = 32001,
    SCORE_HEURISTIC_MAX = SEARCH_WIN_BOUND - 1,
    MOVES_MAX = BOARD_HOUSES,
    HISTORY_COUNTS = 16,
};

/* Below the last full-width ply only captures are made, at most 24 in a row. */
_Static_assert(PATH_SEARCH_MAX > SEARCH_DEPTH_MAX + BOARD_HALF + 2, "the path has room for every line");

struct line {
    int length;
    int8_t houses[SEARCH_PV_MAX]; /* absolute */
};

/* About 1.1 MB and the table; the path is touched only as far as the game's quiet history reaches. */
struct search {
    struct transposition table; /* a copy of the owner's where it is shared */
    bool shares;
    const struct weights *weights;
    const struct rules *rules;
    const struct tables *tables; /* asked only about boards of up to path.table_seeds seeds */
    uint64_t nodes, node_limit;
    atomic_uint_least64_t nodes_shown; /* for other threads */
    bool full_width;
    struct search_parameters parameters;
    int64_t started_us;
    const struct search_clock *clock; /* may be NULL */
    int64_t time_limit_us;            /* absolute; 0 = none */
    const atomic_bool *stop;          /* may be NULL */
    atomic_uint *pulse;               /* likewise */
    bool ended;    /* a limit was reached or somebody asked to stop: unwind, use nothing unfinished */
    uint32_t root; /* path index */
    int8_t killers[PATH_SEARCH_MAX][2];
    int16_t history[2][MOVES_MAX][HISTORY_COUNTS]; /* by side, house and seeds in it */
    struct line lines[SEARCH_DEPTH_MAX + 2];
    struct path path;
};

/* What a subtree gives its parent. */
struct outcome {
    int32_t score;
    int reach; /* plies down from here that a quiet line behind the score goes: transposition.h */
};

struct root_move {
    int house; /* 0..5 of the mover */
    bool captures;
    struct board after;
    int32_t score; /* of the last iteration that finished it; multipv */
};

int64_t search_now_us(void);
/* True when the search is to end now; shows the nodes. */
bool search_out_of_time(struct search *search);
/* A proven score is not given by an evaluation. */
int32_t search_leaf_score(const struct search *search, struct board board);
/* The legal moves of the root in the order to try them. */
int search_list_root(struct search *search, struct root_move moves[MOVES_MAX]);
/* The house (0..5) whose move the tables guarantee `low` with, or -1: SEARCH_TABLE_WIN and a little less for
 * a win, 0 for a draw. */
int search_follow_tables(const struct search *search, int32_t *low);
/* Searches the board after `move` to `depth` plies below it; the score is the root mover's. */
struct outcome search_root_move(struct search *search, const struct root_move *move, int depth, int32_t alpha,
                                int32_t beta);
/* Puts `house` before the line of the ply below. */
void search_extend_line(struct search *search, int ply, int house);

static inline bool score_is_proven(int32_t score)
{
    return score > SEARCH_WIN_BOUND || score < -SEARCH_WIN_BOUND;
}

#endif
