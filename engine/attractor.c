#include "engine/attractor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* States won but not yet followed back wait in blocks, a list for each rank and member. A state is 61 bits:
 * twelve counts of five bits and its kind. */
enum {
    BLOCK_STATES = 2046,
    RING = 32,
    STATE_ALL = 60,
    WORD_WON = ATTRACTOR_ANY_WON | ATTRACTOR_ALL_WON,
    NO_HOUSE = 8,
};

#define WORD_MOVE (UINT32_C(7) << ATTRACTOR_MOVE)
#define WORD_RANK ((uint32_t)ATTRACTOR_RANK_MAX << ATTRACTOR_RANK)
#define WORD_BEFORE                                                                                          \
    (WORD_MOVE | ((UINT32_C(1) << ATTRACTOR_VALUE) - 1)) /* what is kept when a state is won */

struct block {
    struct block *next;
    uint64_t count;
    uint64_t states[BLOCK_STATES];
};

struct waiting {
    struct board board;
    uint32_t number;
    uint32_t house; /* of the move that leads on */
};

struct worker {
    struct block *lists[ATTRACTOR_RANK_MAX + 1]; /* without ranks the first two, in turn */
    struct block *spare;
    struct waiting ring[RING]; /* boards whose words are on their way from memory */
    uint64_t won;              /* in all */
    int64_t waiting; /* states put into lists less those taken out; of the team only the sum counts */
    int rank_max;
    enum attractor_error error;
};

struct attractor {
    const struct rules *rules;
    struct team *team;
    struct worker *workers;
    struct block **blocks; /* those of the rank at hand */
    size_t block_count, block_room, next_block;
    const struct layer *layer;
    struct attractor_states *states;
    int threshold, rank;
    bool shared; /* more than one thread */
};

struct attractor *attractor_create(const struct rules *rules, struct team *team)
{
    struct attractor *attractor = calloc(1, sizeof *attractor);
    if (attractor == NULL)
        return NULL;
    attractor->rules = rules;
    attractor->team = team;
    attractor->shared = team_size(team) > 1;
    attractor->workers = calloc((size_t)team_size(team), sizeof *attractor->workers);
    if (attractor->workers == NULL) {
        free(attractor);
        return NULL;
    }
    return attractor;
}

static void free_blocks(struct block *block)
{
    while (block != NULL) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
}

void attractor_destroy(struct attractor *attractor)
{
    if (attractor == NULL)
        return;
    for (int i = 0; i < team_size(attractor->team); i++) {
        for (int rank = 0; rank <= ATTRACTOR_RANK_MAX; rank++)
            free_blocks(attractor->workers[i].lists[rank]);
        free_blocks(attractor->workers[i].spare);
    }
    free(attractor->workers);
    free(attractor->blocks);
    free(attractor);
}

/* --- waiting states --- */

/* Six bytes below 32 to 30 bits, and back. */
BOARD_INLINE uint64_t pack_row(uint64_t row)
{
    uint64_t pairs = (row & UINT64_C(0x001f001f001f)) | (row & UINT64_C(0x1f001f001f00)) >> 3;
    return (pairs & 0x3ff) | (pairs >> 6 & 0xffc00) | (pairs >> 12 & 0x3ff00000);
}

BOARD_INLINE uint64_t unpack_row(uint64_t packed)
{
    uint64_t pairs = (packed & 0x3ff) | (packed & 0xffc00) << 6 | (packed & 0x3ff00000) << 12;
    return (pairs & UINT64_C(0x001f001f001f)) | (pairs & UINT64_C(0x03e003e003e0)) << 3;
}

static struct block *take_block(struct worker *worker)
{
    struct block *block = worker->spare;
    if (block != NULL)
        worker->spare = block->next;
    else
        block = malloc(sizeof *block);
    return block;
}

