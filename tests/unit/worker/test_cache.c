/* Weights by hash: verified before use, kept while held, let go of beyond a bound; and the state folder. */
#include "worker/cache.h"

#include <sys/stat.h>

#include "tests/unit/worker/scratch.h"
#include "worker/folder.h"

static char folder_path[SCRATCH_PATH];
static struct folder folder;

static int set_up(void **state)
{
    (void)state;
    char reason[512];
    scratch_create(folder_path);
    return folder_open(&folder, folder_path, reason, sizeof reason) == FOLDER_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    folder_close(&folder);
    scratch_destroy(folder_path);
    return 0;
}

/* Weights whose provenance makes their hash their own. */
static void make_weights(int number, void **bytes, size_t *size, uint8_t sha256[ARTIFACT_HASH])
{
    char provenance[40];
    snprintf(provenance, sizeof provenance, "{\"number\":%d}", number);
    struct weights *start = weights_create_starting("site"), *weights;
    assert_non_null(start);
    assert_int_equal(
        weights_create_table("site", start->shift, start->per_logit, start->phases, provenance, &weights),
        WEIGHTS_OK);
    assert_int_equal(weights_serialize(weights, bytes, size), WEIGHTS_OK);
    artifact_hash(*bytes, *size, sha256);
    weights_destroy(start);
    weights_destroy(weights);
}

static void weights_are_kept_while_held(void **state)
{
    (void)state;
    enum { MANY = CACHE_LOADED + 10 };
    struct cache *cache = cache_create(folder.artifacts);
    uint8_t hashes[MANY][ARTIFACT_HASH];
    const struct weights *held[MANY], *again;
    char reason[256];
    for (int i = 0; i < MANY; i++) {
        void *bytes;
        size_t size;
        make_weights(i, &bytes, &size, hashes[i]);
        assert_false(cache_has(cache, hashes[i]));
        assert_int_equal(cache_hold(cache, hashes[i], "site", &held[i], reason, sizeof reason),
                         CACHE_ERROR_ABSENT);
        assert_int_equal(cache_store(cache, hashes[i], bytes, size, reason, sizeof reason), CACHE_OK);
        assert_true(cache_has(cache, hashes[i]));
        assert_int_equal(cache_hold(cache, hashes[i], "site", &held[i], reason, sizeof reason), CACHE_OK);
        free(bytes);
    }
    for (int i = 0; i < MANY; i++) { /* the same object, and all alive (the sanitizers look) */
        assert_int_equal(cache_hold(cache, hashes[i], "site", &again, reason, sizeof reason), CACHE_OK);
        assert_ptr_equal(again, held[i]);
        assert_int_equal(again->kind, WEIGHTS_TABLE);
        cache_release(cache, again);
    }
    for (int i = 0; i < MANY; i++)
        cache_release(cache, held[i]);
    cache_release(cache, NULL);
    assert_int_equal(cache_hold(cache, hashes[0], "site", &again, reason, sizeof reason), CACHE_OK);
    cache_destroy(cache);
}

static void other_rules_and_corrupt_files_are_refused(void **state)
{
    (void)state;
    struct cache *cache = cache_create(folder.artifacts);
    const struct weights *weights;
    void *bytes;
    size_t size;
    uint8_t sha256[ARTIFACT_HASH];
    char reason[256], hex[ARTIFACT_HEX], path[FOLDER_PATH_MAX + ARTIFACT_HEX + 1];
    make_weights(1, &bytes, &size, sha256);
    assert_int_equal(cache_store(cache, sha256, bytes, size, reason, sizeof reason), CACHE_OK);
    assert_int_equal(cache_hold(cache, sha256, "ghana", &weights, reason, sizeof reason),
                     CACHE_ERROR_WEIGHTS);
    artifact_hex(sha256, hex);
    snprintf(path, sizeof path, "%s/%s", folder.artifacts, hex);
    for (size_t cut = 0; cut < size; cut += size / 2) { /* empty, and half of it */
        scratch_write(path, bytes, cut);
        assert_int_equal(cache_hold(cache, sha256, "site", &weights, reason, sizeof reason),
                         CACHE_ERROR_ABSENT);
    }
    assert_int_equal(cache_store(cache, sha256, bytes, size, reason, sizeof reason), CACHE_OK);
    assert_int_equal(cache_hold(cache, sha256, "site", &weights, reason, sizeof reason), CACHE_OK);
    free(bytes);
    cache_destroy(cache);
}

static void a_folder_has_one_owner(void **state)
{
    (void)state;
    struct folder second;
    char reason[512] = "", pid[32];
    assert_int_equal(folder_open(&second, folder_path, reason, sizeof reason), FOLDER_ERROR_LOCKED);
    snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    assert_non_null(strstr(reason, pid));
    folder_close(&folder);
    assert_int_equal(folder_open(&second, folder_path, reason, sizeof reason), FOLDER_OK);
    folder = second;
    struct stat status;
    assert_int_equal(stat(folder.spool, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(folder_open(&second, "/proc/no/such/place", reason, sizeof reason), FOLDER_ERROR_FILE);
}

static void refused_games_are_kept_within_a_bound(void **state)
{
    (void)state;
    char moves[40], reason[512];
    for (uint64_t pair = 0; pair < FOLDER_REFUSED_MAX; pair++) {
        struct message_game game = scratch_game(pair, 0, moves);
        assert_int_equal(folder_set_aside(&folder, &game, "why", reason, sizeof reason), FOLDER_OK);
    }
    struct message_game game = scratch_game(FOLDER_REFUSED_MAX, 0, moves);
    assert_int_equal(folder_set_aside(&folder, &game, "why", reason, sizeof reason), FOLDER_ERROR_FULL);
    assert_int_equal(scratch_count(folder.refused, ".txt", NULL), FOLDER_REFUSED_MAX);
    folder_close(&folder);
    assert_int_equal(folder_open(&folder, folder_path, reason, sizeof reason), FOLDER_OK);
    assert_int_equal(folder.refused_count, FOLDER_REFUSED_MAX);
}

static void pruning_keeps_the_newest(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        char path[FOLDER_PATH_MAX + 16];
        snprintf(path, sizeof path, "%s/file%d", folder.artifacts, i);
        scratch_write(path, (const uint8_t *)"x", 1);
        struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        assert_int_equal(utimensat(-1, path, times, 0), 0);
    }
    folder_prune(folder.artifacts, 3);
    assert_int_equal(scratch_count(folder.artifacts, "", NULL), 3);
    for (int i = 7; i < 10; i++) {
        char ending[8];
        snprintf(ending, sizeof ending, "file%d", i);
        assert_int_equal(scratch_count(folder.artifacts, ending, NULL), 1);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(weights_are_kept_while_held), TEST(other_rules_and_corrupt_files_are_refused),
        TEST(a_folder_has_one_owner),      TEST(refused_games_are_kept_within_a_bound),
        TEST(pruning_keeps_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
