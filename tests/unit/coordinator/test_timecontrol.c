#include "coordinator/timecontrol.h"

#include <string.h>

#include "coordinator/specification.h"
#include "engine/mix.h"
#include "tests/unit/check.h"

static void check(const char *text, uint32_t clock_ms, uint32_t increment_ms, const char *back)
{
    uint32_t clock = 0, increment = 0;
    char reason[TIMECONTROL_REASON], again[TIMECONTROL_TEXT];
    assert_int_equal(timecontrol_parse(text, &clock, &increment, reason), 0);
    assert_int_equal(clock, clock_ms);
    assert_int_equal(increment, increment_ms);
    timecontrol_text(clock, increment, again);
    assert_string_equal(again, back);
}

static void clocks_are_read_as_people_write_them(void **state)
{
    (void)state;
    check("10s+0.1s", 10000, 100, "10s+0.1s");
    check("10+0.05", 10000, 50, "10s+0.05s");
    check("1500ms", 1500, 0, "1.5s");
    check("2m+1s", 120000, 1000, "120s+1s");
    check("0.5m", 30000, 0, "30s");
    check("1h+250ms", 3600000, 250, "3600s+0.25s");
    check("8.000+0.080", 8000, 80, "8s+0.08s");
    check("24h+1h", 86400000, 3600000, "86400s+3600s");
}

static void what_is_no_clock_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "+",
                                      "+1",
                                      "s",
                                      "10s+",
                                      "10s+0.1s+1",
                                      "-1",
                                      "10 s",
                                      "10x",
                                      "0",
                                      "0s+1s",
                                      "1e3",
                                      "10s+1x",
                                      "0x10",
                                      ".5",
                                      "1.2.3",
                                      "25h",
                                      "10s+2h",
                                      "nan",
                                      "10s0",
                                      "0.0001s",
                                      "0.5ms",
                                      "99999999999999999999",
                                      "1,5s",
                                      "10s +1s",
                                      "10s+-1",
                                      "10sms",
                                      "1m30s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t clock = 7, increment = 7;
        char reason[TIMECONTROL_REASON] = "";
        if (timecontrol_parse(bad[i], &clock, &increment, reason) == 0)
            fail_msg("`%s` was taken for %u+%u ms", bad[i], clock, increment);
        assert_true(clock == 7 && increment == 7 && strstr(reason, "a clock") != NULL);
    }
}

/* fishtest f2cf2531: a format with two decimals lost increments of 5 ms. */
static void nothing_is_lost_between_text_and_number(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        uint32_t clock = 1 + mix_below(mix(1, i), i % 2 ? 100000 : SPECIFICATION_CLOCK_MAX_MS);
        uint32_t increment = i % 3 == 0 ? 0 : mix_below(mix(2, i), i % 2 ? 1000 : SPECIFICATION_TIME_MAX_MS);
        uint32_t clock_again, increment_again;
        char text[TIMECONTROL_TEXT], reason[TIMECONTROL_REASON];
        timecontrol_text(clock, increment, text);
        if (timecontrol_parse(text, &clock_again, &increment_again, reason) != 0 || clock_again != clock ||
            increment_again != increment)
            fail_msg("%u+%u ms became `%s`", clock, increment, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_are_read_as_people_write_them),
        cmocka_unit_test(what_is_no_clock_is_refused),
        cmocka_unit_test(nothing_is_lost_between_text_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
