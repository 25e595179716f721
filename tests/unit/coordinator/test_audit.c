#include "coordinator/audit.h"

#include <string.h>

#include "engine/mix.h"
#include "tests/unit/check.h"

enum { TERM = 1000 };

/* What the server knows of whoever asks. */
struct asker {
    uint64_t worker, session, lease, only; /* only: the one experiment, 0 for any */
    uint64_t urgent;                       /* an experiment of a higher rank */
    uint64_t able[AUDIT_PLAYED_MAX];
    size_t able_count;
};

static int32_t rank(void *context, uint64_t experiment)
{
    const struct asker *asker = context;
    if (asker->only && experiment != asker->only)
        return AUDIT_NOT;
    return experiment == asker->urgent ? 7 : 0;
}

static size_t able(void *context, uint64_t experiment, const uint64_t **workers)
{
    const struct asker *asker = context;
    (void)experiment;
    *workers = asker->able;
    return asker->able_count;
}

static bool take_as(struct audit_book *book, struct asker *asker, int64_t now_ms, struct audit_lease *taken)
{
    struct audit_ask ask = {.worker = asker->worker,
                            .session = asker->session,
                            .lease = asker->lease,
                            .cores = 1,
                            .context = asker,
                            .rank = rank,
                            .able = able};
    return audit_take(book, &ask, now_ms, taken);
}

static bool take(struct audit_book *book, uint64_t worker, uint64_t session, uint64_t lease, int64_t now_ms,
                 struct audit_lease *taken)
{
    struct asker asker = {.worker = worker, .session = session, .lease = lease};
    return take_as(book, &asker, now_ms, taken);
}

static struct audit_pair played(uint64_t pair, uint64_t worker)
{
    struct audit_pair out = {.pair = pair};
    audit_pair_add(&out, worker);
    return out;
}

/* A keyed hash that SQL can compute too: select substr(sha256(secret || int8send(1) || int8send(2) ||
 * int8send(0)), 1, 8). */
static void choice_is_keyed_and_has_its_share(void **state)
{
    (void)state;
    uint8_t secret[AUDIT_SECRET], other[AUDIT_SECRET] = {1};
    unsigned due = 0, both = 0, again = 0;
    memset(secret, 7, sizeof secret);
    for (uint64_t pair = 0; pair < 100000; pair++) {
        bool is_due = audit_is_due(secret, 3, pair, 0, 20000);
        due += is_due;
        both += is_due && audit_is_due(other, 3, pair, 0, 20000);
        again += is_due && audit_is_due(secret, 3, pair, 1, 20000);
        assert_true(audit_is_due(secret, 3, pair, 0, AUDIT_PPM));
        assert_false(audit_is_due(secret, 3, pair, 0, 0));
        /* A larger share takes in a smaller one. */
        assert_true(!is_due || audit_is_due(secret, 3, pair, 0, 30000));
    }
    assert_in_range(due, 1900, 2100);
    assert_in_range(both, 20, 65);
    assert_in_range(again, 20, 65);
}

static void workers_differ_by_key_or_name(void **state)
{
    (void)state;
    uint64_t one = audit_worker("local", "w1");
    assert_true(one == audit_worker("local", "w1"));
    assert_true(one != audit_worker("local", "w2"));
    assert_true(one != audit_worker("loopback", "w1"));
    assert_true(audit_worker("a", "bc") != audit_worker("ab", "c"));
    assert_true(audit_worker("", "") != 0);
}

static void a_pair_is_not_for_who_played_it(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_pair pair = played(5, 11);
    struct audit_lease lease, closed;
    assert_true(audit_want(book, 1, &pair));
    assert_false(take(book, 11, 100, 1, 0, &lease));
    assert_true(take(book, 12, 101, 2, 0, &lease));
    assert_true(lease.experiment == 1 && lease.pair == 5 && lease.lease == 2 && lease.session == 101);
    assert_int_equal(lease.attempt, 2);
    assert_false(take(book, 13, 102, 3, 0, &lease));
    assert_true(audit_close(book, 1, 5, &closed));
    assert_true(closed.lease == 2);
    assert_false(audit_close(book, 1, 5, &closed));
    audit_book_destroy(book);
}

/* The second worker differs from the first: a third must play, even while the second still holds its lease.
 */
static void a_dispute_goes_to_a_third(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_pair pair = played(5, 11);
    struct audit_lease lease;
    audit_want(book, 1, &pair);
    assert_true(take(book, 12, 101, 2, 0, &lease));
    pair.disputed = true;
    audit_pair_add(&pair, 12);
    assert_true(audit_want(book, 1, &pair));
    assert_false(take(book, 11, 100, 3, 0, &lease));
    assert_false(take(book, 12, 101, 3, 0, &lease));
    assert_true(take(book, 13, 102, 3, 0, &lease));
    assert_int_equal(lease.attempt, 3);
    audit_book_destroy(book);
}

