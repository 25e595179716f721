/* verify finds nothing in sound games, and finds every kind of damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/verify.h"
#include "engine/play.h"
#include "tests/unit/check.h"

enum { PAIRS = 16, GAMES = 2 * PAIRS };

/* A finished match of real games. */
struct world {
    struct record record;
    struct store_game games[GAMES];
    char *moves[GAMES];
    char told[4096]; /* all differences, a line each */
    unsigned count;
};

static void tell(void *context, const char *text)
{
    struct world *world = context;
    size_t used = strlen(world->told);
    snprintf(world->told + used, sizeof world->told - used, "%s\n", text);
    world->count++;
}

static void keep_game(struct world *world, unsigned index, struct play_record *played)
{
    struct store_game *game = &world->games[index];
    unsigned leg = index % 2;
    *game = (struct store_game){.experiment = 1,
                                .pair = index / 2,
                                .leg = (uint8_t)leg,
                                .attempt = 1,
                                .moves = world->moves[index] = played->moves,
                                .plies = played->plies,
                                .south = played->stores[0],
                                .north = played->stores[1]};
    strcpy(game->result, game_result_text(played->result));
    strcpy(game->reason, game_reason_text(played->reason));
    game->a_half_points = played->result == GAME_DRAW                         ? 1
                          : (played->result == GAME_SOUTH_WINS) == (leg == 0) ? 2
                                                                              : 0;
    free(played->scores);
}

static void play_all(struct world *world)
{
    struct rules rules;
    char reason[128];
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    struct weights *weights = weights_create_starting("site");
    struct play_seats *seats = play_seats_create();
    struct play_setup setup = {.rules = &rules, .seed = 5, .opening_plies = 6};
    struct play_side a = {.weights = weights, .limits = {.nodes = 60}, .hash_kib = 64};
    struct play_side b = {.weights = weights, .limits = {.nodes = 20}, .hash_kib = 64};
    for (unsigned i = 0; i < GAMES; i++) {
        struct play_record played;
        assert_int_equal(play_game(seats, &setup, &a, &b, i / 2, i % 2, NULL, NULL, &played), PLAY_DONE);
        keep_game(world, i, &played);
    }
    play_seats_destroy(seats);
    weights_destroy(weights);
}

static void count_all(struct world *world)
{
    struct store_counters *c = &world->record.counters;
    uint64_t *const bins[] = {&c->ll, &c->ld, &c->dd, &c->wl, &c->dw, &c->ww};
    c->games_stored = GAMES;
    c->prefix_pairs = PAIRS;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        unsigned first = world->games[2 * pair].a_half_points,
                 second = world->games[2 * pair + 1].a_half_points;
        ++*bins[statistics_pair_class(first, second)];
        c->wins += (unsigned)(first == 2) + (unsigned)(second == 2);
        c->draws += (unsigned)(first == 1) + (unsigned)(second == 1);
        c->losses += (unsigned)(first == 0) + (unsigned)(second == 0);
    }
}

static void conclude(struct world *world)
{
    struct store_verdict *verdict = &world->record.verdict;
    struct statistics_sample sample;
    struct statistics_estimate estimate;
    int64_t counts[STATISTICS_PAIR_COUNTS];
    record_counts(&world->record.counters, counts);
    assert_int_equal(statistics_sample_set(&sample, counts, STATISTICS_PAIR_COUNTS), 0);
    statistics_estimate(&sample, &estimate);
    world->record.has_verdict = true;
    world->record.state = STORE_FINISHED;
    *verdict = (struct store_verdict){.verdict = "undecided",
                                      .counters = world->record.counters,
                                      .elo = estimate.elo,
                                      .elo_lo = estimate.elo_lo,
                                      .elo_hi = estimate.elo_hi,
                                      .nelo = estimate.nelo,
                                      .los = estimate.los,
                                      .formula_version = STATISTICS_FORMULA_VERSION};
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct store_experiment *e = &world->record.experiment;
    *e = (struct store_experiment){
        .id = 1, .kind = STORE_MATCH, .seed = 5, .opening_plies = 6, .planned_pairs = PAIRS, .rules = "site"};
    play_all(world);
    count_all(world);
    conclude(world);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    for (unsigned i = 0; i < GAMES; i++)
        free(world->moves[i]);
    free(world);
    return 0;
}

/* Runs over all games but `left_out` (GAMES: none). */
static struct verify_totals run(struct world *world, const uint64_t *disputed, size_t disputed_count,
                                unsigned left_out)
{
    struct verify_watch watch = {.difference = tell, .context = world};
    struct verify_totals totals = {0};
    struct verify *verify = verify_create(&world->record, disputed, disputed_count, &watch);
    assert_non_null(verify);
    for (unsigned i = 0; i < GAMES; i++)
        if (i != left_out)
            verify_game(verify, &world->games[i]);
    verify_finish(verify, &totals);
    verify_destroy(verify);
    assert_int_equal(totals.differences, world->count);
    return totals;
}

