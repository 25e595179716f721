/* A specification from a file (`kroo run`): refused with a sentence, or a request that is written and read
 * back as the same. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/specification_json.h"

/* The defaults that `kroo run` begins with. */
static struct message_create_experiment usual(void)
{
    return (struct message_create_experiment){.share = MESSAGE_SHARE_USUAL,
                                              .spec = {.a = {.hash_kib = 1024}, .b = {.hash_kib = 1024}}};
}

/* As `kroo run` does it with the database: before anything is written there are hashes. */
static void resolve(const char *name, uint8_t hash[MESSAGE_HASH])
{
    if (name[0] != '\0')
        memset(hash, 7, MESSAGE_HASH);
}

static void check_back(const struct message_create_experiment *create)
{
    struct message_create_experiment back = usual();
    struct specification_names names;
    char reason[SPECIFICATION_REASON_MAX] = "", text[400];
    bool has_seed;
    json_t *written = specification_json_write(create);
    if (!written)
        return; /* no memory */
    if (!specification_json_read(written, &back, &names, &has_seed, reason) || !has_seed ||
        specification_json_differ(create, &back, text, sizeof text))
        abort();
    json_decref(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > SPECIFICATION_JSON_BYTES_MAX)
        return 0;
    json_t *document = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!document)
        return 0;
    struct message_create_experiment create = usual();
    struct specification_names names;
    char reason[SPECIFICATION_REASON_MAX] = "";
    bool has_seed = false;
    if (!specification_json_read(document, &create, &names, &has_seed, reason)) {
        if (reason[0] == '\0')
            abort();
    } else {
        resolve(names.a.weights, create.spec.a.weights);
        resolve(names.b.weights, create.spec.b.weights);
        check_back(&create);
        (void)specification_check(&create, reason);
    }
    json_decref(document);
    return 0;
}
