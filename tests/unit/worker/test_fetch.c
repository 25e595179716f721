/* Artifacts asked for one at a time, in order, in chunks; what does not fit or hash is refused. */
#include "worker/fetch.h"

#include "tests/unit/worker/scratch.h"

enum { SIZE = 1000 };
static uint8_t content[SIZE];
static uint8_t name[ARTIFACT_HASH];

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < SIZE; i++)
        content[i] = (uint8_t)(i * 7);
    artifact_hash(content, SIZE, name);
    return 0;
}

static enum fetch_outcome give(struct fetch *fetch, size_t offset, size_t size)
{
    char reason[256] = "";
    struct message_artifact_chunk chunk = {
        .offset = offset, .size = SIZE, .content = content + offset, .content_size = size};
    memcpy(chunk.sha256, name, ARTIFACT_HASH);
    return fetch_chunk(fetch, &chunk, reason, sizeof reason);
}

static void chunks_make_the_whole(void **state)
{
    (void)state;
    struct fetch fetch;
    struct message_artifact_request request;
    fetch_init(&fetch, SIZE);
    assert_false(fetch_request(&fetch, &request));
    assert_int_equal(fetch_want(&fetch, name, false), 0);
    assert_int_equal(fetch_want(&fetch, name, true), 0); /* once is enough */
    assert_int_equal(fetch.count, 1);
    assert_true(fetch_request(&fetch, &request));
    assert_int_equal(request.offset, 0);
    assert_int_equal(give(&fetch, 0, 600), FETCH_MORE);
    assert_int_equal(give(&fetch, 0, 600), FETCH_MORE); /* a chunk that came twice */
    assert_true(fetch_request(&fetch, &request));
    assert_int_equal(request.offset, 600);
    assert_int_equal(give(&fetch, 600, 400), FETCH_COMPLETE);
    assert_memory_equal(fetch.download.bytes, content, SIZE);
    fetch_end(&fetch);
    assert_false(fetch_request(&fetch, &request));
    fetch_done(&fetch);
}

static void too_much_is_refused_at_the_first_chunk(void **state)
{
    (void)state;
    struct fetch fetch;
    struct message_artifact_request request;
    fetch_init(&fetch, SIZE - 1);
    fetch_want(&fetch, name, false);
    assert_true(fetch_request(&fetch, &request));
    assert_int_equal(give(&fetch, 0, 600), FETCH_FAILED);
    assert_null(fetch.download.bytes);
    fetch_done(&fetch);
}

static void wrong_bytes_are_refused(void **state)
{
    (void)state;
    struct fetch fetch;
    struct message_artifact_request request;
    fetch_init(&fetch, SIZE);
    fetch_want(&fetch, name, false);
    assert_true(fetch_request(&fetch, &request));
    content[500] ^= 1;
    assert_int_equal(give(&fetch, 0, SIZE), FETCH_FAILED);
    content[500] ^= 1;
    fetch_end(&fetch);
    assert_int_equal(fetch.count, 0);
    fetch_done(&fetch);
}

static void what_is_wanted_soon_comes_next_and_the_list_is_bounded(void **state)
{
    (void)state;
    struct fetch fetch;
    struct message_artifact_request request;
    uint8_t other[ARTIFACT_HASH] = {1}, urgent[ARTIFACT_HASH] = {2};
    fetch_init(&fetch, SIZE);
    fetch_want(&fetch, name, false);
    assert_true(fetch_request(&fetch, &request));
    fetch_want(&fetch, other, false);
    fetch_want(&fetch, urgent, true);
    assert_true(fetch_request(&fetch, &request)); /* what is under way stays */
    assert_memory_equal(request.sha256, name, ARTIFACT_HASH);
    fetch_end(&fetch);
    assert_true(fetch_request(&fetch, &request));
    assert_memory_equal(request.sha256, urgent, ARTIFACT_HASH);
    for (uint8_t i = 3; fetch.count < FETCH_WANTED_MAX; i++)
        assert_int_equal(fetch_want(&fetch, (uint8_t[ARTIFACT_HASH]){i}, i % 2 == 0), 0);
    assert_int_equal(fetch_want(&fetch, (uint8_t[ARTIFACT_HASH]){0, 9}, true), -1);
    fetch_done(&fetch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_make_the_whole),
        cmocka_unit_test(too_much_is_refused_at_the_first_chunk),
        cmocka_unit_test(wrong_bytes_are_refused),
        cmocka_unit_test(what_is_wanted_soon_comes_next_and_the_list_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
