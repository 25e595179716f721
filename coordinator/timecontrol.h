/* Clocks as people write them: `10s+0.1s` is ten seconds for the game and a tenth of a second more after each
 * move. Parts are seconds where no unit stands (ms, s, m, h), with up to three decimals of a second: nothing
 * below a millisecond is lost, it is refused. Pure. */
#ifndef KROO_COORDINATOR_TIMECONTROL_H
#define KROO_COORDINATOR_TIMECONTROL_H

#include <stddef.h>
#include <stdint.h>

enum { TIMECONTROL_TEXT = 48, TIMECONTROL_REASON = 200 };

/* 0, or -1 with a reason that says how to write one. Bounds: SPECIFICATION_CLOCK_MAX_MS,
 * SPECIFICATION_TIME_MAX_MS. */
int timecontrol_parse(const char *text, uint32_t *clock_ms, uint32_t *increment_ms,
                      char reason[TIMECONTROL_REASON]);
/* What timecontrol_parse reads back to the same numbers. */
void timecontrol_text(uint32_t clock_ms, uint32_t increment_ms, char text[TIMECONTROL_TEXT]);

#endif
