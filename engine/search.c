#include "engine/search.h"

#include <stdlib.h>
#include <string.h>

#include "engine/search_tree.h"

enum { ASPIRATION_DEPTH = 4, ASPIRATION_WIDEST = 1000 };

/* --- life --- */

struct search *search_create(unsigned hash_kib)
{
    struct search *search = search_create_helper();
    if (!search)
        return NULL;
    search->shares = false;
    if (transposition_init(&search->table, hash_kib) != 0) {
        free(search);
        return NULL;
    }
    return search;
}

struct search *search_create_helper(void)
{
    struct search *search = calloc(1, sizeof *search);
    if (search) {
        search->shares = true;
        search->parameters = search_parameters_default();
    }
    return search;
}

void search_share(struct search *helper, const struct search *owner)
{
    helper->table = owner->table;
    transposition_new_search(&helper->table);
}

void search_destroy(struct search *search)
{
    if (!search)
        return;
    if (!search->shares)
        transposition_done(&search->table);
    free(search);
}

void search_new_game(struct search *search)
{
    transposition_new_game(&search->table);
}

uint64_t search_nodes(const struct search *search)
{
    return atomic_load_explicit(&search->nodes_shown, memory_order_relaxed);
}

void search_clock_set(struct search_clock *clock, int64_t soft_ms, int64_t hard_ms)
{
    int64_t now_us = search_now_us();
    atomic_store(&clock->soft_us, soft_ms > 0 ? now_us + soft_ms * 1000 : 0);
    atomic_store(&clock->hard_us, hard_ms > 0 ? now_us + hard_ms * 1000 : 0);
}

/* --- the root --- */

struct root {
    struct root_move moves[MOVES_MAX]; /* the lines found come first, best first */
    int count, lines;
    struct search_info info[SEARCH_LINES_MAX]; /* of each line */
    bool changed;                              /* this iteration has another best move than the one before */
};

static void root_take(struct root *root, int at, int to)
{
    struct root_move move = root->moves[at];
    memmove(root->moves + to + 1, root->moves + to, (size_t)(at - to) * sizeof move);
    root->moves[to] = move;
}

static void info_take_line(const struct search *search, struct search_info *info, int32_t score)
{
    const struct line *line = &search->lines[0];
    info->score = score;
    info->pv_length = line->length;
    memcpy(info->pv, line->houses, (size_t)line->length);
}

/* The best of the moves from `line` on comes to that place, if it beats alpha; an unfinished round still
 * gives the better move it has found: its first is the best of the iteration before. */
static int32_t root_round(struct search *search, struct root *root, int line, int depth, int32_t alpha,
                          int32_t beta)
{
    int32_t best = -SCORE_INFINITE;
    for (int i = line; i < root->count && best < beta; i++) {
        const struct root_move *move = &root->moves[i];
        struct outcome outcome = {0, 0};
        if (i > line)
            outcome = search_root_move(search, move, depth - 1, alpha, alpha + 1);
        if (i == line || (outcome.score > alpha && outcome.score < beta && !search->ended))
            outcome = search_root_move(search, move, depth - 1, alpha, beta);
        if (search->ended)
            break;
        if (outcome.score > best)
            best = outcome.score;
        if (outcome.score <= alpha)
            continue;
        if (outcome.score >= beta)
            search->lines[1].length = 0; /* a bound has no line */
        alpha = outcome.score;
        search_extend_line(search, 0, move->house);
        info_take_line(search, &root->info[line], alpha);
        root->changed = root->changed || (i > line && line == 0);
        root_take(root, i, line);
    }
    return best;
}

/* A window around the score of the iteration before, opened on the side where it fails. */
static void root_line(struct search *search, struct root *root, int line, int depth)
{
    int32_t last = root->info[line].score, width = search->parameters.aspiration_window;
    int32_t alpha = -SCORE_INFINITE, beta = SCORE_INFINITE;
    if (depth >= ASPIRATION_DEPTH && !score_is_proven(last)) {
        alpha = last - width;
        beta = last + width;
    }
    while (!search->ended) {
        int32_t score = root_round(search, root, line, depth, alpha, beta);
        if (search->ended || (score > alpha && score < beta))
            return;
        width *= 4;
        if (score <= alpha)
            alpha = width > ASPIRATION_WIDEST ? -SCORE_INFINITE : score - width;
        else
            beta = width > ASPIRATION_WIDEST ? SCORE_INFINITE : score + width;
    }
}

/* The tables' move instead of the one found, for what it is worth. */
static void root_follow(const struct search *search, struct root *root, int house, int32_t score)
{
    struct search_info *info = &root->info[0];
    int absolute = house + 6 * (int)search->path.side;
    if (info->pv[0] != absolute)
        info->pv_length = 1;
    info->pv[0] = (int8_t)absolute;
    info->score = score;
}

