#include "coordinator/tally.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/check.h"

enum { PAIRS = 3000, WINDOW = 4096 };
static const struct sprt_test quick = {STATISTICS_NORMALIZED, 0, 60, 0.05, 0.05, 8};

/* Player a's score in a game of the made-up match number `seed`; a is somewhat stronger. */
static unsigned score_of(uint64_t seed, uint64_t pair, unsigned leg)
{
    uint64_t dice = mix(mix(seed, pair), leg) % 100;
    return dice < 52 ? 2 : dice < 62 ? 1 : 0;
}

static struct tally *new_tally(uint64_t planned, uint64_t window, const struct sprt_test *test)
{
    struct tally *tally = tally_create(planned, window, test);
    assert_non_null(tally);
    return tally;
}

static enum tally_answer add(struct tally *tally, uint64_t seed, uint64_t pair, unsigned leg)
{
    return tally_add(tally, pair, leg, score_of(seed, pair, leg));
}

static struct tally *in_order(uint64_t seed, uint64_t pairs, const struct sprt_test *test)
{
    struct tally *tally = new_tally(pairs, WINDOW, test);
    for (uint64_t pair = 0; pair < pairs; pair++)
        for (unsigned leg = 0; leg < 2; leg++)
            assert_true(add(tally, seed, pair, leg) >= 0);
    return tally;
}

static void check_invariants(const struct tally *tally)
{
    const struct tally_totals *t = tally_totals(tally);
    const uint64_t *n = t->counts;
    assert_int_equal(t->wins, 2 * n[PAIR_WW] + n[PAIR_DW] + n[PAIR_WL]);
    assert_int_equal(t->losses, 2 * n[PAIR_LL] + n[PAIR_LD] + n[PAIR_WL]);
    assert_int_equal(t->draws, n[PAIR_LD] + n[PAIR_DW] + 2 * n[PAIR_DD]);
    assert_int_equal(t->wins + t->draws + t->losses, 2 * t->pairs);
    assert_int_equal(t->pairs, tally_prefix(tally));
}

static void only_whole_pairs_count_and_in_order(void **state)
{
    (void)state;
    struct tally *tally = new_tally(10, 10, NULL);
    assert_int_equal(tally_add(tally, 0, 0, 2), TALLY_ADDED);
    assert_int_equal(tally_prefix(tally), 0);
    assert_int_equal(tally_add(tally, 1, 1, 1), TALLY_ADDED);
    assert_int_equal(tally_add(tally, 1, 0, 1), TALLY_ADDED);
    assert_true(tally_pair_complete(tally, 1));
    assert_int_equal(tally_beyond(tally), 3);
    assert_int_equal(tally_add(tally, 0, 1, 0), TALLY_COUNTED);
    assert_int_equal(tally_prefix(tally), 2);
    assert_int_equal(tally_totals(tally)->counts[PAIR_WL], 1);
    assert_int_equal(tally_totals(tally)->counts[PAIR_DD], 1);
    assert_int_equal(tally_beyond(tally), 0);
    assert_int_equal(tally_decision(tally), TALLY_NONE);
    check_invariants(tally);
    tally_destroy(tally);
}

static void duplicates_and_strays_have_no_effect(void **state)
{
    (void)state;
    struct tally *tally = new_tally(10, 4, NULL);
    tally_add(tally, 0, 0, 2);
    tally_add(tally, 0, 1, 2);
    tally_add(tally, 2, 1, 1);
    struct tally *before = tally_clone(tally);
    assert_int_equal(tally_add(tally, 0, 0, 2), TALLY_DUPLICATE);
    assert_int_equal(tally_add(tally, 2, 1, 0), TALLY_DUPLICATE);
    assert_int_equal(tally_add(tally, 10, 0, 0), TALLY_OUT_OF_RANGE);
    assert_int_equal(tally_add(tally, UINT64_MAX, 0, 0), TALLY_OUT_OF_RANGE);
    assert_int_equal(tally_add(tally, 1, 2, 0), TALLY_OUT_OF_RANGE);
    assert_int_equal(tally_add(tally, 1, 0, 3), TALLY_OUT_OF_RANGE);
    assert_int_equal(tally_add(tally, 5, 0, 0), TALLY_BEYOND);
    assert_true(tally_equal(tally, before));
    assert_int_equal(tally_add(tally, 4, 0, 0), TALLY_ADDED);
    assert_false(tally_equal(tally, before));
    tally_destroy(before);
    tally_destroy(tally);
}

