#include "coordinator/schedule.h"

#include <string.h>

#include "tests/unit/check.h"

enum { ANN = 101 };

struct fixture {
    struct schedule *schedule;
    struct lease_book *book;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct lease_policy policy = lease_policy_default();
    policy.leases_per_session = 1000;
    fixture.schedule = schedule_create();
    fixture.book = lease_book_create(&policy, 1);
    *state = &fixture;
    return fixture.schedule && fixture.book ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    schedule_destroy(f->schedule);
    lease_book_destroy(f->book);
    return 0;
}

static void run(struct fixture *f, uint64_t experiment, int32_t priority, uint64_t pairs)
{
    assert_int_equal(schedule_add(f->schedule, experiment, priority), 0);
    assert_int_equal(lease_experiment_add(f->book, experiment, pairs, 100000, 0), LEASE_OK);
}

static struct schedule_pick pick_for(struct fixture *f, uint64_t session, uint32_t credit, bool draining,
                                     int64_t now_ms)
{
    struct schedule_asker asker = {.session = session, .credit = credit, .tags = "avx2,os=linux"};
    return schedule_pick(f->schedule, f->book, &asker, draining, now_ms);
}

/* Picks and leases one pair; 0 when there is nothing. */
static uint64_t turn(struct fixture *f)
{
    struct schedule_pick pick = pick_for(f, ANN, 1, false, 0);
    struct lease_ask ask = {.session = ANN, .credit = 1};
    struct lease lease;
    if (pick.outcome != SCHEDULE_PICKED)
        return 0;
    assert_int_equal(lease_grant(f->book, pick.experiment, &ask, 0, &lease), LEASE_OK);
    return pick.experiment;
}

static void nothing_always_says_why_and_when(void **state)
{
    struct fixture *f = *state;
    struct schedule_pick picks[5];
    picks[0] = pick_for(f, ANN, 5, false, 0);
    assert_int_equal(picks[0].outcome, SCHEDULE_NO_WORK);
    run(f, 1, 0, 2);
    picks[1] = pick_for(f, ANN, 5, true, 0);
    assert_int_equal(picks[1].outcome, SCHEDULE_DRAINING);
    picks[2] = pick_for(f, ANN, 0, false, 0);
    assert_int_equal(picks[2].outcome, SCHEDULE_NO_CREDIT);
    assert_int_equal(turn(f), 1);
    assert_int_equal(turn(f), 1);
    picks[3] = pick_for(f, ANN, 5, false, 0);
    assert_int_equal(picks[3].outcome, SCHEDULE_ALL_OUT);
    for (int i = 0; i < 4; i++) {
        assert_true(strlen(picks[i].because) > 10);
        assert_true(picks[i].retry_ms >= 50 && picks[i].retry_ms <= 60000);
    }
    /* Close to a deadline the hint follows it. */
    int64_t deadline = lease_next_deadline(f->book);
    picks[4] = pick_for(f, ANN, 5, false, deadline - 300);
    assert_int_equal(picks[4].retry_ms, 300);
}

static void a_session_with_all_its_leases_waits(void **state)
{
    (void)state;
    struct lease_policy policy = lease_policy_default();
    struct fixture f = {schedule_create(), NULL};
    policy.leases_per_session = 1;
    f.book = lease_book_create(&policy, 1);
    run(&f, 1, 0, 100);
    assert_int_equal(turn(&f), 1);
    assert_int_equal(pick_for(&f, ANN, 5, false, 0).outcome, SCHEDULE_TOO_MANY);
    assert_int_equal(pick_for(&f, ANN + 1, 5, false, 0).outcome, SCHEDULE_PICKED);
    schedule_destroy(f.schedule);
    lease_book_destroy(f.book);
}

