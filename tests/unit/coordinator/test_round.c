/* One transaction of the writer against a real PostgreSQL: ledgers follow the database, disputes are settled
 * as DESIGN section 7 says, and a round that fails has had no effect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/captures.h"
#include "coordinator/round.h"
#include "coordinator/round_flag.h"
#include "sql/store_flag.h"
#include "tests/unit/sql/fixture.h"

enum { PAIRS = 20 };

struct bench {
    struct store *store;
    struct ledger_book book;
    struct round round;
    uint64_t experiment;
    struct fixture_games games; /* what everybody should have played */
};

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct store_experiment experiment;
    char text[STORE_TEXT];
    bench->store = fixture_open(NULL);
    experiment = fixture_experiment(bench->store);
    experiment.planned_pairs = PAIRS;
    bench->experiment = fixture_create(bench->store, &experiment);
    bench->round = (struct round){.store = bench->store, .book = &bench->book};
    assert_ok(bench->store, round_load(&bench->round, &experiment, text));
    for (uint64_t id = 1; id <= 6; id++) {
        struct store_session session = {
            .id = id, .peer = "local", .engine_build = "kroo-engine 1 test", .slots = 1};
        snprintf(session.name, sizeof session.name, "worker-%d", (int)id);
        assert_ok(bench->store, store_session_insert(bench->store, &session));
    }
    bench->games = fixture_games(bench->experiment, 0, PAIRS);
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

/* What a round said of the experiment; the caller destroys it. */
static struct job *deliver(struct bench *bench, size_t first_pair, size_t pairs, uint64_t session,
                           uint32_t attempt, bool altered, enum store_outcome expected)
{
    struct job *job = job_create(JOB_RESULTS);
    size_t count = 2 * pairs;
    job->results.games = malloc(count * sizeof(struct store_game));
    job->results.outcome = calloc(count, sizeof(enum store_outcome));
    job->results.count = count;
    memcpy(job->results.games, bench->games.games + 2 * first_pair, count * sizeof(struct store_game));
    for (size_t i = 0; i < count; i++) {
        job->results.games[i].session = session;
        job->results.games[i].attempt = attempt;
        if (altered) { /* the same game with other scores: a sick machine's search */
            uint8_t *scores = malloc(job->results.games[i].scores_size);
            memcpy(scores, job->results.games[i].scores, job->results.games[i].scores_size);
            scores[3] ^= (uint8_t)session;
            job->results.games[i].scores = scores;
        }
    }
    assert_ok(bench->store, round_commit(&bench->round, job));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(job->results.outcome[i], expected);
        if (altered)
            free((void *)(uintptr_t)job->results.games[i].scores);
    }
    job_destroy(job);
    struct job *report = bench->round.reports;
    bench->round.reports = NULL;
    assert_non_null(report);
    assert_null(report->next);
    return report;
}

static const char *stored_by(const struct bench *bench, uint64_t pair)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "select string_agg(session_id::text, ',' order by leg) from game where experiment_id = %llu and "
             "pair_no = %llu",
             (unsigned long long)bench->experiment, (unsigned long long)pair);
    return fixture_cell(bench->store, sql);
}

/* What was added with the games is what a count of them gives. */
static void assert_captures_agree(const struct bench *bench)
{
    static const char sql[] =
        "select coalesce(string_agg(r::text, ' ' order by r.segment), 'none') || "
        "(select count(*) from capture_due) from capture_rollup r where experiment_id = %" PRIu64;
    char before[4096];
    snprintf(before, sizeof before, "%s", fixture_cell_of(bench->store, sql, bench->experiment));
    assert_true(strlen(before) > 100);
    assert_ok(bench->store, store_begin(bench->store));
    assert_ok(bench->store, store_captures_forget(bench->store, bench->experiment, 0));
    assert_ok(bench->store, captures_settle(bench->store));
    assert_ok(bench->store, store_commit(bench->store));
    assert_string_equal(fixture_cell_of(bench->store, sql, bench->experiment), before);
}

