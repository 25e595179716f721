/* Short runs of the simulated cluster (tests/fault/simulation.h); build/fault/simulate does long ones. */
#include <string.h>

#include "tests/fault/simulation.h"
#include "tests/unit/check.h"

static struct simulation_report run(uint64_t seed, uint32_t workers, bool restarts)
{
    struct simulation_plan plan = {seed, workers, restarts};
    struct simulation_report report;
    simulate(&plan, &report);
    if (report.failed)
        fail_msg("seed %llu, %u workers: %s", (unsigned long long)seed, workers, report.failure);
    return report;
}

static void add(struct simulation_report *sum, const struct simulation_report *one)
{
    sum->restarts += one->restarts;
    sum->lapses += one->lapses;
    sum->deaths += one->deaths;
    sum->hangs += one->hangs;
    sum->lost += one->lost;
    sum->repeated += one->repeated;
    sum->failures += one->failures;
    sum->rows_lost += one->rows_lost;
    sum->duplicates += one->duplicates;
    sum->late += one->late;
    sum->twins += one->twins;
    sum->disputes += one->disputes;
    sum->replaced += one->replaced;
    sum->audits += one->audits;
    sum->set_aside += one->set_aside;
}

static void lying_dropping_duplicating_workers_change_nothing(void **state)
{
    (void)state;
    struct simulation_report sum = {0};
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct simulation_report report = run(seed, seed % 8 ? 60 : 400, true);
        add(&sum, &report);
    }
    /* Nothing was spared. */
    assert_true(sum.restarts > 20 && sum.lapses > 20 && sum.deaths > 20 && sum.hangs > 20);
    assert_true(sum.lost > 1000 && sum.repeated > 1000 && sum.failures > 100 && sum.duplicates > 1000);
    assert_true(sum.late > 0 && sum.twins > 20 && sum.disputes > 20 && sum.replaced > 10);
    assert_true(sum.rows_lost > 20);
    assert_true(sum.audits > 100 && sum.set_aside > 5);
}

/* A restart reads everything anew and so would cure a pair that the book has forgotten: here it must not
 * happen. */
static void they_come_to_an_end_without_restarts_too(void **state)
{
    (void)state;
    for (uint64_t seed = 101; seed <= 116; seed++)
        assert_int_equal(run(seed, 60, false).restarts, 0);
}

static void the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    struct simulation_report one = run(7, 60, true), other = run(7, 60, true);
    assert_memory_equal(&one, &other, sizeof one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lying_dropping_duplicating_workers_change_nothing),
        cmocka_unit_test(they_come_to_an_end_without_restarts_too),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
