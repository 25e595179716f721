/* Opening books: the file, the permutation, and what becomes of candidates. */
#include "engine/book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book_make.h"
#include "engine/crc32c.h"
#include "engine/mix.h"
#include "tests/unit/check.h"

static const struct rules *site(void)
{
    return rules_preset(0);
}

static struct book *make_book(uint32_t openings, unsigned plies, uint64_t seed)
{
    struct book_plan plan = book_plan_default();
    struct book_counts counts;
    struct book *book = NULL;
    struct weights *weights = weights_create_starting("site");
    plan.weights = weights;
    strcpy(plan.weights_name, "starting");
    plan.openings = openings;
    plan.plies = plies;
    plan.seed = seed;
    plan.nodes = 50;
    plan.bound = 4800;
    plan.tries = BOOK_TRIES_MAX;
    assert_int_equal(book_make(&plan, NULL, NULL, &counts, &book), BOOK_OK);
    assert_int_equal(book->count, openings);
    weights_destroy(weights);
    return book;
}

/* --- the file --- */

static void a_book_is_read_as_it_was_written(void **state)
{
    (void)state;
    const char *openings[] = {"FcE", "AaBb", "Ba"};
    struct book *book = NULL, *back = NULL;
    void *bytes = NULL;
    size_t size;
    unsigned plies;
    assert_int_equal(book_create(site(), "by hand", openings, 3, &book, NULL), BOOK_OK);
    assert_int_equal(book->plies_min, 2);
    assert_int_equal(book->plies_max, 4);
    assert_memory_equal(book_opening(book, 0, &plies), "AaBb", 4);
    assert_int_equal(plies, 4);
    assert_int_equal(book_serialize(book, &bytes, &size), BOOK_OK);
    const char *wanted = "kroo-book 1\nrules site\nmade by hand\nopenings 3\nchecksum ";
    assert_memory_equal(bytes, wanted, strlen(wanted));
    assert_memory_equal((char *)bytes + size - 13, "\nAaBb\nBa\nFcE\n", 13);
    assert_int_equal(book_parse(bytes, size, site(), &back, NULL), BOOK_OK);
    assert_int_equal(back->count, 3);
    assert_string_equal(back->made, "by hand");
    assert_memory_equal(back->letters, book->letters, 9);
    book_destroy(back);
    book_destroy(book);
    free(bytes);
}

/* A file with this body whose checksum is right. */
static size_t write_file(char *file, const char *head, const char *body)
{
    uint32_t crc = crc32c(crc32c(0, head, strlen(head)), body, strlen(body));
    return (size_t)sprintf(file, "%schecksum %08lx\n%s", head, (unsigned long)crc, body);
}

static void refused(const char *head, const char *body, enum book_error wanted, uint32_t wanted_line)
{
    char file[1024];
    struct book *book = NULL;
    uint32_t line;
    enum book_error error = book_parse(file, write_file(file, head, body), site(), &book, &line);
    if (error != wanted || line != wanted_line)
        fail_msg("%s%s: error %d at line %u, wanted %d at line %u", head, body, error, line, wanted,
                 wanted_line);
    assert_null(book);
    assert_true(strlen(book_error_text(error)) > 10);
}

