#include "engine/book.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crc32c.h"
#include "engine/game.h"
#include "engine/mix.h"

static const char magic[] = "kroo-book 1\n";

enum { HEADER_MAX = sizeof magic + 8 + RULES_NAME_MAX + 8 + BOOK_MADE_MAX + 32 + 32, HALF_MIN = 4 };

void book_destroy(struct book *book)
{
    if (book == NULL)
        return;
    free(book->starts);
    free(book->letters);
    free(book);
}

const char *book_opening(const struct book *book, uint32_t index, unsigned *plies)
{
    assert(index < book->count);
    *plies = book->starts[index + 1] - book->starts[index];
    return book->letters + book->starts[index];
}

/* --- the permutation --- */

static uint32_t feistel(uint64_t key, unsigned half, uint32_t x)
{
    uint32_t low = (UINT32_C(1) << half) - 1, left = x >> half, right = x & low;
    for (uint64_t round = 0; round < BOOK_ROUNDS; round++) {
        uint32_t next = left ^ ((uint32_t)mix(key, round << 32 | right) & low);
        left = right;
        right = next;
    }
    return left << half | right;
}

uint32_t book_permute(uint32_t count, uint64_t seed, uint64_t pair)
{
    assert(pair < count && count <= BOOK_OPENINGS_MAX);
    uint64_t key = mix(seed, MIX_STREAM_BOOK);
    unsigned half = HALF_MIN;
    while (UINT64_C(1) << (2 * half) < count)
        half++;
    uint32_t x = feistel(key, half, (uint32_t)pair);
    /* The cycle through `pair` comes back to `pair`, which is inside. */
    while (x >= count)
        x = feistel(key, half, x);
    return x;
}

/* --- what every book must be --- */

/* The position an opening leads to, seen by the side to move: twins are equal. */
static enum book_error replay(struct game *game, const char *moves, size_t plies, struct board *out)
{
    size_t played;
    game_reset(game, NULL);
    enum game_error error = game_play_text(game, moves, plies, &played);
    if (error == GAME_ERROR_MEMORY)
        return BOOK_ERROR_MEMORY;
    if (error != GAME_OK)
        return error == GAME_ERROR_OVER ? BOOK_ERROR_OVER : BOOK_ERROR_ILLEGAL;
    if (game_over(game))
        return BOOK_ERROR_OVER;
    struct position position = game_position(game);
    *out = board_from_position(&position);
    return BOOK_OK;
}

/* Boards by their hash, open addressing over indices + 1. */
struct places {
    struct board *boards;
    uint32_t *slots;
    size_t mask;
};

static bool places_insert(struct places *places, uint32_t index)
{
    size_t at = board_hash(places->boards[index]) & places->mask;
    for (; places->slots[at] != 0; at = (at + 1) & places->mask)
        if (board_equal(places->boards[places->slots[at] - 1], places->boards[index]))
            return false;
    places->slots[at] = index + 1;
    return true;
}

static enum book_error check_positions(const struct book *book, struct game *game, struct places *places,
                                       uint32_t *at)
{
    for (uint32_t i = 0; i < book->count; i++) {
        unsigned plies;
        const char *moves = book_opening(book, i, &plies);
        *at = i + 1;
        enum book_error error = replay(game, moves, plies, &places->boards[i]);
        if (error != BOOK_OK)
            return error;
        if (!places_insert(places, i))
            return BOOK_ERROR_DUPLICATE;
    }
    return BOOK_OK;
}

/* Ascending, and none the beginning of another: in this order it would be of the next one. */
static enum book_error check_order(const struct book *book, uint32_t *at)
{
    unsigned plies, next_plies;
    for (uint32_t i = 0; i + 1 < book->count; i++) {
        const char *moves = book_opening(book, i, &plies);
        const char *next = book_opening(book, i + 1, &next_plies);
        *at = i + 2;
        if (memcmp(moves, next, plies < next_plies ? plies : next_plies) >= 0)
            return BOOK_ERROR_ORDER;
    }
    return BOOK_OK;
}