static void counts_in_pair_order_and_reports_what_is_complete(void **state)
{
    struct bench *bench = *state;
    struct job *report = deliver(bench, 1, 3, 1, 1, false, STORE_GAME_INSERTED);
    assert_int_equal(report->report.prefix, 0);
    assert_int_equal(report->report.complete_count, 3);
    assert_false(report->report.ended);
    job_destroy(report);
    report = deliver(bench, 0, 1, 2, 1, false, STORE_GAME_INSERTED);
    assert_int_equal(report->report.prefix, 4);
    job_destroy(report);
    report = deliver(bench, 0, 4, 3, 2, false, STORE_GAME_DUPLICATE);
    assert_int_equal(report->report.prefix, 4);
    assert_int_equal(report->report.complete_count, 8); /* told again, by each leg */
    job_destroy(report);
    assert_int_equal(ledger_counters(ledger_of(bench)).games_stored, 8);
    report = deliver(bench, 4, PAIRS - 4, 1, 1, false, STORE_GAME_INSERTED);
    assert_true(report->report.ended);
    job_destroy(report);
    assert_string_equal(
        fixture_cell_of(
            bench->store,
            "select concat_ws(' ', verdict, counted_pairs) from verdict where experiment_id = %" PRIu64,
            bench->experiment),
        "undecided 20");
    assert_string_equal(fixture_cell_of(bench->store,
                                        "select count(*) from verify_counters(%" PRIu64
                                        ") where recorded is distinct from recomputed",
                                        bench->experiment),
                        "0");
}

static void a_restart_reads_the_same_ledger(void **state)
{
    struct bench *bench = *state;
    job_destroy(deliver(bench, 0, 5, 1, 1, false, STORE_GAME_INSERTED));
    job_destroy(deliver(bench, 7, 2, 1, 1, false, STORE_GAME_INSERTED));
    job_destroy(deliver(bench, 8, 1, 2, 2, true, STORE_GAME_CONFLICT));
    struct ledger_book fresh = {0};
    struct round round = {.store = bench->store, .book = &fresh};
    struct store_experiment experiment;
    char text[STORE_TEXT];
    assert_ok(bench->store, store_experiment_get(bench->store, bench->experiment, &experiment));
    assert_ok(bench->store, round_load(&round, &experiment, text));
    assert_true(tally_equal(fresh.ledgers[0]->tally, ledger_of(bench)->tally));
    assert_int_equal(fresh.ledgers[0]->games_stored, ledger_of(bench)->games_stored);
    ledger_book_done(&fresh);
}

/* The prefix may have gone on for more pairs than are leased at once when a worker's games are taken out. */
static void games_set_aside_far_behind_are_counted_anew(void **state)
{
    struct bench *bench = *state;
    bool is_new;
    uint64_t *moved;
    size_t moved_count;
    char text[STORE_TEXT];
    job_destroy(deliver(bench, 0, 1, 1, 1, false, STORE_GAME_INSERTED));
    for (size_t pair = 1; pair < 19; pair += 2)
        job_destroy(deliver(bench, pair, 2, 2, 1, false, STORE_GAME_INSERTED));
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 19);
    assert_ok(bench->store, store_worker_put_aside(bench->store, "local", "worker-1", "hand", "a test",
                                                   "the test", &is_new));
    assert_ok(bench->store, round_flag_games(&bench->round, &moved, &moved_count));
    assert_int_equal(moved_count, 1);
    free(moved);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 0);
    struct ledger_book fresh = {0};
    struct round round = {.store = bench->store, .book = &fresh};
    struct store_experiment experiment;
    assert_ok(bench->store, store_experiment_get(bench->store, bench->experiment, &experiment));
    assert_ok(bench->store, round_load(&round, &experiment, text));
    assert_int_equal(tally_beyond(fresh.ledgers[0]->tally), 36);
    ledger_book_done(&fresh);
    /* A game of a lease from before, beyond the window of now. */
    job_destroy(deliver(bench, 19, 1, 2, 1, false, STORE_GAME_INSERTED));
    /* And a conflict there: its pair is held, so that the prefix stops before it. */
    struct job *conflict = deliver(bench, 18, 1, 3, 2, true, STORE_GAME_CONFLICT);
    assert_true(conflict->report.again.count == 1 && conflict->report.again.pairs[0].held);
    job_destroy(conflict);
    job_destroy(deliver(bench, 18, 1, 4, 3, false, STORE_GAME_DUPLICATE));
    struct job *report = deliver(bench, 0, 1, 3, 2, false, STORE_GAME_INSERTED);
    assert_true(report->report.ended);
    job_destroy(report);
    assert_int_equal(tally_prefix(ledger_of(bench)->tally), 20);
    /* What it says in the next test's disputes has a voice again. */
    uint64_t restored;
    assert_ok(bench->store, store_worker_restore(bench->store, "", "worker-1", "the test", &restored));
    assert_int_equal(restored, 1);
}

