#include "sql/store_rollup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Games in a row of one session, in one segment. */
struct run {
    uint64_t experiment, segment, session, games, faults;
};

static bool is_fault(const struct store_game *game)
{
    return strcmp(game->reason, "deadline") == 0 || strcmp(game->reason, "illegal-move") == 0 ||
           strcmp(game->reason, "crash") == 0;
}

static size_t find_runs(const struct store_game *games, size_t count, const enum store_outcome *outcome,
                        struct run *runs)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (outcome[i] != STORE_GAME_INSERTED)
            continue;
        struct run next = {games[i].experiment, games[i].pair / STORE_SEGMENT_PAIRS, games[i].session, 0, 0};
        struct run *last = found > 0 ? &runs[found - 1] : NULL;
        if (!last || last->experiment != next.experiment || last->segment != next.segment ||
            last->session != next.session) {
            runs[found] = next;
            last = &runs[found++];
        }
        last->games++;
        last->faults += is_fault(&games[i]);
    }
    return found;
}

enum { COLUMNS = 5, NUMBER_MAX = 21 };

/* `{1,2,3}`; `size` holds NUMBER_MAX a run and 3 more. */
static void write_array(char *text, size_t size, const struct run *runs, size_t count, int column)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t values[COLUMNS] = {runs[i].experiment, runs[i].segment, runs[i].session, runs[i].games,
                                          runs[i].faults};
        used += (size_t)snprintf(text + used, size - used, "%c%" PRIu64, i ? ',' : '{', values[column]);
    }
    snprintf(text + used, size - used, "}");
}

static enum store_error add_runs(struct store *store, const struct run *runs, size_t count)
{
    size_t size = count * NUMBER_MAX + 3;
    char *texts = malloc(COLUMNS * size);
    if (!texts)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory to count %zu sessions", count);
    struct store_parameters parameters = {0};
    for (int i = 0; i < COLUMNS; i++) {
        write_array(texts + (size_t)i * size, size, runs, count, i);
        store_add_text(&parameters, texts + (size_t)i * size);
    }
    enum store_error error =
        store_run(store, "select session_rollup_add($1, $2, $3, $4, $5)", &parameters, false, NULL);
    free(texts);
    return error;
}

enum store_error store_sessions_count(struct store *store, const struct store_game *games, size_t count,
                                      const enum store_outcome *outcome)
{
    struct run *runs = malloc((count ? count : 1) * sizeof *runs);
    if (!runs)
        return store_fail(store, STORE_ERROR_MEMORY, "no memory to count the sessions of %zu games", count);
    size_t found = find_runs(games, count, outcome, runs);
    enum store_error error = found ? add_runs(store, runs, found) : STORE_OK;
    free(runs);
    return error;
}
