#include "engine/solver.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/attractor.h"
#include "engine/tables.h"

enum { HUGE_PAGE = 1 << 21, MOVES_TERMINAL = 0x80, PASSES_EXPECTED = 5, BATCH = 32 };

/* Arrays with an entry for each board: of all layers, and of the one at hand. */
struct solver {
    struct rules rules;
    int seeds;
    bool zero; /* an endless play pays nothing: one value a board */
    int step;  /* between thresholds: own-row values have the parity of the layer's seeds */
    struct team *team;
    struct attractor *attractor;
    uint64_t *rows;
    struct solver_values values, raw;

    int next; /* the layer to solve next; the one before is at hand */
    struct layer layer;
    uint32_t start;            /* number of its first board */
    int8_t *exit_lo, *exit_up; /* best move out of the layer for a mover who keeps LO, UP; or NONE */
    uint8_t *moves;            /* moves within the layer; MOVES_TERMINAL when there is no move at all */
    uint32_t *any, *all;       /* the attractor's words; the same array where a board has one value */
    int8_t *any_seed, *all_seed, *all_cap;
    uint16_t *rank; /* of brackets: of `all` states when certified, for the moves to store */
    struct solver_layer layers[LAYER_SEEDS_MAX + 1];

    struct solver_values lower; /* what moves out of the layer are worth */
    struct solver_values floor; /* of the round at hand, lo NULL for none */
    uint64_t raised;            /* states of the layer above the floor; shared */
    uint64_t exact, failed;     /* shared */
    uint16_t *entries;          /* where solver_entries writes its first board, `entries_start` */
    uint32_t entries_start;
    solver_progress *progress;
    void *context;
    int passes;           /* sweeps finished in this layer */
    int threshold, plies; /* of `certify`; plies is shared */
};

