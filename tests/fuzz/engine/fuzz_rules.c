/* The text of a rule set: refused with a reason, or known by a canonical name that reads back as the same
 * rules. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/rules.h"

enum { TEXT_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TEXT_MAX + 1];
    char reason[640] = "";
    struct rules rules, again;
    if (size > TEXT_MAX)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (rules_parse(text, &rules, reason, sizeof reason) != 0) {
        if (reason[0] == '\0' || strlen(reason) >= sizeof reason)
            abort();
        return 0;
    }
    if (memchr(rules.name, '\0', sizeof rules.name) == NULL ||
        rules_parse(rules.name, &again, reason, sizeof reason) != 0 || !rules_equal(&rules, &again) ||
        strcmp(rules.name, again.name) != 0)
        abort();
    return 0;
}
