/* The notary: what it asks, what it makes of answers, and that a verdict for one part does not stand for
 * another. */
#include "worker/notary.h"

#include "tests/unit/worker/scratch.h"

struct desk {
    struct notary notary;
    struct seal_key key;
    char why[SEAL_REASON_MAX];
};

static int set_up(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    char folder[SCRATCH_PATH], reason[512];
    scratch_create(folder);
    assert_int_equal(seal_key_generate(folder, "boss", &desk->key, reason, sizeof reason), KEYS_OK);
    scratch_destroy(folder);
    memcpy(desk->notary.trust.keys[0], desk->key.key, SEAL_KEY);
    desk->notary.trust.count = 1;
    *state = desk;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static struct seal_subject subject(unsigned number, bool is_source)
{
    struct seal_subject out;
    const uint8_t hash[ARTIFACT_HASH] = {(uint8_t)number, (uint8_t)(number >> 8)};
    seal_subject_of(hash, "#!/bin/sh", 9, is_source, &out);
    return out;
}

static bool answer(struct desk *desk, const struct seal_subject *about, struct seal *seals, size_t count)
{
    struct message_seals message = {.seals = seals, .seal_count = count};
    memcpy(message.sha256, about->sha256, sizeof message.sha256);
    return notary_hear(&desk->notary, &message);
}

static void without_keys_everything_is_good(void **state)
{
    struct desk *desk = *state;
    struct seal_subject one = subject(1, false);
    struct message_seals_request request;
    desk->notary.trust.count = 0;
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_GOOD);
    assert_false(notary_request(&desk->notary, &request));
}

/* Without a restart: what a key signed that is trusted no more is bad, and no key at all is no trust in all.
 */
static void a_key_that_is_taken_back_counts_no_more(void **state)
{
    struct desk *desk = *state;
    struct seal_subject one = subject(1, false);
    struct seal_trust trust = desk->notary.trust, none = {.count = 0};
    struct seal seal;
    seal_make(&desk->key, &one, "x", &seal);
    assert_false(notary_trust(&desk->notary, &trust));
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
    assert_true(answer(desk, &one, &seal, 1));
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_GOOD);
    assert_false(notary_trust(&desk->notary, &trust)); /* the same: nothing is forgotten */
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_GOOD);
    trust.keys[0][0] ^= 1;
    for (int round = 0; round < 2; round++) {
        assert_true(notary_trust(&desk->notary, round == 0 ? &trust : &none));
        assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
        assert_true(answer(desk, &one, &seal, 1));
        assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_BAD);
        assert_non_null(strstr(desk->why, "not trusted here"));
    }
}

static void asks_once_and_remembers_what_is_good(void **state)
{
    struct desk *desk = *state;
    struct seal_subject one = subject(1, false);
    struct message_seals_request request;
    struct seal seal;
    seal_make(&desk->key, &one, "x", &seal);
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
    assert_true(notary_request(&desk->notary, &request));
    assert_memory_equal(request.sha256, one.sha256, MESSAGE_HASH);
    assert_true(answer(desk, &one, &seal, 1));
    assert_false(answer(desk, &one, &seal, 1)); /* nobody asked for this one */
    assert_false(notary_request(&desk->notary, &request));
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_GOOD);
}

static void a_refusal_is_told_once_and_asked_again(void **state)
{
    struct desk *desk = *state;
    struct seal_subject one = subject(1, false);
    struct seal seal;
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
    assert_true(answer(desk, &one, NULL, 0));
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_BAD);
    assert_non_null(strstr(desk->why, "not signed"));
    assert_int_equal(desk->notary.refused, 1);
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
    seal_make(&desk->key, &one, "x", &seal); /* somebody has signed it meanwhile */
    assert_true(answer(desk, &one, &seal, 1));
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_GOOD);
}

static void a_seal_as_an_engine_is_none_of_sources(void **state)
{
    struct desk *desk = *state;
    struct seal_subject engine = subject(1, false), source = subject(1, true);
    struct seal seal;
    seal_make(&desk->key, &engine, "x", &seal);
    assert_int_equal(notary_look(&desk->notary, &engine, desk->why), NOTARY_WAIT);
    assert_true(answer(desk, &engine, &seal, 1));
    assert_int_equal(notary_look(&desk->notary, &engine, desk->why), NOTARY_GOOD);
    assert_int_equal(notary_look(&desk->notary, &source, desk->why), NOTARY_WAIT);
    assert_true(answer(desk, &source, &seal, 1));
    assert_int_equal(notary_look(&desk->notary, &source, desk->why), NOTARY_BAD);
    assert_non_null(strstr(desk->why, "another artifact, kind"));
}

static void a_coordinator_that_refuses_is_a_refusal(void **state)
{
    struct desk *desk = *state;
    struct seal_subject one = subject(1, false);
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
    notary_fail(&desk->notary, "SEALS_REQUEST is not known here");
    assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_BAD);
    assert_non_null(strstr(desk->why, "cannot be had"));
    notary_fail(&desk->notary, "nothing is asked");
}

static void forgets_the_oldest(void **state)
{
    struct desk *desk = *state;
    struct message_seals_request request;
    for (unsigned number = 1; number <= NOTARY_KEPT + 5; number++) {
        struct seal_subject one = subject(number, false);
        assert_int_equal(notary_look(&desk->notary, &one, desk->why), NOTARY_WAIT);
    }
    assert_true(notary_request(&desk->notary, &request));
    assert_int_equal(request.sha256[0], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_keys_everything_is_good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_key_that_is_taken_back_counts_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asks_once_and_remembers_what_is_good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_is_told_once_and_asked_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_seal_as_an_engine_is_none_of_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_coordinator_that_refuses_is_a_refusal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forgets_the_oldest, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
