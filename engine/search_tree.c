#include "engine/search_tree.h"

#include <string.h>
#include <time.h>

#include "engine/evaluate.h"

enum {
    CLOCK_NODES = 1024, /* nodes between looks at the clock and the stop flag */
    SEED_SCORE = 100,
    TABLE_SPAN = 400, /* of the scores of table wins: TABLE_SEED for each of 48 seeds and the plies */
    TABLE_SEED = 4,
    HISTORY_MAX = 1 << 14,
    ORDER_TABLE = INT32_MAX,
    ORDER_HASH = 1 << 30,
    ORDER_CAPTURE = 1 << 20,
    ORDER_KILLER = 1 << 18,
    FETCH_DEPTH = 2, /* from here on the table will be asked about most boards below */
};

/* --- scores --- */

static int ply_of(const struct search *search)
{
    return (int)(search->path.top - search->root);
}

/* The mover's score of a game that ends at this board, `ply` plies from the root, DESIGN section 4. */
static int32_t end_score(const struct search *search, struct board board, int ply,
                         enum rules_leftovers leftovers)
{
    int sign = search->rules->unfed_loses ? board_unfed(board) : 0;
    if (sign == 0)
        sign = board_margin(board, leftovers);
    if (sign == 0)
        return 0;
    return sign > 0 ? SEARCH_WIN - ply : ply - SEARCH_WIN;
}

BOARD_INLINE int32_t leaf_score(const struct search *search, struct board board)
{
    int32_t score = evaluate_board(search->weights, board);
    if (score > SCORE_HEURISTIC_MAX)
        return SCORE_HEURISTIC_MAX;
    return score < -SCORE_HEURISTIC_MAX ? -SCORE_HEURISTIC_MAX : score;
}

int32_t search_leaf_score(const struct search *search, struct board board)
{
    return leaf_score(search, board);
}

/* A proven outcome counts plies from the root on the path, but from its own board in the table. */
static int32_t score_to_table(int32_t score, int ply)
{
    return score > SEARCH_WIN_BOUND ? score + ply : score < -SEARCH_WIN_BOUND ? score - ply : score;
}

static int32_t score_from_table(int32_t score, int ply)
{
    return score > SEARCH_WIN_BOUND ? score - ply : score < -SEARCH_WIN_BOUND ? score + ply : score;
}

/* --- limits --- */

int64_t search_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

bool search_out_of_time(struct search *search)
{
    atomic_store_explicit(&search->nodes_shown, search->nodes, memory_order_relaxed);
    if (search->pulse)
        atomic_fetch_add_explicit(search->pulse, 1, memory_order_relaxed);
    if (search->stop && atomic_load_explicit(search->stop, memory_order_relaxed))
        return true;
    int64_t limit_us = search->time_limit_us;
    if (search->clock) {
        int64_t hard_us = atomic_load_explicit(&search->clock->hard_us, memory_order_relaxed);
        if (hard_us != 0 && (limit_us == 0 || hard_us < limit_us))
            limit_us = hard_us;
    }
    return limit_us != 0 && search_now_us() >= limit_us;
}

/* Counts a board; false when it may not be searched any more. */
BOARD_INLINE bool count_node(struct search *search)
{
    if (search->nodes >= search->node_limit)
        search->ended = true;
    else if (++search->nodes % CLOCK_NODES == 0 && search_out_of_time(search))
        search->ended = true;
    return !search->ended;
}

/* --- the family of rules is a constant in each copy of the code below --- */

BOARD_INLINE unsigned legal_as(const struct search *search, struct board board, bool site)
{
    return site ? board_legal_site(board) : board_legal(search->rules, board);
}

BOARD_INLINE struct board make_as(const struct search *search, struct board board, int house, bool site)
{
    return site ? board_make_site(board, house) : board_make(search->rules, board, house);
}

