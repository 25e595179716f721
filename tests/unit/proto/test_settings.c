#include "tests/unit/proto/scratch.h"

#include "proto/settings.h"

static struct settings *parse(const char *text)
{
    char reason[512] = "";
    struct settings *settings = settings_parse(text, strlen(text), "kroo.conf", reason, sizeof reason);
    if (settings == NULL)
        fail_msg("%s", reason);
    return settings;
}

static void assert_refused(const char *text, size_t size, const char *because)
{
    char reason[512] = "";
    assert_null(settings_parse(text, size, "kroo.conf", reason, sizeof reason));
    if (strstr(reason, because) == NULL)
        fail_msg("refused because '%s', expected '%s'", reason, because);
}

static int forget(void **state)
{
    (void)state;
    return unsetenv("KROO_SLOTS") | unsetenv("KROO_DATABASE") | unsetenv("KROO_CONFIG") |
           unsetenv("KROO_SERVER_KEY");
}

static void test_file_text(void **state)
{
    (void)state;
    struct settings *settings =
        parse("# comment\n\n  database = host=/run/x dbname=kroo # not a comment\r\nslots=4\n"
              "\tserver_key =  a#b=c  \nendpoint = ipc://var/kroo.sock,tcp://127.0.0.1:5555");
    assert_string_equal(settings_get(settings, "database", NULL), "host=/run/x dbname=kroo # not a comment");
    assert_string_equal(settings_get(settings, "slots", NULL), "4");
    assert_string_equal(settings_get(settings, "server_key", NULL), "a#b=c");
    assert_string_equal(settings_get(settings, "endpoint", NULL), "ipc://var/kroo.sock,tcp://127.0.0.1:5555");
    assert_null(settings_get(settings, "state", NULL));
    assert_string_equal(settings_get(settings, "state", "var/worker"), "var/worker");
    settings_destroy(settings);
    settings_destroy(parse(""));
    settings_destroy(NULL);
}

static void test_file_refusals(void **state)
{
    (void)state;
    static char longest[4000];
    assert_refused("slots = 1\nslotz = 2\n", 20, "line 2: no such setting");
    assert_refused("just words", 10, "line 1: not `name = value`");
    assert_refused("slots = 1\n# x\nslots = 2", 23, "line 3: this setting stands there twice");
    assert_refused("slots =", 7, "empty");
    assert_refused("slots = \n", 9, "empty");
    assert_refused("= 3", 3, "no such setting");
    assert_refused("name = \xff", 8, "not text");
    assert_refused("name = a\0b", 10, "not text");
    assert_refused("na\0me = a", 9, "no such setting");
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "name = ", 7);
    assert_refused(longest, sizeof longest, "too long");
}

static void test_order_of_sources(void **state)
{
    (void)state;
    struct settings *settings = parse("slots = 1\n");
    assert_string_equal(settings_get(settings, "slots", "0"), "1");
    assert_int_equal(setenv("KROO_SLOTS", "", 1), 0); /* empty is not set */
    assert_string_equal(settings_get(settings, "slots", "0"), "1");
    assert_int_equal(setenv("KROO_SLOTS", "2", 1), 0);
    assert_string_equal(settings_get(settings, "slots", "0"), "2");
    assert_int_equal(settings_set(settings, "slots", "3"), 0);
    assert_int_equal(settings_set(settings, "slots", "4"), 0);
    assert_string_equal(settings_get(settings, "slots", "0"), "4");
    assert_int_equal(settings_set(settings, "unknown", "4"), -1);
    assert_int_equal(setenv("KROO_SERVER_KEY", "k", 1), 0);
    assert_string_equal(settings_get(settings, "server_key", "0"), "k");
    settings_destroy(settings);
}

