/* Which trainer this is: a name that changes whenever a fit may change. Set by the Makefile from the contents
 * of eval/. */
#ifndef KROO_EVAL_BUILD_H
#define KROO_EVAL_BUILD_H

/* For example `kroo-train 1 3f0c9a1e77d2`; printable ASCII, under 64 bytes. */
const char *train_build(void);

#endif
