/* What the tests of sql/ share: a migrated database, weights, experiments and games. */
#ifndef KROO_TESTS_SQL_FIXTURE_H
#define KROO_TESTS_SQL_FIXTURE_H

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "sql/migrate.h"
#include "sql/store.h"
#include "tests/unit/check.h"
#include "tests/unit/database.h"

#define assert_ok(store, call)                                                                               \
    do {                                                                                                     \
        int fixture_answer = (call);                                                                         \
        if (fixture_answer != STORE_OK)                                                                      \
            fail_msg("%s:%d: %s is %d: %s", __FILE__, __LINE__, #call, fixture_answer, store_reason(store)); \
    } while (0)

static inline int fixture_migrate(void **state)
{
    (void)state;
    char reason[STORE_TEXT];
    int applied = migrate_run(database_conninfo(), NULL, reason, sizeof reason);
    if (applied < 0)
        fprintf(stderr, "# migrate: %s\n", reason);
    return applied < 0 ? -1 : 0;
}

static inline struct store *fixture_open(const char *role)
{
    char reason[STORE_TEXT];
    struct store *store = store_open(database_conninfo(), role, "kroo test", reason, sizeof reason);
    if (store == NULL)
        fail_msg("store_open: %s", reason);
    return store;
}

/* The one cell of a query; valid until the next call. */
static inline const char *fixture_cell(struct store *store, const char *sql)
{
    static char cell[4096];
    struct store_table table;
    assert_ok(store, store_query(store, sql, NULL, 0, &table));
    assert_int_equal(table.rows, 1);
    snprintf(cell, sizeof cell, "%s", store_cell(&table, 0, 0));
    store_table_done(&table);
    return cell;
}

static inline const char *fixture_cell_of(struct store *store, const char *format, uint64_t number)
{
    char sql[1024];
    snprintf(sql, sizeof sql, format, number);
    return fixture_cell(store, sql);
}

static inline struct store_weights fixture_weights(struct store *store, const char *content)
{
    struct store_weights weights = {.rules = "site", .kind = "table"};
    snprintf(weights.name, sizeof weights.name, "%s", content);
    crypto_hash_sha256(weights.sha256, (const unsigned char *)content, strlen(content));
    assert_ok(store, store_weights_put(store, &weights, content, strlen(content)));
    return weights;
}

/* Self-play with the weights of content `start`; not yet in the database. */
static inline struct store_experiment fixture_experiment(struct store *store)
{
    struct store_experiment experiment = {.kind = STORE_SELFPLAY,
                                          .rules = "site",
                                          .seed = UINT64_C(18446744073709551615),
                                          .opening_plies = 6,
                                          .noise_ppm = 20000,
                                          .planned_pairs = 1000000,
                                          .with_scores = true,
                                          .priority = -3,
                                          .note = "a note",
                                          .created_by = "tester"};
    struct store_weights weights = fixture_weights(store, "start");
    memcpy(experiment.a.weights, weights.sha256, STORE_HASH);
    snprintf(experiment.a.engine_build, sizeof experiment.a.engine_build, "kroo-engine 1 test");
    experiment.a.limits = (struct store_limits){.nodes = 1000, .depth = 40, .time_ms = 0, .hash_kib = 4096};
    experiment.b = experiment.a;
    return experiment;
}

static inline uint64_t fixture_create(struct store *store, struct store_experiment *experiment)
{
    bool existed = true;
    assert_ok(store, store_begin(store));
    assert_ok(store, store_experiment_create(store, experiment, &existed));
    assert_ok(store, store_commit(store));
    assert_false(existed);
    return experiment->id;
}

enum { FIXTURE_PLIES = 100, FIXTURE_PLIES_MAX = 16384 };

/* Games whose texts live in one block. */
struct fixture_games {
    struct store_game *games;
    enum store_outcome *outcome;
    char *moves;
    uint8_t *scores;
    size_t count;
};

/* xorshift: the games are letters in turn, never replayed here. */
static inline uint64_t fixture_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline void fixture_letters(char *moves, size_t plies, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t ply = 0; ply < plies; ply++)
        moves[ply] = (char)((ply % 2 == 0 ? 'A' : 'a') + (char)(fixture_random(&state) % 6));
}

