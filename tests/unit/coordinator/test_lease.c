#include "coordinator/lease.h"

#include <string.h>

#include "tests/unit/check.h"

enum { TERM = 1000, X = 7, ANN = 101, BOB = 102 };

static struct lease_policy policy(void)
{
    struct lease_policy p = lease_policy_default();
    p.term_ms = TERM;
    p.target_ms = 100;
    p.leases_per_session = 3;
    return p;
}

static struct lease_book *new_book(uint64_t planned, uint64_t window, uint64_t prefix)
{
    struct lease_policy p = policy();
    struct lease_book *book = lease_book_create(&p, 1);
    assert_non_null(book);
    assert_int_equal(lease_experiment_add(book, X, planned, window, prefix), LEASE_OK);
    return book;
}

/* Grants and looks at the range. */
static struct lease grant(struct lease_book *book, uint64_t session, uint32_t credit, int64_t now,
                          uint64_t first, uint32_t count, uint32_t attempt)
{
    struct lease lease;
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){session, credit, 0, 0, 0}, now, &lease),
                     LEASE_OK);
    assert_int_equal(lease.first, first);
    assert_int_equal(lease.count, count);
    assert_int_equal(lease.attempt, attempt);
    assert_int_equal(lease.left, count);
    assert_int_equal(lease.session, session);
    assert_int_equal(lease.deadline_ms, now + TERM);
    return lease;
}

static enum lease_status try_grant(struct lease_book *book, uint64_t session, uint32_t credit, int64_t now)
{
    struct lease lease;
    return lease_grant(book, X, &(struct lease_ask){session, credit, 0, 0, 0}, now, &lease);
}

/* Tunes: a lease lies in one batch, and none goes beyond the last batch that has players. */
static void leases_keep_within_blocks_and_below_the_limit(void **state)
{
    (void)state;
    struct lease_book *book = new_book(40, 1000, 0);
    lease_experiment_bound(book, X, 6, 0);
    assert_int_equal(try_grant(book, ANN, 9, 0), LEASE_NO_PAIRS);
    assert_true(lease_book_waits(book));
    lease_experiment_bound(book, X, 6, 12);
    assert_int_equal(lease_experiment_available(book, X), 12);
    grant(book, ANN, 4, 0, 0, 4, 1);
    grant(book, ANN, 4, 0, 4, 2, 1);
    grant(book, BOB, 4, 0, 6, 1, 1);
    grant(book, BOB, 4, 0, 7, 1, 1);
    for (uint64_t pair = 0; pair < 8; pair++)
        lease_done(book, X, pair, ANN, 1, NULL);
    lease_experiment_advance(book, X, 8);
    struct lease last;
    while (lease_grant(book, X, &(struct lease_ask){.session = BOB, .credit = 9}, 1, &last) == LEASE_OK)
        for (uint64_t pair = last.first; pair < last.first + last.count; pair++)
            lease_done(book, X, pair, BOB, 1, NULL);
    assert_int_equal(last.first + last.count, 12);
    lease_experiment_bound(book, X, 6, 40);
    assert_int_equal(lease_experiment_available(book, X), 28);
    assert_false(lease_book_waits(book));
    lease_book_destroy(book);
}

/* A lost range that is leased again keeps within its block, too. */
static void lost_pairs_keep_within_blocks(void **state)
{
    (void)state;
    struct lease_book *book = new_book(40, 1000, 0);
    struct lease lapsed[8];
    for (int i = 0; i < 3; i++)
        grant(book, ANN, 4, 0, (uint64_t)(4 * i), 4, 1);
    assert_int_equal(lease_expire(book, TERM, lapsed, 8), 3);
    lease_experiment_bound(book, X, 6, 12);
    struct lease again;
    for (uint64_t pair = 0; pair < 12; pair += again.count) {
        assert_int_equal(lease_grant(book, X, &(struct lease_ask){.session = BOB, .credit = 9}, TERM, &again),
                         LEASE_OK);
        assert_int_equal(again.first, pair);
        assert_int_equal(again.first / 6, (again.first + again.count - 1) / 6);
        for (uint64_t done = again.first; done < again.first + again.count; done++)
            lease_done(book, X, done, BOB, TERM, NULL);
    }
    lease_book_destroy(book);
}

static void ranges_follow_each_other(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease one = grant(book, ANN, 100, 0, 0, 4, 1), two = grant(book, BOB, 3, 0, 4, 3, 1);
    assert_true(two.id > one.id);
    assert_int_equal(lease_count(book), 2);
    struct lease found;
    assert_true(lease_of_pair(book, X, 5, &found));
    assert_int_equal(found.id, two.id);
    assert_false(lease_of_pair(book, X, 7, &found));
    assert_int_equal(lease_experiment_available(book, X), 993);
    lease_book_destroy(book);
}

