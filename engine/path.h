/* The path of a search: the boards since the last capture of the game, then those the search has made, with
 * what an exact answer about repetition and the quiet limit needs (DESIGN section 10). Owned by one search,
 * one thread, no allocation; internal to engine/.
 *
 * A board that stands on the path can come again only after each of the twelve houses has been played since:
 * in a cycle without captures the same number of seeds crosses from every house to the next, and seeds that
 * cross into a house stay there until it is played. So the houses still unplayed since a board bound from
 * below the plies it is away, and only boards within the remaining depth can touch a score. Their hash, the
 * `context`, joins the key of the transposition table. */
#ifndef KROO_ENGINE_PATH_H
#define KROO_ENGINE_PATH_H

#include "engine/game.h"
#include "engine/tables.h"
#include "engine/transposition.h"

enum {
    PATH_CYCLE = 12, /* plies of the shortest cycle */
    PATH_ALL_HOUSES = 0xfff,
    PATH_SEARCH_MAX = 160,
    PATH_FRAMES = GAME_PLIES_MAX + 1 + PATH_SEARCH_MAX,
    PATH_FILTER = 4096,
};

struct path_frame {
    struct board board;
    uint64_t hash;    /* of the board alone; set where it is needed */
    uint64_t all;     /* sum of the hashes since the last capture, this board included; sides told apart */
    uint64_t doubled; /* the same of the boards whose next occurrence ends the game (repetitions >= 3) */
    uint32_t since;   /* index of the board after the last capture */
    uint16_t played;  /* bit of the house whose move led here, 0..11, absolute */
    uint16_t moved;   /* the same of all moves since the last capture: nothing can have come again before
                         these are all twelve */
    uint16_t occurrences;
};

struct path {
    const struct rules *rules;
    int table_seeds;              /* boards of so many seeds are looked up in endgame tables; -1 = none */
    int table_plies;              /* and hold where so many quiet plies are left */
    uint32_t top;                 /* index of the current board */
    unsigned side;                /* enum side to move at the top */
    uint16_t filter[PATH_FILTER]; /* how many entered boards have a hash in this class */
    struct path_frame frames[PATH_FRAMES];
};

/* Puts the game's history on the path, the current board on top, every board of it entered. `tables` (may be
 * NULL) are those of the search. */
void path_start(struct path *path, const struct game *game, const struct tables *tables);

/* What of the history can touch a score that looks `reach` quiet plies ahead from the top; 0 = nothing. */
uint64_t path_context_full(const struct path *path, int reach);

static inline struct path_frame *path_top(struct path *path)
{
    return &path->frames[path->top];
}

static inline uint32_t path_quiet(const struct path *path)
{
    return path->top - path->frames[path->top].since;
}

/* Steps down to `board`, reached by playing `house` (0..5 of the mover), and back up. */
static inline void path_push(struct path *path, struct board board, int house, bool captured)
{
    const struct path_frame *parent = &path->frames[path->top];
    struct path_frame *child = &path->frames[++path->top];
    child->board = board;
    child->since = captured ? path->top : parent->since;
    child->played = (uint16_t)(1u << (house + 6 * (int)path->side));
    child->moved = captured ? 0 : parent->moved | child->played;
    child->occurrences = 1;
    path->side ^= 1;
}

static inline void path_pop(struct path *path)
{
    path->top--;
    path->side ^= 1;
}

static inline void path_set_hash(struct path_frame *frame)
{
    frame->hash = transposition_hash(frame->board);
}

/* True where a board since the last capture can stand again on top. */
static inline bool path_may_repeat(const struct path *path)
{
    return path->frames[path->top].moved == PATH_ALL_HOUSES && path->rules->repetitions > 0;
}

static inline uint16_t *path_filter(struct path *path, const struct path_frame *frame)
{
    return &path->filter[frame->hash % PATH_FILTER];
}

/* Counts how often the top (its hash is set) has stood since the last capture, itself included. */
static inline unsigned path_count(struct path *path)
{
    struct path_frame *top = path_top(path);
    unsigned count = 1;
    if (*path_filter(path, top) != 0)
        for (uint32_t back = PATH_CYCLE; back <= path_quiet(path); back += 2)
            count += board_equal(path->frames[path->top - back].board, top->board);
    top->occurrences = (uint16_t)count;
    return count;
}

/* Sums the history up to the top, whose hash and occurrences are set; a context is asked for after this. */
static inline void path_sum(struct path *path)
{
    struct path_frame *top = path_top(path);
    bool first = top->since == path->top;
    uint64_t own = path->side == SIDE_SOUTH ? top->hash : top->hash * UINT64_C(0x9e3779b97f4a7c15) + 1;
    bool doubled = path->rules->repetitions >= 3 && top->occurrences + 1 >= path->rules->repetitions;
    top->all = (first ? 0 : top[-1].all) + own;
    top->doubled = (first ? 0 : top[-1].doubled) + (doubled ? own : 0);
}

/* Makes the top one that later boards can repeat; path_leave undoes it. */
static inline void path_enter(struct path *path)
{
    ++*path_filter(path, path_top(path));
}

static inline void path_leave(struct path *path)
{
    --*path_filter(path, path_top(path));
}

/* True where a quiet line from the top can meet endgame tables: then a second occurrence matters already, and
 * the quiet limit that much earlier. Behind a capture nothing of the history does. */
static inline bool path_meets_tables(const struct path *path)
{
    return path->table_seeds >= 0 && (int)board_seeds(path->frames[path->top].board) <= path->table_seeds;
}

/* True when no position since the last capture has stood twice and `plies` quiet plies are left, so that
 * brackets hold (engine/README.md, "Endgame tables"). The frame `at` is summed. */
static inline bool path_bears_tables(const struct path *path, uint32_t at, int plies)
{
    const struct path_frame *frame = &path->frames[at];
    const struct rules *rules = path->rules;
    int quiet = (int)(at - frame->since);
    if (rules->quiet_limit != 0 && quiet + plies > rules->quiet_limit)
        return false;
    if (rules->repetitions == 0)
        return rules->quiet_limit != 0;
    return quiet == 0 || (rules->repetitions == 3 && frame->doubled == 0);
}

/* Most boards of a game get away without a context. */
static inline uint64_t path_context(const struct path *path, int reach)
{
    const struct path_frame *top = &path->frames[path->top];
    const struct rules *rules = path->rules;
    bool tables = path_meets_tables(path);
    int ahead = (int)path_quiet(path) + reach;
    bool repetition = rules->repetitions == 2 || (rules->repetitions >= 3 && tables)
                          ? top->doubled != 0 || ahead >= PATH_CYCLE
                      : rules->repetitions >= 3
                          ? top->doubled != 0 || (reach > PATH_CYCLE && ahead >= 2 * PATH_CYCLE)
                          : false;
    bool limit = rules->quiet_limit != 0 && ahead + (tables ? path->table_plies : 0) >= rules->quiet_limit;
    return repetition || limit ? path_context_full(path, reach) : 0;
}

#endif
