/* The spool: what is appended comes back in order, through torn tails at every byte, flipped bits, full disks
 * and restarts; what is acknowledged goes. */
#include "worker/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/worker/scratch.h"

enum { PAIRS = 3 };

static char folder[SCRATCH_PATH];

static int set_up(void **state)
{
    (void)state;
    scratch_create(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_destroy(folder);
    return 0;
}

static struct spool *open_spool(uint64_t bytes_max, uint32_t segment_bytes, struct spool_report *report)
{
    char reason[256] = "";
    struct spool *spool = spool_create(folder, bytes_max, segment_bytes, report, reason, sizeof reason);
    if (spool == NULL)
        fail_msg("spool_create: %s", reason);
    return spool;
}

static enum spool_error append(struct spool *spool, uint64_t pair)
{
    char moves[2][40], reason[256];
    struct message_game leg0 = scratch_game(pair, 0, moves[0]), leg1 = scratch_game(pair, 1, moves[1]);
    return spool_append(spool, &leg0, &leg1, reason, sizeof reason);
}

static void check_game(const struct message_game *game, uint64_t pair, uint32_t leg)
{
    char moves[40];
    struct message_game expected = scratch_game(pair, leg, moves);
    assert_int_equal(game->pair, pair);
    assert_int_equal(game->leg, leg);
    assert_string_equal(game->moves, moves);
    assert_memory_equal(game->weights_b, expected.weights_b, MESSAGE_HASH);
}

static void read_batch(struct spool *spool, size_t pairs_max, struct spool_batch *batch)
{
    char reason[256];
    assert_int_equal(spool_read(spool, pairs_max, MESSAGE_BYTES_MAX, batch, reason, sizeof reason), SPOOL_OK);
}

/* The spool holds exactly pairs first .. first + count - 1. */
static void check_pairs(struct spool *spool, uint64_t first, size_t count)
{
    struct spool_batch batch;
    assert_int_equal(spool_pairs(spool), count);
    read_batch(spool, 1000, &batch);
    assert_int_equal(batch.pairs, count);
    for (size_t i = 0; i < count; i++) {
        check_game(&batch.games[2 * i], first + i, 0);
        check_game(&batch.games[2 * i + 1], first + i, 1);
    }
    spool_batch_done(&batch);
}

static void what_is_appended_comes_back_until_acknowledged(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    for (uint64_t pair = 0; pair < 10; pair++)
        assert_int_equal(append(spool, pair), SPOOL_OK);
    check_pairs(spool, 0, 10);
    struct spool_batch batch;
    read_batch(spool, 4, &batch);
    assert_int_equal(batch.pairs, 4);
    spool_batch_done(&batch);
    spool_acknowledge(spool, 4);
    check_pairs(spool, 4, 6);
    assert_int_equal(append(spool, 10), SPOOL_OK);
    check_pairs(spool, 4, 7);
    spool_acknowledge(spool, 7);
    check_pairs(spool, 0, 0);
    spool_destroy(spool);
    assert_int_equal(scratch_count(folder, "", NULL), 0);
}

static void a_batch_keeps_its_byte_bound_and_takes_one_pair_at_least(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    for (uint64_t pair = 0; pair < 10; pair++)
        assert_int_equal(append(spool, pair), SPOOL_OK);
    struct spool_batch one, some;
    char reason[256];
    assert_int_equal(spool_read(spool, 10, 1, &one, reason, sizeof reason), SPOOL_OK);
    assert_int_equal(one.pairs, 1);
    size_t bound = 4 * one.bytes + one.bytes / 2;
    assert_int_equal(spool_read(spool, 10, bound, &some, reason, sizeof reason), SPOOL_OK);
    assert_in_range(some.pairs, 3, 4);
    assert_true(some.bytes <= bound);
    spool_batch_done(&one);
    spool_batch_done(&some);
    spool_destroy(spool);
}

static void half_a_pair_is_refused(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    char moves[2][40], reason[256];
    struct message_game leg0 = scratch_game(1, 0, moves[0]), leg1 = scratch_game(2, 1, moves[1]);
    assert_int_equal(spool_append(spool, &leg0, &leg1, reason, sizeof reason), SPOOL_ERROR_GAME);
    assert_int_equal(spool_append(spool, &leg0, &leg0, reason, sizeof reason), SPOOL_ERROR_GAME);
    assert_int_equal(spool_pairs(spool), 0);
    spool_destroy(spool);
}

static void segments_go_as_they_are_acknowledged(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1024, &report);
    for (uint64_t pair = 0; pair < 40; pair++)
        assert_int_equal(append(spool, pair), SPOOL_OK);
    size_t segments = scratch_count(folder, ".spool", NULL);
    assert_true(segments >= 10);
    check_pairs(spool, 0, 40);
    for (uint64_t done = 1; done <= 39; done++) {
        spool_acknowledge(spool, 1);
        check_pairs(spool, done, 40 - done);
        size_t now = scratch_count(folder, ".spool", NULL);
        assert_true(now <= segments);
        segments = now;
    }
    assert_int_equal(segments, 1);
    spool_acknowledge(spool, 1);
    assert_true(spool_bytes(spool) <= 8);
    spool_destroy(spool);
    assert_int_equal(scratch_count(folder, ".spool", NULL), 0);
}