static void a_lease_ends_with_its_last_pair(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease lease = grant(book, ANN, 3, 0, 0, 3, 1), finished[LEASE_TWINS];
    assert_false(lease_done(book, X, 2, ANN, 10, finished));
    assert_false(lease_done(book, X, 2, ANN, 10, finished));
    assert_false(lease_done(book, X, 0, ANN, 10, finished));
    assert_true(lease_done(book, X, 1, ANN, 10, finished));
    assert_int_equal(finished[0].id, lease.id);
    assert_int_equal(finished[0].left, 0);
    assert_int_equal(lease_count(book), 0);
    assert_int_equal(lease_next_deadline(book), INT64_MAX);
    assert_true(lease_pair_done(book, X, 0));
    struct lease_session_view view;
    assert_true(lease_session_find(book, ANN, &view));
    assert_int_equal(view.pairs_out, 0);
    assert_int_equal(view.leases, 0);
    lease_book_destroy(book);
}

/* A worker whose socket answers but whose engine hangs reports the same figure for ever. */
static void only_progress_renews(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease lease = grant(book, ANN, 3, 0, 0, 3, 1), lapsed;
    assert_int_equal(lease_progress(book, lease.id, ANN, 5, 600), LEASE_OK);
    assert_int_equal(lease_next_deadline(book), 600 + TERM);
    assert_int_equal(lease_progress(book, lease.id, ANN, 5, 900), LEASE_STALE);
    assert_int_equal(lease_progress(book, lease.id, ANN, 4, 900), LEASE_STALE);
    assert_int_equal(lease_progress(book, lease.id, BOB, 9, 900), LEASE_UNKNOWN);
    assert_int_equal(lease_next_deadline(book), 600 + TERM);
    assert_int_equal(lease_expire(book, 600 + TERM - 1, &lapsed, 1), 0);
    assert_int_equal(lease_expire(book, 600 + TERM, &lapsed, 1), 1);
    assert_int_equal(lapsed.id, lease.id);
    assert_int_equal(lease_progress(book, lease.id, ANN, 99, 700 + TERM), LEASE_UNKNOWN);
    lease_book_destroy(book);
}

static void a_finished_pair_renews_its_own_session_only(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    grant(book, ANN, 4, 0, 0, 4, 1);
    lease_done(book, X, 0, ANN, 500, NULL);
    assert_int_equal(lease_next_deadline(book), 500 + TERM);
    lease_done(book, X, 1, BOB, 900, NULL);
    lease_done(book, X, 2, 0, 900, NULL);
    assert_int_equal(lease_next_deadline(book), 500 + TERM);
    lease_book_destroy(book);
}

static void what_lapsed_goes_out_first_with_the_next_attempt(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease lapsed[4];
    grant(book, ANN, 4, 0, 0, 4, 1);
    grant(book, ANN, 4, 0, 4, 4, 1);
    grant(book, BOB, 4, 500, 8, 4, 1);
    lease_done(book, X, 5, BOB, 0, NULL);
    assert_int_equal(lease_expire(book, TERM, lapsed, 4), 2);
    assert_int_equal(lapsed[0].first, 0);
    assert_int_equal(lapsed[1].left, 3);
    assert_int_equal(lease_expire(book, TERM, lapsed, 4), 0);
    /* Runs that lie side by side and have the same attempt join; done pairs part them. */
    grant(book, BOB, 3, TERM, 0, 3, 2);
    grant(book, BOB, 9, TERM, 3, 2, 2);
    assert_int_equal(lease_expire(book, 2 * TERM, lapsed, 4), 3);
    /* A session that let leases lapse starts again from small ones. */
    grant(book, ANN, 9, 2 * TERM, 0, 2, 3);
    struct lease_session_view view;
    assert_true(lease_session_find(book, BOB, &view));
    assert_int_equal(view.pairs_out, 0);
    lease_book_destroy(book);
}

static void a_late_result_saves_the_pair_from_being_played_again(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease lapsed, finished[LEASE_TWINS];
    grant(book, ANN, 4, 0, 0, 4, 1);
    assert_int_equal(lease_expire(book, TERM, &lapsed, 1), 1);
    assert_false(lease_done(book, X, 0, ANN, TERM, finished));
    assert_int_equal(lease_experiment_available(book, X), 999);
    struct lease again = grant(book, BOB, 2, TERM, 1, 2, 2);
    /* And one that comes while another plays it ends that lease. */
    assert_false(lease_done(book, X, 1, ANN, TERM, finished));
    assert_true(lease_done(book, X, 2, ANN, TERM, finished));
    assert_int_equal(finished[0].id, again.id);
    assert_int_equal(finished[0].session, BOB);
    lease_book_destroy(book);
}

