#include "coordinator/cli/tournament.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "engine/mix.h"
#include "engine/rules.h"
#include "proto/artifact.h"

void tournament_init(struct tournament *tournament, struct driver *driver, const char *kind)
{
    *tournament = (struct tournament){.driver = driver, .planned_rounds = 1};
    tournament->specification = json_object();
    snprintf(tournament->kind, sizeof tournament->kind, "%s", kind);
}

static void drop_players(struct tournament *tournament)
{
    for (size_t i = 0; i < tournament->players; i++) {
        json_decref(tournament->player[i].settings);
        free((void *)(uintptr_t)tournament->player[i].weights_text);
    }
    free(tournament->player);
    tournament->player = NULL;
    tournament->players = tournament->room = 0;
}

void tournament_done(struct tournament *tournament)
{
    drop_players(tournament);
    json_decref(tournament->specification);
    tournament->specification = NULL;
}

/* --- what was asked for --- */

static bool same_player(const struct contestant *a, const struct contestant *b)
{
    return strcmp(a->weights, b->weights) == 0 && json_equal(a->settings, b->settings);
}

int tournament_resolve(struct tournament *tournament, const char *rules)
{
    struct rules parsed;
    char reason[256];
    uint8_t sha256[STORE_HASH];
    if (rules_parse(rules, &parsed, reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    snprintf(tournament->rules, sizeof tournament->rules, "%s", parsed.name);
    for (size_t i = 0; i < tournament->players; i++) {
        struct contestant *player = &tournament->player[i];
        if (player->weights[0])
            continue;
        int status =
            launch_find_weights(tournament->driver->store, player->weights_text, tournament->rules, sha256);
        if (status != COMMAND_DONE)
            return status;
        artifact_hex(sha256, player->weights);
        for (size_t j = 0; j < i; j++)
            if (same_player(player, &tournament->player[j]))
                return args_refuse("%s and %s are the same player: their games would prove nothing",
                                   tournament->player[j].name, player->name);
    }
    return COMMAND_DONE;
}

/* Compact, so that the same content is the same text. The caller frees it. */
static char *json_text(const json_t *value)
{
    return json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
}

static char *players_text(const struct tournament *tournament)
{
    json_t *array = json_array();
    for (size_t i = 0; i < tournament->players; i++) {
        const struct contestant *player = &tournament->player[i];
        json_t *row = json_pack("{s:I, s:s, s:s, s:O, s:I, s:o}", "number", (json_int_t)i, "name",
                                player->name, "weights", player->weights, "settings", player->settings,
                                "since_round", (json_int_t)player->since_round, "anchor_elo",
                                player->is_anchor ? json_real(player->anchor_elo) : json_null());
        json_array_append_new(array, row);
    }
    char *text = json_text(array);
    json_decref(array);
    return text;
}

static char *pairings_text(unsigned round, const struct tournament_pairing *pairings, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_pack("{s:I, s:I, s:I, s:I}", "round", (json_int_t)round, "a",
                                               (json_int_t)pairings[i].a, "b", (json_int_t)pairings[i].b,
                                               "pairs", (json_int_t)pairings[i].pairs));
    char *text = json_text(array);
    json_decref(array);
    return text;
}

int tournament_insert(struct tournament *tournament, const struct tournament_pairing *pairings, size_t count)
{
    static const char sql[] =
        "with made as (insert into kroo.tournament (name, kind, rules, specification, planned_rounds, "
        "created_by)"
        " values ($1, $2, $3, $4::jsonb, $5::integer, left($6, 63)) on conflict (name) do nothing returning "
        "id),"
        " players as (insert into kroo.tournament_player (tournament_id, number, name, weights_sha256, "
        "settings,"
        " anchor_elo, since_round, added_by)"
        " select made.id, p.number, p.name, decode(p.weights, 'hex'), p.settings, p.anchor_elo, "
        "p.since_round,"
        " left($6, 63) from made, jsonb_to_recordset($7::jsonb) as p (number integer, name text, weights "
        "text,"
        " settings jsonb, anchor_elo double precision, since_round integer))"
        " insert into kroo.tournament_pairing (tournament_id, round, a, b, pairs)"
        " select made.id, q.round, q.a, q.b, q.pairs from made,"
        " jsonb_to_recordset($8::jsonb) as q (round integer, a integer, b integer, pairs bigint)";
    char rounds[DRIVER_NUMBER];
    char *specification = json_text(tournament->specification), *players = players_text(tournament);
    char *rows = pairings_text(1, pairings, count);
    snprintf(rounds, sizeof rounds, "%u", tournament->planned_rounds);
    const char *parameters[] = {tournament->name, tournament->kind, tournament->rules, specification,
                                rounds,           connect_caller(), players,           rows};
    int status = specification && players && rows ? driver_tell(tournament->driver, sql, parameters, 8)
                                                  : args_refuse("out of memory");
    free(specification);
    free(players);
    free(rows);
    return status;
}

/* --- what is there --- */

static int load_players(struct tournament *tournament, const char *id)
{
    static const char sql[] =
        "select name, encode(weights_sha256, 'hex') as weights, settings::text as settings, anchor_elo,"
        " since_round from kroo.tournament_player where tournament_id = $1::bigint order by number";
    struct store_table table;
    int status = driver_ask(tournament->driver, sql, &id, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    drop_players(tournament);
    for (size_t i = 0; i < table.rows && status == COMMAND_DONE; i++) {
        json_t *settings = json_loads(store_cell(&table, i, 2), 0, NULL);
        if (!settings ||
            !tournament_put_player(tournament, store_cell(&table, i, 0), store_cell(&table, i, 1), settings))
            status = args_refuse("the players of tournament %s cannot be read", tournament->name);
        json_decref(settings);
        if (status != COMMAND_DONE)
            break;
        struct contestant *player = &tournament->player[i];
        player->is_anchor = table.cells[i * table.columns + 3] != NULL;
        player->anchor_elo = table_decimal(&table, i, 3);
        player->since_round = (unsigned)table_number(&table, i, 4);
    }
    store_table_done(&table);
    return status;
}

int tournament_load(struct tournament *tournament, const char *name, bool *found)
{
    static const char sql[] =
        "select id, name, kind, rules, specification::text as specification, planned_rounds"
        " from kroo.tournament where name = $1";
    struct store_table table;
    int status = driver_ask(tournament->driver, sql, &name, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    *found = table.rows == 1;
    char id[DRIVER_NUMBER];
    if (*found) {
        snprintf(id, sizeof id, "%s", store_cell(&table, 0, 0));
        tournament->id = table_number(&table, 0, 0);
        tournament->planned_rounds = (unsigned)table_number(&table, 0, 5);
        snprintf(tournament->name, sizeof tournament->name, "%s", store_cell(&table, 0, 1));
        snprintf(tournament->kind, sizeof tournament->kind, "%s", store_cell(&table, 0, 2));
        snprintf(tournament->rules, sizeof tournament->rules, "%s", store_cell(&table, 0, 3));
        json_decref(tournament->specification);
        tournament->specification = json_loads(store_cell(&table, 0, 4), 0, NULL);
        if (!tournament->specification)
            status = args_refuse("tournament %s: its specification cannot be read", name);
    }
    store_table_done(&table);
    return *found && status == COMMAND_DONE ? load_players(tournament, id) : status;
}

int tournament_need(struct tournament *tournament, const char *name)
{
    bool found = false;
    int status = tournament_load(tournament, name, &found);
    if (status == COMMAND_DONE && !found)
        return names_refuse(tournament->driver->store, NAMES_TOURNAMENTS, name);
    return status;
}

int tournament_join(struct tournament *tournament, const struct contestant *player, unsigned since_round)
{
    static const char sql[] =
        "insert into kroo.tournament_player (tournament_id, number, name, weights_sha256, settings, "
        "anchor_elo,"
        " since_round, added_by) select $1::bigint, coalesce(max(number), -1) + 1, $2, decode($3, 'hex'), "
        "$4::jsonb,"
        " $5::double precision, coalesce(nullif($6::integer, 0), (select coalesce(max(round), 0) + 2"
        " from kroo.tournament_pairing where tournament_id = $1::bigint)), left($7, 63)"
        " from kroo.tournament_player where tournament_id = $1::bigint on conflict do nothing";
    char id[DRIVER_NUMBER], since[DRIVER_NUMBER], elo[32], *settings = json_text(player->settings);
    snprintf(id, sizeof id, "%llu", (unsigned long long)tournament->id);
    snprintf(since, sizeof since, "%u", since_round);
    snprintf(elo, sizeof elo, "%.15g", player->anchor_elo);
    const char *parameters[] = {
        id, player->name, player->weights, settings, player->is_anchor ? elo : NULL, since, connect_caller()};
    int status =
        settings ? driver_tell(tournament->driver, sql, parameters, 7) : args_refuse("out of memory");
    free(settings);
    return status == COMMAND_DONE ? load_players(tournament, id) : status;
}

/* A copy whose match words lack the seed. */
static json_t *without_seed(const json_t *specification)
{
    json_t *copy = json_deep_copy(specification), *words = json_object_get(copy, "match");
    for (size_t i = json_array_size(words); i-- > 0;)
        if (strncmp(json_string_value(json_array_get(words, i)), "--seed=", 7) == 0)
            json_array_remove(words, i);
    return copy;
}

static bool same_specification(const struct tournament *asked, const struct tournament *there,
                               bool loose_seed)
{
    if (!loose_seed)
        return json_equal(asked->specification, there->specification);
    json_t *a = without_seed(asked->specification), *b = without_seed(there->specification);
    bool same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return same;
}

int tournament_compare(const struct tournament *asked, const struct tournament *there, bool loose_seed)
{
    const char *what = NULL;
    if (strcmp(asked->kind, there->kind) != 0)
        what = there->kind;
    else if (strcmp(asked->rules, there->rules) != 0)
        what = there->rules;
    else if (!same_specification(asked, there, loose_seed))
        what = "other options";
    else if (asked->players != there->players)
        what = "other players";
    for (size_t i = 0; i < asked->players && !what; i++)
        if (strcmp(asked->player[i].name, there->player[i].name) != 0 ||
            !same_player(&asked->player[i], &there->player[i]))
            what = there->player[i].name;
    if (!what)
        return COMMAND_DONE;
    return args_refuse(
        "tournament %s is there already, and is another one (%s): `kroo ratings %s` shows it; take "
        "another --key for this one",
        there->name, what, there->name);
}

/* --- pairings and matches --- */

int tournament_plan(struct tournament *tournament, unsigned round, const struct tournament_pairing *pairings,
                    size_t count)
{
    static const char sql[] =
        "insert into kroo.tournament_pairing (tournament_id, round, a, b, pairs)"
        " select $1::bigint, q.round, q.a, q.b, q.pairs"
        " from jsonb_to_recordset($2::jsonb) as q (round integer, a integer, b integer, pairs bigint)"
        " on conflict do nothing";
    char id[DRIVER_NUMBER], *rows = pairings_text(round, pairings, count);
    snprintf(id, sizeof id, "%llu", (unsigned long long)tournament->id);
    const char *parameters[] = {id, rows};
    int status = rows ? driver_tell(tournament->driver, sql, parameters, 2) : args_refuse("out of memory");
    free(rows);
    return status;
}

/* `key=value` of a player as the option of its side. */
static void add_player_words(struct driver_words *words, const struct contestant *player, char side)
{
    const json_t *setting;
    size_t i;
    json_array_foreach(player->settings, i, setting)
    {
        const char *text = json_string_value(setting);
        int length = (int)strcspn(text, "=");
        driver_words_add(words, "--%.*s-%c%s", length, text, side, text + length);
    }
}

/* The starting weights enter the database with their first experiment; until then they have no other name. */
static const char *named(const char *starting, const struct contestant *player)
{
    return strcmp(player->weights, starting) == 0 ? "starting" : player->weights;
}

static void fill_words(struct driver_words *words, const struct tournament *tournament, const char *starting,
                       unsigned round, const struct tournament_pairing *pairing)
{
    const struct contestant *a = &tournament->player[pairing->a], *b = &tournament->player[pairing->b];
    const json_t *word;
    size_t i;
    driver_words_begin(words, tournament->driver, "kroo", "match");
    driver_words_add(words, "%s", named(starting, a));
    driver_words_add(words, "%s", named(starting, b));
    driver_words_add(words, "--note=%s %s, round %u: %s against %s", tournament->kind, tournament->name,
                     round, a->name, b->name);
    json_array_foreach(json_object_get(tournament->specification, "match"), i, word)
    {
        driver_words_add(words, "%s", json_string_value(word));
    }
    add_player_words(words, a, 'a');
    add_player_words(words, b, 'b');
    const json_t *seed = json_object_get(tournament->specification, "seed");
    /* Every round has openings of its own. */
    if (seed)
        driver_words_add(words, "--seed=%llu",
                         (unsigned long long)(mix((uint64_t)json_integer_value(seed), round) >> 11));
    driver_words_add(words, "--pairs=%llu", (unsigned long long)pairing->pairs);
    if (tournament->has_priority)
        driver_words_add(words, "--priority=%d", tournament->priority);
    driver_words_add(words, "--key=t.%s.%u.%u-%u", tournament->name, round, pairing->a, pairing->b);
    driver_words_add(words, "--json");
}

static int try_pairing(struct tournament *tournament, const char *starting,
                       const struct tournament_pairing *pairing)
{
    struct driver_words *words = malloc(sizeof *words);
    json_t *answer = NULL;
    if (!words)
        return args_refuse("out of memory");
    fill_words(words, tournament, starting, 1, pairing);
    driver_words_keep(words, "--dry-run");
    int status = driver_run(words, &answer);
    free(words);
    json_decref(answer);
    return status == DRIVER_PAUSED ? args_refuse("interrupted; nothing was made") : status;
}

/* Has an earlier player the same settings? Its dry run stands for both. */
static bool is_tried(const struct tournament *tournament, size_t player)
{
    for (size_t i = 1; i < player; i++)
        if (json_equal(tournament->player[i].settings, tournament->player[player].settings))
            return true;
    return false;
}

int tournament_try(struct tournament *tournament, uint64_t pairs)
{
    uint8_t sha256[STORE_HASH];
    char starting[TOURNAMENT_HEX];
    int status = launch_find_weights(tournament->driver->store, "starting", tournament->rules, sha256);
    artifact_hex(sha256, starting);
    for (size_t i = 1; i < tournament->players && status == COMMAND_DONE; i++) {
        struct tournament_pairing pairing = {.a = 0, .b = (unsigned)i, .pairs = pairs};
        if (!is_tried(tournament, i))
            status = try_pairing(tournament, starting, &pairing);
    }
    return status;
}

/* A paused or stopped tournament makes no matches. `made`: one that was made just now, perhaps in the moment
 * in which somebody paused it: it follows. */
static int check_state(struct tournament *tournament, json_int_t made)
{
    static const char sql[] =
        "select state, state_reason, priority from kroo.tournament where id = $1::bigint";
    struct store_table table;
    int status = driver_ask_of(tournament->driver, sql, tournament->id, &table);
    if (status != COMMAND_DONE)
        return status;
    const char *state = table.rows == 1 ? store_cell(&table, 0, 0) : "running";
    tournament->has_priority = table.rows == 1 && *store_cell(&table, 0, 2) != '\0';
    if (tournament->has_priority)
        tournament->priority = (int)strtol(store_cell(&table, 0, 2), NULL, 10);
    bool stopped = strcmp(state, "stopped") == 0;
    if (strcmp(state, "running") != 0 && made > 0) {
        struct driver_words *words = malloc(sizeof *words);
        json_t *answer = NULL;
        if (!words) {
            store_table_done(&table);
            return args_refuse("out of memory");
        }
        driver_words_begin(words, tournament->driver, "kroo", stopped ? "stop" : "pause");
        driver_words_add(words, "%lld", (long long)made);
        driver_words_add(words, "--reason=as all of tournament %s", tournament->name);
        driver_words_add(words, "--json");
        status = driver_run(words, &answer);
        json_decref(answer);
        free(words);
    }
    if (status == COMMAND_DONE && strcmp(state, "running") != 0)
        status =
            args_refuse("tournament %s is %s %s: no further match is made%s%s", tournament->name, state,
                        store_cell(&table, 0, 1),
                        stopped ? "" : "; `kroo resume` lets it go on: ", stopped ? "" : tournament->name);
    store_table_done(&table);
    return status;
}

/* Makes the match of one pairing, or finds it by its key, and writes its number down. */
static int make_match(struct tournament *tournament, const char *starting, unsigned round,
                      const struct tournament_pairing *pairing)
{
    static const char sql[] = "update kroo.tournament_pairing set experiment_id = $5::bigint"
                              " where tournament_id = $1::bigint and round = $2::integer and a = $3::integer"
                              " and b = $4::integer";
    struct driver_words *words = malloc(sizeof *words);
    char number[5][DRIVER_NUMBER];
    json_t *answer = NULL;
    if (!words)
        return args_refuse("out of memory");
    int status = check_state(tournament, 0);
    fill_words(words, tournament, starting, round, pairing);
    if (status == COMMAND_DONE)
        status = driver_run(words, &answer);
    free(words);
    driver_warn(tournament->driver, answer);
    json_int_t experiment = json_integer_value(json_object_get(answer, "experiment"));
    json_decref(answer);
    if (status != COMMAND_DONE)
        return status;
    snprintf(number[0], DRIVER_NUMBER, "%llu", (unsigned long long)tournament->id);
    snprintf(number[1], DRIVER_NUMBER, "%u", round);
    snprintf(number[2], DRIVER_NUMBER, "%u", pairing->a);
    snprintf(number[3], DRIVER_NUMBER, "%u", pairing->b);
    snprintf(number[4], DRIVER_NUMBER, "%lld", (long long)experiment);
    const char *parameters[] = {number[0], number[1], number[2], number[3], number[4]};
    status = driver_tell(tournament->driver, sql, parameters, 5);
    return status == COMMAND_DONE ? check_state(tournament, experiment) : status;
}

int tournament_make(struct tournament *tournament)
{
    static const char sql[] =
        "select round, a, b, pairs from kroo.tournament_pairing"
        " where tournament_id = $1::bigint and experiment_id is null order by round, a, b";
    char starting[TOURNAMENT_HEX];
    uint8_t sha256[STORE_HASH];
    struct store_table table;
    int status = driver_ask_of(tournament->driver, sql, tournament->id, &table);
    if (status != COMMAND_DONE)
        return status;
    status = launch_find_weights(tournament->driver->store, "starting", tournament->rules, sha256);
    artifact_hex(sha256, starting);
    for (size_t i = 0; i < table.rows && status == COMMAND_DONE; i++) {
        struct tournament_pairing pairing = {.a = (unsigned)table_number(&table, i, 1),
                                             .b = (unsigned)table_number(&table, i, 2),
                                             .pairs = table_number(&table, i, 3)};
        status = make_match(tournament, starting, (unsigned)table_number(&table, i, 0), &pairing);
    }
    store_table_done(&table);
    return status;
}

int tournament_follow(struct tournament *tournament, unsigned round, const char *how_to_go_on)
{
    static const char sql[] =
        "select e.id, e.state, c.counted_pairs, p.pairs from kroo.tournament_pairing p"
        " join kroo.experiment e on e.id = p.experiment_id"
        " join kroo.experiment_counted c on c.experiment_id = e.id"
        " where p.tournament_id = $1::bigint and ($2::integer = 0 or p.round = $2::integer) order by e.id";
    char id[DRIVER_NUMBER], number[DRIVER_NUMBER];
    const char *parameters[] = {id, number};
    snprintf(id, sizeof id, "%llu", (unsigned long long)tournament->id);
    snprintf(number, sizeof number, "%u", round);
    char what[TOURNAMENT_NAME_MAX + DRIVER_NUMBER];
    if (round == 0)
        snprintf(what, sizeof what, "%s", tournament->name);
    else
        snprintf(what, sizeof what, "%s, round %u", tournament->name, round);
    int status = driver_follow(tournament->driver, what, sql, parameters, 2);
    if (status == DRIVER_PAUSED)
        fprintf(stderr, "\n%s %s plays on; %s\n", tournament->kind, tournament->name, how_to_go_on);
    return status;
}
