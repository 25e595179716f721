/* Pairs that repeat an earlier one, in the tally: which ones they are depends on the games in pair order
 * alone. */
#include "coordinator/tally.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/check.h"

enum { PAIRS = 1500, WINDOW = 4096 };
static const struct sprt_test quick = {STATISTICS_NORMALIZED, 0, 60, 0.05, 0.05, 8};

/* A made-up match between deterministic players: the opening says all, and `openings` of them are drawn. */
struct match {
    uint64_t seed, openings;
};

static uint64_t opening_of(const struct match *match, uint64_t pair)
{
    return mix(match->seed, pair) % match->openings;
}

static unsigned score_of(const struct match *match, uint64_t pair, unsigned leg)
{
    uint64_t dice = mix(mix(match->seed + 1, opening_of(match, pair)), leg) % 100;
    return dice < 54 ? 2 : dice < 64 ? 1 : 0;
}

static struct repeat_key key_of(const struct match *match, uint64_t pair, unsigned leg)
{
    uint64_t word = mix(mix(match->seed + 2, opening_of(match, pair)), leg);
    return (struct repeat_key){{word, mix(word, 3)}};
}

static enum tally_answer add(struct tally *tally, const struct match *match, uint64_t pair, unsigned leg)
{
    struct repeat_key key = key_of(match, pair, leg);
    return tally_add_game(tally, pair, leg, score_of(match, pair, leg), &key);
}

static struct tally *new_tally(uint64_t planned, const struct sprt_test *test)
{
    struct tally *tally = tally_create(planned, WINDOW, test);
    assert_non_null(tally);
    tally_tell_repeats(tally);
    return tally;
}

static void add_all(struct tally *tally, const struct match *match, uint64_t pairs)
{
    for (uint64_t pair = 0; pair < pairs; pair++)
        for (unsigned leg = 0; leg < 2; leg++)
            assert_true(add(tally, match, pair, leg) >= 0);
}

static struct tally *in_order(const struct match *match, uint64_t pairs, const struct sprt_test *test)
{
    struct tally *tally = new_tally(pairs, test);
    add_all(tally, match, pairs);
    return tally;
}

/* What it must come to, by the definition: one opening after the other, the first of each counts. */
static void check_by_definition(const struct tally *tally, const struct match *match)
{
    uint64_t *first = malloc(match->openings * sizeof *first), repeated = 0, prefix = tally_prefix(tally);
    struct tally_totals expected = {.pairs = prefix};
    struct sprt_state sprt;
    int64_t batch[STATISTICS_PAIR_BINS] = {0};
    assert_non_null(first);
    memset(first, 0xff, match->openings * sizeof *first);
    sprt_init(&sprt, &quick, STATISTICS_PAIR_BINS);
    for (uint64_t pair = 0; pair < prefix; pair++) {
        uint64_t opening = opening_of(match, pair);
        if (first[opening] != UINT64_MAX) {
            repeated++;
            continue;
        }
        first[opening] = pair;
        enum statistics_pair class =
            statistics_pair_class(score_of(match, pair, 0), score_of(match, pair, 1));
        expected.counts[class]++;
        for (unsigned leg = 0; leg < 2; leg++) {
            expected.wins += score_of(match, pair, leg) == 2;
            expected.draws += score_of(match, pair, leg) == 1;
            expected.losses += score_of(match, pair, leg) == 0;
        }
        batch[statistics_pair_bin(class)]++;
        if (tally_test(tally) && (pair + 1 - repeated) % quick.batch == 0) {
            sprt_feed(&sprt, &quick, batch);
            memset(batch, 0, sizeof batch);
        }
    }
    expected.repeated = repeated;
    assert_memory_equal(tally_totals(tally), &expected, sizeof expected);
    if (tally_test(tally))
        assert_memory_equal(tally_sprt(tally), &sprt, sizeof sprt);
    free(first);
}

static void the_first_of_equal_pairs_counts(void **state)
{
    (void)state;
    const struct match few = {5, 6};
    struct tally *tally = in_order(&few, 100, NULL);
    size_t count;
    const struct tally_repeat *repeats = tally_repeats(tally, &count);
    assert_int_equal(tally_prefix(tally), 100);
    assert_int_equal(tally_totals(tally)->repeated, 94);
    assert_int_equal(tally_decision(tally), TALLY_UNDECIDED);
    assert_int_equal(tally_decided_at(tally), 99);
    assert_false(tally_is_used_up(tally));
    check_by_definition(tally, &few);
    assert_int_equal(count, 94);
    for (size_t i = 0; i < count; i++) {
        assert_true(repeats[i].first < repeats[i].pair && (i == 0 || repeats[i - 1].pair < repeats[i].pair));
        assert_int_equal(opening_of(&few, repeats[i].pair), opening_of(&few, repeats[i].first));
        for (uint64_t pair = 0; pair < repeats[i].first; pair++)
            assert_int_not_equal(opening_of(&few, repeats[i].first), opening_of(&few, pair));
    }
    tally_destroy(tally);
}

