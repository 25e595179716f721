#include "coordinator/pool.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/check.h"

enum { PLAYERS = 8, ROUNDS = 40, BATCH = 4, PAIRS = 10, MEETINGS = ROUNDS * BATCH };

static const bool everybody[PLAYERS] = {true, true, true, true, true, true, true, true};

static double chance(uint64_t *seed)
{
    *seed += 1;
    return (double)(mix(*seed, 1) >> 11) * 0x1p-53;
}

static struct rating_meeting play(const double *strength, size_t a, size_t b, uint64_t *seed)
{
    struct rating_meeting meeting = {.a = a, .b = b};
    double p = 1 / (1 + pow(10, (strength[b] - strength[a]) / 400));
    for (int pair = 0; pair < PAIRS; pair++)
        meeting.pairs[chance(seed) < p ? 2 : 0][chance(seed) < p ? 2 : 0]++;
    return meeting;
}

static size_t choose(const struct pool_round *round, struct pool_pairing *out)
{
    long count = pool_choose(round, out);
    assert_true(count >= 0);
    for (long i = 0; i < count; i++) {
        assert_true(out[i].a < out[i].b && out[i].b < round->players);
        assert_true(isfinite(out[i].gain) && out[i].gain > 0);
        assert_true(round->takes_part[out[i].a] && round->takes_part[out[i].b]);
        for (long j = 0; j < i; j++)
            assert_true(out[i].a != out[j].a || out[i].b != out[j].b);
    }
    return (size_t)count;
}

static void the_same_pool_makes_the_same_choices(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static const double strength[PLAYERS] = {0, 30, 80, 120, 200, 260, 400, 500};
    struct rating_meeting known[2] = {play(strength, 0, 1, &seed), play(strength, 2, 5, &seed)};
    struct pool_round round = {.seed = 9,
                               .round = 3,
                               .players = PLAYERS,
                               .takes_part = everybody,
                               .meetings = known,
                               .count = 2,
                               .pairs = PAIRS,
                               .pairings = BATCH};
    struct pool_pairing first[BATCH], again[BATCH];
    assert_int_equal(choose(&round, first), BATCH);
    assert_int_equal(choose(&round, again), BATCH);
    for (int i = 0; i < BATCH; i++)
        assert_true(first[i].a == again[i].a && first[i].b == again[i].b && first[i].gain == again[i].gain);
    /* Nothing known at all: the seed alone decides. */
    round.count = 0;
    bool differs = false;
    choose(&round, first);
    for (uint64_t other = 10; other < 20 && !differs; other++) {
        round.seed = other;
        choose(&round, again);
        differs = first[0].a != again[0].a || first[0].b != again[0].b;
    }
    assert_true(differs);
}

/* What is pending counts as played, whatever comes of it: its results are not looked at. */
static void pending_results_are_not_looked_at(void **state)
{
    (void)state;
    struct rating_meeting pending[] = {{.a = 0, .b = 1, .pairs = {{PAIRS}}}};
    struct pool_round round = {.seed = 1,
                               .round = 2,
                               .players = 3,
                               .takes_part = everybody,
                               .pending = pending,
                               .pending_count = 1,
                               .pairs = PAIRS,
                               .pairings = 1};
    struct pool_pairing chosen;
    for (unsigned k = 1; k < 30; k++) {
        round.round = k;
        assert_int_equal(choose(&round, &chosen), 1);
        assert_int_equal(chosen.b, 2); /* the third is the one that nobody knows */
    }
}