static void what_is_stored_is_counted_however_far_beyond_the_window(void **state)
{
    (void)state;
    struct tally *tally = new_tally(1000, 4, NULL);
    assert_int_equal(tally_add(tally, 700, 0, 2), TALLY_BEYOND);
    assert_int_equal(tally_reach(tally, 1000), 0);
    assert_int_equal(tally_add(tally, 1000, 0, 2), TALLY_OUT_OF_RANGE);
    assert_int_equal(tally_reach(tally, 700), 0);
    assert_int_equal(tally_hold(tally, 600), 0);
    for (uint64_t pair = 700; pair > 0; pair--)
        for (unsigned leg = 0; leg < 2; leg++)
            assert_int_equal(tally_add(tally, pair, leg, 2), TALLY_ADDED);
    assert_int_equal(tally_add(tally, 701, 0, 2), TALLY_BEYOND);
    assert_int_equal(tally_add(tally, 0, 0, 2), TALLY_ADDED);
    assert_int_equal(tally_add(tally, 0, 1, 2), TALLY_COUNTED);
    assert_int_equal(tally_prefix(tally), 600);
    assert_true(tally_settle(tally, 600, true));
    assert_int_equal(tally_prefix(tally), 701);
    assert_int_equal(tally_add(tally, 704, 0, 2), TALLY_ADDED);
    assert_int_equal(tally_add(tally, 705, 0, 2), TALLY_BEYOND);
    tally_destroy(tally);
}

static void a_plan_ends_undecided_at_its_last_pair(void **state)
{
    (void)state;
    struct tally *tally = in_order(1, 777, NULL);
    assert_int_equal(tally_decision(tally), TALLY_UNDECIDED);
    assert_int_equal(tally_decided_at(tally), 776);
    assert_int_equal(tally_prefix(tally), 777);
    assert_null(tally_sprt(tally));
    check_invariants(tally);
    tally_destroy(tally);
    /* A test that has not decided by then, the last batch incomplete: its pairs are counted, not evaluated.
     */
    struct sprt_test slow = {STATISTICS_NORMALIZED, 0, 1, 0.01, 0.01, 16};
    tally = in_order(1, 100, &slow);
    assert_int_equal(tally_decision(tally), TALLY_UNDECIDED);
    assert_int_equal(tally_prefix(tally), 100);
    assert_int_equal(tally_sprt(tally)->samples, 96);
    tally_destroy(tally);
}

static void a_verdict_falls_at_the_end_of_a_batch_and_stays(void **state)
{
    (void)state;
    struct tally *tally = in_order(2, PAIRS, &quick);
    assert_int_equal(tally_decision(tally), TALLY_ACCEPTED);
    uint64_t at = tally_decided_at(tally);
    assert_int_equal((at + 1) % quick.batch, 0);
    assert_int_equal(tally_prefix(tally), at + 1);
    assert_int_equal(tally_sprt(tally)->samples, at + 1);
    assert_int_equal(tally_beyond(tally), 2 * (PAIRS - at - 1));
    assert_int_equal(add(tally, 2, PAIRS - 1, 0), TALLY_DUPLICATE);
    check_invariants(tally);
    /* The same evaluations, straight from the test. */
    struct sprt_state sprt;
    sprt_init(&sprt, &quick, 5);
    for (uint64_t pair = 0; sprt.status == SPRT_OPEN; pair += quick.batch) {
        int64_t batch[5] = {0};
        for (uint64_t i = pair; i < pair + quick.batch; i++)
            batch[score_of(2, i, 0) + score_of(2, i, 1)]++;
        sprt_feed(&sprt, &quick, batch);
    }
    assert_memory_equal(&sprt, tally_sprt(tally), sizeof sprt);
    tally_destroy(tally);
}

static void late_results_are_kept_and_not_counted(void **state)
{
    (void)state;
    struct tally *all = in_order(2, PAIRS, &quick);
    uint64_t at = tally_decided_at(all);
    struct tally *tally = new_tally(PAIRS, WINDOW, &quick);
    for (uint64_t pair = 0; pair <= at; pair++)
        for (unsigned leg = 0; leg < 2; leg++)
            assert_true(add(tally, 2, pair, leg) != TALLY_LATE);
    assert_int_equal(tally_decision(tally), TALLY_ACCEPTED);
    struct tally_totals totals = *tally_totals(tally);
    assert_int_equal(add(tally, 2, at + 1, 0), TALLY_LATE);
    assert_int_equal(add(tally, 2, at + 1, 1), TALLY_LATE);
    assert_int_equal(add(tally, 2, at + 1, 1), TALLY_DUPLICATE);
    assert_memory_equal(&totals, tally_totals(tally), sizeof totals);
    tally_destroy(tally);
    tally_destroy(all);
}

/* Fisher and Yates over all games. */
static void shuffle(uint32_t *games, uint32_t count, uint64_t seed)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = mix_below(mix(seed, i), i), kept = games[i - 1];
        games[i - 1] = games[j];
        games[j] = kept;
    }
}

static void any_order_of_arrival_gives_the_same_tally(void **state)
{
    (void)state;
    uint32_t *games = malloc(2 * PAIRS * sizeof *games);
    assert_non_null(games);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const struct sprt_test *test = seed % 3 ? &quick : NULL;
        struct tally *expected = in_order(seed, PAIRS, test), *tally = new_tally(PAIRS, WINDOW, test);
        for (uint32_t i = 0; i < 2 * PAIRS; i++)
            games[i] = i;
        shuffle(games, 2 * PAIRS, seed);
        for (uint32_t i = 0; i < 2 * PAIRS; i++) {
            assert_true(add(tally, seed, games[i] / 2, games[i] % 2) != TALLY_DUPLICATE);
            if (i % 7 == 0)
                assert_int_equal(add(tally, seed, games[i / 2] / 2, games[i / 2] % 2), TALLY_DUPLICATE);
        }
        assert_true(tally_decision(tally) != TALLY_NONE);
        assert_true(tally_equal(tally, expected));
        check_invariants(tally);
        tally_destroy(tally);
        tally_destroy(expected);
    }
    free(games);
}

