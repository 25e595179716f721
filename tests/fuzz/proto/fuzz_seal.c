/* Files of signing keys, and seals of any bytes: a file is taken whole or refused and leaves nothing; no seal
 * that was not made by a key fits. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "proto/seal.h"

static void check_key(const uint8_t *data, size_t size)
{
    static const struct seal_key none;
    struct seal_key key;
    bool has_secret = false;
    enum keys_error error = seal_key_parse((const char *)data, size, &key, &has_secret);
    if (error != KEYS_OK && (has_secret || memcmp(&key, &none, sizeof key) != 0))
        abort();
    if (error == KEYS_OK && has_secret) { /* it signs what it says */
        struct seal_subject subject = {.kind = "engine", .architecture = "any"};
        struct seal seal;
        seal_make(&key, &subject, "name", &seal);
        if (!seal_fits(&seal, &subject))
            abort();
    }
    seal_key_wipe(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seal_subject subject;
    struct seal seals[2];
    struct seal_trust trust = {.count = 1};
    char reason[SEAL_REASON_MAX] = "";
    const uint8_t hash[ARTIFACT_HASH] = {1};
    check_key(data, size);
    seal_subject_of(hash, data, size < SEAL_HEAD ? size : SEAL_HEAD, size % 2 == 1, &subject);
    if (strlen(subject.kind) == 0 || strlen(subject.architecture) == 0)
        abort();
    if (size < sizeof seals)
        return 0;
    memcpy(seals, data, sizeof seals);
    seals[0].name[SEAL_NAME_MAX - 1] = seals[1].name[SEAL_NAME_MAX - 1] = '\0';
    memcpy(trust.keys[0], seals[0].key, SEAL_KEY);
    if (seal_find(&trust, &subject, seals, 2, reason) == NULL && reason[0] == '\0')
        abort();
    return 0;
}
