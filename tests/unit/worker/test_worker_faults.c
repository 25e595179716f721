/* A real worker when things go wrong: lost acknowledgements, a restarted coordinator, dropped leases,
 * refusals, bad weights, a strange engine build, an unlisted key. The test plays the coordinator's part
 * (stage.h). */
#include "worker/worker.h"

#include <signal.h>
#include <sys/resource.h>

#include "proto/keys.h"
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

static void a_lost_acknowledgement_brings_the_same_batch_again(void **state)
{
    (void)state;
    stage.options.reply_ms = 300;
    stage.mute_results = true;
    stage_grant(&stage, 5, 0, 4, 40);
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_RESULTS] >= 3);
    assert_int_equal(stage.batch, stage.first_batch);
    assert_int_equal(stage.digest, stage.first_digest);
    assert_int_equal(stage.counts[MESSAGE_HELLO], 1); /* others were answered: no reason to connect again */
    stage.mute_results = false;
    stage_until(&stage, stage_acknowledged(&stage) == 4);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage_spooled_files(&stage), 0);
    assert_int_equal(stage.half_pairs, 0);
}

static void a_stranger_says_hello_and_sends_again(void **state)
{
    (void)state;
    stage.mute_results = true;
    stage_grant(&stage, 5, 0, 4, 40);
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_RESULTS] >= 1);
    stage.stranger = true; /* until the next HELLO */
    stage.mute_results = false;
    stage_until(&stage, stage_acknowledged(&stage) == 4);
    assert_int_equal(stage.counts[MESSAGE_HELLO], 2);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage_spooled_files(&stage), 0);
}

static void a_restarted_coordinator_gets_everything(void **state)
{
    (void)state;
    stage.options.reply_ms = 1000;
    stage.mute_results = true;
    stage_grant(&stage, 5, 0, 6, 40);
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_RESULTS] >= 1);
    uint64_t nonce = stage.hello.session_nonce;
    for (int round = 0; round < 3; round++) {
        router_destroy(stage.router);
        assert_true(stage_open_router(&stage, NULL, NULL));
        stage.stranger = true; /* a new process knows nobody */
        unsigned hellos = stage.counts[MESSAGE_HELLO];
        stage_until(&stage, stage.counts[MESSAGE_HELLO] > hellos);
        assert_int_equal(stage.hello.session_nonce, nonce);
    }
    stage.mute_results = false;
    stage_until(&stage, stage_acknowledged(&stage) == 6);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage_spooled_files(&stage), 0);
}

static void a_dropped_lease_is_not_played_on(void **state)
{
    (void)state;
    stage_grant(&stage, 5, 0, 100, 3000000);
    stage_start(&stage);
    stage_until(&stage, stage.plies > 0);
    stage.drop = 5;
    stage_until(&stage, stage.progress_leases == 0);
    stage.drop = 0;
    stage_grant(&stage, 6, 200, 2, 40);
    stage_until(&stage, stage_acknowledged(&stage) == 2);
    assert_int_equal(stage.told[200][0] + stage.told[201][1], 2);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage.released_count, 0);
}

static void unacknowledged_results_survive_in_the_spool(void **state)
{
    (void)state;
    stage.options.drain_ms = 300;
    stage.mute_results = true;
    stage_grant(&stage, 5, 0, 4, 40);
    stage_start(&stage);
    stage_until(&stage, stage.batch_games == 8 || stage.counts[MESSAGE_PROGRESS] > 20);
    uint64_t nonce = stage.hello.session_nonce;
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage_spooled_files(&stage), 1);
    stage.mute_results = false;
    stage_start(&stage);
    stage_until(&stage, stage_acknowledged(&stage) == 4);
    assert_true(stage.hello.session_nonce != nonce);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage_spooled_files(&stage), 0);
}

