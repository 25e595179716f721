/* One connection: roles, transactions, the leader's lock, unsafe settings, and a server that dies or hangs.
 */
#include "tests/unit/sql/fixture.h"

#include <signal.h>

#include "sql/store_connection.h"

static void no_server(void **state)
{
    (void)state;
    char reason[STORE_TEXT] = "";
    assert_null(store_open("host=/nonexistent user=kroo", NULL, "test", reason, sizeof reason));
    assert_non_null(strstr(reason, "/nonexistent"));
    assert_null(store_open("nonsense=1", NULL, "test", reason, sizeof reason));
    assert_non_null(strstr(reason, "nonsense"));
}

static void an_unknown_role_is_refused(void **state)
{
    (void)state;
    char reason[STORE_TEXT] = "";
    assert_null(store_open(database_conninfo(), "kroo_\"nobody", "test", reason, sizeof reason));
    assert_non_null(strstr(reason, "does not exist"));
}

static void the_session_has_its_time_outs(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_reader");
    assert_string_equal(fixture_cell(store, "show statement_timeout"), "30s");
    assert_string_equal(fixture_cell(store, "show lock_timeout"), "10s");
    assert_string_equal(fixture_cell(store, "show idle_in_transaction_session_timeout"), "2min");
    assert_string_equal(fixture_cell(store, "select current_user"), "kroo_reader");
    assert_string_equal(fixture_cell(store, "show application_name"), "kroo test");
    assert_ok(store, store_check_schema(store));
    store_close(store);
}

static void a_reader_cannot_write(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_reader");
    assert_int_equal(store_event(store, "test", 0, 0, "no"), STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "42501"));
    store_close(store);
}

static void transactions(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_coordinator");
    assert_ok(store, store_begin(store));
    assert_int_equal(store_begin(store), STORE_ERROR_REFUSED);
    assert_ok(store, store_event(store, "undone", 0, 0, "rolled back"));
    assert_ok(store, store_rollback(store));
    assert_string_equal(fixture_cell(store, "select count(*) from event where kind = 'undone'"), "0");

    /* COMMIT of a failed transaction says success; the store does not. */
    assert_ok(store, store_begin(store));
    assert_ok(store, store_event(store, "lost", 0, 0, "with a failure after it"));
    assert_int_equal(store_session_end(store, UINT64_MAX), STORE_ERROR_REFUSED);
    assert_int_equal(store_commit(store), STORE_ERROR_REFUSED);
    assert_string_equal(fixture_cell(store, "select count(*) from event where kind = 'lost'"), "0");
    store_close(store);
}

static void one_leads(void **state)
{
    (void)state;
    struct store *first = fixture_open("kroo_coordinator"), *second = fixture_open("kroo_coordinator");
    assert_ok(first, store_lead(first));
    assert_int_equal(store_lead(second), STORE_ERROR_LEADER);
    assert_non_null(strstr(store_reason(second), "another coordinator"));
    store_close(first);
    enum store_error error = STORE_ERROR_LEADER; /* the server ends the first session in its own time */
    for (int i = 0; i < 10000 && error == STORE_ERROR_LEADER; i++)
        error = store_lead(second);
    assert_int_equal(error, STORE_OK);
    store_close(second);
}

static void unsafe_settings_are_seen(void **state)
{
    (void)state;
    char reason[STORE_TEXT] = "", conninfo[512];
    struct store *store = fixture_open(NULL);
    assert_false(store_is_unsafe(store, reason, sizeof reason));

    snprintf(conninfo, sizeof conninfo, "%s options='-c synchronous_commit=off'", database_conninfo());
    struct store *loose = store_open(conninfo, NULL, "test", reason, sizeof reason);
    assert_non_null(loose);
    assert_true(store_is_unsafe(loose, reason, sizeof reason));
    assert_non_null(strstr(reason, "synchronous_commit is off"));
    store_close(loose);

    struct store_table table;
    assert_ok(store, store_query(store, "alter system set fsync = off", NULL, 0, &table));
    store_table_done(&table);
    (void)fixture_cell(store, "select pg_reload_conf()");
    bool unsafe = false;
    for (int i = 0; i < 100000 && !unsafe; i++)
        unsafe = store_is_unsafe(store, reason, sizeof reason);
    assert_true(unsafe);
    assert_non_null(strstr(reason, "fsync is off"));
    assert_ok(store, store_query(store, "alter system reset fsync", NULL, 0, &table));
    store_table_done(&table);
    (void)fixture_cell(store, "select pg_reload_conf()");
    store_close(store);
}

static void a_terminated_session_is_a_lost_connection(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_coordinator"), *other = fixture_open(NULL);
    uint64_t pid = strtoull(fixture_cell(store, "select pg_backend_pid()"), NULL, 10);
    (void)fixture_cell_of(other, "select pg_terminate_backend(%" PRIu64 ", 10000)", pid);
    assert_int_equal(store_event(store, "test", 0, 0, "x"), STORE_ERROR_CONNECTION);
    assert_int_equal(store_begin(store), STORE_ERROR_CONNECTION);
    store_close(store);
    store_close(other);
}

