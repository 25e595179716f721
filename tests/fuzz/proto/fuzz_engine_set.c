/* The text of a set of engines, and the head of a program: taken and the same again, or refused with a
 * reason; no path leads out of the sources. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "proto/engine_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct engine_set set, back;
    char text[ENGINE_SET_TEXT_MAX], arch[ENGINE_SET_ARCH_MAX], reason[256] = "";
    if (engine_set_arch_of(data, size, arch) && strlen(arch) == 0)
        abort();
    if (engine_set_parse(data, size, &set, reason, sizeof reason) != 0) {
        if (reason[0] == '\0')
            abort();
        return 0;
    }
    if (set.has_source && (set.product[0] == '/' || strstr(set.product, "/../") != NULL))
        abort();
    size_t written = engine_set_format(&set, text);
    if (written >= sizeof text || engine_set_parse(text, written, &back, reason, sizeof reason) != 0 ||
        back.count != set.count || back.has_source != set.has_source ||
        strcmp(back.recipe, set.recipe) != 0 || strcmp(back.product, set.product) != 0)
        abort();
    return 0;
}
