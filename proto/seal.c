#include "proto/seal.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "proto/engine_set.h"
#include "proto/secret_file.h"
#include "proto/text.h"

enum { STATEMENT_MAX = 320 };

static_assert(SEAL_KEY == crypto_sign_PUBLICKEYBYTES && SEAL_SECRET == crypto_sign_SECRETKEYBYTES &&
                  SEAL_SIGNATURE == crypto_sign_BYTES,
              "Ed25519");

/* --- what is signed --- */

void seal_subject_of(const uint8_t sha256[ARTIFACT_HASH], const void *head, size_t size, bool is_source,
                     struct seal_subject *out)
{
    bool is_set = !is_source && engine_set_is(head, size);
    memset(out, 0, sizeof *out);
    memcpy(out->sha256, sha256, ARTIFACT_HASH);
    snprintf(out->kind, sizeof out->kind, "%s", is_source ? "source" : is_set ? "engine-set" : "engine");
    if (is_source || is_set || !engine_set_arch_of(head, size, out->architecture))
        snprintf(out->architecture, sizeof out->architecture, "any");
}

/* A line for each part and none that could hold two: names and words have no line feeds. */
static size_t statement(const struct seal_subject *subject, const char *name, char text[STATEMENT_MAX])
{
    char hex[ARTIFACT_HEX];
    artifact_hex(subject->sha256, hex);
    return (size_t)snprintf(text, STATEMENT_MAX,
                            "kroo artifact seal 1\nsha256 %s\nkind %s\narchitecture %s\nname %s\n", hex,
                            subject->kind, subject->architecture, name);
}

void seal_make(const struct seal_key *key, const struct seal_subject *subject, const char *name,
               struct seal *out)
{
    char text[STATEMENT_MAX];
    size_t size = statement(subject, name, text);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", name);
    memcpy(out->key, key->key, SEAL_KEY);
    crypto_sign_detached(out->signature, NULL, (const unsigned char *)text, size, key->secret);
}

bool seal_fits(const struct seal *seal, const struct seal_subject *subject)
{
    char text[STATEMENT_MAX];
    if (!text_is_name(seal->name))
        return false;
    size_t size = statement(subject, seal->name, text);
    return crypto_sign_verify_detached(seal->signature, (const unsigned char *)text, size, seal->key) == 0;
}

/* --- keys --- */

void seal_key_wipe(struct seal_key *key)
{
    sodium_memzero(key, sizeof *key);
}

void seal_key_text(const uint8_t key[SEAL_KEY], char text[SEAL_KEY_TEXT])
{
    sodium_bin2hex(text, SEAL_KEY_TEXT, key, SEAL_KEY);
}

static bool take_hex(const char *text, size_t size, uint8_t out[SEAL_KEY])
{
    size_t written = 0;
    return size == 2 * SEAL_KEY && sodium_hex2bin(out, SEAL_KEY, text, size, NULL, &written, NULL) == 0 &&
           written == SEAL_KEY;
}

/* One line of a key file. The secret is the seed from which Ed25519 makes both halves. */
static bool parse_line(const char *line, size_t size, uint8_t key[SEAL_KEY], uint8_t seed[SEAL_KEY],
                       bool seen[2])
{
    static const char names[2][16] = {"sign-public = ", "sign-secret = "};
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t' || line[size - 1] == '\r'))
        size--;
    if (size == 0 || line[0] == '#')
        return true;
    for (int i = 0; i < 2; i++) {
        size_t name = strlen(names[i]);
        if (size <= name || memcmp(line, names[i], name) != 0)
            continue;
        bool good = !seen[i] && take_hex(line + name, size - name, i == 0 ? key : seed);
        seen[i] = true;
        return good;
    }
    return false;
}

enum keys_error seal_key_parse(const char *text, size_t size, struct seal_key *out, bool *has_secret)
{
    uint8_t key[SEAL_KEY] = {0}, seed[SEAL_KEY] = {0}, derived[SEAL_KEY];
    bool seen[2] = {false, false}, good = true;
    memset(out, 0, sizeof *out);
    for (size_t at = 0; at < size && good;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - text) - at;
        good = parse_line(text + at, length, key, seed, seen);
        at += length + 1;
    }
    good = good && seen[0];
    if (good && seen[1]) {
        crypto_sign_seed_keypair(derived, out->secret, seed);
        good = memcmp(derived, key, SEAL_KEY) == 0;
    }
    sodium_memzero(seed, sizeof seed);
    *has_secret = good && seen[1];
    if (good)
        memcpy(out->key, key, SEAL_KEY);
    else
        seal_key_wipe(out);
    return good ? KEYS_OK : KEYS_ERROR_FORMAT;
}

static enum keys_error refuse(enum keys_error error, char *reason, size_t reason_size, const char *path,
                              const char *why)
{
    snprintf(reason, reason_size, "%s: %s", path, why);
    return error;
}

