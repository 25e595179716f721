/* An opening book as it comes, and once more with its checksum put right, since no fuzzer guesses it: refused
 * with a sentence, or a book that writes itself again byte by byte and whose every opening begins a game. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crc32c.h"
#include "engine/play.h"

enum { PAIRS = 64 };

static void use(const struct book *book, uint64_t seed)
{
    struct play_setup setup = {.rules = &book->rules, .seed = seed, .book = book};
    char moves[PLAY_OPENING_MAX + 1];
    for (uint64_t pair = 0; pair < book->count && pair < PAIRS; pair++)
        if (play_opening(&setup, pair, moves) != (int)play_opening_plies(&setup, pair))
            abort();
    if (play_opening(&setup, book->count, moves) != -1)
        abort();
}

static void parse(const uint8_t *bytes, size_t size)
{
    struct book *book = NULL;
    uint32_t line;
    enum book_error error = book_parse(bytes, size, NULL, &book, &line);
    if (error != BOOK_OK) {
        if (book != NULL || book_error_text(error)[0] == '\0')
            abort();
        return;
    }
    void *again = NULL;
    size_t again_size = 0;
    if (book_serialize(book, &again, &again_size) != BOOK_OK || again_size != size ||
        memcmp(again, bytes, size) != 0)
        abort();
    free(again);
    use(book, bytes[size / 2]);
    book_destroy(book);
}

/* The file with the checksum of its other lines; NULL when it has no line for one. */
static uint8_t *repair(const uint8_t *data, size_t size)
{
    static const char word[] = "\nchecksum ";
    enum { DIGITS = 8 };
    const uint8_t *at = memmem(data, size, word, sizeof word - 1);
    if (at == NULL || (size_t)(data + size - at) < sizeof word - 1 + DIGITS + 1)
        return NULL;
    size_t head = (size_t)(at - data) + 1, tail = head + sizeof word - 2 + DIGITS + 1;
    uint8_t *file = malloc(size);
    if (file == NULL)
        return NULL;
    memcpy(file, data, size);
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%08lx",
             (unsigned long)crc32c(crc32c(0, file, head), file + tail, size - tail));
    memcpy(file + tail - DIGITS - 1, digits, DIGITS);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    uint8_t *repaired = repair(data, size);
    if (repaired != NULL)
        parse(repaired, size);
    free(repaired);
    return 0;
}
