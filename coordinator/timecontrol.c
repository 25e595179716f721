#include "coordinator/timecontrol.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/specification.h"

enum { DIGITS_MAX = 9, DECIMALS_MAX = 9 };

/* One part, `10s`, `0.05`, `1500ms`: its milliseconds, exactly. False when it is none, or not a whole number
 * of them. */
static bool read_part(const char **at, uint64_t *ms)
{
    static const struct {
        const char *name;
        uint64_t unit_ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    uint64_t whole = 0, fraction = 0, parts = 1, unit_ms = 1000;
    int digits = 0, decimals = 0;
    for (; **at >= '0' && **at <= '9' && digits < DIGITS_MAX; ++*at, digits++)
        whole = 10 * whole + (uint64_t)(**at - '0');
    if (**at == '.')
        for (++*at; **at >= '0' && **at <= '9' && decimals < DECIMALS_MAX; ++*at, decimals++, parts *= 10)
            fraction = 10 * fraction + (uint64_t)(**at - '0');
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t size = strlen(units[i].name);
        if (strncmp(*at, units[i].name, size) == 0 && ((*at)[size] == '+' || (*at)[size] == '\0')) {
            unit_ms = units[i].unit_ms;
            *at += size;
            break;
        }
    }
    *ms = whole * unit_ms + fraction * unit_ms / parts;
    return digits > 0 && fraction * unit_ms % parts == 0 && (**at == '+' || **at == '\0');
}

int timecontrol_parse(const char *text, uint32_t *clock_ms, uint32_t *increment_ms,
                      char reason[TIMECONTROL_REASON])
{
    const char *at = text;
    uint64_t clock = 0, increment = 0;
    bool good = read_part(&at, &clock);
    if (good && *at == '+') {
        at++;
        good = read_part(&at, &increment) && *at == '\0';
    }
    if (!good || clock < 1) {
        snprintf(reason, TIMECONTROL_REASON,
                 "a clock is written like 10s+0.1s or 2m: time for the game and, behind +, what each move "
                 "adds, in "
                 "whole milliseconds; not \"%.40s\"",
                 text);
        return -1;
    }
    if (clock > SPECIFICATION_CLOCK_MAX_MS || increment > SPECIFICATION_TIME_MAX_MS) {
        snprintf(reason, TIMECONTROL_REASON,
                 "a clock has at most a day, and an increment an hour, not \"%.40s\"", text);
        return -1;
    }
    *clock_ms = (uint32_t)clock;
    *increment_ms = (uint32_t)increment;
    return 0;
}

static void part_text(uint32_t ms, char text[TIMECONTROL_TEXT / 2])
{
    int size = snprintf(text, TIMECONTROL_TEXT / 2, "%" PRIu32 ".%03" PRIu32, ms / 1000, ms % 1000);
    while (text[size - 1] == '0')
        text[--size] = '\0';
    text[size - (text[size - 1] == '.')] = '\0';
    strcat(text, "s");
}

void timecontrol_text(uint32_t clock_ms, uint32_t increment_ms, char text[TIMECONTROL_TEXT])
{
    char clock[TIMECONTROL_TEXT / 2], increment[TIMECONTROL_TEXT / 2];
    part_text(clock_ms, clock);
    part_text(increment_ms, increment);
    snprintf(text, TIMECONTROL_TEXT, increment_ms > 0 ? "%s+%s" : "%s", clock, increment);
}