/* Large arrays ask for huge pages: the boards a sweep touches lie far apart. */
static void *area_create(uint64_t boards, size_t each)
{
    size_t size = (size_t)boards * each;
    if (size < 2 * HUGE_PAGE)
        return malloc(size);
    size = (size + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    void *area = aligned_alloc(HUGE_PAGE, size);
    if (area != NULL)
        madvise(area, size, MADV_HUGEPAGE);
    return area;
}

bool solver_rules_supported(const struct rules *rules)
{
    return !rules->unfed_loses;
}

bool solver_endless_is_zero(const struct rules *rules)
{
    return rules->stop_leftovers == RULES_LEFTOVERS_STAY ||
           (rules->repetitions == 0 && rules->quiet_limit == 0);
}

static bool create_areas(struct solver *solver)
{
    uint64_t total = index_layer_start(solver->seeds) + index_layer_size(solver->seeds);
    uint64_t largest = index_layer_size(solver->seeds);
    solver->values.lo = solver->values.up = area_create(total, 1);
    solver->raw = solver->values;
    solver->any = solver->all = area_create(largest, 4);
    if (solver->zero)
        return solver->values.lo && solver->all;
    solver->any = area_create(largest, 4);
    solver->values.up = area_create(total, 1);
    solver->raw = (struct solver_values){area_create(total, 1), area_create(total, 1)};
    solver->exit_lo = area_create(largest, 1);
    solver->exit_up = area_create(largest, 1);
    solver->moves = area_create(largest, 1);
    solver->any_seed = area_create(largest, 1);
    solver->all_seed = area_create(largest, 1);
    solver->all_cap = area_create(largest, 1);
    solver->rank = area_create(largest, 2);
    return solver->values.lo && solver->values.up && solver->raw.lo && solver->raw.up && solver->any &&
           solver->all && solver->exit_lo && solver->exit_up && solver->moves && solver->any_seed &&
           solver->all_seed && solver->all_cap && solver->rank;
}

enum solver_error solver_create(const struct rules *rules, int seeds, int threads, solver_progress *progress,
                                void *context, struct solver **out)
{
    assert(seeds >= 0 && seeds <= LAYER_SEEDS_MAX);
    if (!solver_rules_supported(rules))
        return SOLVER_ERROR_RULES;
    struct solver *solver = calloc(1, sizeof *solver);
    if (solver == NULL)
        return SOLVER_ERROR_MEMORY;
    solver->rules = *rules;
    solver->seeds = seeds;
    solver->zero = solver_endless_is_zero(rules);
    solver->step = solver->zero || rules->leftovers != RULES_LEFTOVERS_OWN_ROW ? 1 : 2;
    solver->progress = progress;
    solver->context = context;
    solver->rows = layer_rows_create(seeds);
    solver->team = team_create(threads);
    if (solver->team != NULL)
        solver->attractor = attractor_create(&solver->rules, solver->team);
    if (!create_areas(solver) || solver->rows == NULL || solver->attractor == NULL) {
        solver_destroy(solver);
        return SOLVER_ERROR_MEMORY;
    }
    *out = solver;
    return SOLVER_OK;
}

void solver_destroy(struct solver *solver)
{
    if (solver == NULL)
        return;
    if (!solver->zero) { /* otherwise the same arrays as the others */
        free(solver->values.up);
        free(solver->raw.lo);
        free(solver->raw.up);
        free(solver->any);
    }
    free(solver->values.lo);
    free(solver->exit_lo);
    free(solver->exit_up);
    free(solver->moves);
    free(solver->all);
    free(solver->rank);
    free(solver->any_seed);
    free(solver->all_seed);
    free(solver->all_cap);
    layer_done(&solver->layer);
    attractor_destroy(solver->attractor);
    team_destroy(solver->team);
    free(solver->rows);
    free(solver);
}

struct solver_values solver_values(const struct solver *solver)
{
    return solver->values;
}

struct solver_values solver_raw(const struct solver *solver)
{
    return solver->raw;
}

const struct solver_layer *solver_layer(const struct solver *solver, int seeds)
{
    assert(seeds < solver->next);
    return &solver->layers[seeds];
}

static struct solver_values of_layer(const struct solver *solver, struct solver_values values)
{
    return (struct solver_values){values.lo + solver->start, values.up + solver->start};
}

/* --- moves --- */

/* One value a board: the mover wins t (`any`) or loses t (`all`), t = seeds .. 1; what is left is a draw. A
 * board is won at most one way, so one word serves both kinds. */
BOARD_INLINE int value_of_word(uint32_t word)
{
    return attractor_value(word, ATTRACTOR_ANY_WON, 0) - attractor_value(word, ATTRACTOR_ALL_WON, 0);
}

/* The move to store where it can be told without looking at the boards it leads to; TABLES_NO_MOVE at the end
 * of the game; else -1. */
BOARD_INLINE int known_move(const struct solver *solver, uint32_t number)
{
    if (!solver->zero)
        return -1;
    uint32_t word = solver->all[number];
    bool known = (word & ATTRACTOR_ANY_WON) != 0 || attractor_exit(word) == value_of_word(word);
    return known ? (int)(word >> ATTRACTOR_MOVE) : -1;
}

/* Where the moves of a few boards lead. What is known of it is asked for while the others are found. */
struct batch {
    uint8_t legal[BATCH], within[BATCH]; /* houses; those whose move stays in the layer */
    uint32_t child[BATCH][BOARD_HOUSES];
    int8_t gain[BATCH][BOARD_HOUSES];
};

typedef void batch_job(struct solver *solver, const struct batch *batch, const struct layer_segment *segment,
                       uint32_t first, uint32_t count);

BOARD_INLINE void find_moves(const struct solver *solver, struct board board, uint32_t i, struct batch *batch,
                             bool entries, enum rules_slam slam, enum rules_feeding feeding)
{
    const int8_t *lo = entries ? solver->values.up : solver->lower.lo;
    const int8_t *up = entries ? solver->values.up : solver->lower.up;
    unsigned legal = board_legal_as(board, slam, feeding);
    batch->legal[i] = (uint8_t)legal;
    batch->within[i] = 0;
    for (unsigned mask = legal; mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        struct board next = board_make_as(board, house, slam);
        bool within = ((next.own | next.other) >> 48) == 0;
        batch->within[i] |= (uint8_t)(within << house);
        if (within && !entries)
            continue;
        uint32_t child = (uint32_t)index_board(next);
        batch->child[i][house] = child;
        batch->gain[i][house] = (int8_t)layer_gain(next);
        if (within && solver->zero) {
            __builtin_prefetch(&solver->all[child - solver->start]);
            continue;
        }
        __builtin_prefetch(&up[child]);
        if (within)
            __builtin_prefetch(&solver->rank[child - solver->start]);
        else if (lo != up)
            __builtin_prefetch(&lo[child]);
    }
}

/* Finds the moves of a segment's boards a batch at a time, for entries all of them, else those out of the
 * layer. */
BOARD_INLINE void batches_as(struct solver *solver, const struct layer_segment *segment, bool entries,
                             batch_job *job, enum rules_slam slam, enum rules_feeding feeding)
{
    struct batch batch;
    for (uint32_t first = 0; first < segment->length; first += BATCH) {
        uint32_t count = segment->length - first < BATCH ? segment->length - first : BATCH;
        for (uint32_t i = 0; i < count; i++)
            if (!entries || known_move(solver, segment->start + first + i) < 0)
                find_moves(solver, layer_board(&solver->layer, segment, first + i), i, &batch, entries, slam,
                           feeding);
        job(solver, &batch, segment, first, count);
    }
}

BOARD_INLINE void batches(struct solver *solver, const struct layer_segment *segment, bool entries,
                          batch_job *job)
{
    const struct rules *rules = &solver->rules;
    if (board_is_site(rules))
        batches_as(solver, segment, entries, job, RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_MUST);
    else if (rules->slam == RULES_SLAM_LAST_RESORT && rules->feeding == RULES_FEEDING_IF_ANY)
        batches_as(solver, segment, entries, job, RULES_SLAM_LAST_RESORT, RULES_FEEDING_IF_ANY);
    else
        batches_as(solver, segment, entries, job, rules->slam, rules->feeding);
}

/* Bits of a mask of houses. */
BOARD_INLINE unsigned count_moves(unsigned mask)
{
    mask = (mask & 0x15) + (mask >> 1 & 0x15);
    return (mask & 3) + (mask >> 2 & 3) + (mask >> 4 & 3);
}

static void find_exits(struct solver *solver, const struct batch *batch, const struct layer_segment *segment,
                       uint32_t first, uint32_t count)
{
    const struct solver_values *lower = &solver->lower;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = segment->start + first + i;
        int lo = ATTRACTOR_NONE, up = ATTRACTOR_NONE;
        unsigned house_lo = TABLES_NO_MOVE;
        for (unsigned mask = batch->legal[i] & ~(unsigned)batch->within[i]; mask != 0; mask &= mask - 1) {
            int house = __builtin_ctz(mask), gain = batch->gain[i][house];
            uint32_t child = batch->child[i][house];
            int keeps_lo = gain - lower->up[child], keeps_up = gain - lower->lo[child];
            house_lo = keeps_lo > lo ? (unsigned)house : house_lo;
            lo = keeps_lo > lo ? keeps_lo : lo;
            up = keeps_up > up ? keeps_up : up;
        }
        if (batch->legal[i] == 0)
            lo = up = board_margin(layer_board(&solver->layer, segment, first + i), solver->rules.leftovers);
        unsigned within = count_moves(batch->within[i]);
        if (solver->zero) {
            solver->all[number] = attractor_word(within, lo, house_lo);
            continue;
        }
        solver->moves[number] = (uint8_t)(batch->legal[i] == 0 ? MOVES_TERMINAL : within);
        solver->exit_lo[number] = (int8_t)lo;
        solver->exit_up[number] = (int8_t)up;
    }
}