static void nothing_is_leased_beyond_window_or_plan(void **state)
{
    (void)state;
    struct lease_book *book = new_book(20, 10, 0);
    uint64_t next = 0;
    while (try_grant(book, ANN + next, 3, 0) == LEASE_OK)
        next++;
    struct lease found;
    assert_true(lease_of_pair(book, X, 9, &found));
    assert_false(lease_of_pair(book, X, 10, &found));
    assert_int_equal(lease_experiment_available(book, X), 0);
    assert_int_equal(try_grant(book, BOB, 3, 0), LEASE_NO_PAIRS);
    /* Pairs beyond the lowest do not move the window; the prefix does. */
    lease_done(book, X, 5, ANN, 0, NULL);
    assert_int_equal(lease_experiment_available(book, X), 0);
    lease_experiment_advance(book, X, 4);
    assert_int_equal(lease_experiment_available(book, X), 4);
    lease_experiment_advance(book, X, 2);
    lease_experiment_advance(book, X, 18);
    assert_int_equal(lease_experiment_available(book, X), 2);
    lease_experiment_advance(book, X, 20);
    assert_int_equal(lease_experiment_available(book, X), 0);
    assert_int_equal(lease_count(book), 0);
    lease_book_destroy(book);
}

static void a_closed_experiment_grants_nothing(void **state)
{
    (void)state;
    struct lease_book *book = new_book(100, 100, 0);
    struct lease lease = grant(book, ANN, 2, 0, 0, 2, 1);
    lease_experiment_close(book, X);
    assert_int_equal(try_grant(book, BOB, 3, 0), LEASE_CLOSED);
    assert_int_equal(lease_experiment_available(book, X), 0);
    assert_int_equal(lease_progress(book, lease.id, ANN, 1, 10), LEASE_OK);
    lease_experiment_reopen(book, X);
    grant(book, BOB, 2, 10, 2, 2, 1);
    assert_int_equal(lease_experiment_remove(book, X), 2);
    assert_int_equal(lease_experiment_remove(book, X), 0);
    assert_int_equal(try_grant(book, BOB, 3, 10), LEASE_UNKNOWN);
    assert_int_equal(lease_count(book), 0);
    lease_book_destroy(book);
}

static void credit_and_number_of_leases_bound_a_session(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    assert_int_equal(try_grant(book, ANN, 0, 0), LEASE_NO_CREDIT);
    for (int i = 0; i < 3; i++) {
        assert_true(lease_session_has_room(book, ANN));
        assert_int_equal(try_grant(book, ANN, 1, 0), LEASE_OK);
    }
    assert_false(lease_session_has_room(book, ANN));
    assert_int_equal(try_grant(book, ANN, 1, 0), LEASE_TOO_MANY);
    struct lease_session_view view;
    assert_true(lease_session_find(book, ANN, &view));
    assert_int_equal(view.pairs_out, 3);
    assert_int_equal(try_grant(book, BOB, 1, 0), LEASE_OK);
    lease_book_destroy(book);
}

static void draining_gives_back_at_once(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease one = grant(book, ANN, 2, 0, 0, 2, 1), released[2];
    grant(book, ANN, 2, 0, 2, 2, 1);
    grant(book, ANN, 2, 0, 4, 2, 1);
    assert_int_equal(lease_release(book, one.id, BOB, released), LEASE_UNKNOWN);
    assert_int_equal(lease_release(book, one.id, ANN, released), LEASE_OK);
    assert_int_equal(lease_release(book, one.id, ANN, released), LEASE_UNKNOWN);
    assert_int_equal(lease_session_end(book, ANN, released, 1), 1);
    assert_int_equal(lease_session_end(book, ANN, released, 2), 1);
    assert_int_equal(lease_session_end(book, ANN, released, 2), 0);
    struct lease_session_view view;
    assert_false(lease_session_find(book, ANN, &view));
    grant(book, BOB, 6, 0, 0, 4, 2);
    lease_book_destroy(book);
}

static void a_session_takes_its_leases_to_its_new_number(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease one = grant(book, ANN, 2, 0, 0, 2, 1), two = grant(book, BOB, 2, 0, 2, 2, 1);
    assert_int_equal(lease_session_rename(book, ANN, 500), LEASE_OK);
    assert_int_equal(lease_progress(book, one.id, ANN, 1, 1), LEASE_UNKNOWN);
    assert_int_equal(lease_progress(book, one.id, 500, 1, 1), LEASE_OK);
    assert_int_equal(lease_session_rename(book, 500, BOB), LEASE_OK);
    struct lease_session_view view;
    assert_true(lease_session_find(book, BOB, &view));
    assert_int_equal(view.leases, 2);
    assert_int_equal(view.pairs_out, 4);
    assert_int_equal(lease_progress(book, one.id, BOB, 2, 2), LEASE_OK);
    assert_int_equal(lease_progress(book, two.id, BOB, 2, 2), LEASE_OK);
    assert_int_equal(lease_session_rename(book, 500, 501), LEASE_UNKNOWN);
    lease_book_destroy(book);
}