static void one_worker_a_state_folder(void **state)
{
    (void)state;
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_HELLO] > 0);
    char reason[1024] = "";
    assert_null(worker_create(&stage.options, reason, sizeof reason));
    assert_non_null(strstr(reason, "--state"));
    assert_non_null(strstr(reason, stage.state));
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void a_refused_version_ends_the_worker(void **state)
{
    (void)state;
    stage.refuse_hello = MESSAGE_REFUSAL_VERSION;
    stage_start(&stage);
    assert_int_equal(stage_end(&stage), WORKER_BARRED);
    assert_int_equal(stage.counts[MESSAGE_HELLO], 1);
}

/* Seen with a name that the coordinator would not read: it cannot know the request's number, and the worker
 * asked for ever. */
static void an_unreadable_hello_ends_the_worker(void **state)
{
    (void)state;
    stage.options.name = "not a name";
    stage_start(&stage);
    stage.malformed_expected = true;
    assert_int_equal(stage_end(&stage), WORKER_BARRED);
    assert_int_equal(stage.counts[MESSAGE_HELLO], 0);
}

static void a_refused_role_ends_the_worker(void **state)
{
    (void)state;
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_LEASE_REQUEST] > 0);
    stage.refuse_results = MESSAGE_REFUSAL_NOT_ALLOWED;
    stage_grant(&stage, 5, 0, 1, 40);
    assert_int_equal(stage_end(&stage), WORKER_BARRED);
    assert_int_equal(stage_spooled_files(&stage), 1);
}

