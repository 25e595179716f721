/* A tune in the writer's transactions against a real PostgreSQL: batches are applied in their order, once,
 * with the transaction that counts them, and what was thinned is what it was. */
#include "coordinator/course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/round.h"
#include "proto/artifact.h"
#include "tests/unit/sql/fixture.h"

struct bench {
    struct store *store;
    struct ledger_book book;
    struct round round;
    struct store_experiment experiment;
    struct fixture_games games;
    struct tuning *tuning;
    uint64_t pairs;
};

static void put_starting(struct store *store, struct store_experiment *experiment)
{
    struct weights *weights = weights_create_starting("site");
    struct store_weights row = {.rules = "site", .kind = "table", .name = "starting"};
    void *bytes;
    size_t size;
    assert_int_equal(weights_serialize(weights, &bytes, &size), WEIGHTS_OK);
    weights_destroy(weights);
    artifact_hash(bytes, size, row.sha256);
    assert_ok(store, store_weights_put(store, &row, bytes, size));
    memcpy(experiment->a.weights, row.sha256, STORE_HASH);
    free(bytes);
}

static const char file[] =
    "{\"batch\": %u, \"lag\": 2, \"match_pairs\": 5, \"parameters\": ["
    "{\"weights\": \"store.*\", \"span\": 60, \"c_end\": 8, \"r_end\": 0.02},"
    "{\"option\": \"CutMargin\", \"min\": 20, \"max\": 120, \"c_end\": 9, \"r_end\": 0.02}]}";

/* The report that has come of it; the caller destroys it. */
static struct job *take_report(struct bench *bench)
{
    struct job *report = bench->round.reports;
    bench->round.reports = NULL;
    assert_non_null(report);
    assert_null(report->next);
    return report;
}

static struct bench *open_bench(uint64_t pairs, unsigned batch)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct job *job = job_create(JOB_CREATE);
    struct store_experiment *experiment = &job->create.experiment;
    char json[sizeof file + 8], reason[TUNING_REASON];
    bench->store = fixture_open("kroo_coordinator");
    bench->round = (struct round){.store = bench->store, .book = &bench->book};
    *experiment = fixture_experiment(bench->store);
    experiment->kind = STORE_TUNE;
    experiment->planned_pairs = bench->pairs = pairs;
    experiment->noise_ppm = 0;
    put_starting(bench->store, experiment);
    memcpy(experiment->b.weights, experiment->a.weights, STORE_HASH);
    snprintf(json, sizeof json, file, batch);
    artifact_hash(json, strlen(json), experiment->tune);
    assert_ok(bench->store, store_tune_file_put(bench->store, experiment->tune, json, strlen(json)));
    if (round_single(&bench->round, job) != STORE_OK)
        fail_msg("create: %s", job->text);
    bench->experiment = *experiment;
    job_destroy(job);
    assert_int_equal(tune_history_load(bench->store, &bench->experiment, &bench->tuning, reason), STORE_OK);
    bench->games = fixture_games(bench->experiment.id, 0, pairs);
    return bench;
}

static void close_bench(struct bench *bench)
{
    fixture_games_done(&bench->games);
    tuning_destroy(bench->tuning);
    ledger_book_done(&bench->book);
    store_close(bench->store);
    free(bench);
}

static struct job *results(const struct bench *bench, uint64_t first, uint64_t pairs)
{
    struct job *job = job_create(JOB_RESULTS);
    job->results.count = 2 * pairs;
    job->results.games = malloc(job->results.count * sizeof(struct store_game));
    job->results.outcome = calloc(job->results.count, sizeof(enum store_outcome));
    memcpy(job->results.games, bench->games.games + 2 * first,
           job->results.count * sizeof(struct store_game));
    return job;
}

static struct job *deliver(struct bench *bench, uint64_t first, uint64_t pairs)
{
    struct job *job = results(bench, first, pairs);
    if (round_commit(&bench->round, job) != STORE_OK)
        fail_msg("commit: %s", job->text);
    job_destroy(job);
    return take_report(bench);
}

static uint64_t applied(const struct bench *bench)
{
    return strtoull(
        fixture_cell_of(bench->store,
                        "select count(*) from tune_batch where won is not null and experiment_id = %" PRIu64,
                        bench->experiment.id),
        NULL, 10);
}

/* Theta after so many batches, from the games' fields alone. */
static void expected_theta(const struct bench *bench, uint64_t batches, double *theta)
{
    const struct spsa_plan *plan = &bench->tuning->plan;
    tuning_start(bench->tuning, theta);
    for (uint64_t batch = 0; batch < batches; batch++) {
        int64_t result = 0;
        for (uint64_t game = 2 * batch * plan->batch; game < 2 * (batch + 1) * plan->batch; game++)
            result += (int64_t)bench->games.games[game].a_half_points - 1;
        spsa_apply(plan, bench->tuning->parameters, bench->tuning->count, batch, result, theta);
    }
}