/* Games were set aside, so that what was leased and finished lies far beyond the window: it is not played
 * again, its lease goes on, and what lies between is leased as ever. */
static void what_lies_beyond_the_window_when_the_prefix_falls_back_is_kept(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 10, 2);
    struct lease row = {.id = 7, .experiment = X, .session = ANN, .first = 40, .count = 10, .attempt = 2};
    assert_int_equal(lease_restore(book, &row, true, 0), LEASE_OK);
    for (uint64_t pair = 4; pair < 60; pair++)
        if (pair != 30 && (pair < 40 || pair >= 50))
            lease_done(book, X, pair, 0, 0, NULL);
    assert_int_equal(lease_experiment_available(book, X), 3);
    grant(book, BOB, 1, 0, 2, 1, 1);
    grant(book, BOB, 1, 0, 3, 1, 1);
    grant(book, BOB, 1, 0, 30, 1, 1);
    assert_int_equal(try_grant(book, 77, 1, 0), LEASE_NO_PAIRS);
    struct lease found;
    assert_true(lease_find(book, 7, &found));
    assert_int_equal(found.left, 10);
    for (uint64_t pair = 0; pair < 60; pair++)
        lease_done(book, X, pair, 0, 0, NULL);
    lease_experiment_advance(book, X, 60);
    assert_int_equal(lease_experiment_available(book, X), 10);
    grant(book, ANN, 10, 0, 60, 4, 1);
    lease_book_destroy(book);
}

static void a_restart_resumes_from_the_rows(void **state)
{
    (void)state;
    struct lease_book *book = new_book(100, 50, 10);
    struct lease rows[] = {
        {.id = 5, .experiment = X, .session = ANN, .first = 8, .count = 6, .attempt = 1},
        {.id = 6, .experiment = X, .session = BOB, .first = 14, .count = 6, .attempt = 2},
        {.id = 3, .experiment = X, .session = BOB, .first = 14, .count = 8, .attempt = 1},
        {.id = 9, .experiment = X, .session = ANN, .first = 4, .count = 6, .attempt = 1},
        {.id = 10, .experiment = X, .session = ANN, .first = 13, .count = 2, .attempt = 3},
        {.id = 12, .experiment = X + 1, .session = ANN, .first = 0, .count = 6, .attempt = 3},
    };
    assert_int_equal(lease_restore(book, &rows[0], true, 7000), LEASE_OK);
    assert_int_equal(lease_restore(book, &rows[0], true, 7000), LEASE_EXISTS);
    assert_int_equal(lease_restore(book, &rows[1], false, 7000), LEASE_OK);
    assert_int_equal(lease_restore(book, &rows[2], false, 7000), LEASE_OK);
    assert_int_equal(lease_restore(book, &rows[3], true, 7000), LEASE_STALE);
    assert_int_equal(lease_restore(book, &rows[4], true, 7000), LEASE_OVERLAP);
    assert_int_equal(lease_restore(book, &rows[5], true, 7000), LEASE_UNKNOWN);
    rows[0].attempt = 0;
    assert_int_equal(lease_restore(book, &rows[0], true, 7000), LEASE_BAD);
    /* The open lease has its full term again, and what was stored beyond the prefix is not played again. */
    assert_int_equal(lease_next_deadline(book), 7000 + TERM);
    assert_false(lease_done(book, X, 11, 0, 7000, NULL));
    assert_false(lease_done(book, X, 16, 0, 7000, NULL));
    assert_false(lease_done(book, X, 40, 0, 7000, NULL));
    struct lease found;
    assert_true(lease_find(book, 5, &found));
    assert_int_equal(found.left, 3);
    assert_int_equal(lease_experiment_available(book, X), 50 - 4 - 1 - 1);
    /* Lapsed ranges go out under the attempt after their last; the numbers go on after the highest. */
    struct lease next =
        grant(book, BOB, 9, 7000, 14, 1, 4); /* the third was taken by the row that overlaps */
    assert_int_equal(next.id, 11);
    grant(book, BOB, 9, 7000, 15, 1, 3);
    grant(book, 201, 9, 7000, 17, 3, 3);
    grant(book, 200, 9, 7000, 20, 2, 2);
    grant(book, 200, 9, 7000, 22, 4, 1);
    lease_book_destroy(book);
}

static void a_disputed_pair_goes_out_again(void **state)
{
    (void)state;
    struct lease_book *book = new_book(100, 100, 0);
    grant(book, ANN, 2, 0, 0, 2, 1);
    assert_int_equal(lease_reissue(book, X, 1, 0), LEASE_BAD);
    lease_done(book, X, 1, ANN, 0, NULL);
    assert_int_equal(lease_reissue(book, X, 1, 0), LEASE_OK);
    assert_int_equal(lease_reissue(book, X, 1, 0), LEASE_BAD);
    assert_int_equal(lease_reissue(book, X + 1, 1, 0), LEASE_UNKNOWN);
    grant(book, BOB, 2, 0, 1, 1, 2);
    lease_book_destroy(book);
}