static void an_unavailable_coordinator_is_asked_again(void **state)
{
    (void)state;
    stage.refuse_hello = MESSAGE_REFUSAL_UNAVAILABLE;
    stage_start(&stage);
    stage_until(&stage, stage.counts[MESSAGE_HELLO] >= 3);
    stage.refuse_hello = 0;
    stage.refuse_results = MESSAGE_REFUSAL_UNAVAILABLE;
    stage_grant(&stage, 5, 0, 3, 40);
    stage_until(&stage, stage.counts[MESSAGE_RESULTS] >= 3);
    assert_int_equal(stage.batch, stage.first_batch);
    stage.refuse_results = 0;
    stage_until(&stage, stage_acknowledged(&stage) == 3);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void without_connection_it_gives_up_when_told_so(void **state)
{
    (void)state;
    stage.mute_hello = true;
    stage.options.reply_ms = 100;
    stage.options.connect_timeout_ms = 500;
    stage_start(&stage);
    assert_int_equal(stage_end(&stage), WORKER_NO_CONNECTION);
    assert_true(stage.counts[MESSAGE_HELLO] >= 2);
}

static void another_engine_build_gives_the_lease_back(void **state)
{
    (void)state;
    stage_grant(&stage, 5, 0, 2, 40);
    snprintf(stage.grant.spec.engine_build, MESSAGE_NAME_MAX, "kroo-engine 0 elsewhere");
    stage_start(&stage);
    stage_until(&stage, stage.released_count == 1);
    assert_int_equal(stage.released[0], 5);
    unsigned asked = stage.counts[MESSAGE_LEASE_REQUEST], progress = stage.counts[MESSAGE_PROGRESS];
    stage_until(&stage, stage.counts[MESSAGE_PROGRESS] > progress + 5);
    assert_int_equal(stage.counts[MESSAGE_LEASE_REQUEST], asked); /* it lets others try */
    assert_int_equal(stage.counts[MESSAGE_RESULTS], 0);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void this_engine_build_is_played(void **state)
{
    (void)state;
    stage_grant(&stage, 5, 0, 1, 40);
    snprintf(stage.grant.spec.engine_build, MESSAGE_NAME_MAX, "%s", engine_build());
    stage_start(&stage);
    stage_until(&stage, stage_acknowledged(&stage) == 1);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void check_weights_refused(void)
{
    stage_grant(&stage, 5, 0, 2, 40);
    stage_start(&stage);
    stage_until(&stage, stage.released_count == 1);
    assert_int_equal(stage.released[0], 5);
    assert_int_equal(stage.counts[MESSAGE_RESULTS], 0);
    assert_int_equal(stage_artifact_files(&stage), 0);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void corrupt_weights_are_never_used(void **state)
{
    (void)state;
    stage.corrupt_from = stage.weights_size / 2;
    check_weights_refused();
}

static void absent_weights_give_the_lease_back(void **state)
{
    (void)state;
    stage.refuse_artifacts = MESSAGE_REFUSAL_UNKNOWN;
    check_weights_refused();
}

/* The hash is right, the content is no weights file. */
static void weights_that_are_none_give_the_lease_back(void **state)
{
    (void)state;
    memset(stage.weights_bytes, 'x', stage.weights_size);
    artifact_hash(stage.weights_bytes, stage.weights_size, stage.weights);
    stage_grant(&stage, 5, 0, 2, 40);
    stage_start(&stage);
    stage_until(&stage, stage.released_count == 1);
    assert_int_equal(stage.counts[MESSAGE_RESULTS], 0);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static void weights_of_other_rules_give_the_lease_back(void **state)
{
    (void)state;
    stage_grant(&stage, 5, 0, 2, 40);
    snprintf(stage.grant.spec.rules, MESSAGE_RULES_MAX, "ghana");
    stage_start(&stage);
    stage_until(&stage, stage.released_count == 1);
    assert_int_equal(stage.counts[MESSAGE_RESULTS], 0);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

static size_t refused_files(void)
{
    char path[SCRATCH_PATH + 32];
    snprintf(path, sizeof path, "%s/refused", stage.state);
    return scratch_count(path, ".txt", NULL);
}

static void a_refused_game_is_kept_aside_and_not_sent_again(void **state)
{
    (void)state;
    stage.bad_pair = 2;
    stage.bad_verdict = MESSAGE_GAME_REFUSED;
    stage_grant(&stage, 5, 0, 4, 40);
    stage_start(&stage);
    stage_until(&stage, stage_acknowledged(&stage) == 4);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(refused_files(), 2);
    assert_int_equal(stage.told[2][0] + stage.told[2][1], 2);
    assert_int_equal(stage_spooled_files(&stage), 0);
    char path[SCRATCH_PATH + 64];
    size_t size;
    snprintf(path, sizeof path, "%s/refused/9-2-1.txt", stage.state);
    char *text = (char *)scratch_read(path, &size);
    text[size] = '\0';
    assert_non_null(strstr(text, "refused = the stage does not like it\n"));
    assert_non_null(strstr(text, stage.moves[2][1]));
    free(text);
}

static void conflicts_and_duplicates_count_as_acknowledged(void **state)
{
    (void)state;
    const enum message_game_verdict verdicts[] = {MESSAGE_GAME_CONFLICT, MESSAGE_GAME_DUPLICATE};
    for (size_t i = 0; i < 2; i++) {
        stage.bad_pair = 10 * i + 1;
        stage.bad_verdict = verdicts[i];
        stage_grant(&stage, 5 + i, 10 * i, 3, 40);
        stage_start(&stage);
        stage_until(&stage, stage_acknowledged(&stage) == 3 * (i + 1));
        assert_int_equal(stage_drain(&stage), WORKER_DONE);
        assert_int_equal(stage.told[10 * i + 1][0], 1);
        assert_int_equal(refused_files(), 0);
        assert_int_equal(stage_spooled_files(&stage), 0);
    }
}

/* One pair makes its whole batch malformed: halving finds it, and the others get through. */
static void one_bad_pair_does_not_hold_up_the_rest(void **state)
{
    (void)state;
    stage.bad_pair = 5;
    stage.refuse_big_batches = true;
    stage.options.batch_ms = 200;
    stage_grant(&stage, 5, 0, 12, 40);
    stage_start(&stage);
    stage_until(&stage, stage_acknowledged(&stage) == 11 && refused_files() == 2);
    assert_int_equal(stage.acknowledged[5][0] + stage.acknowledged[5][1], 0);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage_spooled_files(&stage), 0);
}

/* A full disk pauses play; nothing is lost when there is room again. */
static void a_full_disk_pauses_and_goes_on(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    stage_start(&stage);
    stage.announce = 1;
    stage_grant(&stage, 4, 100, 1, 40);
    stage_until(&stage, stage_acknowledged(&stage) == 1); /* the weights are here */
    tight = before;
    tight.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    stage_grant(&stage, 5, 0, 20, 40);
    unsigned progress = stage.counts[MESSAGE_PROGRESS];
    int64_t deadline = progress_now_ms() + STAGE_DEADLINE_MS;
    while ((stage.grant.pair_count > 0 || stage.counts[MESSAGE_PROGRESS] < progress + 10) &&
           progress_now_ms() < deadline)
        stage_turn(&stage);
    size_t delivered = stage_acknowledged(&stage);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(delivered, 1);
    stage_until(&stage, stage_acknowledged(&stage) == 21);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
    assert_int_equal(stage_spooled_files(&stage), 0);
}

/* --- keys --- */

static bool listed;
static unsigned turned_away;

static bool admit(void *context, const char public_key[KEYS_TEXT])
{
    (void)context, (void)public_key;
    turned_away += !listed;
    return listed;
}

/* libzmq#2329: after a refusal the socket never recovers; a new one does. */
static void an_unlisted_key_gets_in_once_it_is_listed(void **state)
{
    (void)state;
    struct keys server, own;
    char reason[256];
    assert_int_equal(keys_generate(stage.folder, "server", &server, reason, sizeof reason), KEYS_OK);
    assert_int_equal(keys_generate(stage.folder, "own", &own, reason, sizeof reason), KEYS_OK);
    router_destroy(stage.router);
    stage.endpoints[0] = "tcp://127.0.0.1:*";
    listed = false;
    turned_away = 0;
    assert_true(stage_open_router(&stage, admit, &server));
    stage.endpoints[0] = router_endpoint(stage.router, 0);
    stage.options.keys = &own;
    stage.options.server_key = server.public_key;
    stage.options.reply_ms = 300;
    stage_grant(&stage, 5, 0, 2, 40);
    stage_start(&stage);
    stage_until(&stage, turned_away >= 2);
    assert_int_equal(stage.counts[MESSAGE_HELLO], 0);
    listed = true;
    stage_until(&stage, stage_acknowledged(&stage) == 2);
    assert_string_equal(stage.user, own.public_key);
    assert_int_equal(stage_drain(&stage), WORKER_DONE);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_lost_acknowledgement_brings_the_same_batch_again),
        TEST(a_stranger_says_hello_and_sends_again),
        TEST(a_restarted_coordinator_gets_everything),
        TEST(a_dropped_lease_is_not_played_on),
        TEST(unacknowledged_results_survive_in_the_spool),
        TEST(one_worker_a_state_folder),
        TEST(a_refused_version_ends_the_worker),
        TEST(an_unreadable_hello_ends_the_worker),
        TEST(a_refused_role_ends_the_worker),
        TEST(an_unavailable_coordinator_is_asked_again),
        TEST(without_connection_it_gives_up_when_told_so),
        TEST(another_engine_build_gives_the_lease_back),
        TEST(this_engine_build_is_played),
        TEST(corrupt_weights_are_never_used),
        TEST(absent_weights_give_the_lease_back),
        TEST(weights_that_are_none_give_the_lease_back),
        TEST(weights_of_other_rules_give_the_lease_back),
        TEST(a_refused_game_is_kept_aside_and_not_sent_again),
        TEST(conflicts_and_duplicates_count_as_acknowledged),
        TEST(one_bad_pair_does_not_hold_up_the_rest),
        TEST(a_full_disk_pauses_and_goes_on),
        TEST(an_unlisted_key_gets_in_once_it_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
