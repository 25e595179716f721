/* The engine's interface for pages, natively: what it tells, what it refuses and that a refusal changes
 * nothing, the longest game. tests/web/ holds it to kroo-engine as WebAssembly. */
#include "web/engine/bridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/game.h"
#include "tests/unit/check.h"

enum { HASH_KIB = 64 };

static size_t reports;
static char last_report[4096];

void kroo_report(const char *json)
{
    reports++;
    snprintf(last_report, sizeof last_report, "%s", json);
}

static struct kroo_player *player_new(void)
{
    struct kroo_player *player = kroo_create(HASH_KIB);
    assert_non_null(player);
    return player;
}

static void assert_said(const struct kroo_player *player, const char *part)
{
    if (!strstr(kroo_answer(player), part))
        fail_msg("%.300s has not %s", kroo_answer(player), part);
}

static void a_line_is_told_ply_by_ply(void **state)
{
    (void)state;
    struct kroo_player *player = player_new();
    assert_int_equal(kroo_play(player, "site", "", "F"), 0);
    assert_said(player, "\"plies\":[[[4,4,4,4,4,4,4,4,4,4,4,4],[0,0],0,63,0,1,0],"
                        "[[4,4,4,4,4,0,5,5,5,5,4,4],[0,0],1,63,1,1,0]]");
    assert_said(player, "\"result\":\"unfinished\",\"reason\":\"\"");
    kroo_destroy(player);
}

/* The answer grows to some megabytes and no further than its bound. */
static void the_longest_game_fits(void **state)
{
    (void)state;
    static const char cycle[] = "FfAaBbCcDdEe";
    struct kroo_player *player = player_new();
    char *moves = malloc(GAME_PLIES_MAX + 2);
    assert_non_null(moves);
    for (size_t ply = 0; ply <= GAME_PLIES_MAX; ply++)
        moves[ply] = cycle[ply % 12];
    moves[GAME_PLIES_MAX] = '\0';
    const char *start = "0-0-0-0-0-1-0-0-0-0-0-1-23-23-S", *rules = "site,repetitions=0,quiet_limit=0";
    assert_int_equal(kroo_play(player, rules, start, moves), 0);
    assert_true(strlen(kroo_answer(player)) > GAME_PLIES_MAX * 40);
    moves[GAME_PLIES_MAX] = cycle[GAME_PLIES_MAX % 12];
    moves[GAME_PLIES_MAX + 1] = '\0';
    assert_int_equal(kroo_play(player, rules, start, moves), -1);
    assert_said(player, "the game is too long");
    free(moves);
    kroo_destroy(player);
}

static void what_is_refused_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *rules, *start, *moves, *says;
    } cases[] = {
        {"chess", "", "", "the rules are refused"},
        {"site,repetitions=x", "", "", "the rules are refused"},
        {"site", "1-2-3", "", "the position is refused"},
        {"site", "48-0-0-0-0-0-0-0-0-0-0-0-1-0-S", "", "the position is refused"},
        {"site", "", "FF", "move 2, 'F', is refused: it is not legal here"},
        {"site", "", "F\x01", "move 2, '?', is refused"},
        {"site", "", "F\xff", "move 2, '?', is refused"},
        {"site", "0-0-0-0-0-0-0-0-0-0-0-0-24-24-S", "A", "the game is over"},
    };
    struct kroo_player *player = player_new();
    assert_int_equal(kroo_play(player, "school", "", "Fc"), 0);
    assert_int_equal(kroo_perft(player, 1), 0);
    char before[32];
    snprintf(before, sizeof before, "%s", kroo_answer(player));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(kroo_play(player, cases[i].rules, cases[i].start, cases[i].moves), -1);
        assert_said(player, cases[i].says);
        assert_int_equal(kroo_perft(player, 1), 0);
        assert_string_equal(kroo_answer(player), before);
    }
    kroo_destroy(player);
}

static void weights_bring_their_rules(void **state)
{
    (void)state;
    struct kroo_player *player = player_new();
    static uint8_t file[1 << 16];
    FILE *stream = fopen("tests/vectors/weights/net.weights", "rb");
    assert_non_null(stream);
    size_t size = fread(file, 1, sizeof file, stream);
    fclose(stream);
    assert_int_equal(kroo_play(player, "school", "", "F"), 0);
    assert_int_equal(kroo_use_weights(player, file, size), 0);
    assert_said(player, "\"kind\":\"net\",\"rules\":\"site\"");
    assert_int_equal(kroo_play(player, "school", "", ""), -1);
    assert_said(player, "these weights were made for the rules 'site', not for 'school'");
    for (size_t cut = 0; cut < size; cut += 997)
        assert_int_equal(kroo_use_weights(player, file, cut), -1);
    file[size / 2] ^= 1;
    assert_int_equal(kroo_use_weights(player, file, size), -1);
    assert_int_equal(kroo_play(player, "site", "", ""), 0);
    assert_int_equal(kroo_use_weights(player, NULL, 0), 0);
    assert_int_equal(kroo_play(player, "school", "", ""), 0);
    kroo_destroy(player);
}

static void a_search_reports_and_answers(void **state)
{
    (void)state;
    struct kroo_player *player = player_new();
    reports = 0;
    assert_int_equal(kroo_search(player, 0, 5, 0, 6), 0);
    assert_int_equal(reports, 5 * 6);
    assert_non_null(strstr(last_report, "\"depth\":5,\"line\":5,"));
    assert_said(player, "{\"move\":\"");
    assert_int_equal(kroo_search(player, 100, 0, 0, 1), 0);
    assert_int_equal(kroo_choose(player, 2, 7), 0);
    kroo_destroy(player);
}

static void limits_that_are_none_are_refused(void **state)
{
    (void)state;
    struct kroo_player *player = player_new();
    const double none = NAN;
    assert_int_equal(kroo_search(player, 0, 0, 0, 1), -1);
    assert_int_equal(kroo_search(player, -1, 0, 0, 1), -1);
    assert_int_equal(kroo_search(player, none, 0, 0, 1), -1);
    assert_int_equal(kroo_search(player, 1e300, 0, 0, 1), -1);
    assert_int_equal(kroo_search(player, 10, -1, 0, 1), -1);
    assert_int_equal(kroo_search(player, 10, 0, 0, 0), -1);
    assert_int_equal(kroo_search(player, 10, 0, 0, 7), -1);
    assert_int_equal(kroo_choose(player, 0, 0), -1);
    assert_int_equal(kroo_choose(player, 99, 0), -1);
    assert_int_equal(kroo_choose(player, 1, none), -1);
    assert_int_equal(kroo_perft(player, 0), -1);
    assert_int_equal(kroo_perft(player, 17), -1);
    kroo_destroy(player);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_told_ply_by_ply),       cmocka_unit_test(the_longest_game_fits),
        cmocka_unit_test(what_is_refused_changes_nothing), cmocka_unit_test(weights_bring_their_rules),
        cmocka_unit_test(a_search_reports_and_answers),    cmocka_unit_test(limits_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