/* True when the game ends by its board alone. */
BOARD_INLINE bool board_ends(const struct search *search, struct board board, int ply, unsigned legal,
                             int32_t *score)
{
    if (board_decided(board))
        *score = end_score(search, board, ply, RULES_LEFTOVERS_STAY);
    else if (legal == 0)
        *score = end_score(search, board, ply, search->rules->leftovers);
    else
        return false;
    return true;
}

/* True when it ends on top of the path by what happened before: repetition or quiet limit. */
BOARD_INLINE bool path_ends(struct search *search, int32_t *score)
{
    struct path *path = &search->path;
    const struct rules *rules = search->rules;
    bool repeats = path_may_repeat(path);
    bool ends = rules->quiet_limit != 0 && (int)path_quiet(path) >= rules->quiet_limit;
    if (!repeats && !ends)
        return false;
    if (repeats) {
        path_set_hash(path_top(path));
        ends = (int)path_count(path) >= rules->repetitions || ends;
    }
    if (ends)
        *score = end_score(search, path_top(path)->board, ply_of(search), rules->stop_leftovers);
    return ends;
}

/* --- endgame tables: DESIGN section 10 --- */

/* What tables say of a board's score for the mover: nothing beyond these. */
struct bounds {
    int32_t low, high;
};

static const struct bounds no_bounds = {-SCORE_INFINITE, SCORE_INFINITE};

/* A win by so many seeds, the nearer the better; the plies to it are not known. */
static int32_t table_win(int seeds, int ply)
{
    return SEARCH_TABLE_WIN - TABLE_SPAN + TABLE_SEED * seeds - ply;
}

/* A win, a draw or a loss is all that is certain: 25 in a store end the game, so no margin is. */
static struct bounds bounds_of(const struct tables_value *value, int captured, int ply)
{
    struct bounds bounds = no_bounds;
    int low = captured + value->lo, high = captured + value->up;
    if (low >= 0)
        bounds.low = low > 0 ? table_win(low, ply) : 0;
    if (high <= 0)
        bounds.high = high < 0 ? -table_win(-high, ply) : 0;
    return bounds;
}

/* Of a board that came by a capture (`fresh`), or of the top, which is summed. */
BOARD_INLINE struct bounds table_bounds(const struct search *search, struct board board, int ply, bool fresh)
{
    struct tables_value value;
    const struct rules *rules = search->rules;
    if ((int)board_seeds(board) > search->path.table_seeds || !tables_probe(search->tables, &board, &value))
        return no_bounds;
    bool holds = fresh ? (rules->quiet_limit == 0 || value.plies <= rules->quiet_limit) &&
                             (rules->quiet_limit != 0 || rules->repetitions != 0)
                       : path_bears_tables(&search->path, search->path.top, value.plies);
    if (!holds)
        return no_bounds;
    return bounds_of(&value, (int)board_store(board.own) - (int)board_store(board.other), ply);
}

/* True when the bounds leave nothing open between alpha and beta, with the score they give. */
BOARD_INLINE bool bounds_cut(struct bounds bounds, int32_t alpha, int32_t beta, int32_t *score)
{
    if (bounds.low < beta && bounds.high > alpha && bounds.low != bounds.high)
        return false;
    *score = bounds.low >= beta || bounds.low == bounds.high ? bounds.low : bounds.high;
    return true;
}

static int32_t bounds_clamp(struct bounds bounds, int32_t score)
{
    return score < bounds.low ? bounds.low : score > bounds.high ? bounds.high : score;
}

/* --- captures below the last ply --- */

struct capture {
    int gain;
    struct board after;
};

/* Legal capturing moves, the largest gain first. */
BOARD_INLINE int list_captures(const struct search *search, struct board board, unsigned legal,
                               struct capture captures[MOVES_MAX], bool site)
{
    int count = 0;
    for (; legal != 0; legal &= legal - 1) {
        struct board after = make_as(search, board, __builtin_ctz(legal), site);
        int gain = (int)board_captured(board, after);
        if (gain == 0)
            continue;
        int at = count++;
        for (; at > 0 && captures[at - 1].gain < gain; at--)
            captures[at] = captures[at - 1];
        captures[at] = (struct capture){gain, after};
    }
    return count;
}

