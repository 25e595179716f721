#include "engine/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/evaluate.h"
#include "engine/path.h"

enum {
    SCORE_INFINITE = 32001,
    SCORE_HEURISTIC_MAX = SEARCH_WIN_BOUND - 1,
    CLOCK_NODES = 1024, /* nodes between looks at the clock and the stop flag */
    MOVES_MAX = BOARD_HOUSES,
    HISTORY_COUNTS = 16,
    HISTORY_MAX = 1 << 14,
    ORDER_HASH = 1 << 30,
    ORDER_CAPTURE = 1 << 20,
    ORDER_KILLER = 1 << 18,
};

/* Below the last full-width ply only captures are made, at most 24 in a row. */
_Static_assert(PATH_SEARCH_MAX > SEARCH_DEPTH_MAX + BOARD_HALF + 2, "the path has room for every line");

struct move {
    int house; /* 0..5 of the mover */
    bool captures;
    int32_t order;
    struct board after;
};

struct line {
    int length;
    int8_t houses[SEARCH_PV_MAX]; /* absolute */
};

/* About 1.1 MB and the table; the path is touched only as far as the game's quiet history reaches. */
struct search {
    struct transposition table;
    const struct weights *weights;
    const struct rules *rules;
    uint64_t nodes, node_limit;
    int64_t started_us, time_limit_us; /* 0 = none */
    atomic_bool *stop;
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

/* --- life --- */

struct search *search_create(unsigned hash_kib)
{
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return NULL;
    if (transposition_init(&search->table, hash_kib) != 0) {
        free(search);
        return NULL;
    }
    return search;
}

void search_destroy(struct search *search)
{
    if (!search)
        return;
    transposition_done(&search->table);
    free(search);
}

void search_new_game(struct search *search)
{
    transposition_new_game(&search->table);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* --- scores --- */

static int ply_of(const struct search *search)
{
    return (int)(search->path.top - search->root);
}

/* The mover's score of a game that ends on top of the path, DESIGN section 4. */
static int32_t end_score(const struct search *search, enum rules_leftovers leftovers)
{
    struct board board = search->path.frames[search->path.top].board;
    int sign = search->rules->unfed_loses ? board_unfed(board) : 0;
    if (sign == 0)
        sign = board_margin(board, leftovers);
    if (sign == 0)
        return 0;
    return sign > 0 ? SEARCH_WIN - ply_of(search) : ply_of(search) - SEARCH_WIN;
}

static int32_t leaf_score(const struct search *search, struct board board)
{
    int32_t score = evaluate_board(search->weights, board);
    if (score > SCORE_HEURISTIC_MAX)
        return SCORE_HEURISTIC_MAX;
    return score < -SCORE_HEURISTIC_MAX ? -SCORE_HEURISTIC_MAX : score;
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

static bool out_of_time(const struct search *search)
{
    if (search->stop && atomic_load_explicit(search->stop, memory_order_relaxed))
        return true;
    return search->time_limit_us != 0 && now_us() - search->started_us >= search->time_limit_us;
}

/* Counts the board on top; false when it may not be searched any more. */
static bool count_node(struct search *search)
{
    if (search->nodes >= search->node_limit)
        search->ended = true;
    else if (++search->nodes % CLOCK_NODES == 0 && out_of_time(search))
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

/* True when the game ends on top of the path by its board alone. */
BOARD_INLINE bool board_ends(const struct search *search, unsigned legal, int32_t *score)
{
    struct board board = search->path.frames[search->path.top].board;
    if (board_decided(board))
        *score = end_score(search, RULES_LEFTOVERS_STAY);
    else if (legal == 0)
        *score = end_score(search, search->rules->leftovers);
    else
        return false;
    return true;
}

/* True when it ends by what happened before: repetition or quiet limit. Sets the key of the top if it had to.
 */
static bool path_ends(struct search *search, int32_t *score)
{
    struct path *path = &search->path;
    const struct rules *rules = search->rules;
    int quiet = (int)path_quiet(path);
    if (quiet < PATH_CYCLE && (rules->quiet_limit == 0 || quiet < rules->quiet_limit))
        return false;
    bool ends = rules->quiet_limit != 0 && quiet >= rules->quiet_limit;
    if (rules->repetitions > 0 && quiet >= PATH_CYCLE) {
        path_set_key(path_top(path));
        ends = (int)path_count(path) >= rules->repetitions || ends;
    }
    if (ends)
        *score = end_score(search, rules->stop_leftovers);
    return ends;
}

/* --- captures below the last ply --- */

/* Legal capturing moves, the largest gain first. */
BOARD_INLINE int list_captures(const struct search *search, struct board board, unsigned legal,
                               struct move moves[MOVES_MAX], bool site)
{
    int count = 0;
    for (; legal != 0; legal &= legal - 1) {
        int house = __builtin_ctz(legal);
        struct board after = make_as(search, board, house, site);
        int gain = (int)board_captured(board, after);
        if (gain == 0)
            continue;
        int at = count++;
        for (; at > 0 && moves[at - 1].order < gain; at--)
            moves[at] = moves[at - 1];
        moves[at] = (struct move){.house = house, .captures = true, .order = gain, .after = after};
    }
    return count;
}

static int32_t captures_site(struct search *search, int32_t alpha, int32_t beta, unsigned legal);
static int32_t captures_any(struct search *search, int32_t alpha, int32_t beta, unsigned legal);

/* The top is no end, `legal` its moves: the better of standing still and of any capture. */
BOARD_INLINE int32_t captures_as(struct search *search, int32_t alpha, int32_t beta, unsigned legal,
                                 bool site)
{
    struct board board = path_top(&search->path)->board;
    int32_t best = leaf_score(search, board);
    if (best >= beta)
        return best;
    alpha = best > alpha ? best : alpha;
    struct move moves[MOVES_MAX];
    int count = list_captures(search, board, legal, moves, site);
    for (int i = 0; i < count; i++) {
        int32_t score;
        path_push(&search->path, moves[i].after, moves[i].house, true);
        if (!count_node(search)) {
            path_pop(&search->path);
            return best;
        }
        unsigned replies = legal_as(search, moves[i].after, site);
        if (!board_ends(search, replies, &score))
            score = site ? captures_site(search, -beta, -alpha, replies)
                         : captures_any(search, -beta, -alpha, replies);
        path_pop(&search->path);
        if (search->ended)
            return best;
        best = -score > best ? -score : best;
        if (best >= beta)
            return best;
        alpha = best > alpha ? best : alpha;
    }
    return best;
}

static int32_t captures_site(struct search *search, int32_t alpha, int32_t beta, unsigned legal)
{
    return captures_as(search, alpha, beta, legal, true);
}

static int32_t captures_any(struct search *search, int32_t alpha, int32_t beta, unsigned legal)
{
    return captures_as(search, alpha, beta, legal, false);
}

/* --- move order --- */

static int16_t *history_of(struct search *search, struct board board, int house)
{
    unsigned seeds = board_house(board.own, house);
    return &search->history[search->path.side][house][seeds < HISTORY_COUNTS ? seeds : HISTORY_COUNTS - 1];
}

/* The move from the table, captures by their gain, killers, then what has cut before; ties by house from F.
 */
BOARD_INLINE int list_moves(struct search *search, struct board board, unsigned legal, int first,
                            struct move moves[MOVES_MAX], bool site)
{
    const int8_t *killers = search->killers[ply_of(search)];
    int count = 0;
    for (; legal != 0; legal &= legal - 1) {
        struct move move = {.house = __builtin_ctz(legal)};
        move.after = make_as(search, board, move.house, site);
        int gain = (int)board_captured(board, move.after);
        move.captures = gain > 0;
        if (move.house == first)
            move.order = ORDER_HASH;
        else if (gain > 0)
            move.order = ORDER_CAPTURE * gain;
        else
            move.order = (move.house == killers[0]) * 2 * ORDER_KILLER +
                         (move.house == killers[1]) * ORDER_KILLER + *history_of(search, board, move.house);
        int at = count++;
        for (; at > 0 && moves[at - 1].order <= move.order; at--)
            moves[at] = moves[at - 1];
        moves[at] = move;
    }
    return count;
}

/* Gravity: the nearer to the bound, the less is added, so old evidence fades. */
static void history_add(int16_t *entry, int bonus)
{
    int size = bonus < 0 ? -bonus : bonus;
    *entry = (int16_t)(*entry + bonus - *entry * size / HISTORY_MAX);
}

/* moves[cut] refuted the move before; the quiet ones tried earlier did not. */
static void reward_cut(struct search *search, struct board board, const struct move moves[MOVES_MAX], int cut,
                       int depth)
{
    if (moves[cut].captures)
        return;
    int8_t *killers = search->killers[ply_of(search)];
    if (killers[0] != moves[cut].house) {
        killers[1] = killers[0];
        killers[0] = (int8_t)moves[cut].house;
    }
    int bonus = depth * depth < 400 ? depth * depth : 400;
    history_add(history_of(search, board, moves[cut].house), bonus);
    for (int i = 0; i < cut; i++)
        if (!moves[i].captures)
            history_add(history_of(search, board, moves[i].house), -bonus);
}

static void line_extend(struct search *search, int ply, int house)
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

static struct transposition_key key_with(const struct path_frame *frame, uint64_t context)
{
    return (struct transposition_key){.low = frame->key.low ^ context, .high = frame->key.high};
}

/* Looks the top up; true when the entry answers the question, with `*out` set. An entry counts only if
 * nothing else of the history than what is in the key is within reach of the search behind it. */
static bool probe_table(struct search *search, int depth, int32_t alpha, int32_t beta, struct probe *probe,
                        struct outcome *out)
{
    const struct path_frame *top = path_top(&search->path);
    struct transposition_record record;
    probe->context = path_context(&search->path, depth);
    probe->key = key_with(top, probe->context);
    probe->hash = probe->context == 0 ? top->hash : transposition_hash(probe->key);
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
            key = key_with(top, context);
            hash = transposition_hash(key);
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

/* Searches the board after `move` and gives its score in the view of the mover, who stands on top. */
BOARD_INLINE struct outcome search_move(struct search *search, const struct move *move, int depth,
                                        int32_t alpha, int32_t beta, bool site)
{
    path_push(&search->path, move->after, move->house, move->captures);
    struct outcome outcome =
        site ? tree_site(search, depth - 1, -beta, -alpha) : tree_any(search, depth - 1, -beta, -alpha);
    path_pop(&search->path);
    outcome.score = -outcome.score;
    /* Below a capture nothing earlier can come again. */
    outcome.reach = move->captures ? 1 : outcome.reach + 1;
    return outcome;
}

/* Principal variation search over the moves of the top (Marsland and Campbell 1982): the first with the full
 * window, the others only asked whether they are better. */
BOARD_INLINE struct outcome search_moves(struct search *search, const struct move *moves, int count,
                                         int depth, int32_t alpha, int32_t beta, int *best_move, bool site)
{
    struct outcome best = {.score = -SCORE_INFINITE, .reach = 1};
    struct board board = path_top(&search->path)->board;
    int ply = ply_of(search);
    for (int i = 0; i < count; i++) {
        struct outcome outcome;
        int reach = 0;
        if (i > 0) {
            outcome = search_move(search, &moves[i], depth, alpha, alpha + 1, site);
            reach = outcome.reach;
        }
        if (i == 0 || (outcome.score > alpha && outcome.score < beta && !search->ended))
            outcome = search_move(search, &moves[i], depth, alpha, beta, site);
        if (search->ended)
            return best;
        reach = outcome.reach > reach ? outcome.reach : reach;
        best.reach = reach > best.reach ? reach : best.reach;
        if (outcome.score <= best.score)
            continue;
        best.score = outcome.score;
        if (outcome.score <= alpha)
            continue;
        *best_move = moves[i].house;
        line_extend(search, ply, moves[i].house);
        alpha = outcome.score;
        if (alpha >= beta) {
            reward_cut(search, board, moves, i, depth);
            return best;
        }
    }
    return best;
}

/* The board on top, `depth` plies and then captures; the score is a bound outside (alpha, beta). */
BOARD_INLINE struct outcome tree_as(struct search *search, int depth, int32_t alpha, int32_t beta, bool site)
{
    struct outcome outcome = {0, 0};
    struct path *path = &search->path;
    struct path_frame *top = path_top(path);
    if (!count_node(search))
        return outcome;
    int ply = ply_of(search);
    if (ply <= SEARCH_DEPTH_MAX)
        search->lines[ply].length = 0;
    unsigned legal = legal_as(search, top->board, site);
    if (board_ends(search, legal, &outcome.score) || path_ends(search, &outcome.score))
        return outcome;
    if (depth == 0) {
        outcome.score =
            site ? captures_site(search, alpha, beta, legal) : captures_any(search, alpha, beta, legal);
        return outcome;
    }
    if (path_quiet(path) < PATH_CYCLE || search->rules->repetitions == 0)
        path_set_key(top);
    path_sum(path);
    struct probe probe;
    if (probe_table(search, depth, alpha, beta, &probe, &outcome) && beta - alpha == 1)
        return outcome;

    struct move moves[MOVES_MAX];
    int count = list_moves(search, top->board, legal, probe.move, moves, site);
    int best_move = TRANSPOSITION_NO_MOVE;
    path_enter(path);
    outcome = search_moves(search, moves, count, depth, alpha, beta, &best_move, site);
    path_leave(path);
    if (search->ended)
        return outcome;
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

struct root {
    struct move moves[MOVES_MAX]; /* the best so far in front, the others in their first order */
    int count;
    bool site;
};

static void root_list(struct search *search, struct root *root)
{
    struct path *path = &search->path;
    struct board board = path_top(path)->board;
    root->site = board_is_site(search->rules);
    unsigned legal = legal_as(search, board, root->site);
    struct transposition_record record;
    struct path_frame *top = path_top(path);
    int first = TRANSPOSITION_NO_MOVE;
    struct transposition_key key = key_with(top, path_context(path, 0));
    if (transposition_find(&search->table, key, transposition_hash(key), &record))
        first = record.move;
    root->count = list_moves(search, board, legal, first, root->moves, false);
}

static void root_front(struct root *root, int at)
{
    struct move move = root->moves[at];
    memmove(root->moves + 1, root->moves, (size_t)at * sizeof move);
    root->moves[0] = move;
}

static int64_t elapsed_ms(const struct search *search)
{
    return (now_us() - search->started_us) / 1000;
}

/* The line of the best root move, which stands at the root's ply. */
static void info_take_line(struct search *search, struct search_info *info, int32_t score)
{
    const struct line *line = &search->lines[0];
    info->score = score;
    info->pv_length = line->length;
    memcpy(info->pv, line->houses, (size_t)line->length);
}

/* One iteration; the best move comes to the front. An unfinished one still gives the better move it has
 * found: its first move is the best of the iteration before. */
static void root_iterate(struct search *search, struct root *root, int depth, struct search_info *info)
{
    int32_t alpha = -SCORE_INFINITE;
    for (int i = 0; i < root->count; i++) {
        const struct move *move = &root->moves[i];
        struct outcome outcome = {0, 0};
        bool better = i == 0;
        if (i > 0) {
            outcome = search_move(search, move, depth, alpha, alpha + 1, root->site);
            better = outcome.score > alpha;
        }
        if (better && !search->ended)
            outcome = search_move(search, move, depth, alpha, SCORE_INFINITE, root->site);
        if (search->ended)
            return;
        if (!better || outcome.score <= alpha)
            continue;
        alpha = outcome.score;
        line_extend(search, 0, move->house);
        info_take_line(search, info, alpha);
        root_front(root, i);
    }
}

static void search_prepare(struct search *search, const struct game *game, const struct weights *weights,
                           const struct search_limits *limits, atomic_bool *stop)
{
    search->weights = weights;
    search->rules = game_rules(game);
    search->nodes = 0;
    search->node_limit = limits->nodes != 0 ? limits->nodes : UINT64_MAX;
    search->started_us = now_us();
    search->time_limit_us = limits->time_ms * 1000;
    search->stop = stop;
    search->ended = false;
    memset(search->killers, -1, sizeof search->killers);
    memset(search->history, 0, sizeof search->history);
    transposition_new_search(&search->table);
    path_start(&search->path, game);
    search->root = search->path.top;
}

/* The move to answer with when not even one ply can be searched. */
static void info_start(struct search *search, const struct root *root, struct search_info *info)
{
    struct board board = path_top(&search->path)->board;
    memset(info, 0, sizeof *info);
    info->score = leaf_score(search, board);
    info->pv_length = 1;
    info->pv[0] = (int8_t)(root->moves[0].house + 6 * (int)search->path.side);
}

static void info_finish(const struct search *search, int depth, struct search_info *info)
{
    info->depth = depth;
    info->nodes = search->nodes;
    info->time_ms = elapsed_ms(search);
    info->hashfull = transposition_permille(&search->table);
}

/* Whether another iteration is worth its time: a proven outcome stays, and the next iteration usually takes
 * longer than all before together. */
static bool goes_deeper(const struct search *search, const struct search_info *info)
{
    if (search->ended || info->score > SEARCH_WIN_BOUND || info->score < -SEARCH_WIN_BOUND)
        return false;
    return search->time_limit_us == 0 || 2 * (now_us() - search->started_us) < search->time_limit_us;
}

int search_run(struct search *search, const struct game *game, const struct weights *weights,
               const struct search_limits *limits, atomic_bool *stop, search_report *report, void *context,
               struct search_info *info)
{
    if (game_over(game))
        return -1;
    search_prepare(search, game, weights, limits, stop);
    struct root root;
    root_list(search, &root);
    info_start(search, &root, info);
    search->ended = out_of_time(search);
    int depth_limit =
        limits->depth > 0 && limits->depth < SEARCH_DEPTH_MAX ? limits->depth : SEARCH_DEPTH_MAX;
    for (int depth = 1; depth <= depth_limit && goes_deeper(search, info); depth++) {
        root_iterate(search, &root, depth, info);
        if (search->ended)
            break;
        info_finish(search, depth, info);
        if (report)
            report(context, info);
    }
    info_finish(search, info->depth, info);
    return info->pv[0];
}