static void a_disputed_pair_goes_to_another_session(void **state)
{
    (void)state;
    struct lease_book *book = new_book(3, 100, 0);
    grant(book, ANN, 1, 0, 0, 1, 1);
    lease_done(book, X, 0, ANN, 0, NULL);
    grant(book, ANN, 1, 0, 1, 1, 1);
    lease_done(book, X, 1, ANN, 0, NULL);
    assert_int_equal(lease_reissue(book, X, 0, ANN), LEASE_OK);
    assert_int_equal(lease_reissue(book, X, 1, BOB), LEASE_OK);
    grant(book, ANN, 1, 0, 1, 1, 2); /* not 0, which it played last */
    assert_true(lease_experiment_has_for(book, X, ANN));
    grant(book, ANN, 1, 0, 2, 1, 1); /* fresh */
    assert_false(lease_experiment_has_for(book, X, ANN));
    assert_int_equal(try_grant(book, ANN, 1, 0), LEASE_NO_PAIRS);
    assert_true(lease_experiment_has_for(book, X, BOB));
    grant(book, BOB, 1, 0, 0, 1, 2);
    lease_book_destroy(book);
}

/* Finishes what a session has, `ms` a pair after the grant; returns how many it had got. */
static uint32_t play(struct lease_book *book, uint64_t session, int64_t *now, int64_t ms)
{
    struct lease lease;
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){session, 100000, 0, 0, 0}, *now, &lease),
                     LEASE_OK);
    for (uint32_t i = 0; i < lease.count; i++)
        lease_done(book, X, lease.first + i, session, *now += ms, NULL);
    lease_experiment_cost(book, X, session, 2 * lease.count, (double)(lease.count * ms));
    return lease.count;
}

static void size_follows_the_measured_speed(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000000, 1000000, 0);
    int64_t now = 0;
    /* target 100 ms; a pair takes 2: from 4, at most doubling, to 50. */
    uint32_t sizes[] = {4, 8, 16, 32, 50, 50};
    for (int i = 0; i < 6; i++)
        assert_int_equal(play(book, ANN, &now, 2), sizes[i]);
    struct lease_session_view view;
    assert_true(lease_session_find(book, ANN, &view));
    assert_close(view.pair_ms, 2, 1e-9);
    /* Slower than the target: one at a time. */
    for (int i = 0; i < 8; i++)
        play(book, BOB, &now, 150);
    assert_int_equal(play(book, BOB, &now, 150), 1);
    /* What the worker says is believed until there is a measurement. */
    lease_book_destroy(book);
    book = new_book(1000000, 1000000, 0);
    struct lease lease;
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){300, 100000, 0, 0, 6000}, now, &lease),
                     LEASE_OK);
    assert_int_equal(lease.count, 10);
    /* And the policy's largest is the largest. */
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){301, 100000, 0, 0, UINT32_MAX}, now, &lease),
                     LEASE_OK);
    assert_int_equal(lease.count, 4096);
    lease_book_destroy(book);
}

static void ranges_shrink_near_the_end(void **state)
{
    (void)state;
    struct lease_book *book = new_book(100, 1000, 0);
    struct lease lease;
    uint32_t largest = 0, last = 0;
    for (uint64_t session = 1;
         lease_grant(book, X, &(struct lease_ask){session, 1000, 0, 0, 600000}, 0, &lease) == LEASE_OK;
         session++) {
        largest = lease.count > largest ? lease.count : largest;
        last = lease.count;
    }
    assert_int_equal(largest, 50);
    assert_int_equal(last, 1);
    assert_int_equal(lease_experiment_available(book, X), 0);
    lease_book_destroy(book);
}

/* One figure for all experiments made leases of a slow one as large as those of a fast one, and the other way
 * round.
 */
