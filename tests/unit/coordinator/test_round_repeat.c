/* Repeated pairs through the writer's transactions against a real PostgreSQL: whatever the order of arrival,
 * disputes, restarts and workers set aside, the same pairs count, and SQL and a replay agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/round.h"
#include "coordinator/round_flag.h"
#include "sql/store_flag.h"
#include "sql/store_repeat.h"
#include "tests/unit/sql/fixture.h"

enum { PAIRS = 40, DIFFERENT = 7 };

struct bench {
    struct store *store;
    struct ledger_book book;
    struct round round;
    uint64_t experiment;
    struct fixture_games games; /* pair p has the games of pair p % DIFFERENT */
};

static void make_sessions(struct bench *bench)
{
    static uint64_t next = 1000; /* of the process: databases are shared by its tests */
    for (uint64_t i = 0; i < 4; i++) {
        struct store_session session = {
            .id = next + i, .peer = "local", .engine_build = "kroo-engine 1 test", .slots = 1};
        snprintf(session.name, sizeof session.name, "repeater-%d", (int)session.id);
        assert_ok(bench->store, store_session_insert(bench->store, &session));
    }
    for (size_t i = 0; i < bench->games.count; i++)
        bench->games.games[i].session = next;
    next += 4;
}

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    char text[STORE_TEXT];
    bench->store = fixture_open(NULL);
    struct store_experiment experiment = fixture_experiment(bench->store);
    experiment.kind = STORE_MATCH;
    experiment.noise_ppm = 0;
    experiment.b.limits.nodes = 77;
    experiment.planned_pairs = PAIRS;
    experiment.repeat_rule = repeat_game_rule(&experiment);
    assert_int_equal(experiment.repeat_rule, REPEAT_RULE_BY_GAMES);
    bench->experiment = fixture_create(bench->store, &experiment);
    bench->round = (struct round){.store = bench->store, .book = &bench->book};
    assert_ok(bench->store, store_experiment_get(bench->store, bench->experiment, &experiment));
    assert_ok(bench->store, round_load(&bench->round, &experiment, text));
    bench->games = fixture_games(bench->experiment, 0, PAIRS);
    for (size_t i = 2 * DIFFERENT; i < bench->games.count; i++) {
        uint64_t pair = i / 2;
        bench->games.games[i] = bench->games.games[2 * (pair % DIFFERENT) + i % 2];
        bench->games.games[i].pair = pair;
    }
    make_sessions(bench);
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    fixture_games_done(&bench->games);
    ledger_book_done(&bench->book);
    store_close(bench->store);
    free(bench);
    return 0;
}

static struct ledger *ledger_of(const struct bench *bench)
{
    return ledger_book_find(&bench->book, bench->experiment);
}

/* Pairs first .. first + count - 1 by a worker; `altered`: another game for each. */
static void deliver(struct bench *bench, size_t first, size_t count, uint64_t worker, uint32_t attempt,
                    bool altered)
{
    struct job *job = job_create(JOB_RESULTS);
    job->results.games = malloc(2 * count * sizeof(struct store_game));
    job->results.outcome = calloc(2 * count, sizeof(enum store_outcome));
    job->results.count = 2 * count;
    memcpy(job->results.games, bench->games.games + 2 * first, 2 * count * sizeof(struct store_game));
    for (size_t i = 0; i < 2 * count; i++) {
        struct store_game *game = &job->results.games[i];
        game->session += worker;
        game->attempt = attempt;
        if (altered && game->plies > 2) { /* the same, two plies shorter */
            char *moves = strdup(game->moves);
            moves[game->plies - 2] = '\0';
            game->moves = moves;
            game->plies -= 2;
            game->scores_size -= 4;
        }
    }
    assert_ok(bench->store, round_commit(&bench->round, job));
    for (size_t i = 0; i < 2 * count; i++)
        if (altered)
            free((void *)(uintptr_t)job->results.games[i].moves);
    job_destroy(job);
    while (bench->round.reports) {
        struct job *report = bench->round.reports;
        bench->round.reports = report->next;
        job_destroy(report);
    }
}

static void assert_cell(const struct bench *bench, const char *sql, const char *expected)
{
    char text[512];
    snprintf(text, sizeof text, sql, (unsigned long long)bench->experiment);
    assert_string_equal(fixture_cell(bench->store, text), expected);
}

/* What is stored says what the tally says, SQL's own count agrees, and a restart reads the same. */
static void assert_sound(struct bench *bench)
{
    char expected[64];
    const struct tally_totals *totals = tally_totals(ledger_of(bench)->tally);
    snprintf(expected, sizeof expected, "%d %d %d", (int)totals->pairs, (int)totals->repeated,
             (int)totals->repeated);
    assert_cell(
        bench,
        "select concat_ws(' ', prefix_pairs, repeated_pairs, (select count(*) from pair_repeat r where "
        "r.experiment_id = c.experiment_id)) from experiment_counter c where experiment_id = %llu",
        expected);
    assert_cell(bench,
                "select count(*) from verify_counters(%llu) where recorded is distinct from recomputed", "0");
    assert_cell(bench, "select count(*) from verify_rollups(%llu)", "0");
    struct ledger_book fresh = {0};
    struct round round = {.store = bench->store, .book = &fresh};
    struct store_experiment experiment;
    char text[STORE_TEXT];
    assert_ok(bench->store, store_experiment_get(bench->store, bench->experiment, &experiment));
    assert_ok(bench->store, round_load(&round, &experiment, text));
    assert_true(tally_equal(fresh.ledgers[0]->tally, ledger_of(bench)->tally));
    ledger_book_done(&fresh);
}

