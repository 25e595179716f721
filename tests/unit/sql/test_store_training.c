/* The trainer's stream and people's queries: what counts, in order, a row at a time. */
#include "tests/unit/sql/fixture.h"

#include "sql/store_connection.h"

static struct store *store;

static int open_store(void **state)
{
    if (fixture_migrate(state) != 0)
        return -1;
    store = fixture_open("kroo_coordinator");
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    store_close(store);
    return 0;
}

struct seen {
    uint64_t rows, last_experiment, last_key, stop_after;
    bool ordered, right;
    const struct fixture_games *made; /* pair 0 on */
};

static int see(void *context, const struct store_training_game *game)
{
    struct seen *seen = context;
    uint64_t key = game->pair * 2 + game->leg;
    if (seen->rows > 0 && game->experiment == seen->last_experiment)
        seen->ordered = seen->ordered && key > seen->last_key;
    seen->last_experiment = game->experiment;
    seen->last_key = key;
    const struct store_game *expected = &seen->made->games[key];
    seen->right = seen->right && game->plies == expected->plies && strlen(game->moves) == game->plies &&
                  memcmp(game->moves, expected->moves, game->plies) == 0 &&
                  strcmp(game->result, expected->result) == 0 &&
                  strcmp(game->reason, expected->reason) == 0 && game->south == expected->south &&
                  game->north == expected->north && (game->scores == NULL) == (expected->scores == NULL) &&
                  (game->scores == NULL || memcmp(game->scores, expected->scores, 2 * game->plies) == 0);
    seen->rows++;
    return seen->rows == seen->stop_after ? 42 : 0;
}

static struct seen read_as_trainer(const struct store_range *ranges, size_t count,
                                   const struct fixture_games *made)
{
    struct store *trainer = fixture_open("kroo_trainer");
    struct seen seen = {.ordered = true, .right = true, .made = made};
    assert_ok(trainer, store_training_games(trainer, ranges, count, see, &seen));
    assert_string_equal(fixture_cell(trainer, "show statement_timeout"), "30s");
    assert_ok(trainer, store_begin(trainer)); /* no transaction was left open */
    assert_ok(trainer, store_rollback(trainer));
    store_close(trainer);
    assert_true(seen.ordered && seen.right);
    return seen;
}

/* As two agreeing workers would. */
static void settle_claim(uint64_t id)
{
    char number[24];
    const char *parameters[] = {number};
    struct store_table nothing;
    snprintf(number, sizeof number, "%llu", (unsigned long long)id);
    assert_ok(store, store_query(
                         store,
                         "update kroo.dispute set state = 'settled', settled_at = now(), settlement = 'kept' "
                         "where experiment_id = $1::bigint and reason like '%claimed to have ended by crash'",
                         parameters, 1, &nothing));
    store_table_done(&nothing);
}

static void only_what_counts(void **state)
{
    (void)state;
    struct store_experiment experiment = fixture_experiment(store);
    uint64_t id = fixture_create(store, &experiment);
    struct fixture_games made = fixture_games(id, 0, 300);
    made.games[8].scores = NULL;
    made.games[8].scores_size = 0;
    struct store_game *claimed = &made.games[20]; /* leg 0: player a is South */
    claimed->claimed = true;
    claimed->a_half_points = 0;
    snprintf(claimed->result, sizeof claimed->result, "north");
    snprintf(claimed->reason, sizeof claimed->reason, "crash");
    made.count = 500; /* 250 pairs, then a gap, then the rest */
    fixture_put(store, &made);
    settle_claim(id); /* else the prefix would wait for it */
    fixture_count(store, id);
    struct fixture_games beyond = {&made.games[502], &made.outcome[502], NULL, NULL, 98};
    fixture_put(store, &beyond);

    struct store_range all[] = {{id, 0, 1000000}};
    assert_int_equal(read_as_trainer(all, 1, &made).rows, 499);
    struct store_range parts[] = {{id, 100, 20}, {id, 0, 10}, {id, 110, 5}, {id, 118, 12}};
    assert_int_equal(read_as_trainer(parts, 4, &made).rows, 2 * (30 + 10));
    struct store_range nothing[] = {{id, 250, 50}, {id + 1000, 0, UINT64_MAX}, {id, 0, 0}};
    assert_int_equal(read_as_trainer(nothing, 3, &made).rows, 0);

    struct store_game changed = made.games[14]; /* pair 7 comes into dispute */
    changed.scores = NULL;
    changed.scores_size = 0;
    enum store_outcome outcome;
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, &changed, 1, &outcome));
    assert_ok(store, store_commit(store));
    assert_int_equal(read_as_trainer(all, 1, &made).rows, 497);

    struct store_range outside[] = {{UINT64_MAX, 0, 1}};
    struct seen seen = {.made = &made};
    assert_int_equal(store_training_games(store, outside, 1, see, &seen), STORE_ERROR_REFUSED);
    fixture_games_done(&made);
}

