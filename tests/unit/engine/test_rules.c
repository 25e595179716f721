#include "tests/unit/check.h"

#include <stdio.h>
#include <string.h>

#include "engine/rules.h"

static const char *const preset_names[] = {
    "site",         "international",         "school",         "ghana",           "togo",         "auale",
    "slam-illegal", "slam-rest-to-opponent", "slam-keep-last", "slam-keep-first", "slam-allowed", "awari",
};
enum { PRESETS = sizeof preset_names / sizeof preset_names[0] };

static struct rules parse(const char *text)
{
    struct rules rules;
    char error[640];
    if (rules_parse(text, &rules, error, sizeof error) != 0)
        fail_msg("%s", error);
    return rules;
}

static void presets_come_in_order_with_summaries(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRESETS; i++) {
        assert_string_equal(rules_preset(i)->name, preset_names[i]);
        assert_true(strlen(rules_preset_summary(i)) > 10);
    }
    assert_null(rules_preset(PRESETS));
    assert_null(rules_preset_summary(PRESETS));
}

static void presets_hold_what_the_design_says(void **state)
{
    (void)state;
    static const struct rules expected[PRESETS] = {
        {RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_MUST, 0, 0, 3, 500, false, ""},
        {RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_MUST, 0, 0, 3, 0, false, ""},
        {RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_NONE, 0, RULES_LEFTOVERS_STAY, 0, 200, false, ""},
        {RULES_SLAM_VOID_AT_SIX, RULES_FEEDING_MUST, 0, 0, 3, 0, false, ""},
        {RULES_SLAM_VOID_AT_SIX, RULES_FEEDING_MUST, 0, 0, 3, 0, true, ""},
        {RULES_SLAM_CAPTURES_NOTHING, RULES_FEEDING_MUST, 0, 0, 2, 0, false, ""},
        {RULES_SLAM_ILLEGAL, RULES_FEEDING_MUST, 0, 0, 3, 500, false, ""},
        {RULES_SLAM_REST_TO_OPPONENT, RULES_FEEDING_MUST, 0, 0, 3, 500, false, ""},
        {RULES_SLAM_KEEP_LAST, RULES_FEEDING_MUST, 0, 0, 3, 500, false, ""},
        {RULES_SLAM_KEEP_FIRST, RULES_FEEDING_MUST, 0, 0, 3, 500, false, ""},
        {RULES_SLAM_ALLOWED, RULES_FEEDING_MUST, 0, 0, 3, 500, false, ""},
        {RULES_SLAM_LAST_RESORT, RULES_FEEDING_IF_ANY, 0, 0, 0, 0, false, ""},
    };
    for (size_t i = 0; i < PRESETS; i++) {
        struct rules parsed = parse(preset_names[i]);
        assert_true(rules_equal(&parsed, &expected[i]));
        assert_string_equal(parsed.name, preset_names[i]);
        assert_int_equal(rules_bound_games(&parsed), strcmp(preset_names[i], "awari") != 0);
        for (size_t j = 0; j < PRESETS; j++)
            assert_int_equal(rules_equal(rules_preset(i), rules_preset(j)), i == j);
    }
}

static void overrides_set_single_fields(void **state)
{
    (void)state;
    struct rules rules =
        parse("site,slam=keep-last,feeding=none,leftovers=stay,stop_leftovers=stay,repetitions=7,"
              "quiet_limit=44,unfed_loses=yes");
    assert_int_equal(rules.slam, RULES_SLAM_KEEP_LAST);
    assert_int_equal(rules.feeding, RULES_FEEDING_NONE);
    assert_int_equal(rules.leftovers, RULES_LEFTOVERS_STAY);
    assert_int_equal(rules.stop_leftovers, RULES_LEFTOVERS_STAY);
    assert_int_equal(rules.repetitions, 7);
    assert_int_equal(rules.quiet_limit, 44);
    assert_true(rules.unfed_loses);
}

static void equal_rules_have_one_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"site,repetitions=3", "site"},
        {"site,repetitions=2", "site,repetitions=2"},
        {"site,quiet_limit=0", "international"},
        {"site,quiet_limit=0,repetitions=2", "auale"},
        {"site,repetitions=2,quiet_limit=0", "auale"},
        {"auale,quiet_limit=500", "site,repetitions=2"},
        {"international,slam=void-at-six,unfed_loses=yes", "togo"},
        {"ghana,leftovers=stay,repetitions=0", "ghana,leftovers=stay,repetitions=0"},
        {"ghana,repetitions=0,leftovers=stay,stop_leftovers=stay", "ghana,leftovers=stay,repetitions=0"},
        {"slam-allowed,feeding=if-any,quiet_limit=0,repetitions=0", "awari"},
        {"awari,feeding=none", "awari"},
        {"site,slam=illegal", "slam-illegal"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rules rules = parse(cases[i].text), again = parse(cases[i].name);
        assert_string_equal(rules.name, cases[i].name);
        assert_true(rules_equal(&rules, &again));
        assert_string_equal(again.name, cases[i].name);
    }
}

