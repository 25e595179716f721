/* An engine's self-test: passed once, refused with both signatures where they differ, ended when the worker
 * ends; and every step of it is progress. */
#include "worker/prepare.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/progress.h"
#include "proto/signature.h"
#include "proto/socket.h"
#include "tests/unit/worker/players.h"

enum { MOVE_MS = 20000, WAIT_MS = 60000 };

static char folder[SCRATCH_PATH];
static int wake;

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    scratch_create(folder);
    wake = wake_create();
    return wake >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    close(wake);
    scratch_destroy(folder);
    return 0;
}

static struct prepare_order order_of(const char *fault, const char *signature, uint8_t name)
{
    struct prepare_order order = {.engine = {name}};
    snprintf(order.path, sizeof order.path, "%s", player(folder, fault));
    snprintf(order.signature, sizeof order.signature, "%s", signature);
    return order;
}

/* What it answers here. */
static void signature_of(const char *fault, char signature[SIGNATURE_TEXT])
{
    char reason[512];
    atomic_uint answers = 0;
    struct dialect *dialect = dialect_open(player(folder, fault), NULL, MOVE_MS, NULL, reason, sizeof reason);
    assert_non_null(dialect);
    assert_int_equal(signature_ask(dialect, signature, &answers, reason, sizeof reason), DIALECT_OK);
    assert_int_equal(answers, SIGNATURE_POSITIONS);
    dialect_close(dialect);
}

static enum prepare_state wait_for(struct prepare *prepare, const struct prepare_order *order,
                                   struct prepare_answer *answer)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    enum prepare_state state = PREPARE_UNDER_WAY;
    for (int64_t until = progress_now_ms() + WAIT_MS;
         state == PREPARE_UNDER_WAY && progress_now_ms() < until;) {
        state = prepare_look(prepare, order->engine, answer);
        nanosleep(&pause, NULL);
    }
    return state;
}

static void an_engine_that_answers_as_expected_is_ready(void **state)
{
    (void)state;
    char signature[SIGNATURE_TEXT];
    struct prepare_answer answer;
    signature_of("fair", signature);
    struct prepare *prepare = prepare_create(folder, MOVE_MS, wake);
    struct prepare_order order = order_of("fair", signature, 1);
    assert_int_equal(prepare_look(prepare, order.engine, &answer), PREPARE_ABSENT);
    assert_int_equal(prepare_ask(prepare, &order), 0);
    assert_int_equal(prepare_ask(prepare, &order), 0); /* no news */
    assert_int_equal(wait_for(prepare, &order, &answer), PREPARE_READY);
    assert_int_equal(prepare_steps(prepare), SIGNATURE_POSITIONS);
    assert_int_equal(prepare_steps(prepare), 0);
    assert_int_equal(prepare_look(prepare, order.engine, &answer), PREPARE_READY);
    prepare_destroy(prepare);
}

static void one_that_answers_otherwise_is_refused_with_both_signatures(void **state)
{
    (void)state;
    char expected[SIGNATURE_TEXT], found[SIGNATURE_TEXT];
    struct prepare_answer answer;
    signature_of("fair", expected);
    signature_of("illegal-go-1", found);
    assert_string_not_equal(expected, found);
    struct prepare *prepare = prepare_create(folder, MOVE_MS, wake);
    struct prepare_order order = order_of("illegal-go-1", expected, 2);
    assert_int_equal(prepare_ask(prepare, &order), 0);
    assert_int_equal(wait_for(prepare, &order, &answer), PREPARE_FAILED);
    assert_int_equal(answer.fault, MESSAGE_FAULT_SELF_TEST);
    assert_non_null(strstr(answer.why, expected));
    assert_non_null(strstr(answer.why, found));
    assert_int_equal(prepare_look(prepare, order.engine, &answer), PREPARE_ABSENT); /* told once */
    order = order_of("quit-go-1", expected, 3);
    assert_int_equal(prepare_ask(prepare, &order), 0);
    assert_int_equal(wait_for(prepare, &order, &answer), PREPARE_FAILED);
    assert_non_null(strstr(answer.why, "exited with status 9"));
    prepare_destroy(prepare);
}

/* Built once and kept by its content; built again when what was kept is not what it was. */
static void sources_are_built_once(void **state)
{
    (void)state;
    char signature[SIGNATURE_TEXT], archive[SCRATCH_PATH + 16], command[5000], path[FOLDER_PATH_MAX];
    struct prepare_answer answer;
    signature_of("fair", signature);
    snprintf(archive, sizeof archive, "%s/source.tar", folder);
    snprintf(command, sizeof command, "tar -C '%s' -cf '%s' fair", folder, archive);
    assert_int_equal(system(command), 0);
    struct prepare_order order = {.engine = {9}, .from_source = true, .set = {.product = "out"}};
    snprintf(order.path, sizeof order.path, "%s", archive);
    snprintf(order.signature, sizeof order.signature, "%s", signature);
    snprintf(order.set.recipe, sizeof order.set.recipe, "cp fair out");
    for (int time = 0; time < 3; time++) {
        struct prepare *prepare = prepare_create(folder, MOVE_MS, wake);
        assert_int_equal(prepare_ask(prepare, &order), 0);
        if (wait_for(prepare, &order, &answer) != PREPARE_READY)
            fail_msg("%s", answer.why);
        assert_int_equal(access(answer.path, X_OK), 0);
        prepare_destroy(prepare);
        if (time == 0)
            snprintf(path, sizeof path, "%s", answer.path);
        assert_string_equal(answer.path, path);
        if (time == 0)
            assert_int_equal(unlink(archive), 0); /* the second time it is not needed */
        if (time == 1) {
            snprintf(command, sizeof command, "chmod u+w '%s' && echo x >>'%s' && tar -C '%s' -cf '%s' fair",
                     path, path, folder, archive);
            assert_int_equal(system(command), 0);
        }
    }
    struct prepare *prepare = prepare_create(folder, MOVE_MS, wake);
    order.engine[0] = 10;
    snprintf(order.set.recipe, sizeof order.set.recipe, "echo no compiler; false");
    assert_int_equal(prepare_ask(prepare, &order), 0);
    assert_int_equal(wait_for(prepare, &order, &answer), PREPARE_FAILED);
    assert_int_equal(answer.fault, MESSAGE_FAULT_BUILD);
    assert_non_null(strstr(answer.why, "no compiler"));
    prepare_destroy(prepare);
}

static void a_test_that_hangs_ends_with_the_worker(void **state)
{
    (void)state;
    struct prepare_answer answer;
    struct prepare *prepare = prepare_create(folder, 24 * 3600 * 1000, wake);
    struct prepare_order order = order_of("hang-go-2", "0123456789abcdef", 4);
    int64_t began = progress_now_ms();
    assert_int_equal(prepare_ask(prepare, &order), 0);
    const struct timespec pause = {.tv_nsec = 1000000};
    unsigned steps = 0;
    while (progress_now_ms() - began < WAIT_MS && (steps += prepare_steps(prepare)) == 0)
        nanosleep(&pause, NULL);
    assert_int_equal(prepare_look(prepare, order.engine, &answer), PREPARE_UNDER_WAY);
    began = progress_now_ms();
    prepare_destroy(prepare);
    assert_true(progress_now_ms() - began < WAIT_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_that_answers_as_expected_is_ready),
        cmocka_unit_test(one_that_answers_otherwise_is_refused_with_both_signatures),
        cmocka_unit_test(sources_are_built_once),
        cmocka_unit_test(a_test_that_hangs_ends_with_the_worker),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