enum keys_error seal_key_generate(const char *directory, const char *name, struct seal_key *out, char *reason,
                                  size_t reason_size)
{
    static const char *const endings[2] = {"sign.key", "sign.pub"};
    char key_text[SEAL_KEY_TEXT], seed_text[SEAL_KEY_TEXT], secret_text[512], public_text[256];
    uint8_t seed[SEAL_KEY];
    struct seal_key key;
    memset(out, 0, sizeof *out);
    if (!text_is_name(name))
        return refuse(KEYS_ERROR_FORMAT, reason, reason_size, name,
                      "a key's name is 1 to 63 of the letters A-Z a-z 0-9 . _ - and begins with no dot");
    if (sodium_init() < 0)
        return refuse(KEYS_ERROR_FILE, reason, reason_size, name, "no random numbers from the system");
    randombytes_buf(seed, sizeof seed);
    crypto_sign_seed_keypair(key.key, key.secret, seed);
    seal_key_text(key.key, key_text);
    sodium_bin2hex(seed_text, sizeof seed_text, seed, sizeof seed);
    snprintf(secret_text, sizeof secret_text,
             "# Kroo signing key of %s: who has it decides which programs workers run.\n"
             "sign-public = %s\nsign-secret = %s\n",
             name, key_text, seed_text);
    snprintf(public_text, sizeof public_text,
             "# Kroo public signing key of %s, for the setting `trust` of workers\nsign-public = %s\n", name,
             key_text);
    enum keys_error error =
        secret_file_pair(directory, name, endings, secret_text, public_text, reason, reason_size);
    if (error == KEYS_OK)
        *out = key;
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(seed_text, sizeof seed_text);
    sodium_memzero(secret_text, sizeof secret_text);
    seal_key_wipe(&key);
    return error;
}

enum keys_error seal_key_load(const char *path, struct seal_key *out, char *reason, size_t reason_size)
{
    char text[KEYS_FILE_MAX];
    size_t size = 0;
    bool has_secret = false;
    memset(out, 0, sizeof *out);
    enum keys_error error = secret_file_read(path, true, text, &size, reason, reason_size);
    if (error == KEYS_OK && (seal_key_parse(text, size, out, &has_secret) != KEYS_OK || !has_secret)) {
        seal_key_wipe(out);
        error = refuse(KEYS_ERROR_FORMAT, reason, reason_size, path,
                       "not a secret signing key as `kroo key new NAME --signing` writes it");
    }
    sodium_memzero(text, sizeof text);
    return error;
}

/* A key itself, or a file with one. */
static int read_public(const char *path_or_text, uint8_t key[SEAL_KEY], char *reason, size_t reason_size)
{
    char text[KEYS_FILE_MAX];
    struct seal_key whole;
    size_t size = 0;
    bool has_secret;
    if (take_hex(path_or_text, strlen(path_or_text), key))
        return 0;
    if (secret_file_read(path_or_text, false, text, &size, reason, reason_size) != KEYS_OK)
        return -1;
    enum keys_error error = seal_key_parse(text, size, &whole, &has_secret);
    if (error == KEYS_OK)
        memcpy(key, whole.key, SEAL_KEY);
    else
        (void)refuse(error, reason, reason_size, path_or_text,
                     "neither a public signing key (64 hexadecimal letters) nor a .sign.pub file");
    sodium_memzero(text, sizeof text);
    seal_key_wipe(&whole);
    return error == KEYS_OK ? 0 : -1;
}

int seal_trust_add(struct seal_trust *trust, const char *list, char *reason, size_t reason_size)
{
    char one[1024];
    while (*list != '\0') {
        size_t size = strcspn(list, ",");
        if (size > 0) {
            if (trust->count == SEAL_TRUST_MAX || size >= sizeof one) {
                snprintf(reason, reason_size, "trust: at most %d keys, of paths below %zu bytes",
                         SEAL_TRUST_MAX, sizeof one);
                return -1;
            }
            memcpy(one, list, size);
            one[size] = '\0';
            if (read_public(one, trust->keys[trust->count], reason, reason_size) != 0)
                return -1;
            trust->count++;
        }
        list += size + (list[size] == ',');
    }
    return 0;
}

static bool is_trusted(const struct seal_trust *trust, const uint8_t key[SEAL_KEY])
{
    for (size_t i = 0; i < trust->count; i++)
        if (memcmp(trust->keys[i], key, SEAL_KEY) == 0)
            return true;
    return false;
}

const struct seal *seal_find(const struct seal_trust *trust, const struct seal_subject *subject,
                             const struct seal *seals, size_t count, char reason[SEAL_REASON_MAX])
{
    char key[SEAL_KEY_TEXT];
    const struct seal *wrong = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is_trusted(trust, seals[i].key))
            continue;
        if (seal_fits(&seals[i], subject))
            return &seals[i];
        wrong = &seals[i];
    }
    if (count == 0) {
        snprintf(reason, SEAL_REASON_MAX,
                 "it is not signed: an operator signs it by `kroo engine sign NAME --sign KEYFILE`");
    } else if (wrong != NULL) {
        seal_key_text(wrong->key, key);
        snprintf(reason, SEAL_REASON_MAX,
                 "the signature by %.8s is damaged, or of another artifact, kind or architecture than this "
                 "(%s for %s)",
                 key, subject->kind, subject->architecture);
    } else {
        seal_key_text(seals[0].key, key);
        snprintf(reason, SEAL_REASON_MAX,
                 "it is signed by %.8s, a key that is not trusted here: the setting `trust` names those that "
                 "are",
                 key);
    }
    return NULL;
}
