#include "engine/transposition.h"

#include <stdlib.h>
#include <string.h>

enum { GAMES = 511, AGES = 64, SAMPLE = 1000 };

static size_t table_bytes(const struct transposition *table)
{
    return table->buckets * TRANSPOSITION_BUCKET * sizeof *table->entries;
}

int transposition_init(struct transposition *table, unsigned kib)
{
    const size_t bucket_bytes = TRANSPOSITION_BUCKET * sizeof *table->entries;
    memset(table, 0, sizeof *table);
    if (kib == 0 || kib > TRANSPOSITION_KIB_MAX)
        return -1;
    table->buckets = (size_t)kib * 1024 / bucket_bytes;
    table->entries = aligned_alloc(bucket_bytes, table_bytes(table));
    if (!table->entries)
        return -1;
    memset(table->entries, 0, table_bytes(table));
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
        used += transposition_game(&table->entries[i]) == table->game;
    return (int)(used * 1000 / sample);
}