static void a_conflict_holds_the_prefix_until_two_workers_agree(void **state)
{
    struct bench *bench = *state;
    job_destroy(deliver(bench, 0, 2, 1, 1, false, STORE_GAME_INSERTED));
    job_destroy(deliver(bench, 3, 2, 1, 1, false, STORE_GAME_INSERTED)); /* 2 is missing: the prefix is 2 */
    struct job *report = deliver(bench, 3, 1, 2, 2, true, STORE_GAME_CONFLICT);
    assert_int_equal(report->report.again.count, 1);
    assert_true(report->report.again.pairs[0].pair == 3 && report->report.again.pairs[0].held);
    assert_int_equal(report->report.again.pairs[0].played_count, 2);
    job_destroy(report);
    report = deliver(bench, 2, 1, 1, 1, false, STORE_GAME_INSERTED);
    assert_int_equal(report->report.prefix, 3); /* and no further */
    job_destroy(report);
    report =
        deliver(bench, 3, 1, 1, 3, false, STORE_GAME_DUPLICATE); /* the same worker again proves nothing */
    assert_int_equal(report->report.again.count, 1);
    assert_int_equal(report->report.prefix, 3);
    job_destroy(report);
    report = deliver(bench, 3, 1, 3, 4, false, STORE_GAME_DUPLICATE); /* an independent one does */
    assert_int_equal(report->report.again.count, 0);
    assert_int_equal(report->report.closed_count, 1);
    assert_int_equal(report->report.prefix, 5);
    job_destroy(report);
    assert_string_equal(stored_by(bench, 3), "1,1");
    assert_string_equal(
        fixture_cell_of(bench->store,
                        "select state || ', ' || settlement from dispute where experiment_id = %" PRIu64,
                        bench->experiment),
        "settled, kept: two independent workers agree");
    assert_captures_agree(bench);
    assert_string_equal(fixture_cell_of(bench->store,
                                        "select count(*) from verify_counters(%" PRIu64
                                        ") where recorded is distinct from recomputed",
                                        bench->experiment),
                        "0");
}

static void a_pair_disputed_as_it_completes_does_not_count(void **state)
{
    struct bench *bench = *state;
    struct job *honest = job_create(JOB_RESULTS), *sick = job_create(JOB_RESULTS);
    struct job *jobs[] = {honest, sick};
    uint8_t other[2][2 * FIXTURE_PLIES];
    for (int i = 0; i < 2; i++) {
        jobs[i]->results.games = malloc(2 * sizeof(struct store_game));
        jobs[i]->results.outcome = calloc(2, sizeof(enum store_outcome));
        jobs[i]->results.count = 2;
        memcpy(jobs[i]->results.games, bench->games.games, 2 * sizeof(struct store_game));
    }
    for (int leg = 0; leg < 2; leg++) {
        struct store_game *game = &sick->results.games[leg];
        memcpy(other[leg], game->scores, game->scores_size);
        other[leg][0] ^= 1;
        game->scores = other[leg];
        game->session = 2;
    }
    honest->next = sick;
    assert_ok(bench->store, round_commit(&bench->round, honest));
    assert_int_equal(honest->results.outcome[0], STORE_GAME_INSERTED);
    assert_int_equal(sick->results.outcome[0], STORE_GAME_CONFLICT);
    assert_int_equal(bench->round.reports->report.prefix, 0);
    job_destroy(bench->round.reports);
    assert_captures_agree(bench);
    job_destroy(honest);
    job_destroy(sick);
    assert_string_equal(fixture_cell_of(bench->store,
                                        "select count(*) from verify_counters(%" PRIu64
                                        ") where recorded is distinct from recomputed",
                                        bench->experiment),
                        "0");
}

