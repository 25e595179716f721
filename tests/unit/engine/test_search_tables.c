/* The search with endgame tables: what it claims is so, with every history and near every limit, and what is
 * won is won. The tables are built here, for boards of up to seven seeds. */
#include "engine/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/mix.h"
#include "engine/search_tree.h"
#include "engine/tables_build.h"
#include "tests/unit/check.h"

enum { SEEDS = 7 };

struct fixture {
    struct rules rules;
    struct weights *weights;
    struct tables *tables;
    struct search *with, *without;
    struct game *game;
};

static struct rules rules_of(const char *text)
{
    struct rules rules;
    char reason[512];
    if (rules_parse(text, &rules, reason, sizeof reason) != 0)
        fail_msg("%s: %s", text, reason);
    return rules;
}

static struct tables *build(const char *family)
{
    char path[] = "/tmp/kroo-test-tables.XXXXXX";
    struct rules rules = rules_of(family);
    struct tables *tables = NULL;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(tables_build(&rules, SEEDS, 1, path, NULL, NULL), TABLES_OK);
    assert_int_equal(tables_open(path, &rules, &tables), TABLES_OK);
    unlink(path);
    return tables;
}

static struct fixture setup(const char *rules, const char *family)
{
    struct fixture fixture = {.rules = rules_of(rules),
                              .tables = build(family),
                              .with = search_create(1024),
                              .without = search_create(4096)};
    fixture.weights = weights_create_starting(fixture.rules.name);
    fixture.game = game_create(&fixture.rules, NULL);
    assert_true(fixture.weights && fixture.with && fixture.without && fixture.game);
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    game_destroy(fixture->game);
    search_destroy(fixture->with);
    search_destroy(fixture->without);
    weights_destroy(fixture->weights);
    tables_close(fixture->tables);
}

static struct position endgame(uint64_t seed, int seeds)
{
    struct position position = {.side = (uint8_t)(mix(seed, 1000) & 1)};
    for (int i = 0; i < seeds; i++)
        position.houses[mix_below(mix(seed, (uint64_t)i), 12)]++;
    int south = (48 - seeds) / 2 + (int)mix_below(mix(seed, 1001), 3) - 1;
    position.stores[0] = (uint8_t)(south > 24 ? 24 : south);
    position.stores[1] = (uint8_t)(48 - seeds - position.stores[0]);
    return position;
}

static int random_house(const struct game *game, uint64_t bits)
{
    unsigned legal = game_legal(game);
    for (uint32_t skip = mix_below(bits, (uint32_t)__builtin_popcount(legal)); skip > 0; skip--)
        legal &= legal - 1;
    return __builtin_ctz(legal) + 6 * game_position(game).side;
}

static int verdict(int score)
{
    return (score > SEARCH_WIN_BOUND) - (score < -SEARCH_WIN_BOUND);
}

static struct search_info ask(const struct fixture *fixture, struct search *search, int depth)
{
    struct search_limits limits = {.depth = depth};
    struct search_info info;
    limits.full_width = search == fixture->without;
    limits.tables = search == fixture->with ? fixture->tables : NULL;
    assert_true(search_run(search, fixture->game, fixture->weights, &limits, NULL, NULL, NULL, &info) >= 0);
    return info;
}

/* Fills the table with what is so for the board as if it had just come by a capture. */
static void know_without_history(const struct fixture *fixture)
{
    struct position here = game_position(fixture->game);
    struct fixture fresh = *fixture;
    fresh.game = game_create(&fixture->rules, &here);
    for (int depth = 1; depth <= 16; depth++)
        ask(&fresh, fresh.with, depth);
    game_destroy(fresh.game);
}

/* What the tables make the search claim, at every depth up to `depth` from one table, against a full-width
 * search to `deep` from an empty one. `decides`: that search sees every game to its end. Returns whether
 * there was a claim to check. */
static bool check(const struct fixture *fixture, int depth, int deep, bool decides)
{
    know_without_history(fixture);
    search_new_game(fixture->without);
    int truth = verdict(ask(fixture, fixture->without, deep).score);
    bool claimed = false;
    for (int d = 1; d <= depth; d++) {
        int score = ask(fixture, fixture->with, d).score, claim = verdict(score);
        claimed = claimed || claim != 0;
        if (claim != 0 && claim != truth && (truth != 0 || decides))
            fail_msg("%s, %s, depth %d: %d claimed with tables; %d plies of search say %d",
                     fixture->rules.name, game_moves(fixture->game), d, score, deep, truth);
        if (truth != 0 && claim == 0 && d >= deep)
            fail_msg("%s, %s: nothing claimed, %d is so", fixture->rules.name, game_moves(fixture->game),
                     truth);
    }
    return claimed;
}

