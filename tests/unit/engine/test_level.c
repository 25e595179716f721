/* The levels: found by name and number, ordered, their random moves legal, repeatable and as frequent as
 * said. */
#include "engine/level.h"

#include "tests/unit/check.h"

static struct game *new_game(void)
{
    struct rules rules;
    char reason[256];
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    struct game *game = game_create(&rules, NULL);
    assert_non_null(game);
    return game;
}

static void levels_are_found_by_name_and_number(void **state)
{
    (void)state;
    assert_ptr_equal(level_find("Apprentice"), level_at(1));
    assert_ptr_equal(level_find("apprentice"), level_find("2"));
    assert_ptr_equal(level_find("JOURNEYMAN"), level_find("5"));
    assert_ptr_equal(level_find("Master"), level_find("8"));
    assert_null(level_find(""));
    assert_null(level_find("0"));
    assert_null(level_find("10"));
    assert_null(level_find("2x"));
    assert_null(level_find("Full"));
    assert_null(level_at((size_t)level_count()));
}

static void higher_levels_think_more_and_err_less(void **state)
{
    (void)state;
    for (size_t i = 0; level_at(i); i++) {
        assert_int_equal(level_at(i)->number, i + 1);
        if (i > 0) {
            assert_true(level_at(i)->nodes > level_at(i - 1)->nodes);
            assert_true(level_at(i)->noise_ppm <= level_at(i - 1)->noise_ppm);
        }
    }
}

static void random_moves_are_legal_frequent_as_said_and_repeatable(void **state)
{
    (void)state;
    struct game *game = new_game();
    for (size_t i = 0; level_at(i); i++) {
        const struct level *level = level_at(i);
        unsigned noise = 0;
        for (uint64_t seed = 0; seed < 4000; seed++) {
            game_reset(game, NULL);
            if (seed % 2 == 1)
                assert_int_equal(game_play(game, 2), GAME_OK);
            int house = level_noise(level, game, seed), own = house - 6 * (int)(seed % 2);
            assert_int_equal(house, level_noise(level, game, seed));
            noise += house >= 0;
            assert_true(house < 0 || (own >= 0 && own < 6 && (game_legal(game) >> own & 1)));
        }
        assert_close(noise / 4000.0, level->noise_ppm / 1e6, 0.03);
    }
    game_destroy(game);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_found_by_name_and_number),
        cmocka_unit_test(higher_levels_think_more_and_err_less),
        cmocka_unit_test(random_moves_are_legal_frequent_as_said_and_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