static enum book_error check_openings(const struct book *book, uint32_t *at)
{
    enum book_error error = check_order(book, at);
    if (error != BOOK_OK)
        return error;
    size_t capacity = 16;
    while (capacity < 2 * (size_t)book->count)
        capacity *= 2;
    struct places places = {.boards = malloc(book->count * sizeof *places.boards),
                            .slots = calloc(capacity, sizeof *places.slots),
                            .mask = capacity - 1};
    struct game *game = game_create(&book->rules, NULL);
    error = BOOK_ERROR_MEMORY;
    if (places.boards != NULL && places.slots != NULL && game != NULL)
        error = check_positions(book, game, &places, at);
    game_destroy(game);
    free(places.boards);
    free(places.slots);
    return error;
}

static bool is_letters(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < (i % 2 == 0 ? 'A' : 'a') || text[i] > (i % 2 == 0 ? 'F' : 'f'))
            return false;
    return length >= 1 && length <= BOOK_PLIES_MAX;
}

static bool is_printable(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

/* An empty book with room for so many openings of so many letters together. */
static struct book *allocate(const struct rules *rules, const char *made, uint32_t count, size_t letters)
{
    struct book *book = calloc(1, sizeof *book);
    if (book == NULL)
        return NULL;
    book->rules = *rules;
    snprintf(book->made, sizeof book->made, "%s", made);
    book->plies_min = BOOK_PLIES_MAX;
    book->starts = calloc((size_t)count + 1, sizeof *book->starts);
    book->letters = malloc(letters + 1);
    if (book->starts != NULL && book->letters != NULL)
        return book;
    book_destroy(book);
    return NULL;
}

static void append(struct book *book, const char *moves, size_t plies)
{
    uint32_t start = book->starts[book->count++];
    memcpy(book->letters + start, moves, plies);
    book->starts[book->count] = start + (uint32_t)plies;
    book->plies_min = plies < book->plies_min ? (unsigned)plies : book->plies_min;
    book->plies_max = plies > book->plies_max ? (unsigned)plies : book->plies_max;
}

/* --- reading --- */

struct scan {
    const char *at, *end;
    uint32_t line; /* the one last read */
};

/* The next line without its line feed; NULL when there is none. */
static const char *scan_line(struct scan *scan, size_t *length)
{
    const char *start = scan->at;
    const char *feed = memchr(start, '\n', (size_t)(scan->end - start));
    if (feed == NULL)
        return NULL;
    *length = (size_t)(feed - start);
    scan->at = feed + 1;
    scan->line++;
    return start;
}

/* The value of a header line `word value`, NUL-terminated in `value`. */
static bool scan_field(struct scan *scan, const char *word, char *value, size_t size)
{
    size_t length, prefix = strlen(word);
    const char *line = scan_line(scan, &length);
    if (line == NULL || length <= prefix || length - prefix - 1 >= size || memcmp(line, word, prefix) != 0 ||
        line[prefix] != ' ')
        return false;
    memcpy(value, line + prefix + 1, length - prefix - 1);
    value[length - prefix - 1] = '\0';
    return strlen(value) == length - prefix - 1 && is_printable(value);
}

/* Decimal digits or hexadecimal ones, as they are written: no other spelling of a number passes. */
static bool read_number(const char *text, const char *format, unsigned long *out)
{
    char again[24], *end;
    *out = strtoul(text, &end, strcmp(format, "%08lx") == 0 ? 16 : 10);
    snprintf(again, sizeof again, format, *out);
    return strcmp(again, text) == 0;
}

struct header {
    struct rules rules;
    char made[BOOK_MADE_MAX];
    unsigned long count, checksum;
};

static enum book_error read_header(struct scan *scan, struct header *out, uint32_t *covered)
{
    char rules[RULES_NAME_MAX], number[24], reason[16];
    const char *file = scan->at;
    if ((size_t)(scan->end - file) < sizeof magic - 1 || memcmp(file, magic, sizeof magic - 1) != 0)
        return BOOK_ERROR_MAGIC;
    scan->at += sizeof magic - 1;
    scan->line++;
    if (!scan_field(scan, "rules", rules, sizeof rules) ||
        rules_parse(rules, &out->rules, reason, sizeof reason) != 0 || strcmp(rules, out->rules.name) != 0 ||
        !scan_field(scan, "made", out->made, sizeof out->made) ||
        !scan_field(scan, "openings", number, sizeof number) || !read_number(number, "%lu", &out->count))
        return BOOK_ERROR_HEADER;
    if (out->count == 0 || out->count > BOOK_OPENINGS_MAX)
        return BOOK_ERROR_COUNT;
    *covered = crc32c(0, file, (size_t)(scan->at - file));
    if (!scan_field(scan, "checksum", number, sizeof number) || !read_number(number, "%08lx", &out->checksum))
        return BOOK_ERROR_HEADER;
    *covered = crc32c(*covered, scan->at, (size_t)(scan->end - scan->at));
    return BOOK_OK;
}

static enum book_error read_openings(struct scan *scan, unsigned long count, struct book *book)
{
    size_t length;
    for (unsigned long i = 0; i < count; i++) {
        const char *line = scan_line(scan, &length);
        if (line == NULL)
            return BOOK_ERROR_COUNT;
        if (!is_letters(line, length))
            return BOOK_ERROR_LETTERS;
        append(book, line, length);
    }
    return scan->at == scan->end ? BOOK_OK : BOOK_ERROR_COUNT;
}

static enum book_error parse(struct scan *scan, const struct rules *rules, struct book **out)
{
    struct header header;
    uint32_t covered;
    enum book_error error = read_header(scan, &header, &covered);
    if (error != BOOK_OK)
        return error;
    if (covered != header.checksum)
        return BOOK_ERROR_CHECKSUM;
    if (rules != NULL && !rules_equal(rules, &header.rules))
        return BOOK_ERROR_RULES;
    struct book *book =
        allocate(&header.rules, header.made, (uint32_t)header.count, (size_t)(scan->end - scan->at));
    if (book == NULL)
        return BOOK_ERROR_MEMORY;
    uint32_t before = scan->line, at = 0;
    error = read_openings(scan, header.count, book);
    if (error == BOOK_OK) {
        error = check_openings(book, &at);
        scan->line = before + at;
    }
    if (error == BOOK_OK)
        *out = book;
    else
        book_destroy(book);
    return error;
}

enum book_error book_parse(const void *bytes, size_t size, const struct rules *rules, struct book **out,
                           uint32_t *line)
{
    struct scan scan = {.at = bytes, .end = (const char *)bytes + size};
    enum book_error error = size > BOOK_BYTES_MAX ? BOOK_ERROR_COUNT : parse(&scan, rules, out);
    if (line != NULL)
        *line =
            error == BOOK_OK || error == BOOK_ERROR_CHECKSUM || error == BOOK_ERROR_MEMORY ? 0 : scan.line;
    return error;
}

static enum book_error read_file(FILE *file, char **bytes, size_t *size)
{
    size_t capacity = 1 << 16;
    *size = 0;
    *bytes = malloc(capacity);
    while (*bytes != NULL) {
        *size += fread(*bytes + *size, 1, capacity - *size, file);
        if (ferror(file))
            return BOOK_ERROR_READ;
        if (*size < capacity)
            return BOOK_OK;
        if (capacity > BOOK_BYTES_MAX)
            return BOOK_ERROR_COUNT;
        char *larger = realloc(*bytes, 2 * capacity);
        if (larger == NULL)
            return BOOK_ERROR_MEMORY;
        *bytes = larger;
        capacity *= 2;
    }
    return BOOK_ERROR_MEMORY;
}

enum book_error book_open(const char *path, const struct rules *rules, struct book **out, uint32_t *line)
{
    char *bytes = NULL;
    size_t size = 0;
    if (line != NULL)
        *line = 0;
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return BOOK_ERROR_READ;
    enum book_error error = read_file(file, &bytes, &size);
    fclose(file);
    if (error == BOOK_OK)
        error = book_parse(bytes, size, rules, out, line);
    free(bytes);
    return error;
}

/* --- making and writing --- */

static int compare_openings(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static enum book_error append_sorted(struct book *book, const char **sorted, uint32_t count, uint32_t *at)
{
    qsort(sorted, count, sizeof *sorted, compare_openings);
    for (uint32_t i = 0; i < count; i++) {
        *at = i + 1;
        append(book, sorted[i], strlen(sorted[i]));
    }
    return check_openings(book, at);
}

enum book_error book_create(const struct rules *rules, const char *made, const char *const *openings,
                            uint32_t count, struct book **out, uint32_t *line)
{
    size_t letters = 0;
    uint32_t at = 0;
    if (line != NULL)
        *line = 0;
    if (count == 0 || count > BOOK_OPENINGS_MAX)
        return BOOK_ERROR_COUNT;
    if (made[0] == '\0' || strlen(made) >= BOOK_MADE_MAX || !is_printable(made))
        return BOOK_ERROR_HEADER;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_letters(openings[i], strnlen(openings[i], BOOK_PLIES_MAX + 1)))
            return BOOK_ERROR_LETTERS;
        letters += strlen(openings[i]);
    }
    const char **sorted = malloc(count * sizeof *sorted);
    struct book *book = allocate(rules, made, count, letters);
    enum book_error error = BOOK_ERROR_MEMORY;
    if (sorted != NULL && book != NULL) {
        memcpy(sorted, openings, count * sizeof *sorted);
        error = append_sorted(book, sorted, count, &at);
    }
    free(sorted);
    if (line != NULL)
        *line = error == BOOK_OK ? 0 : at;
    if (error == BOOK_OK)
        *out = book;
    else
        book_destroy(book);
    return error;
}