/* katago-server#56: a newcomer is met at once, and one that wins everything is not left alone. */
static void newcomers_and_winners_are_scheduled(void **state)
{
    (void)state;
    struct rating_meeting known[] = {
        {.a = 0, .b = 1, .pairs = {[0] = {[0] = 20, [2] = 20}, [2] = {[0] = 20, [2] = 20}}},
        {.a = 1, .b = 2, .pairs = {[0] = {[0] = 20, [2] = 20}, [2] = {[0] = 20, [2] = 20}}},
        {.a = 0, .b = 2, .pairs = {[0] = {[0] = 20, [2] = 20}, [2] = {[0] = 20, [2] = 20}}},
        {.a = 3, .b = 0, .pairs = {[2] = {[2] = 10}}}, /* all won */
    };
    struct pool_round round = {.seed = 1,
                               .round = 1,
                               .players = 5, /* the last has no game */
                               .takes_part = everybody,
                               .meetings = known,
                               .count = 4,
                               .pairs = PAIRS,
                               .pairings = 4};
    struct pool_pairing chosen[4];
    unsigned newcomer = 0, winner = 0;
    assert_int_equal(choose(&round, chosen), 4);
    for (int i = 0; i < 4; i++) {
        newcomer += chosen[i].b == 4;
        winner += chosen[i].a == 3 || chosen[i].b == 3;
    }
    assert_true(chosen[0].b == 4);
    assert_true(newcomer >= 1 && winner >= 1);
    round.takes_part = (const bool[]){true, true, true, true, false};
    assert_int_equal(choose(&round, chosen), 4);
    for (int i = 0; i < 4; i++)
        assert_true(chosen[i].b != 4);
    /* Only two may play, and they are one pairing. */
    round.takes_part = (const bool[]){true, false, false, true, false};
    assert_int_equal(choose(&round, chosen), 1);
    round.takes_part = (const bool[]){true, false, false, false, false};
    assert_int_equal(choose(&round, chosen), 0);
}

static double sum_of_variances(const struct rating_meeting *meetings, size_t count)
{
    struct rating_table *table;
    struct rating_options options = {.prior = 1, .fit_first_move = true};
    double sum = 0;
    assert_int_equal(rating_create(&table, PLAYERS, meetings, count, &options), 0);
    assert_int_equal(table->lists, 1);
    for (size_t i = 0; i < PLAYERS; i++)
        sum += table->player[i].sd * table->player[i].sd;
    rating_destroy(table);
    return sum;
}

/* Players far apart: the same number of games, chosen, gives smaller errors than taken in turn. */
static void choices_shorten_the_errors(void **state)
{
    (void)state;
    static const double strength[PLAYERS] = {0, 150, 300, 450, 600, 750, 900, 1050};
    struct rating_meeting chosen[MEETINGS], in_turn[MEETINGS];
    struct pool_pairing pairing[BATCH];
    uint64_t seed = 56;
    size_t count = 0, turn = 0;
    for (unsigned r = 1; r <= ROUNDS; r++) {
        struct pool_round round = {.seed = 3,
                                   .round = r,
                                   .players = PLAYERS,
                                   .takes_part = everybody,
                                   .meetings = chosen,
                                   .count = count > BATCH ? count - BATCH : 0, /* lag 2 */
                                   .pairs = PAIRS,
                                   .pairings = BATCH};
        struct rating_meeting pending[BATCH];
        for (size_t i = round.count; i < count; i++)
            pending[round.pending_count++] =
                (struct rating_meeting){.a = chosen[i].a, .b = chosen[i].b, .pairs = {{PAIRS}}};
        round.pending = pending;
        assert_int_equal(choose(&round, pairing), BATCH);
        for (int i = 0; i < BATCH; i++)
            chosen[count++] = play(strength, pairing[i].a, pairing[i].b, &seed);
    }
    for (size_t a = 0; turn < MEETINGS; a = (a + 1) % PLAYERS)
        for (size_t b = a + 1; b < PLAYERS && turn < MEETINGS; b++)
            in_turn[turn++] = play(strength, a, b, &seed);
    double best = sum_of_variances(chosen, count), usual = sum_of_variances(in_turn, turn);
    print_message("# root of the summed variances: %.1f chosen, %.1f in turn\n", sqrt(best), sqrt(usual));
    assert_true(best < 0.95 * usual);
}

static void bad_rounds_are_refused(void **state)
{
    (void)state;
    struct rating_meeting nobody = {.a = 0, .b = 3};
    struct pool_pairing out[1];
    struct pool_round round = {
        .players = 2, .takes_part = everybody, .meetings = &nobody, .count = 1, .pairs = 1, .pairings = 1};
    assert_int_equal(pool_choose(&round, out), RATING_MEETING);
    round.count = 0;
    round.pairs = NAN;
    assert_int_equal(pool_choose(&round, out), RATING_MEETING);
    round.pairs = 1;
    round.players = 0;
    assert_int_equal(pool_choose(&round, out), RATING_MEETING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_pool_makes_the_same_choices),
        cmocka_unit_test(pending_results_are_not_looked_at),
        cmocka_unit_test(newcomers_and_winners_are_scheduled),
        cmocka_unit_test(choices_shorten_the_errors),
        cmocka_unit_test(bad_rounds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
