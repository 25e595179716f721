/* Seals: an operator's Ed25519 signature of an artifact that workers run. What is signed is a statement of
 * the artifact's sha256, kind, architecture and name, so that a seal fits that artifact alone. Signing keys
 * are files of their own (NAME.sign.key, mode 0600, and NAME.sign.pub), apart from the CURVE keys: they need
 * not be where the cluster runs. Plain data; any thread. */
#ifndef KROO_PROTO_SEAL_H
#define KROO_PROTO_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/artifact.h"
#include "proto/keys.h"

enum {
    SEAL_KEY = 32,
    SEAL_KEY_TEXT = 2 * SEAL_KEY + 1, /* hexadecimal, with its NUL */
    SEAL_SECRET = 64,
    SEAL_SIGNATURE = 64,
    SEAL_WORD_MAX = 16, /* a kind or an architecture, with its NUL */
    SEAL_NAME_MAX = 64,
    SEAL_TRUST_MAX = 16,
    SEALS_MAX = 16, /* of one artifact */
    SEAL_REASON_MAX = 256,
};

/* What an artifact is, told by its content where it is checked. */
struct seal_subject {
    uint8_t sha256[ARTIFACT_HASH];
    char kind[SEAL_WORD_MAX];         /* engine, engine-set, source */
    char architecture[SEAL_WORD_MAX]; /* of a program; any: a script, a set, sources */
};

struct seal {
    char name[SEAL_NAME_MAX]; /* what its signer called the artifact */
    uint8_t key[SEAL_KEY];
    uint8_t signature[SEAL_SIGNATURE];
};

struct seal_key {
    uint8_t key[SEAL_KEY];
    uint8_t secret[SEAL_SECRET];
};

/* Public keys whose seals count. */
struct seal_trust {
    uint8_t keys[SEAL_TRUST_MAX][SEAL_KEY];
    size_t count;
};

enum { SEAL_HEAD = 64 }; /* of an artifact's bytes, or all of a smaller one: enough to tell what it is */
/* An artifact by its name and its first bytes; `is_source` for an archive. */
void seal_subject_of(const uint8_t sha256[ARTIFACT_HASH], const void *head, size_t size, bool is_source,
                     struct seal_subject *out);

/* Makes a pair and writes DIR/NAME.sign.key (0600) and DIR/NAME.sign.pub; never overwrites. */
enum keys_error seal_key_generate(const char *directory, const char *name, struct seal_key *out, char *reason,
                                  size_t reason_size);
/* Reads a secret signing key; refuses one that others can read. */
enum keys_error seal_key_load(const char *path, struct seal_key *out, char *reason, size_t reason_size);
/* The text of a key file: comments (#), `sign-public = HEX` and perhaps `sign-secret = HEX`, which must
 * belong together. KEYS_OK, or KEYS_ERROR_FORMAT and `out` empty; *has_secret tells. */
enum keys_error seal_key_parse(const char *text, size_t size, struct seal_key *out, bool *has_secret);
void seal_key_wipe(struct seal_key *key);
void seal_key_text(const uint8_t key[SEAL_KEY], char text[SEAL_KEY_TEXT]);

/* Adds public keys: a comma-separated list of .pub files and of keys as 64 hexadecimal letters. -1 with the
 * reason. */
int seal_trust_add(struct seal_trust *trust, const char *list, char *reason, size_t reason_size);

/* Seals the subject under a name (text_is_name). */
void seal_make(const struct seal_key *key, const struct seal_subject *subject, const char *name,
               struct seal *out);
/* Whether the signature is the key's, of this subject under the seal's name. */
bool seal_fits(const struct seal *seal, const struct seal_subject *subject);
/* Whether one of the seals fits and is by a trusted key: it, else NULL with what is wrong and what to do. */
const struct seal *seal_find(const struct seal_trust *trust, const struct seal_subject *subject,
                             const struct seal *seals, size_t count, char reason[SEAL_REASON_MAX]);

#endif