/* A disputed pair that the prefix waits for never alternates between the two that differ while a third is
 * able; without one, whoever did not play it last may. */
static void a_third_worker_breaks_the_tie(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_pair pair = played(5, 11);
    struct audit_lease lease;
    pair.disputed = pair.held = true;
    audit_pair_add(&pair, 12);
    audit_want(book, 1, &pair);
    struct asker first = {.worker = 11, .session = 101, .lease = 1, .able = {11, 12, 13}, .able_count = 3};
    struct asker second = first, third = first;
    second.worker = 12;
    third.worker = 13;
    for (int turn = 0; turn < 10; turn++) {
        assert_false(take_as(book, &first, turn, &lease));
        assert_false(take_as(book, &second, turn, &lease));
    }
    assert_true(take_as(book, &third, 20, &lease));
    assert_true(lease.session == 101 && lease.attempt == 3);
    audit_release(book, 1, 101, &lease);
    /* The third is gone. */
    first.able_count = second.able_count = 2;
    assert_false(take_as(book, &second, 30, &lease));
    assert_true(take_as(book, &first, 30, &lease));
    /* It played last now. */
    struct audit_pair again = played(5, 12);
    again.disputed = again.held = true;
    audit_pair_add(&again, 11);
    audit_want(book, 1, &again);
    assert_false(take_as(book, &first, 40, &lease));
    assert_true(take_as(book, &second, 40, &lease));
    /* One that counted already waits for a third, however long. */
    again.pair = 6;
    again.held = false;
    audit_want(book, 1, &again);
    assert_false(take_as(book, &first, 50, &lease));
    assert_false(take_as(book, &second, 50, &lease));
    audit_book_destroy(book);
}

static void what_is_more_urgent_goes_first(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_lease lease;
    for (uint64_t pair = 0; pair < 50; pair++)
        for (uint64_t experiment = 1; experiment <= 3; experiment++) {
            struct audit_pair wanted = played(pair, 11);
            assert_true(audit_want(book, experiment, &wanted));
        }
    for (uint64_t i = 0; i < 150; i++) {
        struct asker asker = {.worker = 12, .session = 101, .lease = 1 + i, .urgent = i < 50 ? 3 : 1};
        assert_true(take_as(book, &asker, 0, &lease));
        assert_int_equal(lease.experiment, i < 50 ? 3 : i < 100 ? 1 : 2);
    }
    audit_book_destroy(book);
}

static void a_lease_lives_by_progress(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_lease lease, lapsed[4];
    for (uint64_t pair = 0; pair < 3; pair++) {
        struct audit_pair wanted = played(pair, 11);
        audit_want(book, 1, &wanted);
        assert_true(take(book, 12, 101, 10 + pair, 0, &lease));
    }
    assert_int_equal(audit_progress(book, 10, 101, 5, 900), AUDIT_RENEWED);
    assert_int_equal(audit_progress(book, 10, 101, 5, 1800), AUDIT_STALE); /* no progress since */
    assert_int_equal(audit_progress(book, 10, 999, 6, 900), AUDIT_UNKNOWN);
    assert_int_equal(audit_progress(book, 99, 101, 6, 900), AUDIT_UNKNOWN);
    assert_int_equal(audit_expire(book, 999, lapsed, 4), 0);
    assert_int_equal(audit_expire(book, 1000, lapsed, 4), 2);
    assert_int_equal(audit_expire(book, 1900, lapsed, 4), 1);
    assert_true(lapsed[0].lease == 10);
    assert_true(take(book, 12, 103, 20, 2000, &lease));
    assert_int_equal(lease.attempt, 3);
    assert_true(audit_holds(book, 20, 103) && !audit_holds(book, 20, 101));
    assert_true(audit_release(book, 20, 103, &lease));
    assert_false(audit_holds(book, 20, 103));
    assert_false(audit_release(book, 20, 103, &lease));
    assert_true(take(book, 12, 103, 21, 2000, &lease));
    assert_int_equal(audit_session_end(book, 103, lapsed, 4), 1);
    audit_book_destroy(book);
}

static void experiments_are_apart(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_lease lease;
    for (uint64_t pair = 0; pair < 100; pair++)
        for (uint64_t experiment = 1; experiment <= 3; experiment++) {
            struct audit_pair wanted = played(pair, 11);
            assert_true(audit_want(book, experiment, &wanted));
        }
    struct asker asker = {.worker = 12, .session = 101, .only = 2};
    for (uint64_t i = 0; i < 100; i++) {
        asker.lease = 1 + i;
        assert_true(take_as(book, &asker, 0, &lease));
        assert_true(lease.experiment == 2);
    }
    assert_int_equal(audit_cores(book, 2), 100);
    assert_int_equal(audit_cores(book, 1), 0);
    assert_false(take_as(book, &asker, 0, &lease));
    assert_int_equal(audit_drop(book, 2), 100);
    assert_int_equal(audit_drop(book, 1), 100);
    assert_true(take(book, 12, 101, 501, 0, &lease));
    assert_true(lease.experiment == 3);
    audit_book_destroy(book);
}

