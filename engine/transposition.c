#include "engine/transposition.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GAMES = 511, AGES = 64, SAMPLE = 1000, HUGE_PAGE = 1 << 21 };

static size_t table_bytes(const struct transposition *table)
{
    return table->buckets * TRANSPOSITION_BUCKET * sizeof *table->entries;
}

int transposition_init(struct transposition *table, unsigned kib)
{
    memset(table, 0, sizeof *table);
    if (kib == 0 || kib > TRANSPOSITION_KIB_MAX)
        return -1;
    table->buckets = (size_t)kib * 1024 / (TRANSPOSITION_BUCKET * sizeof *table->entries);
    size_t bytes = table_bytes(table), page = bytes < HUGE_PAGE ? 4096 : HUGE_PAGE;
    table->entries = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!table->entries)
        return -1;
    /* Every probe is a miss of the address cache otherwise. Where it is refused, it is only slower. */
    if (page == HUGE_PAGE)
        madvise(table->entries, bytes, MADV_HUGEPAGE);
    memset(table->entries, 0, bytes);
    table->game = 1;
    return 0;
}

void transposition_done(struct transposition *table)
{
    free(table->entries);
    table->entries = NULL;
}

void transposition_new_game(struct transposition *table)
{
    table->age = 0;
    if (++table->game <= GAMES)
        return;
    memset(table->entries, 0, table_bytes(table));
    table->game = 1;
}

void transposition_new_search(struct transposition *table)
{
    table->age = (table->age + 1) % AGES;
}

int transposition_permille(const struct transposition *table)
{
    size_t entries = table->buckets * TRANSPOSITION_BUCKET, sample = entries < SAMPLE ? entries : SAMPLE;
    size_t used = 0;
    for (size_t i = 0; i < sample; i++)
        used += transposition_game(transposition_read(&table->entries[i].data)) == table->game;
    return (int)(used * 1000 / sample);
}
