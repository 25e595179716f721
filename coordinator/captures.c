#include "coordinator/captures.h"

#include <stdlib.h>

#include "engine/board.h"

static struct store_captures *find_segment(struct captures *captures, uint64_t experiment, uint64_t segment)
{
    for (size_t i = captures->count; i-- > 0;)
        if (captures->segments[i].experiment == experiment && captures->segments[i].segment == segment)
            return &captures->segments[i];
    struct store_captures *more =
        realloc(captures->segments, (captures->count + 1) * sizeof *captures->segments);
    if (!more)
        return NULL;
    captures->segments = more;
    more[captures->count] = (struct store_captures){.experiment = experiment, .segment = segment};
    return &more[captures->count++];
}

static int grow_list(uint32_t **list, size_t from, size_t to)
{
    uint32_t *more = realloc(*list, to * sizeof *more);
    if (!more)
        return -1;
    for (size_t i = from; i < to; i++)
        more[i] = 0;
    *list = more;
    return 0;
}

static int make_room(struct store_captures *segment, size_t plies)
{
    if (plies <= segment->plies)
        return 0;
    if (grow_list(&segment->games, segment->plies, plies) != 0 ||
        grow_list(&segment->captures, segment->plies, plies) != 0 ||
        grow_list(&segment->seeds, segment->plies, plies) != 0)
        return -1;
    segment->plies = plies;
    return 0;
}

int captures_count(struct captures *captures, uint64_t experiment, uint64_t segment,
                   const struct rules *rules, const char *moves, size_t plies)
{
    struct store_captures *counts = find_segment(captures, experiment, segment);
    if (!counts || make_room(counts, plies) != 0)
        return -1;
    struct position start = position_start();
    struct board board = board_from_position(&start);
    unsigned first = 'A'; /* the mover's first house */
    for (size_t ply = 0; ply < plies; ply++, first ^= 'A' ^ 'a') {
        unsigned house = (unsigned char)moves[ply] - first;
        if (house >= BOARD_HOUSES)
            break;
        struct board next = board_make(rules, board, (int)house);
        unsigned seeds = board_captured(board, next);
        counts->games[ply]++;
        counts->captures[ply] += seeds > 0;
        counts->seeds[ply] += seeds;
        board = next;
    }
    return 0;
}

void captures_done(struct captures *captures)
{
    for (size_t i = 0; i < captures->count; i++) {
        free(captures->segments[i].games);
        free(captures->segments[i].captures);
        free(captures->segments[i].seeds);
    }
    free(captures->segments);
    *captures = (struct captures){0};
}

/* --- segments that are due --- */

struct recount {
    struct captures captures;
    struct store_captures_due due;
    struct rules rules;
};

static int take_moves(void *context, const char *moves, size_t plies)
{
    struct recount *recount = context;
    return captures_count(&recount->captures, recount->due.experiment, recount->due.segment, &recount->rules,
                          moves, plies);
}

static enum store_error settle_one(struct store *store, bool *found)
{
    struct recount recount = {0};
    char reason[STORE_TEXT];
    enum store_error error = store_captures_due(store, &recount.due, found);
    if (error != STORE_OK || !*found)
        return error;
    /* Rules of a later release: nothing can be counted, and `kroo verify` says so. */
    if (rules_parse(recount.due.rules, &recount.rules, reason, sizeof reason) == 0)
        error = store_captures_read(store, &recount.due, take_moves, &recount);
    struct store_captures nothing = {.experiment = recount.due.experiment, .segment = recount.due.segment};
    if (error == STORE_OK)
        error = store_captures_put(store, recount.captures.count ? recount.captures.segments : &nothing);
    captures_done(&recount.captures);
    return error;
}

enum store_error captures_settle(struct store *store)
{
    bool found = true;
    enum store_error error = STORE_OK;
    while (error == STORE_OK && found)
        error = settle_one(store, &found);
    return error;
}

enum store_error captures_catch_up(struct store *store, uint64_t *segments)
{
    bool found = true;
    enum store_error error = STORE_OK;
    for (*segments = 0; error == STORE_OK && found; *segments += found) {
        error = store_begin(store);
        if (error == STORE_OK)
            error = settle_one(store, &found);
        if (error == STORE_OK)
            error = store_commit(store);
        else if (error != STORE_ERROR_CONNECTION)
            store_rollback(store);
    }
    return error;
}
