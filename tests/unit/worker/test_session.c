/* The table of steps: every step there is, and the refusal of every step there is not. */
#include "worker/session.h"

#include "tests/unit/check.h"

/* The whole table, written a second time by hand: rows are states, columns events; -1 is a refusal. */
static const int expected[SESSION_STATES][SESSION_EVENTS] = {
    /*                    connect           welcome        silence        stranger          put-off barred
                          leave             released */
    [SESSION_APART] = {SESSION_GREETING, -1, -1, -1, -1, -1, SESSION_OVER, -1},
    [SESSION_GREETING] = {-1, SESSION_READY, SESSION_APART, -1, SESSION_APART, SESSION_OVER, SESSION_OVER,
                          -1},
    [SESSION_READY] = {-1, -1, SESSION_APART, SESSION_GREETING, SESSION_APART, SESSION_OVER, SESSION_LEAVING,
                       -1},
    [SESSION_LEAVING] = {-1, -1, SESSION_OVER, SESSION_OVER, -1, SESSION_OVER, SESSION_OVER, SESSION_OVER},
    [SESSION_OVER] = {-1, -1, -1, -1, -1, -1, -1, -1},
};

static void every_step_and_every_refusal(void **state)
{
    (void)state;
    for (int from = 0; from < SESSION_STATES; from++)
        for (int event = 0; event < SESSION_EVENTS; event++) {
            struct session session = {.state = (enum session_state)from};
            int next = expected[from][event];
            assert_int_equal(session_next((enum session_state)from, (enum session_event)event), next);
            assert_int_equal(session_step(&session, (enum session_event)event), next < 0 ? -1 : 0);
            assert_int_equal(session.state, next < 0 ? from : next);
            assert_int_equal(session.refused_steps, next < 0 ? 1 : 0);
        }
}

static void everything_has_its_own_name(void **state)
{
    (void)state;
    for (int i = 0; i < SESSION_STATES; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(session_state_name((enum session_state)i),
                                    session_state_name((enum session_state)j));
    for (int i = 0; i < SESSION_EVENTS; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(session_event_name((enum session_event)i),
                                    session_event_name((enum session_event)j));
    assert_string_equal(session_state_name(SESSION_STATES), "?");
    assert_string_equal(session_event_name(SESSION_EVENTS), "?");
}

/* From every state but the last, one LEAVE or two end the session: a worker can always be ended. */
static void leaving_always_ends(void **state)
{
    (void)state;
    for (int from = 0; from < SESSION_OVER; from++) {
        struct session session = {.state = (enum session_state)from};
        assert_int_equal(session_step(&session, SESSION_EVENT_LEAVE), 0);
        if (session.state != SESSION_OVER)
            assert_int_equal(session_step(&session, SESSION_EVENT_LEAVE), 0);
        assert_int_equal(session.state, SESSION_OVER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_and_every_refusal),
        cmocka_unit_test(everything_has_its_own_name),
        cmocka_unit_test(leaving_always_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
