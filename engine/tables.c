#include "engine/tables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crc32c.h"
#include "engine/solver.h"

/* The header, little-endian; engine/README.md describes it. */
enum {
    FIELD_MAGIC = 0,
    FIELD_VERSION = 8,
    FIELD_CONVENTION = 10,
    FIELD_SEEDS = 11,
    FIELD_HEADER_SIZE = 12,
    FIELD_FILE_SIZE = 16,
    FIELD_ENTRIES_CHECKSUM = 24,
    FIELD_PLIES = 28,
    FIELD_RULES_LENGTH = 30,
    FIELD_RULES = 32,
    FIELD_LAYERS = FIELD_RULES + RULES_NAME_MAX,
    LAYER_SIZE = 16,
    FIELD_ZERO = FIELD_LAYERS + (TABLES_SEEDS_MAX + 1) * LAYER_SIZE,
    FIELD_CHECKSUM = TABLES_HEADER_SIZE - 4,
};
_Static_assert(FIELD_ZERO <= FIELD_CHECKSUM, "the layers fit the header");
_Static_assert((int)TABLES_SEEDS_MAX == (int)LAYER_SEEDS_MAX, "the builder makes all that a file can hold");

/* The line end and the byte above 127 show a file that was sent as text. */
static const uint8_t magic[8] = {'K', 'R', 'O', 'O', 'T', 0xe2, '\r', '\n'};

static void put_u64(uint8_t *at, uint64_t value)
{
    bytes_put_u32(at, (uint32_t)value);
    bytes_put_u32(at + 4, (uint32_t)(value >> 32));
}

static uint64_t get_u64(const uint8_t *at)
{
    return bytes_get_u32(at) | (uint64_t)bytes_get_u32(at + 4) << 32;
}

uint64_t tables_file_size(int seeds)
{
    return TABLES_HEADER_SIZE + 2 * (index_layer_start(seeds) + index_layer_size(seeds));
}

/* --- rules --- */

bool tables_same_family(const struct rules *a, const struct rules *b)
{
    return a->slam == b->slam && a->feeding == b->feeding && a->leftovers == b->leftovers &&
           a->unfed_loses == b->unfed_loses && solver_endless_is_zero(a) == solver_endless_is_zero(b);
}

struct rules tables_family(const struct rules *rules)
{
    for (size_t i = 0; rules_preset(i) != NULL; i++)
        if (tables_same_family(rules_preset(i), rules))
            return *rules_preset(i);
    return *rules;
}

/* --- header --- */

void tables_put_header(const struct tables *tables, uint32_t entries_checksum,
                       uint8_t header[TABLES_HEADER_SIZE])
{
    size_t length = strlen(tables->rules.name);
    memset(header, 0, TABLES_HEADER_SIZE);
    memcpy(header + FIELD_MAGIC, magic, sizeof magic);
    bytes_put_u16(header + FIELD_VERSION, TABLES_VERSION);
    header[FIELD_CONVENTION] = (uint8_t)tables->convention;
    header[FIELD_SEEDS] = (uint8_t)tables->seeds;
    bytes_put_u32(header + FIELD_HEADER_SIZE, TABLES_HEADER_SIZE);
    put_u64(header + FIELD_FILE_SIZE, tables_file_size(tables->seeds));
    bytes_put_u32(header + FIELD_ENTRIES_CHECKSUM, entries_checksum);
    bytes_put_u16(header + FIELD_PLIES, (uint16_t)tables->plies);
    bytes_put_u16(header + FIELD_RULES_LENGTH, (uint16_t)length);
    memcpy(header + FIELD_RULES, tables->rules.name, length);
    for (int seeds = 0; seeds <= tables->seeds; seeds++) {
        uint8_t *at = header + FIELD_LAYERS + seeds * LAYER_SIZE;
        const struct tables_layer *layer = &tables->layers[seeds];
        bytes_put_u32(at, layer->boards);
        bytes_put_u32(at + 4, layer->exact);
        bytes_put_u32(at + 8, layer->failed);
        bytes_put_u16(at + 12, layer->plies);
        bytes_put_u16(at + 14, layer->line);
    }
    bytes_put_u32(header + FIELD_CHECKSUM, crc32c(0, header, FIELD_CHECKSUM));
}

/* The layers, which must be of the size of their seeds and need no more plies than the header says. */
static bool get_layers(const uint8_t *header, struct tables *out)
{
    int most = 0;
    for (int seeds = 0; seeds <= out->seeds; seeds++) {
        const uint8_t *at = header + FIELD_LAYERS + seeds * LAYER_SIZE;
        struct tables_layer *layer = &out->layers[seeds];
        *layer = (struct tables_layer){
            .boards = bytes_get_u32(at),
            .exact = bytes_get_u32(at + 4),
            .failed = bytes_get_u32(at + 8),
            .plies = bytes_get_u16(at + 12),
            .line = bytes_get_u16(at + 14),
        };
        if (layer->boards != index_layer_size(seeds) || layer->exact > layer->boards ||
            layer->line < layer->plies)
            return false;
        most = layer->plies > most ? layer->plies : most;
    }
    return most == out->plies;
}