/* First come must not mean first served. */
static void the_first_content_loses_when_it_stands_alone(void **state)
{
    struct bench *bench = *state;
    job_destroy(deliver(bench, 5, 1, 4, 1, true, STORE_GAME_INSERTED)); /* the sick machine is the fastest */
    job_destroy(deliver(bench, 0, 5, 1, 1, false, STORE_GAME_INSERTED));
    struct ledger *ledger = ledger_of(bench);
    assert_int_equal(tally_prefix(ledger->tally), 6);
    job_destroy(deliver(bench, 7, 1, 4, 1, true, STORE_GAME_INSERTED));
    job_destroy(deliver(bench, 7, 1, 2, 2, false, STORE_GAME_CONFLICT));
    assert_string_equal(stored_by(bench, 7), "4,4");
    job_destroy(deliver(bench, 7, 1, 3, 3, false, STORE_GAME_CONFLICT));
    assert_string_equal(stored_by(bench, 7), "2,2");
    assert_captures_agree(bench);
    struct job *report = deliver(bench, 6, 1, 1, 1, false, STORE_GAME_INSERTED);
    assert_int_equal(report->report.prefix, 8);
    job_destroy(report);
    assert_string_equal(fixture_cell_of(bench->store,
                                        "select count(*) from verify_counters(%" PRIu64
                                        ") where recorded is distinct from recomputed",
                                        bench->experiment),
                        "0");
}

static void five_runs_without_agreement_block_the_experiment(void **state)
{
    struct bench *bench = *state;
    job_destroy(deliver(bench, 1, 1, 1, 1, false, STORE_GAME_INSERTED));
    for (uint64_t session = 2; session <= 5; session++) {
        struct job *report = deliver(bench, 1, 1, session, (uint32_t)session, true, STORE_GAME_CONFLICT);
        assert_int_equal(report->report.blocked, session == 5);
        job_destroy(report);
    }
    assert_string_equal(
        fixture_cell_of(bench->store, "select state from experiment where id = %" PRIu64, bench->experiment),
        "blocked");
}

static void a_refused_job_takes_nothing_with_it(void **state)
{
    struct bench *bench = *state;
    struct job *job = job_create(JOB_GRANT);
    job->grant.lease = (struct store_lease){.id = 900 + bench->experiment,
                                            .experiment = bench->experiment,
                                            .first_pair = 0,
                                            .pair_count = 1,
                                            .attempt = 1,
                                            .session = 424242}; /* nobody */
    struct tally *before = tally_clone(ledger_of(bench)->tally);
    assert_int_equal(round_commit(&bench->round, job), STORE_ERROR_REFUSED);
    assert_true(tally_equal(before, ledger_of(bench)->tally));
    assert_true(strlen(job->text) > 0);
    tally_destroy(before);
    job_destroy(job);
    job_destroy(deliver(bench, 0, 1, 1, 1, false, STORE_GAME_INSERTED)); /* the connection goes on */
}

/* Found as two rows of table lease granted after the verdict of their match. */
static void a_lease_asked_for_before_the_verdict_is_none_after_it(void **state)
{
    struct bench *bench = *state;
    struct job *results = job_create(JOB_RESULTS), *same = job_create(JOB_GRANT),
               *next = job_create(JOB_GRANT);
    struct job *grants[] = {same, next};
    results->results.games = malloc(2 * PAIRS * sizeof(struct store_game));
    results->results.outcome = calloc(2 * PAIRS, sizeof(enum store_outcome));
    results->results.count = 2 * PAIRS;
    memcpy(results->results.games, bench->games.games, 2 * PAIRS * sizeof(struct store_game));
    for (int i = 0; i < 2; i++)
        grants[i]->grant.lease = (struct store_lease){.id = 900 + 2 * bench->experiment + (uint64_t)i,
                                                      .experiment = bench->experiment,
                                                      .pair_count = 1,
                                                      .attempt = 1,
                                                      .session = 1};
    same->next = results;
    assert_ok(bench->store, round_commit(&bench->round, same));
    assert_true(bench->round.reports->report.ended);
    job_destroy(bench->round.reports);
    assert_ok(bench->store, round_commit(&bench->round, next));
    assert_true(same->grant.late);
    assert_true(next->grant.late);
    assert_string_equal(fixture_cell_of(bench->store,
                                        "select count(*) from lease where experiment_id = %" PRIu64,
                                        bench->experiment),
                        "0");
    job_destroy(same);
    job_destroy(results);
    job_destroy(next);
}