static int32_t captures_site(struct search *search, struct board board, int ply, int32_t alpha, int32_t beta,
                             unsigned legal);
static int32_t captures_any(struct search *search, struct board board, int ply, int32_t alpha, int32_t beta,
                            unsigned legal);

/* The board is no end, `legal` its moves: the better of standing still and of any capture. No history is
 * needed: a capture ends it. */
BOARD_INLINE int32_t captures_as(struct search *search, struct board board, int ply, int32_t alpha,
                                 int32_t beta, unsigned legal, bool site)
{
    int32_t still = leaf_score(search, board), best = still;
    if (best >= beta)
        return best;
    alpha = best > alpha ? best : alpha;
    struct capture captures[MOVES_MAX];
    int count = list_captures(search, board, legal, captures, site);
    for (int i = 0; i < count; i++) {
        int32_t score, most = still + SEED_SCORE * captures[i].gain + search->parameters.capture_margin;
        struct board after = captures[i].after;
        if (most <= alpha && !search->full_width && !board_decided(after)) {
            best = most > best ? most : best;
            continue;
        }
        if (!count_node(search))
            return best;
        unsigned replies = legal_as(search, after, site);
        if (!board_ends(search, after, ply + 1, replies, &score) &&
            !bounds_cut(table_bounds(search, after, ply + 1, true), -beta, -alpha, &score))
            score = site ? captures_site(search, after, ply + 1, -beta, -alpha, replies)
                         : captures_any(search, after, ply + 1, -beta, -alpha, replies);
        if (search->ended)
            return best;
        best = -score > best ? -score : best;
        if (best >= beta)
            return best;
        alpha = best > alpha ? best : alpha;
    }
    return best;
}

static int32_t captures_site(struct search *search, struct board board, int ply, int32_t alpha, int32_t beta,
                             unsigned legal)
{
    return captures_as(search, board, ply, alpha, beta, legal, true);
}

static int32_t captures_any(struct search *search, struct board board, int ply, int32_t alpha, int32_t beta,
                            unsigned legal)
{
    return captures_as(search, board, ply, alpha, beta, legal, false);
}

/* --- move order --- */

static int16_t *history_of(struct search *search, struct board board, int house)
{
    unsigned seeds = board_house(board.own, house);
    return &search->history[search->path.side][house][seeds < HISTORY_COUNTS ? seeds : HISTORY_COUNTS - 1];
}

/* The moves of a board by house; `left` are those not yet taken. */
struct moves {
    struct board after[MOVES_MAX];
    uint64_t hash[MOVES_MAX];
    int32_t order[MOVES_MAX];
    unsigned left, capturing;
};

BOARD_INLINE void moves_make(const struct search *search, struct board board, int house, struct moves *moves,
                             bool fetch, bool site)
{
    struct board after = make_as(search, board, house, site);
    moves->after[house] = after;
    moves->capturing |= (unsigned)(board_captured(board, after) > 0) << house;
    if (fetch) {
        moves->hash[house] = transposition_hash(after);
        transposition_prefetch(&search->table, moves->hash[house]);
    }
}

/* Makes the moves in `mask`, with what there is to order them: captures by their gain, killers, then what has
 * cut before. `fetch`: the table will be asked about the boards they lead to. */
BOARD_INLINE void moves_list(struct search *search, struct board board, unsigned mask, struct moves *moves,
                             bool fetch, bool site)
{
    const int8_t *killers = search->killers[ply_of(search)];
    moves->left = mask;
    for (; mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        moves_make(search, board, house, moves, fetch, site);
        int gain = (int)board_captured(board, moves->after[house]);
        if (gain > 0)
            moves->order[house] = ORDER_CAPTURE * gain;
        else
            moves->order[house] = (house == killers[0]) * 2 * ORDER_KILLER +
                                  (house == killers[1]) * ORDER_KILLER + *history_of(search, board, house);
    }
}

