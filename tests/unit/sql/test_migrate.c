/* Migrations: applied once, in order, recorded by hash; anything else is refused with a reason. */
#include "tests/unit/sql/fixture.h"

static char names[64][64];
static int reported;

static void note(const char *name)
{
    snprintf(names[reported++ % 64], sizeof names[0], "%s", name);
}

static int compiled_in(void)
{
    int count = 0;
    while (migrations[count].number != 0)
        count++;
    return count;
}

/* A database of its own. */
static void new_database(const char *name, char *conninfo, size_t size)
{
    char sql[128];
    struct store *store = fixture_open(NULL);
    struct store_table table;
    snprintf(sql, sizeof sql, "create database %s", name);
    assert_ok(store, store_query(store, sql, NULL, 0, &table));
    store_table_done(&table);
    store_close(store);
    snprintf(conninfo, size, "host=%s user=kroo dbname=%s", getenv("KROO_TEST_CLUSTER"), name);
}

static void execute(const char *conninfo, const char *sql)
{
    char reason[STORE_TEXT];
    struct store *store = store_open(conninfo, NULL, "kroo test", reason, sizeof reason);
    assert_non_null(store);
    struct store_table table;
    assert_ok(store, store_query(store, sql, NULL, 0, &table));
    store_table_done(&table);
    store_close(store);
}

static enum store_error check(const char *conninfo, char *reason, size_t size)
{
    struct store *store = store_open(conninfo, NULL, "kroo test", reason, size);
    assert_non_null(store);
    enum store_error error = store_check_schema(store);
    snprintf(reason, size, "%s", store_reason(store));
    store_close(store);
    return error;
}

static void the_text_is_the_file(void **state)
{
    (void)state;
    for (int i = 0; i < compiled_in(); i++) {
        char path[128], command[256], hex[65] = "";
        snprintf(path, sizeof path, "sql/migrations/%s", migrations[i].name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t length = strlen(migrations[i].text);
        char *text = malloc(length + 2);
        assert_non_null(text);
        assert_int_equal(fread(text, 1, length + 2, file), length);
        fclose(file);
        assert_memory_equal(text, migrations[i].text, length);
        free(text);
        snprintf(command, sizeof command, "sha256sum < %s", path);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        assert_int_equal(fscanf(pipe, "%64s", hex), 1);
        pclose(pipe);
        assert_string_equal(hex, migrations[i].sha256);
        assert_true(migrations[i].number >
                    (i > 0 ? migrations[i - 1].number : 0)); /* gaps are none of ours */
    }
}

static void applied_once(void **state)
{
    (void)state;
    char conninfo[256], reason[STORE_TEXT] = "";
    new_database("once", conninfo, sizeof conninfo);
    assert_int_equal(check(conninfo, reason, sizeof reason), STORE_ERROR_VERSION);
    assert_non_null(strstr(reason, "migrate it first"));
    reported = 0;
    assert_int_equal(migrate_run(conninfo, note, reason, sizeof reason), compiled_in());
    assert_int_equal(reported, compiled_in());
    assert_string_equal(names[0], migrations[0].name);
    assert_int_equal(check(conninfo, reason, sizeof reason), STORE_OK);
    assert_int_equal(migrate_run(conninfo, note, reason, sizeof reason), 0);
    assert_int_equal(reported, compiled_in());
}

static void a_changed_file_is_refused(void **state)
{
    (void)state;
    char conninfo[256], reason[STORE_TEXT] = "";
    new_database("changed", conninfo, sizeof conninfo);
    assert_true(migrate_run(conninfo, NULL, reason, sizeof reason) > 0);
    execute(conninfo, "update kroo.migration set sha256 = repeat('0', 64) where number = 2");
    assert_int_equal(migrate_run(conninfo, NULL, reason, sizeof reason), -1);
    assert_non_null(strstr(reason, "was changed after it was applied"));
    assert_int_equal(check(conninfo, reason, sizeof reason), STORE_ERROR_VERSION);
}

static void a_newer_database_is_refused(void **state)
{
    (void)state;
    char conninfo[256], reason[STORE_TEXT] = "";
    new_database("newer", conninfo, sizeof conninfo);
    assert_true(migrate_run(conninfo, NULL, reason, sizeof reason) > 0);
    execute(conninfo, "insert into kroo.migration values (999, '999_future.sql', repeat('0', 64))");
    assert_int_equal(migrate_run(conninfo, NULL, reason, sizeof reason), -1);
    assert_non_null(strstr(reason, "999_future.sql"));
    assert_int_equal(check(conninfo, reason, sizeof reason), STORE_ERROR_VERSION);
    assert_non_null(strstr(reason, "newer"));
}

/* What fails leaves nothing: the schema is there with all of the migration or not at all. */
static void a_failing_migration_leaves_nothing(void **state)
{
    (void)state;
    char conninfo[256], reason[STORE_TEXT] = "";
    new_database("failing", conninfo, sizeof conninfo);
    execute(conninfo,
            "create schema kroo create table event (x integer)"); /* in the way of the first migration */
    assert_int_equal(migrate_run(conninfo, NULL, reason, sizeof reason), -1);
    assert_non_null(strstr(reason, migrations[0].name));
    assert_int_equal(check(conninfo, reason, sizeof reason), STORE_ERROR_VERSION);
    execute(conninfo, "drop table kroo.event");
    assert_int_equal(migrate_run(conninfo, NULL, reason, sizeof reason), compiled_in());
}

static void no_superuser_is_needed(void **state)
{
    (void)state;
    char conninfo[256], reason[STORE_TEXT] = "";
    new_database("plain", conninfo, sizeof conninfo);
    execute(conninfo, "create role installer login createrole");
    execute(conninfo, "alter database plain owner to installer");
    snprintf(conninfo, sizeof conninfo, "host=%s user=installer dbname=plain", getenv("KROO_TEST_CLUSTER"));
    if (migrate_run(conninfo, NULL, reason, sizeof reason) != compiled_in())
        fail_msg("%s", reason);
}

static void no_server_no_migration(void **state)
{
    (void)state;
    char reason[STORE_TEXT] = "";
    assert_int_equal(migrate_run("host=/nonexistent user=kroo", NULL, reason, sizeof reason), -1);
    assert_true(strlen(reason) > 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_the_file),
        cmocka_unit_test(applied_once),
        cmocka_unit_test(a_changed_file_is_refused),
        cmocka_unit_test(a_newer_database_is_refused),
        cmocka_unit_test(a_failing_migration_leaves_nothing),
        cmocka_unit_test(no_superuser_is_needed),
        cmocka_unit_test(no_server_no_migration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