/* Two experiments, in order; the callback's own answer ends the stream and the connection stays good. */
static void the_callback_may_stop(void **state)
{
    (void)state;
    struct store_experiment one = fixture_experiment(store), two = fixture_experiment(store);
    fixture_create(store, &one);
    fixture_create(store, &two);
    struct fixture_games made = fixture_games(one.id, 0, 2000);
    fixture_put(store, &made);
    for (size_t i = 0; i < made.count; i++)
        made.games[i].experiment = two.id;
    fixture_put(store, &made);
    fixture_count(store, one.id);
    fixture_count(store, two.id);
    struct store_range ranges[] = {{two.id, 0, 1000000}, {one.id, 0, 1000000}};
    struct seen whole = read_as_trainer(ranges, 2, &made);
    assert_int_equal(whole.rows, 8000);
    assert_true(whole.last_experiment == two.id);
    struct seen seen = {.ordered = true, .right = true, .made = &made, .stop_after = 100};
    assert_int_equal(store_training_games(store, ranges, 2, see, &seen), 42);
    assert_int_equal(seen.rows, 100);
    assert_string_equal(fixture_cell(store, "select 1"), "1");
    assert_string_equal(fixture_cell(store, "show statement_timeout"), "30s");
    fixture_games_done(&made);
}

static void tables_for_people(void **state)
{
    (void)state;
    struct store_table table;
    const char *const parameters[] = {"7", NULL, "it's"};
    assert_ok(
        store,
        store_query(
            store,
            "select $1::int as n, $2::text as nothing, $3::text as words, 1.5::float8 as x, true as yes",
            parameters, 3, &table));
    assert_int_equal(table.rows, 1);
    assert_int_equal(table.columns, 5);
    assert_string_equal(table.names[0], "n");
    assert_true(table.numeric[0] && !table.numeric[2] && table.numeric[3] && !table.numeric[4]);
    assert_null(table.cells[1]);
    assert_string_equal(store_cell(&table, 0, 1), "");
    assert_string_equal(store_cell(&table, 0, 2), "it's");
    store_table_done(&table);
    assert_ok(store, store_query(store, "select 1 where false", NULL, 0, &table));
    assert_int_equal(table.rows, 0);
    store_table_done(&table);
    assert_int_equal(store_query(store, "select nothing from nowhere", NULL, 0, &table), STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "nowhere"));
    assert_int_equal(store_query(store, "select 1; select 2", NULL, 0, &table), STORE_ERROR_REFUSED);
    assert_string_equal(fixture_cell(store, "select 3"), "3");
}

static int add_row(void *context, const struct store_table *row)
{
    uint64_t *sum = context;
    assert_int_equal(row->rows, 1);
    *sum += strtoull(store_cell(row, 0, 0), NULL, 10);
    return *sum > 1000000 ? 7 : 0;
}

static void rows_one_by_one(void **state)
{
    (void)state;
    uint64_t sum = 0;
    const char *const thousand[] = {"1000"}, *const many[] = {"100000000"};
    assert_int_equal(store_stream(store, "select generate_series(1, $1::int)", thousand, 1, add_row, &sum),
                     STORE_OK);
    assert_true(sum == 500500);
    assert_int_equal(store_stream(store, "select generate_series(1, $1::int)", many, 1, add_row, &sum), 7);
    assert_string_equal(fixture_cell(store, "select 4"), "4");
    sum = 0;
    assert_int_equal(
        store_stream(store, "select 1 / (3 - n) from generate_series(1, 5) n", NULL, 0, add_row, &sum),
        STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "division by zero"));
    assert_string_equal(fixture_cell(store, "show statement_timeout"), "30s");
}

static int kill_server(void *context, const struct store_training_game *game)
{
    uint64_t *rows = context;
    (void)game;
    if (++*rows == 10)
        assert_int_equal(database_kill(), 0);
    return 0;
}

static int count_rows(void *context, const struct store_table *row)
{
    uint64_t *rows = context;
    (void)row;
    if (++*rows == 10)
        assert_int_equal(database_kill(), 0);
    return 0;
}

/* A stream that ends early because the server died is never taken for a whole one. */
static void the_server_dies_in_a_stream(void **state)
{
    (void)state;
    struct store_experiment experiment = fixture_experiment(store);
    uint64_t id = fixture_create(store, &experiment), rows = 0;
    enum { PAIRS = 20000 };
    struct fixture_games made = fixture_games(id, 0, PAIRS);
    fixture_put(store, &made);
    fixture_count(store, id);
    struct store_range all[] = {{id, 0, PAIRS}};
    assert_int_equal(store_training_games(store, all, 1, kill_server, &rows), STORE_ERROR_CONNECTION);
    assert_true(rows < 2 * PAIRS);
    store_close(store);
    assert_int_equal(database_start(), 0);
    store = fixture_open("kroo_coordinator");
    rows = 0;
    assert_int_equal(store_stream(store, "select repeat('x', generate_series(1, 1000000) % 1000)", NULL, 0,
                                  count_rows, &rows),
                     STORE_ERROR_CONNECTION);
    assert_true(rows < 1000000);
    store_close(store);
    assert_int_equal(database_start(), 0);
    store = fixture_open("kroo_coordinator");
    rows = 10;
    assert_ok(store, store_training_games(store, all, 1, kill_server, &rows));
    assert_int_equal(rows, 10 + 2 * PAIRS);
    fixture_games_done(&made);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_counts),
        cmocka_unit_test(the_callback_may_stop),
        cmocka_unit_test(tables_for_people),
        cmocka_unit_test(rows_one_by_one),
        cmocka_unit_test(the_server_dies_in_a_stream),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