static void whatever_is_wrong_is_refused_with_its_line(void **state)
{
    (void)state;
#define HEAD(n) "kroo-book 1\nrules site\nmade by hand\nopenings " n "\n"
    refused("kroo-book 2\nrules site\nmade x\nopenings 1\n", "Aa\n", BOOK_ERROR_MAGIC, 0);
    refused("", "", BOOK_ERROR_MAGIC, 0);
    refused("kroo-book 1\nrules nosuch\nmade x\nopenings 1\n", "Aa\n", BOOK_ERROR_HEADER, 2);
    refused("kroo-book 1\nrules site,repetitions=3\nmade x\nopenings 1\n", "Aa\n", BOOK_ERROR_HEADER, 2);
    refused("kroo-book 1\nrules site\nmade \x01\nopenings 1\n", "Aa\n", BOOK_ERROR_HEADER, 3);
    refused("kroo-book 1\nrules site\nmade x\nopenings 01\n", "Aa\n", BOOK_ERROR_HEADER, 4);
    refused("kroo-book 1\nrules site\nmade x\nopenings -1\n", "Aa\n", BOOK_ERROR_HEADER, 4);
    refused("kroo-book 1\nrules school\nmade x\nopenings 1\n", "Aa\n", BOOK_ERROR_RULES, 5);
    refused(HEAD("0"), "", BOOK_ERROR_COUNT, 4);
    refused(HEAD("1048577"), "Aa\n", BOOK_ERROR_COUNT, 4);
    refused(HEAD("2"), "Aa\n", BOOK_ERROR_COUNT, 6);
    refused(HEAD("1"), "Aa\nAb\n", BOOK_ERROR_COUNT, 6);
    refused(HEAD("1"), "Aa", BOOK_ERROR_COUNT, 5);
    refused(HEAD("1"), "\n", BOOK_ERROR_LETTERS, 6);
    refused(HEAD("1"), "AA\n", BOOK_ERROR_LETTERS, 6);
    refused(HEAD("1"), "Ag\n", BOOK_ERROR_LETTERS, 6);
    refused(HEAD("1"), "Aa\r\n", BOOK_ERROR_LETTERS, 6);
    refused(HEAD("2"), "Ab\nAa\n", BOOK_ERROR_ORDER, 7);
    refused(HEAD("2"), "Aa\nAa\n", BOOK_ERROR_ORDER, 7);
    refused(HEAD("2"), "Aa\nAaB\n", BOOK_ERROR_ORDER, 7);
    refused(HEAD("2"), "Aa\nAbAcA\n", BOOK_ERROR_ILLEGAL, 7);
    struct book *book = NULL;
    char file[1024];
    size_t size = write_file(file, HEAD("2"), "Aa\nAb\n");
    assert_int_equal(book_parse(file, size, site(), &book, NULL), BOOK_OK);
    book_destroy(book);
    book = NULL;
    for (size_t cut = 0; cut < size; cut++)
        assert_true(book_parse(file, cut, site(), &book, NULL) < 0);
    for (size_t at = 0; at < size; at++) {
        file[at] = (char)(file[at] ^ 1);
        assert_true(book_parse(file, size, site(), &book, NULL) < 0);
        file[at] = (char)(file[at] ^ 1);
    }
    assert_null(book);
}

/* The letters of a random line of `plies`. */
static void draw(uint64_t seed, unsigned plies, char *moves)
{
    struct play_setup setup = {.rules = site(), .seed = seed, .opening_plies = plies};
    assert_int_equal(play_opening(&setup, 0, moves), plies);
}

static struct board board_of(const char *moves)
{
    struct game *game = game_create(site(), NULL);
    size_t played;
    assert_int_equal(game_play_text(game, moves, strlen(moves), &played), GAME_OK);
    struct position position = game_position(game);
    game_destroy(game);
    return board_from_position(&position);
}

struct line {
    char moves[PLAY_OPENING_MAX + 1];
    struct board board;
};

static int compare_boards(const void *one, const void *other)
{
    const struct line *a = one, *b = other;
    return memcmp(&a->board, &b->board, sizeof a->board);
}

/* Lines that lead to one position, and lines of odd and of even length whose positions are each other's twin,
 * met among random ones. */