static void reopening_gives_what_was_not_acknowledged(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1024, &report);
    for (uint64_t pair = 0; pair < 20; pair++)
        assert_int_equal(append(spool, pair), SPOOL_OK);
    spool_acknowledge(spool, 7);
    spool_destroy(spool);

    spool = open_spool(1 << 20, 1024, &report);
    assert_int_equal(report.torn_bytes + report.damaged_bytes, 0);
    assert_in_range(report.pairs, 13, 20); /* acknowledged ones of a standing segment come again */
    check_pairs(spool, 20 - report.pairs, report.pairs);
    assert_int_equal(append(spool, 20), SPOOL_OK);
    check_pairs(spool, 20 - report.pairs, report.pairs + 1);
    spool_destroy(spool);
}

/* A spool file of PAIRS pairs; where its records end in `ends`. */
static uint8_t *make_file(char path[SCRATCH_PATH + NAME_MAX + 2], size_t *size, size_t ends[PAIRS])
{
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        assert_int_equal(append(spool, pair), SPOOL_OK);
        ends[pair] = spool_bytes(spool);
    }
    spool_destroy(spool);
    char name[NAME_MAX + 1];
    assert_int_equal(scratch_count(folder, ".spool", name), 1);
    snprintf(path, SCRATCH_PATH + NAME_MAX + 2, "%s/%s", folder, name);
    return scratch_read(path, size);
}

static void a_tail_torn_at_any_byte_costs_only_the_torn_pair(void **state)
{
    (void)state;
    char path[SCRATCH_PATH + NAME_MAX + 2];
    size_t size, ends[PAIRS];
    uint8_t *bytes = make_file(path, &size, ends);
    assert_int_equal(size, ends[PAIRS - 1]);
    for (size_t cut = 0; cut <= size; cut++) {
        size_t whole = 0;
        while (whole < PAIRS && ends[whole] <= cut)
            whole++;
        scratch_write(path, bytes, cut);
        struct spool_report report;
        struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
        assert_int_equal(report.pairs, whole);
        assert_int_equal(report.damaged_bytes, 0);
        bool clean = whole > 0 ? ends[whole - 1] == cut : cut == 8 || cut == 0;
        assert_int_equal(report.torn_bytes == 0, clean);
        check_pairs(spool, 0, whole);
        if (cut % 32 == 0) {
            assert_int_equal(append(spool, whole), SPOOL_OK);
            check_pairs(spool, 0, whole + 1);
            spool_acknowledge(spool, whole + 1);
        }
        spool_destroy(spool);
    }
    free(bytes);
}

