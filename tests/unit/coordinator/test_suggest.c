#include "coordinator/cli/suggest.h"

#include <string.h>

#include "tests/unit/check.h"

static void distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0},
                 {"a", "", 1},
                 {"", "abc", 3},
                 {"show", "show", 0},
                 {"shwo", "show", 1},
                 {"verfiy", "verify", 1},
                 {"kitten", "sitting", 3},
                 {"ca", "abc", 3},
                 {"exprot", "export", 1},
                 {"wacth", "watch", 1},
                 {"ls", "sl", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(suggest_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(suggest_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

static void nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"show", "stop", "spec",  "selfplay",     "roundrobin",
                                        "up",   "ls",   "limit", "opening-plies"};
    static const struct {
        const char *text, *expected;
    } cases[] = {{"shwo", "show"},
                 {"sotp", "stop"},
                 {"selfpaly", "selfplay"},
                 {"self-play", "selfplay"},
                 {"roundrobbin", "roundrobin"},
                 {"roun", "roundrobin"},
                 {"limti", "limit"},
                 {"openings-ply", "opening-plies"},
                 {"xylophone", NULL},
                 {"q", NULL},
                 {"", NULL}};
    char long_text[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = suggest_nearest(cases[i].text, names, sizeof names / sizeof *names);
        if (cases[i].expected)
            assert_string_equal(found, cases[i].expected);
        else
            assert_null(found);
    }
    memset(long_text, 's', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    const char *const with_long[] = {long_text, "show"};
    assert_null(suggest_nearest(long_text, names, 9));
    assert_string_equal(suggest_nearest("shwo", with_long, 2), "show");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances), cmocka_unit_test(nearest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