static void positions_and_their_twins_come_once(void **state)
{
    (void)state;
    enum { DRAWN = 30000 };
    struct line *lines = calloc(DRAWN, sizeof *lines);
    unsigned same = 0, twins = 0;
    for (unsigned i = 0; i < DRAWN; i++) {
        draw(i, 3 + i % 10, lines[i].moves);
        lines[i].board = board_of(lines[i].moves);
    }
    qsort(lines, DRAWN, sizeof *lines, compare_boards);
    for (unsigned i = 0; i + 1 < DRAWN; i++) {
        size_t one = strlen(lines[i].moves), other = strlen(lines[i + 1].moves);
        const char *pair[] = {lines[i].moves, lines[i + 1].moves};
        struct book *book = NULL;
        if (strncmp(pair[0], pair[1], one < other ? one : other) == 0)
            continue;
        bool equal = board_equal(lines[i].board, lines[i + 1].board);
        assert_int_equal(book_create(site(), "pair", pair, 2, &book, NULL),
                         equal ? BOOK_ERROR_DUPLICATE : BOOK_OK);
        book_destroy(book);
        same += equal && (one + other) % 2 == 0;
        twins += equal && (one + other) % 2 != 0;
    }
    print_message("%u equal positions, %u twins\n", same, twins);
    assert_true(same > 10 && twins > 3);
    free(lines);
    const char *twin[] = {"AcBb", "BaCbB"}; /* the shortest */
    struct book *book = NULL;
    assert_int_equal(book_create(site(), "twins", twin, 2, &book, NULL), BOOK_ERROR_DUPLICATE);
}

static void an_opening_must_leave_a_game(void **state)
{
    (void)state;
    struct rules rules;
    char reason[64];
    struct book *book = NULL;
    const char *openings[] = {"AaBb"};
    assert_int_equal(rules_parse("site,quiet_limit=4", &rules, reason, sizeof reason), 0);
    assert_int_equal(book_create(&rules, "over", openings, 1, &book, NULL), BOOK_ERROR_OVER);
    const char *longer[] = {"AaBbC"};
    assert_int_equal(book_create(&rules, "over", longer, 1, &book, NULL), BOOK_ERROR_OVER);
}

/* --- the permutation --- */

static void no_opening_comes_twice_before_the_book_is_used_up(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 5, 16, 17, 255, 256, 257, 1000, 4097, 100003};
    uint8_t *seen = malloc(100003);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            memset(seen, 0, counts[i]);
            for (uint64_t pair = 0; pair < counts[i]; pair++) {
                uint32_t index = book_permute(counts[i], seed, pair);
                assert_true(index < counts[i]);
                assert_int_equal(seen[index]++, 0);
            }
        }
    free(seen);
}

/* As documented in book.h, so that another program can compute it. */
static void the_permutation_stays_what_it_is(void **state)
{
    (void)state;
    uint32_t found[8];
    for (uint64_t pair = 0; pair < 8; pair++)
        found[pair] = book_permute(1000, 42, pair);
    static const uint32_t wanted[8] = {7, 471, 654, 9, 37, 216, 243, 852};
    assert_memory_equal(found, wanted, sizeof found);
}

static double chi_square(const uint32_t *cells, size_t count, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (cells[i] - expected) * (cells[i] - expected) / expected;
    return sum;
}

/* Over many seeds each opening is as likely as any other at each place; and so is each next one. The bound is
 * the mean of chi-square plus five of its standard deviations. */
static void every_opening_is_as_likely_at_every_place(void **state)
{
    (void)state;
    static const uint32_t counts[] = {2, 7, 64, 300};
    enum { SEEDS = 60000, CELLS = 300 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t n = counts[i];
        uint64_t places[] = {0, 1, n / 2, n - 1};
        for (size_t p = 0; p < 4; p++) {
            uint32_t cells[CELLS] = {0}, steps[CELLS] = {0};
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                uint32_t here = book_permute(n, seed, places[p]);
                uint32_t next = book_permute(n, seed, (places[p] + 1) % n);
                cells[here]++;
                steps[(next + n - here) % n]++;
            }
            double bound = n - 1 + 5 * sqrt(2.0 * (n - 1));
            assert_true(chi_square(cells, n, (double)SEEDS / n) < bound);
            assert_int_equal(steps[0], 0); /* a difference of 0 would be the same opening */
            bound = n - 2 + 5 * sqrt(2.0 * (n - 2)) + 1;
            assert_true(chi_square(steps + 1, n - 1, (double)SEEDS / (n - 1)) < bound);
        }
    }
}

