/* Rations: who keeps within them is always served; who does not is refused, then dropped, and served again
 * after. */
#include "coordinator/ration.h"

#include "tests/unit/check.h"

enum { RATE = 100 };

static int set_up(void **state)
{
    *state = ration_create(RATE);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    ration_destroy(*state);
    return 0;
}

struct count {
    unsigned verdicts[3];
    uint32_t retry_ms;
};

static struct count send_at(struct ration_table *table, uint64_t peer, int64_t now_ms, unsigned messages)
{
    struct count count = {{0}, 0};
    for (unsigned i = 0; i < messages; i++) {
        bool spent = ration_is_spent(table, peer, now_ms);
        enum ration_verdict verdict = ration_take(table, peer, now_ms, &count.retry_ms);
        assert_int_equal(spent, verdict == RATION_DROP);
        count.verdicts[verdict]++;
    }
    return count;
}

static void a_burst_is_served_refused_dropped(void **state)
{
    struct count count = send_at(*state, 7, 1000, 1000);
    assert_int_equal(count.verdicts[RATION_SERVE], 2 * RATE);
    assert_int_equal(count.verdicts[RATION_REFUSE], RATE);
    assert_int_equal(count.verdicts[RATION_DROP], 1000 - 3 * RATE);
}

static void who_waits_as_told_is_served(void **state)
{
    struct count count = send_at(*state, 7, 1000, 2 * RATE + 10);
    assert_int_equal(count.verdicts[RATION_REFUSE], 10);
    assert_true(count.retry_ms >= 100 && count.retry_ms <= 130);
    assert_int_equal(send_at(*state, 7, 1000 + count.retry_ms, 1).verdicts[RATION_SERVE], 1);
}

static void a_steady_rate_is_never_refused(void **state)
{
    for (int64_t now = 0; now < 60000; now += 10)
        assert_int_equal(send_at(*state, 7, now, 1).verdicts[RATION_SERVE], 1);
}

/* However much it sends: at most a second's worth of refusals a second, and nothing is served. */
static void steady_noise_costs_a_bounded_number_of_answers(void **state)
{
    unsigned served = 0, refused = 0;
    for (int64_t now = 1000; now < 11000; now++) {
        struct count count = send_at(*state, 7, now, 20);
        served += count.verdicts[RATION_SERVE];
        refused += count.verdicts[RATION_REFUSE];
    }
    assert_true(served <= 2 * RATE + RATE);
    assert_true(refused <= 11 * RATE);
    assert_int_equal(send_at(*state, 7, 13000, 1).verdicts[RATION_SERVE], 1);
}

static void peers_do_not_share(void **state)
{
    (void)send_at(*state, 7, 1000, 1000);
    assert_int_equal(send_at(*state, 8, 1000, 50).verdicts[RATION_SERVE], 50);
    /* One that takes another's place has a full bucket, and so has the other after: never too little. */
    assert_int_equal(send_at(*state, 7 + RATION_PLACES, 1000, 50).verdicts[RATION_SERVE], 50);
    assert_int_equal(send_at(*state, 7, 1000, 50).verdicts[RATION_SERVE], 50);
}

static void no_rate_is_no_limit(void **state)
{
    (void)state;
    struct ration_table *table = ration_create(0);
    assert_int_equal(send_at(table, 7, 1000, 100000).verdicts[RATION_SERVE], 100000);
    ration_destroy(table);
}

static void numbers_of_peers(void **state)
{
    (void)state;
    const uint8_t a[5] = {0, 1, 2, 3, 4}, b[5] = {0, 1, 2, 3, 5};
    assert_true(ration_peer(a, 5) != ration_peer(b, 5));
    assert_true(ration_peer(a, 5) == ration_peer(a, 5));
    assert_true(ration_peer(NULL, 0) != 0);
}

static void an_allowance_comes_back_by_the_minute(void **state)
{
    (void)state;
    struct allowance allowance = {0};
    unsigned taken = 0;
    for (int i = 0; i < 100; i++)
        taken += allowance_take(&allowance, 20, 60, 5000);
    assert_int_equal(taken, 20);
    assert_false(allowance_take(&allowance, 20, 60, 5900));
    assert_true(allowance_take(&allowance, 20, 60, 6100));
    for (taken = 0; allowance_take(&allowance, 20, 60, 3600000); taken++)
        ;
    assert_int_equal(taken, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_burst_is_served_refused_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_waits_as_told_is_served, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_steady_rate_is_never_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steady_noise_costs_a_bounded_number_of_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(peers_do_not_share, set_up, tear_down),
        cmocka_unit_test(no_rate_is_no_limit),
        cmocka_unit_test(numbers_of_peers),
        cmocka_unit_test(an_allowance_comes_back_by_the_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