static void any_order_of_transactions_counts_the_same(void **state)
{
    struct bench *bench = *state;
    deliver(bench, 20, 10, 0, 1, false);
    deliver(bench, 7, 7, 1, 1, false); /* these count as the first ones do, and come before them */
    deliver(bench, 0, 3, 0, 1, false);
    assert_int_equal(tally_totals(ledger_of(bench)->tally)->repeated, 0);
    assert_sound(bench);
    deliver(bench, 3, 4, 2, 1, false);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 14);
    assert_int_equal(tally_totals(ledger_of(bench)->tally)->repeated, 7);
    assert_sound(bench);
    deliver(bench, 30, 10, 0, 1, false);
    deliver(bench, 14, 6, 3, 1, false);
    assert_sound(bench);
    assert_cell(bench,
                "select concat_ws(' ', verdict, counted_pairs, repeated_pairs, ll + ld + dd + wl + dw + ww) "
                "from verdict where experiment_id = %llu",
                "undecided 40 33 7");
    assert_cell(bench, "select sum(pairs) from pair_score where experiment_id = %llu", "7");
    assert_cell(bench, "select count(*) from game_counted where experiment_id = %llu", "14");
}

/* A pair that counted, and that others repeat, turns out to be another: the next one with its games counts.
 */
static void a_first_pair_that_is_replaced_lets_the_next_one_count(void **state)
{
    struct bench *bench = *state;
    deliver(bench, 2, 1, 1, 1, true);
    deliver(bench, 0, 2, 0, 1, false);
    deliver(bench, 3, 27, 0, 1, false);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 30);
    assert_int_equal(tally_totals(ledger_of(bench)->tally)->repeated, 22);
    assert_sound(bench);
    deliver(bench, 2, 1, 2, 2, false);
    deliver(bench, 2, 1, 3, 3, false); /* two say so: what worker 1 played was another game */
    assert_int_equal(tally_totals(ledger_of(bench)->tally)->repeated, 23);
    assert_sound(bench);
    assert_cell(bench, "select first_pair from pair_repeat where experiment_id = %llu and pair_no = 9", "2");
    /* And a held pair, settled before it counts. */
    deliver(bench, 31, 1, 1, 1, true);
    deliver(bench, 31, 1, 0, 2, false);
    deliver(bench, 30, 1, 0, 1, false);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 31);
    deliver(bench, 31, 1, 2, 3, false);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 32);
    assert_int_equal(tally_totals(ledger_of(bench)->tally)->repeated, 25);
    assert_sound(bench);
}

/* The games of a worker that is set aside go, the first pairs among them: what repeated these counts once
 * they are played anew as something else, and nothing does that the prefix does not reach. */
static void workers_set_aside_take_their_first_pairs_along(void **state)
{
    struct bench *bench = *state;
    uint64_t *moved;
    size_t count;
    bool is_new;
    char name[STORE_NAME];
    deliver(bench, 0, 4, 0, 1, false);
    deliver(bench, 4, 2, 1, 1, true);
    deliver(bench, 6, 20, 0, 1, false);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 26);
    assert_sound(bench);
    snprintf(name, sizeof name, "repeater-%d", (int)(bench->games.games[0].session + 1));
    assert_ok(bench->store,
              store_worker_put_aside(bench->store, NULL, name, "hand", "a test", "tester", &is_new));
    assert_ok(bench->store, round_flag_games(&bench->round, &moved, &count));
    assert_int_equal(count, 1);
    free(moved);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 4);
    assert_sound(bench);
    deliver(bench, 4, 2, 2, 2, false);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 26);
    assert_int_equal(tally_totals(ledger_of(bench)->tally)->repeated, 19);
    assert_sound(bench);
}

/* A transaction that fails has found nothing. */
static void a_round_that_fails_leaves_no_repeats(void **state)
{
    struct bench *bench = *state;
    deliver(bench, 0, 10, 0, 1, false);
    struct tally *before = tally_clone(ledger_of(bench)->tally);
    struct job *job = job_create(JOB_RESULTS), *bad = job_create(JOB_GRANT);
    job->results.games = malloc(10 * sizeof(struct store_game));
    job->results.outcome = calloc(10, sizeof(enum store_outcome));
    job->results.count = 10;
    memcpy(job->results.games, bench->games.games + 20, 10 * sizeof(struct store_game));
    bad->grant.lease = (struct store_lease){.id = 900000 + bench->experiment,
                                            .experiment = bench->experiment,
                                            .pair_count = 1,
                                            .attempt = 1,
                                            .session = 424242}; /* nobody */
    job->next = bad;
    assert_int_equal(round_commit(&bench->round, job), STORE_ERROR_REFUSED);
    assert_true(tally_equal(before, ledger_of(bench)->tally));
    tally_destroy(before);
    job_destroy(job);
    job_destroy(bad);
    assert_sound(bench);
    deliver(bench, 10, 5, 0, 1, false);
    assert_int_equal(tally_totals(ledger_of(bench)->tally)->repeated, 8);
    assert_sound(bench);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_order_of_transactions_counts_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_first_pair_that_is_replaced_lets_the_next_one_count, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(workers_set_aside_take_their_first_pairs_along, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_round_that_fails_leaves_no_repeats, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, fixture_migrate, NULL);
}