static void put_state(const struct attractor *attractor, struct worker *worker, struct board board, bool all,
                      int rank)
{
    if (rank > ATTRACTOR_RANK_MAX) {
        worker->error = ATTRACTOR_ERROR_RANK;
        return;
    }
    worker->won++;
    struct block **list = &worker->lists[attractor->states->ranks ? rank : rank & 1];
    if (*list == NULL || (*list)->count == BLOCK_STATES) {
        struct block *block = take_block(worker);
        if (block == NULL) {
            worker->error = ATTRACTOR_ERROR_MEMORY;
            return;
        }
        block->next = *list;
        block->count = 0;
        *list = block;
    }
    (*list)->states[(*list)->count++] =
        pack_row(board.own) | pack_row(board.other) << 30 | (uint64_t)all << STATE_ALL;
    worker->waiting++;
}

/* --- winning a state --- */

/* The word of a state won now. Ranks beyond those that a word holds end the sweep in put_state. */
BOARD_INLINE uint32_t word_won(const struct attractor *attractor, uint32_t word, uint32_t won, int rank)
{
    uint32_t value = (uint32_t)(attractor->threshold + ATTRACTOR_BIAS);
    return (word & WORD_BEFORE) | won | value << ATTRACTOR_VALUE |
           (uint32_t)(rank & ATTRACTOR_RANK_MAX) << ATTRACTOR_RANK;
}

static void put_won(const struct attractor *attractor, struct worker *worker, struct board board, bool all,
                    int rank)
{
    if (attractor->states->ranks)
        worker->rank_max = rank > worker->rank_max ? rank : worker->rank_max;
    put_state(attractor, worker, board, all, rank);
}

/* The word of an `any` state that `house` wins, NO_HOUSE for the move out of the layer that it holds; of
 * several moves that win it at one rank the first counts, whatever comes first. */
BOARD_INLINE uint32_t word_any(const struct attractor *attractor, uint32_t before, int rank, uint32_t house)
{
    uint32_t word = before;
    if ((before & ATTRACTOR_ANY_WON) == 0)
        word = word_won(attractor, before, ATTRACTOR_ANY_WON, rank);
    else if (((before ^ word_won(attractor, before, ATTRACTOR_ANY_WON, rank)) &
              ~(uint32_t)ATTRACTOR_ALL_WON) != 0 ||
             house >= before >> ATTRACTOR_MOVE)
        return before;
    return house == NO_HOUSE ? word : (word & ~WORD_MOVE) | house << ATTRACTOR_MOVE;
}