static void a_leg_that_is_another_makes_the_pair_another(void **state)
{
    (void)state;
    struct tally *tally = new_tally(10, NULL);
    struct repeat_key a = {{1, 1}}, b = {{2, 2}}, c = {{3, 3}};
    tally_add_game(tally, 0, 0, 2, &a), tally_add_game(tally, 0, 1, 0, &b);
    tally_add_game(tally, 1, 0, 2, &a), tally_add_game(tally, 1, 1, 0, &c);
    tally_add_game(tally, 2, 1, 0, &b), tally_add_game(tally, 2, 0, 2, &a);
    assert_int_equal(tally_prefix(tally), 3);
    assert_int_equal(tally_totals(tally)->repeated, 1);
    /* What is not known is like nothing else. */
    for (uint64_t pair = 3; pair < 5; pair++)
        tally_add_game(tally, pair, 0, 2, &a), tally_add(tally, pair, 1, 0);
    assert_int_equal(tally_totals(tally)->repeated, 1);
    tally_destroy(tally);
}

static void without_the_rule_every_pair_counts(void **state)
{
    (void)state;
    const struct match few = {5, 6};
    struct tally *tally = tally_create(100, WINDOW, NULL);
    add_all(tally, &few, 100);
    assert_int_equal(tally_totals(tally)->repeated, 0);
    assert_int_equal(tally_totals(tally)->wins + tally_totals(tally)->draws + tally_totals(tally)->losses,
                     200);
    tally_destroy(tally);
}

static void shuffle(uint64_t *games, size_t count, uint64_t seed)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)(mix(seed, i) % i);
        uint64_t kept = games[i - 1];
        games[i - 1] = games[other];
        games[other] = kept;
    }
}

/* Games in any order of arrival, in transactions of any size, some of them thrown away and tried again, some
 * pairs held and settled by a replay: the same state as in order, bit for bit. */
static void arrive(const struct match *match, uint64_t pairs, const struct sprt_test *test, uint64_t order)
{
    struct tally *expected = in_order(match, pairs, test), *tally = new_tally(pairs, test);
    size_t count = (size_t)(2 * pairs), at = 0;
    uint64_t *games = malloc(count * sizeof *games);
    assert_non_null(games);
    for (size_t i = 0; i < count; i++)
        games[i] = i;
    shuffle(games, count, order);
    for (unsigned turn = 0; at < count; turn++) {
        size_t size = 1 + mix(order + 1, turn) % 200;
        struct tally *draft = tally_clone(tally);
        size_t end = at + size < count ? at + size : count;
        for (size_t i = at; i < end; i++)
            assert_true(add(draft, match, games[i] / 2, games[i] % 2) >= 0);
        uint64_t pair = games[end - 1] / 2;
        if (turn % 3 == 0 && tally_hold(draft, pair) == 0) {
            assert_int_equal(tally_settle(draft, pair, false), 1);
            for (unsigned leg = 0; leg < 2; leg++) /* what had come comes again */
                if (tally_has(tally, pair, leg))
                    assert_true(add(draft, match, pair, leg) >= 0);
            for (size_t i = at; i < end; i++)
                if (games[i] / 2 == pair)
                    assert_true(add(draft, match, pair, games[i] % 2) >= 0);
        }
        if (turn % 4 != 1) {
            tally_swap(tally, draft);
            at = end;
        }
        tally_destroy(draft);
    }
    assert_true(tally_equal(tally, expected));
    check_by_definition(tally, match);
    free(games);
    tally_destroy(tally);
    tally_destroy(expected);
}

static void any_order_of_arrival_gives_the_same(void **state)
{
    (void)state;
    static const uint64_t openings[] = {1, 2, 6, 36, 500, 100000};
    for (uint64_t seed = 0; seed < 6; seed++)
        for (uint64_t order = 0; order < 4; order++) {
            const struct match match = {seed, openings[seed]};
            arrive(&match, PAIRS, order % 2 ? &quick : NULL, 17 * order + seed);
        }
}

