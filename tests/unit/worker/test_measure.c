#include "worker/measure.h"

#include "tests/unit/check.h"

static struct measure measured_at(int64_t now)
{
    return (struct measure){.enabled = true, .every_ms = MEASURE_EVERY_MS, .measured_ms = now};
}

static void an_idle_worker_measures_at_a_bounded_rhythm(void **state)
{
    (void)state;
    struct measure measure = measured_at(1000);
    unsigned times = 0;
    for (int64_t now = 1000; now <= 1000 + 10 * MEASURE_EVERY_MS; now += 250)
        if (measure_is_due(&measure, false, now)) {
            measure_done(&measure, now);
            times++;
        }
    assert_int_equal(times, 10);
}

static void it_never_measures_beside_its_own_games(void **state)
{
    (void)state;
    struct measure measure = measured_at(0);
    measure.asked = true;
    assert_false(measure_is_due(&measure, true, 100 * (int64_t)MEASURE_EVERY_MS));
    assert_true(measure_is_due(&measure, false, 1));
}

/* Timed play waits: no more work is taken until it is done, and then it is as always. */
static void what_is_asked_for_is_done_once(void **state)
{
    (void)state;
    struct measure measure = measured_at(0);
    assert_false(measure_holds_work(&measure));
    measure.asked = true;
    assert_true(measure_holds_work(&measure));
    measure_done(&measure, 5);
    assert_false(measure_holds_work(&measure));
    assert_false(measure_is_due(&measure, false, 6));
    measure.enabled = false;
    measure.asked = true;
    assert_false(measure_holds_work(&measure));
    assert_false(measure_is_due(&measure, false, INT64_MAX / 2));
}

/* Two cores busy for ten minutes are a load of two; then it is forgotten as the machine's average forgets. */
static void the_own_load_is_known_and_forgotten(void **state)
{
    (void)state;
    struct measure_own own = {0};
    int64_t now = 0, cpu_us = 7000000; /* from before the first look: says nothing */
    for (; now < 600000; now += 1000, cpu_us += 2000000)
        measure_own_note(&own, now, cpu_us);
    assert_close(own.cores, 2, 0.01);
    for (int second = 0; second < 60; second++, now += 1000)
        measure_own_note(&own, now, cpu_us);
    assert_close(own.cores, 2 / 2.71828, 0.06);
    measure_own_note(&own, now - 5000, cpu_us); /* a clock that goes back divides nothing */
    assert_true(own.cores < 1);
}

static void only_others_make_a_machine_busy(void **state)
{
    (void)state;
    assert_int_equal(measure_others_ppm(3, 1, 2), 1000000);
    assert_int_equal(measure_others_ppm(1, 2, 2), 0);
    assert_int_equal(measure_others_ppm(1, 0, 0), 1000000);
    assert_true(measure_others_ppm(1e30, 0, 1) == 4000000000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_worker_measures_at_a_bounded_rhythm),
        cmocka_unit_test(it_never_measures_beside_its_own_games),
        cmocka_unit_test(what_is_asked_for_is_done_once),
        cmocka_unit_test(the_own_load_is_known_and_forgotten),
        cmocka_unit_test(only_others_make_a_machine_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