static inline void set_any(struct attractor *attractor, struct worker *worker, struct board board,
                           uint32_t number, int rank, uint32_t house)
{
    uint32_t *at = &attractor->states->any[number], before = __atomic_load_n(at, __ATOMIC_RELAXED), word;
    do {
        word = word_any(attractor, before, rank, house);
        if (word == before)
            return;
        if (!attractor->shared) {
            *at = word;
            break;
        }
    } while (!__atomic_compare_exchange_n(at, &before, word, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if ((before & ATTRACTOR_ANY_WON) == 0)
        put_won(attractor, worker, board, false, rank);
}

/* An `any` state has a move to a state of the threshold. */
static inline void win_any(struct attractor *attractor, struct worker *worker, struct board board,
                           uint32_t number, int rank, uint32_t house)
{
    struct attractor_states *states = attractor->states;
    if (states->any_cap != NULL && states->any_cap[number] < attractor->threshold) {
        if ((__atomic_load_n(&states->any[number], __ATOMIC_RELAXED) & ATTRACTOR_ANY_WON) == 0)
            __atomic_store_n(&states->any_seed[number], states->any_cap[number], __ATOMIC_RELAXED);
    } else {
        set_any(attractor, worker, board, number, rank, house);
    }
}

/* Only the thread that took the last move, or found the seed, comes here. */
static void set_all(struct attractor *attractor, struct worker *worker, struct board board, uint32_t number,
                    int rank)
{
    uint32_t *at = &attractor->states->all[number];
    uint32_t word = word_won(attractor, __atomic_load_n(at, __ATOMIC_RELAXED), ATTRACTOR_ALL_WON, rank);
    __atomic_store_n(at, word, __ATOMIC_RELAXED);
    put_won(attractor, worker, board, true, rank);
}

/* No move of an `all` state (its word as it is now) is open any more, and none out of the layer is worth less
 * than the threshold. */
static inline void win_all(struct attractor *attractor, struct worker *worker, struct board board,
                           uint32_t number, uint32_t all)
{
    struct attractor_states *states = attractor->states;
    if (states->all_cap != NULL && states->all_cap[number] < attractor->threshold)
        states->all_seed[number] = states->all_cap[number];
    else if (states->ranks)
        set_all(attractor, worker, board, number, (int)(all >> ATTRACTOR_RANK & ATTRACTOR_RANK_MAX) + 1);
    else
        set_all(attractor, worker, board, number, attractor->rank + 1);
}

/* The word of an `all` state after one of its moves has closed at a rank. */
BOARD_INLINE uint32_t with_move_closed(uint32_t all, uint32_t rank)
{
    uint32_t highest = all >> ATTRACTOR_RANK & ATTRACTOR_RANK_MAX;
    highest = rank > highest ? rank : highest;
    return ((all & ~WORD_RANK) - 1) | highest << ATTRACTOR_RANK;
}

/* One move of an `all` state leads to a state of the threshold. */
static inline void close_move(struct attractor *attractor, struct worker *worker, struct board board,
                              uint32_t number)
{
    uint32_t *at = &attractor->states->all[number];
    uint32_t rank = (uint32_t)attractor->rank, before = __atomic_load_n(at, __ATOMIC_RELAXED), all;
    do {
        if ((before & WORD_WON) != 0)
            return;
        all = with_move_closed(before, rank);
        if (!attractor->shared) {
            *at = all;
            break;
        }
    } while (!__atomic_compare_exchange_n(at, &before, all, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if ((all & ATTRACTOR_COUNT) != 0)
        return;
    int exit = (int)(all >> ATTRACTOR_EXIT & ATTRACTOR_SIX) - ATTRACTOR_BIAS;
    if (-exit >= attractor->threshold)
        win_all(attractor, worker, board, number, all);
}

/* --- following back --- */

/* The moves that lead to the states of one block. What they touch is asked for RING boards ahead. */
BOARD_INLINE void follow_block(struct attractor *attractor, struct worker *worker, const struct block *block,
                               enum rules_slam slam, enum rules_feeding feeding)
{
    struct board before[LAYER_BEFORE_MAX];
    uint8_t houses[LAYER_BEFORE_MAX];
    struct attractor_states *states = attractor->states;
    struct waiting *ring = worker->ring;
    for (int all = 0; all <= 1; all++) { /* a ring holds states of one kind */
        unsigned in = 0, out = 0;
        for (uint64_t i = 0; i <= block->count; i++) {
            int count = 0;
            if (i < block->count && (block->states[i] >> STATE_ALL) == (uint64_t)all) {
                struct board board = {unpack_row(block->states[i]), unpack_row(block->states[i] >> 30)};
                count = layer_before(board, slam, feeding, before, houses);
            }
            for (int j = 0; j < count || (i == block->count && out != in); j++) {
                if (in - out == RING || j >= count) {
                    const struct waiting *ready = &ring[out++ % RING];
                    if (all)
                        win_any(attractor, worker, ready->board, ready->number, attractor->rank + 1,
                                ready->house);
                    else
                        close_move(attractor, worker, ready->board, ready->number);
                }
                if (j < count) {
                    uint32_t number = (uint32_t)index_in_layer(before[j]);
                    __builtin_prefetch(all ? &states->any[number] : &states->all[number], 1);
                    ring[in++ % RING] = (struct waiting){before[j], number, houses[j]};
                }
            }
        }
    }
}

static void follow(struct attractor *attractor, struct worker *worker, const struct block *block)
{
    const struct rules *rules = attractor->rules;
    if (board_is_site(rules))
        follow_block(attractor, worker, block, RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_MUST);
    else if (rules->slam == RULES_SLAM_CAPTURES_NOTHING && rules->feeding == RULES_FEEDING_NONE)
        follow_block(attractor, worker, block, RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_NONE);
    else if (rules->slam == RULES_SLAM_LAST_RESORT && rules->feeding == RULES_FEEDING_IF_ANY)
        follow_block(attractor, worker, block, RULES_SLAM_LAST_RESORT, RULES_FEEDING_IF_ANY);
    else
        follow_block(attractor, worker, block, rules->slam, rules->feeding);
}

static void follow_member(void *context, int member)
{
    struct attractor *attractor = context;
    struct worker *worker = &attractor->workers[member];
    for (;;) {
        size_t at = __atomic_fetch_add(&attractor->next_block, 1, __ATOMIC_RELAXED);
        if (at >= attractor->block_count)
            return;
        struct block *block = attractor->blocks[at];
        follow(attractor, worker, block);
        worker->waiting -= (int64_t)block->count;
        block->next = worker->spare;
        worker->spare = block;
    }
}

/* Takes all blocks of a rank out of the members' lists. */
static enum attractor_error gather(struct attractor *attractor, int list)
{
    attractor->block_count = attractor->next_block = 0;
    for (int i = 0; i < team_size(attractor->team); i++) {
        struct block **from = &attractor->workers[i].lists[list];
        for (; *from != NULL; *from = (*from)->next) {
            if (attractor->block_count == attractor->block_room) {
                size_t room = attractor->block_room * 2 + 64;
                struct block **blocks = realloc(attractor->blocks, room * sizeof(*blocks));
                if (blocks == NULL)
                    return ATTRACTOR_ERROR_MEMORY;
                attractor->blocks = blocks;
                attractor->block_room = room;
            }
            attractor->blocks[attractor->block_count++] = *from;
        }
    }
    return ATTRACTOR_OK;
}

static enum attractor_error first_error(const struct attractor *attractor)
{
    for (int i = 0; i < team_size(attractor->team); i++)
        if (attractor->workers[i].error != ATTRACTOR_OK)
            return attractor->workers[i].error;
    return ATTRACTOR_OK;
}

static int64_t waiting(const struct attractor *attractor)
{
    int64_t sum = 0;
    for (int i = 0; i < team_size(attractor->team); i++)
        sum += attractor->workers[i].waiting;
    return sum;
}

/* --- states won by themselves --- */

/* True when any board from `start` on may be won by itself at the threshold: a loop the compiler can make
 * wide. */
static bool may_win(const struct attractor_states *states, int threshold, uint32_t start, uint32_t count)
{
    const uint32_t exits = ATTRACTOR_SIX << ATTRACTOR_EXIT, closed = ATTRACTOR_ALL_WON | ATTRACTOR_COUNT;
    const uint32_t lowest = (uint32_t)(ATTRACTOR_BIAS + threshold) << ATTRACTOR_EXIT;
    const uint32_t highest = (uint32_t)(ATTRACTOR_BIAS - threshold) << ATTRACTOR_EXIT;
    const uint32_t *any = states->any + start, *all = states->all + start;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found |= (uint32_t)(((any[i] & ATTRACTOR_ANY_WON) == 0) & ((any[i] & exits) >= lowest)) |
                 (uint32_t)(((all[i] & closed) == 0) & ((all[i] & exits) <= highest));
    if (states->any_seed != NULL) {
        const int8_t *any_seed = states->any_seed + start, *all_seed = states->all_seed + start;
        for (uint32_t i = 0; i < count; i++)
            found |= (uint32_t)(((any[i] & ATTRACTOR_ANY_WON) == 0) & (any_seed[i] >= threshold)) |
                     (uint32_t)(((all[i] & ATTRACTOR_ALL_WON) == 0) & (all_seed[i] >= threshold));
    }
    return found != 0;
}

/* Wins what is won by itself of the board i of a segment. No moves are closed meanwhile, and the moves within
 * the layer of an `all` state that waits lead to states of higher thresholds: the order of the walk does not
 * show. */
BOARD_INLINE void win_alone(struct attractor *attractor, struct worker *worker,
                            const struct layer_segment *segment, uint32_t i)
{
    struct attractor_states *states = attractor->states;
    int threshold = attractor->threshold;
    uint32_t number = segment->start + i;
    uint32_t any = states->any[number];
    if ((any & ATTRACTOR_ANY_WON) == 0) {
        if (states->any_seed != NULL && states->any_seed[number] >= threshold)
            set_any(attractor, worker, layer_board(attractor->layer, segment, i), number, 0, NO_HOUSE);
        else if ((int)(any >> ATTRACTOR_EXIT & ATTRACTOR_SIX) - ATTRACTOR_BIAS >= threshold)
            win_any(attractor, worker, layer_board(attractor->layer, segment, i), number, 1, NO_HOUSE);
    }
    uint32_t all = states->all[number];
    if ((all & ATTRACTOR_ALL_WON) != 0)
        return;
    if (states->all_seed != NULL && states->all_seed[number] >= threshold)
        set_all(attractor, worker, layer_board(attractor->layer, segment, i), number, 0);
    else if ((all & ATTRACTOR_COUNT) == 0 &&
             ATTRACTOR_BIAS - (int)(all >> ATTRACTOR_EXIT & ATTRACTOR_SIX) >= threshold)
        win_all(attractor, worker, layer_board(attractor->layer, segment, i), number, all);
}

static void scan_segment(void *context, int member, const struct layer_segment *segment)
{
    enum { STRIDE = 32 };
    struct attractor *attractor = context;
    struct worker *worker = &attractor->workers[member];
    for (uint32_t from = 0; from < segment->length; from += STRIDE) {
        uint32_t count = segment->length - from < STRIDE ? segment->length - from : STRIDE;
        if (!may_win(attractor->states, attractor->threshold, segment->start + from, count))
            continue;
        for (uint32_t i = from; i < from + count; i++)
            win_alone(attractor, worker, segment, i);
    }
}

/* --- the sweep --- */

static enum attractor_error run_threshold(struct attractor *attractor, int threshold)
{
    attractor->threshold = threshold;
    attractor->rank = 0;
    layer_walk(attractor->layer, attractor->team, scan_segment, attractor);
    /* Without ranks what moves out of the layer win is on the second list. */
    for (; waiting(attractor) > 0; attractor->rank++) {
        if (first_error(attractor) != ATTRACTOR_OK)
            return first_error(attractor);
        enum attractor_error error =
            gather(attractor, attractor->states->ranks ? attractor->rank : attractor->rank & 1);
        if (error != ATTRACTOR_OK)
            return error;
        if (attractor->block_count <= 1)
            follow_member(attractor, 0);
        else
            team_run(attractor->team, follow_member, attractor);
    }
    return first_error(attractor);
}

enum attractor_error attractor_run(struct attractor *attractor, const struct layer *layer,
                                   struct attractor_states *states, int highest, int lowest, int step,
                                   attractor_progress *progress, void *context)
{
    assert(highest <= ATTRACTOR_VALUE_MAX && lowest >= -ATTRACTOR_VALUE_MAX && step > 0);
    attractor->layer = layer;
    attractor->states = states;
    uint64_t won_before = 0;
    for (int i = 0; i < team_size(attractor->team); i++) {
        attractor->workers[i].rank_max = 0;
        won_before += attractor->workers[i].won;
    }
    for (int threshold = highest; threshold >= lowest; threshold -= step) {
        enum attractor_error error = run_threshold(attractor, threshold);
        if (error != ATTRACTOR_OK)
            return error;
        uint64_t won = 0;
        for (int i = 0; i < team_size(attractor->team); i++)
            won += attractor->workers[i].won;
        if (progress != NULL)
            progress(context, won - won_before);
    }
    states->rank_max = 0;
    for (int i = 0; i < team_size(attractor->team); i++)
        if (attractor->workers[i].rank_max > states->rank_max)
            states->rank_max = attractor->workers[i].rank_max;
    return ATTRACTOR_OK;
}
