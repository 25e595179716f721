/* The rounds of a pool: what is known of each, the choice, the matches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/pool.h"
#include "coordinator/cli/table.h"
#include "coordinator/pool.h"

uint64_t pool_number(const struct tournament *pool, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(pool->specification, key));
}

static void put_number(char text[DRIVER_NUMBER], uint64_t number)
{
    snprintf(text, DRIVER_NUMBER, "%llu", (unsigned long long)number);
}

int pool_last_round(struct tournament *pool, unsigned *round)
{
    struct store_table table;
    int status = driver_ask_of(pool->driver,
                               "select coalesce(max(round), 0) from kroo.tournament_pairing"
                               " where tournament_id = $1::bigint",
                               pool->id, &table);
    if (status != COMMAND_DONE)
        return status;
    *round = (unsigned)table_number(&table, 0, 0);
    store_table_done(&table);
    return COMMAND_DONE;
}

int pool_join_promoted(struct tournament *pool, unsigned round)
{
    static const char sql[] =
        "select w.number, w.name, encode(w.sha256, 'hex') as sha256 from kroo.promotion p"
        " join kroo.weights w on w.sha256 = p.weights_sha256 where w.rules = $1 and not exists (select from"
        " kroo.tournament_player q where q.tournament_id = $2::bigint and q.weights_sha256 = w.sha256"
        " and q.settings = '[]') group by w.number, w.name, w.sha256 order by min(p.id)";
    char id[DRIVER_NUMBER];
    const char *parameters[] = {pool->rules, id};
    struct store_table table;
    put_number(id, pool->id);
    int status = driver_ask(pool->driver, sql, parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    for (size_t i = 0; i < table.rows && status == COMMAND_DONE; i++) {
        struct contestant player = {.settings = json_array()};
        const char *name = store_cell(&table, i, 1);
        snprintf(player.name, sizeof player.name, "%s%s%.40s", store_cell(&table, i, 0), *name ? " " : "",
                 name);
        snprintf(player.weights, sizeof player.weights, "%s", store_cell(&table, i, 2));
        status = tournament_join(pool, &player, round);
        json_decref(player.settings);
    }
    store_table_done(&table);
    return status;
}

/* --- what is known --- */

/* Rows of (a, b, first, second, pairs). The caller frees *meetings. */
static int read_meetings(struct tournament *pool, const char *sql, unsigned from, unsigned to,
                         struct rating_meeting **meetings, size_t *count)
{
    char id[DRIVER_NUMBER], first[DRIVER_NUMBER], last[DRIVER_NUMBER];
    const char *parameters[] = {id, first, last};
    struct store_table table;
    put_number(id, pool->id);
    put_number(first, from);
    put_number(last, to);
    *meetings = NULL;
    *count = 0;
    int status = driver_ask(pool->driver, sql, parameters, 3, &table);
    if (status != COMMAND_DONE)
        return status;
    *meetings = calloc(table.rows + 1, sizeof **meetings);
    for (size_t i = 0; i < table.rows && *meetings; i++) {
        struct rating_meeting *meeting = &(*meetings)[(*count)++];
        meeting->a = table_number(&table, i, 0);
        meeting->b = table_number(&table, i, 1);
        meeting->pairs[table_number(&table, i, 2) % 3][table_number(&table, i, 3) % 3] =
            table_decimal(&table, i, 4);
    }
    store_table_done(&table);
    return *meetings ? COMMAND_DONE : args_refuse("out of memory");
}

static int read_known(struct tournament *pool, unsigned round, struct pool_round *out,
                      struct rating_meeting **known, struct rating_meeting **pending)
{
    static const char results[] =
        "select a, b, first, second, pairs from kroo.tournament_score where tournament_id = $1::bigint"
        " and round between $2::integer and $3::integer order by round, a, b, first, second";
    static const char plans[] =
        "select a, b, 0, 0, pairs from kroo.tournament_pairing where tournament_id = $1::bigint"
        " and round between $2::integer and $3::integer order by round, a, b";
    unsigned lag = (unsigned)pool_number(pool, "lag"), last = round > lag ? round - lag : 0;
    int status = read_meetings(pool, results, 1, last, known, &out->count);
    if (status == COMMAND_DONE)
        status = read_meetings(pool, plans, last + 1, round - 1, pending, &out->pending_count);
    out->meetings = *known;
    out->pending = *pending;
    return status;
}