static void exits_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    batches(context, segment, false, find_exits);
}

/* --- the sweeps of a layer --- */

static enum solver_error sweep(struct solver *solver, struct attractor_states *states, int lowest);

static void take_zero_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    struct solver *solver = context;
    int8_t *values = of_layer(solver, solver->values).lo;
    for (uint32_t i = segment->start; i < segment->start + segment->length; i++)
        values[i] = (int8_t)value_of_word(solver->all[i]);
}

static enum solver_error solve_zero(struct solver *solver, struct solver_layer *facts)
{
    solver->lower = solver->values;
    layer_walk(&solver->layer, solver->team, exits_segment, solver);
    struct attractor_states states = {.any = solver->any, .all = solver->all, .ranks = true};
    enum solver_error error = sweep(solver, &states, 1);
    if (error != SOLVER_OK)
        return error;
    layer_walk(&solver->layer, solver->team, take_zero_segment, solver);
    *facts = (struct solver_layer){
        .plies = states.rank_max, .line = states.rank_max, .rounds = 1, .exact = solver->layer.size};
    return SOLVER_OK;
}

/* `safe`, seen by the side that breaks it: it wins, at -t, the states where the keeping side cannot hold t.
 * Its own moves are `any`: the mover breaks UP, the other side's LO. */