/* Values found under other parameters answer other questions. */
static void use_parameters(struct search *search, const struct search_parameters *wanted)
{
    struct search_parameters parameters = wanted ? *wanted : search_parameters_default();
    if (memcmp(&search->parameters, &parameters, sizeof parameters) == 0)
        return;
    search->parameters = parameters;
    if (!search->shares)
        search_new_game(search);
}

static void search_prepare(struct search *search, const struct game *game, const struct weights *weights,
                           const struct search_limits *limits, const atomic_bool *stop)
{
    search->weights = weights;
    search->rules = game_rules(game);
    search->nodes = 0;
    search->node_limit = limits->nodes != 0 ? limits->nodes : UINT64_MAX;
    if (search->full_width != limits->full_width)
        search_new_game(search); /* a reduced search answers no exact question */
    search->full_width = limits->full_width;
    use_parameters(search, limits->parameters);
    search->started_us = search_now_us();
    search->time_limit_us = limits->time_ms != 0 ? search->started_us + limits->time_ms * 1000 : 0;
    search->clock = limits->clock;
    search->stop = stop;
    search->pulse = limits->pulse;
    search->ended = false;
    memset(search->killers, -1, sizeof search->killers);
    memset(search->history, 0, sizeof search->history);
    if (!search->shares)
        transposition_new_search(&search->table);
    if (search->tables != limits->tables)
        search_new_game(search); /* values of other knowledge */
    search->tables = limits->tables;
    bool serve = search->tables && tables_same_family(&search->tables->rules, search->rules);
    path_start(&search->path, game, serve ? search->tables : NULL);
    search->root = search->path.top;
}

/* The moves, and what to answer with when not even one ply can be searched. */
static void root_start(struct search *search, const struct search_limits *limits, struct root *root)
{
    memset(root, 0, sizeof *root);
    root->count = search_list_root(search, root->moves);
    int lines = limits->lines > 0 ? limits->lines : 1;
    root->lines = lines < root->count ? lines : root->count;
    for (int line = 0; line < root->lines; line++) {
        struct search_info *info = &root->info[line];
        info->line = line;
        info->score = search_leaf_score(search, path_top(&search->path)->board);
        info->pv_length = 1;
        info->pv[0] = (int8_t)(root->moves[line].house + 6 * (int)search->path.side);
    }
}

static void info_finish(const struct search *search, int depth, struct search_info *info)
{
    info->depth = depth;
    info->nodes = search->nodes;
    info->time_ms = (search_now_us() - search->started_us) / 1000;
    info->hashfull = transposition_permille(&search->table);
}

/* All lines of one depth, and the reports. */
static void root_iterate(struct search *search, struct root *root, int depth, search_report *report,
                         void *context)
{
    root->changed = false;
    for (int line = 0; line < root->lines; line++) {
        root_line(search, root, line, depth);
        if (search->ended)
            return;
        info_finish(search, depth, &root->info[line]);
    }
    for (int line = 0; line < root->lines && report; line++)
        report(context, &root->info[line]);
}

/* Whether another iteration is worth its time: a proven outcome stays. */
static bool goes_deeper(const struct search *search, const struct root *root)
{
    if (search->ended || (root->lines == 1 && score_is_proven(root->info[0].score)))
        return false;
    int64_t soft_us = search->clock ? atomic_load(&search->clock->soft_us) : 0;
    if (soft_us == 0)
        return true;
    return root->count > 1 && (root->changed || search_now_us() < soft_us);
}

int search_run(struct search *search, const struct game *game, const struct weights *weights,
               const struct search_limits *limits, const atomic_bool *stop, search_report *report,
               void *context, struct search_info *info)
{
    if (game_over(game))
        return -1;
    search_prepare(search, game, weights, limits, stop);
    struct root root;
    root_start(search, limits, &root);
    search->ended = search_out_of_time(search);
    int depth_limit =
        limits->depth > 0 && limits->depth < SEARCH_DEPTH_MAX ? limits->depth : SEARCH_DEPTH_MAX;
    int32_t guaranteed = -SCORE_INFINITE;
    int followed = search_follow_tables(search, &guaranteed);
    if (root.lines == 1 && guaranteed > SEARCH_WIN_BOUND)
        depth_limit = 1; /* it looks no further than whether there is a nearer win */
    for (int depth = 1; depth <= depth_limit && goes_deeper(search, &root); depth++)
        root_iterate(search, &root, depth, report, context);
    if (followed >= 0 && root.lines == 1 && guaranteed > root.info[0].score) {
        root_follow(search, &root, followed, guaranteed);
        if (report)
            report(context, &root.info[0]);
    }
    *info = root.info[0];
    info_finish(search, info->depth, info);
    return info->pv[0];
}