static void each_experiment_has_its_own_speed(void **state)
{
    (void)state;
    enum { SLOW = 8 };
    struct lease_book *book = new_book(1000000, 1000000, 0);
    int64_t now = 0;
    struct lease lease;
    assert_int_equal(lease_experiment_add(book, SLOW, 1000000, 1000000, 0), LEASE_OK);
    for (int i = 0; i < 6; i++)
        play(book, ANN, &now, 2);
    /* 90 ms of core time a pair: of a session that never played it, one pair fills the target of 100 ms. */
    lease_experiment_cost(book, SLOW, BOB, 100, 50 * 90.0);
    struct lease_ask ask = {.session = ANN, .credit = 1000, .slots = 1};
    assert_int_equal(lease_grant(book, SLOW, &ask, now, &lease), LEASE_OK);
    assert_int_equal(lease.count, 1);
    /* Four play threads take four times as many, and no more than was asked for. */
    ask = (struct lease_ask){.session = 300, .credit = 1000, .slots = 4};
    assert_int_equal(lease_grant(book, SLOW, &ask, now, &lease), LEASE_OK);
    assert_int_equal(lease.count, 4);
    ask.work_ms = 50;
    assert_int_equal(lease_grant(book, SLOW, &ask, now, &lease), LEASE_OK);
    assert_int_equal(lease.count, 2);
    /* Of one that nobody has played, what the worker says of others means nothing. */
    assert_int_equal(lease_experiment_add(book, SLOW + 1, 1000000, 1000000, 0), LEASE_OK);
    ask = (struct lease_ask){.session = ANN, .credit = 1000, .slots = 1, .pairs_per_minute = 30000};
    assert_int_equal(lease_grant(book, SLOW + 1, &ask, now, &lease), LEASE_OK);
    assert_int_equal(lease.count, 4);
    assert_int_equal(lease_release(book, lease.id, ANN, &lease), LEASE_OK);
    /* And the fast one goes on as it was. */
    assert_int_equal(play(book, ANN, &now, 2), 50);
    lease_book_destroy(book);
}

/* fishtest#1635: whole batches left cores of odd workers idle. */
static void the_first_lease_fills_every_play_thread(void **state)
{
    (void)state;
    static const uint32_t slots[] = {1, 3, 7, 11, 13, 64};
    struct lease_book *book = new_book(1000000, 1000000, 0);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        struct lease lease;
        struct lease_ask ask = {.session = 500 + i, .credit = 1000, .slots = slots[i]};
        assert_int_equal(lease_grant(book, X, &ask, 0, &lease), LEASE_OK);
        assert_true(2 * lease.count >= slots[i]);
    }
    lease_book_destroy(book);
}

static void a_cap_bounds_the_cores_at_once(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1000, 1000, 0);
    struct lease_experiment_view view;
    struct lease big, more, small, released;
    lease_experiment_terms(book, X, 10, false);
    struct lease_ask eight = {.session = ANN, .credit = 4, .slots = 8},
                     four = {.session = BOB, .credit = 4, .slots = 4};
    assert_int_equal(lease_grant(book, X, &eight, 0, &big), LEASE_OK);
    /* More pairs for the same play threads are no more cores. */
    assert_int_equal(lease_grant(book, X, &eight, 0, &more), LEASE_OK);
    assert_true(lease_experiment_look(book, X, BOB, 4, &view) && view.cores == 8 && !view.capped);
    /* Two cores are left: one pair, of whose two games each takes one. */
    assert_int_equal(lease_grant(book, X, &four, 0, &small), LEASE_OK);
    assert_int_equal(small.count, 1);
    assert_true(lease_experiment_look(book, X, BOB, 4, &view) && view.cores == 10 && view.capped);
    assert_int_equal(lease_grant(book, X, &four, 0, &released), LEASE_CAPPED);
    /* The rest of the session's pairs keeps its play threads busy: nothing comes free. */
    assert_int_equal(lease_release(book, big.id, ANN, &released), LEASE_OK);
    assert_true(lease_experiment_look(book, X, BOB, 4, &view) && view.cores == 10);
    assert_int_equal(lease_release(book, more.id, ANN, &released), LEASE_OK);
    assert_true(lease_experiment_look(book, X, BOB, 4, &view) && view.cores == 2 && !view.capped);
    assert_int_equal(lease_grant(book, X, &four, 0, &more), LEASE_OK);
    assert_true(lease_experiment_look(book, X, BOB, 4, &view) && view.cores == 4);
    lease_book_destroy(book);
}

static struct lease twin(struct lease_book *book, uint64_t session, int64_t now, uint64_t first,
                         uint32_t count)
{
    struct lease lease;
    struct lease_ask ask = {.session = session, .credit = 100, .slots = 1};
    assert_true(lease_has_twin(book, X, session, now));
    assert_int_equal(lease_twin(book, X, &ask, now, &lease), LEASE_OK);
    assert_int_equal(lease.first, first);
    assert_int_equal(lease.count, count);
    return lease;
}