enum book_error book_serialize(const struct book *book, void **bytes, size_t *size)
{
    char checksum[24];
    char *file = malloc(HEADER_MAX + book->starts[book->count] + (size_t)book->count);
    char *body = malloc(book->starts[book->count] + (size_t)book->count);
    size_t length = 0;
    if (file == NULL || body == NULL) {
        free(file);
        free(body);
        return BOOK_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < book->count; i++) {
        unsigned plies;
        const char *moves = book_opening(book, i, &plies);
        memcpy(body + length, moves, plies);
        body[length + plies] = '\n';
        length += plies + 1;
    }
    int head = snprintf(file, HEADER_MAX, "%srules %s\nmade %s\nopenings %lu\n", magic, book->rules.name,
                        book->made, (unsigned long)book->count);
    uint32_t crc = crc32c(crc32c(0, file, (size_t)head), body, length);
    int more = snprintf(checksum, sizeof checksum, "checksum %08lx\n", (unsigned long)crc);
    memcpy(file + head, checksum, (size_t)more);
    memcpy(file + head + more, body, length);
    free(body);
    *bytes = file;
    *size = (size_t)(head + more) + length;
    return BOOK_OK;
}

const char *book_error_text(enum book_error error)
{
    switch (error) {
    case BOOK_OK:
        return "no error";
    case BOOK_ERROR_READ:
        return "the book cannot be read; check the path and its permissions";
    case BOOK_ERROR_MAGIC:
        return "this is no opening book; make one with `kroo-engine book make`";
    case BOOK_ERROR_HEADER:
        return "the header of the book is not as it should be; make it again";
    case BOOK_ERROR_RULES:
        return "the book was made for other rules; make one for these";
    case BOOK_ERROR_CHECKSUM:
        return "the book is damaged, its checksum does not match; fetch or make it again";
    case BOOK_ERROR_COUNT:
        return "the book has more or fewer openings than it says, none, or more than 1048576; make it again";
    case BOOK_ERROR_LETTERS:
        return "an opening is 1 to 64 letters, A to F and a to f in turn; mend that line";
    case BOOK_ERROR_ORDER:
        return "openings stand in ascending order, and none is the beginning of another; sort them, leave "
               "that one out";
    case BOOK_ERROR_ILLEGAL:
        return "an opening has a move that the rules forbid; leave it out";
    case BOOK_ERROR_OVER:
        return "an opening ends the game; leave it out";
    case BOOK_ERROR_DUPLICATE:
        return "two openings lead to the same position, or to its colour-swapped twin; leave one out";
    case BOOK_ERROR_MEMORY:
        return "memory is short; free some, or make a smaller book";
    case BOOK_ERROR_STOPPED:
        return "stopped";
    }
    return "unknown error of an opening book";
}