static void a_flipped_bit_costs_only_its_pair(void **state)
{
    (void)state;
    char path[SCRATCH_PATH + NAME_MAX + 2];
    size_t size, ends[PAIRS];
    uint8_t *bytes = make_file(path, &size, ends);
    for (size_t at = 8; at < size; at++) {
        size_t hit = 0;
        while (ends[hit] <= at)
            hit++;
        bytes[at] ^= (uint8_t)(1u << (at % 8));
        scratch_write(path, bytes, size);
        bytes[at] ^= (uint8_t)(1u << (at % 8));
        struct spool_report report;
        struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
        assert_int_equal(report.pairs, PAIRS - 1);
        assert_true(report.damaged_bytes + report.torn_bytes > 0);
        struct spool_batch batch;
        read_batch(spool, 100, &batch);
        assert_int_equal(batch.pairs, PAIRS - 1);
        for (size_t i = 0; i < batch.pairs; i++)
            for (uint32_t leg = 0; leg < 2; leg++)
                check_game(&batch.games[2 * i + leg], i < hit ? i : i + 1, leg);
        spool_batch_done(&batch);
        spool_destroy(spool);
    }
    free(bytes);
}

static void a_file_of_another_program_is_kept_aside(void **state)
{
    (void)state;
    char path[SCRATCH_PATH + 64];
    snprintf(path, sizeof path, "%s/0000000000000005.spool", folder);
    scratch_write(path, (const uint8_t *)"KROOSPL9 and results of a later version", 39);
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    assert_int_equal(report.pairs, 0);
    assert_int_equal(scratch_count(folder, ".spool.unknown", NULL), 1);
    assert_int_equal(append(spool, 0), SPOOL_OK);
    check_pairs(spool, 0, 1);
    spool_destroy(spool);
}

static void damage_after_opening_costs_only_its_pair(void **state)
{
    (void)state;
    char path[SCRATCH_PATH + NAME_MAX + 2];
    size_t size, ends[PAIRS];
    uint8_t *bytes = make_file(path, &size, ends);
    for (size_t hit = 0; hit < PAIRS; hit++) {
        scratch_write(path, bytes, size);
        struct spool_report report;
        struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
        int fd = open(path, O_WRONLY);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, "?", 1, (off_t)ends[hit] - 5), 1);
        close(fd);
        uint64_t seen = 0;
        while (spool_pairs(spool) > 0) {
            struct spool_batch batch;
            read_batch(spool, 100, &batch);
            for (size_t i = 0; i < 2 * batch.pairs; i++)
                seen |= UINT64_C(1) << batch.games[i].pair;
            spool_acknowledge(spool, batch.pairs);
            spool_batch_done(&batch);
        }
        assert_int_equal(seen, 7 - (UINT64_C(1) << hit));
        assert_int_equal(spool_lost(spool), 1);
        spool_destroy(spool);
    }
    free(bytes);
}

/* A file-size limit stands in for a full disk: the write is cut short and then refused. */
static void a_full_disk_leaves_nothing_half(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    tight = before;
    tight.rlim_cur = 3000;
    uint64_t pairs = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    enum spool_error error;
    while ((error = append(spool, pairs)) == SPOOL_OK && pairs < 1000)
        pairs++;
    enum spool_error again = append(spool, pairs);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error, SPOOL_ERROR_FILE);
    assert_int_equal(again, SPOOL_ERROR_FILE);
    assert_in_range(pairs, 2, 20);
    check_pairs(spool, 0, pairs);

    char path[SCRATCH_PATH + NAME_MAX + 2], name[NAME_MAX + 1];
    assert_int_equal(scratch_count(folder, ".spool", name), 1);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    size_t size;
    free(scratch_read(path, &size));
    assert_int_equal(size, spool_bytes(spool));

    assert_int_equal(append(spool, pairs), SPOOL_OK);
    check_pairs(spool, 0, pairs + 1);
    spool_destroy(spool);
    spool = open_spool(1 << 20, 1 << 16, &report);
    assert_int_equal(report.torn_bytes + report.damaged_bytes, 0);
    check_pairs(spool, 0, pairs + 1);
    spool_destroy(spool);
}

