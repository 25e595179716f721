#include "tests/unit/engine/vectors.h"

#include <limits.h>

#include "engine/board.h"
#include "engine/mix.h"
#include "engine/perft.h"

/* Nodes one tree may have here by bulk counting and move by move: a sanitizer makes each cost twenty times as
 * much. KROO_TEST_DEEP=1 in the environment walks every row (some minutes). */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||     \
    __has_feature(thread_sanitizer)
enum { INSTRUMENTED = 1 };
#else
enum { INSTRUMENTED = 0 };
#endif

static long long bulk_max(void)
{
    if (getenv("KROO_TEST_DEEP") != NULL)
        return LLONG_MAX;
    return INSTRUMENTED ? 20000000 : 500000000;
}

static long long plain_max(void)
{
    if (getenv("KROO_TEST_DEEP") != NULL)
        return LLONG_MAX;
    return INSTRUMENTED ? 1000000 : 20000000;
}

struct totals {
    size_t rows;    /* in the file */
    size_t checked; /* walked and compared */
    unsigned long long nodes;
};

/* The names of perft-rule-sets.json. Repetition and quiet limit play no part. */
static const struct {
    const char *key, *rules;
} rule_sets[] = {
    {"S0", "site"},
    {"S2", "school"},
    {"S3_six_only", "ghana"},
    {"S4a_illegal", "slam-illegal"},
    {"S4c_rest_to_opp", "slam-rest-to-opponent"},
    {"S4d_skip_last", "slam-keep-last"},
    {"S4d_skip_first", "slam-keep-first"},
    {"S4e_allowed", "slam-allowed"},
    {"RB_awari", "awari"},
};
enum { RULE_SETS = sizeof rule_sets / sizeof rule_sets[0] };

static void check_depths(const char *what, const char *key, const struct rules *rules,
                         const struct position *position, const json_t *depths, struct totals *totals)
{
    for (size_t i = 0; i < json_array_size(depths); i++) {
        const json_t *row = json_array_get(depths, i);
        int depth = (int)vectors_number(row, "depth");
        long long expected = vectors_number(row, "nodes");
        totals->rows++;
        if (expected > bulk_max())
            continue;
        long long nodes = (long long)perft_nodes(rules, position, depth);
        if (nodes != expected)
            fail_msg("%s under %s, depth %d: %lld nodes, expected %lld", what, key, depth, nodes, expected);
        totals->checked++;
        totals->nodes += (unsigned long long)nodes;
    }
}

/* Boards of this file are the mover's: own houses first. */
static struct position stress_position(const json_t *stress)
{
    struct position position = {.side = SIDE_SOUTH};
    const json_t *board = json_object_get(stress, "board");
    for (size_t house = 0; house < 12; house++)
        position.houses[house] = (uint8_t)vectors_item(board, house);
    position.stores[SIDE_SOUTH] = (uint8_t)vectors_number(stress, "captured_mover");
    position.stores[SIDE_NORTH] = (uint8_t)vectors_number(stress, "captured_opponent");
    return position;
}

static void every_rule_set_from_the_start(void **state)
{
    (void)state;
    json_t *root = vectors_load(VECTORS_RULES "perft-rule-sets.json");
    json_t *starts = json_object_get(root, "start_position");
    assert_int_equal(json_object_size(starts), RULE_SETS);
    struct totals totals = {0};
    struct position start = position_start();
    for (size_t i = 0; i < RULE_SETS; i++) {
        struct rules rules = vectors_rules(rule_sets[i].rules);
        check_depths("start", rule_sets[i].key, &rules, &start, json_object_get(starts, rule_sets[i].key),
                     &totals);
    }
    print_message("# %zu of %zu depths from the start, %llu nodes\n", totals.checked, totals.rows,
                  totals.nodes);
    assert_int_equal(totals.rows, 8 * 12 + 14);
    assert_true(totals.checked >= 9 * 10);
    json_decref(root);
}

static void every_rule_set_at_every_stress_position(void **state)
{
    (void)state;
    json_t *root = vectors_load(VECTORS_RULES "perft-rule-sets.json");
    json_t *positions = json_object_get(root, "stress_positions");
    assert_int_equal(json_array_size(positions), 12);
    struct totals totals = {0};
    for (size_t i = 0; i < json_array_size(positions); i++) {
        const json_t *stress = json_array_get(positions, i);
        struct position position = stress_position(stress);
        for (size_t j = 0; j < RULE_SETS; j++) {
            struct rules rules = vectors_rules(rule_sets[j].rules);
            const json_t *depths = json_object_get(json_object_get(stress, "rules"), rule_sets[j].key);
            assert_true(json_array_size(depths) > 0);
            check_depths(vectors_text(stress, "name"), rule_sets[j].key, &rules, &position, depths, &totals);
        }
    }
    print_message("# %zu of %zu depths at stress positions, %llu nodes\n", totals.checked, totals.rows,
                  totals.nodes);
    assert_int_equal(totals.rows, 1026);
    json_decref(root);
}