static void last_ranges_go_out_twice(void **state)
{
    (void)state;
    struct lease_policy p = policy();
    p.twin_after_ms = 50;
    struct lease_book *book = lease_book_create(&p, 1);
    struct lease lease, finished[LEASE_TWINS];
    struct lease_ask ann = {.session = ANN, .credit = 8, .slots = 4}, bob = {.session = BOB, .credit = 8};
    assert_int_equal(lease_experiment_add(book, X, 8, 8, 0), LEASE_OK);
    lease_experiment_terms(book, X, 0, true);
    assert_int_equal(lease_grant(book, X, &ann, 0, &lease), LEASE_OK);
    assert_int_equal(lease.count, 4);
    assert_false(lease_has_twin(book, X, BOB, 60)); /* four are there still */
    assert_int_equal(lease_grant(book, X, &ann, 0, &lease), LEASE_OK);
    assert_int_equal(lease_grant(book, X, &ann, 0, &lease), LEASE_OK);
    assert_int_equal(lease_experiment_available(book, X), 1);
    assert_int_equal(lease_grant(book, X, &bob, 0, &lease), LEASE_OK);
    assert_int_equal(lease.first, 7);
    assert_int_equal(lease_done(book, X, 7, BOB, 10, finished), 1);
    /* Not before its time, not to the one that plays it. */
    assert_false(lease_has_twin(book, X, BOB, 49));
    assert_false(lease_has_twin(book, X, ANN, 60));
    struct lease half = twin(book, BOB, 60, 2, 2);
    assert_int_equal(half.attempt, 2);
    lease_experiment_close(book, X);
    assert_false(lease_has_twin(book, X, BOB, 60));
    lease_experiment_reopen(book, X);
    /* The first to finish a pair finishes it for both. */
    assert_int_equal(lease_done(book, X, 2, ANN, 70, finished), 0);
    assert_int_equal(lease_done(book, X, 3, BOB, 70, finished), 1);
    assert_int_equal(finished[0].id, half.id);
    assert_int_equal(lease_done(book, X, 0, ANN, 70, finished), 0);
    assert_int_equal(lease_done(book, X, 1, ANN, 70, finished), 1);
    assert_int_equal(finished[0].id, 1);
    lease_book_destroy(book);
}

static void of_two_leases_one_may_lapse(void **state)
{
    (void)state;
    struct lease_policy p = policy();
    p.twin_after_ms = 50;
    struct lease_ask ann = {.session = ANN, .credit = 3};
    struct lease first, second, lapsed[4], finished[LEASE_TWINS];
    for (int who = 0; who < 2; who++) {
        struct lease_book *book = lease_book_create(&p, 1);
        assert_int_equal(lease_experiment_add(book, X, 1, 8, 0), LEASE_OK);
        lease_experiment_terms(book, X, 0, true);
        assert_int_equal(lease_grant(book, X, &ann, 0, &first), LEASE_OK);
        second = twin(book, BOB, 60, 0, 1);
        if (who == 0) { /* the first lapses, the second holds the pair alone */
            assert_int_equal(lease_progress(book, second.id, BOB, 1, 900), LEASE_OK);
            assert_int_equal(lease_expire(book, TERM, lapsed, 4), 1);
            assert_int_equal(lapsed[0].id, first.id);
        } else {
            assert_int_equal(lease_progress(book, first.id, ANN, 1, 900), LEASE_OK);
            assert_int_equal(lease_expire(book, 60 + TERM, lapsed, 4), 1);
            assert_int_equal(lapsed[0].id, second.id);
        }
        assert_int_equal(lapsed[0].left, 1);
        assert_int_equal(lease_experiment_available(book, X), 0);
        assert_int_equal(lease_count(book), 1);
        struct lease_session_view view;
        assert_true(lease_session_find(book, who == 0 ? ANN : BOB, &view) && view.pairs_out == 0);
        assert_true(lease_session_find(book, who == 0 ? BOB : ANN, &view) && view.pairs_out == 1);
        /* It may have another. */
        twin(book, 300, 900 + TERM - 1, 0, 1);
        assert_int_equal(lease_done(book, X, 0, 300, 900 + TERM - 1, finished), 2);
        assert_int_equal(lease_count(book), 0);
        lease_book_destroy(book);
    }
}

/* Two runs of a timed game differ: such a range never goes out twice. */
static void timed_ranges_have_no_twin(void **state)
{
    (void)state;
    struct lease_book *book = new_book(1, 8, 0);
    struct lease lease;
    struct lease_ask ann = {.session = ANN, .credit = 3}, bob = {.session = BOB, .credit = 3};
    lease_experiment_terms(book, X, 0, false);
    assert_int_equal(lease_grant(book, X, &ann, 0, &lease), LEASE_OK);
    assert_false(lease_has_twin(book, X, BOB, 100000));
    assert_int_equal(lease_twin(book, X, &bob, 100000, &lease), LEASE_NO_PAIRS);
    lease_book_destroy(book);
}

static void bad_policies_and_experiments_are_refused(void **state)
{
    (void)state;
    struct lease_policy p = policy();
    p.pairs_max = LEASE_PAIRS_MAX + 1;
    assert_null(lease_book_create(&p, 1));
    p = policy();
    p.term_ms = 0;
    assert_null(lease_book_create(&p, 1));
    struct lease_book *book = new_book(10, 10, 0);
    assert_int_equal(lease_experiment_add(book, X, 10, 10, 0), LEASE_EXISTS);
    assert_int_equal(lease_experiment_add(book, 8, 0, 10, 0), LEASE_BAD);
    assert_int_equal(lease_experiment_add(book, 8, 10, 0, 0), LEASE_BAD);
    assert_int_equal(lease_experiment_add(book, 8, 10, LEASE_WINDOW_MAX + 1, 0), LEASE_BAD);
    assert_int_equal(lease_experiment_add(book, 8, 10, 10, 11), LEASE_BAD);
    assert_int_equal(lease_experiment_add(book, 8, 10, 10, 10), LEASE_OK);
    assert_int_equal(lease_experiment_available(book, 8), 0);
    lease_book_destroy(book);
    lease_book_destroy(NULL);
}