/* The most promising move left; of equals the nearest to F. */
BOARD_INLINE int moves_take(struct moves *moves)
{
    int best = 0;
    int32_t order = INT32_MIN;
    for (unsigned left = moves->left; left != 0; left &= left - 1) {
        int house = __builtin_ctz(left);
        if (moves->order[house] >= order) {
            order = moves->order[house];
            best = house;
        }
    }
    moves->left &= ~(1u << best);
    return best;
}

/* Gravity: the nearer to the bound, the less is added, so old evidence fades. */
static void history_add(int16_t *entry, int bonus)
{
    int size = bonus < 0 ? -bonus : bonus;
    *entry = (int16_t)(*entry + bonus - *entry * size / HISTORY_MAX);
}

/* `house`, a quiet move, refuted the move before; the quiet ones in `tried` did not. */
static void reward_cut(struct search *search, struct board board, int house, unsigned tried, int depth)
{
    int8_t *killers = search->killers[ply_of(search)];
    if (killers[0] != house) {
        killers[1] = killers[0];
        killers[0] = (int8_t)house;
    }
    int bonus = depth * depth < 400 ? depth * depth : 400;
    history_add(history_of(search, board, house), bonus);
    for (; tried != 0; tried &= tried - 1)
        history_add(history_of(search, board, __builtin_ctz(tried)), -bonus);
}

void search_extend_line(struct search *search, int ply, int house)
{
    struct line *line = &search->lines[ply], *below = &search->lines[ply + 1];
    line->houses[0] = (int8_t)(house + 6 * (int)search->path.side);
    int tail = below->length < SEARCH_PV_MAX - 1 ? below->length : SEARCH_PV_MAX - 1;
    memcpy(line->houses + 1, below->houses, (size_t)tail);
    line->length = tail + 1;
}

/* --- the table --- */

struct probe {
    struct transposition_key key;
    uint64_t hash, context;
    int move; /* to be tried first, or TRANSPOSITION_NO_MOVE */
};

/* Looks the top up; true when the entry answers the question, with `*out` set. An entry counts only if
 * nothing else of the history than what is in the key is within reach of the search behind it. */
BOARD_INLINE bool probe_table(struct search *search, int depth, int32_t alpha, int32_t beta,
                              struct probe *probe, struct outcome *out)
{
    const struct path_frame *top = path_top(&search->path);
    struct transposition_record record;
    probe->context = path_context(&search->path, depth);
    probe->key = transposition_key(top->board, probe->context);
    probe->hash = transposition_hash_with(top->hash, probe->context);
    probe->move = TRANSPOSITION_NO_MOVE;
    if (!transposition_find(&search->table, probe->key, probe->hash, &record))
        return false;
    probe->move = record.move;
    int32_t score = score_from_table(record.score, ply_of(search));
    bool proven = (score > SEARCH_WIN_BOUND && (record.bound & TRANSPOSITION_LOWER)) ||
                  (score < -SEARCH_WIN_BOUND && (record.bound & TRANSPOSITION_UPPER));
    if (record.depth < depth && !proven)
        return false;
    if (record.reach > depth && path_context(&search->path, record.reach) != probe->context)
        return false;
    out->score = score;
    out->reach = record.reach;
    return record.bound == TRANSPOSITION_EXACT || (record.bound == TRANSPOSITION_LOWER && score >= beta) ||
           (record.bound == TRANSPOSITION_UPPER && score <= alpha);
}

