#include "coordinator/control.h"

#include "tests/unit/check.h"

#include <string.h>

enum { STATES = 6 };
static const enum store_state all[STATES] = {STORE_PENDING, STORE_RUNNING,  STORE_PAUSED,
                                             STORE_BLOCKED, STORE_FINISHED, STORE_STOPPED};

static bool has_ended(enum store_state state)
{
    return state == STORE_FINISHED || state == STORE_STOPPED;
}

/* Every pair of state and verb has an answer, and every refusal a sentence that says what to do. */
static void every_step_is_decided(void **context)
{
    (void)context;
    for (int i = 0; i < STATES; i++)
        for (enum message_verb verb = MESSAGE_VERB_PAUSE; verb < MESSAGE_VERBS; verb++) {
            struct control_step step = control_step(all[i], verb);
            bool speaks = step.effect == CONTROL_REFUSE || step.effect == CONTROL_AGREE ||
                          step.effect == CONTROL_REOPEN;
            assert_int_equal(step.text != NULL, speaks);
            if (step.effect == CONTROL_CHANGE || step.effect == CONTROL_DELETE)
                assert_int_equal(step.state, all[i]);
            assert_true(strlen(control_done_word(verb)) > 3);
            assert_true(strlen(control_verb_name(verb)) > 3);
        }
}

/* A verdict is never undone: what has ended only takes a note, or goes; or goes on when its verdict was
 * withdrawn already. */
static void what_has_ended_stays_ended(void **context)
{
    (void)context;
    for (int i = 0; i < STATES; i++)
        for (enum message_verb verb = MESSAGE_VERB_PAUSE; has_ended(all[i]) && verb < MESSAGE_VERBS; verb++) {
            struct control_step step = control_step(all[i], verb);
            bool may_go_on = all[i] == STORE_FINISHED && verb == MESSAGE_VERB_RESUME;
            assert_int_equal(step.effect, verb == MESSAGE_VERB_NOTE     ? CONTROL_CHANGE
                                          : verb == MESSAGE_VERB_DELETE ? CONTROL_DELETE
                                          : may_go_on                   ? CONTROL_REOPEN
                                                                        : CONTROL_REFUSE);
            if (step.effect == CONTROL_REFUSE || may_go_on)
                assert_non_null(strstr(step.text, "kroo clone"));
        }
}

static void only_what_has_ended_is_deleted(void **context)
{
    (void)context;
    for (int i = 0; i < STATES; i++)
        assert_int_equal(control_step(all[i], MESSAGE_VERB_DELETE).effect,
                         has_ended(all[i]) ? CONTROL_DELETE : CONTROL_REFUSE);
}

/* Work goes out only in the state running; that is reached by approval from pending alone. */
static void pending_runs_by_approval_alone(void **context)
{
    (void)context;
    for (enum message_verb verb = MESSAGE_VERB_PAUSE; verb < MESSAGE_VERBS; verb++) {
        struct control_step step = control_step(STORE_PENDING, verb);
        bool runs = step.effect == CONTROL_MOVE && step.state == STORE_RUNNING;
        assert_int_equal(runs, verb == MESSAGE_VERB_APPROVE);
    }
    for (int i = 0; i < STATES; i++)
        if (all[i] != STORE_PENDING)
            assert_int_equal(control_step(all[i], MESSAGE_VERB_APPROVE).effect, CONTROL_REFUSE);
}

static void pause_and_resume_undo_each_other(void **context)
{
    (void)context;
    struct control_step step = control_step(STORE_RUNNING, MESSAGE_VERB_PAUSE);
    assert_int_equal(step.effect, CONTROL_MOVE);
    assert_int_equal(step.state, STORE_PAUSED);
    assert_int_equal(control_step(step.state, MESSAGE_VERB_PAUSE).effect, CONTROL_AGREE);
    step = control_step(step.state, MESSAGE_VERB_RESUME);
    assert_int_equal(step.effect, CONTROL_MOVE);
    assert_int_equal(step.state, STORE_RUNNING);
    assert_int_equal(control_step(step.state, MESSAGE_VERB_RESUME).effect, CONTROL_AGREE);
    assert_int_equal(control_step(STORE_BLOCKED, MESSAGE_VERB_RESUME).state, STORE_RUNNING);
    assert_int_equal(control_step(STORE_BLOCKED, MESSAGE_VERB_PAUSE).effect, CONTROL_REFUSE);
}

/* From the wire or from a later release. */
static void nonsense_is_refused(void **context)
{
    (void)context;
    assert_int_equal(control_step((enum store_state)99, MESSAGE_VERB_PAUSE).effect, CONTROL_REFUSE);
    assert_int_equal(control_step(STORE_RUNNING, (enum message_verb)0).effect, CONTROL_REFUSE);
    assert_int_equal(control_step(STORE_RUNNING, MESSAGE_VERBS).effect, CONTROL_REFUSE);
    assert_string_equal(control_done_word(MESSAGE_VERBS), "?");
    assert_string_equal(control_verb_name((enum message_verb)0), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_decided),
        cmocka_unit_test(what_has_ended_stays_ended),
        cmocka_unit_test(only_what_has_ended_is_deleted),
        cmocka_unit_test(pending_runs_by_approval_alone),
        cmocka_unit_test(pause_and_resume_undo_each_other),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
