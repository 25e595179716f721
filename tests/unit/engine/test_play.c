/* The unit of work is a pure function of seed, pair and leg. */
#include "engine/play.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/mix.h"
#include "tests/unit/check.h"

static struct rules site_rules(void)
{
    struct rules rules;
    char reason[256];
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    return rules;
}

struct fixture {
    struct rules rules;
    struct weights *weights;
    struct play_setup setup;
    struct play_side side;
    struct play_seats *seats;
};

static void fixture_init(struct fixture *f, uint64_t nodes, unsigned opening, uint32_t noise_ppm)
{
    f->rules = site_rules();
    f->weights = weights_create_starting("site");
    f->setup = (struct play_setup){
        .rules = &f->rules, .seed = 2024, .opening_plies = opening, .noise_ppm = noise_ppm};
    f->side = (struct play_side){.weights = f->weights, .limits = {.nodes = nodes}, .hash_kib = 64};
    f->seats = play_seats_create();
}

static void fixture_done(struct fixture *f)
{
    play_seats_destroy(f->seats);
    weights_destroy(f->weights);
}

static struct play_record play(struct fixture *f, uint64_t pair, unsigned leg)
{
    struct play_record record;
    assert_int_equal(play_game(f->seats, &f->setup, &f->side, &f->side, pair, leg, NULL, NULL, &record),
                     PLAY_DONE);
    return record;
}

static void assert_same(const struct play_record *a, const struct play_record *b)
{
    assert_string_equal(a->moves, b->moves);
    assert_int_equal(a->plies, b->plies);
    assert_memory_equal(a->scores, b->scores, a->plies * sizeof a->scores[0]);
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->reason, b->reason);
    assert_memory_equal(a->stores, b->stores, 2);
    assert_int_equal(a->nodes, b->nodes);
}

/* One seat plays all games in order, another each game alone and in the other order. */
static void a_game_alone_is_the_game_in_series(void **state)
{
    (void)state;
    struct fixture series, alone;
    fixture_init(&series, 300, 6, 30000);
    struct play_record games[12];
    for (unsigned k = 0; k < 12; k++)
        games[k] = play(&series, k / 2, k % 2);
    for (unsigned k = 12; k-- > 0;) {
        fixture_init(&alone, 300, 6, 30000);
        struct play_record record = play(&alone, k / 2, k % 2);
        assert_same(&record, &games[k]);
        play_record_done(&record);
        record = play(&series, k / 2, k % 2);
        assert_same(&record, &games[k]);
        play_record_done(&record);
        fixture_done(&alone);
    }
    for (unsigned k = 0; k < 12; k++)
        play_record_done(&games[k]);
    fixture_done(&series);
}

static void a_record_replays(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 200, 6, 20000);
    struct game *game = game_create(&f.rules, NULL);
    for (uint64_t pair = 0; pair < 6; pair++)
        for (unsigned leg = 0; leg < 2; leg++) {
            struct play_record record = play(&f, pair, leg);
            size_t played;
            game_reset(game, NULL);
            assert_int_equal(game_play_text(game, record.moves, strlen(record.moves), &played), GAME_OK);
            assert_int_equal(played, record.plies);
            assert_true(game_over(game));
            assert_int_equal(game_result(game), record.result);
            assert_int_equal(game_reason(game), record.reason);
            struct position position = game_position(game);
            assert_memory_equal(position.stores, record.stores, 2);
            assert_true(record.nodes > 0 && record.nodes <= 200 * record.plies);
            play_record_done(&record);
        }
    game_destroy(game);
    fixture_done(&f);
}

static void legs_share_the_opening_and_pairs_do_not(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 100, 8, 0);
    char openings[40][PLAY_OPENING_MAX + 1];
    for (uint64_t pair = 0; pair < 40; pair++) {
        assert_int_equal(play_opening(&f.setup, pair, openings[pair]), 8);
        assert_int_equal(strlen(openings[pair]), 8);
        int equal = 0;
        for (uint64_t other = 0; other < pair; other++)
            equal += strcmp(openings[other], openings[pair]) == 0;
        assert_int_equal(equal, 0);
        if (pair >= 3)
            continue;
        for (unsigned leg = 0; leg < 2; leg++) {
            struct play_record record = play(&f, pair, leg);
            assert_memory_equal(record.moves, openings[pair], 8);
            play_record_done(&record);
        }
    }
    f.setup.seed++;
    char moves[PLAY_OPENING_MAX + 1];
    assert_int_equal(play_opening(&f.setup, 0, moves), 8);
    assert_string_not_equal(moves, openings[0]);
    fixture_done(&f);
}

