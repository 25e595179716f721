#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/allowlist.h"
#include "tests/unit/check.h"

static const char worker_key[] = "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww";
static const char operator_key[] = "oooooooooooooooooooooooooooooooooooooooo";
static const char viewer_key[] = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv";
static const char stranger_key[] = "ssssssssssssssssssssssssssssssssssssssss";

static struct store_peer *three_peers(void)
{
    static const char *const roles[] = {"worker", "viewer", "operator"};
    static const char *const keys[] = {worker_key, viewer_key, operator_key};
    struct store_peer *peers = calloc(3, sizeof *peers);
    for (int i = 0; i < 3; i++) {
        snprintf(peers[i].public_key, sizeof peers[i].public_key, "%s", keys[i]);
        snprintf(peers[i].name, sizeof peers[i].name, "the-%s", roles[i]);
        snprintf(peers[i].role, sizeof peers[i].role, "%s", roles[i]);
    }
    return peers;
}

static void each_role_may_what_it_is_for(void **state)
{
    (void)state;
    struct allowlist list = {0};
    allowlist_replace(&list, three_peers(), 3);
    static const struct {
        const char *user;
        bool admitted, worker, control, change;
    } rows[] = {
        {"local", true, true, true, true},      {"loopback", true, true, true, true},
        {worker_key, true, true, false, false}, {viewer_key, true, false, true, false},
        {operator_key, true, true, true, true}, {stranger_key, false, false, false, false},
        {"", false, false, false, false},       {"locals", false, false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *user = rows[i].user;
        assert_int_equal(allowlist_admits(&list, user), rows[i].admitted);
        assert_int_equal(allowlist_allows_role(&list, user, MESSAGE_ROLE_WORKER), rows[i].worker);
        assert_int_equal(allowlist_allows_role(&list, user, MESSAGE_ROLE_CONTROL), rows[i].control);
        assert_int_equal(allowlist_allows_change(&list, user), rows[i].change);
    }
    assert_string_equal(allowlist_name(&list, worker_key), "the-worker");
    assert_string_equal(allowlist_name(&list, "local"), "local");
    allowlist_done(&list);
}

static void a_revoked_key_is_nobody_at_once(void **state)
{
    (void)state;
    struct allowlist list = {0};
    allowlist_replace(&list, three_peers(), 3);
    assert_true(allowlist_admits(&list, worker_key));
    allowlist_replace(&list, NULL, 0);
    assert_false(allowlist_admits(&list, worker_key));
    assert_true(allowlist_admits(&list, "local"));
    allowlist_done(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_role_may_what_it_is_for),
        cmocka_unit_test(a_revoked_key_is_nobody_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
