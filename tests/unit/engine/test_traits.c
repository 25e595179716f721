/* The traits against boards counted by hand, and against the rules engine on random boards. */
#include "engine/traits.h"

#include <string.h>

#include "engine/board.h"
#include "tests/unit/engine/kinds.h"

static void check(const char *text, const int16_t expected[TRAITS])
{
    struct position position;
    char reason[256];
    int16_t traits[TRAITS];
    assert_int_equal(position_parse(text, &position, reason, sizeof reason), 0);
    traits_of(board_from_position(&position), traits);
    for (int t = 0; t < TRAITS; t++)
        if (traits[t] != expected[t])
            fail_msg("%s: %s is %d, expected %d", text, traits_name((enum trait)t), traits[t], expected[t]);
}

static void boards_counted_by_hand(void **state)
{
    (void)state;
    check("4-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
          (int16_t[]){1, 0, 24, 24, 6, 6, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 12, 12});
    /* South's B takes e, E takes a, F takes a and b; North's f takes A, and its kroo laps without a capture.
     */
    check("1-9-0-1-2-2-1-2-13-0-1-1-10-5-S",
          (int16_t[]){1, 5, 15, 18, 5, 5, 3, 2, 2, 3, 2, 1, 0, 1, 3, 1, 5, 2, 1, 3, 9, 13, 10, 16});
    /* The same board seen by North: own and other change places. */
    check("1-9-0-1-2-2-1-2-13-0-1-1-10-5-N",
          (int16_t[]){1, -5, 18, 15, 5, 5, 2, 3, 3, 2, 1, 2, 1, 0, 1, 3, 2, 5, 3, 1, 13, 9, 16, 10});
    /* A grand slam captures nothing, so nothing is vulnerable to it. */
    check("0-0-0-0-0-2-1-1-0-0-0-0-22-22-S",
          (int16_t[]){1, 0, 2, 2, 1, 2, 1, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 2});
}

static void captures_are_those_of_the_rules(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct position position = kinds_position(mix(21, seed));
        struct board board = board_from_position(&position);
        int16_t traits[TRAITS];
        traits_of(board, traits);
        int captures = 0, best = 0;
        for (int house = 0; house < 6; house++) {
            if (board_house(board.own, house) == 0)
                continue;
            int gain = (int)board_captured(board, board_make_site(board, house));
            captures += gain > 0;
            best = gain > best ? gain : best;
        }
        assert_int_equal(traits[TRAIT_OWN_CAPTURES], captures);
        assert_int_equal(traits[TRAIT_OWN_BEST_CAPTURE], best);
        assert_int_equal(traits[TRAIT_OTHER_VULNERABLE] > 0, best > 0);
    }
}

static void the_view_turns_with_the_side(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct position position = kinds_position(mix(22, seed));
        struct board board = board_from_position(&position);
        int16_t traits[TRAITS], turned[TRAITS];
        traits_of(board, traits);
        traits_of(board_swap(board), turned);
        assert_int_equal(traits[TRAIT_BIAS], turned[TRAIT_BIAS]);
        assert_int_equal(traits[TRAIT_STORE_DIFFERENCE], -turned[TRAIT_STORE_DIFFERENCE]);
        for (int t = TRAIT_OWN_SEEDS; t < TRAITS; t++)
            assert_int_equal(traits[t], turned[t ^ 1]);
        for (int t = 0; t < TRAITS; t++)
            assert_true(traits[t] <= traits_largest((enum trait)t) &&
                        traits[t] >= -traits_largest((enum trait)t));
    }
}

static void names_are_unique(void **state)
{
    (void)state;
    for (int t = 0; t < TRAITS; t++)
        for (int u = 0; u < t; u++)
            assert_string_not_equal(traits_name((enum trait)t), traits_name((enum trait)u));
    assert_string_equal(traits_name(TRAIT_OWN_BEST_CAPTURE), "own_best_capture");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boards_counted_by_hand),
        cmocka_unit_test(captures_are_those_of_the_rules),
        cmocka_unit_test(the_view_turns_with_the_side),
        cmocka_unit_test(names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
