/* Which engine this is: a name that changes whenever play may change. Set by the Makefile from the contents
 * of engine/ (see ENGINE_BUILD there), so that equal sources give equal names on every machine. */
#ifndef KROO_ENGINE_BUILD_H
#define KROO_ENGINE_BUILD_H

/* For example `kroo-engine 1 3f0c9a1e77d2`; printable ASCII, under 64 bytes. */
const char *engine_build(void);

#endif
