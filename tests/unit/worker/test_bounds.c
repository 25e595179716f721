#include "worker/bounds.h"

#include "tests/unit/check.h"

enum { USUAL_MS = 60000, SPEED = 3000000 };

static void a_move_gets_what_its_nodes_need(void **state)
{
    (void)state;
    struct play_side few = {.limits = {.nodes = 1000}}, many = {.limits = {.nodes = 1000000000}},
                     plies = {.limits = {.depth = 40}};
    assert_int_equal(bounds_move_ms(&few, USUAL_MS, SPEED), USUAL_MS);
    assert_int_equal(bounds_move_ms(&plies, USUAL_MS, SPEED), USUAL_MS);
    assert_close((double)bounds_move_ms(&many, USUAL_MS, SPEED), 20 * 1e12 / SPEED, 1);
    assert_close((double)bounds_move_ms(&many, USUAL_MS, 0), 20 * 1e12 / BOUNDS_SPEED, 1);
}

/* Before its lease lapses, whatever it is used to. */
static void what_hangs_is_found_within_a_term(void **state)
{
    (void)state;
    assert_int_equal(bounds_still_ms(60000, USUAL_MS), 45000);
    assert_int_equal(bounds_still_ms(2000, USUAL_MS), 1500);
    assert_int_equal(bounds_still_ms(0, USUAL_MS), 45000);
    assert_int_equal(bounds_still_ms(60000, 3000), 3000);
    assert_int_equal(bounds_still_ms(86400000, INT64_MAX), 64800000);
}

/* leela-zero#1509: a game of 14 hours on a slow machine. */
static void every_game_has_a_bound(void **state)
{
    (void)state;
    const struct play_side timed = {.limits = {.time_ms = 100}},
                           clocks = {.clock_ms = 10000, .increment_ms = 50},
                           nodes = {.limits = {.nodes = 3000}}, plies = {.limits = {.depth = 40}},
                           both = {.limits = {.nodes = UINT64_MAX, .time_ms = 100}},
                           most = {.limits = {.nodes = UINT64_MAX}};
    const struct {
        struct play_side sides[2];
        double ms;
    } cases[] = {
        {{timed, timed}, 2 * 102400.0},   {{clocks, timed}, 10000 + 51200 + 102400.0},
        {{nodes, nodes}, 2 * 5 * 1024.0}, {{plies, nodes}, 4294967.296 / 3 + 5 * 1024},
        {{both, both}, 2 * 102400.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_close((double)bounds_game_ms(cases[i].sides, SPEED), BOUNDS_GAME_MS + cases[i].ms, 2);
    const struct play_side endless[2] = {most, most};
    assert_true(bounds_game_ms(endless, 1) > 0 &&
                bounds_game_ms(endless, 1) < INT64_C(63) * 24 * 3600 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_move_gets_what_its_nodes_need),
        cmocka_unit_test(what_hangs_is_found_within_a_term),
        cmocka_unit_test(every_game_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