/* OpenBench f35961e: workers never left their test though one of higher priority was there. */
static void priority_is_strict(void **state)
{
    struct fixture *f = *state;
    run(f, 1, 0, 100);
    run(f, 2, 0, 100);
    assert_int_equal(turn(f), 1);
    run(f, 3, 5, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(turn(f), 3);
    assert_int_equal(turn(f), 2);
    assert_true(schedule_set_priority(f->schedule, 1, 9));
    for (int i = 0; i < 5; i++)
        assert_int_equal(turn(f), 1);
    lease_experiment_close(f->book, 1);
    assert_int_equal(turn(f), 2);
}

static void equals_share_evenly(void **state)
{
    struct fixture *f = *state;
    unsigned turns[5] = {0};
    for (uint64_t x = 1; x <= 3; x++)
        run(f, x, 1, 10000);
    for (int i = 0; i < 300; i++)
        turns[turn(f)]++;
    assert_true(turns[1] == 100 && turns[2] == 100 && turns[3] == 100);
    /* A newcomer shares from now on; it does not get back what it missed. */
    run(f, 4, 1, 10000);
    memset(turns, 0, sizeof turns);
    for (int i = 0; i < 400; i++)
        turns[turn(f)]++;
    for (int x = 1; x <= 4; x++)
        assert_int_equal(turns[x], 100);
    /* Dear pairs count for what they cost, beside the second that each pair out is taken to need. */
    schedule_charge(f->schedule, 1, 50000);
    memset(turns, 0, sizeof turns);
    for (int i = 0; i < 150; i++)
        turns[turn(f)]++;
    assert_int_equal(turns[1], 0);
}

/* fishtest#1611: tags are plain names, and only a worker that has all of them gets the pairs. */
static void tags_keep_others_away(void **state)
{
    struct fixture *f = *state;
    run(f, 1, 9, 100);
    assert_true(schedule_set_needs(f->schedule, 1, "avx2,gpu", false));
    struct schedule_pick pick = pick_for(f, ANN, 1, false, 0);
    assert_int_equal(pick.outcome, SCHEDULE_NO_TAGS);
    assert_non_null(strstr(pick.because, "tag gpu"));
    run(f, 2, 0, 100);
    assert_int_equal(turn(f), 2);
    assert_true(schedule_set_needs(f->schedule, 1, "avx2", false));
    assert_int_equal(turn(f), 1);
}

static void timed_play_is_for_fit_workers(void **state)
{
    struct fixture *f = *state;
    run(f, 1, 0, 100);
    assert_true(schedule_set_needs(f->schedule, 1, "", true));
    struct schedule_asker asker = {.session = ANN, .credit = 1, .tags = "", .unfit = "it is too noisy"};
    struct schedule_pick pick = schedule_pick(f->schedule, f->book, &asker, false, 0);
    assert_int_equal(pick.outcome, SCHEDULE_UNFIT);
    assert_non_null(strstr(pick.because, "too noisy"));
    asker.unfit = NULL;
    assert_int_equal(schedule_pick(f->schedule, f->book, &asker, false, 0).outcome, SCHEDULE_PICKED);
}

static void a_capped_experiment_lets_others_pass(void **state)
{
    struct fixture *f = *state;
    struct lease ended[LEASE_TWINS];
    run(f, 1, 9, 100);
    lease_experiment_terms(f->book, 1, 2, false);
    assert_int_equal(turn(f), 1);
    struct schedule_pick pick = pick_for(f, ANN, 1, false, 0);
    assert_int_equal(pick.outcome, SCHEDULE_CAPPED);
    assert_non_null(strstr(pick.because, "experiment 1 "));
    run(f, 2, 0, 100);
    assert_int_equal(turn(f), 2);
    assert_int_equal(lease_done(f->book, 1, 0, ANN, 0, ended), 1);
    assert_int_equal(turn(f), 1);
}

/* Waiting for a cap, or for workers, saves nothing up: it does not take all once it may. */
static void nobody_saves_up(void **state)
{
    struct fixture *f = *state;
    unsigned turns[3] = {0};
    run(f, 1, 0, 10000);
    run(f, 2, 0, 10000);
    lease_experiment_terms(f->book, 1, 2, false);
    for (int i = 0; i < 200; i++)
        turns[turn(f)]++;
    assert_int_equal(turns[1], 1);
    lease_experiment_terms(f->book, 1, 0, false);
    memset(turns, 0, sizeof turns);
    for (int i = 0; i < 100; i++)
        turns[turn(f)]++;
    assert_true(turns[1] >= 49 && turns[1] <= 52);
}

static void the_last_ranges_are_picked_when_nothing_else_is_left(void **state)
{
    struct fixture *f = *state;
    run(f, 1, 9, 1);
    run(f, 2, 0, 1);
    lease_experiment_terms(f->book, 1, 0, true);
    assert_int_equal(turn(f), 1);
    struct schedule_pick pick = pick_for(f, ANN + 1, 1, false, 10000);
    assert_int_equal(pick.experiment, 2);
    assert_false(pick.twin);
    assert_int_equal(turn(f), 2);
    pick = pick_for(f, ANN + 1, 1, false, 10000);
    assert_int_equal(pick.outcome, SCHEDULE_PICKED);
    assert_true(pick.twin && pick.experiment == 1);
    assert_int_equal(pick_for(f, ANN, 1, false, 10000).outcome, SCHEDULE_ALL_OUT);
}

static const char *wait_of(struct fixture *f, const struct schedule_asker *askers, size_t count,
                           uint64_t experiment)
{
    static char text[SCHEDULE_TEXT];
    struct schedule_wait waits[8];
    schedule_waits(f->schedule, f->book, askers, count, waits);
    for (size_t i = 0; i < schedule_count(f->schedule); i++) {
        assert_true(i == 0 || waits[i].experiment > waits[i - 1].experiment);
        if (waits[i].experiment == experiment)
            schedule_wait_text(&waits[i], text);
    }
    return text;
}

/* Each reason is told, and of several workers the least hindrance. */
static void an_experiment_says_why_it_waits(void **state)
{
    struct fixture *f = *state;
    struct schedule_asker askers[] = {
        {.session = ANN, .credit = 1, .tags = "avx2"},
        {.session = ANN + 1, .credit = 1, .tags = "avx2,gpu", .unfit = "it is too noisy"},
    };
    run(f, 2, 5, 2);
    run(f, 1, 0, 100);
    assert_non_null(strstr(wait_of(f, askers, 0, 1), "no worker is there"));
    assert_non_null(strstr(wait_of(f, askers, 2, 2), "its turn"));
    assert_non_null(
        strstr(wait_of(f, askers, 2, 1), "experiment 2 of priority 5 goes before its priority 0"));
    assert_int_equal(turn(f), 2);
    assert_non_null(strstr(wait_of(f, askers, 2, 2), "is played: 1 pair out"));
    assert_int_equal(turn(f), 2);
    assert_non_null(strstr(wait_of(f, askers, 2, 2), "2 pairs out, and no more"));
    assert_non_null(strstr(wait_of(f, askers, 2, 1), "its turn"));
    assert_true(schedule_set_needs(f->schedule, 1, "avx2,gpu", false));
    assert_non_null(strstr(wait_of(f, askers, 1, 1), "lacks gpu"));
    assert_non_null(strstr(wait_of(f, askers, 2, 1), "its turn"));
    assert_true(schedule_set_needs(f->schedule, 1, "gpu", true));
    assert_non_null(strstr(wait_of(f, askers, 2, 1), "no worker is fit"));
    assert_true(schedule_set_needs(f->schedule, 1, "", false));
    lease_experiment_terms(f->book, 1, 2, false);
    assert_int_equal(turn(f), 1);
    assert_non_null(strstr(wait_of(f, askers, 2, 1), "cap allows: 1 pair out"));
}

static void the_list_is_kept(void **state)
{
    struct fixture *f = *state;
    run(f, 1, 0, 10);
    run(f, 2, 0, 10);
    assert_int_equal(schedule_add(f->schedule, 1, 3), -1);
    assert_int_equal(schedule_count(f->schedule), 2);
    assert_true(schedule_remove(f->schedule, 1));
    assert_false(schedule_remove(f->schedule, 1));
    assert_false(schedule_set_priority(f->schedule, 1, 3));
    assert_int_equal(turn(f), 2);
    for (uint64_t x = 100; schedule_count(f->schedule) < SCHEDULE_EXPERIMENTS_MAX; x++)
        assert_int_equal(schedule_add(f->schedule, x, 0), 0);
    assert_int_equal(schedule_add(f->schedule, 99, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_always_says_why_and_when, set_up, tear_down),
        cmocka_unit_test(a_session_with_all_its_leases_waits),
        cmocka_unit_test_setup_teardown(priority_is_strict, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equals_share_evenly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tags_keep_others_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timed_play_is_for_fit_workers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_capped_experiment_lets_others_pass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_saves_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_ranges_are_picked_when_nothing_else_is_left, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_experiment_says_why_it_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_list_is_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
