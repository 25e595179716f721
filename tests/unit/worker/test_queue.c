/* The bounded queue: order, bounds, removal, closing, and nothing lost between threads. */
#include "worker/queue.h"

#include <pthread.h>

#include "tests/unit/check.h"

static void first_in_first_out_and_bounded(void **state)
{
    (void)state;
    struct queue *queue = queue_create(sizeof(int), 3);
    int value;
    assert_int_equal(queue_try_pop(queue, &value), QUEUE_EMPTY);
    for (int round = 0; round < 5; round++) { /* round the ring */
        for (int i = 0; i < 3; i++)
            assert_int_equal(queue_try_push(queue, &(int){10 * round + i}), QUEUE_OK);
        assert_int_equal(queue_try_push(queue, &(int){99}), QUEUE_FULL);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(queue_pop(queue, &value), QUEUE_OK);
            assert_int_equal(value, 10 * round + i);
        }
        assert_int_equal(queue_count(queue), 1);
        assert_int_equal(queue_try_pop(queue, &value), QUEUE_OK);
        assert_int_equal(value, 10 * round + 2);
    }
    queue_destroy(queue);
}

static bool is_odd(void *context, const void *element)
{
    ++*(int *)context;
    return *(const int *)element % 2 != 0;
}

static void removal_keeps_the_order_of_the_rest(void **state)
{
    (void)state;
    for (int skew = 0; skew < 8; skew++) {
        struct queue *queue = queue_create(sizeof(int), 8);
        int value, asked = 0;
        for (int i = 0; i < skew; i++) {
            queue_try_push(queue, &i);
            queue_try_pop(queue, &value);
        }
        for (int i = 0; i < 8; i++)
            assert_int_equal(queue_try_push(queue, &i), QUEUE_OK);
        assert_int_equal(queue_remove(queue, is_odd, &asked), 4);
        assert_int_equal(asked, 8);
        for (int i = 0; i < 8; i += 2) {
            assert_int_equal(queue_try_pop(queue, &value), QUEUE_OK);
            assert_int_equal(value, i);
        }
        assert_int_equal(queue_count(queue), 0);
        queue_destroy(queue);
    }
}

static void *push_one(void *queue)
{
    return queue_push(queue, &(int){1}) == QUEUE_CLOSED ? queue : NULL;
}

static void *pop_one(void *queue)
{
    int value;
    return queue_pop(queue, &value) == QUEUE_CLOSED ? queue : NULL;
}

static void closing_frees_who_waits_and_leaves_the_rest(void **state)
{
    (void)state;
    struct queue *empty = queue_create(sizeof(int), 1), *full = queue_create(sizeof(int), 1);
    queue_try_push(full, &(int){7});
    pthread_t pusher, popper;
    void *closed;
    assert_int_equal(pthread_create(&pusher, NULL, push_one, full), 0);
    assert_int_equal(pthread_create(&popper, NULL, pop_one, empty), 0);
    queue_close(full);
    queue_close(empty);
    pthread_join(pusher, &closed);
    assert_ptr_equal(closed, full);
    pthread_join(popper, &closed);
    assert_ptr_equal(closed, empty);
    int value = 0;
    assert_int_equal(queue_pop(full, &value), QUEUE_CLOSED);
    assert_int_equal(queue_try_push(full, &value), QUEUE_CLOSED);
    assert_int_equal(queue_try_pop(full, &value), QUEUE_OK);
    assert_int_equal(value, 7);
    queue_destroy(empty);
    queue_destroy(full);
}

enum { THREADS = 4, EACH = 20000 };

struct crowd {
    struct queue *in, *out;
};

static void *carry(void *context)
{
    struct crowd *crowd = context;
    int value;
    while (queue_pop(crowd->in, &value) == QUEUE_OK)
        if (queue_push(crowd->out, &value) != QUEUE_OK)
            break;
    return NULL;
}

static void nothing_is_lost_between_threads(void **state)
{
    (void)state;
    struct crowd crowd = {queue_create(sizeof(int), 16), queue_create(sizeof(int), 5)};
    static unsigned char seen[THREADS * EACH];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, carry, &crowd), 0);
    int sent = 0, got = 0, value;
    while (got < THREADS * EACH) {
        while (sent < THREADS * EACH && queue_try_push(crowd.in, &sent) == QUEUE_OK)
            sent++;
        assert_int_equal(queue_pop(crowd.out, &value), QUEUE_OK);
        assert_int_equal(seen[value]++, 0);
        got++;
    }
    queue_close(crowd.in);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    queue_destroy(crowd.in);
    queue_destroy(crowd.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_first_out_and_bounded),
        cmocka_unit_test(removal_keeps_the_order_of_the_rest),
        cmocka_unit_test(closing_frees_who_waits_and_leaves_the_rest),
        cmocka_unit_test(nothing_is_lost_between_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
