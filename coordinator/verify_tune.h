/* A tune's part of `kroo verify`: from the counted games alone it computes every theta and every player of
 * every batch anew, and names what is stored otherwise. Used by verify.c; the store's thread. */
#ifndef KROO_COORDINATOR_VERIFY_TUNE_H
#define KROO_COORDINATOR_VERIFY_TUNE_H

#include "coordinator/record.h"

struct verify_tune;
/* NULL without memory. */
struct verify_tune *verify_tune_create(const struct record *record);
void verify_tune_destroy(struct verify_tune *tune);
/* The next counted pair, in order, and its legs' half points of player a. 0, or -1 without memory. */
int verify_tune_count(struct verify_tune *tune, const unsigned half_points[2]);

/* Compares with the rows; `differ` gets what an experiment's difference says after its number. */
typedef void verify_tune_differ(void *context, const char *text);
enum store_error verify_tune_check(struct verify_tune *tune, struct store *store, verify_tune_differ *differ,
                                   void *context);

#endif