static void store_table(struct search *search, int depth, const struct outcome *outcome,
                        enum transposition_bound bound, int move, const struct probe *probe)
{
    const struct path_frame *top = path_top(&search->path);
    struct transposition_key key = probe->key;
    uint64_t hash = probe->hash;
    if (outcome->reach != depth) {
        uint64_t context = path_context(&search->path, outcome->reach);
        if (context != probe->context) {
            key = transposition_key(top->board, context);
            hash = transposition_hash_with(top->hash, context);
        }
    }
    if (outcome->reach > TRANSPOSITION_REACH_MAX)
        return;
    struct transposition_record record = {.score = score_to_table(outcome->score, ply_of(search)),
                                          .depth = depth,
                                          .reach = outcome->reach,
                                          .bound = bound,
                                          .move = move};
    transposition_store(&search->table, key, hash, &record);
}

/* --- the tree --- */

static struct outcome tree_site(struct search *search, int depth, int32_t alpha, int32_t beta);
static struct outcome tree_any(struct search *search, int depth, int32_t alpha, int32_t beta);

/* Searches the board after a move of the top, whose hash is set if depth > 0; the score is the mover's. */
BOARD_INLINE struct outcome descend(struct search *search, const struct moves *moves, int house, int depth,
                                    int32_t alpha, int32_t beta, bool site)
{
    bool captures = moves->capturing >> house & 1;
    path_push(&search->path, moves->after[house], house, captures);
    path_top(&search->path)->hash = moves->hash[house];
    struct outcome outcome =
        site ? tree_site(search, depth, -beta, -alpha) : tree_any(search, depth, -beta, -alpha);
    path_pop(&search->path);
    outcome.score = -outcome.score;
    /* Below a capture nothing earlier can come again. */
    outcome.reach = captures ? 1 : outcome.reach + 1;
    return outcome;
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

/* A move after the first: asked whether it is better than alpha, `reduction` plies less deep at first, and
 * only then how good it is (Marsland and Campbell 1982). */
BOARD_INLINE struct outcome descend_later(struct search *search, const struct moves *moves, int house,
                                          int depth, int reduction, int32_t alpha, int32_t beta, bool site)
{
    struct outcome outcome = descend(search, moves, house, depth - reduction, alpha, alpha + 1, site);
    int reach = outcome.reach;
    if (reduction > 0 && outcome.score > alpha && !search->ended) {
        outcome = descend(search, moves, house, depth, alpha, alpha + 1, site);
        reach = max_int(reach, outcome.reach);
    }
    if (outcome.score > alpha && outcome.score < beta && !search->ended)
        outcome = descend(search, moves, house, depth, alpha, beta, site);
    outcome.reach = max_int(reach, outcome.reach);
    return outcome;
}

/* Plies taken off the `index`-th move tried (0 the first). */
BOARD_INLINE int reduction_of(const struct search *search, int depth, int index, bool captures, bool pv)
{
    const struct search_parameters *p = &search->parameters;
    return index >= p->reduce_from && depth >= p->reduce_depth && !captures && !pv && !search->full_width;
}

/* `first` is tried before the others are even made. */
BOARD_INLINE struct outcome search_moves(struct search *search, unsigned legal, int first, int depth,
                                         int32_t alpha, int32_t beta, int *best_move, bool site)
{
    struct outcome best = {.score = -SCORE_INFINITE, .reach = 1};
    struct board board = path_top(&search->path)->board;
    bool pv = beta - alpha > 1, fetch = depth >= FETCH_DEPTH;
    struct moves moves;
    unsigned quiet = 0;
    moves.capturing = 0;
    moves.left = legal;
    if (first != TRANSPOSITION_NO_MOVE)
        moves_make(search, board, first, &moves, fetch, site);
    else
        moves_list(search, board, legal, &moves, fetch, site);
    for (int i = 0; moves.left != 0; i++) {
        int house = first;
        if (i == 0 && first != TRANSPOSITION_NO_MOVE) {
            moves.left &= ~(1u << first);
        } else {
            if (i == 1 && first != TRANSPOSITION_NO_MOVE)
                moves_list(search, board, moves.left, &moves, fetch, site);
            house = moves_take(&moves);
        }
        bool captures = moves.capturing >> house & 1;
        struct outcome outcome;
        if (i == 0)
            outcome = descend(search, &moves, house, depth - 1, alpha, beta, site);
        else
            outcome = descend_later(search, &moves, house, depth - 1,
                                    reduction_of(search, depth, i, captures, pv), alpha, beta, site);
        if (search->ended)
            return best;
        best.reach = max_int(best.reach, outcome.reach);
        if (outcome.score > best.score) {
            best.score = outcome.score;
            if (outcome.score > alpha) {
                *best_move = house;
                if (outcome.score >= beta) {
                    if (!captures)
                        reward_cut(search, board, house, quiet, depth);
                    return best;
                }
                alpha = outcome.score;
                search_extend_line(search, ply_of(search), house);
            }
        }
        quiet |= (unsigned)!captures << house;
    }
    return best;
}

/* True when the evaluation of the board on top, or captures alone, answer for what is so far from the window.
 */
BOARD_INLINE bool evaluation_cuts(struct search *search, int depth, int32_t alpha, int32_t beta,
                                  unsigned legal, struct outcome *out, bool site)
{
    const struct search_parameters *p = &search->parameters;
    if (depth > p->cut_depth || score_is_proven(beta) || score_is_proven(alpha))
        return false;
    struct board board = path_top(&search->path)->board;
    int32_t still = leaf_score(search, board);
    *out = (struct outcome){still, 0};
    if (still - p->cut_margin * depth >= beta)
        return true;
    if (depth > p->hopeless_depth || still + p->hopeless_margin * depth > alpha)
        return false;
    int ply = ply_of(search);
    out->score = site ? captures_site(search, board, ply, alpha, beta, legal)
                      : captures_any(search, board, ply, alpha, beta, legal);
    return out->score <= alpha || search->ended;
}

/* The board on top, `depth` plies and then captures; the score is a bound outside (alpha, beta). */
BOARD_INLINE struct outcome tree_as(struct search *search, int depth, int32_t alpha, int32_t beta, bool site)
{
    struct outcome outcome = {0, 0};
    struct path *path = &search->path;
    const struct path_frame *top = path_top(path);
    if (!count_node(search))
        return outcome;
    int ply = ply_of(search);
    bool pv = beta - alpha > 1;
    if (pv && ply <= SEARCH_DEPTH_MAX)
        search->lines[ply].length = 0;
    unsigned legal = legal_as(search, top->board, site);
    if (board_ends(search, top->board, ply, legal, &outcome.score) || path_ends(search, &outcome.score))
        return outcome;
    bool tables = path_meets_tables(path);
    if (depth <= 0 && tables)
        path_set_hash(path_top(path));
    if (depth > 0 || tables)
        path_sum(path);
    struct bounds bounds = tables ? table_bounds(search, top->board, ply, false) : no_bounds;
    if (bounds_cut(bounds, alpha, beta, &outcome.score))
        return outcome;
    if (depth <= 0) {
        outcome.score = site ? captures_site(search, top->board, ply, alpha, beta, legal)
                             : captures_any(search, top->board, ply, alpha, beta, legal);
        outcome.score = bounds_clamp(bounds, outcome.score);
        return outcome;
    }
    struct probe probe;
    if (probe_table(search, depth, alpha, beta, &probe, &outcome) && !pv)
        return outcome;
    if (!pv && !search->full_width && evaluation_cuts(search, depth, alpha, beta, legal, &outcome, site))
        return outcome;
    if (depth >= search->parameters.unknown_depth && probe.move == TRANSPOSITION_NO_MOVE &&
        !search->full_width)
        depth--;
    int best_move = TRANSPOSITION_NO_MOVE;
    path_enter(path);
    outcome = search_moves(search, legal, probe.move, depth, alpha > bounds.low ? alpha : bounds.low,
                           beta < bounds.high ? beta : bounds.high, &best_move, site);
    path_leave(path);
    if (search->ended)
        return outcome;
    outcome.score = bounds_clamp(bounds, outcome.score);
    enum transposition_bound bound = outcome.score >= beta    ? TRANSPOSITION_LOWER
                                     : outcome.score <= alpha ? TRANSPOSITION_UPPER
                                                              : TRANSPOSITION_EXACT;
    store_table(search, depth, &outcome, bound, best_move != TRANSPOSITION_NO_MOVE ? best_move : probe.move,
                &probe);
    return outcome;
}

static struct outcome tree_site(struct search *search, int depth, int32_t alpha, int32_t beta)
{
    return tree_as(search, depth, alpha, beta, true);
}

static struct outcome tree_any(struct search *search, int depth, int32_t alpha, int32_t beta)
{
    return tree_as(search, depth, alpha, beta, false);
}

/* --- the root --- */

/* The mover has a guarantee from any moment since the last capture at which the bracket held, if it has
 * played nothing but the tables' moves since: what repeats later repeats within that strategy, whose cycles
 * pay LO. */
int search_follow_tables(const struct search *search, int32_t *low)
{
    const struct path *path = &search->path;
    const struct path_frame *frames = path->frames;
    struct board board = frames[path->top].board;
    struct tables_value value, before;
    if (!path_meets_tables(path) || !tables_probe(search->tables, &board, &value) || value.move < 0)
        return -1;
    /* The checksums of a file do not say that whoever wrote it knew the rules. */
    if ((board_legal(path->rules, board) >> value.move & 1) == 0)
        return -1;
    const struct tables_layer *layer = &search->tables->layers[board_seeds(board)];
    int plies = max_int(value.plies, layer->line);
    for (uint32_t at = path->top;; at -= 2) {
        if (path_bears_tables(path, at, plies)) {
            int seeds = (int)board_store(board.own) - (int)board_store(board.other) + value.lo;
            *low = seeds > 0 ? table_win(seeds, 0) : seeds == 0 ? 0 : -SCORE_INFINITE;
            return value.move;
        }
        if (at < frames[path->top].since + 2 ||
            !tables_probe(search->tables, &frames[at - 2].board, &before) || before.move < 0 ||
            frames[at - 1].played != 1u << (before.move + 6 * (int)path->side))
            return -1;
    }
}

int search_list_root(struct search *search, struct root_move list[MOVES_MAX])
{
    struct path *path = &search->path;
    const struct path_frame *top = path_top(path);
    uint64_t context = path_context(path, 0);
    struct transposition_record record;
    struct moves moves = {.capturing = 0};
    moves_list(search, top->board, board_legal(search->rules, top->board), &moves, false, false);
    if (transposition_find(&search->table, transposition_key(top->board, context),
                           transposition_hash_with(top->hash, context), &record) &&
        record.move != TRANSPOSITION_NO_MOVE)
        moves.order[record.move] = ORDER_HASH;
    int32_t low;
    int followed = search_follow_tables(search, &low);
    if (followed >= 0)
        moves.order[followed] = ORDER_TABLE;
    int count = 0;
    while (moves.left != 0) {
        int house = moves_take(&moves);
        list[count++] = (struct root_move){
            .house = house, .captures = moves.capturing >> house & 1, .after = moves.after[house]};
    }
    return count;
}

struct outcome search_root_move(struct search *search, const struct root_move *move, int depth, int32_t alpha,
                                int32_t beta)
{
    struct moves moves = {.capturing = (unsigned)move->captures << move->house};
    moves.after[move->house] = move->after;
    moves.hash[move->house] = transposition_hash(move->after);
    bool site = board_is_site(search->rules);
    return site ? descend(search, &moves, move->house, depth, alpha, beta, true)
                : descend(search, &moves, move->house, depth, alpha, beta, false);
}
