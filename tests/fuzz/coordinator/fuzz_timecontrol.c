/* Clocks as people write them: refused with a reason, or the same again from their own text. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/timecontrol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256], back[TIMECONTROL_TEXT], reason[TIMECONTROL_REASON] = "";
    uint32_t clock_ms, increment_ms, clock_again, increment_again;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (timecontrol_parse(text, &clock_ms, &increment_ms, reason) != 0) {
        if (reason[0] == '\0')
            abort();
        return 0;
    }
    timecontrol_text(clock_ms, increment_ms, back);
    if (timecontrol_parse(back, &clock_again, &increment_again, reason) != 0 || clock_again != clock_ms ||
        increment_again != increment_ms)
        abort();
    return 0;
}