/* CASES OpenBench#168: two experiments share openings as often as chance has it. */
static void experiments_share_openings_by_chance(void **state)
{
    (void)state;
    enum { COUNT = 1000, PAIRS = 100, SEEDS = 200 };
    uint64_t shared = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool used[COUNT] = {false};
        for (uint64_t pair = 0; pair < PAIRS; pair++)
            used[book_permute(COUNT, 2 * seed, pair)] = true;
        for (uint64_t pair = 0; pair < PAIRS; pair++)
            shared += used[book_permute(COUNT, 2 * seed + 1, pair)];
    }
    /* Hypergeometric: mean 10 and variance 8.1 for each two. */
    assert_close((double)shared, 10.0 * SEEDS, 5 * sqrt(8.1 * SEEDS) / (10.0 * SEEDS));
}

/* --- play --- */

static void both_games_of_a_pair_begin_with_the_book(void **state)
{
    (void)state;
    struct book *book = make_book(40, 7, 3);
    struct weights *weights = weights_create_starting("site");
    struct play_setup setup = {.rules = site(), .seed = 11, .book = book, .noise_ppm = 200000};
    struct play_side side = {.weights = weights, .limits = {.nodes = 20}, .hash_kib = 64};
    struct play_seats *seats = play_seats_create();
    bool seen[40] = {false};
    for (uint64_t pair = 0; pair < book->count; pair++) {
        unsigned plies;
        uint32_t index = book_permute(book->count, 11, pair);
        const char *opening = book_opening(book, index, &plies);
        char moves[PLAY_OPENING_MAX + 1];
        assert_false(seen[index]);
        seen[index] = true;
        assert_int_equal(play_opening(&setup, pair, moves), 7);
        assert_int_equal(play_opening_plies(&setup, pair), 7);
        assert_memory_equal(moves, opening, 7);
        for (unsigned leg = 0; leg < 2 && pair < 8; leg++) {
            struct play_record record;
            assert_int_equal(play_game(seats, &setup, &side, &side, pair, leg, NULL, NULL, &record),
                             PLAY_DONE);
            assert_memory_equal(record.moves, opening, 7);
            for (size_t ply = 0; ply < record.plies; ply++)
                assert_int_equal(record.scores[ply] == PLAY_NO_SCORE,
                                 ply < 7 || play_is_noise(&setup, pair, leg, ply));
            play_record_done(&record);
        }
    }
    char moves[PLAY_OPENING_MAX + 1];
    struct play_record record;
    assert_int_equal(play_opening(&setup, book->count, moves), -1);
    assert_int_equal(play_game(seats, &setup, &side, &side, book->count, 0, NULL, NULL, &record),
                     PLAY_NO_OPENING);
    play_seats_destroy(seats);
    weights_destroy(weights);
    book_destroy(book);
}

/* --- making --- */

static void the_threads_make_the_same_book(void **state)
{
    (void)state;
    struct weights *weights = weights_create_starting("site");
    void *files[3];
    size_t sizes[3];
    for (int threads = 1; threads <= 3; threads++) {
        struct book_plan plan = book_plan_default();
        struct book_counts counts;
        struct book *book = NULL;
        plan.weights = weights;
        strcpy(plan.weights_name, "starting");
        plan.openings = 60;
        plan.plies = 5;
        plan.nodes = 200;
        plan.tries = 20000;
        plan.selfplay = true;
        plan.selfplay_nodes = 50;
        plan.noise_ppm = 400000;
        plan.threads = threads;
        assert_int_equal(book_make(&plan, NULL, NULL, &counts, &book), BOOK_OK);
        assert_int_equal(counts.kept, 60);
        assert_int_equal(counts.tried, counts.kept + counts.duplicates + counts.unbalanced + counts.ended);
        assert_true(counts.duplicates > 0 && counts.unbalanced > 0);
        assert_int_equal(book_serialize(book, &files[threads - 1], &sizes[threads - 1]), BOOK_OK);
        book_destroy(book);
    }
    for (int i = 1; i < 3; i++) {
        assert_int_equal(sizes[i], sizes[0]);
        assert_memory_equal(files[i], files[0], sizes[0]);
    }
    for (int i = 0; i < 3; i++)
        free(files[i]);
    weights_destroy(weights);
}

