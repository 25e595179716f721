/* Artifacts: files named by their sha256 (DESIGN section 6). A store is a folder; content is verified before
 * its first use in a process, written to a temporary name, synced and renamed. One thread per store. */
#ifndef KROO_PROTO_ARTIFACT_H
#define KROO_PROTO_ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARTIFACT_HASH = 32, ARTIFACT_HEX = 65, ARTIFACT_BYTES_MAX = 64 * 1024 * 1024 };

enum artifact_error {
    ARTIFACT_OK = 0,
    ARTIFACT_ERROR_ABSENT = -1,
    ARTIFACT_ERROR_CORRUPT = -2, /* bytes do not hash to the name; the bad file is set aside */
    ARTIFACT_ERROR_FILE = -3,    /* no space, no permission: the reason says which */
    ARTIFACT_ERROR_SIZE = -4,
};

void artifact_hash(const void *bytes, size_t size, uint8_t sha256[ARTIFACT_HASH]);
/* The hash of a file of any size, for what is too large to be an artifact. 0, or -1 with the reason. */
int artifact_hash_file(const char *path, uint8_t sha256[ARTIFACT_HASH], uint64_t *size, char *reason,
                       size_t reason_size);
void artifact_hex(const uint8_t sha256[ARTIFACT_HASH], char hex[ARTIFACT_HEX]);
/* 64 hexadecimal letters, either case. Returns 0 or -1. */
int artifact_parse_hex(const char *hex, uint8_t sha256[ARTIFACT_HASH]);

/* Reads the whole verified content; `*bytes` is malloc'ed for the caller. */
enum artifact_error artifact_read(const char *directory, const uint8_t sha256[ARTIFACT_HASH], void **bytes,
                                  size_t *size, char *reason, size_t reason_size);
/* Stores content under its hash (computed here, told in `sha256`): temporary name, fsync, rename, fsync of
 * the folder. */
enum artifact_error artifact_write(const char *directory, const void *bytes, size_t size,
                                   uint8_t sha256[ARTIFACT_HASH], char *reason, size_t reason_size);

/* A download in chunks that may arrive again or out of order; only the next offset is taken. */
struct artifact_download {
    uint8_t sha256[ARTIFACT_HASH];
    uint64_t size;   /* 0 until the first chunk tells */
    uint64_t offset; /* next wanted */
    uint8_t *bytes;
};
void artifact_download_init(struct artifact_download *download, const uint8_t sha256[ARTIFACT_HASH]);
/* Takes a chunk. A size that differs from the first chunk's is refused; after CORRUPT the download stands at
 * its beginning. 1: complete and verified, 0: go on at download->offset, negative: an artifact_error. */
int artifact_download_chunk(struct artifact_download *download, uint64_t offset, uint64_t size,
                            const void *content, size_t content_size);
void artifact_download_done(struct artifact_download *download);

#endif