/* Random walks, so that much has stood before; one table for all of a game. */
static int check_walks(struct fixture *fixture, uint64_t games, int from, int plies, int deep, bool decides)
{
    int claims = 0;
    for (uint64_t k = 0; k < games; k++) {
        struct position start = endgame(mix(97, k), 2 + (int)(k % (SEEDS - 1)));
        game_reset(fixture->game, &start);
        search_new_game(fixture->with);
        for (int ply = 0; ply < plies && !game_over(fixture->game); ply++) {
            if (ply >= from)
                claims += check(fixture, 6, deep, decides);
            game_play(fixture->game, random_house(fixture->game, mix(mix(k, 5), (uint64_t)ply)));
        }
    }
    return claims;
}

static void claims_with_tables_are_so(void **state)
{
    (void)state;
    struct fixture fixture = setup("site", "site");
    assert_true(check_walks(&fixture, 30, 0, 40, 18, false) > 100);
    teardown(&fixture);
}

/* Within the reach of the limit the full search sees every end, and most brackets do not hold. */
static void claims_near_the_quiet_limit_are_so(void **state)
{
    (void)state;
    struct fixture fixture = setup("site,quiet_limit=16", "site");
    check_walks(&fixture, 40, 2, 16, 18, true);
    teardown(&fixture);
    fixture = setup("site,quiet_limit=7", "site");
    check_walks(&fixture, 60, 0, 24, 24, true);
    teardown(&fixture);
    fixture = setup("school,quiet_limit=16", "school");
    check_walks(&fixture, 40, 2, 16, 18, true);
    teardown(&fixture);
}

/* The tables' move at the end of a game of these moves, with what it guarantees; -1 for none. */
static int follow(struct fixture *fixture, const char *start, const char *moves, size_t plies, int32_t *low)
{
    struct position position;
    char reason[256];
    size_t played;
    assert_int_equal(position_parse(start, &position, reason, sizeof reason), 0);
    game_reset(fixture->game, &position);
    assert_int_equal(game_play_text(fixture->game, moves, plies, &played), GAME_OK);
    fixture->with->rules = &fixture->rules;
    fixture->with->tables = fixture->tables;
    path_start(&fixture->with->path, fixture->game, fixture->tables);
    return search_follow_tables(fixture->with, low);
}

/* On the forced cycle each move is the tables': the guarantee from its start outlives every bracket, though
 * no bracket holds once a board has stood twice. Begun too near the limit, there is none from anywhere. */
static void who_plays_the_tables_moves_keeps_their_guarantee(void **state)
{
    (void)state;
    const char *start = "0-0-0-0-0-1-0-0-0-0-0-1-22-24-S", *cycle = "FfAaBbCcDdEeFfAaBbCcDdEe";
    struct fixture fixture = setup("site", "site");
    int32_t low;
    for (size_t plies = 0; plies < strlen(cycle); plies++)
        assert_int_equal(follow(&fixture, start, cycle, plies, &low),
                         position_letter_house(cycle[plies]) % 6);
    teardown(&fixture);
    fixture = setup("site,quiet_limit=1000", "site");
    int needed = fixture.tables->layers[2].plies > fixture.tables->layers[2].line
                     ? fixture.tables->layers[2].plies
                     : fixture.tables->layers[2].line;
    assert_true(needed > 1);
    teardown(&fixture);
    for (int limit = needed - 1; limit <= needed; limit++) {
        char rules[32];
        snprintf(rules, sizeof rules, "site,quiet_limit=%d", limit);
        fixture = setup(rules, "site");
        assert_int_equal(follow(&fixture, start, cycle, 0, &low) >= 0, limit == needed);
        teardown(&fixture);
    }
}

/* One move that is not theirs, and the guarantee is gone where the bracket no longer holds by itself. */
static void another_move_ends_the_guarantee(void **state)
{
    (void)state;
    const char *start = "0-2-0-0-0-0-0-0-1-0-0-1-22-22-S";
    const char *moves = "BcDdEfFaAbCcDdEeFaAbBcDdEfFaAbCcDdEeFaAb";
    struct fixture fixture = setup("site", "site");
    int32_t low;
    assert_true(follow(&fixture, start, moves, 0, &low) >= 0 && low > SEARCH_WIN_BOUND);
    assert_int_equal(follow(&fixture, start, moves, strlen(moves), &low), -1);
    teardown(&fixture);
}

