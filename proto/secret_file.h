/* Small files that hold a key: written once and never overwritten, read whole, refused where others on the
 * machine could read a secret. Private to proto/keys.c and proto/seal.c. */
#ifndef KROO_PROTO_SECRET_FILE_H
#define KROO_PROTO_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/keys.h"

/* A new file with this text, on disk; none at all when that fails. */
enum keys_error secret_file_write(const char *path, mode_t mode, const char *text, char *reason,
                                  size_t reason_size);
/* The whole of a regular file; `secret` refuses one that others can read. */
enum keys_error secret_file_read(const char *path, bool secret, char text[KEYS_FILE_MAX], size_t *size,
                                 char *reason, size_t reason_size);
/* NAME.ENDING with the secret (0600) and NAME.PUBLIC_ENDING (0644) in a folder: both or none. */
enum keys_error secret_file_pair(const char *directory, const char *name, const char *const endings[2],
                                 const char *secret_text, const char *public_text, char *reason,
                                 size_t reason_size);

#endif