static void assert_told(const struct world *world, const char *words)
{
    if (!strstr(world->told, words))
        fail_msg("nothing says \"%s\" in:\n%s", words, world->told);
}

static void sound_games_have_no_differences(void **state)
{
    struct world *world = *state;
    struct verify_totals totals = run(world, NULL, 0, GAMES);
    assert_string_equal(world->told, "");
    assert_int_equal(totals.games, GAMES);
    assert_int_equal(totals.pairs_counted, PAIRS);
}

static void another_result_is_found(void **state)
{
    struct world *world = *state;
    struct store_game *game = &world->games[9];
    strcpy(game->result, strcmp(game->result, "draw") == 0 ? "south" : "draw");
    run(world, NULL, 0, GAMES);
    assert_told(world, "experiment 1 pair 4 leg 1: stored");
    assert_told(world, "half points");
}

static void other_stores_are_found(void **state)
{
    struct world *world = *state;
    world->games[3].south++;
    run(world, NULL, 0, GAMES);
    assert_int_equal(world->count, 1);
    assert_told(world, "pair 1 leg 1: stored");
}

static void an_illegal_move_is_found(void **state)
{
    struct world *world = *state;
    world->moves[0][7] = world->moves[0][7] == 'a' ? 'A' : 'B';
    run(world, NULL, 0, GAMES);
    assert_told(world, "pair 0 leg 0: ply 8");
}

static void a_game_cut_short_is_found(void **state)
{
    struct world *world = *state;
    world->moves[2][--world->games[2].plies] = '\0';
    run(world, NULL, 0, GAMES);
    assert_told(world, "pair 1 leg 0");
    assert_told(world, "not over");
}

static void another_pairs_opening_is_found(void **state)
{
    struct world *world = *state;
    world->record.experiment.seed++;
    run(world, NULL, 0, GAMES);
    assert_told(world, "does not start with the opening");
}

static void a_missing_leg_ends_the_prefix(void **state)
{
    struct world *world = *state;
    struct verify_totals totals = run(world, NULL, 0, 11);
    assert_int_equal(totals.pairs_counted, 5);
    assert_told(world, "counted pairs 16, the games make it 5");
    assert_told(world, "games stored 32, the games make it 31");
    assert_told(world, "the verdict is undecided, the games make it open");
}

static void a_wrong_counter_is_found(void **state)
{
    struct world *world = *state;
    world->record.counters.wl++;
    run(world, NULL, 0, GAMES);
    assert_int_equal(world->count, 1);
    assert_told(world, "the counter says WL");
}

static void a_wrong_estimate_is_found(void **state)
{
    struct world *world = *state;
    world->record.verdict.elo_hi += 0.001;
    run(world, NULL, 0, GAMES);
    assert_int_equal(world->count, 1);
    assert_told(world, "the upper end of Elo");
}

static void another_verdict_is_found(void **state)
{
    struct world *world = *state;
    strcpy(world->record.verdict.verdict, "accepted");
    run(world, NULL, 0, GAMES);
    assert_told(world, "the verdict is accepted, the games make it undecided");
}

/* The sequential test is run again over the pairs in order: it must stop where the verdict says. */
static void a_test_must_stop_where_its_verdict_does(void **state)
{
    struct world *world = *state;
    world->record.experiment.has_sprt = true;
    world->record.experiment.sprt = (struct store_sprt){
        .model = "normalized", .elo0 = -900, .elo1 = -800, .alpha = 0.4, .beta = 0.4, .batch = 4};
    strcpy(world->record.verdict.verdict, "accepted");
    struct verify_totals totals = run(world, NULL, 0, GAMES);
    assert_true(totals.pairs_counted < PAIRS);
    assert_told(world, "the verdict says counted pairs 16");
}

static void a_disputed_pair_holds_the_prefix(void **state)
{
    struct world *world = *state;
    const uint64_t disputed[] = {3};
    world->record.has_verdict = false;
    world->record.state = STORE_RUNNING;
    struct verify_totals totals = run(world, disputed, 1, GAMES);
    assert_int_equal(totals.pairs_counted, 3);
}

static void a_finished_count_needs_its_verdict(void **state)
{
    struct world *world = *state;
    world->record.has_verdict = false;
    world->record.state = STORE_RUNNING;
    run(world, NULL, 0, GAMES);
    assert_int_equal(world->count, 1);
    assert_told(world, "yet there is no verdict");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(sound_games_have_no_differences),
        CASE(another_result_is_found),
        CASE(other_stores_are_found),
        CASE(an_illegal_move_is_found),
        CASE(a_game_cut_short_is_found),
        CASE(another_pairs_opening_is_found),
        CASE(a_missing_leg_ends_the_prefix),
        CASE(a_wrong_counter_is_found),
        CASE(a_wrong_estimate_is_found),
        CASE(another_verdict_is_found),
        CASE(a_test_must_stop_where_its_verdict_does),
        CASE(a_disputed_pair_holds_the_prefix),
        CASE(a_finished_count_needs_its_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
