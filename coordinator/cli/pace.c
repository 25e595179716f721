#include "coordinator/cli/pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"

/* $1: the limit's key in a player's options, $2: its mean of both sides, $3: how far another may be off, $4
 * and $5: the programs that play, in either order. Three experiments and 200 games of each are enough for a
 * forecast, and few to read. */
static const char pace_sql[] =
    "with alike as (select e.id, ((a.options ->> $1)::numeric + (b.options ->> $1)::numeric) / 2 as mean"
    " from kroo.experiment e join kroo.player a on a.id = e.player_a join kroo.player b on b.id = e.player_b"
    " join kroo.experiment_counter c on c.experiment_id = e.id"
    " where c.games_stored >= 4"
    " and ((coalesce(encode(a.engine_sha256, 'hex'), ''), coalesce(encode(b.engine_sha256, 'hex'), '')) = "
    "($4, $5)"
    " or (coalesce(encode(b.engine_sha256, 'hex'), ''), coalesce(encode(a.engine_sha256, 'hex'), '')) = ($4, "
    "$5))"
    " and (a.options ->> $1)::numeric > 0 and (b.options ->> $1)::numeric > 0"
    " and ((a.options ->> $1)::numeric + (b.options ->> $1)::numeric) / 2 between $2::numeric / $3::numeric"
    " and $2::numeric * $3::numeric"
    " order by e.id desc limit 3)"
    " select (select avg(g.time_ms * $2::numeric / l.mean) from alike l cross join lateral"
    " (select time_ms from kroo.game where experiment_id = l.id order by pair_no desc limit 200) g) as "
    "game_ms";

/* The limit that both sides have, by which the time of a game goes. */
static const char *limit_of(const struct message_player *a, const struct message_player *b, double *mean)
{
    const struct {
        const char *key;
        double a, b;
    } limits[] = {{"nodes", (double)a->node_limit, (double)b->node_limit},
                  {"time_ms", a->time_ms, b->time_ms},
                  {"clock_ms", a->clock_ms, b->clock_ms},
                  {"depth", a->depth_limit, b->depth_limit}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].a > 0 && limits[i].b > 0) {
            *mean = (limits[i].a + limits[i].b) / 2;
            return limits[i].key;
        }
    return NULL;
}

static void engine_text(const struct message_player *player, char text[ARTIFACT_HEX])
{
    text[0] = '\0';
    if (!message_hash_is_none(player->engine))
        artifact_hex(player->engine, text);
}

double pace_pairs_per_minute(struct store *store, const struct message_spec *spec, uint64_t slots)
{
    double number = 0;
    char mean[32], engines[2][ARTIFACT_HEX];
    const char *key = limit_of(&spec->a, &spec->b, &number);
    struct store_table table;
    if (!key || slots == 0)
        return 0;
    snprintf(mean, sizeof mean, "%.1f", number);
    engine_text(&spec->a, engines[0]);
    engine_text(&spec->b, engines[1]);
    /* What another ply of depth costs, nobody can say. */
    const char *parameters[] = {key, mean, strcmp(key, "depth") == 0 ? "1" : "4", engines[0], engines[1]};
    if (store_query(store, pace_sql, parameters, 5, &table) != STORE_OK)
        return 0;
    double game_ms = strtod(store_cell(&table, 0, 0), NULL);
    bool known = *store_cell(&table, 0, 0) != '\0';
    store_table_done(&table);
    /* Times are whole milliseconds, and a game costs more than its moves. */
    return known ? (double)slots * 60000 / (2 * (game_ms < 1 ? 1 : game_ms)) : 0;
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