static void test_numbers(void **state)
{
    (void)state;
    char reason[512] = "";
    int64_t value = 0;
    struct settings *settings = parse("# x\nslots = 7\nwindow = many\n");
    assert_int_equal(settings_number(settings, "slots", 1, 64, 2, &value, reason, sizeof reason), 0);
    assert_int_equal(value, 7);
    assert_int_equal(settings_number(settings, "term_ms", 1, 64, 33, &value, reason, sizeof reason), 0);
    assert_int_equal(value, 33);
    assert_int_equal(settings_number(settings, "slots", 1, 6, 2, &value, reason, sizeof reason), -1);
    assert_string_equal(reason, "kroo.conf, line 2, slots: `7` is not a whole number from 1 to 6");
    assert_int_equal(settings_number(settings, "window", 1, 6, 2, &value, reason, sizeof reason), -1);
    assert_int_equal(value, 2);
    assert_int_equal(setenv("KROO_SLOTS", "0", 1), 0);
    assert_int_equal(settings_number(settings, "slots", 1, 6, 2, &value, reason, sizeof reason), -1);
    assert_non_null(strstr(reason, "environment, setting slots"));
    static const char *const bad[] = {"",  " 3", "3 ", "0x3", "3.0", "1e3", "+3", "-", "99999999999999999999",
                                      "3a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(settings_set(settings, "slots", bad[i]), 0);
        assert_int_equal(settings_number(settings, "slots", -100, 100, 2, &value, reason, sizeof reason), -1);
        assert_non_null(strstr(reason, "option slots"));
    }
    assert_int_equal(settings_set(settings, "slots", "-5"), 0);
    assert_int_equal(settings_number(settings, "slots", -5, 100, 2, &value, reason, sizeof reason), 0);
    assert_int_equal(value, -5);
    settings_destroy(settings);
}

static void test_passwords_are_for_their_owner(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mode_t mode;
        int taken;
    } cases[] = {
        {"database = host=db password=x\n", 0600, 1},
        {"database = host=db password=x\n", 0640, 0},
        {"database = host=db password = x\n", 0604, 0},
        {"database = postgresql://kroo:x@db/kroo\n", 0644, 0},
        {"database = postgresql://kroo@db:5432/kroo\n", 0644, 1},
        {"database = host=db passfile=/etc/kroo/pgpass\n", 0644, 1},
        {"slots = 1\n", 0644, 1},
    };
    const char *folder = scratch_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char reason[512] = "", name[16];
        (void)snprintf(name, sizeof name, "%zu.conf", i);
        const char *path = scratch_path(folder, name);
        scratch_write(path, cases[i].text, strlen(cases[i].text), cases[i].mode);
        struct settings *settings = settings_create(path, reason, sizeof reason);
        if ((settings != NULL) != cases[i].taken)
            fail_msg("case %zu: %s", i, reason);
        if (settings == NULL)
            assert_non_null(strstr(reason, "chmod 600"));
        settings_destroy(settings);
    }
    scratch_remove(folder);
}

static void test_which_file(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "";
    scratch_write(scratch_path(folder, "a.conf"), "slots = 1\n", 10, 0644);
    scratch_write(scratch_path(folder, "b.conf"), "slots = 2\n", 10, 0644);
    assert_int_equal(setenv("KROO_CONFIG", scratch_path(folder, "a.conf"), 1), 0);
    struct settings *settings = settings_create(NULL, reason, sizeof reason);
    assert_non_null(settings);
    assert_string_equal(settings_get(settings, "slots", NULL), "1");
    settings_destroy(settings);
    settings = settings_create(scratch_path(folder, "b.conf"), reason, sizeof reason);
    assert_non_null(settings);
    assert_string_equal(settings_get(settings, "slots", NULL), "2");
    settings_destroy(settings);
    assert_null(settings_create(scratch_path(folder, "c.conf"), reason, sizeof reason));
    assert_non_null(strstr(reason, "c.conf: No such file"));
    assert_null(settings_create(folder, reason, sizeof reason));
    assert_non_null(strstr(reason, "not a regular file"));
    assert_int_equal(setenv("KROO_CONFIG", scratch_path(folder, "c.conf"), 1), 0);
    assert_null(settings_create(NULL, reason, sizeof reason));
    scratch_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file_text, forget, forget),
        cmocka_unit_test_setup_teardown(test_file_refusals, forget, forget),
        cmocka_unit_test_setup_teardown(test_order_of_sources, forget, forget),
        cmocka_unit_test_setup_teardown(test_numbers, forget, forget),
        cmocka_unit_test_setup_teardown(test_passwords_are_for_their_owner, forget, forget),
        cmocka_unit_test_setup_teardown(test_which_file, forget, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
