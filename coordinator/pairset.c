#include "coordinator/pairset.h"

#include <stdlib.h>

bool pairset_init(struct pairset *set, uint64_t capacity)
{
    size_t total = 0, words = (size_t)((capacity + 63) / 64);
    *set = (struct pairset){0};
    for (;; words = (words + 63) / 64) {
        set->words[set->levels++] = words;
        total += words;
        if (words == 1 || set->levels == PAIRSET_LEVELS)
            break;
    }
    set->level[0] = calloc(total, sizeof(uint64_t));
    if (!set->level[0])
        return false;
    for (unsigned i = 1; i < set->levels; i++)
        set->level[i] = set->level[i - 1] + set->words[i - 1];
    return true;
}

void pairset_done(struct pairset *set)
{
    free(set->level[0]);
    *set = (struct pairset){0};
}

void pairset_add(struct pairset *set, uint64_t number)
{
    for (unsigned i = 0; i < set->levels; i++, number /= 64)
        set->level[i][number / 64] |= UINT64_C(1) << number % 64;
}

void pairset_remove(struct pairset *set, uint64_t number)
{
    for (unsigned i = 0; i < set->levels; i++, number /= 64) {
        set->level[i][number / 64] &= ~(UINT64_C(1) << number % 64);
        if (set->level[i][number / 64])
            return;
    }
}

uint64_t pairset_next(const struct pairset *set, uint64_t from)
{
    unsigned level = 0;
    /* Up: until a word holds something at or after the place. */
    for (;; level++) {
        if (level == set->levels || from / 64 >= set->words[level])
            return PAIRSET_NONE;
        uint64_t rest = set->level[level][from / 64] >> from % 64;
        if (rest) {
            from += (unsigned)__builtin_ctzll(rest);
            break;
        }
        from = from / 64 + 1;
    }
    /* Down: the first bit of each word. */
    while (level-- > 0)
        from = from * 64 + (unsigned)__builtin_ctzll(set->level[level][from]);
    return from;
}
