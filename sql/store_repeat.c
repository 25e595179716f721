#include "sql/store_repeat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/store_copy.h"

/* --- what was played --- */

enum { PLAYED_FIELDS = 6 };

struct reading {
    store_played *row;
    void *context;
    struct store_game game;
    bool bad;
};

static int receive_played(void *context, const struct store_field *fields)
{
    struct reading *reading = context;
    struct store_game *game = &reading->game;
    game->pair = (uint64_t)store_field_integer(&fields[0], &reading->bad);
    game->leg = (uint8_t)store_field_integer(&fields[1], &reading->bad);
    game->a_half_points = (uint8_t)store_field_integer(&fields[2], &reading->bad);
    store_field_text(&fields[3], game->result, sizeof game->result, &reading->bad);
    store_field_text(&fields[4], game->reason, sizeof game->reason, &reading->bad);
    game->moves = fields[5].bytes; /* the last field, so that a NUL follows */
    game->plies = fields[5].size >= 0 ? (size_t)fields[5].size : 0;
    reading->bad = reading->bad || fields[5].size < 0;
    if (reading->bad)
        return 1;
    reading->row(reading->context, game);
    return 0;
}

static enum store_error read_played(struct store *store, const char *from, uint64_t experiment,
                                    const char *which, store_played *row, void *context)
{
    char sql[320];
    snprintf(sql, sizeof sql,
             "copy (select pair_no, leg, a_half_points, result, reason, moves from %s where experiment_id = "
             "%" PRIu64 "%s order by pair_no, leg) to stdout (format binary)",
             from, experiment, which);
    struct reading reading = {.row = row, .context = context, .game = {.experiment = experiment}};
    int stopped = 0;
    enum store_error error = store_set_limit(store, STORE_STREAM_MS);
    if (error == STORE_OK)
        error = store_copy_out(store, sql, PLAYED_FIELDS, receive_played, &reading, &stopped);
    if (error == STORE_OK && reading.bad)
        error = store_fail(store, STORE_ERROR_DATA, "a game of experiment %" PRIu64 " cannot be read",
                           experiment);
    if (error == STORE_OK)
        error = store_set_limit(store, STORE_STATEMENT_MS);
    return error;
}

enum store_error store_played_all(struct store *store, uint64_t experiment, store_played *row, void *context)
{
    return read_played(store, "kroo.game", experiment, "", row, context);
}

enum store_error store_played_pair(struct store *store, uint64_t experiment, uint64_t pair, store_played *row,
                                   void *context)
{
    char which[48];
    snprintf(which, sizeof which, " and pair_no = %" PRIu64, pair);
    return read_played(store, "kroo.game", experiment, which, row, context);
}

enum store_error store_played_verdict(struct store *store, uint64_t experiment, store_played *row,
                                      void *context)
{
    return read_played(store, "kroo.verdict_standing", experiment, "", row, context);
}

/* --- repeats --- */

enum { NUMBER_MAX = 21 };

/* `{1,2,3}`; NULL without memory. */
static char *array_of(const struct store_repeat *repeats, size_t count, bool firsts)
{
    size_t size = count * NUMBER_MAX + 3, used = 1;
    char *text = malloc(size);
    if (!text)
        return NULL;
    text[0] = '{';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? "," : "",
                                 firsts ? repeats[i].first : repeats[i].pair);
    snprintf(text + used, size - used, "}");
    return text;
}

enum store_error store_repeats_put(struct store *store, uint64_t experiment, uint64_t from_pair,
                                   const struct store_repeat *repeats, size_t count)
{
    char *pairs = array_of(repeats, count, false), *firsts = array_of(repeats, count, true);
    enum store_error error;
    if (pairs && firsts) {
        struct store_parameters parameters = {0};
        store_add_u64(&parameters, experiment);
        store_add_u64(&parameters, from_pair);
        store_add_text(&parameters, pairs);
        store_add_text(&parameters, firsts);
        error = store_run(store, "select repeats_put($1, $2, $3, $4)", &parameters, false, NULL);
    } else {
        error = store_fail(store, STORE_ERROR_MEMORY, "no memory for %zu repeated pairs", count);
    }
    free(pairs);
    free(firsts);
    return error;
}

struct listing {
    struct store_repeat *list;
    size_t count, room;
    bool bad, full;
};

static int receive_repeat(void *context, const struct store_field *fields)
{
    struct listing *listing = context;
    if (listing->count == listing->room) {
        size_t room = listing->room ? 2 * listing->room : 64;
        struct store_repeat *larger = realloc(listing->list, room * sizeof *larger);
        listing->full = larger == NULL;
        if (!larger)
            return 1;
        listing->list = larger;
        listing->room = room;
    }
    struct store_repeat *repeat = &listing->list[listing->count++];
    repeat->pair = (uint64_t)store_field_integer(&fields[0], &listing->bad);
    repeat->first = (uint64_t)store_field_integer(&fields[1], &listing->bad);
    return listing->bad;
}

enum store_error store_repeats(struct store *store, uint64_t experiment, struct store_repeat **list,
                               size_t *count)
{
    char sql[192];
    struct listing listing = {0};
    int stopped = 0;
    snprintf(sql, sizeof sql,
             "copy (select pair_no, first_pair from kroo.pair_repeat where experiment_id = %" PRIu64
             " order by pair_no) to stdout (format binary)",
             experiment);
    enum store_error error = store_copy_out(store, sql, 2, receive_repeat, &listing, &stopped);
    if (error == STORE_OK && (listing.full || listing.bad))
        error = store_fail(store, listing.full ? STORE_ERROR_MEMORY : STORE_ERROR_DATA,
                           "the repeated pairs of experiment %" PRIu64 " cannot be read", experiment);
    *list = listing.list;
    *count = listing.count;
    if (error == STORE_OK)
        return error;
    free(listing.list);
    *list = NULL;
    *count = 0;
    return error;
}
