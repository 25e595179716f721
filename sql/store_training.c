/* The trainer's read: counted games of ranges of pairs, in order, a row at a time. */
#include "sql/store_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAINING_FIELDS = 8 };

struct reading {
    store_training_row *row;
    void *context;
    struct store_training_game game;
    bool bad;
};

static int receive_game(void *context, const struct store_field *fields)
{
    struct reading *reading = context;
    struct store_training_game *game = &reading->game;
    game->pair = (uint64_t)store_field_integer(&fields[0], &reading->bad);
    game->leg = (unsigned)store_field_integer(&fields[1], &reading->bad);
    game->scores = fields[2].size >= 0 ? (const uint8_t *)fields[2].bytes : NULL;
    store_field_text(&fields[3], game->result, sizeof game->result, &reading->bad);
    store_field_text(&fields[4], game->reason, sizeof game->reason, &reading->bad);
    game->south = (uint8_t)store_field_integer(&fields[5], &reading->bad);
    game->north = (uint8_t)store_field_integer(&fields[6], &reading->bad);
    game->moves = fields[7].bytes; /* the last field, so that a NUL follows */
    game->plies = fields[7].size >= 0 ? (size_t)fields[7].size : 0;
    if (fields[7].size < 0 || (fields[2].size >= 0 && (size_t)fields[2].size != 2 * game->plies))
        reading->bad = true;
    return reading->bad ? STORE_ERROR_DATA : reading->row(reading->context, game);
}

/* One range: the primary key's order, so nothing is sorted and nothing piles up. */
static enum store_error read_range(struct store *store, uint64_t experiment, uint64_t first, uint64_t end,
                                   struct reading *reading, int *stopped)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "copy (select pair_no, leg, scores, result, reason, south, north, moves from game_trusted "
             "where experiment_id = %" PRIu64 " and pair_no >= %" PRIu64 " and pair_no < %" PRIu64
             " and (not claimed or reason = 'resign') order by pair_no, leg) to stdout (format binary)",
             experiment, first, end);
    reading->game.experiment = experiment;
    enum store_error error = store_copy_out(store, sql, TRAINING_FIELDS, receive_game, reading, stopped);
    if (error == STORE_OK && reading->bad)
        error = store_fail(store, STORE_ERROR_DATA, "a game of experiment %" PRIu64 " cannot be read",
                           experiment);
    return error;
}

static int compare_ranges(const void *one, const void *other)
{
    const struct store_range *a = one, *b = other;
    if (a->experiment != b->experiment)
        return a->experiment < b->experiment ? -1 : 1;
    return (a->first_pair > b->first_pair) - (a->first_pair < b->first_pair);
}

/* Pair numbers stay below 2^63, as in the table. */
static uint64_t range_end(const struct store_range *range)
{
    uint64_t room = (uint64_t)INT64_MAX - range->first_pair;
    return range->first_pair + (range->pair_count < room ? range->pair_count : room);
}

/* Ranges in order; those that overlap are read as one, so that each game comes once. */
static int read_sorted(struct store *store, const struct store_range *ranges, size_t count,
                       struct reading *reading)
{
    int stopped = 0;
    for (size_t i = 0; i < count && stopped == 0;) {
        uint64_t experiment = ranges[i].experiment, first = ranges[i].first_pair, end = range_end(&ranges[i]);
        for (i++; i < count && ranges[i].experiment == experiment && ranges[i].first_pair <= end; i++)
            end = range_end(&ranges[i]) > end ? range_end(&ranges[i]) : end;
        enum store_error error = read_range(store, experiment, first, end, reading, &stopped);
        if (error != STORE_OK)
            return error;
    }
    return stopped;
}

int store_training_games(struct store *store, const struct store_range *ranges, size_t count,
                         store_training_row *row, void *context)
{
    if (count == 0)
        return STORE_OK;
    for (size_t i = 0; i < count; i++)
        if (ranges[i].first_pair > INT64_MAX || ranges[i].experiment > INT64_MAX)
            return store_fail(store, STORE_ERROR_REFUSED, "range %zu lies outside of every experiment", i);
    struct store_range *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu ranges", count);
    memcpy(sorted, ranges, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_ranges);
    struct reading reading = {.row = row, .context = context};
    /* One snapshot for all ranges, unless the caller's transaction gives one. */
    bool own = PQtransactionStatus(store->connection) == PQTRANS_IDLE;
    int answer = store_set_limit(store, STORE_STREAM_MS);
    if (answer == STORE_OK && own)
        answer = store_exec(store, "begin isolation level repeatable read read only", NULL);
    if (answer == STORE_OK)
        answer = read_sorted(store, sorted, count, &reading);
    free(sorted);
    if (store->dead)
        return answer;
    char reason[STORE_TEXT];
    memcpy(reason, store->reason, sizeof reason);
    if (own)
        (void)store_exec(store, "rollback", NULL);
    (void)store_set_limit(store, STORE_STATEMENT_MS);
    if (answer != STORE_OK)
        memcpy(store->reason, reason, sizeof reason);
    return answer;
}