static struct course *course_of(const struct bench *bench)
{
    return ledger_book_find(&bench->book, bench->experiment.id)->course;
}

static void batches_are_applied_in_order_once(void **state)
{
    (void)state;
    struct bench *bench = open_bench(24, 4);
    double theta[SPSA_PARAMETERS_MAX];
    struct job *report = take_report(bench);
    assert_int_equal(tune_book_limit(report->report.players), 8);
    job_destroy(report);
    report = deliver(bench, 4, 4); /* the second batch first */
    assert_int_equal(applied(bench), 0);
    assert_int_equal(report->report.players->count, 0);
    job_destroy(report);
    job_destroy(deliver(bench, 0, 3));
    assert_int_equal(applied(bench), 0);
    report = deliver(bench, 3, 1);
    assert_int_equal(applied(bench), 2);
    assert_int_equal(report->report.players->first, 2);
    assert_int_equal(tune_book_limit(report->report.players), 16);
    job_destroy(report);
    job_destroy(deliver(bench, 0, 8)); /* again: duplicates */
    assert_int_equal(applied(bench), 2);
    expected_theta(bench, 2, theta);
    assert_memory_equal(theta, course_of(bench)->theta, bench->tuning->count * sizeof *theta);
    close_bench(bench);
}

static void a_failed_transaction_moves_nothing(void **state)
{
    (void)state;
    struct bench *bench = open_bench(24, 4);
    job_destroy(take_report(bench));
    double before[8];
    memcpy(before, course_of(bench)->theta, bench->tuning->count * sizeof *before);
    struct job *job = results(bench, 0, 4), *bad = job_create(JOB_GRANT);
    bad->grant.lease = (struct store_lease){.id = 90000 + bench->experiment.id,
                                            .experiment = bench->experiment.id,
                                            .pair_count = 1,
                                            .attempt = 1,
                                            .session = 424242};
    job->next = bad;
    assert_int_equal(round_commit(&bench->round, job), STORE_ERROR_REFUSED);
    assert_null(bench->round.reports);
    assert_int_equal(applied(bench), 0);
    assert_int_equal(course_of(bench)->applied, 0);
    assert_memory_equal(before, course_of(bench)->theta, bench->tuning->count * sizeof *before);
    assert_memory_equal(before, course_of(bench)->draft, bench->tuning->count * sizeof *before);
    job->next = NULL;
    assert_ok(bench->store, round_commit(&bench->round, job));
    job_destroy(take_report(bench));
    assert_int_equal(applied(bench), 1);
    job_destroy(job);
    job_destroy(bad);
    close_bench(bench);
}

/* chess-tuning-tools#111: what a restart reads is where it stood, and it goes on as if uninterrupted. */
static void a_restart_goes_on_where_it_stood(void **state)
{
    (void)state;
    struct bench *bench = open_bench(24, 4);
    char text[STORE_TEXT];
    double theta[8];
    job_destroy(take_report(bench));
    job_destroy(deliver(bench, 0, 11));
    memcpy(theta, course_of(bench)->theta, bench->tuning->count * sizeof *theta);
    ledger_book_done(&bench->book);
    assert_ok(bench->store, round_load(&bench->round, &bench->experiment, text));
    struct job *report = take_report(bench);
    assert_int_equal(report->report.prefix, 11);
    assert_int_equal(tune_book_limit(report->report.players), 16);
    assert_non_null(tune_book_find(report->report.players, 0));
    job_destroy(report);
    assert_int_equal(course_of(bench)->applied, 2);
    assert_memory_equal(theta, course_of(bench)->theta, bench->tuning->count * sizeof *theta);
    job_destroy(deliver(bench, 11, 13));
    expected_theta(bench, 6, theta);
    assert_memory_equal(theta, course_of(bench)->theta, bench->tuning->count * sizeof *theta);
    close_bench(bench);
}

/* fishtest#1070: a stop that comes after the end is refused; and the match is made once. */
static void the_end_makes_one_match(void **state)
{
    (void)state;
    struct bench *bench = open_bench(8, 4);
    job_destroy(take_report(bench));
    struct job *report = deliver(bench, 0, 8);
    assert_true(report->report.ended);
    uint64_t match = report->report.follow_up;
    assert_true(match > bench->experiment.id);
    job_destroy(report);
    job_destroy(deliver(bench, 0, 8));
    assert_string_equal(
        fixture_cell_of(bench->store,
                        "select count(*) from experiment where kind = 'match' and idempotency_key = "
                        "'tune-%" PRIu64 "-match' and planned_pairs = 5",
                        bench->experiment.id),
        "1");
    struct job *stop = job_create(JOB_CONTROL);
    stop->control.experiment = bench->experiment.id;
    stop->control.verb = MESSAGE_VERB_STOP;
    snprintf(stop->control.by, sizeof stop->control.by, "tester");
    round_single(&bench->round, stop);
    job_destroy(stop);
    assert_string_equal(fixture_cell_of(bench->store, "select state from experiment where id = %" PRIu64,
                                        bench->experiment.id),
                        "finished");
    close_bench(bench);
}