/* Without noise the legs of equal players are one game, whoever sits where; other seeds give other games. */
static void equal_players_play_equal_legs(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 200, 6, 0);
    struct play_record south = play(&f, 5, 0), north = play(&f, 5, 1), other = play(&f, 6, 0);
    assert_same(&south, &north);
    assert_string_not_equal(south.moves, other.moves);
    play_record_done(&south);
    play_record_done(&north);
    play_record_done(&other);
    fixture_done(&f);
}

/* The stronger side wins most games from both seats: leg 1 really swaps the players. */
static void the_players_swap_seats(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 2000, 6, 0);
    struct play_side weak = {.weights = f.weights, .limits = {.nodes = 10}, .hash_kib = 64};
    int wins[2] = {0};
    for (uint64_t pair = 0; pair < 10; pair++)
        for (unsigned leg = 0; leg < 2; leg++) {
            struct play_record record;
            assert_int_equal(play_game(f.seats, &f.setup, &f.side, &weak, pair, leg, NULL, NULL, &record),
                             PLAY_DONE);
            wins[leg] += record.result == (leg == 0 ? GAME_SOUTH_WINS : GAME_NORTH_WINS);
            play_record_done(&record);
        }
    assert_true(wins[0] >= 8 && wins[1] >= 8);
    fixture_done(&f);
}

static void opening_and_noise_plies_have_no_score(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 50, 6, 200000);
    size_t noise = 0, plies = 0;
    for (uint64_t pair = 0; pair < 20; pair++) {
        struct play_record record = play(&f, pair, (unsigned)(pair & 1));
        for (size_t ply = 0; ply < record.plies; ply++) {
            bool is_noise = play_is_noise(&f.setup, pair, (unsigned)(pair & 1), ply);
            assert_true(!is_noise || ply >= 6);
            assert_int_equal(record.scores[ply] == PLAY_NO_SCORE, ply < 6 || is_noise);
            noise += is_noise;
        }
        plies += record.plies - 6;
        play_record_done(&record);
    }
    double share = (double)noise / (double)plies;
    assert_true(share > 0.15 && share < 0.25);
    f.setup.noise_ppm = 0;
    for (size_t ply = 0; ply < 1000; ply++)
        assert_false(play_is_noise(&f.setup, 1, 0, ply));
    f.setup.noise_ppm = PLAY_NOISE_UNIT;
    for (size_t ply = 6; ply < 1000; ply++)
        assert_true(play_is_noise(&f.setup, 1, 0, ply));
    fixture_done(&f);
}

/* Moves, scores and results of one pair, written down: play never changes unnoticed. */
static void a_pair_is_fixed(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 100, 4, 50000);
    uint64_t digest = 0;
    for (unsigned leg = 0; leg < 2; leg++) {
        struct play_record record = play(&f, 7, leg);
        for (size_t ply = 0; ply < record.plies; ply++)
            digest = mix(mix(digest, (uint64_t)record.moves[ply]), (uint64_t)(record.scores[ply] + 40000));
        digest = mix(digest, (uint64_t)record.result);
        play_record_done(&record);
    }
    fixture_done(&f);
    if (digest != UINT64_C(0x4abcaccb6b877b80))
        fail_msg("the games are %016llx", (unsigned long long)digest);
}