static void sessions_have_a_limit(void **state)
{
    (void)state;
    struct lease_policy p = policy();
    struct lease lease, released[1];
    p.sessions_max = 2;
    struct lease_book *book = lease_book_create(&p, 1);
    assert_int_equal(lease_experiment_add(book, X, 100, 100, 0), LEASE_OK);
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){1, 1, 0, 0, 0}, 0, &lease), LEASE_OK);
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){2, 1, 0, 0, 0}, 0, &lease), LEASE_OK);
    assert_false(lease_session_has_room(book, 3));
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){3, 1, 0, 0, 0}, 0, &lease), LEASE_TOO_MANY);
    assert_int_equal(lease_session_end(book, 1, released, 1), 1);
    assert_int_equal(lease_grant(book, X, &(struct lease_ask){3, 1, 0, 0, 0}, 0, &lease), LEASE_OK);
    lease_book_destroy(book);
}

/* 10,000 sessions over a window of a million pairs: with anything linear in either this would take minutes.
 */
static void ten_thousand_sessions_are_no_burden(void **state)
{
    (void)state;
    enum { SESSIONS = 10000, ROUNDS = 20, MILLION = 1 << 20 };
    struct lease_policy p = lease_policy_default();
    struct lease_book *book = lease_book_create(&p, 1);
    static struct lease lapsed[SESSIONS];
    int64_t now = 0;
    uint64_t prefix = 0;
    assert_int_equal(lease_experiment_add(book, X, 100 * MILLION, MILLION, 0), LEASE_OK);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint64_t session = 1; session <= SESSIONS; session++) {
            struct lease lease;
            now += 1;
            assert_int_equal(lease_grant(book, X, &(struct lease_ask){session, 20, 0, 0, 300}, now, &lease),
                             LEASE_OK);
            /* Three in four finish; the rest lapse. */
            for (uint32_t i = 0; session % 4 && i < lease.count; i++)
                lease_done(book, X, lease.first + i, session, now, NULL);
        }
        size_t count = lease_expire(book, now += 2 * p.term_ms, lapsed, SESSIONS);
        assert_int_equal(count, SESSIONS / 4);
        assert_int_equal(lease_count(book), 0);
        while (lease_pair_done(book, X, prefix))
            prefix++;
        lease_experiment_advance(book, X, prefix);
    }
    assert_true(prefix > MILLION / 2);
    lease_book_destroy(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leases_keep_within_blocks_and_below_the_limit),
        cmocka_unit_test(lost_pairs_keep_within_blocks),
        cmocka_unit_test(ranges_follow_each_other),
        cmocka_unit_test(a_lease_ends_with_its_last_pair),
        cmocka_unit_test(only_progress_renews),
        cmocka_unit_test(a_finished_pair_renews_its_own_session_only),
        cmocka_unit_test(what_lapsed_goes_out_first_with_the_next_attempt),
        cmocka_unit_test(a_late_result_saves_the_pair_from_being_played_again),
        cmocka_unit_test(nothing_is_leased_beyond_window_or_plan),
        cmocka_unit_test(a_closed_experiment_grants_nothing),
        cmocka_unit_test(credit_and_number_of_leases_bound_a_session),
        cmocka_unit_test(draining_gives_back_at_once),
        cmocka_unit_test(a_session_takes_its_leases_to_its_new_number),
        cmocka_unit_test(what_lies_beyond_the_window_when_the_prefix_falls_back_is_kept),
        cmocka_unit_test(a_restart_resumes_from_the_rows),
        cmocka_unit_test(a_disputed_pair_goes_out_again),
        cmocka_unit_test(a_disputed_pair_goes_to_another_session),
        cmocka_unit_test(size_follows_the_measured_speed),
        cmocka_unit_test(ranges_shrink_near_the_end),
        cmocka_unit_test(each_experiment_has_its_own_speed),
        cmocka_unit_test(the_first_lease_fills_every_play_thread),
        cmocka_unit_test(a_cap_bounds_the_cores_at_once),
        cmocka_unit_test(last_ranges_go_out_twice),
        cmocka_unit_test(of_two_leases_one_may_lapse),
        cmocka_unit_test(timed_ranges_have_no_twin),
        cmocka_unit_test(bad_policies_and_experiments_are_refused),
        cmocka_unit_test(sessions_have_a_limit),
        cmocka_unit_test(ten_thousand_sessions_are_no_burden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
