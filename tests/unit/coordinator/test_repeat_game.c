/* Where the rule of repeated pairs holds, and which games are the same. */
#include "coordinator/repeat_game.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

static struct store_experiment match(void)
{
    struct store_experiment experiment = {.kind = STORE_MATCH, .opening_plies = 4};
    experiment.a.limits.nodes = 1000;
    experiment.b.limits.depth = 5;
    return experiment;
}

static void deterministic_players_alone(void **state)
{
    (void)state;
    struct store_experiment e = match();
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_BY_GAMES);
    e.b.limits.time_ms = 10;
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_NONE);
    e = match(), e.a.limits.clock_ms = 1000;
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_NONE);
    e = match(), e.noise_ppm = 1;
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_NONE);
    e = match(), e.kind = STORE_SELFPLAY;
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_NONE);
    e = match(), e.kind = STORE_TUNE;
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_NONE);
    e = match(), e.b.engine[0] = 7; /* a program that did not answer alike when it was added */
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_NONE);
    strcpy(e.b.signature, "0123456789abcdef");
    assert_int_equal(repeat_game_rule(&e), REPEAT_RULE_BY_GAMES);
}

static bool same(struct repeat_game *games, unsigned leg_a, const char *a, const char *result_a,
                 const char *reason_a, unsigned leg_b, const char *b, const char *result_b,
                 const char *reason_b)
{
    struct repeat_key one = repeat_game_key(games, 3, leg_a, a, result_a, reason_a),
                      other = repeat_game_key(games, 8, leg_b, b, result_b, reason_b);
    return memcmp(&one, &other, sizeof one) == 0;
}

static struct position after(struct game *game, const char *moves)
{
    size_t played;
    game_reset(game, NULL);
    assert_int_equal(game_play_text(game, moves, strlen(moves), &played), GAME_OK);
    return game_position(game);
}

enum { OPENING = 6, WAYS = 46656 };

struct way {
    struct position position;
    unsigned number;
};

/* Letters by counting in base six. */
static void write_way(unsigned number, char *moves)
{
    for (unsigned ply = 0; ply < OPENING; ply++, number /= 6)
        moves[ply] = (char)((ply % 2 ? 'a' : 'A') + (char)(number % 6));
    moves[OPENING] = '\0';
}

static int compare_positions(const void *one, const void *other)
{
    return memcmp(one, other, sizeof(struct position));
}

/* Two ways to one position, after which both sides can still play. */
static void find_transposition(struct game *game, char *one, char *other)
{
    struct way *ways = malloc(WAYS * sizeof *ways);
    size_t count = 0, at = 1, played;
    assert_non_null(ways);
    for (unsigned number = 0; number < WAYS; number++) {
        write_way(number, one);
        game_reset(game, NULL);
        if (game_play_text(game, one, OPENING, &played) == GAME_OK)
            ways[count++] = (struct way){game_position(game), number};
    }
    qsort(ways, count, sizeof *ways, compare_positions);
    while (at < count && compare_positions(&ways[at - 1], &ways[at]) != 0)
        at++;
    assert_true(at < count);
    write_way(ways[at - 1].number, one);
    write_way(ways[at].number, other);
    free(ways);
}

static void games_are_the_same_from_the_position_after_their_opening(void **state)
{
    (void)state;
    struct rules rules;
    char reason[128], one[32], other[32];
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    struct play_setup setup = {.rules = &rules, .seed = 5, .opening_plies = OPENING};
    struct repeat_game *games = repeat_game_create(&rules, &setup), *blind = repeat_game_create(&rules, NULL);
    struct game *game = game_create(&rules, NULL);
    assert_true(games && blind && game);
    find_transposition(game, one, other);
    assert_string_not_equal(one, other);
    struct position start = after(game, one), again = after(game, other);
    assert_memory_equal(&start, &again, sizeof start);
    strcat(one, "AbC"), strcat(other, "AbC");
    assert_true(same(games, 0, one, "south", "majority", 0, one, "south", "majority"));
    assert_true(same(games, 0, one, "south", "majority", 0, other, "south", "majority"));
    assert_false(same(blind, 0, one, "south", "majority", 0, other, "south", "majority"));
    /* Another leg, result, reason, move, length, or position. */
    assert_false(same(games, 0, one, "south", "majority", 1, one, "south", "majority"));
    assert_false(same(games, 0, one, "south", "majority", 0, one, "draw", "majority"));
    assert_false(same(games, 0, one, "south", "majority", 0, one, "south", "crash"));
    other[OPENING + 2] = 'D';
    assert_false(same(games, 0, one, "south", "majority", 0, other, "south", "majority"));
    other[OPENING + 2] = '\0';
    assert_false(same(games, 0, one, "south", "majority", 0, other, "south", "majority"));
    assert_false(same(games, 0, "AaBbCcAbC", "south", "majority", 0, "AaBbCdAbC", "south", "majority"));
    game_destroy(game);
    repeat_game_destroy(games);
    repeat_game_destroy(blind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deterministic_players_alone),
        cmocka_unit_test(games_are_the_same_from_the_position_after_their_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