static void an_impossible_opening_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 10, PLAY_OPENING_MAX + 1, 0);
    char moves[PLAY_OPENING_MAX + 1];
    struct play_record record;
    assert_int_equal(play_opening(&f.setup, 0, moves), -1);
    assert_int_equal(play_game(f.seats, &f.setup, &f.side, &f.side, 0, 0, NULL, NULL, &record),
                     PLAY_NO_OPENING);
    assert_null(record.moves);
    char reason[256];
    assert_int_equal(rules_parse("site,quiet_limit=3", &f.rules, reason, sizeof reason), 0);
    f.setup.opening_plies = 40; /* no 40 plies without three quiet ones in a row */
    assert_int_equal(play_opening(&f.setup, 0, moves), -1);
    f.setup.opening_plies = 0;
    assert_int_equal(play_opening(&f.setup, 0, moves), 0);
    assert_string_equal(moves, "");
    fixture_done(&f);
}

static void a_table_that_cannot_be_made_is_reported(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 10, 0, 0);
    struct play_record record;
    f.side.hash_kib = 0;
    assert_int_equal(play_game(f.seats, &f.setup, &f.side, &f.side, 0, 0, NULL, NULL, &record), PLAY_MEMORY);
    f.side.hash_kib = 16;
    record = play(&f, 0, 0);
    play_record_done(&record);
    f.side.hash_kib = 32;
    record = play(&f, 0, 0);
    play_record_done(&record);
    fixture_done(&f);
}

/* With the quiet limit off nothing ends an endless game under `school`: it is abandoned at the bound. */
static void a_game_without_end_is_too_long(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 3, 6, 0);
    char reason[256];
    assert_int_equal(rules_parse("school,quiet_limit=0", &f.rules, reason, sizeof reason), 0);
    atomic_uint progress = 0;
    struct play_record record;
    bool met = false;
    for (uint64_t pair = 0; pair < 200 && !met; pair++) {
        enum play_status status =
            play_game(f.seats, &f.setup, &f.side, &f.side, pair, 0, NULL, &progress, &record);
        met = status == PLAY_TOO_LONG;
        assert_true(met ? progress == GAME_PLIES_MAX : status == PLAY_DONE && progress == record.plies);
        play_record_done(&record);
    }
    assert_true(met);
    fixture_done(&f);
}

/* A clock that never runs short ends no game: the limit of nodes beside it does the rest. */
static void a_long_clock_ends_no_game(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 200, 4, 0);
    f.side.clock_ms = 24 * 3600 * 1000;
    f.side.increment_ms = 1000;
    struct play_record record = play(&f, 3, 1);
    assert_true(record.reason != GAME_REASON_DEADLINE && record.plies > 20);
    play_record_done(&record);
    fixture_done(&f);
}

struct dawdler {
    int64_t left_ms[8][2];
    unsigned asked;
    int64_t takes_us;
};

static enum play_answer sits_down(void *context, atomic_bool *stop)
{
    (void)context;
    (void)stop;
    return PLAY_ANSWER_MOVE;
}

/* The first legal move, but not before its time is over. */
static enum play_answer dawdles(void *context, const struct game *game, atomic_bool *stop,
                                struct play_move *out)
{
    struct dawdler *dawdler = context;
    (void)stop;
    if (dawdler->asked < 8)
        memcpy(dawdler->left_ms[dawdler->asked], out->clock_ms, sizeof out->clock_ms);
    dawdler->asked++;
    int64_t until_us = clock_now_us() + dawdler->takes_us;
    while (clock_now_us() < until_us)
        ;
    int own = 0;
    while ((game_legal(game) >> own & 1) == 0)
        own++;
    *out = (struct play_move){.house = own + 6 * (int)game_position(game).side, .score = PLAY_NO_SCORE};
    return PLAY_ANSWER_MOVE;
}

