/* What of a history joins the key of the transposition table, and from which reach on. */
#include "engine/path.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

enum { TABLE_SEEDS = 5, TABLE_PLIES = 20 };

/* Nothing is probed here: how many seeds and plies they have is all that a path asks. */
static const struct tables tables = {.seeds = TABLE_SEEDS, .plies = TABLE_PLIES};

/* The forced cycle of DESIGN section 10: each of the twelve houses once. */
static const char cycle_start[] = "0-0-0-0-0-1-0-0-0-0-0-1-23-23-S";
static const char cycle[] = "FfAaBbCcDdEe";

struct fixture {
    struct rules rules;
    struct game *game;
    struct path *path;
};

static struct fixture setup(const char *rules, const char *text)
{
    struct fixture fixture = {.path = malloc(sizeof *fixture.path)};
    struct position position;
    char reason[512];
    assert_int_equal(rules_parse(rules, &fixture.rules, reason, sizeof reason), 0);
    assert_int_equal(position_parse(text, &position, reason, sizeof reason), 0);
    fixture.game = game_create(&fixture.rules, &position);
    assert_true(fixture.game && fixture.path);
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    game_destroy(fixture->game);
    free(fixture->path);
}

static void play(struct fixture *fixture, const char *moves, size_t count)
{
    size_t played;
    assert_int_equal(game_play_text(fixture->game, moves, count, &played), GAME_OK);
}

static uint64_t context(struct fixture *fixture, const struct tables *with, int reach)
{
    path_start(fixture->path, fixture->game, with);
    return path_context(fixture->path, reach);
}

/* Behind a capture or at the start nothing can come again, so the limit alone counts. */
static void the_quiet_limit_counts_from_its_reach_on(void **state)
{
    (void)state;
    const char *inside = "0-0-2-0-0-0-0-1-0-2-0-0-21-22-S", *outside = "0-0-2-0-0-1-0-1-0-2-0-0-21-21-S";
    const struct {
        const char *position;
        const struct tables *tables;
        int from;
    } cases[] = {{inside, NULL, 100}, {inside, &tables, 100 - TABLE_PLIES}, {outside, &tables, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture = setup("site,quiet_limit=100", cases[i].position);
        for (int reach = 0; reach <= 120; reach++)
            assert_int_equal(context(&fixture, cases[i].tables, reach) != 0, reach >= cases[i].from);
        teardown(&fixture);
    }
}

/* After k plies of the cycle the first board is 12 - k plies away. A third occurrence is a whole cycle later
 * than the second; tables hold only without a second one; and once a board has stood twice, the third counts
 * always. */
static void a_board_counts_from_where_it_can_stand_again(void **state)
{
    (void)state;
    const struct {
        const char *rules;
        const struct tables *tables;
        int first; /* plies from its first occurrence on to the one that matters */
    } cases[] = {{"site", NULL, 2 * PATH_CYCLE},           {"site", &tables, PATH_CYCLE},
                 {"site,repetitions=2", NULL, PATH_CYCLE}, {"site,repetitions=2", &tables, PATH_CYCLE},
                 {"site,repetitions=0", NULL, 1000},       {"site,repetitions=0", &tables, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture = setup(cases[i].rules, cycle_start);
        for (int k = 0; k < PATH_CYCLE; k++) {
            for (int reach = 0; reach <= 40; reach++)
                assert_int_equal(context(&fixture, cases[i].tables, reach) != 0,
                                 k > 0 && reach + k >= cases[i].first);
            play(&fixture, cycle + k, 1);
        }
        bool stands_twice = fixture.rules.repetitions == 3;
        if (!game_over(fixture.game))
            assert_int_equal(context(&fixture, cases[i].tables, 0) != 0, stands_twice);
        teardown(&fixture);
    }
}

/* Different boards within reach, quiet counts near the limit or sides to move give different contexts. */
static void different_histories_have_different_contexts(void **state)
{
    (void)state;
    struct fixture fixture = setup("site", cycle_start);
    play(&fixture, cycle, 6);
    uint64_t one = context(&fixture, NULL, 18), two = context(&fixture, NULL, 19);
    assert_true(one != 0 && two != 0 && one != two);
    assert_true(one == context(&fixture, &tables, 6));
    teardown(&fixture);
    uint64_t seen[4];
    int count = 0;
    for (int side = 0; side < 2; side++)
        for (int quiet = 0; quiet < 2; quiet++) {
            fixture = setup("site,quiet_limit=6", side == 0 ? "0-0-0-0-0-1-0-0-0-0-0-1-23-23-S"
                                                            : "0-0-0-0-0-1-0-0-0-0-0-1-23-23-N");
            play(&fixture, side == 0 ? "F" : "f", (size_t)quiet);
            seen[count++] = context(&fixture, NULL, 6);
            teardown(&fixture);
        }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            assert_true(seen[i] != 0 && seen[i] != seen[j]);
}

/* Brackets hold with enough quiet plies left, and where no board has stood twice. */
static void tables_bear_where_their_theorem_holds(void **state)
{
    (void)state;
    const struct {
        const char *rules;
        int plies;
        int first, last; /* plies of the cycle after which they hold; none when first > last */
    } cases[] = {{"site,quiet_limit=20", 10, 0, 10},
                 {"site,quiet_limit=20", 21, 1, 0},
                 {"site", TABLE_PLIES, 0, 11},
                 {"site,repetitions=2", TABLE_PLIES, 0, 0},
                 {"site,repetitions=4", TABLE_PLIES, 0, 0},
                 {"site,repetitions=0", TABLE_PLIES, 0, 23},
                 {"site,repetitions=0,quiet_limit=0", TABLE_PLIES, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture = setup(cases[i].rules, cycle_start);
        for (int k = 0; k < 2 * PATH_CYCLE && !game_over(fixture.game); k++) {
            path_start(fixture.path, fixture.game, &tables);
            bool holds = path_bears_tables(fixture.path, fixture.path->top, cases[i].plies);
            if (holds != (k >= cases[i].first && k <= cases[i].last))
                fail_msg("%s, %d plies needed: %d after %d", cases[i].rules, cases[i].plies, holds, k);
            play(&fixture, cycle + k % PATH_CYCLE, 1);
        }
        teardown(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_quiet_limit_counts_from_its_reach_on),
        cmocka_unit_test(a_board_counts_from_where_it_can_stand_again),
        cmocka_unit_test(different_histories_have_different_contexts),
        cmocka_unit_test(tables_bear_where_their_theorem_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