/* OpenBench#275: a crash says under which parameters. */
static void a_fault_has_the_parameters_of_its_batch(void **state)
{
    (void)state;
    struct bench *bench = open_bench(24, 4);
    char sql[512];
    struct store_table nothing;
    job_destroy(take_report(bench));
    snprintf(sql, sizeof sql,
             "insert into fault (experiment_id, session_id, kind, side, pair_no, leg, attempt, moves) values "
             "(%llu, 1, 'crash', 'b', 5, 0, 1, 'A')",
             (unsigned long long)bench->experiment.id);
    assert_ok(bench->store, store_query(bench->store, sql, NULL, 0, &nothing));
    store_table_done(&nothing);
    assert_string_equal(
        fixture_cell_of(bench->store,
                        "select p.options = b.options_b and p.weights_sha256 = b.weights_b and "
                        "p.options like 'CutMargin=%%' from fault_player p join fault f using (id) join "
                        "tune_batch b on b.experiment_id = f.experiment_id and b.batch_no = 1 where "
                        "f.experiment_id = %" PRIu64,
                        bench->experiment.id),
        "t");
    close_bench(bench);
}

/* fishtest#823, #1304: the history stays small, and every player of the past can be made again. */
static void thinned_history_is_as_it_was(void **state)
{
    (void)state;
    enum { PAIRS = 900, TURN = 150 };
    struct bench *bench = open_bench(PAIRS, 1);
    double theta[8], expected[8];
    char reason[TUNING_REASON];
    job_destroy(take_report(bench));
    for (uint64_t first = 0; first < PAIRS; first += TURN)
        job_destroy(deliver(bench, first, TURN));
    uint64_t kept =
        strtoull(fixture_cell_of(
                     bench->store,
                     "select count(*) from tune_batch where theta is not null and experiment_id = %" PRIu64,
                     bench->experiment.id),
                 NULL, 10);
    assert_in_range(kept, SPSA_KEEP, 2 * SPSA_KEEP + 64);
    static const uint64_t moments[] = {0, 1, 2, 77, 333, 334, 335, 600, 899, 900};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        assert_int_equal(
            tune_history_theta(bench->store, bench->experiment.id, bench->tuning, moments[i], theta, reason),
            STORE_OK);
        expected_theta(bench, moments[i], expected);
        assert_memory_equal(theta, expected, bench->tuning->count * sizeof *theta);
    }
    assert_int_equal(
        tune_history_theta(bench->store, bench->experiment.id, bench->tuning, PAIRS + 1, theta, reason),
        STORE_ERROR_REFUSED);
    struct tuning_side sides[2];
    assert_int_equal(
        tune_history_players(bench->store, bench->experiment.id, bench->tuning, 335, sides, reason),
        STORE_OK);
    void *content;
    size_t size;
    uint8_t sha256[STORE_HASH];
    assert_int_equal(tune_history_artifact(bench->store, sides[0].weights, &content, &size, reason),
                     STORE_OK);
    artifact_hash(content, size, sha256);
    assert_memory_equal(sha256, sides[0].weights, STORE_HASH);
    free(content);
    tuning_side_done(&sides[0]);
    tuning_side_done(&sides[1]);
    sha256[0] ^= 1;
    assert_int_equal(tune_history_artifact(bench->store, sha256, &content, &size, reason),
                     STORE_ERROR_REFUSED);
    close_bench(bench);
}

static int set_up(void **state)
{
    if (fixture_migrate(state) != 0)
        return -1;
    struct store *store = fixture_open("kroo_coordinator");
    struct store_session session = {
        .id = 1, .peer = "local", .name = "worker-1", .engine_build = "kroo-engine 1 test", .slots = 1};
    assert_ok(store, store_session_insert(store, &session));
    store_close(store);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_applied_in_order_once),
        cmocka_unit_test(a_failed_transaction_moves_nothing),
        cmocka_unit_test(a_restart_goes_on_where_it_stood),
        cmocka_unit_test(the_end_makes_one_match),
        cmocka_unit_test(a_fault_has_the_parameters_of_its_batch),
        cmocka_unit_test(thinned_history_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
