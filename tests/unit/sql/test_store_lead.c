/* Who leads: the lock, what is known of leaders before and after, silence, and a history that is another. */
#include "tests/unit/sql/fixture.h"

#include "sql/store_connection.h"
#include "sql/store_lead.h"

static struct store *open_coordinator(void)
{
    return fixture_open("kroo_coordinator");
}

/* The server ends a closed session in its own time. */
static enum store_error begin_when_free(struct store *store, struct store_leadership *out)
{
    enum store_error error = STORE_ERROR_LEADER;
    for (int i = 0; i < 10000 && error == STORE_ERROR_LEADER; i++)
        error = store_lead_begin(store, "test build", 0, out);
    return error;
}

static enum store_error again_when_free(struct store *store, const struct store_leadership *before,
                                        bool *lost)
{
    enum store_error error = STORE_ERROR_LEADER;
    *lost = false;
    for (int i = 0; i < 10000 && error == STORE_ERROR_LEADER && !*lost; i++)
        error = store_lead_again(store, before, 0, lost);
    return error;
}

static void who_leads_is_written_down(void **state)
{
    (void)state;
    struct store *first = open_coordinator(), *second = open_coordinator();
    struct store_leadership one = {0}, two = {0};
    assert_ok(first, store_lead_begin(first, "test build", 60000, &one));
    assert_string_equal(fixture_cell(first, "select build from leadership order by epoch desc limit 1"),
                        "test build");
    assert_string_equal(fixture_cell(first, "show idle_session_timeout"), "1min");
    assert_string_equal(fixture_cell(first, "show idle_in_transaction_session_timeout"), "1min");
    assert_int_equal(store_lead_begin(second, "other build", 0, &two), STORE_ERROR_LEADER);
    assert_non_null(strstr(store_reason(second), "another coordinator leads"));
    assert_int_equal(two.epoch, 0);
    store_close(first);
    store_close(second);
}

static void one_that_was_cut_off_leads_on(void **state)
{
    (void)state;
    struct store *before = open_coordinator(), *after = open_coordinator();
    struct store_leadership mine = {0};
    bool lost;
    assert_ok(before, begin_when_free(before, &mine));
    assert_int_equal(store_lead_again(after, &mine, 0, &lost), STORE_ERROR_LEADER);
    assert_false(lost); /* its old session is still there */
    store_close(before);
    assert_ok(after, again_when_free(after, &mine, &lost));
    assert_false(lost);
    assert_string_equal(fixture_cell(after, "show idle_session_timeout"), "10s"); /* the least */
    store_close(after);
}

static void one_that_was_replaced_does_not(void **state)
{
    (void)state;
    struct store *first = open_coordinator(), *second = open_coordinator(), *third = open_coordinator();
    struct store_leadership mine = {0}, other = {0};
    bool lost;
    assert_ok(first, begin_when_free(first, &mine));
    store_close(first);
    assert_ok(second, begin_when_free(second, &other));
    assert_true(other.epoch > mine.epoch);
    assert_int_equal(store_lead_again(third, &mine, 0, &lost), STORE_ERROR_LEADER);
    assert_true(lost); /* at once, while the other leads */
    store_close(second);
    assert_int_equal(store_lead_again(third, &mine, 0, &lost), STORE_ERROR_LEADER);
    assert_true(lost); /* and when it has gone */
    assert_non_null(strstr(store_reason(third), "has led since"));
    store_close(third);
}

static void a_database_with_another_history_is_not_led_on(void **state)
{
    (void)state;
    struct store *store = open_coordinator();
    struct store_leadership mine = {0};
    bool lost;
    assert_ok(store, begin_when_free(store, &mine));
    store_close(store);
    store = open_coordinator();
    struct store_leadership promoted = {mine.epoch, mine.timeline + 1},
                            restored = {mine.epoch + 1, mine.timeline};
    assert_int_equal(store_lead_again(store, &promoted, 0, &lost), STORE_ERROR_LEADER);
    assert_true(lost);
    assert_non_null(strstr(store_reason(store), "timeline"));
    assert_int_equal(store_lead_again(store, &restored, 0, &lost), STORE_ERROR_LEADER);
    assert_true(lost);
    assert_non_null(strstr(store_reason(store), "forgotten"));
    store_close(store);
}

static void a_setting_that_loses_pages_is_unsafe(void **state)
{
    (void)state;
    struct store *store = fixture_open(NULL);
    struct store_table table;
    char reason[STORE_TEXT] = "";
    assert_ok(store, store_query(store, "alter system set full_page_writes = off", NULL, 0, &table));
    store_table_done(&table);
    (void)fixture_cell(store, "select pg_reload_conf()");
    bool unsafe = false;
    for (int i = 0; i < 100000 && !unsafe; i++)
        unsafe = store_is_unsafe(store, reason, sizeof reason);
    assert_true(unsafe);
    assert_non_null(strstr(reason, "full_page_writes is off"));
    assert_ok(store, store_query(store, "alter system reset full_page_writes", NULL, 0, &table));
    store_table_done(&table);
    (void)fixture_cell(store, "select pg_reload_conf()");
    store_close(store);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_leads_is_written_down),
        cmocka_unit_test(one_that_was_cut_off_leads_on),
        cmocka_unit_test(one_that_was_replaced_does_not),
        cmocka_unit_test(a_database_with_another_history_is_not_led_on),
        cmocka_unit_test(a_setting_that_loses_pages_is_unsafe),
    };
    return cmocka_run_group_tests(tests, fixture_migrate, NULL);
}
