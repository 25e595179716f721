#include "eval/fit_request.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/check.h"

static void ranges_are_read(void **state)
{
    (void)state;
    struct fit_request request = {0};
    char reason[FIT_REQUEST_REASON];
    assert_int_equal(fit_request_add_games(&request, "3,5:0-999,5:1000-1000", reason), 0);
    assert_int_equal(request.range_count, 3);
    assert_true(request.ranges[0].all);
    assert_int_equal(request.ranges[0].experiment, 3);
    assert_false(request.ranges[1].all);
    assert_int_equal(request.ranges[1].last, 999);
    assert_int_equal(request.ranges[2].first, 1000);
}

static void bad_ranges_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      ",",
                                      "3,",
                                      "x",
                                      "0",
                                      "-1",
                                      "3:",
                                      "3:1",
                                      "3:1-",
                                      "3:-1",
                                      "3:5-4",
                                      "3:a-b",
                                      "3:1-2x",
                                      "3 ",
                                      " 3",
                                      "3.5",
                                      "1e3",
                                      "+3",
                                      "3:1-+2",
                                      "3:0-1-2",
                                      "3:0:1",
                                      "3,,4",
                                      "3,3",
                                      "3:0-9,3",
                                      "3,3:4-5",
                                      "3:0-9,3:9-12",
                                      "99999999999999999999",
                                      "3:0-9223372036854775808"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fit_request request = {0};
        char reason[FIT_REQUEST_REASON] = "";
        if (fit_request_add_games(&request, bad[i], reason) == 0)
            fail_msg("`%s` was taken", bad[i]);
        assert_true(reason[0] != '\0');
    }
}

static void number_of_ranges_has_a_bound(void **state)
{
    (void)state;
    struct fit_request request = {0};
    char reason[FIT_REQUEST_REASON] = "", text[16];
    for (int i = 1; i <= READER_SOURCES_MAX; i++) {
        snprintf(text, sizeof text, "%d", i);
        assert_int_equal(fit_request_add_games(&request, text, reason), 0);
    }
    assert_int_equal(fit_request_add_games(&request, "100000", reason), -1);
    assert_non_null(strstr(reason, "more than"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read),
        cmocka_unit_test(bad_ranges_are_refused),
        cmocka_unit_test(number_of_ranges_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
