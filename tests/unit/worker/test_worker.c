/* A real worker against the coordinator's part played by the test: the usual course of things, and leaving.
 */
#include "worker/worker.h"

#include "tests/unit/worker/stage.h"

static struct stage stage;

static int set_up(void **state)
{
    (void)state;
    stage_open(&stage);
    return stage_open_router(&stage, NULL, NULL) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    stage_close(&stage);
    return 0;
}

/* The moves of one game as the engine plays it here. */
static void check_replay(uint64_t pair, unsigned leg, uint64_t node_limit)
{
    struct rules rules;
    char reason[256];
    assert_int_equal(rules_parse("site", &rules, reason, sizeof reason), 0);
    struct weights *weights;
    assert_int_equal(weights_parse(stage.weights_bytes, stage.weights_size, "site", &weights), WEIGHTS_OK);
    struct play_setup setup = {.rules = &rules, .seed = STAGE_SEED, .opening_plies = 6};
    struct play_side side = {.weights = weights, .limits = {.nodes = node_limit}, .hash_kib = 64};
    struct play_seats *seats = play_seats_create();
    struct play_record record;
    assert_int_equal(play_game(seats, &setup, &side, &side, pair, leg, NULL, NULL, &record), PLAY_DONE);
    assert_string_equal(record.moves, stage.moves[pair][leg]);
    play_record_done(&record);
    play_seats_destroy(seats);
    weights_destroy(weights);
}

static void leased_pairs_are_played_and_delivered(void **state)
{
    (void)state;
    uint64_t skip[] = {12};
    stage_grant(&stage, 5, 10, 6, 60);
    stage.grant.skip = skip;
    stage.grant.skip_count = 1;
    stage_start(&stage);
    stage_until(&stage, stage_acknowledged(&stage) == 5 && stage.counts[MESSAGE_PROGRESS] > 0);
    for (uint64_t pair = 0; pair < STAGE_PAIRS; pair++)
        assert_int_equal(stage.told[pair][0] == 1 && stage.told[pair][1] == 1,
                         pair >= 10 && pair < 16 && pair != 12);
    assert_int_equal(stage.half_pairs, 0);
    check_replay(10, 0, 60);
    check_replay(10, 1, 60);
    check_replay(15, 0, 60);
    assert_int_equal(stage.hello.role, MESSAGE_ROLE_WORKER);
    assert_string_equal(stage.hello.name, "stage");
    assert_int_equal(stage.hello.slots, 2);
    assert_int_equal(stage_artifact_files(&stage), 1);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_true(stage.goodbye);
    assert_int_equal(stage.released_count, 0);
    assert_int_equal(stage.counts[MESSAGE_HELLO], 1);
    assert_int_equal(stage_spooled_files(&stage), 0);
}

static void weights_are_fetched_once(void **state)
{
    (void)state;
    stage_grant(&stage, 5, 0, 2, 40);
    stage_start(&stage);
    stage_until(&stage, stage_acknowledged(&stage) == 2);
    unsigned chunks = stage.counts[MESSAGE_ARTIFACT_REQUEST];
    assert_true(chunks >= 2);
    stage_grant(&stage, 6, 2, 2, 40);
    stage_until(&stage, stage_acknowledged(&stage) == 4);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    stage_grant(&stage, 7, 4, 2, 40);
    stage_start(&stage);
    stage_until(&stage, stage_acknowledged(&stage) == 6);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage.counts[MESSAGE_ARTIFACT_REQUEST], chunks);
}

