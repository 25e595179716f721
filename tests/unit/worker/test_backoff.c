/* The waits between tries: they grow, stay within bounds, and differ between workers. */
#include "worker/backoff.h"

#include "tests/unit/check.h"

static void waits_grow_within_bounds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct backoff backoff;
        backoff_init(&backoff, seed, 200, 10000);
        uint32_t bound = 200;
        for (int failure = 0; failure < 20; failure++) {
            assert_in_range(backoff_next(&backoff), bound / 2, bound);
            bound = bound * 2 < 10000 ? bound * 2 : 10000;
        }
        backoff_reset(&backoff);
        assert_in_range(backoff_next(&backoff), 100, 200);
    }
}

/* A thousand workers that lost the same coordinator at the same moment come back spread over the interval. */
static void workers_do_not_come_back_in_step(void **state)
{
    (void)state;
    unsigned buckets[10] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct backoff backoff;
        backoff_init(&backoff, seed, 10000, 10000);
        uint32_t bucket = (backoff_next(&backoff) - 5000) / 501;
        assert_in_range(bucket, 0, 9);
        buckets[bucket]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(buckets[i], 60, 140); /* 100 expected, deviation 9.5 */
}

static void a_told_wait_is_never_shortened(void **state)
{
    (void)state;
    struct backoff backoff;
    backoff_init(&backoff, 5, 200, 10000);
    for (uint32_t wait = 0; wait < 5000; wait++)
        assert_in_range(backoff_jitter(&backoff, wait), wait, wait + wait / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_grow_within_bounds),
        cmocka_unit_test(workers_do_not_come_back_in_step),
        cmocka_unit_test(a_told_wait_is_never_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