/* After two plies there are few positions: the tries end, and what there is makes the book. */
static void the_tries_bound_the_work(void **state)
{
    (void)state;
    struct weights *weights = weights_create_starting("site");
    struct book_plan plan = book_plan_default();
    struct book_counts counts;
    struct book *book = NULL;
    plan.weights = weights;
    plan.plies = 2;
    plan.openings = 100;
    plan.tries = 700;
    plan.nodes = 100;
    plan.bound = 4800;
    assert_int_equal(book_make(&plan, NULL, NULL, &counts, &book), BOOK_OK);
    assert_int_equal(counts.tried, 700);
    assert_int_equal(counts.kept + counts.duplicates, 700);
    assert_true(book->count <= 36 && book->count >= 30);
    book_destroy(book);
    plan.bound = 0;
    plan.plies = 20;
    plan.tries = 3;
    plan.nodes = 3000;
    book = NULL;
    enum book_error error = book_make(&plan, NULL, NULL, &counts, &book);
    assert_true(error == BOOK_ERROR_COUNT || error == BOOK_OK);
    assert_int_equal(error == BOOK_OK, counts.kept > 0);
    book_destroy(book);
    weights_destroy(weights);
}

static void a_trial_counts_every_pair_once(void **state)
{
    (void)state;
    struct book *book = make_book(60, 8, 5);
    struct weights *weights = weights_create_starting("site");
    struct play_setup setup = {.rules = site(), .seed = 3, .book = book};
    struct book_measure one, two;
    struct book_trial trial = {.setup = &setup, .weights = weights, .nodes = 60, .pairs = 50, .threads = 1};
    assert_true(book_try(&trial, NULL, NULL, &one));
    trial.threads = 2;
    assert_true(book_try(&trial, NULL, NULL, &two));
    assert_memory_equal(&one, &two, sizeof one);
    uint64_t sum = 0;
    for (int i = 0; i < BOOK_PAIR_CLASSES; i++)
        sum += one.classes[i];
    assert_int_equal(one.pairs, 50);
    assert_int_equal(sum, 50);
    assert_true(one.classes[BOOK_CLASS_WL] > 0 && one.classes[BOOK_CLASS_WL] < 50);
    trial.pairs = 61; /* one more than the book has */
    assert_false(book_try(&trial, NULL, NULL, &one));
    weights_destroy(weights);
    book_destroy(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_book_is_read_as_it_was_written),
        cmocka_unit_test(whatever_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(positions_and_their_twins_come_once),
        cmocka_unit_test(an_opening_must_leave_a_game),
        cmocka_unit_test(no_opening_comes_twice_before_the_book_is_used_up),
        cmocka_unit_test(the_permutation_stays_what_it_is),
        cmocka_unit_test(every_opening_is_as_likely_at_every_place),
        cmocka_unit_test(experiments_share_openings_by_chance),
        cmocka_unit_test(both_games_of_a_pair_begin_with_the_book),
        cmocka_unit_test(the_threads_make_the_same_book),
        cmocka_unit_test(the_tries_bound_the_work),
        cmocka_unit_test(a_trial_counts_every_pair_once),
    };
    return cmocka_run_group_tests_name("book", tests, NULL, NULL);
}
