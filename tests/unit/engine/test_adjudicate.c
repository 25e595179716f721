/* Games that endgame tables or a resignation end: where exactly, and with what result. */
#include "engine/adjudicate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/tables_build.h"
#include "tests/unit/check.h"

enum { SEEDS = 6, PAIRS = 60 };

struct fixture {
    struct tables *tables;
    struct weights *weights;
    struct play_seats *seats;
    struct play_setup setup;
    struct play_side a, b;
    struct game *game;
    char path[64];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/kroo-test-tables.%ld", (long)getpid());
    assert_int_equal(tables_build(rules_preset(0), SEEDS, 1, f->path, NULL, NULL), TABLES_OK);
    assert_int_equal(tables_open(f->path, rules_preset(0), &f->tables), TABLES_OK);
    f->weights = weights_create_starting("site");
    f->seats = play_seats_create();
    f->game = game_create(rules_preset(0), NULL);
    f->setup = (struct play_setup){.rules = rules_preset(0), .seed = 17, .opening_plies = 6};
    f->a = (struct play_side){.weights = f->weights, .limits = {.nodes = 60}, .hash_kib = 64};
    f->b = (struct play_side){.weights = f->weights, .limits = {.nodes = 30}, .hash_kib = 64};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tables_close(f->tables);
    unlink(f->path);
    weights_destroy(f->weights);
    play_seats_destroy(f->seats);
    game_destroy(f->game);
    free(f);
    return 0;
}

static struct play_record play(struct fixture *f, uint64_t pair, unsigned leg)
{
    struct play_record record;
    assert_int_equal(play_game(f->seats, &f->setup, &f->a, &f->b, pair, leg, NULL, NULL, &record), PLAY_DONE);
    return record;
}

static void replay(struct fixture *f, uint64_t pair, unsigned leg, const struct play_record *record,
                   struct adjudicate_replay *out)
{
    uint8_t *scores = malloc(2 * record->plies);
    for (size_t ply = 0; ply < record->plies; ply++)
        bytes_put_u16(scores + 2 * ply, (uint16_t)record->scores[ply]);
    adjudicate_replay(&f->setup, pair, leg, f->game, record->moves, record->plies, scores, out);
    free(scores);
}

/* The same game as without, cut where the tables first prove its outcome. */
static void tables_end_a_game_where_they_first_prove_it(void **state)
{
    struct fixture *f = *state;
    unsigned ended = 0, agreed = 0;
    /* Players that keep what the tables prove, so that the games come to the proven ends. */
    f->a.limits = f->b.limits = (struct search_limits){.nodes = 400, .tables = f->tables};
    f->b.limits.nodes = 300;
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        f->setup.adjudication = NULL;
        struct play_record whole = play(f, pair, pair & 1);
        f->setup.adjudication = f->tables;
        struct play_record cut = play(f, pair, pair & 1);
        assert_memory_equal(whole.moves, cut.moves, cut.plies);
        game_reset(f->game, NULL);
        enum game_result found = GAME_UNFINISHED;
        for (size_t ply = 0; ply < cut.plies; ply++) {
            assert_int_equal(found, GAME_UNFINISHED);
            assert_int_equal(game_play_letter(f->game, cut.moves[ply]), GAME_OK);
            found = game_over(f->game) ? GAME_UNFINISHED : adjudicate_by_tables(f->tables, f->game);
        }
        struct adjudicate_replay again;
        replay(f, pair, pair & 1, &cut, &again);
        if (cut.reason == GAME_REASON_ADJUDICATED) {
            ended++;
            agreed += whole.result == cut.result;
            assert_int_equal(found, cut.result);
            assert_true(cut.stores[0] < 25 && cut.stores[1] < 25 &&
                        cut.stores[0] + cut.stores[1] >= 48 - SEEDS);
            assert_int_equal(again.ending.result, cut.result);
            assert_int_equal(again.ending.reason, GAME_REASON_ADJUDICATED);
            assert_int_equal(again.plies, cut.plies);
            assert_memory_equal(again.stores, cut.stores, 2);
            struct adjudicate_replay longer;
            replay(f, pair, pair & 1, &whole, &longer);
            assert_int_equal(longer.plies, cut.plies); /* played on beyond its end: seen */
        } else {
            assert_int_equal(again.ending.result, GAME_UNFINISHED);
            assert_string_equal(whole.moves, cut.moves);
        }
        play_record_done(&whole);
        play_record_done(&cut);
    }
    print_message("%u of %d games ended by tables, %u as they would have\n", ended, PAIRS, agreed);
    assert_true(ended > 5);
    assert_int_equal(agreed, ended);
}