/* Both games of pairs first .. first + pairs - 1; player a's half points follow from pair and leg. */
static inline struct fixture_games fixture_games(uint64_t experiment, uint64_t first, size_t pairs)
{
    struct fixture_games made = {.count = 2 * pairs};
    made.games = calloc(made.count, sizeof *made.games);
    made.outcome = calloc(made.count, sizeof *made.outcome);
    made.moves = calloc(made.count, FIXTURE_PLIES);
    made.scores = calloc(made.count, 2 * (size_t)FIXTURE_PLIES);
    assert_true(made.games != NULL && made.outcome != NULL && made.moves != NULL && made.scores != NULL);
    for (size_t i = 0; i < made.count; i++) {
        struct store_game *game = &made.games[i];
        uint64_t pair = first + i / 2, state = pair * 2 + i % 2 + 77;
        char *moves = made.moves + i * FIXTURE_PLIES;
        uint8_t *scores = made.scores + i * 2 * FIXTURE_PLIES;
        size_t plies = 60 + fixture_random(&state) % (FIXTURE_PLIES - 60);
        fixture_letters(moves, plies, pair * 2 + i % 2 + 1);
        for (size_t byte = 0; byte < 2 * plies; byte++)
            scores[byte] = (uint8_t)(fixture_random(&state) & 0xff);
        static const char *const results[] = {"south", "north", "draw"};
        static const uint8_t stores[][2] = {{26, 20}, {11, 30}, {24, 24}};
        size_t way = fixture_random(&state) % 3;
        bool a_is_south = i % 2 == 0;
        *game =
            (struct store_game){.experiment = experiment,
                                .pair = pair,
                                .leg = (uint8_t)(i % 2),
                                .attempt = 1,
                                .lease = 1,
                                .session = 1,
                                .moves = moves,
                                .plies = plies,
                                .scores = scores,
                                .scores_size = 2 * plies,
                                .south = stores[way][0],
                                .north = stores[way][1],
                                .a_half_points = way == 2 ? 1 : (uint8_t)((way == 0) == a_is_south ? 2 : 0),
                                .nodes = 90000,
                                .time_ms = 250};
        snprintf(game->result, sizeof game->result, "%s", results[way]);
        snprintf(game->reason, sizeof game->reason, "%s", way == 2 ? "even" : "majority");
    }
    return made;
}

static inline void fixture_games_done(struct fixture_games *made)
{
    free(made->games);
    free(made->outcome);
    free(made->moves);
    free(made->scores);
}

/* In a transaction of its own. */
static inline void fixture_put(struct store *store, struct fixture_games *made)
{
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, made->games, made->count, made->outcome));
    assert_ok(store, store_commit(store));
}

static inline size_t fixture_outcomes(const struct fixture_games *made, enum store_outcome outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < made->count; i++)
        count += made->outcome[i] == outcome;
    return count;
}

/* Writes the counters that the stored games add up to. */
static inline void fixture_count(struct store *store, uint64_t experiment)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, experiment);
    const char *const parameters[] = {number};
    struct store_table table;
    assert_ok(store, store_query(store, "select * from counters_recompute($1)", parameters, 1, &table));
    uint64_t values[12];
    assert_int_equal(table.columns, 12);
    for (size_t i = 0; i < 12; i++)
        values[i] = strtoull(store_cell(&table, 0, i), NULL, 10);
    store_table_done(&table);
    struct store_counters counters = {values[0],  values[1], values[2], values[3], values[4],
                                      values[5],  values[6], values[7], values[8], values[9],
                                      values[10], 0,         values[11]};
    assert_ok(store, store_counters_update(store, experiment, &counters));
}

#endif