static enum perft_mode mode_of(const char *word)
{
    if (strcmp(word, "full") == 0)
        return PERFT_FULL;
    if (strcmp(word, "norep") == 0)
        return PERFT_NO_REPETITION;
    assert_string_equal(word, "none");
    return PERFT_NO_ENDINGS;
}

struct leaf_row {
    char position[64], source[64], mode[16], ended[24];
    int depth;
    long long leaves;
};

static void check_leaves(const struct leaf_row *row, const struct rules *rules, struct totals *totals)
{
    struct position position;
    char error[256];
    assert_int_equal(position_parse(row->position, &position, error, sizeof error), 0);
    enum perft_mode mode = mode_of(row->mode);
    long long ended = mode == PERFT_NO_ENDINGS ? 0 : strtoll(row->ended, NULL, 10);
    if (row->leaves <= plain_max()) {
        struct perft_leaves count = perft_count_leaves(rules, &position, row->depth, mode);
        if ((long long)count.leaves != row->leaves || (long long)count.ended != ended)
            fail_msg("%s %s depth %d: %llu leaves, %llu ended; expected %lld, %lld", row->position, row->mode,
                     row->depth, (unsigned long long)count.leaves, (unsigned long long)count.ended,
                     row->leaves, ended);
        totals->checked++;
        totals->nodes += count.leaves;
    }
    if (mode == PERFT_NO_REPETITION && row->leaves <= bulk_max())
        assert_int_equal(perft_nodes(rules, &position, row->depth), row->leaves);
}

static void every_position_with_and_without_endings(void **state)
{
    (void)state;
    FILE *file = fopen(VECTORS_RULES "perft-positions.tsv", "r");
    assert_non_null(file);
    char line[256];
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(line[0], '#');
    struct rules rules = vectors_rules("auale");
    struct totals totals = {0};
    while (fgets(line, sizeof line, file) != NULL) {
        struct leaf_row row;
        if (sscanf(line, "%63s %63s %15s %d %lld %23s", row.position, row.source, row.mode, &row.depth,
                   &row.leaves, row.ended) != 6)
            fail_msg("row %zu cannot be read: %s", totals.rows + 1, line);
        check_leaves(&row, &rules, &totals);
        totals.rows++;
    }
    fclose(file);
    print_message("# %zu of %zu rows of perft-positions.tsv, %llu leaves\n", totals.checked, totals.rows,
                  totals.nodes);
    assert_int_equal(totals.rows, 902);
    assert_true(totals.checked >= 850);
}

/* Up to 48 seeds thrown into houses and stores, by the documented mixing function. */
static struct position thrown_position(uint64_t seed)
{
    struct position position = {.side = seed & 1};
    unsigned spread = 1 + mix_below(mix(seed, 1000), 14);
    for (unsigned i = 0; i < POSITION_SEEDS; i++) {
        unsigned at = mix_below(mix(seed, i), spread);
        uint8_t *field = at < 12 ? &position.houses[(at * 5 + seed) % 12] : &position.stores[at - 12];
        ++*field;
    }
    return position;
}

/* Counting replies without playing them must agree with playing them, under rule sets no reference has. */
static void bulk_counting_agrees_with_playing(void **state)
{
    (void)state;
    size_t compared = 0;
    for (unsigned i = 0; i < 8 * 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "site,slam=%s,feeding=%s", rules_slam_text((enum rules_slam)(i % 8)),
                 rules_feeding_text((enum rules_feeding)(i / 8)));
        struct rules rules = vectors_rules(text);
        for (uint64_t seed = 0; seed < 400; seed++) {
            struct position position = thrown_position(seed);
            for (int depth = 1; depth <= 4; depth++) {
                uint64_t plain = perft_count_leaves(&rules, &position, depth, PERFT_NO_REPETITION).leaves;
                assert_int_equal(perft_nodes(&rules, &position, depth), plain);
                compared += plain > 0;
            }
        }
    }
    assert_true(compared > 24 * 400);
}

/* The forced twelve-ply cycle on two seeds: `auale` ends at the first return, `site` at the second. */
static void repetition_cuts_a_forced_cycle(void **state)
{
    (void)state;
    struct position position;
    char error[256];
    assert_int_equal(position_parse("0-0-0-0-0-1-0-0-0-0-0-1-23-23-S", &position, error, sizeof error), 0);
    static const struct {
        const char *rules;
        int last; /* the depth whose only leaf is ended */
    } cases[] = {{"auale", 12}, {"site", 24}, {"site,repetitions=0,quiet_limit=30", 30}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rules rules = vectors_rules(cases[i].rules);
        for (int depth = 1; depth <= 32; depth++) {
            struct perft_leaves count = perft_count_leaves(&rules, &position, depth, PERFT_FULL);
            assert_int_equal(count.leaves, depth <= cases[i].last);
            assert_int_equal(count.ended, depth == cases[i].last);
            assert_int_equal(perft_nodes(&rules, &position, depth), 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_set_from_the_start),
        cmocka_unit_test(every_rule_set_at_every_stress_position),
        cmocka_unit_test(every_position_with_and_without_endings),
        cmocka_unit_test(bulk_counting_agrees_with_playing),
        cmocka_unit_test(repetition_cuts_a_forced_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
