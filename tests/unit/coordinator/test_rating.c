#include "coordinator/rating.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/coordinator/vectors.h"

/* Ordo's scale at its default -z 202, against 400 / ln 10 * ln(p / (1 - p)). */
#define ORDO_SCALE (200.2383 / 202)

enum { PLAYERS = 16, MEETINGS = 64 };

static size_t number_of(const json_t *players, const char *name)
{
    size_t i;
    const json_t *player;
    json_array_foreach(players, i, player)
    {
        if (strcmp(json_string_value(player), name) == 0)
            return i;
    }
    fail_msg("no player %s", name);
    return 0;
}

static size_t read_case(const json_t *root, struct rating_meeting *meetings)
{
    const json_t *players = json_object_get(root, "players"), *row;
    size_t i;
    memset(meetings, 0, MEETINGS * sizeof *meetings);
    json_array_foreach(json_object_get(root, "games"), i, row)
    {
        assert_true(i < MEETINGS);
        meetings[i].a = number_of(players, json_string_value(json_object_get(row, "first")));
        meetings[i].b = number_of(players, json_string_value(json_object_get(row, "second")));
        meetings[i].games[0][2] = vectors_number(row, "first_wins");
        meetings[i].games[0][1] = vectors_number(row, "draws");
        meetings[i].games[0][0] = vectors_number(row, "second_wins");
    }
    return i;
}

static struct rating_table *rate(const json_t *root, const struct rating_options *options)
{
    struct rating_meeting meetings[MEETINGS];
    struct rating_table *table = NULL;
    size_t count = read_case(root, meetings);
    assert_int_equal(
        rating_create(&table, json_array_size(json_object_get(root, "players")), meetings, count, options),
        0);
    return table;
}

/* Every figure of a table is a number. */
static void assert_finite(const struct rating_table *table)
{
    for (size_t i = 0; i < table->players; i++) {
        assert_true(isfinite(table->player[i].rating) && isfinite(table->player[i].sd));
        for (size_t j = 0; j < table->players; j++) {
            double likelihood = 0.5;
            assert_true(isfinite(rating_difference_sd(table, i, j)));
            rating_superiority(table, i, j, &likelihood);
            assert_true(likelihood >= 0 && likelihood <= 1);
        }
    }
    for (size_t i = 0; i < table->gaps; i++)
        assert_true(isfinite(table->gap[i].at_least));
    assert_true(isfinite(table->first_move) && isfinite(table->first_move_sd));
}

/* Two tables hang together by a handful of games, and there the oracle's second derivatives are short by this
 * share: the sandwich of x12, worked out by hand, is 151.1248 where it has 151.1031. */
static double oracle_slack(const json_t *root)
{
    const char *id = json_string_value(json_object_get(root, "id"));
    return strcmp(id, "x12") == 0 ? 2e-4 : strcmp(id, "x20") == 0 ? 2e-3 : 0;
}

static unsigned check_oracle(const json_t *root)
{
    const json_t *row;
    size_t k;
    unsigned checked = 0;
    json_array_foreach(json_object_get(root, "oracle"), k, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "model")), "bt_half") != 0)
            continue;
        bool fitted = json_is_true(json_object_get(row, "advantage_fitted"));
        struct rating_table *table = rate(root, &(struct rating_options){.fit_first_move = fitted});
        assert_finite(table);
        assert_int_equal(table->lists, 1);
        assert_int_equal(table->has_first_move, fitted);
        for (size_t i = 0; i < table->players; i++) {
            if (fabs(table->player[i].rating - vectors_item(json_object_get(row, "elo"), i)) > 1e-3)
                fail_msg("rating %zu: %.6f", i, table->player[i].rating);
            double sd = vectors_item(json_object_get(row, "sd_sandwich"), i);
            if (fabs(table->player[i].sd - sd) > 1e-3 + sd * oracle_slack(root))
                fail_msg("sd %zu: %.6f, expected %.6f", i, table->player[i].sd, sd);
        }
        if (fitted && fabs(table->first_move - vectors_number(row, "advantage")) > 1e-3)
            fail_msg("first move: %.6f", table->first_move);
        rating_destroy(table);
        checked++;
    }
    return checked;
}

/* What Ordo computed without simulation of errors: with its scale, with the first move where -W is given and
 * the anchor of -A. Groups that it forced together (-G) are compared by their inner differences. */
