/* Would a written verdict be another with what is known now: without the pairs of workers that were set aside
 * since, and with the games that independent workers agreed on in the place of those that it counted? For the
 * writer, which withdraws it, and for `kroo verify`, which checks that it was. The store's thread. */
#ifndef KROO_COORDINATOR_WITHDRAW_H
#define KROO_COORDINATOR_WITHDRAW_H

#include "sql/store.h"

/* `verdict` over the first `counted` pairs of a match. When it would change, `reason` says why. An abort
 * claims nothing and never changes; the outcome of a test changes when the test would not have given it; of a
 * fixed number of pairs, when a pair would be left out or another. */
enum store_error withdraw_judge(struct store *store, const struct store_experiment *experiment,
                                const char *verdict, uint64_t counted, bool *changes,
                                char reason[STORE_TEXT]);

#endif
