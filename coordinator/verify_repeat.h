/* Which pairs repeat an earlier one, found again by `kroo verify` by means of its own: of each game a text,
 * of each pair the sha256 of both, compared whole. 96 to 192 bytes for each different pair of a match where
 * repeats do not count (REPEAT_KEYS_MAX of them at most) and 16 to 32 for each repeat; nothing elsewhere. The
 * store's thread. */
#ifndef KROO_COORDINATOR_VERIFY_REPEAT_H
#define KROO_COORDINATOR_VERIFY_REPEAT_H

#include "coordinator/repeat.h"
#include "engine/game.h"
#include "sql/store_repeat.h"

struct verify_repeat;
/* NULL without memory. */
struct verify_repeat *verify_repeat_create(const struct rules *rules);
void verify_repeat_destroy(struct verify_repeat *repeats); /* takes NULL */

/* A game of the pair at hand, whose opening has `opening` plies. */
void verify_repeat_game(struct verify_repeat *repeats, const struct store_game *game, size_t opening);
/* Both games have come and the pair is next in pair order: 1 when it repeats, 0 when not; -1 without memory.
 */
int verify_repeat_pair(struct verify_repeat *repeats, uint64_t pair);
/* So many repeats have come in a row that a test ends undecided. */
bool verify_repeat_is_over(const struct verify_repeat *repeats);
uint64_t verify_repeat_count(const struct verify_repeat *repeats);

/* Compares with what is stored, and tells a difference or two. */
enum store_error verify_repeat_check(const struct verify_repeat *repeats, struct store *store,
                                     uint64_t experiment, void (*differ)(void *context, const char *text),
                                     void *context);

#endif