static void start_safe_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    struct solver *solver = context;
    for (uint32_t i = 0; i < segment->length; i++) {
        uint32_t number = segment->start + i;
        struct board board = layer_board(&solver->layer, segment, i);
        int split = (int)board_row_seeds(board.own) - (int)board_row_seeds(board.other);
        int any = split, all = -split;
        bool terminal = (solver->moves[number] & MOVES_TERMINAL) != 0;
        if (terminal)
            any = all = ATTRACTOR_NONE; /* ends here, as its exits say */
        if (solver->floor.lo != NULL) {
            int floor_lo = solver->floor.lo[number], floor_up = solver->floor.up[number];
            any = any < floor_up ? any : floor_up;
            all = all < -floor_lo ? all : -floor_lo;
            solver->all_cap[number] = (int8_t)-floor_lo;
        }
        solver->any[number] = attractor_word(0, solver->exit_up[number], TABLES_NO_MOVE);
        solver->all[number] =
            attractor_word(solver->moves[number] & ATTRACTOR_COUNT, solver->exit_lo[number], TABLES_NO_MOVE);
        solver->any_seed[number] = (int8_t)any;
        solver->all_seed[number] = (int8_t)all;
    }
}

BOARD_INLINE void start_forced(struct solver *solver, uint32_t number)
{
    solver->any[number] = attractor_word(0, solver->exit_lo[number], TABLES_NO_MOVE);
    solver->all[number] =
        attractor_word(solver->moves[number] & ATTRACTOR_COUNT, solver->exit_up[number], TABLES_NO_MOVE);
}

/* `forced`, with the states of `safe` as seeds. Counts those above the floor. */
static void start_forced_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    struct solver *solver = context;
    int lowest = -solver->layer.seeds;
    uint64_t raised = 0;
    for (uint32_t i = segment->start; i < segment->start + segment->length; i++) {
        int safe_lo = -attractor_value(solver->all[i], ATTRACTOR_ALL_WON, lowest);
        int safe_up = attractor_value(solver->any[i], ATTRACTOR_ANY_WON, lowest);
        if (solver->floor.lo != NULL)
            raised += (uint64_t)(safe_lo > solver->floor.lo[i]) + (uint64_t)(safe_up < solver->floor.up[i]);
        start_forced(solver, i);
        solver->any_seed[i] = (int8_t)safe_lo;
        solver->all_seed[i] = (int8_t)-safe_up;
    }
    __atomic_fetch_add(&solver->raised, raised, __ATOMIC_RELAXED);
}

/* Into the certified values, or above the floor into the raw ones. */
static void take_forced_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    struct solver *solver = context;
    int lowest = -solver->layer.seeds;
    bool certified = solver->floor.lo == NULL;
    struct solver_values to = of_layer(solver, certified ? solver->values : solver->raw);
    for (uint32_t i = segment->start; i < segment->start + segment->length; i++) {
        to.lo[i] = (int8_t)attractor_value(solver->any[i], ATTRACTOR_ANY_WON, lowest);
        to.up[i] = (int8_t)-attractor_value(solver->all[i], ATTRACTOR_ALL_WON, lowest);
        if (certified)
            solver->rank[i] = attractor_rank(solver->all[i]);
    }
}

/* The certificate of each threshold alone: a sweep over all thresholds counts ranks of higher values as they
 * are, though with less to hold the way may be shorter. */
static void start_threshold_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    struct solver *solver = context;
    for (uint32_t i = segment->start; i < segment->start + segment->length; i++) {
        start_forced(solver, i);
    }
}

