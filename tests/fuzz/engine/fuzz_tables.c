/* A file of endgame tables as it comes, and once more with sizes and checksums put right, since no fuzzer
 * guesses them: refused with a sentence, or tables whose every entry can be read, checked and searched with,
 * however wrong. The last bytes choose the board of the search. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/crc32c.h"
#include "engine/mix.h"
#include "engine/search.h"
#include "engine/tables_check.h"
#include "engine/truth.h"

enum { FILE_SIZE_AT = 16, ENTRIES_CHECKSUM_AT = 24, SEEDS_AT = 11, NODES = 300, LARGEST = 300000 };

static void check_header(const struct tables *tables, const uint8_t *bytes)
{
    uint8_t again[TABLES_HEADER_SIZE];
    tables_put_header(tables, bytes_get_u32(bytes + ENTRIES_CHECKSUM_AT), again);
    struct tables *back = NULL;
    uint8_t *copy = malloc(tables->size);
    if (copy == NULL)
        return;
    memcpy(copy, bytes, tables->size);
    memcpy(copy, again, sizeof again);
    if (tables_parse(copy, tables->size, &tables->rules, &back) != TABLES_OK ||
        back->seeds != tables->seeds || memcmp(back->layers, tables->layers, sizeof back->layers) != 0)
        abort();
    tables_close(back);
    free(copy);
}

static void probe_all(const struct tables *tables)
{
    struct tables_counts counts;
    for (int seeds = 0; seeds <= tables->seeds; seeds++) {
        tables_count(tables, seeds, &counts);
        for (uint64_t i = 0; i < index_layer_size(seeds); i += 1 + i / 64) {
            struct truth truth;
            truth_find(tables, index_unrank(seeds, i), &truth);
        }
    }
    struct tables_fault fault;
    if (!tables_check(tables, 1, &fault) && fault.what != NULL &&
        (fault.seeds > tables->seeds || fault.number >= index_layer_size(fault.seeds)))
        abort();
}

/* Whatever the tables say, the move played is a legal one. */
static void search_with(const struct tables *tables, uint64_t choice)
{
    int seeds = (int)mix_below(mix(choice, 0), (uint32_t)tables->seeds + 1);
    uint32_t number = mix_below(mix(choice, 1), (uint32_t)index_layer_size(seeds));
    struct position start;
    if (!truth_position(&tables->rules, index_unrank(seeds, number), seeds % 2, &start))
        return;
    struct game *game = game_create(&tables->rules, &start);
    struct search *search = search_create(64);
    struct weights *weights = weights_create_starting(tables->rules.name);
    if (game != NULL && search != NULL && weights != NULL) {
        struct search_limits limits = {.nodes = NODES, .tables = tables};
        struct search_info info;
        for (int ply = 0; ply < 4 && !game_over(game); ply++) {
            int house = search_run(search, game, weights, &limits, NULL, NULL, NULL, &info);
            if (game_play(game, house) != GAME_OK)
                abort();
        }
    }
    weights_destroy(weights);
    search_destroy(search);
    game_destroy(game);
}

static void parse(const uint8_t *bytes, size_t size)
{
    struct tables *tables = NULL;
    enum tables_error error = tables_parse(bytes, size, NULL, &tables);
    if (error != TABLES_OK) {
        if (tables != NULL || tables_error_text(error)[0] == '\0')
            abort();
        return;
    }
    if (tables_file_size(tables->seeds) != size)
        abort();
    check_header(tables, bytes);
    probe_all(tables);
    search_with(tables, bytes_get_u32(bytes + size - 4));
    tables_close(tables);
}

/* Cut or filled up with zeros to the size that its seeds ask for. */
static uint8_t *repair(const uint8_t *data, size_t size, size_t *repaired_size)
{
    if (size < TABLES_HEADER_SIZE || data[SEEDS_AT] > TABLES_SEEDS_MAX)
        return NULL;
    *repaired_size = (size_t)tables_file_size(data[SEEDS_AT]);
    uint8_t *file = *repaired_size <= LARGEST ? calloc(*repaired_size, 1) : NULL;
    if (file == NULL)
        return NULL;
    memcpy(file, data, size < *repaired_size ? size : *repaired_size);
    bytes_put_u32(file + FILE_SIZE_AT, (uint32_t)*repaired_size);
    bytes_put_u32(file + FILE_SIZE_AT + 4, 0);
    bytes_put_u32(file + ENTRIES_CHECKSUM_AT,
                  crc32c(0, file + TABLES_HEADER_SIZE, *repaired_size - TABLES_HEADER_SIZE));
    bytes_put_u32(file + TABLES_HEADER_SIZE - 4, crc32c(0, file, TABLES_HEADER_SIZE - 4));
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    size_t repaired_size;
    uint8_t *repaired = repair(data, size, &repaired_size);
    if (repaired != NULL)
        parse(repaired, repaired_size);
    free(repaired);
    return 0;
}
