/* A line for `kroo calc`: whatever it is, one JSON object comes back, with figures that JSON can hold. */
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/calc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Asked for on purpose, a simulation or a large fit is long work, not a defect. */
    if (size > 4096 || memmem(data, size, "simulate", 8) || memmem(data, size, "\\u", 2))
        return 0;
    char *answer = calc_answer((const char *)data, size);
    json_t *back = answer ? json_loads(answer, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (answer && !json_is_object(back))
        abort();
    json_decref(back);
    free(answer);
    return 0;
}