static unsigned check_ordo(const json_t *root)
{
    const json_t *run, *row, *players = json_object_get(root, "players");
    size_t k, i;
    unsigned checked = 0;
    json_array_foreach(json_object_get(root, "ordo"), k, run)
    {
        const char *text = json_string_value(json_object_get(run, "options"));
        const char *anchor = strstr(text, "-A ");
        /* -M is another, coarser way to the same maximum; -D fits draws beside it. */
        if (json_integer_value(json_object_get(run, "exit_code")) != 0 || strstr(text, "-M") ||
            strstr(text, "-G"))
            continue;
        struct rating_options options = {.fit_first_move = strstr(text, "-W") != NULL};
        char name[32] = "";
        if (anchor) {
            sscanf(anchor, "-A %31s", name);
            options.has_anchor = true;
            options.anchor = number_of(players, name);
        }
        struct rating_table *table = rate(root, &options);
        double scale = strstr(text, "-z 200.2383") ? 1 : ORDO_SCALE, base = anchor ? 1500 : 0;
        json_array_foreach(json_object_get(run, "ratings"), i, row)
        {
            size_t player = number_of(players, json_string_value(json_object_get(row, "player")));
            double expected = (vectors_number(row, "rating") - base) * scale;
            if (fabs(table->player[player].rating - expected) > 0.01)
                fail_msg("%s, %s: %.5f, expected %.5f", text,
                         json_string_value(json_array_get(players, player)), table->player[player].rating,
                         expected);
        }
        rating_destroy(table);
        checked++;
    }
    return checked;
}

static void all_vectors_are_met(void **state)
{
    (void)state;
    json_t *root = vectors_load("ratings");
    const json_t *row;
    size_t i;
    unsigned cases = 0, oracle = 0, ordo = 0;
    json_array_foreach(json_object_get(root, "cases"), i, row)
    {
        struct rating_table *table = rate(row, &(struct rating_options){.prior = 1, .fit_first_move = true});
        assert_finite(table);
        /* Ordo calls the same groups "not connected". */
        const char *groups = json_string_value(json_object_get(json_object_get(row, "ordo_groups"), "text"));
        assert_int_equal(table->lists == 1, strstr(groups, "PASSED") != NULL);
        rating_destroy(table);
        oracle += check_oracle(row);
        ordo += check_ordo(row);
        cases++;
    }
    assert_int_equal(cases, 13);
    assert_int_equal(oracle, 20);
    print_message("# %u tables, %u fits of the oracle, %u of Ordo\n", cases, oracle, ordo);
    assert_int_equal(ordo, 38);
    json_decref(root);
}

static json_t *find_case(json_t *root, const char *id)
{
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(root, "cases"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "id")), id) == 0)
            return row;
    }
    fail_msg("no case %s", id);
    return NULL;
}

/* x02: nothing finite; x08: P apart, the others as without it; x10: two lists that never met. */
static void what_has_no_finite_rating_is_apart(void **state)
{
    (void)state;
    json_t *root = vectors_load("ratings");
    struct rating_options options = {.prior = 0, .fit_first_move = true};
    struct rating_table *table = rate(find_case(root, "x02"), &options);
    assert_int_equal(table->lists, 2);
    assert_true(table->player[0].is_unbeaten && table->player[1].is_winless);
    assert_false(table->player[0].has_error || table->player[1].has_error);
    assert_int_equal(table->gaps, 1);
    assert_int_equal(table->gap[0].above, table->player[0].list);
    /* 20 games won: 0.05^(1/20) = 0.8609 a game, 316.7 Elo. */
    assert_close(table->gap[0].at_least, 400 * log10(pow(0.05, 0.05) / (1 - pow(0.05, 0.05))), 1e-6);
    rating_destroy(table);

    table = rate(find_case(root, "x08"), &options);
    assert_int_equal(table->lists, 2);
    assert_int_equal(table->player[3].list, 1);
    assert_true(table->player[3].is_unbeaten && table->player[0].has_error && !table->player[3].has_error);
    assert_close(table->player[0].rating + table->player[1].rating + table->player[2].rating, 0, 1e-9);
    assert_true(table->gap[0].above == 1 && table->gap[0].below == 0 && table->gap[0].at_least > 300);
    rating_destroy(table);

    table = rate(find_case(root, "x10"), &options);
    double likelihood;
    assert_int_equal(table->lists, 2);
    assert_int_equal(table->gaps, 0);
    assert_int_equal(table->player[2].list, 0); /* C, D, E have more games */
    assert_int_equal(table->player[0].list, 1);
    assert_false(rating_superiority(table, 0, 2, &likelihood));
    assert_true(rating_superiority(table, 0, 1, &likelihood) && likelihood > 0.5);
    rating_destroy(table);
    json_decref(root);
}

