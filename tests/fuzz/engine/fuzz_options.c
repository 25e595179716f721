/* Options of a player that the built-in search takes: refused with a sentence, or all of them within their
 * bounds. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/search_parameters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct search_parameters parameters;
    char *text = malloc(size + 1), reason[256] = "";
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    bool taken = search_parameters_parse(text, &parameters, reason, sizeof reason);
    if (!taken && reason[0] == '\0')
        abort();
    for (size_t i = 0; taken && search_parameter_at(i); i++) {
        const struct search_parameter *which = search_parameter_at(i);
        int32_t value = search_parameters_get(&parameters, which);
        if (value < which->low || value > which->high)
            abort();
    }
    free(text);
    return 0;
}
