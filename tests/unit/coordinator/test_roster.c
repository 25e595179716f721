#include <stdio.h>
#include <string.h>

#include "coordinator/roster.h"
#include "tests/unit/check.h"

static struct socket_peer peer_of(uint32_t number)
{
    struct socket_peer peer = {.id_size = 5};
    memcpy(peer.id + 1, &number, sizeof number);
    snprintf(peer.user, sizeof peer.user, "local");
    return peer;
}

static void count_session(void *context, struct session *session)
{
    (void)session;
    ++*(size_t *)context;
}

static void finds_sessions_by_number_and_connection(void **state)
{
    (void)state;
    struct roster *roster = roster_create();
    for (uint32_t i = 1; i <= 20000; i++) {
        struct socket_peer peer = peer_of(i);
        assert_non_null(roster_add(roster, i, &peer));
    }
    for (uint32_t i = 1; i <= 20000; i++) {
        struct socket_peer peer = peer_of(i);
        assert_int_equal(roster_find(roster, i)->id, i);
        assert_int_equal(roster_find_peer(roster, &peer)->id, i);
    }
    size_t seen = 0;
    roster_each(roster, count_session, &seen);
    assert_int_equal(seen, 20000);
    assert_null(roster_find(roster, 20001));
    roster_destroy(roster);
}

static void a_session_moves_to_its_new_connection(void **state)
{
    (void)state;
    struct roster *roster = roster_create();
    struct socket_peer before = peer_of(1), after = peer_of(2);
    struct session *session = roster_add(roster, 77, &before);
    roster_move(roster, session, &after);
    assert_null(roster_find_peer(roster, &before));
    assert_ptr_equal(roster_find_peer(roster, &after), session);
    assert_ptr_equal(roster_find(roster, 77), session);
    roster_remove(roster, session);
    assert_null(roster_find_peer(roster, &after));
    assert_null(roster_find(roster, 77));
    assert_int_equal(roster_count(roster), 0);
    roster_destroy(roster);
}

static void remove_if_even(void *context, struct session *session)
{
    if (session->id % 2 == 0)
        roster_remove(context, session);
}

static void sessions_may_go_while_all_are_visited(void **state)
{
    (void)state;
    struct roster *roster = roster_create();
    for (uint32_t i = 1; i <= 1000; i++) {
        struct socket_peer peer = peer_of(i);
        roster_add(roster, i, &peer);
    }
    roster_each(roster, remove_if_even, roster);
    assert_int_equal(roster_count(roster), 500);
    assert_null(roster_find(roster, 500));
    assert_non_null(roster_find(roster, 501));
    roster_destroy(roster);
}

static void is_bounded(void **state)
{
    (void)state;
    struct roster *roster = roster_create();
    for (uint32_t i = 1; i <= ROSTER_SESSIONS_MAX; i++) {
        struct socket_peer peer = peer_of(i);
        assert_non_null(roster_add(roster, i, &peer));
    }
    struct socket_peer peer = peer_of(ROSTER_SESSIONS_MAX + 1);
    assert_null(roster_add(roster, ROSTER_SESSIONS_MAX + 1, &peer));
    roster_destroy(roster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_sessions_by_number_and_connection),
        cmocka_unit_test(a_session_moves_to_its_new_connection),
        cmocka_unit_test(sessions_may_go_while_all_are_visited),
        cmocka_unit_test(is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