static void a_clone_is_tentative(void **state)
{
    (void)state;
    struct tally *tally = new_tally(100, 100, NULL), *kept = new_tally(100, 100, NULL);
    add(tally, 3, 5, 0);
    add(kept, 3, 5, 0);
    struct tally *next = tally_clone(tally);
    for (uint64_t pair = 0; pair < 50; pair++)
        for (unsigned leg = 0; leg < 2; leg++)
            add(next, 3, pair, leg);
    assert_true(tally_equal(tally, kept));
    assert_int_equal(tally_prefix(next), 50);
    tally_swap(tally, next);
    assert_int_equal(tally_prefix(tally), 50);
    assert_true(tally_equal(next, kept));
    tally_destroy(tally);
    tally_destroy(next);
    tally_destroy(kept);
}

static void a_held_pair_keeps_the_prefix_waiting(void **state)
{
    (void)state;
    struct tally *expected = in_order(4, 300, &quick), *tally = new_tally(300, WINDOW, &quick);
    assert_int_equal(tally_hold(tally, 17), 0);
    assert_int_equal(tally_hold(tally, 17), 0);
    for (uint64_t pair = 0; pair < 300; pair++)
        for (unsigned leg = 0; leg < 2; leg++)
            assert_true(add(tally, 4, pair, leg) >= 0);
    assert_int_equal(tally_prefix(tally), 17);
    assert_true(tally_waits_for_dispute(tally));
    assert_int_equal(tally_hold(tally, 16), -1);
    assert_int_equal(tally_hold(tally, 300), -1);
    /* Played again: forgotten, then the new rows count. */
    assert_true(tally_settle(tally, 17, false));
    assert_false(tally_settle(tally, 17, false));
    assert_false(tally_has(tally, 17, 0));
    assert_int_equal(tally_prefix(tally), 17);
    add(tally, 4, 17, 1);
    assert_int_equal(add(tally, 4, 17, 0), TALLY_COUNTED);
    assert_true(tally_prefix(tally) > 17);
    assert_true(tally_equal(tally, expected));
    tally_destroy(tally);
    /* Settled as it stands. */
    tally = new_tally(300, 300, NULL);
    assert_int_equal(tally_hold(tally, 0), 0);
    add(tally, 4, 0, 0);
    add(tally, 4, 0, 1);
    assert_int_equal(tally_prefix(tally), 0);
    assert_true(tally_settle(tally, 0, true));
    assert_int_equal(tally_prefix(tally), 1);
    tally_destroy(tally);
    tally_destroy(expected);
}

/* The window slides with the prefix, far beyond its own size. */
static void a_small_window_carries_a_long_experiment(void **state)
{
    (void)state;
    enum { LONG = 100000, SMALL = 128 };
    struct tally *tally = new_tally(LONG, SMALL, NULL), *expected = in_order(5, LONG, NULL);
    /* Blocks of the window's size, each from its end to its start. */
    for (uint64_t block = 0; block < LONG; block += SMALL)
        for (uint64_t i = SMALL; i-- > 0;)
            for (unsigned leg = 0; leg < 2 && block + i < LONG; leg++)
                assert_true(add(tally, 5, block + i, leg) >= 0);
    assert_int_equal(tally_decision(tally), TALLY_UNDECIDED);
    assert_memory_equal(tally_totals(tally), tally_totals(expected), sizeof(struct tally_totals));
    tally_destroy(tally);
    tally_destroy(expected);
}

static void bad_plans_are_refused(void **state)
{
    (void)state;
    struct sprt_test bad = quick;
    bad.elo1 = bad.elo0;
    assert_null(tally_create(0, 10, NULL));
    assert_null(tally_create(TALLY_PAIRS_MAX + 1, 10, NULL));
    assert_null(tally_create(10, 0, NULL));
    assert_null(tally_create(10, TALLY_WINDOW_MAX + 1, NULL));
    assert_null(tally_create(10, 10, &bad));
    tally_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_whole_pairs_count_and_in_order),
        cmocka_unit_test(duplicates_and_strays_have_no_effect),
        cmocka_unit_test(what_is_stored_is_counted_however_far_beyond_the_window),
        cmocka_unit_test(a_plan_ends_undecided_at_its_last_pair),
        cmocka_unit_test(a_verdict_falls_at_the_end_of_a_batch_and_stays),
        cmocka_unit_test(late_results_are_kept_and_not_counted),
        cmocka_unit_test(any_order_of_arrival_gives_the_same_tally),
        cmocka_unit_test(a_clone_is_tentative),
        cmocka_unit_test(a_held_pair_keeps_the_prefix_waiting),
        cmocka_unit_test(a_small_window_carries_a_long_experiment),
        cmocka_unit_test(bad_plans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