static void a_draft_that_is_thrown_away_leaves_no_trace(void **state)
{
    (void)state;
    const struct match match = {3, 40}, other = {4, 40};
    struct tally *tally = new_tally(PAIRS, NULL), *expected = new_tally(PAIRS, NULL);
    add_all(tally, &match, 10);
    for (int i = 0; i < 3; i++) {
        struct tally *draft = tally_clone(tally);
        for (uint64_t pair = 10; pair < 200; pair++)
            add(draft, &other, pair, 0), add(draft, &other, pair, 1);
        tally_destroy(draft);
    }
    /* Two drafts that go on side by side do not see each other. */
    struct tally *one = tally_clone(tally), *two = tally_clone(tally);
    for (uint64_t pair = 10; pair < 200; pair++)
        for (unsigned leg = 0; leg < 2; leg++)
            add(one, &other, pair, leg), add(two, &match, pair, leg);
    add_all(expected, &match, 200);
    assert_true(tally_equal(two, expected));
    assert_false(tally_equal(one, expected));
    for (uint64_t pair = 10; pair < 200; pair++)
        add(tally, &match, pair, 0), add(tally, &match, pair, 1);
    assert_true(tally_equal(tally, expected));
    tally_destroy(one);
    tally_destroy(two);
    tally_destroy(tally);
    tally_destroy(expected);
}

static void openings_that_are_used_up_end_a_test_undecided(void **state)
{
    (void)state;
    const struct sprt_test slow = {STATISTICS_NORMALIZED, 0, 1, 0.01, 0.01, 8};
    const struct match few = {5, 6}, many = {5, 36};
    const struct match *const matches[] = {&few, &many};
    for (int i = 0; i < 2; i++) {
        struct tally *tally = in_order(matches[i], 4000, &slow);
        uint64_t distinct = matches[i]->openings, run = 256 + 16 * distinct;
        assert_int_equal(tally_decision(tally), TALLY_UNDECIDED);
        assert_true(tally_is_used_up(tally));
        assert_int_equal(tally_run(tally), run);
        assert_int_equal(tally_totals(tally)->pairs - tally_totals(tally)->repeated, distinct);
        assert_int_equal(tally_decided_at(tally) + 1, tally_prefix(tally));
        uint64_t last_new = tally_prefix(tally) - run - 1;
        for (uint64_t pair = 0; pair < last_new; pair++)
            assert_int_not_equal(opening_of(matches[i], pair), opening_of(matches[i], last_new));
        tally_destroy(tally);
    }
    assert_int_equal(repeat_limit(0), 256);
    assert_int_equal(repeat_limit(1000), 16256);
    assert_int_equal(repeat_limit(1008), 16384);
    assert_int_equal(repeat_limit(UINT64_MAX), 16384);
}

/* A held pair that is not the first any more: its repeat counts. */
static void a_settled_dispute_may_make_another_pair_the_first(void **state)
{
    (void)state;
    struct tally *tally = new_tally(10, NULL);
    struct repeat_key a = {{1, 1}}, b = {{2, 2}}, c = {{3, 3}};
    assert_int_equal(tally_hold(tally, 0), 0);
    for (uint64_t pair = 0; pair < 3; pair++)
        tally_add_game(tally, pair, 0, 2, &a), tally_add_game(tally, pair, 1, 0, &b);
    assert_int_equal(tally_prefix(tally), 0);
    assert_int_equal(tally_settle(tally, 0, false), 1);
    tally_add_game(tally, 0, 0, 2, &a), tally_add_game(tally, 0, 1, 0, &c);
    assert_int_equal(tally_prefix(tally), 3);
    size_t count;
    const struct tally_repeat *repeats = tally_repeats(tally, &count);
    assert_int_equal(count, 1);
    assert_int_equal(repeats[0].pair, 2);
    assert_int_equal(repeats[0].first, 1);
    tally_destroy(tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_equal_pairs_counts),
        cmocka_unit_test(a_leg_that_is_another_makes_the_pair_another),
        cmocka_unit_test(without_the_rule_every_pair_counts),
        cmocka_unit_test(any_order_of_arrival_gives_the_same),
        cmocka_unit_test(a_draft_that_is_thrown_away_leaves_no_trace),
        cmocka_unit_test(openings_that_are_used_up_end_a_test_undecided),
        cmocka_unit_test(a_settled_dispute_may_make_another_pair_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
