/* What is refused before an experiment exists, and what is only warned of. */
#include <string.h>

#include "coordinator/specification.h"
#include "tests/unit/check.h"

static struct message_create_experiment match(void)
{
    struct message_create_experiment create = {.pairs = 100};
    create.spec.kind = MESSAGE_MATCH;
    strcpy(create.spec.rules, "site");
    create.spec.opening_plies = 8;
    create.spec.a = create.spec.b = (struct message_player){.node_limit = 1000, .hash_kib = 1024};
    memset(create.spec.a.weights, 1, MESSAGE_HASH);
    memset(create.spec.b.weights, 2, MESSAGE_HASH);
    return create;
}

static struct message_create_experiment selfplay(void)
{
    struct message_create_experiment create = match();
    create.spec.kind = MESSAGE_SELFPLAY;
    create.spec.noise_ppm = 50000;
    create.spec.b = create.spec.a;
    return create;
}

static struct message_create_experiment sprt(void)
{
    struct message_create_experiment create = match();
    create.has_sprt = true;
    create.sprt = (struct message_sprt){
        .model = "normalized", .elo0 = 0, .elo1 = 10, .alpha = 0.05, .beta = 0.05, .batch = 8};
    return create;
}

static void assert_refused(const struct message_create_experiment *create, const char *word)
{
    char reason[SPECIFICATION_REASON_MAX] = "";
    assert_false(specification_check(create, reason));
    if (!strstr(reason, word))
        fail_msg("\"%s\" does not say \"%s\"", reason, word);
}

static void assert_accepted(const struct message_create_experiment *create)
{
    char reason[SPECIFICATION_REASON_MAX] = "";
    if (!specification_check(create, reason))
        fail_msg("refused: %s", reason);
}

static void sound_ones_pass(void **state)
{
    (void)state;
    struct message_create_experiment a = match(), b = selfplay(), c = sprt();
    assert_accepted(&a);
    assert_accepted(&b);
    assert_accepted(&c);
}

static void pairs_are_counted(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    create.pairs = 0;
    assert_refused(&create, "zero pairs");
    create.pairs = SPECIFICATION_PAIRS_MAX + 1;
    assert_refused(&create, "more than");
    create.pairs = SPECIFICATION_PAIRS_MAX;
    assert_accepted(&create);
}

static void rules_must_be_known_and_end(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    strcpy(create.spec.rules, "chess");
    assert_refused(&create, "site");
    strcpy(create.spec.rules, "awari");
    assert_refused(&create, "never end");
    strcpy(create.spec.rules, "international,repetitions=0");
    assert_refused(&create, "never end");
    strcpy(create.spec.rules, "site,repetitions=3");
    assert_refused(&create, "are named \"site\"");
}

static void players_need_weights_and_limits(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    memset(create.spec.b.weights, 0, MESSAGE_HASH);
    assert_refused(&create, "player B has no weights");
    create = match();
    create.spec.a.node_limit = 0;
    assert_refused(&create, "player A has no limit");
    create.spec.a.depth_limit = 97;
    assert_refused(&create, "depth");
    create.spec.a.depth_limit = 5;
    assert_accepted(&create);
    create.spec.a.hash_kib = 0;
    assert_refused(&create, "transposition table");
}

static void terms_are_within_their_bounds(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    create.spec.a.node_limit = 0;
    create.spec.a.clock_ms = 10000;
    create.spec.a.increment_ms = 50;
    assert_accepted(&create);
    assert_false(specification_reproducible(&create.spec));
    create.spec.a.clock_ms = SPECIFICATION_CLOCK_MAX_MS + 1;
    assert_refused(&create, "at most a day");
    create = match();
    create.spec.a.increment_ms = 50;
    assert_refused(&create, "needs a clock");
    create = match();
    create.spec.resign_score = 900;
    assert_refused(&create, "both a score and a number of moves");
    create.spec.resign_plies = 4;
    assert_refused(&create, "by the scores of the plies");
    create.spec.with_scores = true;
    assert_accepted(&create);
    create.spec.resign_playout_ppm = 1000001;
    assert_refused(&create, "100 percent");
    create = match();
    create.spec.resign_playout_ppm = 1;
    assert_refused(&create, "nobody resigns");
    create = match();
    create.spec.reference_speed = 3000000;
    assert_refused(&create, "what limits of time are meant for");
    create.spec.a.time_ms = create.spec.b.time_ms = 20;
    assert_accepted(&create);
    create = match();
    create.audit_ppm = 1000001;
    assert_refused(&create, "100 percent");
    create = match();
    create.share = SPECIFICATION_SHARE_MAX + 1;
    assert_refused(&create, "share of core time");
    create = match();
    create.core_cap = UINT32_MAX;
    assert_refused(&create, "leave the cap out");
}

static void openings_are_random_or_from_a_book(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    char warnings[SPECIFICATION_WARNINGS_MAX][SPECIFICATION_REASON_MAX];
    create.spec.book[0] = 1;
    assert_refused(&create, "leave one of the two out");
    create.spec.opening_plies = 0;
    create.pairs = 1000000;
    assert_accepted(&create);
    assert_int_equal(specification_warnings(&create, warnings),
                     0); /* the book's length is for the database */
}

static void equal_deterministic_players_are_duplicates(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    create.spec.b = create.spec.a;
    assert_refused(&create, "duplicates");
    create.spec.b.node_limit = 2000;
    assert_accepted(&create);
    create.spec.a.time_ms = create.spec.b.time_ms = 10;
    create.spec.b.node_limit = create.spec.a.node_limit;
    assert_accepted(&create);
}

