/* A weights file as it comes, and once more with size and checksum put right, since no fuzzer guesses them:
 * refused with a sentence, or weights whose own file reads back as the same. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/bytes.h"
#include "engine/crc32c.h"
#include "engine/weights.h"

enum { SIZE_AT = 12, CHECKSUM = 4, SMALLEST = 40, LARGEST = 200000 };

static void check_same(const struct weights *weights)
{
    void *bytes = NULL, *again = NULL;
    size_t size = 0, size_again = 0;
    struct weights *back = NULL;
    if (weights_serialize(weights, &bytes, &size) != WEIGHTS_OK)
        return; /* rules without the positions that a file must hold */
    if (weights_parse(bytes, size, weights->rules, &back) != WEIGHTS_OK ||
        weights_serialize(back, &again, &size_again) != WEIGHTS_OK || size != size_again ||
        memcmp(bytes, again, size) != 0 || strcmp(back->provenance, weights->provenance) != 0 ||
        back->kind != weights->kind)
        abort();
    weights_destroy(back);
    free(bytes);
    free(again);
}

static void parse(const uint8_t *bytes, size_t size)
{
    struct weights *weights = NULL;
    enum weights_error error = weights_parse(bytes, size, NULL, &weights);
    if (error != WEIGHTS_OK) {
        if (weights != NULL || weights_error_text(error)[0] == '\0')
            abort();
        return;
    }
    check_same(weights);
    weights_destroy(weights);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    if (size < SMALLEST || size > LARGEST)
        return 0;
    uint8_t *repaired = malloc(size);
    if (repaired == NULL)
        return 0;
    memcpy(repaired, data, size);
    bytes_put_u32(repaired + SIZE_AT, (uint32_t)size);
    bytes_put_u32(repaired + size - CHECKSUM, crc32c(0, repaired, size - CHECKSUM));
    parse(repaired, size);
    free(repaired);
    return 0;
}
