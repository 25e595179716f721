#include "coordinator/repeat.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_FIRST = 64, LIMIT_LEAST = 256, LIMIT_EACH = 16, LIMIT_MOST = 16384 };

struct entry {
    struct repeat_key key;
    uint64_t pair;
};

/* `index` has 2 * room slots: 0 or the number of an entry plus one, at its key or in the next free slot. */
struct repeat_set {
    unsigned views;
    uint64_t count, room;
    struct entry *entries;
    uint32_t *index;
};

struct repeat_key repeat_key_join(struct repeat_key one, struct repeat_key other)
{
    return (struct repeat_key){{one.words[0] ^ other.words[0], one.words[1] ^ other.words[1]}};
}

uint64_t repeat_limit(uint64_t distinct)
{
    if (distinct >= (LIMIT_MOST - LIMIT_LEAST) / LIMIT_EACH)
        return LIMIT_MOST;
    return LIMIT_LEAST + LIMIT_EACH * distinct;
}

static bool key_equal(struct repeat_key one, struct repeat_key other)
{
    return one.words[0] == other.words[0] && one.words[1] == other.words[1];
}

/* --- sets --- */

/* The slot of a key, or the free one where it would be. */
static uint64_t slot_of(const struct repeat_set *set, struct repeat_key key)
{
    uint64_t mask = 2 * set->room - 1, slot = key.words[0] & mask;
    while (set->index[slot] != 0 && !key_equal(set->entries[set->index[slot] - 1].key, key))
        slot = (slot + 1) & mask;
    return slot;
}

static void index_entry(struct repeat_set *set, uint64_t number)
{
    set->index[slot_of(set, set->entries[number].key)] = (uint32_t)(number + 1);
}

/* False without memory: no effect. */
static bool set_reserve(struct repeat_set *set, uint64_t room)
{
    uint64_t wanted = set->room ? set->room : ENTRIES_FIRST;
    while (wanted < room)
        wanted *= 2;
    if (wanted == set->room)
        return true;
    uint32_t *index = calloc((size_t)(2 * wanted), sizeof *index);
    struct entry *entries = index ? realloc(set->entries, (size_t)wanted * sizeof *entries) : NULL;
    if (!entries) {
        free(index);
        return false;
    }
    free(set->index);
    set->index = index;
    set->entries = entries;
    set->room = wanted;
    for (uint64_t i = 0; i < set->count; i++)
        index_entry(set, i);
    return true;
}

/* The latest entries go first: each leaves the slots as they were before it came. */
static void set_truncate(struct repeat_set *set, uint64_t count)
{
    while (set->count > count) {
        set->index[slot_of(set, set->entries[set->count - 1].key)] = 0;
        set->count--;
    }
}

static void set_release(struct repeat_set *set)
{
    if (!set || --set->views > 0)
        return;
    free(set->entries);
    free(set->index);
    free(set);
}

/* A set of the first `count` entries of another (NULL: none) with room for `more`. */
static struct repeat_set *set_copy(const struct repeat_set *from, uint64_t count, uint64_t more)
{
    struct repeat_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->views = 1;
    if (!set_reserve(set, count + more)) {
        set_release(set);
        return NULL;
    }
    for (; set->count < count; set->count++) {
        set->entries[set->count] = from->entries[set->count];
        index_entry(set, set->count);
    }
    return set;
}

/* --- views --- */

struct repeat_view repeat_view_share(const struct repeat_view *view)
{
    if (view->set)
        view->set->views++;
    return *view;
}

void repeat_view_release(struct repeat_view *view)
{
    set_release(view->set);
    *view = (struct repeat_view){0};
}

bool repeat_view_reserve(struct repeat_view *view, uint64_t more)
{
    struct repeat_set *set = view->set;
    if (more > REPEAT_KEYS_MAX - view->seen)
        more = REPEAT_KEYS_MAX - view->seen;
    if (set && (set->count == view->seen || set->views == 1)) {
        set_truncate(set, view->seen);
        return set_reserve(set, view->seen + more);
    }
    /* Another view has gone on in its own way. */
    set = set_copy(set, view->seen, more);
    if (!set)
        return false;
    set_release(view->set);
    view->set = set;
    return true;
}

bool repeat_view_find(const struct repeat_view *view, struct repeat_key key, uint64_t *first)
{
    if (!view->set)
        return false;
    uint64_t number = view->set->index[slot_of(view->set, key)];
    if (number == 0 || number > view->seen)
        return false;
    *first = view->set->entries[number - 1].pair;
    return true;
}

void repeat_view_add(struct repeat_view *view, struct repeat_key key, uint64_t pair)
{
    if (view->seen == REPEAT_KEYS_MAX)
        return;
    struct repeat_set *set = view->set;
    assert(set && set->count == view->seen && set->count < set->room);
    set->entries[set->count] = (struct entry){key, pair};
    index_entry(set, set->count);
    view->seen = ++set->count;
}

bool repeat_view_equal(const struct repeat_view *one, const struct repeat_view *other)
{
    if (one->seen != other->seen)
        return false;
    return one->seen == 0 ||
           memcmp(one->set->entries, other->set->entries, (size_t)one->seen * sizeof(struct entry)) == 0;
}