static void the_outlook_tells_whether_waiting_helps(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_pair pair = played(5, 11);
    const uint64_t workers[] = {11, 12};
    struct audit_lease lease;
    audit_want(book, 1, &pair);
    assert_int_equal(audit_look(book, 1, workers, 1).hopeful, 0);
    assert_int_equal(audit_look(book, 1, workers, 2).hopeful, 1);
    assert_true(take(book, 12, 101, 1, 0, &lease));
    assert_int_equal(audit_look(book, 1, workers, 1).hopeful, 1);
    pair.disputed = true;
    audit_pair_add(&pair, 12);
    audit_want(book, 1, &pair);
    struct audit_outlook outlook = audit_look(book, 1, workers, 2);
    assert_true(outlook.tasks == 1 && outlook.disputed == 1 && outlook.hopeful == 0);
    audit_book_destroy(book);
}

/* A thousand pairs in random order of events against a plain table of what each is. */
static void book_agrees_with_a_plain_table(void **state)
{
    (void)state;
    enum { PAIRS = 300, WORKERS = 4, STEPS = 40000 };
    struct audit_book *book = audit_book_create(TERM);
    uint64_t lease_of[PAIRS] = {0}, session_of[PAIRS] = {0}, next_lease = 1;
    bool wanted[PAIRS] = {false};
    unsigned by[PAIRS];
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t bits = mix(17, step);
        unsigned pair = mix_below(mix(bits, 1), PAIRS), worker = 1 + mix_below(mix(bits, 2), WORKERS);
        struct audit_lease lease;
        switch (bits % 4) {
        case 0:
            if (!wanted[pair]) {
                struct audit_pair task = played(pair, worker);
                assert_true(audit_want(book, 1, &task));
                by[pair] = worker;
                wanted[pair] = true;
            }
            break;
        case 1:
            if (take(book, worker, worker, next_lease, 0, &lease)) {
                assert_true(wanted[lease.pair] && lease_of[lease.pair] == 0 && by[lease.pair] != worker);
                lease_of[lease.pair] = next_lease++;
                session_of[lease.pair] = worker;
            } else {
                for (unsigned p = 0; p < PAIRS; p++)
                    assert_true(!wanted[p] || lease_of[p] != 0 || by[p] == worker);
            }
            break;
        case 2:
            assert_true(audit_close(book, 1, pair, &lease) == wanted[pair]);
            assert_true(!wanted[pair] || lease.lease == lease_of[pair]);
            wanted[pair] = false;
            lease_of[pair] = 0;
            break;
        default:
            assert_true(audit_release(book, lease_of[pair], session_of[pair], &lease) ==
                        (lease_of[pair] != 0));
            lease_of[pair] = 0;
        }
    }
    audit_book_destroy(book);
}

/* However many ordinary audits wait, a pair that the prefix waits for has its place. */
static void what_the_prefix_waits_for_finds_room(void **state)
{
    (void)state;
    struct audit_book *book = audit_book_create(TERM);
    struct audit_pair pair = played(0, 1);
    struct audit_lease lease;
    for (pair.pair = 0; pair.pair < AUDIT_TASKS_MAX; pair.pair++)
        assert_true(audit_want(book, 1, &pair));
    assert_false(audit_want(book, 1, &pair));
    pair.held = true;
    for (uint64_t end = pair.pair + AUDIT_HELD_MAX; pair.pair < end; pair.pair++)
        assert_true(audit_want(book, 1, &pair));
    assert_false(audit_want(book, 1, &pair));
    assert_true(audit_close(book, 1, AUDIT_TASKS_MAX, &lease));
    assert_true(audit_want(book, 1, &pair));
    assert_false(audit_want(book, 2, &pair));
    audit_book_destroy(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choice_is_keyed_and_has_its_share),
        cmocka_unit_test(workers_differ_by_key_or_name),
        cmocka_unit_test(a_pair_is_not_for_who_played_it),
        cmocka_unit_test(a_dispute_goes_to_a_third),
        cmocka_unit_test(a_third_worker_breaks_the_tie),
        cmocka_unit_test(what_is_more_urgent_goes_first),
        cmocka_unit_test(a_lease_lives_by_progress),
        cmocka_unit_test(experiments_are_apart),
        cmocka_unit_test(the_outlook_tells_whether_waiting_helps),
        cmocka_unit_test(book_agrees_with_a_plain_table),
        cmocka_unit_test(what_the_prefix_waits_for_finds_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