/* The same results as pairs: the ratings stay, the errors follow how the two games go together. */
static void the_pair_is_the_unit(void **state)
{
    (void)state;
    /* Always one win each by opening: 50 pairs WL or LW are far better known than 100 games. */
    struct rating_meeting decided = {.a = 0, .b = 1, .pairs = {[0] = {[2] = 50}, [2] = {[0] = 48, [2] = 2}}};
    struct rating_meeting loose = {.a = 0, .b = 1, .games = {{50, 0, 50}, {48, 0, 52}}};
    struct rating_options options = {.prior = 1, .fit_first_move = true};
    struct rating_table *pairs, *games;
    assert_int_equal(rating_create(&pairs, 2, &decided, 1, &options), 0);
    assert_int_equal(rating_create(&games, 2, &loose, 1, &options), 0);
    assert_close(pairs->player[0].rating, games->player[0].rating, 1e-6);
    assert_close(pairs->first_move, games->first_move, 1e-6);
    assert_true(pairs->player[0].sd < 0.35 * games->player[0].sd);
    rating_destroy(pairs);
    rating_destroy(games);
}

/* The chain of x12 without first move is small enough for a sum by hand: each pairing's own error, times its
 * share in A's distance from the mean. */
static void the_sandwich_of_a_chain_is_a_sum(void **state)
{
    (void)state;
    json_t *root = vectors_load("ratings");
    struct rating_table *table = rate(find_case(root, "x12"), &(struct rating_options){.prior = 0});
    static const double wins[] = {40, 1, 35, 44}, draws[] = {10, 0, 15, 6}, games[] = {80, 2, 80, 80};
    static const double share[] = {0.8, 0.6, 0.4, 0.2};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double p = (wins[i] + draws[i] / 2) / games[i];
        double variance = (wins[i] + draws[i] / 4) / games[i] - p * p;
        double sd = 400 / log(10) * sqrt(variance / games[i]) / (p * (1 - p));
        sum += share[i] * share[i] * sd * sd;
    }
    assert_close(table->player[0].sd, sqrt(sum), 1e-6);
    rating_destroy(table);
    json_decref(root);
}

static void the_anchor_has_no_error(void **state)
{
    (void)state;
    json_t *root = vectors_load("ratings");
    const json_t *row = find_case(root, "x06");
    struct rating_table *free_table = rate(row, &(struct rating_options){.prior = 0});
    struct rating_table *table =
        rate(row, &(struct rating_options){.has_anchor = true, .anchor = 1, .anchor_elo = 1000});
    assert_close(table->player[1].rating, 1000, 1e-12);
    assert_true(table->player[1].sd == 0);
    for (size_t i = 0; i < table->players; i++) {
        assert_close(table->player[i].sd, rating_difference_sd(free_table, i, 1), 1e-9);
        for (size_t j = 0; j < table->players; j++)
            assert_close(rating_difference_sd(table, i, j), rating_difference_sd(free_table, i, j), 1e-9);
    }
    struct rating_table *none;
    struct rating_meeting one = {.a = 0, .b = 1, .games = {{1, 0, 1}, {0}}};
    struct rating_options unknown = {.has_anchor = true, .anchor = 2};
    assert_int_equal(rating_create(&none, 2, &one, 1, &unknown), RATING_ANCHOR);
    assert_null(none);
    rating_destroy(free_table);
    rating_destroy(table);
    json_decref(root);
}

/* Equal results have no spread of their own, and the first move may be all there is: still numbers. */
static void poor_data_give_numbers(void **state)
{
    (void)state;
    static const struct rating_meeting poor[] = {
        {.a = 0, .b = 1, .pairs = {[1] = {[1] = 10}}},     /* all drawn */
        {.a = 0, .b = 1, .pairs = {[2] = {[0] = 1}}},      /* one pair, the opening decided */
        {.a = 0, .b = 1, .games = {{0, 0, 5}, {0, 0, 0}}}, /* a sweep, one leg only */
        {.a = 0, .b = 1, .games = {{2, 0, 3}, {0, 0, 0}}}, /* one leg: no first move to tell */
        {.a = 0, .b = 1, .pairs = {[2] = {[0] = 20}}},     /* moving first always wins */
        {.a = 0, .b = 1, .pairs = {[1] = {[1] = 1e15}}},   /* many */
        {.a = 0, .b = 1},                                  /* nothing */
    };
    for (size_t i = 0; i < sizeof poor / sizeof *poor; i++)
        for (int prior = 0; prior < 2; prior++) {
            struct rating_options options = {.prior = prior, .fit_first_move = true};
            struct rating_table *table;
            assert_int_equal(rating_create(&table, 3, &poor[i], 1, &options), 0);
            assert_finite(table);
            assert_true(table->player[0].list != table->player[2].list);
            if (table->player[0].has_error)
                assert_true(table->player[0].sd > 0);
            rating_destroy(table);
        }
    struct rating_table *table;
    assert_int_equal(rating_create(&table, 2, &poor[3], 1, &(struct rating_options){.fit_first_move = true}),
                     0);
    assert_false(table->has_first_move);
    rating_destroy(table);
}