/* Every combination of fields has a name that fits, and that reads back as the same rules. */
static void every_name_reads_back(void **state)
{
    (void)state;
    static const int repetitions[] = {0, 2, 3, 1000}, quiet_limits[] = {0, 200, 500, 10000};
    size_t tried = 0;
    for (unsigned i = 0; i < 8u * 3 * 2 * 2 * 2 * 4 * 4; i++) {
        unsigned rest = i;
        char text[256];
        enum rules_slam slam = (enum rules_slam)(rest % 8);
        enum rules_feeding feeding = (enum rules_feeding)(rest / 8 % 3);
        rest /= 24;
        snprintf(text, sizeof text,
                 "site,slam=%s,feeding=%s,leftovers=%s,stop_leftovers=%s,unfed_loses=%s,repetitions=%d,quiet_"
                 "limit=%d",
                 rules_slam_text(slam), rules_feeding_text(feeding), rest & 1 ? "stay" : "own-row",
                 rest & 2 ? "stay" : "own-row", rest & 4 ? "yes" : "no", repetitions[rest / 8 % 4],
                 quiet_limits[rest / 32 % 4]);
        struct rules rules = parse(text), again = parse(rules.name);
        assert_true(strlen(rules.name) < RULES_NAME_MAX - 1);
        assert_true(rules_equal(&rules, &again));
        assert_string_equal(rules.name, again.name);
        tried++;
    }
    assert_int_equal(tried, 3072);
}

static void bad_text_is_refused_with_what_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "site, international, school, ghana, togo, auale, slam-illegal, slam-rest-to-opponent, "
             "slam-keep-last, slam-keep-first, slam-allowed, awari"},
        {"Site", "known: site, international"},
        {"sit", "unknown rules 'sit'"},
        {"site ", "unknown rules 'site '"},
        {"site,",
         "known fields: slam, feeding, leftovers, stop_leftovers, repetitions, quiet_limit, unfed_loses"},
        {"site,repetitions", "known fields"},
        {"site,repetition=2", "known fields"},
        {"site,repetitions=", "from 2 to 1000"},
        {"site,repetitions=1", "from 2 to 1000"},
        {"site,repetitions=-1", "from 2 to 1000"},
        {"site,repetitions=1001", "from 2 to 1000"},
        {"site,repetitions=99999999999999999999", "from 2 to 1000"},
        {"site,quiet_limit=10001", "from 1 to 10000"},
        {"site,quiet_limit=5x", "from 1 to 10000"},
        {"site,slam=maybe",
         "captures-nothing, void-at-six, illegal, rest-to-opponent, keep-last, keep-first, "
         "allowed, last-resort"},
        {"site,feeding=yes", "must, none, if-any"},
        {"site,leftovers=", "own-row, stay"},
        {"site,unfed_loses=1", "no, yes"},
        {"site,repetitions=2,repetitions=2", "given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rules rules;
        char error[640] = "";
        assert_int_equal(rules_parse(cases[i].text, &rules, error, sizeof error), -1);
        if (strstr(error, cases[i].reason) == NULL)
            fail_msg("'%s' is refused with '%s'", cases[i].text, error);
    }
}

static void long_and_short_buffers_are_safe(void **state)
{
    (void)state;
    char text[4096], error[16];
    struct rules rules;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    for (size_t size = 1; size <= sizeof error; size++) {
        assert_int_equal(rules_parse(text, &rules, error, size), -1);
        assert_true(strlen(error) < size);
        assert_int_equal(rules_parse("site,slam=x", &rules, error, size), -1);
        assert_true(strlen(error) < size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_come_in_order_with_summaries),
        cmocka_unit_test(presets_hold_what_the_design_says),
        cmocka_unit_test(overrides_set_single_fields),
        cmocka_unit_test(equal_rules_have_one_name),
        cmocka_unit_test(every_name_reads_back),
        cmocka_unit_test(bad_text_is_refused_with_what_is_known),
        cmocka_unit_test(long_and_short_buffers_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
