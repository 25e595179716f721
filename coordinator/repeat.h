/* Pairs that are told apart by what was played in them, in pair order: an append-only set of 16-byte keys,
 * the first pair of each, shared by a tally and its clones. A view is a set as far as its owner has seen it,
 * so that cloning costs nothing and a draft that is thrown away leaves no trace: what one view adds, another
 * does not see. Pure; one thread at a time for all views of a set.
 *
 * Memory: 32 to 64 bytes a key (16 the key, 8 its pair, 8 the index, arrays that grow in powers of two), and
 * no more than REPEAT_KEYS_MAX keys: 256 MiB. */
#ifndef KROO_COORDINATOR_REPEAT_H
#define KROO_COORDINATOR_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a game, or of a pair: those of its two games taken together (repeat_key_join). */
struct repeat_key {
    uint64_t words[2];
};

/* Pairs beyond the first so many different ones are compared with these, and not remembered. */
enum { REPEAT_KEYS_MAX = 1 << 22 };

/* Either order of the legs gives the same; games of different legs have different keys. */
struct repeat_key repeat_key_join(struct repeat_key one, struct repeat_key other);

/* After so many repeats in a row, `distinct` different pairs before them, a sequential test ends: its
 * openings are used up. 256 and 16 for each different pair, at most 16384. While there is still an opening as
 * likely as those seen, whatever their number, so long a run has a chance of e^-16, one in nine million; at
 * 16384, while one pair in a thousand is new. */
uint64_t repeat_limit(uint64_t distinct);

struct repeat_set;
struct repeat_view {
    struct repeat_set *set; /* shared; NULL: empty */
    uint64_t seen;          /* its first so many keys */
};

/* A view of the same keys, to be released like the first. */
struct repeat_view repeat_view_share(const struct repeat_view *view);
void repeat_view_release(struct repeat_view *view);
/* Makes room for `more` keys. False without memory: no effect. */
bool repeat_view_reserve(struct repeat_view *view, uint64_t more);
/* The pair that had this key first; false when none. */
bool repeat_view_find(const struct repeat_view *view, struct repeat_key key, uint64_t *first);
/* One that is not there, room for which was reserved after any other view was made or changed. */
void repeat_view_add(struct repeat_view *view, struct repeat_key key, uint64_t pair);
bool repeat_view_equal(const struct repeat_view *one, const struct repeat_view *other);

#endif
