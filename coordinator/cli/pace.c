#include "coordinator/cli/pace.h"

#include <stdio.h>
#include <stdlib.h>

/* $1: the limit's key in a player's options, $2: its mean of both sides. Three experiments and 200 games of
 * each are enough for a forecast, and few to read. */
static const char pace_sql[] =
    "with alike as (select e.id, ((a.options ->> $1)::numeric + (b.options ->> $1)::numeric) / 2 as mean"
    " from kroo.experiment e join kroo.player a on a.id = e.player_a join kroo.player b on b.id = e.player_b"
    " join kroo.experiment_counter c on c.experiment_id = e.id"
    " where c.games_stored >= 4 and a.engine_sha256 is null and b.engine_sha256 is null"
    " and (a.options ->> $1)::numeric > 0 and (b.options ->> $1)::numeric > 0"
    " and ((a.options ->> $1)::numeric + (b.options ->> $1)::numeric) / 2 between $2::numeric / 4 and "
    "$2::numeric * 4"
    " order by e.id desc limit 3)"
    " select (select coalesce(sum(slots), 0) from kroo.session where ended_at is null) as slots,"
    " (select avg(g.time_ms * $2::numeric / l.mean) from alike l cross join lateral"
    " (select time_ms from kroo.game where experiment_id = l.id order by pair_no desc limit 200) g) as "
    "game_ms";

double pace_pairs_per_minute(struct store *store, const struct message_spec *spec)
{
    const struct message_player *a = &spec->a, *b = &spec->b;
    bool by_nodes = a->node_limit > 0 && b->node_limit > 0, by_time = a->time_ms > 0 && b->time_ms > 0;
    char mean[32];
    struct store_table table;
    if ((!by_nodes && !by_time) || !message_hash_is_none(a->engine) || !message_hash_is_none(b->engine))
        return 0;
    double sum =
        by_nodes ? (double)a->node_limit + (double)b->node_limit : (double)a->time_ms + (double)b->time_ms;
    snprintf(mean, sizeof mean, "%.1f", sum / 2);
    const char *parameters[] = {by_nodes ? "nodes" : "time_ms", mean};
    if (store_query(store, pace_sql, parameters, 2, &table) != STORE_OK)
        return 0;
    double slots = strtod(store_cell(&table, 0, 0), NULL), game_ms = strtod(store_cell(&table, 0, 1), NULL);
    bool known = *store_cell(&table, 0, 1) != '\0' && slots > 0;
    store_table_done(&table);
    /* Times are whole milliseconds, and a game costs more than its moves. */
    return known ? slots * 60000 / (2 * (game_ms < 1 ? 1 : game_ms)) : 0;
}

void pace_text(double pairs, double pairs_per_minute, char *text, size_t size)
{
    double minutes = pairs_per_minute > 0 ? pairs / pairs_per_minute : 0;
    if (pairs_per_minute <= 0)
        snprintf(text, size, "an unknown time");
    else if (minutes < 1)
        snprintf(text, size, "less than a minute");
    else if (minutes < 90)
        snprintf(text, size, "%.0f min", minutes);
    else if (minutes < 48 * 60)
        snprintf(text, size, "%.1f h", minutes / 60);
    else
        snprintf(text, size, "%.0f days", minutes / (24 * 60));
}
