/* Seals: a signature stands for one artifact as one kind for one architecture under one name, by one key. */
#include "proto/seal.h"

#include "tests/unit/proto/scratch.h"

static const uint8_t hash_one[ARTIFACT_HASH] = {1, 2, 3}, hash_two[ARTIFACT_HASH] = {1, 2, 4};

static struct seal_key make_key(const char *folder, const char *name)
{
    struct seal_key key;
    char reason[512] = "";
    if (seal_key_generate(folder, name, &key, reason, sizeof reason) != KEYS_OK)
        fail_msg("%s", reason);
    return key;
}

static struct seal_subject program(const uint8_t hash[ARTIFACT_HASH], bool is_source)
{
    static const unsigned char elf[20] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 62};
    struct seal_subject subject;
    seal_subject_of(hash, elf, sizeof elf, is_source, &subject);
    return subject;
}

static void test_subjects_are_told_by_content(void **state)
{
    (void)state;
    struct seal_subject subject = program(hash_one, false);
    assert_string_equal(subject.kind, "engine");
    assert_string_equal(subject.architecture, "x86_64");
    subject = program(hash_one, true);
    assert_string_equal(subject.kind, "source");
    assert_string_equal(subject.architecture, "any");
    seal_subject_of(hash_one, "#!/bin/sh\n", 10, false, &subject);
    assert_string_equal(subject.kind, "engine");
    assert_string_equal(subject.architecture, "any");
    seal_subject_of(hash_one, "kroo-engine-set 1\nbinary", 24, false, &subject);
    assert_string_equal(subject.kind, "engine-set");
}

static void test_a_seal_fits_its_subject_alone(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    struct seal_key key = make_key(folder, "boss");
    struct seal_subject subject = program(hash_one, false), other;
    struct seal seal, changed;
    seal_make(&key, &subject, "release-1", &seal);
    assert_true(seal_fits(&seal, &subject));
    other = program(hash_two, false);
    assert_false(seal_fits(&seal, &other));
    other = program(hash_one, true);
    assert_false(seal_fits(&seal, &other));
    other = subject;
    strcpy(other.architecture, "aarch64");
    assert_false(seal_fits(&seal, &other));
    changed = seal;
    strcpy(changed.name, "release-2");
    assert_false(seal_fits(&changed, &subject));
    strcpy(changed.name, "release-1\nname x"); /* no second line can be smuggled in */
    assert_false(seal_fits(&changed, &subject));
    for (int bit = 0; bit < 8 * SEAL_SIGNATURE; bit += 37) {
        changed = seal;
        changed.signature[bit / 8] = (uint8_t)(changed.signature[bit / 8] ^ (1 << bit % 8));
        assert_false(seal_fits(&changed, &subject));
    }
    changed = seal;
    changed.key[3] ^= 1;
    assert_false(seal_fits(&changed, &subject));
    scratch_remove(folder);
}

static void test_only_trusted_keys_count(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    struct seal_key boss = make_key(folder, "boss"), other = make_key(folder, "other");
    struct seal_subject subject = program(hash_one, false), elsewhere = program(hash_two, false);
    struct seal seals[2];
    struct seal_trust trust = {.count = 0};
    char reason[512] = "", list[600], text[SEAL_KEY_TEXT];
    (void)snprintf(list, sizeof list, "%s", scratch_path(folder, "boss.sign.pub"));
    assert_int_equal(seal_trust_add(&trust, list, reason, sizeof reason), 0);
    assert_int_equal(trust.count, 1);
    assert_null(seal_find(&trust, &subject, NULL, 0, reason));
    assert_non_null(strstr(reason, "not signed"));
    seal_make(&other, &subject, "x", &seals[0]);
    assert_null(seal_find(&trust, &subject, seals, 1, reason));
    assert_non_null(strstr(reason, "not trusted here"));
    seal_make(&boss, &elsewhere, "x", &seals[1]);
    assert_null(seal_find(&trust, &subject, seals, 2, reason));
    assert_non_null(strstr(reason, "of another artifact"));
    seal_make(&boss, &subject, "x", &seals[1]);
    assert_ptr_equal(seal_find(&trust, &subject, seals, 2, reason), &seals[1]);
    seal_key_text(other.key, text);
    assert_int_equal(seal_trust_add(&trust, text, reason, sizeof reason), 0);
    assert_ptr_equal(seal_find(&trust, &subject, seals, 2, reason), &seals[0]);
    assert_int_equal(seal_trust_add(&trust, "/nonexistent/x.pub", reason, sizeof reason), -1);
    for (int i = 0; i < SEAL_TRUST_MAX; i++)
        (void)seal_trust_add(&trust, text, reason, sizeof reason);
    assert_int_equal(seal_trust_add(&trust, text, reason, sizeof reason), -1);
    assert_non_null(strstr(reason, "at most 16"));
    scratch_remove(folder);
}

static void test_key_files(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    struct seal_key key = make_key(folder, "boss"), back;
    char reason[512] = "";
    const char *path = scratch_path(folder, "boss.sign.key");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(seal_key_load(path, &back, reason, sizeof reason), KEYS_OK);
    assert_memory_equal(&back, &key, sizeof key);
    assert_int_equal(seal_key_generate(folder, "boss", &back, reason, sizeof reason), KEYS_ERROR_EXISTS);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(seal_key_load(path, &back, reason, sizeof reason), KEYS_ERROR_MODE);
    assert_non_null(strstr(reason, "chmod 600"));
    path = scratch_path(folder, "boss.sign.pub");
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(seal_key_load(path, &back, reason, sizeof reason), KEYS_ERROR_FORMAT);
    assert_non_null(strstr(reason, "--signing"));
    assert_int_equal(seal_key_generate(folder, "../x", &back, reason, sizeof reason), KEYS_ERROR_FORMAT);
    scratch_remove(folder);
}

static void test_halves_that_do_not_belong_together(void **state)
{
    (void)state;
    struct seal_key key;
    bool has_secret;
    char text[512];
    static const char digits[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    (void)snprintf(text, sizeof text, "sign-public = %s\nsign-secret = %s\n", digits, digits);
    assert_int_equal(seal_key_parse(text, strlen(text), &key, &has_secret), KEYS_ERROR_FORMAT);
    (void)snprintf(text, sizeof text, "# x\r\nsign-public = %s \n", digits);
    assert_int_equal(seal_key_parse(text, strlen(text), &key, &has_secret), KEYS_OK);
    assert_false(has_secret);
    (void)snprintf(text, sizeof text, "sign-public = %s\nsign-public = %s\n", digits, digits);
    assert_int_equal(seal_key_parse(text, strlen(text), &key, &has_secret), KEYS_ERROR_FORMAT);
    assert_int_equal(seal_key_parse("", 0, &key, &has_secret), KEYS_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subjects_are_told_by_content),
        cmocka_unit_test(test_a_seal_fits_its_subject_alone),
        cmocka_unit_test(test_only_trusted_keys_count),
        cmocka_unit_test(test_key_files),
        cmocka_unit_test(test_halves_that_do_not_belong_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
