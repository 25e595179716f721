/* A rule set's number and the text of a position: refused with a reason, or the same again after a round
 * trip, and its tree counted alike by bulk and move by move. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/perft.h"

enum { DEPTH = 3, TEXT_MAX = 256 };

static void count_alike(const struct rules *rules, const struct position *position)
{
    for (int depth = 1; depth <= DEPTH; depth++) {
        struct perft_leaves leaves = perft_count_leaves(rules, position, depth, PERFT_NO_REPETITION);
        if (perft_nodes(rules, position, depth) != leaves.leaves)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX], written[POSITION_TEXT_MAX], reason[256] = "";
    if (size < 1 || size > TEXT_MAX)
        return 0;
    size_t presets = 0;
    while (rules_preset(presets) != NULL)
        presets++;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct position position, again;
    memset(&position, 0xee, sizeof position);
    struct position untouched = position;
    if (position_parse(text, &position, reason, sizeof reason) != 0) {
        if (reason[0] == '\0' || memcmp(&position, &untouched, sizeof position) != 0)
            abort();
        return 0;
    }
    position_format(&position, written);
    if (position_parse(written, &again, reason, sizeof reason) != 0 ||
        memcmp(&position, &again, sizeof position) != 0)
        abort();
    count_alike(rules_preset(data[0] % presets), &position);
    return 0;
}