static int by_numbers(const void *left, const void *right)
{
    const struct tournament_pairing *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static int choose(struct tournament *pool, struct pool_round *round, struct tournament_pairing *pairings,
                  size_t *count)
{
    struct pool_pairing *chosen = calloc(round->pairings + 1, sizeof *chosen);
    long made = chosen ? pool_choose(round, chosen) : RATING_MEMORY;
    *count = 0;
    for (long i = 0; i < made; i++)
        pairings[(*count)++] = (struct tournament_pairing){
            .a = (unsigned)chosen[i].a, .b = (unsigned)chosen[i].b, .pairs = pool_number(pool, "pairs")};
    free(chosen);
    if (made < 0)
        return args_refuse("pool %s, round %u: %s", pool->name, round->round, rating_error_text((int)made));
    qsort(pairings, *count, sizeof *pairings, by_numbers);
    return COMMAND_DONE;
}

int pool_decide(struct tournament *pool, unsigned round, struct tournament_pairing *pairings, size_t *count)
{
    struct rating_meeting *known = NULL, *pending = NULL;
    bool *takes_part = calloc(pool->players + 1, sizeof *takes_part);
    struct pool_round out = {.seed = pool_number(pool, "seed"),
                             .round = round,
                             .players = pool->players,
                             .takes_part = takes_part,
                             .pairs = (double)pool_number(pool, "pairs"),
                             .pairings = pool_number(pool, "batch")};
    for (size_t i = 0; i < pool->players && takes_part; i++)
        takes_part[i] = pool->player[i].since_round <= round;
    *count = 0;
    int status = takes_part ? read_known(pool, round, &out, &known, &pending) : args_refuse("out of memory");
    if (status == COMMAND_DONE && pool->players > 0)
        status = choose(pool, &out, pairings, count);
    free(known);
    free(pending);
    free(takes_part);
    return status;
}

/* --- driving --- */

static void say_round(const struct tournament *pool, unsigned round,
                      const struct tournament_pairing *pairings, size_t count)
{
    printf("round %u:", round);
    for (size_t i = 0; i < count; i++)
        printf("%s %s - %s", i ? "," : "", pool->player[pairings[i].a].name,
               pool->player[pairings[i].b].name);
    printf("\n");
    fflush(stdout);
}

/* Decides and makes one round, written down before it is made. */
static int play_round(struct tournament *pool, unsigned round)
{
    struct tournament_pairing *pairings = calloc(POOL_BATCH_MAX, sizeof *pairings);
    size_t count = 0;
    int status = pairings ? pool_join_promoted(pool, round) : args_refuse("out of memory");
    if (status == COMMAND_DONE)
        status = pool_decide(pool, round, pairings, &count);
    if (status == COMMAND_DONE && count == 0)
        status = args_refuse(
            "pool %s has nobody to pair in round %u: promote weights, or `kroo pool add %s PLAYER`",
            pool->name, round, pool->name);
    if (status == COMMAND_DONE)
        status = tournament_plan(pool, round, pairings, count);
    if (status == COMMAND_DONE)
        say_round(pool, round, pairings, count);
    free(pairings);
    return status == COMMAND_DONE ? tournament_make(pool) : status;
}

int pool_drive(struct tournament *pool)
{
    char how[128];
    unsigned last = 0, lag = (unsigned)pool_number(pool, "lag");
    snprintf(how, sizeof how, "`kroo pool run %s` goes on", pool->name);
    int status = pool_last_round(pool, &last);
    if (status == COMMAND_DONE)
        status = tournament_make(pool); /* what an earlier driver decided and did not make */
    for (unsigned round = last + 1; round <= pool->planned_rounds && status == COMMAND_DONE; round++) {
        if (round > lag)
            status = tournament_follow(pool, round - lag, how);
        if (status == COMMAND_DONE)
            status = play_round(pool, round);
    }
    for (unsigned round = pool->planned_rounds >= lag ? pool->planned_rounds - lag + 1 : 1;
         round <= pool->planned_rounds && status == COMMAND_DONE; round++)
        status = tournament_follow(pool, round, how);
    return status;
}

/* --- checking --- */

static int stored_round(struct tournament *pool, unsigned round, struct tournament_pairing *pairings,
                        size_t *count)
{
    static const char sql[] =
        "select a, b, pairs from kroo.tournament_pairing where tournament_id = $1::bigint"
        " and round = $2::integer order by a, b limit 1000";
    char id[DRIVER_NUMBER], number[DRIVER_NUMBER];
    const char *parameters[] = {id, number};
    struct store_table table;
    put_number(id, pool->id);
    put_number(number, round);
    int status = driver_ask(pool->driver, sql, parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    *count = table.rows;
    for (size_t i = 0; i < table.rows; i++)
        pairings[i] = (struct tournament_pairing){.a = (unsigned)table_number(&table, i, 0),
                                                  .b = (unsigned)table_number(&table, i, 1),
                                                  .pairs = table_number(&table, i, 2)};
    store_table_done(&table);
    return COMMAND_DONE;
}

static bool same_pairings(const struct tournament_pairing *x, const struct tournament_pairing *y,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (x[i].a != y[i].a || x[i].b != y[i].b || x[i].pairs != y[i].pairs)
            return false;
    return true;
}

int pool_check(struct tournament *pool)
{
    struct tournament_pairing *chosen = calloc(POOL_BATCH_MAX, sizeof *chosen);
    struct tournament_pairing *stored = calloc(POOL_BATCH_MAX, sizeof *stored);
    unsigned last = 0, differences = 0;
    int status = chosen && stored ? pool_last_round(pool, &last) : args_refuse("out of memory");
    for (unsigned round = 1; round <= last && status == COMMAND_DONE; round++) {
        size_t count, there;
        status = pool_decide(pool, round, chosen, &count);
        if (status == COMMAND_DONE)
            status = stored_round(pool, round, stored, &there);
        if (status == COMMAND_DONE && (count != there || !same_pairings(chosen, stored, count))) {
            printf("round %u: other pairings than were played\n", round);
            differences++;
        }
    }
    free(chosen);
    free(stored);
    if (status != COMMAND_DONE)
        return status;
    printf("%u rounds decided again from their results: %u differences\n", last, differences);
    return differences ? COMMAND_REFUSED : COMMAND_DONE;
}
