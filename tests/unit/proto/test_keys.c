#include "tests/unit/proto/scratch.h"

#include "proto/keys.h"

static void test_pair_is_written_and_read(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "", public_key[KEYS_TEXT];
    struct keys made, loaded;
    struct stat status;
    assert_int_equal(keys_generate(folder, "worker-1", &made, reason, sizeof reason), KEYS_OK);
    assert_int_equal(strlen(made.public_key), 40);
    assert_int_equal(strlen(made.secret_key), 40);
    assert_int_equal(stat(scratch_path(folder, "worker-1.key"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(keys_load(scratch_path(folder, "worker-1.key"), &loaded, reason, sizeof reason),
                     KEYS_OK);
    assert_memory_equal(&made, &loaded, sizeof made);
    assert_int_equal(keys_public(scratch_path(folder, "worker-1.pub"), public_key, reason, sizeof reason),
                     KEYS_OK);
    assert_string_equal(public_key, made.public_key);
    assert_int_equal(keys_public(made.public_key, public_key, reason, sizeof reason), KEYS_OK);
    assert_string_equal(public_key, made.public_key);
    /* The public file holds no secret. */
    assert_int_equal(keys_load(scratch_path(folder, "worker-1.pub"), &loaded, reason, sizeof reason),
                     KEYS_ERROR_MODE);
    assert_int_equal(chmod(scratch_path(folder, "worker-1.pub"), 0600), 0);
    assert_int_equal(keys_load(scratch_path(folder, "worker-1.pub"), &loaded, reason, sizeof reason),
                     KEYS_ERROR_FORMAT);
    keys_wipe(&made);
    for (size_t i = 0; i < sizeof made; i++)
        assert_int_equal(((const char *)&made)[i], 0);
    scratch_remove(folder);
}

static void test_nothing_is_overwritten(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "";
    struct keys first, second, loaded;
    assert_int_equal(keys_generate(folder, "a", &first, reason, sizeof reason), KEYS_OK);
    assert_int_equal(keys_generate(folder, "a", &second, reason, sizeof reason), KEYS_ERROR_EXISTS);
    assert_non_null(strstr(reason, "not overwritten"));
    assert_int_equal(second.secret_key[0], 0);
    assert_int_equal(keys_load(scratch_path(folder, "a.key"), &loaded, reason, sizeof reason), KEYS_OK);
    assert_memory_equal(&first, &loaded, sizeof first);
    /* Where only the public name is taken, no secret stays behind. */
    scratch_write(scratch_path(folder, "b.pub"), "x", 1, 0644);
    assert_int_equal(keys_generate(folder, "b", &second, reason, sizeof reason), KEYS_ERROR_EXISTS);
    assert_int_equal(access(scratch_path(folder, "b.key"), F_OK), -1);
    scratch_remove(folder);
}

static void test_bad_names_and_folders(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "", longest[65];
    struct keys keys;
    memset(longest, 'k', 64);
    longest[64] = '\0';
    const char *names[] = {"", "..", "a/b", "../a", "a b", "\xc3\xa4", longest};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(keys_generate(folder, names[i], &keys, reason, sizeof reason), KEYS_ERROR_FORMAT);
    assert_int_equal(scratch_count(folder), 0);
    assert_int_equal(keys_generate(scratch_path(folder, "absent"), "a", &keys, reason, sizeof reason),
                     KEYS_ERROR_FILE);
    assert_int_equal(keys_load(scratch_path(folder, "absent.key"), &keys, reason, sizeof reason),
                     KEYS_ERROR_FILE);
    assert_int_equal(keys_load(folder, &keys, reason, sizeof reason), KEYS_ERROR_FILE);
    scratch_remove(folder);
}

static void test_open_secret_is_refused(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "";
    struct keys keys;
    assert_int_equal(keys_generate(folder, "a", &keys, reason, sizeof reason), KEYS_OK);
    static const mode_t modes[] = {0640, 0604, 0644, 0660, 0601};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(scratch_path(folder, "a.key"), modes[i]), 0);
        assert_int_equal(keys_load(scratch_path(folder, "a.key"), &keys, reason, sizeof reason),
                         KEYS_ERROR_MODE);
        assert_non_null(strstr(reason, "chmod 600"));
        assert_int_equal(keys.secret_key[0], 0);
    }
    scratch_remove(folder);
}

static void assert_text(const char *text, size_t size, enum keys_error expected)
{
    struct keys keys;
    if (keys_parse(text, size, &keys) != expected)
        fail_msg("`%.*s` gave not %d", (int)size, text, expected);
    if (expected != KEYS_OK)
        assert_int_equal(keys.public_key[0], 0);
}

static void test_key_text(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "", text[1024];
    struct keys a, b;
    assert_int_equal(keys_generate(folder, "a", &a, reason, sizeof reason), KEYS_OK);
    assert_int_equal(keys_generate(folder, "b", &b, reason, sizeof reason), KEYS_OK);
    scratch_remove(folder);
#define TEXT(expected, ...) assert_text(text, (size_t)snprintf(text, sizeof text, __VA_ARGS__), expected)
    TEXT(KEYS_OK, "public = %s", a.public_key);
    TEXT(KEYS_OK, "# comment\r\n\npublic = %s  \r\nsecret = %s\n", a.public_key, a.secret_key);
    TEXT(KEYS_OK, "secret = %s\npublic = %s\n", a.secret_key, a.public_key);
    TEXT(KEYS_ERROR_FORMAT, "public = %s\nsecret = %s\n", a.public_key, b.secret_key);
    TEXT(KEYS_ERROR_FORMAT, "secret = %s\n", a.secret_key);
    TEXT(KEYS_ERROR_FORMAT, "public = %s\npublic = %s\n", a.public_key, a.public_key);
    TEXT(KEYS_ERROR_FORMAT, "public = %.39s\n", a.public_key);
    TEXT(KEYS_ERROR_FORMAT, "public = %sx\n", a.public_key);
    TEXT(KEYS_ERROR_FORMAT, "public = %.39s\"\n", a.public_key);
    TEXT(KEYS_ERROR_FORMAT, "publik = %s\n", a.public_key);
    TEXT(KEYS_ERROR_FORMAT, "%s\n", a.public_key);
    TEXT(KEYS_ERROR_FORMAT, "# only a comment\n");
    assert_text("", 0, KEYS_ERROR_FORMAT);
    assert_text("\0\0\0", 3, KEYS_ERROR_FORMAT);
}

static void test_public_key_refusals(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "", out[KEYS_TEXT], big[5000];
    memset(big, '#', sizeof big);
    scratch_write(scratch_path(folder, "big"), big, sizeof big, 0644);
    assert_int_equal(keys_public(scratch_path(folder, "big"), out, reason, sizeof reason), KEYS_ERROR_FORMAT);
    assert_int_equal(keys_public("nowhere.pub", out, reason, sizeof reason), KEYS_ERROR_FILE);
    assert_int_equal(keys_public("", out, reason, sizeof reason), KEYS_ERROR_FILE);
    scratch_write(scratch_path(folder, "empty"), "", 0, 0644);
    assert_int_equal(keys_public(scratch_path(folder, "empty"), out, reason, sizeof reason),
                     KEYS_ERROR_FORMAT);
    assert_int_equal(out[0], 0);
    scratch_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair_is_written_and_read),
        cmocka_unit_test(test_nothing_is_overwritten),
        cmocka_unit_test(test_bad_names_and_folders),
        cmocka_unit_test(test_open_secret_is_refused),
        cmocka_unit_test(test_key_text),
        cmocka_unit_test(test_public_key_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