/* DESIGN section 10: at 22-22 the tables say a win for whoever comes to it fresh; at the end of this history
 * it is a draw, and so it is a ply or two before. */
static void a_table_win_that_the_history_spoils_is_no_win(void **state)
{
    (void)state;
    const char *cycle = "cDdEfFaAbCcDdEeFaAbBcDdEfFaAbCcDdEeFaAb";
    struct fixture fixture = setup("site", "site");
    struct position fresh;
    char reason[256];
    assert_int_equal(position_parse("0-2-0-0-0-0-0-0-1-0-0-1-22-22-S", &fresh, reason, sizeof reason), 0);
    game_reset(fixture.game, &fresh);
    assert_true(ask(&fixture, fixture.with, 2).score > SEARCH_WIN_BOUND);
    assert_int_equal(game_play_letter(fixture.game, 'B'), GAME_OK);
    struct position child = game_position(fixture.game);
    int spoilt = 0;
    for (size_t plies = 0; plies <= strlen(cycle); plies++) {
        size_t played;
        game_reset(fixture.game, &child);
        assert_int_equal(game_play_text(fixture.game, cycle, plies, &played), GAME_OK);
        check(&fixture, 8, 40, true);
        struct position here = game_position(fixture.game);
        struct fixture again = fixture;
        again.game = game_create(&fixture.rules, &here);
        bool draw = verdict(ask(&fixture, fixture.without, 40).score) == 0;
        spoilt += draw && verdict(ask(&again, again.with, 2).score) != 0;
        game_destroy(again.game);
    }
    assert_true(spoilt >= 2);
    teardown(&fixture);
}

/* Every fresh board the tables call won is won at depth 2 against an opponent that looks 9 plies ahead. */
static void what_is_won_is_won(void **state)
{
    (void)state;
    struct fixture fixture = setup("site", "site");
    int won = 0;
    for (uint64_t k = 0; k < 150; k++) {
        struct position start = endgame(mix(41, k), 3 + (int)(k % (SEEDS - 2)));
        game_reset(fixture.game, &start);
        search_new_game(fixture.with);
        search_new_game(fixture.without);
        if (game_over(fixture.game) || verdict(ask(&fixture, fixture.with, 2).score) <= 0)
            continue;
        while (!game_over(fixture.game)) {
            bool ours = game_position(fixture.game).side == start.side;
            struct search_info info = ask(&fixture, ours ? fixture.with : fixture.without, ours ? 2 : 9);
            assert_int_equal(game_play(fixture.game, info.pv[0]), GAME_OK);
        }
        enum game_result wanted = start.side == SIDE_SOUTH ? GAME_SOUTH_WINS : GAME_NORTH_WINS;
        if (game_result(fixture.game) != wanted)
            fail_msg("%s: %s", game_moves(fixture.game), game_result_text(game_result(fixture.game)));
        won++;
    }
    assert_true(won > 30);
    teardown(&fixture);
}

static void tables_of_other_rules_are_not_asked(void **state)
{
    (void)state;
    struct fixture fixture = setup("site", "school");
    for (uint64_t k = 0; k < 40; k++) {
        struct position start = endgame(mix(7, k), SEEDS);
        game_reset(fixture.game, &start);
        if (game_over(fixture.game))
            continue;
        struct search_limits limits = {.depth = 7, .tables = fixture.tables};
        struct search_info with, without;
        search_run(fixture.with, fixture.game, fixture.weights, &limits, NULL, NULL, NULL, &with);
        limits.tables = NULL;
        search_new_game(fixture.without);
        search_run(fixture.without, fixture.game, fixture.weights, &limits, NULL, NULL, NULL, &without);
        assert_int_equal(with.score, without.score);
        search_new_game(fixture.with);
    }
    teardown(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_with_tables_are_so),
        cmocka_unit_test(claims_near_the_quiet_limit_are_so),
        cmocka_unit_test(who_plays_the_tables_moves_keeps_their_guarantee),
        cmocka_unit_test(another_move_ends_the_guarantee),
        cmocka_unit_test(a_table_win_that_the_history_spoils_is_no_win),
        cmocka_unit_test(what_is_won_is_won),
        cmocka_unit_test(tables_of_other_rules_are_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