/* Not even a segment's first byte can be written. */
static void a_disk_full_at_a_new_segment_leaves_no_file(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    tight = before;
    tight.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    enum spool_error error = append(spool, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error, SPOOL_ERROR_FILE);
    assert_int_equal(scratch_count(folder, "", NULL), 0);
    assert_int_equal(append(spool, 0), SPOOL_OK);
    check_pairs(spool, 0, 1);
    spool_destroy(spool);
}

static void a_full_spool_takes_again_after_acknowledgement(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(0, 2048, &report); /* raised to two segments */
    uint64_t pairs = 0;
    enum spool_error error;
    while ((error = append(spool, pairs)) == SPOOL_OK && pairs < 1000)
        pairs++;
    assert_int_equal(error, SPOOL_ERROR_FULL);
    assert_true(spool_bytes(spool) <= 4096);
    check_pairs(spool, 0, pairs);
    spool_acknowledge(spool, pairs);
    assert_int_equal(append(spool, 77), SPOOL_OK);
    check_pairs(spool, 77, 1);
    spool_destroy(spool);
}

static void the_longest_games_fit(void **state)
{
    (void)state;
    struct spool_report report;
    struct spool *spool = open_spool(1 << 20, 1 << 16, &report);
    char *moves = malloc(MESSAGE_MOVES_MAX + 1), small[40], reason[256];
    uint8_t *scores = calloc(2, MESSAGE_MOVES_MAX);
    assert_true(moves != NULL && scores != NULL);
    memset(moves, 'A', MESSAGE_MOVES_MAX);
    moves[MESSAGE_MOVES_MAX] = '\0';
    struct message_game legs[2] = {scratch_game(5, 0, small), scratch_game(5, 1, small)};
    for (int leg = 0; leg < 2; leg++) {
        legs[leg].moves = moves;
        legs[leg].plies = MESSAGE_MOVES_MAX;
        legs[leg].scores = scores;
        legs[leg].scores_size = 2 * MESSAGE_MOVES_MAX;
    }
    assert_int_equal(spool_append(spool, &legs[0], &legs[1], reason, sizeof reason), SPOOL_OK);
    assert_int_equal(spool_append(spool, &legs[0], &legs[1], reason, sizeof reason), SPOOL_OK);
    struct spool_batch batch;
    read_batch(spool, 1, &batch);
    assert_int_equal(batch.pairs, 1);
    assert_true(batch.bytes < MESSAGE_BYTES_MAX - 4096);
    assert_int_equal(strlen(batch.games[1].moves), MESSAGE_MOVES_MAX);
    spool_batch_done(&batch);
    spool_destroy(spool);
    free(moves);
    free(scores);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_appended_comes_back_until_acknowledged),
        TEST(a_batch_keeps_its_byte_bound_and_takes_one_pair_at_least),
        TEST(half_a_pair_is_refused),
        TEST(segments_go_as_they_are_acknowledged),
        TEST(reopening_gives_what_was_not_acknowledged),
        TEST(a_tail_torn_at_any_byte_costs_only_the_torn_pair),
        TEST(a_flipped_bit_costs_only_its_pair),
        TEST(a_file_of_another_program_is_kept_aside),
        TEST(damage_after_opening_costs_only_its_pair),
        TEST(a_full_disk_leaves_nothing_half),
        TEST(a_disk_full_at_a_new_segment_leaves_no_file),
        TEST(a_full_spool_takes_again_after_acknowledgement),
        TEST(the_longest_games_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