static double chance(uint64_t *seed)
{
    *seed += 1;
    return (double)(mix(*seed, 1) >> 11) * 0x1p-53;
}

/* A ladder of 100 generations, each matched against its neighbours and the first: the joint fit's
 * last-to-first agrees with what direct matches show, where a sum of the steps had drifted (leela-chess#623).
 */
static void a_long_ladder_does_not_drift(void **state)
{
    (void)state;
    enum { STEPS = 100, PAIRS = 200 };
    struct rating_meeting meetings[3 * STEPS];
    size_t count = 0;
    uint64_t seed = 623;
    memset(meetings, 0, sizeof meetings);
    for (size_t i = 1; i < STEPS; i++)
        for (size_t back = 1; back <= 3 && back <= i; back++) {
            struct rating_meeting *meeting = &meetings[count++];
            double p = 1 / (1 + pow(10, -8.0 * (double)back / 400));
            *meeting = (struct rating_meeting){.a = i, .b = i - back};
            for (int pair = 0; pair < PAIRS; pair++) {
                int first = chance(&seed) < p ? 2 : 0, second = chance(&seed) < p ? 2 : 0;
                meeting->pairs[first][second]++;
            }
        }
    struct rating_table *table;
    struct rating_options options = {.prior = 1, .fit_first_move = true};
    assert_int_equal(rating_create(&table, STEPS, meetings, count, &options), 0);
    double lead = table->player[STEPS - 1].rating - table->player[0].rating;
    double sd = rating_difference_sd(table, STEPS - 1, 0);
    if (fabs(lead - 8.0 * (STEPS - 1)) > 3 * sd)
        fail_msg("last to first: %.1f +- %.1f, in truth %.1f", lead, sd, 8.0 * (STEPS - 1));
    /* Neighbours are known better than the ends. */
    assert_true(rating_difference_sd(table, 50, 49) < sd / 2);
    rating_destroy(table);
}

/* A gauntlet's opponents are compared through the seed they met, by strength and not by raw score. */
static void the_raw_score_is_not_the_rating(void **state)
{
    (void)state;
    struct rating_meeting meetings[] = {
        {.a = 0, .b = 1, .games = {{20, 0, 80}, {20, 0, 80}}}, /* strong beats middle 80 % */
        {.a = 1, .b = 2, .games = {{40, 0, 60}, {40, 0, 60}}}, /* middle beats weak 60 % */
        {.a = 2, .b = 3, .games = {{10, 0, 90}, {10, 0, 90}}}, /* weak beats novice 90 % */
    };
    struct rating_table *table;
    size_t order[4];
    struct rating_options options = {.prior = 1, .fit_first_move = true};
    assert_int_equal(rating_create(&table, 4, meetings, 3, &options), 0);
    rating_order(table, order);
    /* Weak has the higher score (65 %) than middle (40 %), and is the weaker. */
    assert_true(table->player[2].score > table->player[1].score);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(order[i], i);
    rating_destroy(table);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    struct rating_table *table;
    struct rating_meeting meeting = {.a = 0, .b = 1, .games = {{1, 0, 1}, {0}}};
    struct rating_options options = {.prior = 1};
    assert_int_equal(rating_create(&table, 0, NULL, 0, &options), RATING_PLAYERS);
    assert_int_equal(rating_create(&table, RATING_PLAYERS_MAX + 1, NULL, 0, &options), RATING_PLAYERS);
    assert_int_equal(rating_create(&table, 1, &meeting, 1, &options), RATING_MEETING);
    meeting.b = 0;
    assert_int_equal(rating_create(&table, 2, &meeting, 1, &options), RATING_MEETING);
    meeting.b = 1;
    meeting.games[0][0] = NAN;
    assert_int_equal(rating_create(&table, 2, &meeting, 1, &options), RATING_MEETING);
    meeting.games[0][0] = -1;
    assert_int_equal(rating_create(&table, 2, &meeting, 1, &options), RATING_MEETING);
    meeting.games[0][0] = 1;
    options.prior = NAN;
    assert_int_equal(rating_create(&table, 2, &meeting, 1, &options), RATING_PRIOR);
    options.prior = -1;
    assert_int_equal(rating_create(&table, 2, &meeting, 1, &options), RATING_PRIOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_vectors_are_met),          cmocka_unit_test(what_has_no_finite_rating_is_apart),
        cmocka_unit_test(the_pair_is_the_unit),         cmocka_unit_test(the_sandwich_of_a_chain_is_a_sum),
        cmocka_unit_test(the_anchor_has_no_error),      cmocka_unit_test(poor_data_give_numbers),
        cmocka_unit_test(a_long_ladder_does_not_drift), cmocka_unit_test(the_raw_score_is_not_the_rating),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
