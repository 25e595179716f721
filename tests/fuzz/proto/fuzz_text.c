/* The readers of config files and key files: any bytes are taken or refused with a reason. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "proto/keys.h"
#include "proto/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[256] = "";
    struct keys keys;
    struct settings *settings = settings_parse((const char *)data, size, "input", reason, sizeof reason);
    if (settings == NULL && reason[0] == '\0')
        abort();
    if (settings != NULL) {
        int64_t number = 0;
        (void)settings_number(settings, "slots", 1, 100, 1, &number, reason, sizeof reason);
        if (number < 1 || number > 100)
            abort();
    }
    settings_destroy(settings);
    if (keys_parse((const char *)data, size, &keys) == KEYS_OK ? strlen(keys.public_key) != KEYS_TEXT - 1
                                                               : keys.public_key[0] != '\0')
        abort();
    keys_wipe(&keys);
    return 0;
}