/* The states that this threshold is the first to win have it as their value. */
static void take_threshold_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    struct solver *solver = context;
    struct solver_values to = of_layer(solver, solver->values);
    int lowest = -solver->layer.seeds, threshold = solver->threshold, plies = 0;
    for (uint32_t i = segment->start; i < segment->start + segment->length; i++) {
        if (to.lo[i] == lowest && (solver->any[i] & ATTRACTOR_ANY_WON) != 0) {
            to.lo[i] = (int8_t)threshold;
            int rank = attractor_rank(solver->any[i]);
            plies = rank > plies ? rank : plies;
        }
        if (to.up[i] == -lowest && (solver->all[i] & ATTRACTOR_ALL_WON) != 0) {
            to.up[i] = (int8_t)-threshold;
            int rank = attractor_rank(solver->all[i]);
            plies = rank > plies ? rank : plies;
        }
    }
    int most = __atomic_load_n(&solver->plies, __ATOMIC_RELAXED);
    while (plies > most && !__atomic_compare_exchange_n(&solver->plies, &most, plies, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        ;
}

/* Values and plies of the layer, with the states of `safe` as seeds. */
static enum solver_error certify(struct solver *solver, struct attractor_states *states)
{
    int seeds = solver->layer.seeds;
    struct solver_values values = of_layer(solver, solver->values);
    memset(values.lo, -seeds, solver->layer.size);
    memset(values.up, seeds, solver->layer.size);
    solver->plies = 0;
    for (solver->threshold = seeds; solver->threshold > -seeds; solver->threshold -= solver->step) {
        layer_walk(&solver->layer, solver->team, start_threshold_segment, solver);
        enum attractor_error error = attractor_run(solver->attractor, &solver->layer, states,
                                                   solver->threshold, solver->threshold, 1, NULL, NULL);
        if (error != ATTRACTOR_OK)
            return error == ATTRACTOR_ERROR_RANK ? SOLVER_ERROR_LINE : SOLVER_ERROR_MEMORY;
        layer_walk(&solver->layer, solver->team, take_threshold_segment, solver);
    }
    return SOLVER_OK;
}

/* One round from the floor at hand; `settled` when it is known to raise nothing further. */
static enum solver_error solve_round(struct solver *solver, bool same_exits, struct solver_layer *facts,
                                     bool *settled)
{
    bool certifying = solver->floor.lo == NULL;
    layer_walk(&solver->layer, solver->team, start_safe_segment, solver);
    struct attractor_states safe = {
        .any = solver->any,
        .all = solver->all,
        .any_seed = solver->any_seed,
        .all_seed = solver->all_seed,
        .any_cap = certifying ? NULL : solver->floor.up,
        .all_cap = certifying ? NULL : solver->all_cap,
    };
    int above_lowest = -solver->layer.seeds + solver->step;
    enum solver_error error = sweep(solver, &safe, above_lowest);
    if (error != SOLVER_OK)
        return error;
    solver->raised = 0;
    layer_walk(&solver->layer, solver->team, start_forced_segment, solver);
    *settled = !certifying && same_exits && solver->raised == 0;
    if (*settled)
        return SOLVER_OK;
    struct attractor_states forced = {
        .any = solver->any,
        .all = solver->all,
        .any_seed = solver->any_seed,
        .all_seed = solver->all_seed,
        .ranks = certifying,
    };
    if (certifying) {
        error = certify(solver, &forced);
        if (error != SOLVER_OK)
            return error;
        layer_walk(&solver->layer, solver->team, start_threshold_segment, solver);
    }
    error = sweep(solver, &forced, above_lowest);
    if (error != SOLVER_OK)
        return error;
    layer_walk(&solver->layer, solver->team, take_forced_segment, solver);
    if (certifying) {
        facts->plies = solver->plies;
        facts->line = forced.rank_max;
    }
    return SOLVER_OK;
}

static void compare_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    struct solver *solver = context;
    struct solver_values values = of_layer(solver, solver->values), raw = of_layer(solver, solver->raw);
    uint64_t exact = 0, failed = 0;
    for (uint32_t i = segment->start; i < segment->start + segment->length; i++) {
        exact += raw.lo[i] == raw.up[i];
        failed += (uint64_t)(raw.lo[i] != values.lo[i]) + (uint64_t)(raw.up[i] != values.up[i]);
    }
    __atomic_fetch_add(&solver->exact, exact, __ATOMIC_RELAXED);
    __atomic_fetch_add(&solver->failed, failed, __ATOMIC_RELAXED);
}

static enum solver_error solve_brackets(struct solver *solver, struct solver_layer *facts)
{
    solver->lower = solver->values;
    solver->floor = (struct solver_values){NULL, NULL};
    layer_walk(&solver->layer, solver->team, exits_segment, solver);
    bool settled = false, same_exits = true;
    enum solver_error error = solve_round(solver, same_exits, facts, &settled);
    if (error != SOLVER_OK)
        return error;
    facts->rounds = 1;
    struct solver_values values = of_layer(solver, solver->values), raw = of_layer(solver, solver->raw);
    memcpy(raw.lo, values.lo, solver->layer.size);
    memcpy(raw.up, values.up, solver->layer.size);
    for (int seeds = 0; seeds + 2 <= solver->layer.seeds; seeds++) /* captures take two or more */
        same_exits = same_exits && solver->layers[seeds].failed == 0;
    solver->lower = solver->raw;
    if (!same_exits)
        layer_walk(&solver->layer, solver->team, exits_segment, solver);
    solver->floor = raw;
    for (; !settled; facts->rounds++) {
        error = solve_round(solver, same_exits, facts, &settled);
        if (error != SOLVER_OK)
            return error;
        same_exits = true;
    }
    facts->rounds--; /* the last one raised nothing */
    solver->exact = solver->failed = 0;
    layer_walk(&solver->layer, solver->team, compare_segment, solver);
    facts->exact = (uint32_t)solver->exact;
    facts->failed = solver->failed;
    return SOLVER_OK;
}