static void programs_are_players_of_their_own(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    create.spec.b = create.spec.a;
    assert_refused(&create, "same deterministic player");
    create.spec.a.engine[0] = 1;
    assert_accepted(&create);
    create.spec.b.engine[0] = 1;
    assert_refused(&create, "same deterministic player");
    strcpy(create.spec.b.options, "Level=Master\nSeed=1");
    assert_accepted(&create);
    create.spec.a.tables[0] = 1;
    create.spec.b = create.spec.a;
    create.spec.b.tables[0] = 2;
    assert_accepted(&create);
    create.spec.a.hash_kib = 1500;
    assert_refused(&create, "--hash 2048");
    create.spec.a.hash_kib = 2048;
    strcpy(create.spec.a.options, "Seed=1\nthreads=2");
    assert_refused(&create, "threads is set by the worker");
    strcpy(create.spec.a.options, "no value");
    assert_refused(&create, "Name=Value");
    create.spec.a = match().spec.a;
    strcpy(create.spec.a.options, "Seed=1");
    assert_refused(&create, "built-in engine has no option \"Seed\"");
    strcpy(create.spec.a.options, "CutMargin=1001");
    assert_refused(&create, "0 to 1000");
    strcpy(create.spec.a.options, "CutMargin=80\nReduceFrom=3");
    assert_accepted(&create);
}

/* fishtest#2538: a tune with 32 MiB on one side and 16 on the other went unnoticed. */
static void a_tune_has_a_file_and_equal_sides(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    create.spec.kind = MESSAGE_TUNE;
    create.spec.b = create.spec.a;
    assert_refused(&create, "name them in its file");
    create.tune[0] = 1;
    assert_accepted(&create);
    create.spec.b.hash_kib *= 2;
    assert_refused(&create, "same limits, hash included");
    create.spec.b = create.spec.a;
    create.spec.b.weights[0] ^= 1;
    assert_refused(&create, "same player");
    create = match();
    create.tune[0] = 1;
    assert_refused(&create, "only a tune");
}

static void one_opening_is_one_pair(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    create.spec.opening_plies = 0;
    assert_refused(&create, "duplicates");
    create.pairs = 1;
    assert_accepted(&create);
}

static void matches_have_no_noise_and_selfplay_one_player(void **state)
{
    (void)state;
    struct message_create_experiment create = match();
    create.spec.noise_ppm = 1;
    assert_refused(&create, "without noise");
    create.spec.b = create.spec.a;
    assert_accepted(&create);
    create.spec.noise_ppm = 0;
    assert_refused(&create, "kroo aa");
    create = selfplay();
    create.spec.b.node_limit++;
    assert_refused(&create, "same player");
    create = selfplay();
    create.spec.noise_ppm = 1000001;
    assert_refused(&create, "100 percent");
}

static void tests_must_be_sound(void **state)
{
    (void)state;
    struct message_create_experiment create = sprt();
    create.sprt.elo1 = 0;
    assert_refused(&create, "elo0");
    create = sprt();
    create.sprt.elo1 = 1001;
    assert_refused(&create, "1000");
    create = sprt();
    create.sprt.alpha = 0;
    assert_refused(&create, "alpha");
    create = sprt();
    create.sprt.alpha = create.sprt.beta = 0.5;
    assert_refused(&create, "alpha");
    create = sprt();
    strcpy(create.sprt.model, "bayes");
    assert_refused(&create, "normalized or logistic");
    create = sprt();
    create.pairs = 7;
    assert_refused(&create, "less than one batch");
    create = selfplay();
    create.has_sprt = true;
    create.sprt = sprt().sprt;
    assert_refused(&create, "only a match");
}

static void surprises_are_warned_of(void **state)
{
    (void)state;
    char warnings[SPECIFICATION_WARNINGS_MAX][SPECIFICATION_REASON_MAX];
    struct message_create_experiment create = match();
    assert_int_equal(specification_warnings(&create, warnings), 0);
    create.spec.b.node_limit = 4000;
    assert_int_equal(specification_warnings(&create, warnings), 1);
    assert_non_null(strstr(warnings[0], "unequal"));
    create = match();
    create.spec.a.time_ms = create.spec.b.time_ms = 5;
    assert_int_equal(specification_warnings(&create, warnings), 1);
    assert_non_null(strstr(warnings[0], "not reproducible"));
    assert_false(specification_reproducible(&create.spec));
    create = match();
    create.spec.opening_plies = 2;
    assert_int_equal(specification_warnings(&create, warnings), 1);
    assert_non_null(strstr(warnings[0], "36 openings"));
    create = selfplay();
    create.spec.noise_ppm = 0;
    assert_int_equal(specification_warnings(&create, warnings), 1);
    assert_non_null(strstr(warnings[0], "--noise"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_ones_pass),
        cmocka_unit_test(terms_are_within_their_bounds),
        cmocka_unit_test(openings_are_random_or_from_a_book),
        cmocka_unit_test(pairs_are_counted),
        cmocka_unit_test(rules_must_be_known_and_end),
        cmocka_unit_test(players_need_weights_and_limits),
        cmocka_unit_test(equal_deterministic_players_are_duplicates),
        cmocka_unit_test(programs_are_players_of_their_own),
        cmocka_unit_test(a_tune_has_a_file_and_equal_sides),
        cmocka_unit_test(one_opening_is_one_pair),
        cmocka_unit_test(matches_have_no_noise_and_selfplay_one_player),
        cmocka_unit_test(tests_must_be_sound),
        cmocka_unit_test(surprises_are_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
