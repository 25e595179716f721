#include "worker/yardstick.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"

static void the_bench_tells_a_speed(void **state)
{
    (void)state;
    struct yardstick yardstick = yardstick_measure(0);
    assert_true(yardstick.speed > 100);
}

/* Two workers of a host must not sit on the same core; a dead one sits on none. */
static void a_core_belongs_to_one_process(void **state)
{
    (void)state;
    cpu_set_t set;
    int cores[YARDSTICK_CORES_MAX], others[YARDSTICK_CORES_MAX];
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    unsigned all = (unsigned)CPU_COUNT(&set);
    assert_int_equal(yardstick_claim_cores(all + 1, cores), 0);
    pid_t child = fork();
    if (child == 0) {
        unsigned first = yardstick_claim_cores(1, cores), second = yardstick_claim_cores(1, others);
        /* A worker that runs beside this test may have them all. */
        _exit(first == 1 && (!CPU_ISSET((unsigned)cores[0], &set) || (second == 1 && cores[0] == others[0])));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bench_tells_a_speed),
        cmocka_unit_test(a_core_belongs_to_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