/* --- layers --- */

static void tell_progress(void *context, uint64_t won)
{
    struct solver *solver = context;
    double share = (double)won / (double)solver->layer.size;
    if (!solver->zero) {
        share = ((double)solver->passes + share / 2) / PASSES_EXPECTED;
        share = share < 0.99 ? share : 0.99;
    }
    if (solver->progress != NULL)
        solver->progress(solver->context, solver->layer.seeds, share);
}

static enum solver_error sweep(struct solver *solver, struct attractor_states *states, int lowest)
{
    enum attractor_error error = attractor_run(solver->attractor, &solver->layer, states, solver->layer.seeds,
                                               lowest, solver->step, tell_progress, solver);
    solver->passes++;
    if (error == ATTRACTOR_ERROR_RANK)
        return SOLVER_ERROR_LINE;
    return error == ATTRACTOR_OK ? SOLVER_OK : SOLVER_ERROR_MEMORY;
}

enum solver_error solver_next(struct solver *solver)
{
    assert(solver->next <= solver->seeds);
    layer_done(&solver->layer);
    if (layer_init(&solver->layer, solver->next, solver->rows) != 0)
        return SOLVER_ERROR_MEMORY;
    solver->start = (uint32_t)index_layer_start(solver->next);
    solver->passes = 0;
    struct solver_layer *facts = &solver->layers[solver->next];
    enum solver_error error = solver->zero ? solve_zero(solver, facts) : solve_brackets(solver, facts);
    if (error == SOLVER_OK)
        solver->next++;
    return error;
}

/* --- entries --- */

/* The move to store: one that keeps LO; out of the layer if there is one, else to the lowest rank, else the
 * first. Where all is lost by one value, the line that is longest. */
static int find_move(const struct solver *solver, const struct batch *batch, uint32_t i, int lo)
{
    bool resist = solver->zero && lo < 0;
    int best = TABLES_NO_MOVE, best_rank = 0;
    for (unsigned mask = batch->legal[i]; mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        uint32_t child = batch->child[i][house];
        bool within = (batch->within[i] >> house & 1) != 0;
        uint32_t word = within && solver->zero ? solver->all[child - solver->start] : 0;
        int value = within && solver->zero ? value_of_word(word) : solver->values.up[child];
        if (batch->gain[i][house] - value != lo)
            continue;
        if (!within)
            return house;
        int rank = solver->zero ? attractor_rank(word) : solver->rank[child - solver->start];
        rank = resist ? -rank : rank;
        if (best == TABLES_NO_MOVE || rank < best_rank) {
            best = house;
            best_rank = rank;
        }
    }
    return best;
}

static void make_entries(struct solver *solver, const struct batch *batch,
                         const struct layer_segment *segment, uint32_t first, uint32_t count)
{
    struct solver_values values = of_layer(solver, solver->values);
    uint16_t *entries = solver->entries + (segment->start - solver->entries_start);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = segment->start + first + i;
        int lo = values.lo[number], up = values.up[number];
        int move = known_move(solver, number);
        entries[first + i] = tables_entry(lo, up, move >= 0 ? move : find_move(solver, batch, i, lo));
    }
}

static void entries_segment(void *context, int member, const struct layer_segment *segment)
{
    (void)member;
    batches(context, segment, true, make_entries);
}

size_t solver_segments(const struct solver *solver)
{
    return solver->layer.segment_count;
}

size_t solver_entries_room(const struct solver *solver)
{
    return index_terms[BOARD_HOUSES - 1][solver->seeds + 1];
}

size_t solver_entries(struct solver *solver, size_t first, uint16_t *entries, size_t room, size_t *count)
{
    const struct layer_segment *segments = solver->layer.segments;
    size_t end = first;
    *count = 0;
    while (end < solver->layer.segment_count && *count + segments[end].length <= room)
        *count += segments[end++].length;
    solver->entries = entries;
    solver->entries_start = segments[first].start;
    layer_walk_some(&solver->layer, solver->team, first, end, entries_segment, solver);
    return end;
}
