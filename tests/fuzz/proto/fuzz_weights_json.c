/* JSON of weights from anywhere: refused with a sentence, or weights whose own JSON comes back as the same
 * file. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "proto/weights_json.h"

static void check_same(const struct weights *weights)
{
    void *bytes = NULL, *again = NULL;
    size_t size = 0, size_again = 0;
    char reason[WEIGHTS_JSON_REASON];
    json_t *root = weights_json(weights);
    char *text = root ? json_dumps(root, 0) : NULL;
    if (text) { /* NULL: rules without the positions that a file must hold */
        struct weights *back = weights_json_parse(text, strlen(text), weights->rules, reason);
        if (!back || back->kind != weights->kind || weights_serialize(weights, &bytes, &size) != WEIGHTS_OK ||
            weights_serialize(back, &again, &size_again) != WEIGHTS_OK || size != size_again)
            abort();
        weights_destroy(back);
    }
    free(text);
    free(bytes);
    free(again);
    json_decref(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[WEIGHTS_JSON_REASON], hash[65];
    struct weights *weights = weights_json_parse((const char *)data, size, NULL, reason);
    if (!weights && reason[0] == '\0')
        abort();
    if (weights)
        check_same(weights);
    weights_destroy(weights);
    if (weights_json_sha256((const char *)data, size, hash) && strlen(hash) != 64)
        abort();
    return 0;
}
