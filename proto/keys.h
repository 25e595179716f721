/* CURVE key pairs in files (DESIGN section 6): NAME.key holds the secret (mode 0600), NAME.pub the public
 * key. */
#ifndef KROO_PROTO_KEYS_H
#define KROO_PROTO_KEYS_H

#include <stddef.h>

enum { KEYS_TEXT = 41 /* z85 of 32 bytes and a NUL */, KEYS_FILE_MAX = 4096 };

struct keys {
    char public_key[KEYS_TEXT];
    char secret_key[KEYS_TEXT];
};

enum keys_error {
    KEYS_OK = 0,
    KEYS_ERROR_EXISTS = -1,
    KEYS_ERROR_FILE = -2,
    KEYS_ERROR_FORMAT = -3,
    KEYS_ERROR_MODE = -4
};

/* Makes a pair and writes DIR/NAME.key (0600) and DIR/NAME.pub; never overwrites. The reason says what to do.
 */
enum keys_error keys_generate(const char *directory, const char *name, struct keys *out, char *reason,
                              size_t reason_size);
/* Reads a secret key file; refuses one that others can read. */
enum keys_error keys_load(const char *path, struct keys *out, char *reason, size_t reason_size);
/* Reads a public key file, or takes `text` itself when it is 40 letters of z85. */
enum keys_error keys_public(const char *path_or_text, char out[KEYS_TEXT], char *reason, size_t reason_size);
/* Reads the text of a key file: comments (#), `public = KEY` and perhaps `secret = KEY`, which must belong
 * together. KEYS_OK, or KEYS_ERROR_FORMAT and `out` empty. */
enum keys_error keys_parse(const char *text, size_t size, struct keys *out);
/* Overwrites the secret in memory. */
void keys_wipe(struct keys *keys);

#endif
