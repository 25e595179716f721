#include "eval/features.h"

#include <string.h>

#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

static void key_keeps_what_the_model_sees(void **state)
{
    (void)state;
    struct position position;
    char error[128];
    assert_int_equal(position_parse("1-2-3-4-5-14-0-0-1-2-3-1-5-7-N", &position, error, sizeof error), 0);
    uint64_t key = features_key(board_from_position(&position));
    assert_int_equal(features_phase(key), 0); /* 36 seeds on the board */
    assert_int_equal(features_difference(key), 2);
    static const int counts[12] = {0, 0, 1, 2, 3, 1, 1, 2, 3, 4, 5, 14};
    for (int house = 0; house < 12; house++)
        assert_int_equal(features_count(key, house), counts[house]);
    assert_int_equal(features_column(key, 11), FEATURES_COLUMNS - 1);
}

static void phases_change_at_their_borders(void **state)
{
    (void)state;
    static const struct {
        const char *position;
        int phase;
    } cases[] = {{"6-6-6-6-6-5-0-0-0-0-0-0-7-6-S", 1},   {"6-6-6-6-6-6-0-0-0-0-0-0-6-6-S", 0},
                 {"6-6-6-6-0-0-0-0-0-0-0-0-12-12-S", 1}, {"6-6-6-5-0-0-0-0-0-0-0-0-13-12-S", 2},
                 {"6-6-0-0-0-0-0-0-0-0-0-0-18-18-S", 2}, {"6-5-0-0-0-0-0-0-0-0-0-0-18-19-S", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct position position;
        char error[128];
        assert_int_equal(position_parse(cases[i].position, &position, error, sizeof error), 0);
        assert_int_equal(features_phase(features_key(board_from_position(&position))), cases[i].phase);
    }
}

/* The trainer's idea of a score is the engine's, bit by bit. */
static void score_is_the_engines(void **state)
{
    (void)state;
    struct weights_phase phases[WEIGHTS_PHASES];
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        phases[phase].bias = (int16_t)(17 * phase - 20);
        phases[phase].store = (int16_t)(190 + phase);
        for (int i = 0; i < WEIGHTS_HOUSES * WEIGHTS_COUNTS; i++)
            (&phases[phase].house[0][0])[i] = (int16_t)(mix((uint64_t)phase, (uint64_t)i) % 2001 - 1000);
    }
    struct weights *weights = NULL;
    assert_int_equal(weights_create_table("site", 1, 400, phases, "{}", &weights), WEIGHTS_OK);
    struct rules rules;
    char reason[256];
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    struct game *game = game_create(&rules, NULL);
    unsigned checked = 0;
    for (uint64_t number = 0; number < 50; number++) {
        game_reset(game, NULL);
        for (uint64_t ply = 0; ply < 200 && !game_over(game); ply++) {
            struct position position = game_position(game);
            uint64_t key = features_key(board_from_position(&position));
            assert_int_equal(features_score(key, weights), weights_evaluate(weights, &position));
            checked++;
            int house = 0;
            for (uint64_t draw = 0; !(game_legal(game) >> house & 1); draw++)
                house = (int)mix_below(mix(mix(number, ply), draw), 6);
            assert_int_equal(game_play(game, house + 6 * position.side), GAME_OK);
        }
    }
    assert_true(checked > 1000);
    game_destroy(game);
    weights_destroy(weights);
}

/* The board comes back from its key, those with houses above fifteen seeds too. */
static void boards_come_back(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (uint64_t number = 0; number < 200000; number++) {
        struct position position = {.side = SIDE_SOUTH};
        /* Seeds fall into few places in turn, so that some hold very many. */
        unsigned places = 1 + mix_below(mix(number, 1), 14);
        for (uint64_t seed = 0; seed < POSITION_SEEDS; seed++) {
            unsigned place = mix_below(mix(mix(number, 2), mix_below(mix(mix(number, 3), seed), places)), 14);
            if (place < 12)
                position.houses[place]++;
            else
                position.stores[place - 12]++;
        }
        struct board board = board_from_position(&position);
        uint64_t key = features_key(board);
        assert_true(board_equal(features_board(key), board));
        assert_int_equal(features_seeds(key), board_seeds(board));
        assert_int_equal(features_phase(key), weights_phase((int)board_seeds(board)));
        assert_int_equal(features_difference(key), position.stores[0] - position.stores[1]);
        assert_true(key >> 63 == 0);
        before += key >> 55 != 0;
    }
    assert_true(before > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_keeps_what_the_model_sees),
        cmocka_unit_test(phases_change_at_their_borders),
        cmocka_unit_test(score_is_the_engines),
        cmocka_unit_test(boards_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
