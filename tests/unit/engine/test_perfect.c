/* The yardstick against players that are known: the tables' own moves give everything, the worst ones
 * nothing.
 */
#include "tests/unit/engine/built.h"

#include "engine/game.h"
#include "engine/mix.h"
#include "engine/perfect.h"

enum { SITE_SEEDS = BUILT_SANITIZED ? 7 : 10, AWARI_SEEDS = 8, POSITIONS = 60 };

typedef int player(const struct tables *tables, const struct perfect_position *position, uint64_t index);

static int play_stored(const struct tables *tables, const struct perfect_position *position, uint64_t index)
{
    (void)index;
    struct board board = board_from_position(&position->position);
    struct tables_value value = {0};
    assert_true(tables_probe(tables, &board, &value));
    return value.move;
}

static int play_worst(const struct tables *tables, const struct perfect_position *position, uint64_t index)
{
    (void)tables, (void)index;
    int worst = __builtin_ctz(position->truth.legal);
    for (unsigned mask = position->truth.legal; mask != 0; mask &= mask - 1)
        if (position->truth.move_lo[__builtin_ctz(mask)] < position->truth.move_lo[worst])
            worst = __builtin_ctz(mask);
    return worst;
}

static int play_random(const struct tables *tables, const struct perfect_position *position, uint64_t index)
{
    (void)tables;
    unsigned legal = position->truth.legal;
    uint32_t skip = mix_below(mix(77, index), (uint32_t)__builtin_popcount(legal));
    for (; skip > 0; skip--)
        legal &= legal - 1;
    return __builtin_ctz(legal);
}

static struct perfect_tally measure(const struct tables *tables, player *choose)
{
    struct perfect_tally total = {0};
    for (int seeds = 4; seeds <= tables->seeds; seeds++)
        for (uint64_t i = 0; i < POSITIONS; i++) {
            struct perfect_position position;
            assert_true(perfect_draw(tables, 1, seeds, i, &position));
            struct perfect_tally one = {0};
            perfect_count(&one, &position, choose(tables, &position, i));
            perfect_add(&total, &one);
        }
    return total;
}

static void check_players(const char *rules, int seeds)
{
    struct tables *tables = built_tables(rules, seeds);
    struct perfect_tally stored = measure(tables, play_stored), random = measure(tables, play_random),
                         worst = measure(tables, play_worst);
    assert_int_equal(stored.positions, (seeds - 3) * POSITIONS);
    assert_int_equal(stored.kept, stored.positions);
    assert_int_equal(stored.outcome, stored.positions);
    assert_int_equal(stored.given, 0);
    assert_int_equal(stored.given_squares, 0);
    assert_int_equal(worst.kept, 0);
    assert_true(worst.given >= worst.positions);
    assert_true(random.kept > 0 && random.kept < random.positions);
    assert_true(random.outcome >= random.kept && random.outcome < random.positions);
    assert_true(random.given > 0 && random.given < worst.given);
    assert_close(perfect_given(&stored).error, 0, 0);
    tables_close(tables);
}

static void test_known_players(void **state)
{
    (void)state;
    check_players("site", SITE_SEEDS);
    check_players("awari", AWARI_SEEDS);
}

/* What perfect_draw promises of each position, looked at from the rules. */
static void test_positions(void **state)
{
    (void)state;
    struct tables *tables = built_tables("site", SITE_SEEDS);
    int draws = 0, wins = 0;
    for (int seeds = 4; seeds <= SITE_SEEDS; seeds++)
        for (uint64_t i = 0; i < POSITIONS; i++) {
            struct perfect_position position, again;
            assert_true(perfect_draw(tables, 9, seeds, i, &position));
            assert_true(perfect_draw(tables, 9, seeds, i, &again));
            assert_memory_equal(&position.position, &again.position, sizeof again.position);
            struct game *game = game_create(&tables->rules, &position.position);
            assert_false(game_over(game));
            assert_int_equal(game_legal(game), position.truth.legal);
            game_destroy(game);
            const uint8_t *stores = position.position.stores;
            assert_int_equal(stores[SIDE_SOUTH] - stores[SIDE_NORTH], position.difference);
            assert_int_equal(stores[SIDE_SOUTH] + stores[SIDE_NORTH], POSITION_SEEDS - seeds);
            int outcome = position.difference + position.truth.lo;
            assert_int_equal(outcome, i % 2 == 0 ? 0 : 2);
            *(outcome == 0 ? &draws : &wins) += 1;
            int best = -TABLES_BIAS;
            for (unsigned mask = position.truth.legal; mask != 0; mask &= mask - 1) {
                int house = __builtin_ctz(mask);
                assert_int_equal(position.truth.move_lo[house], position.truth.move_up[house]);
                best = position.truth.move_lo[house] > best ? position.truth.move_lo[house] : best;
            }
            assert_int_equal(best, position.truth.lo);
            assert_int_equal(position.truth.lo, position.truth.up);
        }
    assert_int_equal(draws, wins);
    struct perfect_position one, other;
    int differ = 0;
    for (uint64_t i = 0; i < POSITIONS; i++)
        differ += perfect_draw(tables, 1, SITE_SEEDS, i, &one) &&
                  perfect_draw(tables, 2, SITE_SEEDS, i, &other) &&
                  memcmp(&one.position, &other.position, sizeof one.position) != 0;
    assert_true(differ > POSITIONS / 2);
    assert_false(perfect_draw(tables, 1, 1, 0, &one)); /* one move at most */
    assert_false(perfect_draw(tables, 1, SITE_SEEDS + 1, 0, &one));
    tables_close(tables);
}

static void test_means(void **state)
{
    (void)state;
    struct perfect_tally tally = {.positions = 4, .kept = 3, .outcome = 4, .given = 2, .given_squares = 4};
    assert_close(perfect_share(tally.kept, tally.positions).mean, 0.75, 1e-12);
    assert_close(perfect_share(tally.kept, tally.positions).error, 0.21650635094610965, 1e-12);
    assert_close(perfect_given(&tally).mean, 0.5, 1e-12);
    assert_close(perfect_given(&tally).error, 0.4330127018922193, 1e-12);
    assert_close(perfect_share(0, 0).mean, 0, 0);
    assert_close(perfect_given(&(struct perfect_tally){0}).error, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_players),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