static void a_flag_that_falls_loses(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 20, 4, 0);
    struct dawdler dawdler = {.takes_us = 30000};
    struct play_mover mover = {&dawdler, sits_down, dawdles};
    struct play_side short_of_time = f.side;
    short_of_time.clock_ms = 50;
    play_seats_use(f.seats, 0, &mover);
    for (unsigned leg = 0; leg < 2; leg++) {
        struct play_record record;
        dawdler.asked = 0;
        assert_int_equal(play_game(f.seats, &f.setup, &short_of_time, &f.side, 0, leg, NULL, NULL, &record),
                         PLAY_DONE);
        assert_int_equal(record.reason, GAME_REASON_DEADLINE);
        assert_int_equal(record.result, leg == 0 ? GAME_NORTH_WINS : GAME_SOUTH_WINS);
        /* Its first move may have come in time, its second did not; it was told its clock, and that b has
         * none. */
        assert_true(dawdler.asked == 1 || dawdler.asked == 2);
        assert_true(dawdler.left_ms[0][leg] == 50 && dawdler.left_ms[0][1 - leg] == 0);
        assert_true(dawdler.asked == 1 || dawdler.left_ms[1][leg] <= 20);
        play_record_done(&record);
    }
    /* What each move adds keeps a slow player alive. */
    struct play_record record;
    dawdler = (struct dawdler){.takes_us = 100};
    short_of_time.clock_ms = 3600 * 1000;
    short_of_time.increment_ms = 1000;
    assert_int_equal(play_game(f.seats, &f.setup, &short_of_time, &f.side, 0, 0, NULL, NULL, &record),
                     PLAY_DONE);
    assert_true(record.reason != GAME_REASON_DEADLINE && dawdler.left_ms[1][0] >= 3600 * 1000);
    play_record_done(&record);
    fixture_done(&f);
}

struct stopping {
    struct fixture fixture;
    atomic_bool stop;
    atomic_uint progress;
    enum play_status status;
};

static void *play_for_ever(void *argument)
{
    struct stopping *stopping = argument;
    struct play_record record;
    stopping->status =
        play_game(stopping->fixture.seats, &stopping->fixture.setup, &stopping->fixture.side,
                  &stopping->fixture.side, 0, 0, &stopping->stop, &stopping->progress, &record);
    return NULL;
}

/* The search of the first thinking ply has no limit at all; only `stop` can end it. */
static void stop_abandons_a_game_in_thought(void **state)
{
    (void)state;
    struct stopping stopping = {.status = PLAY_DONE};
    fixture_init(&stopping.fixture, 0, 4, 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, play_for_ever, &stopping), 0);
    atomic_store(&stopping.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stopping.status, PLAY_STOPPED);
    fixture_done(&stopping.fixture);
}

/* A bound of its time changes no move, and what it cuts off is no game: a search without any other limit. */
static void a_game_beyond_its_time_is_no_game(void **state)
{
    (void)state;
    struct fixture f;
    struct play_record free_one, bound;
    fixture_init(&f, 300, 4, 0);
    assert_int_equal(play_game(f.seats, &f.setup, &f.side, &f.side, 3, 0, NULL, NULL, &free_one), PLAY_DONE);
    f.setup.most_ms = 3600000;
    assert_int_equal(play_game(f.seats, &f.setup, &f.side, &f.side, 3, 0, NULL, NULL, &bound), PLAY_DONE);
    assert_same(&free_one, &bound);
    play_record_done(&free_one);
    play_record_done(&bound);
    fixture_done(&f);
    fixture_init(&f, 0, 4, 0);
    f.setup.most_ms = 30;
    f.side.limits.depth = 40;
    assert_int_equal(play_game(f.seats, &f.setup, &f.side, &f.side, 3, 0, NULL, NULL, &bound), PLAY_OVERTIME);
    assert_true(bound.plies >= 4 && strlen(bound.moves) == bound.plies);
    play_record_done(&bound);
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game_alone_is_the_game_in_series),
        cmocka_unit_test(a_record_replays),
        cmocka_unit_test(legs_share_the_opening_and_pairs_do_not),
        cmocka_unit_test(equal_players_play_equal_legs),
        cmocka_unit_test(the_players_swap_seats),
        cmocka_unit_test(opening_and_noise_plies_have_no_score),
        cmocka_unit_test(a_pair_is_fixed),
        cmocka_unit_test(an_impossible_opening_is_refused),
        cmocka_unit_test(a_table_that_cannot_be_made_is_reported),
        cmocka_unit_test(a_game_without_end_is_too_long),
        cmocka_unit_test(a_long_clock_ends_no_game),
        cmocka_unit_test(a_flag_that_falls_loses),
        cmocka_unit_test(stop_abandons_a_game_in_thought),
        cmocka_unit_test(a_game_beyond_its_time_is_no_game),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
