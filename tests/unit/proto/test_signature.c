/* The positions of a signature are positions of games that go on. */
#include "proto/signature.h"

#include <string.h>

#include "engine/game.h"
#include "tests/unit/check.h"

static void positions_are_legal_and_unfinished(void **state)
{
    (void)state;
    char moves[SIGNATURE_MOVES_MAX], reason[128];
    struct rules rules;
    size_t played, longest = 0;
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    for (unsigned index = 0; index < SIGNATURE_POSITIONS; index++) {
        struct game *game = game_create(&rules, NULL);
        signature_position(index, moves);
        assert_int_equal(game_play_text(game, moves, strlen(moves), &played), GAME_OK);
        assert_int_equal(played, strlen(moves));
        assert_false(game_over(game));
        longest = played > longest ? played : longest;
        game_destroy(game);
    }
    assert_int_equal(longest, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(positions_are_legal_and_unfinished)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