/* Waits that another try may pass are no refusals: the caller opens another connection and sends again. */
static void a_lock_that_does_not_come_is_tried_again(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_coordinator"), *other = fixture_open(NULL);
    struct store_table table;
    assert_ok(other, store_begin(other));
    assert_ok(other, store_query(other, "lock table kroo.event", NULL, 0, &table));
    store_table_done(&table);
    assert_ok(store, store_query(store, "set lock_timeout = 50", NULL, 0, &table));
    store_table_done(&table);
    assert_int_equal(store_event(store, "test", 0, 0, "x"), STORE_ERROR_CONNECTION);
    assert_non_null(strstr(store_reason(store), "55P03"));
    assert_ok(other, store_rollback(other));
    store_close(store);
    store_close(other);
}

/* A server that neither answers nor closes: the wait has an end. */
static void a_hanging_server_is_given_up(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_coordinator");
    pid_t pid = (pid_t)strtol(fixture_cell(store, "select pg_backend_pid()"), NULL, 10);
    store->patience_ms = 100;
    assert_int_equal(kill(pid, SIGSTOP), 0);
    enum store_error error = store_event(store, "test", 0, 0, "x");
    kill(pid, SIGCONT);
    assert_int_equal(error, STORE_ERROR_CONNECTION);
    assert_non_null(strstr(store_reason(store), "has not answered"));
    store_close(store);
}

/* PQstatus says OK after the server died; the store does not, in no call. */
static void the_server_dies(void **state)
{
    (void)state;
    struct store *idle = fixture_open("kroo_coordinator"), *working = fixture_open("kroo_coordinator");
    struct store *streaming = fixture_open("kroo_coordinator"),
                 *committing = fixture_open("kroo_coordinator");
    struct store_experiment experiment = fixture_experiment(idle);
    uint64_t id = fixture_create(idle, &experiment);
    struct fixture_games made = fixture_games(id, 0, 500);
    assert_ok(working, store_begin(working));
    assert_ok(committing, store_begin(committing));
    assert_ok(committing, store_event(committing, "unacknowledged", 0, 0, "x"));
    assert_int_equal(database_kill(), 0);

    uint64_t lease, *pairs;
    size_t count;
    struct store_table table;
    bool existed;
    uint8_t hash[STORE_HASH];
    char reason[STORE_TEXT];
    assert_int_equal(store_lease_numbers(idle, 1, &lease), STORE_ERROR_CONNECTION);
    assert_int_equal(store_lease_numbers(idle, 1, &lease), STORE_ERROR_CONNECTION);
    assert_int_equal(store_begin(idle), STORE_ERROR_CONNECTION);
    assert_int_equal(store_rollback(idle), STORE_ERROR_CONNECTION);
    assert_int_equal(store_disputed_pairs(idle, id, &pairs, &count), STORE_ERROR_CONNECTION);
    assert_int_equal(store_champion(idle, STORE_LINE, hash, &lease), STORE_ERROR_CONNECTION);
    assert_int_equal(store_experiment_create(idle, &experiment, &existed), STORE_ERROR_CONNECTION);
    assert_true(store_is_unsafe(idle, reason, sizeof reason));
    assert_int_equal(store_games_put(working, made.games, made.count, made.outcome), STORE_ERROR_CONNECTION);
    assert_int_equal(store_commit(committing), STORE_ERROR_CONNECTION);
    assert_int_equal(store_query(streaming, "select 1", NULL, 0, &table), STORE_ERROR_CONNECTION);
    assert_true(strlen(store_reason(streaming)) > 0);
    assert_null(store_open(database_conninfo(), NULL, "test", reason, sizeof reason));
    store_close(idle);
    store_close(working);
    store_close(streaming);
    store_close(committing);

    assert_int_equal(database_start(), 0);
    struct store *store = fixture_open("kroo_coordinator");
    assert_string_equal(fixture_cell(store, "select count(*) from event where kind = 'unacknowledged'"), "0");
    fixture_put(store, &made);
    assert_int_equal(fixture_outcomes(&made, STORE_GAME_INSERTED), made.count);
    fixture_games_done(&made);
    store_close(store);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_server),
        cmocka_unit_test(an_unknown_role_is_refused),
        cmocka_unit_test(the_session_has_its_time_outs),
        cmocka_unit_test(a_reader_cannot_write),
        cmocka_unit_test(transactions),
        cmocka_unit_test(one_leads),
        cmocka_unit_test(unsafe_settings_are_seen),
        cmocka_unit_test(a_terminated_session_is_a_lost_connection),
        cmocka_unit_test(a_lock_that_does_not_come_is_tried_again),
        cmocka_unit_test(a_hanging_server_is_given_up),
        cmocka_unit_test(the_server_dies),
    };
    return cmocka_run_group_tests(tests, fixture_migrate, NULL);
}