static enum game_result at(struct fixture *f, const struct rules *rules, const char *text, const char *moves)
{
    struct position position;
    char reason[64];
    size_t played;
    assert_int_equal(position_parse(text, &position, reason, sizeof reason), 0);
    struct game *game = game_create(rules, &position);
    assert_int_equal(game_play_text(game, moves, strlen(moves), &played), GAME_OK);
    enum game_result result = game_over(game) ? GAME_UNFINISHED : adjudicate_by_tables(f->tables, game);
    game_destroy(game);
    return result;
}

/* The conditions of DESIGN 10, on its own examples. */
static void proves_what_the_theorem_proves(void **state)
{
    struct fixture *f = *state;
    const struct rules *site = rules_preset(0);
    const char *cycle = "0-0-0-0-0-1-0-0-0-0-0-1-%u-%u-S";
    char text[64];
    /* LO = -2, UP = 0 for the mover: at 23-23 open; a seed more is a lead that UP keeps... */
    snprintf(text, sizeof text, cycle, 23, 23);
    assert_int_equal(at(f, site, text, ""), GAME_UNFINISHED);
    snprintf(text, sizeof text, cycle, 24, 22); /* 2 - 2 = 0: not proven won; 2 + 0 > 0: not lost */
    assert_int_equal(at(f, site, text, ""), GAME_UNFINISHED);
    snprintf(text, sizeof text, cycle, 22, 24); /* -2 + 0 < 0 */
    assert_int_equal(at(f, site, text, ""), GAME_NORTH_WINS);
    /* +4 at 22-22: a win, until the position has stood twice since the capture. */
    const char *won = "0-2-0-0-0-0-0-0-1-0-0-1-22-22-S";
    assert_int_equal(at(f, site, won, ""), GAME_SOUTH_WINS);
    /* Too few quiet plies left: the same under a limit below what the layer needs. */
    struct rules hurried;
    char reason[64];
    assert_int_equal(rules_parse("site,quiet_limit=3", &hurried, reason, sizeof reason), 0);
    struct tables_value value = {.lo = 0};
    struct position position;
    assert_int_equal(position_parse(won, &position, reason, sizeof reason), 0);
    struct board board = board_from_position(&position);
    assert_true(tables_probe(f->tables, &board, &value));
    assert_true(value.lo == 4 && value.up == 4 && value.plies > 3);
    assert_int_equal(at(f, &hurried, won, ""), GAME_UNFINISHED);
    /* More seeds than the tables have. */
    assert_int_equal(at(f, site, "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S", ""), GAME_UNFINISHED);
}

