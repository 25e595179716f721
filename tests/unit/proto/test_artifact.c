#include "tests/unit/proto/scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <utime.h>

#include "proto/artifact.h"

static void test_hash_names(void **state)
{
    (void)state;
    uint8_t hash[ARTIFACT_HASH], back[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX];
    artifact_hash("abc", 3, hash); /* FIPS 180-2, appendix B.1 */
    artifact_hex(hash, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(
        artifact_parse_hex("BA7816BF8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015AD", back), 0);
    assert_memory_equal(hash, back, sizeof hash);
    assert_int_equal(artifact_parse_hex("", back), -1);
    assert_int_equal(artifact_parse_hex("ba", back), -1);
    hex[63] = 'g';
    assert_int_equal(artifact_parse_hex(hex, back), -1);
    hex[63] = '\0';
    assert_int_equal(artifact_parse_hex(hex, back), -1);
    assert_int_equal(
        artifact_parse_hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad0", back), -1);
    assert_memory_equal(hash, back, sizeof hash);
}

static void test_write_then_read(void **state)
{
    (void)state;
    const char *parent = scratch_folder();
    char folder[128];
    (void)snprintf(folder, sizeof folder, "%s/artifacts", parent); /* made at the first write */
    char reason[512] = "", hex[ARTIFACT_HEX];
    uint8_t hash[ARTIFACT_HASH];
    void *bytes = NULL;
    size_t size = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(artifact_write(folder, "seeds", 5, hash, reason, sizeof reason), ARTIFACT_OK);
    assert_int_equal(scratch_count(folder), 1);
    artifact_hex(hash, hex);
    assert_int_equal(access(scratch_path(folder, hex), R_OK), 0);
    assert_int_equal(artifact_read(folder, hash, &bytes, &size, reason, sizeof reason), ARTIFACT_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "seeds", 5);
    free(bytes);
    hash[0] ^= 1;
    assert_int_equal(artifact_read(folder, hash, &bytes, &size, reason, sizeof reason),
                     ARTIFACT_ERROR_ABSENT);
    assert_null(bytes);
    assert_int_equal(artifact_write(folder, "", 0, hash, reason, sizeof reason), ARTIFACT_ERROR_SIZE);
    assert_int_equal(artifact_write(folder, "", (size_t)ARTIFACT_BYTES_MAX + 1, hash, reason, sizeof reason),
                     ARTIFACT_ERROR_SIZE);
    scratch_remove(parent);
}

/* One flipped bit, one lost byte, nothing left: each is found when the file is opened, and set aside. */
static void test_corrupt_file_is_set_aside(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    static const struct {
        const char *text;
        size_t size;
    } bad[] = {{"seedr", 5}, {"seed", 4}, {"seedss", 6}, {"", 0}};
    for (size_t i = 0; i < 4; i++) {
        char reason[512] = "", hex[ARTIFACT_HEX], aside[80];
        uint8_t hash[ARTIFACT_HASH];
        void *bytes = NULL;
        size_t size = 0;
        assert_int_equal(artifact_write(folder, "seeds", 5, hash, reason, sizeof reason), ARTIFACT_OK);
        artifact_hex(hash, hex);
        scratch_write(scratch_path(folder, hex), bad[i].text, bad[i].size, 0644);
        assert_int_equal(artifact_read(folder, hash, &bytes, &size, reason, sizeof reason),
                         ARTIFACT_ERROR_CORRUPT);
        assert_null(bytes);
        assert_int_equal(size, 0);
        assert_non_null(strstr(reason, "set aside"));
        assert_int_equal(artifact_read(folder, hash, &bytes, &size, reason, sizeof reason),
                         ARTIFACT_ERROR_ABSENT);
        (void)snprintf(aside, sizeof aside, "%s.corrupt", hex);
        assert_int_equal(access(scratch_path(folder, aside), F_OK), 0);
        assert_int_equal(artifact_write(folder, "seeds", 5, hash, reason, sizeof reason), ARTIFACT_OK);
        assert_int_equal(artifact_read(folder, hash, &bytes, &size, reason, sizeof reason), ARTIFACT_OK);
        free(bytes);
    }
    scratch_remove(folder);
}

/* fishtest#2318: a disk that is full in the middle of a write. The file size limit stops the write at the
 * same place; /dev/full cannot hold a folder. 0 when the write failed and nothing was left. */
static int write_beyond_limit(const char *folder)
{
    static uint8_t content[100000];
    uint8_t hash[ARTIFACT_HASH];
    char reason[512] = "";
    struct rlimit limit = {.rlim_cur = 65536, .rlim_max = 65536};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (artifact_write(folder, content, sizeof content, hash, reason, sizeof reason) != ARTIFACT_ERROR_FILE)
        return 2;
    if (strstr(reason, "File too large") == NULL)
        return 3;
    return artifact_write(folder, content, 1000, hash, reason, sizeof reason) == ARTIFACT_OK ? 0 : 4;
}

static void test_full_disk_leaves_nothing(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(write_beyond_limit(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(scratch_count(folder), 1);
    scratch_remove(folder);
}

static void test_folder_that_cannot_be_written(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "";
    uint8_t hash[ARTIFACT_HASH];
    scratch_write(scratch_path(folder, "file"), "x", 1, 0644);
    assert_int_equal(artifact_write(scratch_path(folder, "file"), "seeds", 5, hash, reason, sizeof reason),
                     ARTIFACT_ERROR_FILE);
    assert_int_equal(artifact_write(scratch_path(folder, "a/b"), "seeds", 5, hash, reason, sizeof reason),
                     ARTIFACT_ERROR_FILE);
    assert_non_null(strstr(reason, "No such file"));
    scratch_remove(folder);
}

static void test_old_leftovers_are_swept(void **state)
{
    (void)state;
    const char *folder = scratch_folder();
    char reason[512] = "";
    uint8_t hash[ARTIFACT_HASH];
    scratch_write(scratch_path(folder, ".artifact-old"), "half", 4, 0600);
    scratch_write(scratch_path(folder, ".artifact-new"), "half", 4, 0600);
    const struct utimbuf long_ago = {1000000, 1000000};
    assert_int_equal(utime(scratch_path(folder, ".artifact-old"), &long_ago), 0);
    assert_int_equal(artifact_write(folder, "seeds", 5, hash, reason, sizeof reason), ARTIFACT_OK);
    assert_int_equal(access(scratch_path(folder, ".artifact-old"), F_OK), -1);
    assert_int_equal(access(scratch_path(folder, ".artifact-new"), F_OK), 0);
    scratch_remove(folder);
}

/* --- downloads --- */

enum { CHUNK = 1000, WHOLE = 3 * CHUNK + 17 };

static void make_content(uint8_t content[WHOLE], uint8_t hash[ARTIFACT_HASH])
{
    for (size_t i = 0; i < WHOLE; i++)
        content[i] = (uint8_t)(i * 31 + i / 256);
    artifact_hash(content, WHOLE, hash);
}

static int feed(struct artifact_download *download, const uint8_t *content, uint64_t offset, size_t size)
{
    if (size > WHOLE - offset)
        size = (size_t)(WHOLE - offset);
    return artifact_download_chunk(download, offset, WHOLE, content + offset, size);
}

/* KataGo 448f87da: a resume at every chunk boundary and one to either side ends with the same bytes. */
static void test_resume_at_every_boundary(void **state)
{
    (void)state;
    static uint8_t content[WHOLE];
    uint8_t hash[ARTIFACT_HASH];
    make_content(content, hash);
    for (uint64_t boundary = CHUNK; boundary <= 3 * CHUNK; boundary += CHUNK) {
        for (int shift = -1; shift <= 1; shift++) {
            struct artifact_download download;
            artifact_download_init(&download, hash);
            uint64_t first = boundary + (uint64_t)(int64_t)shift;
            assert_int_equal(artifact_download_chunk(&download, 0, WHOLE, content, (size_t)first), 0);
            assert_int_equal(download.offset, first);
            /* Wrong offsets next to the right one change nothing. */
            assert_int_equal(feed(&download, content, first + 1, CHUNK), 0);
            assert_int_equal(feed(&download, content, first - 1, CHUNK), 0);
            assert_int_equal(download.offset, first);
            int result = 0;
            while (result == 0)
                result = feed(&download, content, download.offset, CHUNK);
            assert_int_equal(result, 1);
            assert_memory_equal(download.bytes, content, WHOLE);
            assert_int_equal(feed(&download, content, 0, CHUNK), 1); /* a late repeat */
            artifact_download_done(&download);
        }
    }
}

static void test_download_refusals(void **state)
{
    (void)state;
    static uint8_t content[WHOLE];
    uint8_t hash[ARTIFACT_HASH];
    make_content(content, hash);
    struct artifact_download download;
    artifact_download_init(&download, hash);
    assert_int_equal(artifact_download_chunk(&download, 0, 0, content, 1), ARTIFACT_ERROR_SIZE);
    assert_int_equal(artifact_download_chunk(&download, 0, (uint64_t)ARTIFACT_BYTES_MAX + 1, content, 1),
                     ARTIFACT_ERROR_SIZE);
    assert_int_equal(artifact_download_chunk(&download, 0, UINT64_MAX, content, 1), ARTIFACT_ERROR_SIZE);
    assert_int_equal(artifact_download_chunk(&download, 0, WHOLE, content, 0), ARTIFACT_ERROR_SIZE);
    assert_int_equal(artifact_download_chunk(&download, WHOLE, WHOLE, content, 1), ARTIFACT_ERROR_SIZE);
    assert_int_equal(artifact_download_chunk(&download, UINT64_MAX, WHOLE, content, 1), ARTIFACT_ERROR_SIZE);
    assert_int_equal(artifact_download_chunk(&download, 0, WHOLE - 1, content, WHOLE), ARTIFACT_ERROR_SIZE);
    assert_null(download.bytes);
    assert_int_equal(artifact_download_chunk(&download, 0, WHOLE, content, CHUNK), 0);
    assert_int_equal(artifact_download_chunk(&download, CHUNK, WHOLE + 1, content + CHUNK, CHUNK),
                     ARTIFACT_ERROR_SIZE);
    assert_int_equal(download.offset, CHUNK);
    artifact_download_done(&download);
    assert_null(download.bytes);
}

static void test_download_with_one_wrong_bit_starts_again(void **state)
{
    (void)state;
    static uint8_t content[WHOLE];
    uint8_t hash[ARTIFACT_HASH];
    make_content(content, hash);
    struct artifact_download download;
    artifact_download_init(&download, hash);
    content[1234] ^= 4;
    int result = 0;
    while (result == 0)
        result = feed(&download, content, download.offset, CHUNK);
    assert_int_equal(result, ARTIFACT_ERROR_CORRUPT);
    assert_int_equal(download.offset, 0);
    content[1234] ^= 4;
    for (result = 0; result == 0;)
        result = feed(&download, content, download.offset, CHUNK);
    assert_int_equal(result, 1);
    artifact_download_done(&download);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_names),
        cmocka_unit_test(test_write_then_read),
        cmocka_unit_test(test_corrupt_file_is_set_aside),
        cmocka_unit_test(test_full_disk_leaves_nothing),
        cmocka_unit_test(test_folder_that_cannot_be_written),
        cmocka_unit_test(test_old_leftovers_are_swept),
        cmocka_unit_test(test_resume_at_every_boundary),
        cmocka_unit_test(test_download_refusals),
        cmocka_unit_test(test_download_with_one_wrong_bit_starts_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
