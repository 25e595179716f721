#include <pthread.h>
#include <stdlib.h>

#include "coordinator/job.h"
#include "tests/unit/check.h"

static struct job *job_of(size_t bytes)
{
    struct job *job = job_create(JOB_EVENT);
    job->bytes = bytes;
    return job;
}

static void destroy_list(struct job *jobs)
{
    while (jobs) {
        struct job *next = jobs->next;
        job_destroy(jobs);
        jobs = next;
    }
}

static void keeps_order_and_counts(void **state)
{
    (void)state;
    struct job_queue queue;
    job_queue_init(&queue, 100, 0);
    for (uint64_t i = 0; i < 5; i++) {
        struct job *job = job_of(10);
        job->request = i;
        assert_true(job_queue_put(&queue, job));
    }
    assert_int_equal(job_queue_count(&queue), 5);
    struct job *first = job_queue_take(&queue, 25, 0); /* two of ten bytes; a third would be too much */
    assert_int_equal(first->request, 0);
    assert_int_equal(first->next->request, 1);
    assert_null(first->next->next);
    struct job *rest = job_queue_take(&queue, SIZE_MAX, 0);
    assert_int_equal(rest->request, 2);
    assert_int_equal(job_queue_count(&queue), 0);
    assert_null(job_queue_take(&queue, SIZE_MAX, 0));
    destroy_list(first);
    destroy_list(rest);
    job_queue_done(&queue);
}

static void is_bounded_by_count_and_bytes(void **state)
{
    (void)state;
    struct job_queue queue;
    job_queue_init(&queue, 3, 100);
    struct job *big = job_of(1000);
    assert_true(job_queue_put(&queue, big)); /* one job always fits */
    struct job *second = job_of(1);
    assert_false(job_queue_put(&queue, second));
    destroy_list(job_queue_take(&queue, 1, 0)); /* and comes out alone */
    assert_true(job_queue_put(&queue, second));
    assert_true(job_queue_put(&queue, job_of(1)));
    assert_true(job_queue_put(&queue, job_of(1)));
    struct job *fourth = job_of(1);
    assert_false(job_queue_put(&queue, fourth));
    job_destroy(fourth);
    job_queue_done(&queue);
}

static void closed_takes_nothing_and_gives_the_rest(void **state)
{
    (void)state;
    struct job_queue queue;
    job_queue_init(&queue, 0, 0);
    assert_true(job_queue_put(&queue, job_of(1)));
    job_queue_close(&queue);
    struct job *late = job_of(1);
    assert_false(job_queue_put(&queue, late));
    job_destroy(late);
    destroy_list(job_queue_take(&queue, SIZE_MAX, 1000));
    assert_null(job_queue_take(&queue, SIZE_MAX, 1000)); /* at once: nothing will come */
    job_queue_done(&queue);
}

static void *put_thousand(void *context)
{
    for (int i = 0; i < 1000; i++)
        if (!job_queue_put(context, job_of(1)))
            abort();
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    struct job_queue queue;
    pthread_t threads[4];
    job_queue_init(&queue, 0, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, put_thousand, &queue);
    int taken = 0;
    while (taken < 4000) {
        struct job *jobs = job_queue_take(&queue, 64, 10000);
        assert_non_null(jobs);
        for (struct job *job = jobs; job; job = job->next)
            taken++;
        destroy_list(jobs);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(job_queue_count(&queue), 0);
    job_queue_done(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_and_counts),
        cmocka_unit_test(is_bounded_by_count_and_bytes),
        cmocka_unit_test(closed_takes_nothing_and_gives_the_rest),
        cmocka_unit_test(threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
