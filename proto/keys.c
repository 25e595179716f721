#include "proto/keys.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "proto/secret_file.h"
#include "proto/text.h"

enum { KEY_LETTERS = KEYS_TEXT - 1, KEY_BYTES = 32 };

static enum keys_error refuse(enum keys_error error, char *reason, size_t reason_size, const char *path,
                              const char *why)
{
    (void)snprintf(reason, reason_size, "%s: %s", path, why);
    return error;
}

static bool is_key(const char *text, size_t size)
{
    uint8_t bytes[KEY_BYTES];
    char copy[KEYS_TEXT];
    if (size != KEY_LETTERS || memchr(text, '\0', size) != NULL)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    bool good = zmq_z85_decode(bytes, copy) != NULL;
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(copy, sizeof copy);
    return good;
}

/* One line of a key file: blank, a comment, or `public = KEY` or `secret = KEY`, each at most once. */
static bool parse_line(const char *line, size_t size, struct keys *out)
{
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t' || line[size - 1] == '\r'))
        size--;
    if (size == 0 || line[0] == '#')
        return true;
    static const char public_name[] = "public = ", secret_name[] = "secret = ";
    enum { NAME = sizeof public_name - 1 };
    if (size != NAME + KEY_LETTERS || !is_key(line + NAME, KEY_LETTERS))
        return false;
    char *field = memcmp(line, public_name, NAME) == 0   ? out->public_key
                  : memcmp(line, secret_name, NAME) == 0 ? out->secret_key
                                                         : NULL;
    if (field == NULL || field[0] != '\0')
        return false;
    memcpy(field, line + NAME, KEY_LETTERS);
    field[KEY_LETTERS] = '\0';
    return true;
}

enum keys_error keys_parse(const char *text, size_t size, struct keys *out)
{
    memset(out, 0, sizeof *out);
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - text) - at;
        if (!parse_line(text + at, length, out)) {
            keys_wipe(out);
            return KEYS_ERROR_FORMAT;
        }
        at += length + 1;
    }
    bool good = out->public_key[0] != '\0';
    if (good && out->secret_key[0] != '\0') {
        char derived[KEYS_TEXT] = "";
        good = zmq_curve_public(derived, out->secret_key) == 0 && strcmp(derived, out->public_key) == 0;
    }
    if (!good)
        keys_wipe(out);
    return good ? KEYS_OK : KEYS_ERROR_FORMAT;
}

static enum keys_error write_pair(const char *directory, const char *name, const struct keys *keys,
                                  char *reason, size_t reason_size)
{
    static const char *const endings[2] = {"key", "pub"};
    char secret_text[512], public_text[256];
    (void)snprintf(secret_text, sizeof secret_text,
                   "# Kroo key pair of %s. Keep it to this machine.\npublic = %s\nsecret = %s\n", name,
                   keys->public_key, keys->secret_key);
    (void)snprintf(public_text, sizeof public_text, "# Kroo public key of %s\npublic = %s\n", name,
                   keys->public_key);
    enum keys_error error =
        secret_file_pair(directory, name, endings, secret_text, public_text, reason, reason_size);
    sodium_memzero(secret_text, sizeof secret_text);
    return error;
}

enum keys_error keys_generate(const char *directory, const char *name, struct keys *out, char *reason,
                              size_t reason_size)
{
    memset(out, 0, sizeof *out);
    if (!text_is_name(name))
        return refuse(KEYS_ERROR_FORMAT, reason, reason_size, name,
                      "a key's name is 1 to 63 of the letters A-Z a-z 0-9 . _ - and begins with no dot");
    struct keys keys;
    if (zmq_curve_keypair(keys.public_key, keys.secret_key) != 0)
        return refuse(KEYS_ERROR_FILE, reason, reason_size, name, "libzmq was built without CURVE");
    enum keys_error error = write_pair(directory, name, &keys, reason, reason_size);
    if (error == KEYS_OK)
        *out = keys;
    keys_wipe(&keys);
    return error;
}

enum keys_error keys_load(const char *path, struct keys *out, char *reason, size_t reason_size)
{
    char text[KEYS_FILE_MAX];
    size_t size = 0;
    memset(out, 0, sizeof *out);
    enum keys_error error = secret_file_read(path, true, text, &size, reason, reason_size);
    if (error == KEYS_OK && (keys_parse(text, size, out) != KEYS_OK || out->secret_key[0] == '\0')) {
        keys_wipe(out);
        error =
            refuse(KEYS_ERROR_FORMAT, reason, reason_size, path,
                   "not a secret key file as `kroo key new` writes it (`public = ...` and `secret = ...`)");
    }
    sodium_memzero(text, sizeof text);
    return error;
}

enum keys_error keys_public(const char *path_or_text, char out[KEYS_TEXT], char *reason, size_t reason_size)
{
    out[0] = '\0';
    if (is_key(path_or_text, strlen(path_or_text))) {
        memcpy(out, path_or_text, KEYS_TEXT);
        return KEYS_OK;
    }
    char text[KEYS_FILE_MAX];
    size_t size = 0;
    struct keys keys;
    enum keys_error error = secret_file_read(path_or_text, false, text, &size, reason, reason_size);
    if (error != KEYS_OK)
        return error;
    if (keys_parse(text, size, &keys) != KEYS_OK)
        error = refuse(KEYS_ERROR_FORMAT, reason, reason_size, path_or_text,
                       "neither a public key of 40 letters nor a .pub file (`public = ...`)");
    else
        memcpy(out, keys.public_key, KEYS_TEXT);
    sodium_memzero(text, sizeof text);
    keys_wipe(&keys);
    return error;
}

void keys_wipe(struct keys *keys)
{
    sodium_memzero(keys, sizeof *keys);
}