static bool get_rules(const uint8_t *header, struct rules *out)
{
    char name[RULES_NAME_MAX] = "", reason[16];
    size_t length = bytes_get_u16(header + FIELD_RULES_LENGTH);
    if (length >= RULES_NAME_MAX)
        return false;
    memcpy(name, header + FIELD_RULES, length);
    return strlen(name) == length && rules_parse(name, out, reason, sizeof reason) == 0 &&
           strcmp(name, out->name) == 0;
}

static enum tables_error get_header(const uint8_t *file, size_t size, struct tables *out)
{
    if (size < sizeof magic || memcmp(file, magic, sizeof magic) != 0)
        return TABLES_ERROR_MAGIC;
    if (size < TABLES_HEADER_SIZE)
        return TABLES_ERROR_SIZE;
    if (bytes_get_u16(file + FIELD_VERSION) != TABLES_VERSION)
        return TABLES_ERROR_VERSION;
    if (crc32c(0, file, FIELD_CHECKSUM) != bytes_get_u32(file + FIELD_CHECKSUM))
        return TABLES_ERROR_CHECKSUM;
    out->seeds = file[FIELD_SEEDS];
    if (out->seeds > TABLES_SEEDS_MAX || bytes_get_u32(file + FIELD_HEADER_SIZE) != TABLES_HEADER_SIZE)
        return TABLES_ERROR_HEADER;
    if (get_u64(file + FIELD_FILE_SIZE) != size || tables_file_size(out->seeds) != size)
        return TABLES_ERROR_SIZE;
    out->plies = bytes_get_u16(file + FIELD_PLIES);
    out->convention = (enum tables_convention)file[FIELD_CONVENTION];
    if (!get_rules(file, &out->rules) || !get_layers(file, out))
        return TABLES_ERROR_HEADER;
    bool zero = solver_endless_is_zero(&out->rules);
    return out->convention == (zero ? TABLES_ENDLESS_ZERO : TABLES_OWN_ROWS) ? TABLES_OK
                                                                             : TABLES_ERROR_HEADER;
}

enum tables_error tables_parse(const void *bytes, size_t size, const struct rules *rules, struct tables **out)
{
    const uint8_t *file = bytes;
    struct tables tables = {.entries = file + TABLES_HEADER_SIZE, .size = size};
    enum tables_error error = get_header(file, size, &tables);
    if (error != TABLES_OK)
        return error;
    if (rules != NULL && !tables_same_family(rules, &tables.rules))
        return TABLES_ERROR_RULES;
    if (crc32c(0, tables.entries, size - TABLES_HEADER_SIZE) != bytes_get_u32(file + FIELD_ENTRIES_CHECKSUM))
        return TABLES_ERROR_CHECKSUM;
    *out = malloc(sizeof **out);
    if (*out == NULL)
        return TABLES_ERROR_MEMORY;
    **out = tables;
    return TABLES_OK;
}

enum tables_error tables_open(const char *path, const struct rules *rules, struct tables **out)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return TABLES_ERROR_READ;
    struct stat status;
    void *mapping = MAP_FAILED;
    size_t size = 0;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        size = (size_t)status.st_size;
        if (size == 0) {
            close(file);
            return TABLES_ERROR_MAGIC;
        }
        mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    }
    close(file);
    if (mapping == MAP_FAILED)
        return TABLES_ERROR_READ;
    enum tables_error error = tables_parse(mapping, size, rules, out);
    if (error != TABLES_OK)
        munmap(mapping, size);
    else
        (*out)->mapping = mapping;
    return error;
}

void tables_close(struct tables *tables)
{
    if (tables == NULL)
        return;
    if (tables->mapping != NULL)
        munmap(tables->mapping, tables->size);
    free(tables);
}

/* --- words --- */

const char *tables_convention_text(enum tables_convention convention)
{
    return convention == TABLES_ENDLESS_ZERO ? "endless-zero" : "own-rows";
}

const char *tables_error_text(enum tables_error error)
{
    switch (error) {
    case TABLES_OK:
        return "no error";
    case TABLES_ERROR_READ:
        return "the tables cannot be read; check the path and its permissions";
    case TABLES_ERROR_MAGIC:
        return "this is no file of endgame tables; make one with `kroo-engine tables build`";
    case TABLES_ERROR_VERSION:
        return "the tables have another format version than this engine reads; build them again";
    case TABLES_ERROR_SIZE:
        return "the tables are cut short or too long; fetch or build them again";
    case TABLES_ERROR_CHECKSUM:
        return "the tables are damaged, their checksum does not match; fetch or build them again";
    case TABLES_ERROR_RULES:
        return "the tables were made for other rules; build tables for these";
    case TABLES_ERROR_HEADER:
        return "the header of the tables contradicts itself; build them again";
    case TABLES_ERROR_MEMORY:
        return "memory is short; free some, or build for fewer seeds";
    case TABLES_ERROR_UNSUPPORTED:
        return "no tables can be made for rules with unfed_loses=yes: their results are no sums of seeds";
    case TABLES_ERROR_LINE:
        return "a forced line is longer than the builder can count; build for fewer seeds";
    case TABLES_ERROR_WRITE:
        return "the tables cannot be written; check the folder, its permissions and the free space";
    }
    return "unknown error of endgame tables";
}