/* The first 128 pairs by four workers in turn, one of which lets player a win every game. */
static void a_worker_that_gives_other_results_is_set_aside(void **state)
{
    struct bench *bench = *state;
    struct bench wide = {.store = bench->store, .round = bench->round};
    struct store_experiment experiment = fixture_experiment(bench->store);
    char text[STORE_TEXT];
    experiment.planned_pairs = 1000;
    wide.experiment = fixture_create(bench->store, &experiment);
    wide.round.book = &wide.book;
    assert_ok(bench->store, round_load(&wide.round, &experiment, text));
    wide.games = fixture_games(wide.experiment, 0, 160);
    for (uint64_t id = 21; id <= 24; id++) { /* nobody has anything against them */
        struct store_session session = {
            .id = id, .peer = "local", .engine_build = "kroo-engine 1 test", .slots = 1};
        snprintf(session.name, sizeof session.name, "steady-%d", (int)id);
        assert_ok(bench->store, store_session_insert(bench->store, &session));
    }
    for (size_t i = 0; i < wide.games.count; i++) {
        struct store_game *game = &wide.games.games[i];
        bool south = game->leg == 0;
        if (game->pair % 4 != 3)
            continue;
        snprintf(game->result, sizeof game->result, "%s", south ? "south" : "north");
        game->south = south ? 26 : 11;
        game->north = south ? 20 : 30;
        snprintf(game->reason, sizeof game->reason, "majority");
        game->a_half_points = 2;
    }
    for (size_t pair = 0; pair < 127; pair++)
        job_destroy(deliver(&wide, pair, 1, 21 + pair % 4, 1, false, STORE_GAME_INSERTED));
    assert_ok(bench->store, round_flag_workers(&wide.round));
    assert_int_equal(ledger_of(&wide)->fleet_pairs, 0); /* too few to tell */
    for (size_t pair = 127; pair < 160; pair++)
        job_destroy(deliver(&wide, pair, 1, 21 + pair % 4, 1, false, STORE_GAME_INSERTED));
    assert_ok(bench->store, round_flag_workers(&wide.round));
    struct ledger *ledger = ledger_of(&wide);
    assert_int_equal(ledger->fleet_pairs, 128); /* whatever has come beyond */
    assert_int_equal(ledger->fleet_next, 512);
    assert_int_equal(ledger->fleet_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(ledger->fleet[i].won + ledger->fleet[i].lost + ledger->fleet[i].equal, 32);
    assert_string_equal(
        fixture_cell(
            bench->store,
            "select string_agg(name || ' ' || kind, ',') from worker_flag where name like 'steady%'"),
        "steady-24 statistics");
    fixture_games_done(&wide.games);
    ledger_book_done(&wide.book);
}

static void a_dead_server_is_no_answer(void **state)
{
    struct bench *bench = *state;
    job_destroy(deliver(bench, 0, 2, 1, 1, false, STORE_GAME_INSERTED));
    assert_int_equal(database_kill(), 0);
    struct job *job = job_create(JOB_RESULTS);
    job->results.games = malloc(sizeof(struct store_game));
    job->results.outcome = calloc(1, sizeof(enum store_outcome));
    job->results.count = 1;
    job->results.games[0] = bench->games.games[4];
    assert_int_equal(round_commit(&bench->round, job), STORE_ERROR_CONNECTION);
    assert_int_equal(ledger_counters(ledger_of(bench)).games_stored, 4);
    job_destroy(job);
    assert_int_equal(database_start(), 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_in_pair_order_and_reports_what_is_complete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_restart_reads_the_same_ledger, set_up, tear_down),
        cmocka_unit_test_setup_teardown(games_set_aside_far_behind_are_counted_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_conflict_holds_the_prefix_until_two_workers_agree, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_pair_disputed_as_it_completes_does_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_content_loses_when_it_stands_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(five_runs_without_agreement_block_the_experiment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refused_job_takes_nothing_with_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lease_asked_for_before_the_verdict_is_none_after_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_worker_that_gives_other_results_is_set_aside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dead_server_is_no_answer, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, fixture_migrate, NULL);
}
