/* Captures by ply: counted as the rules engine plays, added as games are stored, and counted anew when they
 * change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/captures.h"
#include "coordinator/verify_captures.h"
#include "engine/game.h"
#include "engine/mix.h"
#include "tests/unit/sql/fixture.h"

enum { PLIES_MAX = 400 };

/* A random legal game; what each ply captures by the growth of the mover's store, as engine/game.h has it. */
static size_t play_random(struct game *game, uint64_t seed, char moves[PLIES_MAX], unsigned seeds[PLIES_MAX])
{
    size_t plies = 0;
    game_reset(game, NULL);
    for (; !game_over(game) && plies < PLIES_MAX; plies++) {
        struct game_history before = game_history(game);
        struct board old = before.boards[before.count - 1];
        unsigned legal = game_legal(game);
        seed = mix(seed, legal);
        uint32_t skip = mix_below(seed, (uint32_t)__builtin_popcount(legal));
        while (skip--)
            legal &= legal - 1;
        int house = __builtin_ctz(legal);
        moves[plies] = (char)((plies % 2 ? 'a' : 'A') + house);
        assert_int_equal(game_play(game, house + 6 * (int)game_position(game).side), GAME_OK);
        struct game_history after = game_history(game);
        seeds[plies] = board_captured(old, after.boards[after.count - 1]);
    }
    return plies;
}

static void counts_what_the_engine_captures(void **state)
{
    (void)state;
    static const char *const presets[] = {"site", "ghana", "slam-allowed", "slam-rest-to-opponent"};
    for (size_t preset = 0; preset < 4; preset++) {
        struct rules rules;
        struct captures captures = {0};
        char reason[STORE_TEXT], moves[PLIES_MAX];
        unsigned seeds[PLIES_MAX];
        uint32_t games_at[PLIES_MAX] = {0}, captures_at[PLIES_MAX] = {0}, seeds_at[PLIES_MAX] = {0};
        assert_int_equal(rules_parse(presets[preset], &rules, reason, sizeof reason), 0);
        struct game *game = game_create(&rules, NULL);
        size_t longest = 0, all = 0;
        for (uint64_t n = 0; n < 200; n++) {
            size_t plies = play_random(game, n, moves, seeds);
            assert_int_equal(captures_count(&captures, 7, n / 100, &rules, moves, plies), 0);
            longest = n < 100 && plies > longest ? plies : longest;
            for (size_t ply = 0; n < 100 && ply < plies; ply++) {
                games_at[ply]++;
                captures_at[ply] += seeds[ply] > 0;
                seeds_at[ply] += seeds[ply];
                all += seeds[ply];
            }
        }
        assert_int_equal(captures.count, 2);
        assert_int_equal(captures.segments[0].plies, longest);
        assert_memory_equal(captures.segments[0].games, games_at, longest * sizeof *games_at);
        assert_memory_equal(captures.segments[0].captures, captures_at, longest * sizeof *captures_at);
        assert_memory_equal(captures.segments[0].seeds, seeds_at, longest * sizeof *seeds_at);
        assert_true(all > 1000);
        game_destroy(game);
        captures_done(&captures);
    }
}

/* --- with a database --- */

static struct captures count_all(const struct fixture_games *made)
{
    struct captures captures = {0};
    struct rules rules;
    char reason[STORE_TEXT];
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    for (size_t i = 0; i < made->count; i++)
        assert_int_equal(captures_count(&captures, made->games[i].experiment,
                                        made->games[i].pair / STORE_SEGMENT_PAIRS, &rules,
                                        made->games[i].moves, made->games[i].plies),
                         0);
    return captures;
}

static void note(void *context, const char *text)
{
    snprintf(context, STORE_TEXT, "%s", text);
}

/* What `kroo verify` would say of the counted games, "" nothing. */
static const char *verified(struct store *store, uint64_t experiment, const struct captures *counted)
{
    static char said[STORE_TEXT];
    said[0] = '\0';
    assert_ok(store, verify_captures(store, experiment, counted, note, said));
    return said;
}

static void adds_what_is_stored_and_counts_anew_what_has_changed(void **state)
{
    (void)state;
    struct store *store = fixture_open(NULL);
    struct store_experiment experiment = fixture_experiment(store);
    experiment.planned_pairs = 2 * STORE_SEGMENT_PAIRS;
    uint64_t id = fixture_create(store, &experiment), segments;
    struct fixture_games made = fixture_games(id, STORE_SEGMENT_PAIRS - 20, 40);
    struct captures counted = count_all(&made);
    assert_int_equal(counted.count, 2);

    /* In two parts, as two commits add them. */
    for (size_t part = 0; part < 2; part++) {
        struct fixture_games half = {.games = made.games + part * 40, .outcome = made.outcome, .count = 40};
        fixture_put(store, &half);
        struct captures piece = count_all(&half);
        assert_int_equal(piece.count, 1);
        struct fixture_games quarter = {.games = half.games, .count = 10},
                             rest = {half.games + 10, .count = 30};
        captures_done(&piece);
        struct fixture_games pieces[] = {quarter, rest};
        for (size_t i = 0; i < 2; i++) {
            piece = count_all(&pieces[i]);
            assert_ok(store, store_captures_add(store, &piece.segments[0]));
            captures_done(&piece);
        }
    }
    assert_string_equal(verified(store, id, &counted), "");

    /* Another game in the place of one: the segment is due, and not believed until it is counted anew. */
    fixture_cell_of(store,
                    "with u as (update game set moves = 'FfE', plies = 3, scores = '\\x000000000000' where "
                    "experiment_id = %" PRIu64
                    " and pair_no = 32760 and leg = 1 returning 1) select count(*) from u",
                    id);
    assert_string_equal(fixture_cell(store, "select string_agg(segment::text, ',') from capture_due"), "0");
    assert_non_null(strstr(verified(store, id, &counted), "lacks 1 segments"));
    for (size_t i = 0; i < made.count; i++)
        if (made.games[i].pair == 32760 && made.games[i].leg == 1) {
            made.games[i].moves = "FfE";
            made.games[i].plies = 3;
        }
    captures_done(&counted);
    counted = count_all(&made);
    assert_ok(store, captures_catch_up(store, &segments));
    assert_int_equal(segments, 1);
    assert_string_equal(verified(store, id, &counted), "");
    assert_ok(store, captures_catch_up(store, &segments));
    assert_int_equal(segments, 0);

    /* Games that come while their segment is due are counted with it, once. */
    assert_ok(store, store_captures_forget(store, id, 1));
    assert_ok(store, store_captures_add(store, &counted.segments[1]));
    assert_ok(store, store_begin(store));
    assert_ok(store, captures_settle(store));
    assert_ok(store, store_commit(store));
    assert_string_equal(verified(store, id, &counted), "");

    /* A wrong number is found, whatever list it is in. */
    fixture_cell_of(
        store,
        "with u as (update capture_rollup set seeds[5] = seeds[5] + 1 where experiment_id = %" PRIu64
        " and segment = 0 returning 1) select count(*) from u",
        id);
    assert_string_equal(verified(store, id, &counted),
                        ": capture_rollup, segment 0, has other seeds at ply 5 than the games");
    captures_done(&counted);
    fixture_games_done(&made);
    store_close(store);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_the_engine_captures),
        cmocka_unit_test(adds_what_is_stored_and_counts_anew_what_has_changed),
    };
    return cmocka_run_group_tests_name("captures", tests, fixture_migrate, NULL);
}