/* Since the last capture some position has stood twice: no bracket holds. */
static void a_repeated_position_stops_it(void **state)
{
    struct fixture *f = *state;
    struct position position;
    char reason[64];
    const char letters[] = "FfAaBbCcDdEeFfAa";
    assert_int_equal(position_parse("0-0-0-0-0-1-0-0-0-0-0-1-22-24-S", &position, reason, sizeof reason), 0);
    struct game *game = game_create(rules_preset(0), &position);
    unsigned proven = 0;
    for (size_t ply = 0; ply < sizeof letters - 1; ply++) {
        bool repeated = false;
        struct game_history history = game_history(game);
        for (size_t i = 0; i < history.count; i++)
            repeated = repeated || history.occurrences[i] > 1;
        enum game_result result = adjudicate_by_tables(f->tables, game);
        assert_int_equal(repeated, ply >= 12);
        if (repeated)
            assert_int_equal(result, GAME_UNFINISHED);
        proven += result == GAME_NORTH_WINS;
        assert_int_equal(game_play_letter(game, letters[ply]), GAME_OK);
    }
    assert_true(proven > 3);
    game_destroy(game);
}

static void a_side_resigns_by_its_own_scores(void **state)
{
    struct fixture *f = *state;
    unsigned resigned = 0, played_out = 0, not_lost = 0;
    for (uint64_t pair = 0; pair < PAIRS; pair++)
        for (unsigned leg = 0; leg < 2; leg++) {
            f->setup.resign_plies = 0;
            struct play_record whole = play(f, pair, leg);
            f->setup.resign_score = 300;
            f->setup.resign_plies = 3;
            f->setup.resign_playout_ppm = 300000;
            bool plays_out = adjudicate_plays_out(&f->setup, pair, leg);
            struct play_record record = play(f, pair, leg);
            struct adjudicate_replay again;
            replay(f, pair, leg, &record, &again);
            assert_memory_equal(whole.moves, record.moves, record.plies);
            if (record.reason == GAME_REASON_RESIGN) {
                assert_false(plays_out);
                resigned++;
                size_t last = record.plies - 1;
                for (size_t back = 0; back < 3; back++)
                    assert_true(record.scores[last - 2 * back] <= -300);
                assert_int_equal(record.result, last % 2 == 0 ? GAME_NORTH_WINS : GAME_SOUTH_WINS);
                assert_int_equal(again.ending.reason, GAME_REASON_RESIGN);
                assert_int_equal(again.ending.result, record.result);
                assert_int_equal(again.plies, record.plies);
                assert_int_equal(again.resign_ply, record.plies);
                struct adjudicate_replay longer;
                replay(f, pair, leg, &whole, &longer);
                assert_int_equal(longer.plies, record.plies);
            } else {
                assert_string_equal(whole.moves, record.moves);
                assert_int_equal(again.ending.result, GAME_UNFINISHED);
                assert_true(plays_out || again.resign_ply == 0);
                if (again.resign_ply > 0) {
                    played_out++;
                    enum game_result lost = again.resign_ply % 2 == 1 ? GAME_NORTH_WINS : GAME_SOUTH_WINS;
                    not_lost += record.result != lost;
                }
            }
            play_record_done(&whole);
            play_record_done(&record);
        }
    print_message("%u resigned, %u played out, %u of them not lost\n", resigned, played_out, not_lost);
    assert_true(resigned > 20 && played_out > 5);
    f->setup.resign_plies = 0;
}

static void the_share_played_out_is_what_was_asked_for(void **state)
{
    struct fixture *f = *state;
    unsigned out = 0;
    f->setup.resign_playout_ppm = 100000;
    for (uint64_t pair = 0; pair < 10000; pair++)
        out += adjudicate_plays_out(&f->setup, pair, 0) + adjudicate_plays_out(&f->setup, pair, 1);
    assert_close(out, 2000, 5 * sqrt(20000 * 0.09) / 2000);
    f->setup.resign_playout_ppm = 0;
    assert_false(adjudicate_plays_out(&f->setup, 5, 0));
    f->setup.resign_playout_ppm = PLAY_NOISE_UNIT;
    assert_true(adjudicate_plays_out(&f->setup, 5, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_end_a_game_where_they_first_prove_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(proves_what_the_theorem_proves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_repeated_position_stops_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_side_resigns_by_its_own_scores, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_share_played_out_is_what_was_asked_for, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("adjudicate", tests, NULL, NULL);
}