static void announced_weights_are_fetched_early(void **state)
{
    (void)state;
    stage.announce = 3;
    stage_start(&stage);
    stage_until(&stage, stage_artifact_files(&stage) == 1);
    unsigned chunks = stage.counts[MESSAGE_ARTIFACT_REQUEST];
    stage_grant(&stage, 5, 0, 1, 40);
    stage_until(&stage, stage_acknowledged(&stage) == 1);
    assert_int_equal(stage.counts[MESSAGE_ARTIFACT_REQUEST], chunks);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void progress_grows_while_it_plays(void **state)
{
    (void)state;
    stage.options.drain_ms = 0;
    stage_grant(&stage, 5, 0, 40, 20000);
    stage_start(&stage);
    stage_until(&stage, stage.plies > 0);
    uint64_t plies = stage.plies;
    stage_until(&stage, stage.plies > plies + 20);
    assert_int_equal(stage.progress_leases, 1);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void the_speed_is_told_and_more_is_asked_for(void **state)
{
    (void)state;
    stage_grant(&stage, 1, 0, 200, 300);
    stage_start(&stage);
    stage_until(&stage, stage.lease_request.pairs_per_minute > 0);
    assert_in_range(stage.lease_request.pairs, 1, WORKER_CREDIT);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage.half_pairs, 0);
}

static void a_drain_gives_back_what_is_unfinished(void **state)
{
    (void)state;
    stage.options.drain_ms = 3000; /* for its goodbye as well, on a slow machine */
    stage_grant(&stage, 5, 0, 200, 3000000);
    stage_start(&stage);
    stage_until(&stage, stage.plies > 0);
    int64_t started = progress_now_ms();
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_true(progress_now_ms() - started < 30000);
    assert_true(stage.goodbye);
    assert_int_equal(stage.released_count, 1);
    assert_int_equal(stage.released[0], 5);
    assert_int_equal(stage.half_pairs, 0);
}

/* Games that end within the drain time are finished with their pair and delivered. */
static void a_drain_finishes_pairs_that_have_begun(void **state)
{
    (void)state;
    stage.options.drain_ms = 30000;
    stage_grant(&stage, 5, 0, 300, 3000);
    stage_start(&stage);
    stage_until(&stage, stage.plies > 0);
    size_t before = stage_acknowledged(&stage);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_in_range(stage_acknowledged(&stage), before + 1, 299);
    assert_int_equal(stage.released_count, 1);
    assert_int_equal(stage_spooled_files(&stage), 0);
}

static void finish_plays_what_is_leased(void **state)
{
    (void)state;
    stage_grant(&stage, 5, 0, 60, 200);
    stage_start(&stage);
    stage_until(&stage,
                stage.counts[MESSAGE_LEASE_REQUEST] > 0 && stage.grant.pair_count == 0 && stage.plies > 0);
    worker_signal(stage.worker, WORKER_ORDER_FINISH);
    stage_grant(&stage, 6, 100, 60, 200);
    assert_int_equal(stage_end(&stage), WORKER_DONE);
    size_t first = 0;
    for (uint64_t pair = 0; pair < 60; pair++)
        first += stage.acknowledged[pair][0] == 1 && stage.acknowledged[pair][1] == 1;
    assert_int_equal(first, 60);
    assert_int_equal(
        stage.released_count + (stage_acknowledged(&stage) == 120) + (stage.grant.pair_count > 0), 1);
    assert_true(stage.goodbye);
}

static void an_idle_worker_leaves_when_told_so(void **state)
{
    (void)state;
    stage.options.idle_exit_ms = 100;
    stage_grant(&stage, 5, 0, 2, 40);
    stage_start(&stage);
    assert_int_equal(stage_end(&stage), WORKER_DONE);
    assert_int_equal(stage_acknowledged(&stage), 2);
    assert_true(stage.goodbye);
}

static void a_drain_without_work_says_goodbye_at_once(void **state)
{
    (void)state;
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_LEASE_REQUEST] > 0);
    int64_t started = progress_now_ms();
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_true(progress_now_ms() - started < 3000);
    assert_true(stage.goodbye);
}

static void the_credit_bounds_what_is_held(void **state)
{
    (void)state;
    stage.options.credit = 3;
    stage.mute_results = true;
    stage_grant(&stage, 5, 0, 3, 40);
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_RESULTS] >= 1 && stage.counts[MESSAGE_PROGRESS] >= 5);
    assert_true(stage.grant.pair_count == 0);
    stage_grant(&stage, 6, 3, 3, 40);
    unsigned progress = stage.counts[MESSAGE_PROGRESS];
    stage_until(&stage, stage.counts[MESSAGE_PROGRESS] >= progress + 10);
    assert_int_equal(stage.grant.pair_count, 3); /* nothing was asked for */
    stage.mute_results = false;
    stage_until(&stage, stage_acknowledged(&stage) == 6);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(leased_pairs_are_played_and_delivered),   TEST(weights_are_fetched_once),
        TEST(announced_weights_are_fetched_early),     TEST(progress_grows_while_it_plays),
        TEST(the_speed_is_told_and_more_is_asked_for), TEST(a_drain_gives_back_what_is_unfinished),
        TEST(a_drain_finishes_pairs_that_have_begun),  TEST(finish_plays_what_is_leased),
        TEST(an_idle_worker_leaves_when_told_so),      TEST(a_drain_without_work_says_goodbye_at_once),
        TEST(the_credit_bounds_what_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
