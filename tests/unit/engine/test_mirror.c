/* No seat is favoured: a game and its mirror image (the players change rows, North begins) have mirrored
 * legal moves, stores and results, for the same reason, under every preset; above all where a cycle or the
 * quiet limit ends it. */
#include <stdio.h>
#include <string.h>

#include "engine/game.h"
#include "engine/mix.h"
#include "tests/unit/check.h"

enum { GAMES = 400, REASONS = GAME_REASON_CRASH + 1 };

static struct position mirror(const struct position *position)
{
    struct position image = {.side = !position->side};
    for (int house = 0; house < 12; house++)
        image.houses[(house + 6) % 12] = position->houses[house];
    image.stores[0] = position->stores[1];
    image.stores[1] = position->stores[0];
    return image;
}

static enum game_result swap(enum game_result result)
{
    return result == GAME_SOUTH_WINS ? GAME_NORTH_WINS : result == GAME_NORTH_WINS ? GAME_SOUTH_WINS : result;
}

/* A board of a few seeds, with stores that leave the outcome open. */
static struct position endgame(uint64_t number)
{
    struct position position = {.side = SIDE_SOUTH};
    uint64_t bits = mix(0x6d6972726f72, number);
    unsigned seeds = 2 + 2 * mix_below(bits, 6);
    for (unsigned seed = 0; seed < seeds; seed++) {
        bits = mix(bits, seed);
        position.houses[mix_below(bits, 12)]++;
    }
    unsigned most = 24 - seeds / 2, left = POSITION_SEEDS - seeds;
    position.stores[0] = (uint8_t)(most - mix_below(mix(bits, 99), 2));
    position.stores[1] = (uint8_t)(left - position.stores[0]);
    return position;
}

static void assert_mirrored(const struct game *game, const struct game *image)
{
    struct position here = game_position(game), there = game_position(image);
    struct position expected = mirror(&here);
    assert_memory_equal(&there, &expected, sizeof there);
    assert_int_equal(game_legal(image), game_legal(game));
    assert_int_equal(game_result(image), swap(game_result(game)));
    assert_int_equal(game_reason(image), game_reason(game));
    assert_int_equal(game_quiet_plies(image), game_quiet_plies(game));
}

/* Random moves, but mostly the same choice each time round, so that games run into cycles. */
static int choose(uint64_t bits, unsigned legal)
{
    unsigned skip = mix_below(bits, 4) ? 0 : mix_below(mix(bits, 1), (uint32_t)__builtin_popcount(legal));
    while (skip--)
        legal &= legal - 1;
    return __builtin_ctz(legal);
}

static void play_both(const struct rules *rules, uint64_t number, unsigned reasons[REASONS])
{
    struct position start = number % 4 ? endgame(number) : position_start(), other = mirror(&start);
    struct game *game = game_create(rules, &start), *image = game_create(rules, &other);
    assert_mirrored(game, image);
    for (uint64_t ply = 0; !game_over(game) && ply < 2000; ply++) {
        int house = choose(mix(mix(number, 7), ply), game_legal(game)) + 6 * game_position(game).side;
        assert_int_equal(game_play(game, house), GAME_OK);
        assert_int_equal(game_play(image, (house + 6) % 12), GAME_OK);
        assert_mirrored(game, image);
    }
    reasons[game_reason(game)]++;
    game_destroy(game);
    game_destroy(image);
}

static void no_preset_favours_a_seat(void **state)
{
    (void)state;
    for (size_t index = 0; rules_preset(index); index++) {
        unsigned reasons[REASONS] = {0};
        for (uint64_t number = 0; number < GAMES; number++)
            play_both(rules_preset(index), number, reasons);
        if (rules_preset(index)->repetitions > 0)
            assert_true(reasons[GAME_REASON_REPETITION] >= 10);
    }
}

static void the_quiet_limit_favours_no_seat(void **state)
{
    (void)state;
    static const char *const texts[] = {"site,repetitions=0,quiet_limit=40", "school,quiet_limit=21",
                                        "ghana,repetitions=0,quiet_limit=13",
                                        "togo,repetitions=0,quiet_limit=30"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rules rules;
        char reason[256];
        unsigned reasons[REASONS] = {0};
        assert_int_equal(rules_parse(texts[i], &rules, reason, sizeof reason), 0);
        for (uint64_t number = 0; number < GAMES; number++)
            play_both(&rules, number, reasons);
        assert_true(reasons[GAME_REASON_QUIET_LIMIT] >= 10);
    }
}

/* Each side takes its own row, so who is ahead in row and store wins, whoever moved into the repetition. */
static void a_cycle_is_decided_by_stores_and_rows(void **state)
{
    (void)state;
    static const struct {
        const char *start, *cycle;
        enum game_result result;
    } cases[] = {
        {"0-0-0-0-0-1-0-0-0-0-0-1-23-23-S", "FfAaBbCcDdEe", GAME_DRAW},
        {"0-0-0-0-0-1-0-0-0-0-0-1-24-22-S", "FfAaBbCcDdEe", GAME_SOUTH_WINS},
        {"0-0-0-0-0-1-0-0-0-0-0-1-22-24-S", "FfAaBbCcDdEe", GAME_NORTH_WINS},
        {"0-0-0-0-0-1-0-0-0-0-0-1-24-22-N", "fFaAbBcCdDeE", GAME_SOUTH_WINS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct position start;
        char error[160];
        size_t played = 0;
        assert_int_equal(position_parse(cases[i].start, &start, error, sizeof error), 0);
        struct game *game = game_create(rules_preset(0), &start);
        for (int round = 0; round < 2; round++)
            assert_int_equal(game_play_text(game, cases[i].cycle, 12, &played), GAME_OK);
        assert_int_equal(game_reason(game), GAME_REASON_REPETITION);
        assert_int_equal(game_result(game), cases[i].result);
        game_destroy(game);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_preset_favours_a_seat),
        cmocka_unit_test(the_quiet_limit_favours_no_seat),
        cmocka_unit_test(a_cycle_is_decided_by_stores_and_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
